/* SPDX-License-Identifier: Apache-2.0
   cast: y = x in another format, rounded once. With scaled=1, x is first multiplied by s = 2^floor(log2(max/amax)),
   which is the second output; amax is x's largest magnitude, max the format's. */
#include "lib/op/element/map.h"
#include "lib/op/performed.h"

#include "lib/base/thread.h"

#define PLAIN(S, T) out[0][i] = in[0][i]
#define SCALED(S, T) out[0][i] = hu_scaled##S(c, in[0][i], c->k[0])

static void
exact_plain(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_set(y, x[0], MPFR_RNDN);
}

static void
exact_scaled(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	if (out == 1)
		mpfr_set(y, k[0], MPFR_RNDN);
	else
		mpfr_mul(y, x[0], k[0], MPFR_RNDN);
}
HU_BLOCKS(plain, PLAIN, exact_plain)
HU_BLOCKS(scaled, SCALED, exact_scaled)

/* The largest magnitude; NaN if an element is NaN. */
static double
amax(const hu_tensor *t)
{
	double top = 0;
	int nan = 0;

	if (hu_is_wide(t->format)) {
		const double *x = t->data;
		for (size_t i = 0; i < t->n; i++) {
			top = hu_abs(x[i]) > top ? hu_abs(x[i]) : top;
			nan |= x[i] != x[i];
		}
		return nan ? hu_nan() : top;
	}
	/* Magnitudes of floats compare as their bits do, with NaN above infinity. */
	const float *x = t->data;
	uint32_t high = 0;
#pragma omp parallel for reduction(max : high) schedule(static) num_threads(hu_threads()) if (t->n > 65536)
	for (size_t i = 0; i < t->n; i++) {
		uint32_t u = hu_bits32(x[i]) & 0x7fffffffu;
		high = u > high ? u : high;
	}
	return (double)hu_from_bits32(high);
}

static double
scale_for(const hu_tensor *x, hu_format_id to)
{
	double a = amax(x), max = hu_format_of(to).max;
	int e;

	hu_performed_operations(x->n);
	if (a == 0 || !hu_isfinite(a))
		return 1;
	e = hu_exponent(max) - hu_exponent(a);
	if (a * hu_pow2(-hu_exponent(a)) > max * hu_pow2(-hu_exponent(max)))
		e--;
	return hu_pow2(e < -126 ? -126 : e > 126 ? 126 : e);
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	int by = hu_attr_num(c, "scaled", 0) != 0;

	hu_map_init(m, c, by ? &scaled : &plain, in[0]->n, 1);
	if (hu_is_wide(in[0]->format))
		m->compute = HU_FP64; /* one rounding, not two */
	hu_map_add(m, in[0], HU_EACH);
	if (by) {
		m->nk = 1;
		m->k[0] = scale_for(in[0], c->fmt.out);
	}
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_map m;

	prepare(&m, c, in);
	hu_map_emulate(&m, out, 1, env);
	hu_performed_operations(m.n);
	if (c->nout > 1)
		hu_put(out[1], 0, m.nk ? m.k[0] : 1);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_map m;

	prepare(&m, c, in);
	if (out == 0)
		return hu_map_reference(&m, 0, element, n, exact);
	for (size_t i = 0; i < n; i++)
		hu_exact_set(exact[i], m.nk ? m.k[0] : 1);
	return HU_OK;
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_map m;

	prepare(&m, c, in);
	if (out == 0)
		return hu_map_bound(&m, 1, 0, c->fmt.out, element, n, b);
	for (size_t i = 0; i < n; i++)
		b[i] = 0;
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_map m;

	prepare(&m, c, in);
	if (out == 0)
		return hu_map_enclose(&m, &m, in, 0, c->fmt.out, element, n, sink);
	hu_dd s = hu_dd_of(m.nk ? m.k[0] : 1);
	return hu_enclose_list(c, in, out, element, n, sink, &s, NULL);
}

/* A scale is that of the whole tensor, which each range looks through: that takes a hundredth of what judging takes, so
   that with RANGES of them it is some percent. */
static size_t
grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	enum { RANGES = 16 };

	(void)row;
	return hu_attr_num(c, "scaled", 0) != 0 ? hu_count(in[0]) / RANGES + 1 : 1;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_settle(c, 0, out, in[0]));
	return hu_shape_settle(c, 1, out, hu_shape0());
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = (hu_attr_num(c, "scaled", 0) != 0 ? 3.0 : 1.0) * (double)hu_count(in[0]);
}

static const hu_grad grad[] = {
	{ "cast", "d0", "i0", NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_cast = {
	.name = "cast", .summary = "rounds to another format, optionally scaled to its range", .min_in = 1,
	.max_in = 1, .nout = 2, .same = "-=", .attrs = "scaled", .cls = HU_CLASS_FIXED, .parity = HU_PARITY_EXACT,
	.role = HU_ROLE_CAST,
	.own = {
		.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
		.enclose = enclose, .grain = grain,
	},
	.grad = grad,
};
