/* SPDX-License-Identifier: Apache-2.0
   delayed_scale x, scale, history: the next scale and the next history of largest magnitudes, by Transformer Engine's
   DelayedScaling (amax_and_scale_update_bulk). The history's element 0 is free; 1 is the oldest magnitude and the last
   one the newest. A step puts the largest magnitude of x behind them, and the oldest leaves. The scale becomes largest
   / 2^margin / amax, where largest is the largest element of the block format and amax the largest of all these
   magnitudes, or with recent=1 x's own; where amax is 0 or not finite the scale stays, so that one infinity holds it
   until it has left the history. NaN is passed over, as fmaxf does; of an x of zeros alone nothing changes. */
#include "lib/op/element/map.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/block/block.h"
#include "lib/op/performed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { X, SCALE, HISTORY, HU_MARGIN = 64 };

static hu_dd
magnitude(hu_dd a)
{
	return a.h < 0 ? (hu_dd){ -a.h, -a.l, a.e } : a;
}

/* The largest magnitude of x, and how far from it the exact one may be. */
static hu_dd
largest(const hu_sink *sink, hu_tensor *const *in)
{
	hu_dd m = hu_dd_of(0);
	double off = 0;

	for (size_t i = 0; i < in[X]->n; i++) {
		hu_dd a = magnitude(sink ? hu_operand_dd(sink, in, X, i) : hu_dd_of(hu_get(in[X], i)));
		off = a.e > off ? a.e : off;
		if (a.h > m.h || (a.h == m.h && a.l > m.l))
			m = a;
	}
	m.e = off;
	return m;
}

/* Sets *amax to what the scale follows from; 0 where it stays. */
static int
decides(const hu_call *c, const hu_sink *sink, hu_tensor *const *in, hu_dd newest, hu_dd *amax)
{
	*amax = newest;
	if (newest.h == 0)
		return 0;
	for (size_t i = 1; i < in[HISTORY]->n && hu_attr_num(c, "recent", 0) == 0; i++) {
		hu_dd a = sink ? hu_operand_dd(sink, in, HISTORY, i) : hu_dd_of(hu_get(in[HISTORY], i));
		double off = a.e > amax->e ? a.e : amax->e;
		if (a.h > amax->h || (a.h == amax->h && a.l > amax->l))
			*amax = a;
		amax->e = off;
	}
	return hu_isfinite(amax->h);
}

static double
top(const hu_call *c)
{
	hu_block b;

	HU_ASSERT(hu_block_find(hu_attr_text(c, "blocks", ""), &b) == HU_OK);
	return hu_block_largest(&b) * hu_pow2(-(int)hu_attr_num(c, "margin", 0));
}

/* Element i of the next history. */
static hu_dd
remembered(const hu_sink *sink, hu_tensor *const *in, hu_dd newest, size_t i)
{
	size_t n = in[HISTORY]->n, from = newest.h == 0 ? i : i + 1;

	if (i == 0 && newest.h != 0)
		return hu_dd_of(0);
	if (from == n)
		return newest;
	return sink ? hu_operand_dd(sink, in, HISTORY, from) : hu_dd_of(hu_get(in[HISTORY], from));
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_dd newest = largest(NULL, in), amax;
	double q = decides(c, NULL, in, newest, &amax) ? top(c) / amax.h : hu_get(in[SCALE], 0);

	hu_store(c, env, out[0], 0, q > (double)FLT_MAX ? (double)FLT_MAX : q);
	for (size_t i = 0; i < in[HISTORY]->n; i++)
		hu_store(c, env, out[1], i, remembered(NULL, in, newest, i).h);
	hu_performed_operations(in[X]->n + 1);
	return HU_OK;
}

/* Sets m to the exact value of the largest magnitude of an operand's elements from `from` on, whose double is most, if
   that is larger than m. */
static void
exact_largest(mpfr_t m, const hu_tensor *t, size_t from, double most)
{
	mpfr_t x;

	mpfr_init2(x, HU_EXACT_BITS);
	for (size_t i = from; i < t->n; i++) {
		if (fabs(hu_get(t, i)) != most)
			continue;
		hu_exact_get(x, t, i);
		mpfr_abs(x, x, MPFR_RNDN);
		if (mpfr_cmp(x, m) > 0)
			mpfr_set(m, x, MPFR_RNDN);
	}
	mpfr_clear(x);
}

/* Sets y to the exact value of element i of output out. */
static void
exact_one(const hu_call *c, hu_tensor *const *in, int out, size_t i, hu_dd newest, mpfr_t y)
{
	size_t n = in[HISTORY]->n, from = newest.h == 0 ? i : i + 1;
	hu_dd amax;

	mpfr_set_prec(y, HU_EXACT_BITS);
	mpfr_set_zero(y, 1);
	if (out && i == 0 && newest.h != 0)
		return;
	if (out && from < n) {
		hu_exact_get(y, in[HISTORY], from);
	} else if (out) {
		exact_largest(y, in[X], 0, newest.h);
	} else if (!decides(c, NULL, in, newest, &amax)) {
		hu_exact_get(y, in[SCALE], 0);
	} else {
		exact_largest(y, in[X], 0, amax.h);
		if (hu_attr_num(c, "recent", 0) == 0)
			exact_largest(y, in[HISTORY], 1, amax.h);
		mpfr_d_div(y, top(c), y, MPFR_RNDN);
		if (mpfr_cmp_d(y, (double)FLT_MAX) > 0)
			mpfr_set_d(y, (double)FLT_MAX, MPFR_RNDN);
	}
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_dd newest = largest(NULL, in);

	for (size_t k = 0; k < n; k++)
		exact_one(c, in, out, element ? element[k] : k, newest, exact[k]);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_dd newest = largest(NULL, in), amax;
	hu_format wide = hu_format_of(HU_FP64);
	int moves = decides(c, NULL, in, newest, &amax);

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k;
		double v = out ? remembered(NULL, in, newest, i).h : moves ? top(c) / amax.h : hu_get(in[SCALE], 0);
		v = !out && v > (double)FLT_MAX ? (double)FLT_MAX : v;
		double off = !out && moves ? fabs(v) * 0x1p-52 : 0;
		b[k] = hu_bound_of(c, hu_output_format(c, in, out), hu_bounded_load(wide, v, off));
	}
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_dd newest = largest(sink, in), amax, *v = hu_xmalloc((n + 1) * sizeof *v);
	int moves = decides(c, sink, in, newest, &amax);

	for (size_t k = 0; k < n; k++) {
		size_t i = element ? element[k] : k;
		if (out)
			v[k] = remembered(sink, in, newest, i);
		else if (!moves)
			v[k] = hu_operand_dd(sink, in, SCALE, 0);
		else
			v[k] = hu_dd_div(hu_dd_of(top(c)), amax);
		if (!out && v[k].h > (double)FLT_MAX)
			v[k] = (hu_dd){ (double)FLT_MAX, 0, v[k].e };
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	double margin = hu_attr_num(c, "margin", 0);
	hu_block b;

	HU_TRY(hu_block_find(hu_attr_text(c, "blocks", ""), &b));
	if (margin != rint(margin) || !(fabs(margin) <= HU_MARGIN))
		return hu_fail(HU_EINVAL, "delayed_scale: margin=%g: a whole number of at most %d is wanted", margin,
			HU_MARGIN);
	if (b.kind != HU_BLOCK_SINGLE || b.size)
		return hu_fail(HU_EINVAL,
			"delayed_scale: blocks=%s: only formats with one scale for all have one that is delayed, as "
			"fp8tensor",
			b.name);
	if (!hu_count(in[HISTORY]) || in[HISTORY].rank != 1)
		return hu_fail(HU_EINVAL, "delayed_scale: the history needs one axis of at least one element");
	HU_TRY(hu_shape_length(c, SCALE, in[SCALE], 1));
	HU_TRY(hu_shape_settle(c, 0, out, in[SCALE]));
	return hu_shape_settle(c, 1, out, in[HISTORY]);
}

/* A comparison an element, and the quotient. */
static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[X]) + 1;
}

const hu_op hu_op_delayed_scale = {
	.name = "delayed_scale", .summary = "the next scale of fp8 from a history of largest magnitudes", .min_in = 3,
	.max_in = 3, .nout = 2, .like = "12", .same = "==", .attrs = "blocks margin recent", .cls = HU_CLASS_FIXED,
	.parity = HU_PARITY_NONE,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose,
	},
};
