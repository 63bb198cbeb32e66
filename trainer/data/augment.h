/* SPDX-License-Identifier: Apache-2.0
   Random changes of rows for training. What happens to a row is a function of seed, epoch, the row's number and the
   view, by Philox: not of the batch that it is in, the number of threads, or where a training was resumed. */
#ifndef HU_TRAINER_DATA_AUGMENT_H
#define HU_TRAINER_DATA_AUGMENT_H

#include "lib/number/philox.h"
#include "trainer/data/data.h"

/* The numbers of what was asked for, by the rows of augments.def; 0: not asked for, negative: the row's own default. */
typedef struct hu_augment {
#define AUGMENT(name, how, argument, least, most, none, summary) double name;
#include "trainer/data/augments.def"
#undef AUGMENT
} hu_augment;

/* Reads "crop,flip,noise:0.1"; NULL asks for nothing. HU_EINVAL names the word that is wrong. */
hu_status hu_augment_parse(hu_augment *g, const char *text);
/* Returns 1 where anything is asked for. */
int hu_augment_any(const hu_augment *g);
/* HU_EINVAL where ds has no array x of numbers, or where pixels are to move and its rows have no height and width. */
hu_status hu_augment_check(const hu_augment *g, const hu_dataset *ds);

/* Which draw of each row: two views of a row in the same epoch are made by different random numbers. */
typedef struct hu_view { uint64_t seed; uint32_t epoch, view; } hu_view;

/* Reads n rows of array a by hu_dataset_batch and changes them, once for each view: view v of row i is row
   views * i + v of `rows`. first is view 0's draw; NULL: nothing is changed. Array x takes all changes: moves first,
   then its values are computed in double and rounded once to float; what is moved in from outside is 0. An array "mask"
   whose rows have x's height and width takes the same moves, and 0 from outside. Other arrays stay as they are.

   Random numbers come from the stream "augment/NAME", for a view v > 0 "augment/NAME/v", at step = epoch; what a change
   makes of them stands in augment/NAME.c. */
hu_status hu_augment_batch(const hu_augment *g, hu_dataset *ds, const hu_data_array *a, const hu_view *first,
	size_t views, const size_t *index, size_t n, float *rows);

/* What a change of one row knows, for the files augment/NAME.c. draw: the block of its stream at index = row. number:
   as hu_augment has it. height and width: those of array x. */
typedef struct hu_augmenting {
	hu_random draw;
	double number;
	long height, width;
	uint64_t seed, row;
	uint32_t stream, epoch;
} hu_augmenting;

/* MOVES: makes *y and *x the place that the pixel there is taken from; returns 0 where that lies outside.
   VALUES: changes the row's n numbers. */
typedef int hu_augment_moves(const hu_augmenting *a, long *y, long *x);
typedef void hu_augment_values(const hu_augmenting *a, double *values, size_t n);
#define MOVES hu_augment_moves
#define VALUES hu_augment_values
#define AUGMENT(name, how, argument, least, most, none, summary) how hu_augment_##name;
#include "trainer/data/augments.def"
#undef AUGMENT
#undef VALUES
#undef MOVES

/* Returns the whole number word * (2 * most + 1) / 2^32 - most, which lies between -most and most. */
static inline long
hu_augment_either_way(uint32_t word, double most)
{
	uint64_t m = (uint64_t)most;

	return (long)(word * (2 * m + 1) >> 32) - (long)m;
}
#endif
