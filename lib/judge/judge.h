/* SPDX-License-Identifier: Apache-2.0
   Compares recorded outputs of one call with their exact values: errors in ulps of the output's format, whether they
   exceed the call's a-priori bound, and the magnitudes behind each value. */
#ifndef HU_JUDGE_JUDGE_H
#define HU_JUDGE_JUDGE_H

#include "lib/judge/judging.h"

/* Judges every listed value once, or those of a tile: whichever tiles there are, together they are judged as the whole
   is, except that whole products may be on other grids. HU_EUNABLE where MPFR disagrees with what a faster method found
   of this call (lib/exact/judge.h): nothing that was handed over is then a verdict. Memory: tiles, and 24 bytes for
   each value that waits for the reference. */
hu_status hu_judge_each(const hu_judge_job *job, hu_methods *methods);

/* The output of c, by a draw, that has a value which MPFR judges in any case. A loss of more than 2^13 terms is left
   out where its call has other outputs: an exponential of each term is more than all other calls of a step ask for. */
int hu_judge_drawn(const hu_call *c, hu_tensor *const *in, uint64_t draw);

/* Judged values in arrays of n, by ascending element. */
typedef struct hu_judged {
	size_t n, of;           /* number judged, and number of elements of the tensor */
	size_t *element;
	double *got;
	double *exact, *error, *ulps;   /* as in hu_ziv */
	double *bound;          /* of |got - exact|; infinite if overflow cannot be excluded */
	double *magnitude;
	char *over;             /* 1: the error exceeds the bound, compared exactly */
	char **hex;             /* NULL unless asked for */
	hu_methods methods;
} hu_judged;

/* Judges a job into arrays; the job's take and context are ignored, and its element is copied. */
hu_status hu_judged_new(const hu_judge_job *job, hu_judged **result);

/* The same for whoever takes the verdicts as well: arrays for those of a job, and their storing, which take calls. The
   member methods is the caller's to fill in. */
hu_judged *hu_judged_begin(const hu_judge_job *job);
void hu_judged_put(hu_judged *j, const hu_judge_job *job, const hu_judging *some);

/* Draws want of n indices, ascending, each with the same probability, as a pure function of (seed, name, step, n,
   want); all of them if want is 0 or at least n. The caller frees the result; *count gets its length. */
size_t *hu_sample(uint64_t seed, const char *name, size_t step, size_t n, size_t want, size_t *count);

/* Judges the elements element (which the result owns from here on) of got, the recorded output out of call c. */
hu_status hu_judge(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const hu_tensor *got,
	size_t *element, size_t n, int hex, hu_judged **result);
void hu_judged_free(hu_judged *j);

/* |got - exact| / 2^(max(floor(log2|exact|), emin) - p + 1), rounded once; for exact = 0, in units of the smallest
   subnormal. 0 if both are the same infinity or both NaN; infinite if only one is finite or only one is NaN. */
double hu_judge_ulps(double got, mpfr_srcptr exact, hu_format f);
#endif
