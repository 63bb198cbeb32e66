/* SPDX-License-Identifier: Apache-2.0
   Tiles of a kernel's results that can be computed alone, each from the stretches of the operands that it needs
   (samples.def). */
#ifndef HU_ANALYZERS_JUDGE_TILES_H
#define HU_ANALYZERS_JUDGE_TILES_H

#include "analyzers/judge/kernel/kernel_job.h"

enum { HU_TILES_GROUPS = 4, HU_TILES_MEMBERS = 10 };

/* An axis that is cut into steps: the arrays that have it, of which some may have fewer elements by a whole factor, as
   heads of keys that several heads of queries share. */
typedef struct hu_tiles_group {
	int n, queries, is_shared, grows_first;
	struct {
		hu_judge_array *a;
		int axis;
		size_t by;
	} member[HU_TILES_MEMBERS];
	size_t length, step, blocks;
} hu_tiles_group;

typedef struct hu_tiles {
	hu_kernel_job *j;
	hu_tiles_group g[HU_TILES_GROUPS];
	int ng, whole;     /* whole: the tiles cover the results, and the last one of an axis may be shorter */
	size_t first, of;  /* where the queries that were handed in stand, of how many (0: of those) */
	char *declared[2]; /* first= and of= as they were declared, to be set again */
} hu_tiles;

/* Finds the axes of the job's kernel. HU_EUNABLE where tiles of its results cannot be computed alone. hu_tiles_close,
   allowed whatever this returns, lets the job's arrays be whole again. */
hu_status hu_tiles_open(hu_tiles *t, hu_kernel_job *j);
void hu_tiles_close(hu_tiles *t);
/* Lets tiles of one step grow, first along the last axes and by the shortest side, until they have so many elements of
   the first result; or as long as a tile's run takes no more memory. */
void hu_tiles_grow_to_elements(hu_tiles *t, size_t elements);
void hu_tiles_grow_to_bytes(hu_tiles *t, double bytes);
size_t hu_tiles_elements(const hu_tiles *t); /* of the first result, in a tile that is not shorter */
size_t hu_tiles_count(hu_tiles *t);          /* how many tiles there are; settles their places */
/* About what a run takes: of all arrays, or of one tile. */
double hu_tiles_bytes(const hu_tiles *t, int whole);
/* Makes the job's arrays those of tile NUMBER. */
void hu_tiles_cut(hu_tiles *t, size_t number);
size_t hu_tiles_stretch(const hu_judge_array *a); /* elements of its part of an array */
#endif
