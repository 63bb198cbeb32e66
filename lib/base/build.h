/* SPDX-License-Identifier: Apache-2.0
   What the build knows: the version, the compiler, and where the files that come with the program (figures, styles)
   lie. Strings that are const are static. */
#ifndef HU_BASE_BUILD_H
#define HU_BASE_BUILD_H

const char *hu_build_version(void);  /* "0.2.0" */
const char *hu_build_compiler(void); /* "gcc 12.2.0", "clang 14.0.6" */
const char *hu_build_gnuplot(void);  /* $GNUPLOT if set, else the gnuplot that configure found, else "gnuplot" */

/* The absolute path by which the running program can be started again, which the caller frees; NULL where the system
   does not tell it. */
char *hu_build_program(void);

/* The folder of the running program, which the caller frees; NULL where the system does not tell it. */
char *hu_build_folder(void);

/* Finds a file that comes with the program. name is its path in the source tree, such as "reports/figures/style.gp".
   The folder $HALFULP_SHARE is searched first, then ../share/halfulp of the folder of the program, then the source tree
   that the program was built from, then the installed package. Returns the path, which the caller frees, or NULL where
   none of them holds the file; hu_reason then says where it was looked for. */
char *hu_build_file(const char *name);
char *hu_build_find(const char *name); /* the same, where a file that is absent is no failure */
#endif
