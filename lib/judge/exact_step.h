/* SPDX-License-Identifier: Apache-2.0
   One run of the exact step (propagate.h): a program's calls in order, on values that are sums of doubles. They are
   pairs with an error bound, from the operators' enclosures, or four doubles (at least 212 bits) or five (265 bits)
   from the operators' MPFR references. The latter have no bound; digits on which four and five agree are taken as
   exact. */
#ifndef HU_JUDGE_EXACT_STEP_H
#define HU_JUDGE_EXACT_STEP_H

#include "lib/judge/engine.h"
#include "lib/op/sink.h"
#include "lib/program/program.h"

typedef enum hu_step_precision { HU_STEP_TWO, HU_STEP_FOUR, HU_STEP_FIVE } hu_step_precision;
enum { HU_STEP_PARTS = 5 }; /* the most doubles of a value */

typedef struct hu_exact_step {
	const hu_program *q; /* every tensor and operation in fp64 */
	hu_tensor *t;        /* by tensor id; data holds the leading doubles, low the others */
	hu_low *low;         /* by tensor id, for pairs: trailing part and error; NULL stands for zeros */
	char *known;         /* by tensor id: 1 if all it depends on was recorded and lies within double's range */
	const hu_tensor *recorded;
	const hu_engine *engine;
	uint64_t seed;
	hu_step_precision precision;
	size_t judged;    /* number of values judged by MPFR */
	size_t disagreed; /* number of calls of whose result two ways of computing it disagreed */
	int *next;        /* by tensor id: the next one of those that casts made of one another, in a ring */
} hu_exact_step;

/* A copy of p with every operation in fp64, rounded to nearest; freed by hu_program_free. Its tensors keep their
   formats, which no step reads: exact values have tensors of their own, in fp64. */
hu_program *hu_exact_step_program(const hu_program *p);

void hu_exact_step_init(hu_exact_step *x, const hu_program *q, const hu_tensor *recorded, const hu_engine *engine,
	uint64_t seed, hu_step_precision precision);
void hu_exact_step_release(hu_exact_step *x);

/* Copies the tensors that no call computes from the recorded ones, if they were recorded. */
hu_status hu_exact_step_begin(hu_exact_step *x);
/* Runs call i and judges a sample of its values by MPFR from the same operands; if one is outside its bound, that is a
   disagreement (lib/exact/judge.h), and the call's outputs are not known. */
hu_status hu_exact_step_call(hu_exact_step *x, int i);
/* Computes every output of the call by the engine's reference. An output with a number beyond double's range is not
   known. */
hu_status hu_exact_step_by_reference(hu_exact_step *x, const hu_call *c, hu_tensor *const *in);
/* drop frees a tensor's values; round keeps only the nearest doubles. */
void hu_exact_step_drop(hu_exact_step *x, int id);
void hu_exact_step_round(hu_exact_step *x, int id);
/* A cast without a factor changes no exact value, so that its result has the arrays of its operand. share gives them to
   tensor `to`, and whoever drops them last frees them. own gives a tensor leading doubles that nobody shares, for who
   changes or keeps them. HU_EIO, HU_ENOMEM. */
void hu_exact_step_share(hu_exact_step *x, int to, int from);
hu_status hu_exact_step_own(hu_exact_step *x, int id);
/* The number of arrays of doubles besides the leading one: trailing part and error for pairs; all further doubles for
   MPFR's values. */
size_t hu_exact_step_lows(const hu_exact_step *x);
/* make allocates a tensor's leading doubles if it has none yet; make_low frees its old trailing arrays and allocates
   new ones (hu_exact_step_lows of them). HU_EIO, HU_ENOMEM. */
hu_status hu_exact_step_make(hu_exact_step *x, int id);
hu_status hu_exact_step_make_low(hu_exact_step *x, int id, double **low);
#endif
