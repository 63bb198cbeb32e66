/* SPDX-License-Identifier: Apache-2.0
   An array as tasks of whole blocks, which threads take; for this folder alone. Places number the elements so that
   those that may share a scale follow each other. */
#ifndef HU_ANALYZERS_INSPECT_TASKS_H
#define HU_ANALYZERS_INSPECT_TASKS_H

#include "analyzers/inspect/cast_loop.h"
#include "analyzers/inspect/inspect_cast.h"
#include "analyzers/op/foreign.h"

enum {
	HU_INSPECT_SLACK = 8,  /* elements behind the last one, for loops that take eight at a time */
	HU_INSPECT_PART = 2048 /* elements that are summed in double */
};

/* What is common to all tasks of an array. */
typedef struct hu_inspect_job {
	const hu_array *a;
	const hu_target *to;
	int n, moments; /* formats; the array holds Adam's second moments */
	const hu_cast_loops *loops;
	hu_block_scale *whole;   /* of each format: the scale of those that have one for the array, */
	double *whole_amax;      /* and hu_block_whole of others */
	float ends[3];           /* the smallest and the largest number, NaN behind them where not all are finite;
				    set where a format's scale or the moments ask for them */
	double (*above)[2];      /* of each format of single numbers: where it saturates, below and above 0 */
	size_t row, rows, group; /* elements of a row, rows, and rows of a task, or */
	size_t cut, cuts;   /* where group is 0, elements of a piece of a row that is a task, and pieces of a row */
	size_t tasks, most; /* most: elements of the largest task */
} hu_inspect_job;

/* A thread's arrays, each of `most` elements and the slack: the elements, as they become, and in fp32. */
typedef struct hu_inspect_desk {
	double *x, *got, *narrow;
	float *f;
	unsigned char *codes;
} hu_inspect_desk;

/* Sets row to most by the array's shape and the formats' block sizes: as many rows a task as come to 2^14 elements, or
   pieces of about so many of longer rows. */
void hu_inspect_cut(hu_inspect_job *j);
/* Sets *at to the place of task k's first element, and returns how many it has. */
size_t hu_inspect_task(const hu_inspect_job *j, size_t k, size_t *at);
/* Returns the number of the element at a place. */
size_t hu_inspect_element(const hu_array *a, size_t place);
/* Returns the bytes before those of task k, for arrays whose places are their elements. */
size_t hu_inspect_bytes(const hu_inspect_job *j, size_t k);

/* Reads the n elements at places from `at` on into d->x, exactly, and puts zeros behind them. */
void hu_inspect_decode(const hu_inspect_job *j, const hu_inspect_desk *d, size_t at, size_t n);
/* Sets d->f and d->narrow to the n elements of d->x and the slack in fp32, to nearest even. */
void hu_inspect_narrow(const hu_inspect_desk *d, size_t n);
/* Casts elements from..from + n of d->narrow, which share a scale, to d->got, and adds to s's saturated, subnormal and
   lost. at is the place of d's first element, by which stochastic rounding draws. */
void hu_inspect_cast_block(hu_cast_sums *s, const hu_inspect_job *j, const hu_inspect_desk *d, const hu_block *b,
	hu_block_scale scale, size_t at, size_t from, size_t n);
/* Adds the n elements d->x at places from `at` on, which format k made d->got, to e; both have zeros behind them. */
void hu_inspect_add_task(
	hu_cast_effect *e, const hu_inspect_job *j, int k, const hu_inspect_desk *d, size_t at, size_t n);

/* What is done with each task: do_task fills a part of `size` bytes, merge adds it to what the parts before it made. */
typedef struct hu_inspect_work {
	size_t size;
	void (*do_task)(void *part, const hu_inspect_job *j, const hu_inspect_desk *d, size_t task, const void *of);
	void (*merge)(void *all, const void *part, const hu_inspect_job *j);
	const void *of; /* handed to do_task */
} hu_inspect_work;
/* Does it with all tasks, in threads, and merges the parts in the tasks' order into `all`. */
void hu_inspect_each(void *all, const hu_inspect_job *j, const hu_inspect_work *w);
/* Joins n parts that are effects. */
void hu_inspect_merge_effects(void *all, const void *part, const hu_inspect_job *j);

/* Sets best_scale and best of e[0..n), which hold what the casts as they are do. For single numbers the scale is a
   power of two: the smallest that nothing overflows under, which no other beats, or for formats that saturate the one
   of least error. Whole-array block formats: the one of least error among those that follow from ranges 2^(-i/16) of
   the array's; formats of smaller blocks choose so for each block, and best_scale is NaN. */
void hu_inspect_best(hu_cast_effect *e, const hu_inspect_job *j);
#endif
