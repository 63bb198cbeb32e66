/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_candidates.h"

#include "lib/base/mem.h"
#include "lib/sum/model/row.h"
#include "lib/sum/model/run.h"

#include <math.h>
#include <stdlib.h>

/* Lengths of chunks, slices and blocks: powers of two, and the other lengths of k that BLAS libraries cut at. */
static const int lengths[] = { 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 240, 256, 288, 320,
	336, 352, 384, 416, 448, 480, 512, 576, 640, 704, 768, 896, 1024, 1280, 1536, 2048, 4096 };

/* Returns how many terms an output sums, at most: the length that the models of `lengths` cut. */
static size_t
terms(const hu_op_run *r)
{
	hu_shape in[HU_OP_INPUTS];
	hu_cost cost = { 0 };

	if (r->dot)
		return r->file[0].rank ? r->file[0].shape[r->file[0].rank - 1] : 1;
	for (int i = 0; i < r->nin; i++)
		in[i] = r->tensor[i].shape;
	HU_COLUMN(r->call.op, cost)(&r->call, in, &r->shape, &cost);
	return (size_t)ceil(cost.macs / (double)r->n);
}

/* The models to try, so far. */
typedef struct listing {
	hu_format_id a, b, acc; /* of the operands, and the accumulator that was asked for */
	hu_sum *list;
	size_t n, cap;
} listing;

static void
take(listing *to, hu_sum s)
{
	HU_GROW(to->list, to->n, to->cap);
	to->list[to->n++] = s;
}

/* Takes a unit's model, where the unit multiplies operands of these formats. A chain of fp64 is fma, which is there. */
static void
take_variant(void *of, hu_sum s)
{
	listing *to = of;
	hu_sum_id id = s.id;

	if (hu_sum_resolve(&s, to->a, to->b, to->acc) == HU_OK && s.id == id)
		take(to, s);
}

hu_sum *
hu_op_candidates(const hu_op_run *r, size_t *n)
{
	return hu_op_candidates_of(r->in[0], r->in[1], r->call.fmt.acc, terms(r), n);
}

hu_sum *
hu_op_candidates_of(hu_format_id a, hu_format_id b, hu_format_id acc, size_t longest, size_t *n)
{
	hu_format_id accumulators[3] = { a == HU_FP64 ? HU_FP64 : HU_FP32 };
	int formats = 1;
	listing to = { .a = a, .b = b, .acc = acc };

	if (a != HU_FP64)
		accumulators[formats++] = HU_FP64;
	if (a != HU_FP64 && a != HU_FP32)
		accumulators[formats++] = a;
	for (int f = 0; f < formats; f++) {
		hu_sum s = hu_sum_default();
		s.acc = accumulators[f];
		for (int id = 0; id < HU_SUMS; id++) {
			s.id = (hu_sum_id)id;
			if (hu_sum_takes_of(s.id) == HU_TAKES_NOTHING && !hu_sum_is_unit(s.id))
				take(&to, s);
		}
		for (int id = 0; id < HU_SUMS; id++)
			for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
				s.id = (hu_sum_id)id;
				s.n = lengths[k];
				int wider = hu_sum_result_of(s.id) == HU_RESULT_WIDER;
				if (hu_sum_takes_of(s.id) == HU_TAKES_LENGTH && (size_t)s.n < longest &&
					!hu_sum_is_unit(s.id) && !(wider && s.acc == HU_FP64))
					take(&to, s);
			}
	}
	for (int id = 0; id < HU_SUMS; id++) {
		hu_sum s = hu_sum_default();
		s.id = (hu_sum_id)id;
		if (hu_sum_is_unit(s.id))
			hu_sum_model_of(s.id)->unit->variants(s, longest, take_variant, &to);
	}
	*n = to.n;
	return to.list;
}
