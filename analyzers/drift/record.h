/* SPDX-License-Identifier: Apache-2.0
   Writing a baseline of whatever is held to one: of runs their quantities, statistics or scores, of a file the file. */
#ifndef HU_ANALYZERS_RECORD_H
#define HU_ANALYZERS_RECORD_H

#include "lib/base/console/opt.h"

/* Writes the baseline PATH of A's arguments by A's options --reason, --statistics, --score, --ulps and
   --allow-nonfinite, prints what was recorded, and returns the exit code. */
int hu_record_baseline(const hu_args *a, const char *path);
/* Copies the file FROM to PATH, byte for byte, where check can read it, and prints how many names it has. Returns the
   exit code; nothing is written where it is not HU_EXIT_OK. */
int hu_record_baseline_file(const char *from, const char *path);
#endif
