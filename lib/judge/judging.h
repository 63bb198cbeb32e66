/* SPDX-License-Identifier: Apache-2.0
   A judgement that is asked for, and its verdicts as they are handed over, some at a time. */
#ifndef HU_JUDGE_JUDGING_H
#define HU_JUDGE_JUDGING_H

#include "lib/judge/engine.h"
#include "lib/judge/verdict/ziv.h"
#include "lib/op/region.h"

/* How many values each method decided. exact: the exact value was a double or the sum of two. certified: an enclosure
   was narrow enough for every digit of the verdict. oracle: the operator's reference in integers or MPFR. again counts
   those of the first two that the reference checked as well; a call in which the two disagree has no verdict. */
typedef struct hu_methods {
	size_t exact, certified, oracle, again;
} hu_methods;

void hu_methods_add(hu_methods *to, const hu_methods *from);

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

/* Enclosures of n elements from number `first` on: each exact value lies within err of hi + lo (lib/op/sink.h). */
typedef struct hu_enclosed {
	size_t first, n;
	double *hi, *lo, *err;
} hu_enclosed;

/* Room for them, which says nothing of any value yet; the caller frees it by free alone. */
hu_enclosed *hu_enclosed_new(size_t first, size_t n);

typedef struct hu_judge_job {
	const hu_engine *engine;
	const hu_call *c;
	hu_tensor *const *in;
	int out;
	const hu_tensor *got;  /* recorded */
	const size_t *element; /* n of them, ascending; NULL: all, and n = got->n */
	size_t n;
	/* Where all elements are judged, of a contraction or a call that has a grain (hu_op): only these, as in
	   hu_sink. */
	hu_region some;
	/* hexadecimal exact values are wanted */
	int hex;
	uint64_t seed;  /* selects the values that the reference checks again */
	hu_enclosed *enclosed; /* gets the enclosures of its elements, which are all that are judged; NULL: none */
	hu_memo **memo; /* shared by the jobs of one call, NULL at first, released by the caller; NULL: none */
	void (*take)(void *context, const hu_judging *some); /* several threads may call it at once, in any order */
	void *context;
} hu_judge_job;

/* The element that number at of the list is. */
static inline size_t
hu_judge_element(const hu_judge_job *job, size_t at)
{
	return job->element ? job->element[at] : at;
}

/* Makes room for n verdicts, of which there are none yet, with hexadecimal values where hex is set. */
void hu_judging_init(hu_judging *some, size_t n, int hex);
void hu_judging_release(hu_judging *some);
/* Stores verdict v as value i. */
void hu_judging_put(hu_judging *some, size_t i, const hu_ziv *v);
#endif
