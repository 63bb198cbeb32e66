/* SPDX-License-Identifier: Apache-2.0
   What a user declares of a kernel: its formats, its order of sums, the errors of its functions. Facts are texts by
   key; arithmetic is what follows from them for a bound. */
#ifndef HU_JUDGE_FACTS_H
#define HU_JUDGE_FACTS_H

#include "lib/base/status.h"
#include "lib/number/format.h"

#include <stddef.h>

/* Later entries win. Keys and values are copies. */
typedef struct hu_facts {
	struct hu_fact {
		char *key, *value;
	} * fact;
	int n, cap;
} hu_facts;

typedef enum hu_sum_order { HU_ORDER_ANY, HU_ORDER_SEQUENTIAL, HU_ORDER_PAIRWISE, HU_ORDER_BLOCKS } hu_sum_order;

/* The arithmetic of single operations and of sums. u is the unit roundoff of the compute format; a sum makes roundings
   of unit acc over `run` terms (0: over all of them), and then of unit outer. max is the compute format's largest
   number, 0 where nothing overflows. */
typedef struct hu_roundoffs {
	double u, max, acc, outer, tiny, sum_tiny, exp, fn;
	hu_sum_order order;
	size_t block, run, missing;
} hu_roundoffs;

/* The rows of facts.def. */
typedef struct hu_fact_row {
	const char *key, *kind, *preset, *summary;
} hu_fact_row;
const hu_fact_row *hu_fact_at(int i); /* NULL past the last */

void hu_facts_init(hu_facts *f); /* with the defaults of facts.def */
void hu_facts_release(hu_facts *f);
void hu_facts_set(hu_facts *f, const char *key, const char *value);
void hu_facts_copy(hu_facts *to, const hu_facts *from);
const char *hu_facts_text(const hu_facts *f, const char *key); /* NULL: not declared */

/* Each is HU_EINVAL, with the key in the reason, where the value is not what is needed. A format that is "none" is
   HU_NO_FORMAT; in, out, compute and acc stand for those facts. */
hu_status hu_facts_real(const hu_facts *f, const char *key, double *x);
hu_status hu_facts_count(const hu_facts *f, const char *key, size_t *n);
hu_status hu_facts_format(const hu_facts *f, const char *key, hu_format_id *id);
hu_status hu_facts_format_of(const hu_facts *f, const char *key, const char *value, hu_format_id *id);
hu_status hu_facts_arithmetic(const hu_facts *f, hu_roundoffs *a);
/* *yes: results are rounded to their format stochastically. */
hu_status hu_facts_stochastic(const hu_facts *f, int *yes);

/* How many of a sum's n terms it has. */
static inline size_t
hu_roundoffs_terms(const hu_roundoffs *a, size_t n)
{
	return a->missing < n ? n - a->missing : 0;
}

/* The relative error of a sum of k products, or of k terms with a rounding of their own, in units of the sum of their
   magnitudes: proven, and as the proxy standard deviation of independent roundings. */
void hu_roundoffs_sum(const hu_roundoffs *a, size_t k, double *proven, double *proxy);
/* The same for n plain terms. */
void hu_roundoffs_plain(const hu_roundoffs *a, size_t n, double *proven, double *proxy);
#endif
