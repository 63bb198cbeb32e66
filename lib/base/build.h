/* SPDX-License-Identifier: Apache-2.0
   What the build knows: version, compiler, and where the program's own files
   (figures, style) lie. The strings are static. */
#ifndef HU_BASE_BUILD_H
#define HU_BASE_BUILD_H

const char *hu_build_version(void);   /* "0.1.0" */
const char *hu_build_compiler(void);  /* "gcc 12.2.0", "clang 14.0.6" */
const char *hu_build_gnuplot(void);   /* $GNUPLOT, else gnuplot as configure found it, else "gnuplot" */

/* The path of a file that comes with the program, NAME as in the source tree
   ("reports/figures/style.gp"): in $HALFULP_SHARE, in the source tree it was
   built from, or in the installed package, the first that exists. NULL where none
   does (hu_reason says where it looked). Freed by the caller. */
char *hu_build_file(const char *name);
#endif
