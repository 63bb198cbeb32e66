/* SPDX-License-Identifier: Apache-2.0
   Compares recorded outputs of one call with their exact values: errors in ulps of the output's format, whether they
   exceed the call's a-priori bound, and the magnitudes behind each value. */
#ifndef HU_ANALYZERS_JUDGE_H
#define HU_ANALYZERS_JUDGE_H

#include "lib/judge/engine.h"
#include "lib/judge/ziv.h"
#include "lib/op/region.h"

/* How many values each method decided. exact: the exact value was a double or the sum of two. certified: an enclosure
   was narrow enough for every digit of the verdict. oracle: the operator's reference in integers or MPFR. again counts
   those of the first two that the reference checked as well; a disagreement ends the program. */
typedef struct hu_ladder { size_t exact, certified, oracle, again; } hu_ladder;

void hu_ladder_add(hu_ladder *to, const hu_ladder *from);

/* n judged values: number at[i] of the list that was asked for is element element[i]. magnitude is the sum of the
   |terms| behind the value, |exact| if the operator has no such column. exact, error, ulps and over are those of
   hu_ziv. hex is the exact value to at least 200 bits as a hexadecimal floating-point number, which the callback take
   frees by mpfr_free_str; NULL unless asked for. */
typedef struct hu_judging {
	size_t n;
	size_t *at, *element;
	double *got, *bound, *magnitude, *exact, *error, *ulps;
	unsigned char *over;
	char **hex;
} hu_judging;

typedef struct hu_judge_job {
	const hu_engine *engine;
	const hu_call *c;
	hu_tensor *const *in;
	int out;
	const hu_tensor *got;          /* recorded */
	const size_t *element;         /* n of them, ascending; NULL: all, and n = got->n */
	size_t n;
	/* Where all elements are judged, of a contraction or a call that has a grain (hu_op): only these, as in
	   hu_sink. */
	hu_region some;
	/* hexadecimal exact values are wanted */
	int hex;
	uint64_t seed;                 /* selects the values that the reference checks again */
	hu_memo **memo; /* shared by the jobs of one call, NULL at first, released by the caller; NULL: none */
	void (*take)(void *context, const hu_judging *some); /* several threads may call it at once, in any order */
	void *context;
} hu_judge_job;

/* Judges every listed value once, or those of a tile: whichever tiles there are, together they are judged as the whole
   is, except that whole products may be on other grids. Memory: tiles, and 24 bytes for each value that waits for the
   reference. */
hu_status hu_judge_each(const hu_judge_job *job, hu_ladder *ladder);

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
	hu_ladder ladder;
} hu_judged;

/* Judges a job into arrays; the job's take and context are ignored, and its element is copied. */
hu_status hu_judged_new(const hu_judge_job *job, hu_judged **result);

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
