/* SPDX-License-Identifier: Apache-2.0
   Collecting a run's quantities, and writing those of runs that agree, or that --ulps spans, as a baseline. */
#ifndef HU_ANALYZERS_RECORD_RUN_H
#define HU_ANALYZERS_RECORD_RUN_H

#include "analyzers/drift/baseline/baseline.h"
#include "lib/base/console/opt.h"

/* What the runs of a line saw (HU_SAW_… of coverage.h), and in how many steps. */
typedef struct hu_coverage_seen {
	unsigned saw;
	size_t steps;
} hu_coverage_seen;

/* Collects B from the finished and analyzed run DIR, to be released, and adds what it saw to S. HU_EFILE where it is
   not finished or not analyzed; B then holds nothing. */
hu_status hu_baseline_of_run(const char *dir, hu_baseline *b, hu_coverage_seen *s);

/* Writes B, of the first run of A's line, to PATH, and prints what moved since the file before and what no run showed.
   The other runs of the line must agree with it bit for bit, or be within --ulps of it. HU_EINVAL where they are not,
   without --reason, where a quantity is not finite and was not declared so, or where the loss barely moved; nothing is
   written then. */
hu_status hu_baseline_record_run(const hu_args *a, const char *path, hu_baseline *b, hu_coverage_seen *saw);
#endif
