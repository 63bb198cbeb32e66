/* SPDX-License-Identifier: Apache-2.0
   What the program knows of a summation model. lib/sum/model/NAME.c defines hu_sum_model_NAME and the arithmetic
   HU_SUM_RUN(NAME) (run.h), which the device compiles too; sums.def has its row. A row whose file or arithmetic is
   missing does not link. */
#ifndef HU_SUM_MODEL_ROW_H
#define HU_SUM_MODEL_ROW_H

#include "lib/sum/bound.h"
#include "lib/sum/bound_rule.h"
#include "lib/sum/order/order.h"
#include "lib/sum/roundings.h"
#include "lib/sum/step.h"
#include "lib/sum/sum.h"
#include "lib/sum/sum_unit.h"

/* Slices of `length` terms, each added by itself. evened: what is longer than one slice and shorter than two is cut
   into halves (slices.h). */
typedef struct hu_sum_slices {
	size_t length;
	int evened;
} hu_sum_slices;

/* How ranks add: rings of `node` ranks, and a tree over these; halving: those half of all apart are added first. */
typedef struct hu_sum_ranks {
	size_t node;
	int halving;
} hu_sum_ranks;

/* What calc --explain draws: fused additions one after another; products that are rounded and then added; slices of
   fused additions and their sums; the blocks of a tensor core. */
typedef enum hu_sum_drawn {
	HU_DRAWN_NOT,
	HU_DRAWN_FUSED,
	HU_DRAWN_ROUNDED,
	HU_DRAWN_SLICES,
	HU_DRAWN_UNIT
} hu_sum_drawn;

/* The kernels of lib/sum/vector/lanes.h that run a model on many outputs at once; without one the plain version runs.
 */
typedef enum hu_sum_lanes {
	HU_LANES_NONE,
	HU_LANES_SEQUENTIAL,
	HU_LANES_PAIRWISE,
	HU_LANES_KAHAN,
	HU_LANES_NEUMAIER,
	HU_LANES_DOT2,
	HU_LANES_SLICES,
	HU_LANES_FABSUM
} hu_sum_lanes;

typedef struct hu_sum_model {
	/* What --sum's help and error messages say of the model: the end of the sentence "NAME: …". */
	const char *words;
	/* The arithmetic; its head says what it is given. */
	double (*run)(const double *a, const double *b, size_t n, hu_sum s, const hu_draw *draw, hu_sum_count *count);
	/* The bound of one part of n terms, where u bounds the relative error of a rounding in the accumulator and
	   outer_u in the format of the result. Its absolute is in multiples of h (bound.h); its limit is left 0. */
	hu_sum_bound (*bound)(hu_sum s, double n, double u, double outer_u);
	/* The same for one output's operands, as an absolute error: a[k] * b[k] in parts of `part` products (0: one
	   part), where the sum starts at c. NULL where `bound` holds for any operands. */
	hu_sum_bound (*bound_of)(hu_sum s, const double *a, const double *b, size_t n, size_t part, double c);
	/* The arithmetic from a start value c, which `run` has as +0; NULL where c is added last, or as a term. */
	double (*from)(const double *a, const double *b, size_t n, double c, hu_sum s, hu_sum_count *count);
	/* The sums of the first 1, 2, … n terms, with the bits of `run`, in about n additions (table/prefixes.h).
	   NULL where each is added anew. */
	void (*prefixes)(double *y, const double *x, const double *one, size_t n, hu_sum s);
	/* What is known of the unit that the model describes; NULL where sums of any formats can be computed so. */
	const hu_sum_unit *unit;
	/* Adds the roundings that the terms of one part of n meet, or says in r->none why there is no such bound. */
	void (*roundings)(hu_roundings *r, hu_sum s, double n);
	/* The documented tree of n terms. NULL where the compensation restores what the masks of `tree` absorb, so that
	   there is none to be seen. */
	hu_order *(*order)(hu_sum s, size_t n);
	/* The slices of n terms; NULL where the model has none. */
	hu_sum_slices (*lengths)(hu_sum s, size_t n);
	/* How so many ranks add; NULL where the model is no all-reduce. */
	hu_sum_ranks (*ranks)(hu_sum s, size_t ranks);
	hu_sum_lanes lanes;
	hu_sum_drawn draw;
	/* 1: terms are added one at a time, so that a sum that has a start value takes it as its first term. */
	int from_start;
	/* 1: what additions lost is given back, so that the order of its additions does not name the model. */
	int compensated;
} hu_sum_model;

#define SUM(id, file, takes, result) extern const hu_sum_model hu_sum_model_##file;
#include "lib/sum/sums.def"
#undef SUM

/* Returns the model's row. */
const hu_sum_model *hu_sum_model_of(hu_sum_id id);
#endif
