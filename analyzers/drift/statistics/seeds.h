/* SPDX-License-Identifier: Apache-2.0
   Whole trainings that are told apart by their seeds: what statistics and scores are of. */
#ifndef HU_ANALYZERS_SEEDS_H
#define HU_ANALYZERS_SEEDS_H

#include "analyzers/drift/baseline/baseline_common.h"

enum { HU_SEEDS = 64 };

typedef struct hu_seeds {
	int n;
	long long seed[HU_SEEDS];
	hu_baseline of; /* the first run's environment; no quantities */
} hu_seeds;

/* Returns the place of a seed, or -1. */
int hu_seeds_find(const hu_seeds *s, long long seed);

/* Opens RUNS one after another, each of which has to be finished, and hands it to TAKE with its place in the line,
   until one fails. The environment of the first becomes that of S. */
typedef hu_status hu_seeds_take(void *to, const hu_run *r, int place);
hu_status hu_seeds_walk(hu_seeds *s, char *const *run, int runs, hu_seeds_take *take, void *to);

/* Begins a file of S: "halfulp KIND: VERSION", why its numbers are right, and the environment. Ends it with its
   checksum, and writes it. */
void hu_seeds_begin(hu_tsv *t, const hu_seeds *s, const char *kind, int version, const char *reason);
hu_status hu_seeds_end(hu_tsv *t, const char *path);
/* HU_EFILE where the table is none of this kind and version. */
hu_status hu_seeds_version(const hu_table *t, const char *kind, int version, const char *path);
#endif
