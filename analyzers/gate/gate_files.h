/* SPDX-License-Identifier: Apache-2.0
   What check and diff do where they are given files of anyone's, or two runs to hold to rules. */
#ifndef HU_ANALYZERS_GATE_FILES_H
#define HU_ANALYZERS_GATE_FILES_H

#include "lib/base/console/opt.h"

/* Whether NEW and OLD are to be held to rules: NEW is a file, or OLD is a run. */
int hu_are_files(const char *new, const char *old);
/* check NEW --baseline OLD --rule …; the exit code. FORMAT: tap, junit or json. */
int hu_check_files(const hu_args *a, const char *new, const char *old, const char *format);
/* diff OLD NEW; the exit code. */
int hu_diff_files(const hu_args *a, const char *old, const char *new);
#endif
