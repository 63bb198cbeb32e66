/* SPDX-License-Identifier: Apache-2.0
   Recorded outputs of one call against their exact values: errors in ulps of the
   output's format, the call's a-priori bound, the magnitudes behind each value. */
#ifndef HU_ANALYZERS_JUDGE_H
#define HU_ANALYZERS_JUDGE_H

#include "lib/judge/engine.h"
#include "lib/judge/ziv.h"

/* How values came to their verdicts: exact: both doubles hold the value; certified: an enclosure that decides every
   digit; oracle: by the operator's reference, integers or MPFR. again: of the first two, judged by the
   reference as well; all agreed, else the program has ended. */
typedef struct hu_ladder { size_t exact, certified, oracle, again; } hu_ladder;

void hu_ladder_add(hu_ladder *to, const hu_ladder *from);

/* Some judged values: number AT[i] of the list that was asked for is element ELEMENT[i]. MAGNITUDE: sum of |terms|
   behind the value; |exact| where the operator has none. EXACT, ERROR, ULPS, OVER: as in hu_ziv. HEX: the exact value
   to 200 bits or more as a hex float, for the taker to free by mpfr_free_str; NULL unless asked for. */
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
	const size_t *element;         /* ascending, N of them; NULL: all, N = got->n */
	size_t n;
	int hex;
	uint64_t seed;                 /* of what is judged again */
	hu_memo **memo; /* shared by the jobs of one call, NULL at first, released by the caller; NULL: none */
	void (*take)(void *context, const hu_judging *some); /* by several threads at once, in any order */
	void *context;
} hu_judge_job;

/* Every value comes once. Memory: tiles, and 24 bytes for each value that waits for the reference. */
hu_status hu_judge_each(const hu_judge_job *job, hu_ladder *ladder);

/* Arrays of N, by ascending element. */
typedef struct hu_judged {
	size_t n, of;           /* judged, and elements the tensor has */
	size_t *element;
	double *got;
	double *exact, *error, *ulps;   /* as in hu_ziv */
	double *bound;          /* of |got - exact|; infinite where overflow cannot be excluded */
	double *magnitude;
	char *over;             /* 1: the error leaves the bound, compared exactly */
	char **hex;             /* NULL unless asked for */
	hu_ladder ladder;
} hu_judged;

/* The values of a job (its TAKE and CONTEXT are not looked at) in arrays; the elements are copied. */
hu_status hu_judged_new(const hu_judge_job *job, hu_judged **result);

/* WANT of N indices, ascending, each with the same chance, a pure function of (seed, name, step, n, want);
   all of them where WANT is 0 or not below N. Freed by the caller; *count has their number. */
size_t *hu_sample(uint64_t seed, const char *name, size_t step, size_t n, size_t want, size_t *count);

/* Judges the elements ELEMENT (owned by the result from here on) of GOT, the recorded output OUT of call C. */
hu_status hu_judge(const hu_engine *engine, const hu_call *c, hu_tensor *const *in, int out, const hu_tensor *got,
	size_t *element, size_t n, int hex, hu_judged **result);
void hu_judged_free(hu_judged *j);

/* |got - exact| / 2^(max(floor(log2|exact|), emin) - p + 1), rounded once; for exact = 0 over the smallest subnormal.
   0 where both are the same infinity or both NaN; infinite where only one is finite or one is NaN. */
double hu_judge_ulps(double got, mpfr_srcptr exact, hu_format f);
#endif
