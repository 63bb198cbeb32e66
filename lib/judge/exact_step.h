/* SPDX-License-Identifier: Apache-2.0
   One rung of the exact step (propagate.h): a program's calls in order on values that are sums of doubles,
   either pairs with an error bound, by the operators' enclosures, or four doubles from the operators' MPFR
   references, which is 212 bits or more, or five, which is 265: they have no bound, and show by what they agree in what
   is exact. */
#ifndef HU_ANALYZERS_EXACT_STEP_H
#define HU_ANALYZERS_EXACT_STEP_H

#include "lib/judge/engine.h"
#include "lib/op/sink.h"
#include "lib/program/program.h"

typedef enum hu_step_rung { HU_STEP_TWO, HU_STEP_FOUR, HU_STEP_FIVE } hu_step_rung;
enum { HU_STEP_PARTS = 5 };    /* doubles of a value at most */

typedef struct hu_exact_step {
	const hu_program *q;       /* all in fp64 */
	hu_tensor *t;              /* by tensor id; data: the leading doubles, low: the others */
	hu_low *low;               /* by tensor id: of pairs, low part and error; NULL where 0 */
	char *known; /* by tensor id: everything it follows from was recorded, and lies within double's range */
	const hu_tensor *recorded;
	const hu_engine *engine;
	uint64_t seed;
	hu_step_rung rung;
	size_t judged;             /* values judged by MPFR */
} hu_exact_step;

/* P with every tensor and every operation in fp64, to nearest; freed by hu_program_free. */
hu_program *hu_exact_step_program(const hu_program *p);

void hu_exact_step_init(hu_exact_step *x, const hu_program *q, const hu_tensor *recorded, const hu_engine *engine,
	uint64_t seed, hu_step_rung rung);
void hu_exact_step_release(hu_exact_step *x);

/* Tensors that no call makes, where they were recorded. */
hu_status hu_exact_step_begin(hu_exact_step *x);
/* Call I, with a sample of its values judged by MPFR from the same operands: HU_EUNABLE where one is outside its bound.
 */
hu_status hu_exact_step_call(hu_exact_step *x, int i);
/* Frees a tensor's values; keeps their nearest doubles alone. */
void hu_exact_step_drop(hu_exact_step *x, int id);
void hu_exact_step_round(hu_exact_step *x, int id);
/* Arrays of doubles that follow the leading one: of pairs, low part and error; of MPFR's values, all others. */
size_t hu_exact_step_lows(const hu_exact_step *x);
/* Room for a tensor's leading doubles, if it has none yet; for its LOW parts, the old ones dropped: of pairs, low part
   and error; of MPFR's values, all that follow the first. HU_EIO, HU_ENOMEM. */
hu_status hu_exact_step_make(hu_exact_step *x, int id);
hu_status hu_exact_step_make_low(hu_exact_step *x, int id, double **low);
#endif
