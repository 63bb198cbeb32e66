/* SPDX-License-Identifier: Apache-2.0
   One chunk of two tensors; for this folder alone. */
#ifndef HU_ANALYZERS_PAIR_CHUNK_H
#define HU_ANALYZERS_PAIR_CHUNK_H

#include "analyzers/drift/files/pair.h"
#include "analyzers/drift/files/pair_loop.h"

typedef struct hu_pair_job {
	const hu_item *old, *new;
	const hu_format_id *format;
	int formats;
	double scale; /* of all squares and products */
	const hu_pair_loops *loops;
} hu_pair_job;

/* Sums and largest values of a chunk. `at` is its first nonfinite pair, else the first with the largest |y - x|. */
typedef struct hu_pair_part {
	hu_pair_sums s;
	double ulps[HU_PAIR_FORMATS], x, y;
	size_t nonfinite, at;
} hu_pair_part;

/* Elements of an item as doubles, at most HU_PAIR_PART of them. */
enum { HU_PAIR_PART = 512 };
void hu_pair_reals(double *out, const hu_item *t, const unsigned char *codes, size_t n);

void hu_pair_loops_choose(hu_pair_job *j);
void hu_pair_chunk(hu_pair_part *p, const hu_pair_job *j, const unsigned char *a, const unsigned char *b, size_t n);
#endif
