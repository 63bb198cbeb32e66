/* SPDX-License-Identifier: Apache-2.0
   Who takes certified values: an operator's enclose() cuts an output into tiles, each computed
   by one thread, and hands them to a sink. Memory is the tiles'; nothing is kept between them but
   what all tiles of a call share. */
#ifndef HU_OP_SINK_H
#define HU_OP_SINK_H

#include "lib/op/element/dd.h"
#include "lib/op/op.h"

/* N values by place: number AT[i], or FIRST + i where AT is NULL, of the list that was asked for. The value
   meant lies within err of hi + lo, hi = RN(hi + lo); err = 0: it is hi + lo; a part that is not finite: nothing
   is said. BOUND: of |emulated - value|, rounding included. MAGNITUDE: of the terms behind the value; NULL:
   |value|. Where the sink wants no bounds both are NULL. */
typedef struct hu_tile {
	size_t n, first;
	const size_t *at;
	double *hi, *lo, *err, *bound, *magnitude;
} hu_tile;

/* What an operator made for one output of a call and can use for the next. */
typedef struct hu_memo hu_memo;
struct hu_memo { void (*release)(hu_memo *m); };

/* Low parts and errors of an operand's elements, where it is a certified value itself. NULL: 0. */
typedef struct hu_low { const double *lo, *err; } hu_low;

/* TAKE may be called by several threads at once, for tiles in any order; every listed element comes once. */
struct hu_sink {
	void (*take)(hu_sink *s, const hu_tile *t);
	int bounds;          /* bounds and magnitudes are wanted; not together with LOW */
	int want_exact; /* exact values are wanted in place of enclosures, where an operator has them for whole outputs:
			 */
	int gives_exact; /* it sets this before its first tile; err is then what two doubles to nearest do not hold */
	const hu_low *low;   /* by operand; NULL: the operands are what they are */
	hu_memo *memo;       /* of the call; NULL at first */
};

/* To be called after the last output of a call, and when anything it read has changed. */
static inline void
hu_sink_forget(hu_sink *s)
{
	if (s->memo)
		s->memo->release(s->memo);
	s->memo = NULL;
}

/* Element I of operand K. */
static inline hu_dd
hu_operand_dd(const hu_sink *s, hu_tensor *const *in, int k, size_t i)
{
	const hu_low *l = s->low ? &s->low[k] : NULL;

	return (hu_dd){ hu_get(in[k], i), l && l->lo ? l->lo[i] : 0, l && l->err ? l->err[i] : 0 };
}

/* Values that were computed one by one: V[i] of listed element i, in one tile; BOUND NULL: by the operator's
   own; magnitudes are. */
hu_status hu_enclose_list(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	hu_sink *sink, const hu_dd *v, const double *bound);
#endif
