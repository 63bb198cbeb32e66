/* SPDX-License-Identifier: Apache-2.0
   Recorded gradients, each of which stands for one rank, and the gradients of as many simulated ranks as are asked
   for. Only a sample of the elements is kept. */
#ifndef HU_ANALYZERS_RECORDS_H
#define HU_ANALYZERS_RECORDS_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct hu_records {
	size_t n, elements;      /* records, and sampled elements of each */
	size_t ranks;            /* so many records each are those of one step's ranks; 1: each is of a step or file */
	size_t of;               /* elements of one record */
	size_t *place;           /* the sampled elements' places among all of them, ascending */
	double **x;              /* x[record][element], rounded to fp32, to nearest */
	size_t *nonfinite;       /* by record, of all of its elements: those that are infinite or NaN in fp32 */
	double *mean, *sd;       /* by element over the records; sd is 0 where there is one record */
	double amax;             /* the largest finite |x| of all elements of all records */
	uint64_t seed;
	int normal;              /* how simulated ranks get gradients: 0 in turn from the records, 1 drawn */
	char *names;             /* private: the tensors that every record must have */
	char *first;
} hu_records;

/* Reads the records of n paths: every traced step of a run directory (the gradients that the update was given; or,
   where the training computed that, a record of what each rank handed to all_reduce, before error feedback added to
   it), or an .npy, .npz or .safetensors file (all of its floating-point tensors). Of all elements, `sample` are drawn
   by seed (0: all). HU_EFILE where a file cannot be read or has other tensors than the first. The caller releases *r on
   success. */
hu_status hu_records_init(
	hu_records *r, const char *const *paths, int n, size_t sample, uint64_t seed, int normal);
void hu_records_release(hu_records *r);

/* The gradient that simulated rank `rank` of `ranks` has in a step, from 0, for sampled element e: where every traced
   step has R = r->ranks records, rank k has record k mod R of traced step (step + floor(k / R)) mod (n / R); or mean +
   sd z rounded to fp32, where z is a normal deviate that depends on seed, step * ranks + rank and the element's place
   alone. */
double hu_records_value(const hu_records *r, size_t rank, size_t ranks, size_t step, size_t e);

/* Returns 1 if everything is finite in all records that the rank has in its first `steps` steps; also in the elements
   that were not sampled. A drawn gradient is as finite as all records are. */
int hu_records_finite(const hu_records *r, size_t rank, size_t steps);
#endif
