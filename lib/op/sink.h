/* SPDX-License-Identifier: Apache-2.0
   Receives certified values, that is values with a proven error bound. An operator's enclose() cuts an output into
   tiles, each computed by one thread, and hands them to a sink. Only the tiles at work are in memory, besides what all
   tiles of a call share. */
#ifndef HU_OP_SINK_H
#define HU_OP_SINK_H

#include "lib/exact/dd/dd.h"
#include "lib/op/op.h"
#include "lib/op/region.h"

/* n values. Value i is number at[i], or first + i if at is NULL, of the list of elements that was asked for. The exact
   value lies within err of hi + lo, where hi is the double nearest to that sum. err = 0 means that the value is hi +
   lo; a part that is not finite says nothing. bound bounds |emulated - exact|, rounding included. magnitude is the sum
   of the magnitudes of the terms; NULL means |exact|. Both are NULL if the sink wants no bounds. */
typedef struct hu_tile {
	size_t n, first;
	const size_t *at;
	double *hi, *lo, *err, *bound, *magnitude;
} hu_tile;

/* Intermediate results of one output of a call that its other outputs can use. */
typedef struct hu_memo hu_memo;
struct hu_memo { void (*release)(hu_memo *m); };

/* Trailing parts and errors of an operand's elements, if the operand is itself a certified value. NULL stands for
   zeros. */
typedef struct hu_low { const double *lo, *err; } hu_low;

/* take may be called by several threads at once, for tiles in any order. Every listed element comes once. */
struct hu_sink {
	void (*take)(hu_sink *s, const hu_tile *t);
	int bounds;          /* bounds and magnitudes are wanted; not together with low */
	int want_exact; /* exact values are wanted instead of enclosures, if the operator has them for whole outputs */
	/* the operator sets this before its first tile if it gives them; err is then what remains beyond hi + lo */
	int gives_exact;
	const hu_low *low;   /* one per operand; NULL: the operands are exact */
	hu_memo *memo;       /* belongs to the call; NULL at first */
	/* Where the values of a whole output are wanted, or NULL. An operator may compute a tile's values at their
	   places there, and hands over a tile that lies there. */
	double *hi, *lo, *err;
	/* Only these elements are wanted. Of a contraction they are rows, or columns of these (hu_contract_tile), and
	   its list is NULL. Other calls are given the list of these elements as well, so that only those gain by this
	   whose elements share intermediate results, or that are quicker on a stretch than on a list. */
	hu_region some;
};

/* Call this after the last output of a call, and when anything that the memo was computed from has changed. */
static inline void
hu_sink_forget(hu_sink *s)
{
	if (s->memo)
		s->memo->release(s->memo);
	s->memo = NULL;
}

/* Element i of operand k as a certified value. */
static inline hu_dd
hu_operand_dd(const hu_sink *s, hu_tensor *const *in, int k, size_t i)
{
	const hu_low *l = s->low ? &s->low[k] : NULL;

	return (hu_dd){ hu_get(in[k], i), l && l->lo ? l->lo[i] : 0, l && l->err ? l->err[i] : 0 };
}

/* Hands values that were computed one by one to the sink, in one tile: v[i] belongs to listed element i. If bound is
   NULL the operator's own bound column is used; magnitudes always come from its magnitude column. */
hu_status hu_enclose_list(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	hu_sink *sink, const hu_dd *v, const double *bound);
/* The exact results of an operator that only rounds: the elements of its first operand. */
hu_status hu_map_enclose_same(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	hu_sink *sink);
hu_status hu_map_reference_same(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n,
	mpfr_t *exact);
#endif
