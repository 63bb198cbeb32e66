/* SPDX-License-Identifier: Apache-2.0
   What check and diff do where they are given files of anyone's, or two runs to hold to rules. */
#ifndef HU_ANALYZERS_FILES_FILES_H
#define HU_ANALYZERS_FILES_FILES_H

#include "lib/base/console/opt.h"

/* Returns whether the two are compared by rules, which is so where `new` is a file or `old` is a run, and
   where `new` is not there and `old` is a file that no run was recorded in. */
int hu_files_are(const char *new, const char *old);
/* Does what check NEW --baseline OLD --rule … asks for, and returns the exit code. `format` is json, or
   one of the outcomes' writers. */
int hu_files_check(const hu_args *a, const char *new, const char *old, const char *format);
/* Does what diff OLD NEW asks for, and returns the exit code. */
int hu_files_diff(const hu_args *a, const char *old, const char *new);
#endif
