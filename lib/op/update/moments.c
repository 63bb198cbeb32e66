/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/update/moments.h"

#include "lib/op/scalars.h"

/* Keeps an element's values in a step that is skipped. */
#define KEEP(S, T) (out[0][i] = in[0][i], out[1][i] = in[2][i], out[2][i] = in[3][i])

static void
exact_keep(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	mpfr_set(y, x[out == 0 ? 0 : out + 1], MPFR_RNDN);
}
HU_BLOCKS(keep, KEEP, exact_keep)

void
hu_moments_rest(mpfr_t y, const mpfr_t a)
{
	mpfr_ui_sub(y, 1, a, MPFR_RNDN);
}

void
hu_moments_exact(mpfr_t m, mpfr_t v, const mpfr_t b1, const mpfr_t b2, const mpfr_t *x)
{
	mpfr_t t;

	mpfr_init2(t, mpfr_get_prec(m));
	hu_moments_rest(t, b1);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(m, b1, x[2], MPFR_RNDN);
	mpfr_add(m, m, t, MPFR_RNDN);
	hu_moments_rest(t, b2);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(t, t, x[1], MPFR_RNDN);
	mpfr_mul(v, b2, x[3], MPFR_RNDN);
	mpfr_add(v, v, t, MPFR_RNDN);
	mpfr_clear(t);
}

double
hu_moments_rate(hu_map *m, int i, const hu_call *c, hu_tensor *const *in)
{
	int rate = hu_rate_operand(c);

	if (rate < 0)
		return hu_attr_num(c, "lr", 1e-3);
	m->kx[i].t = in[rate];
	return hu_get(in[rate], 0);
}

hu_dd
hu_moments_rate_dd(const hu_call *c, hu_tensor *const *in, const hu_sink *sink, double rate)
{
	int operand = hu_rate_operand(c);

	return operand < 0 ? hu_dd_of(rate) : hu_operand_dd(sink, in, operand, 0);
}

/* Returns 1 if found_inf is set. */
static int
is_skipped(hu_tensor *const *in)
{
	return hu_get(in[2], 0) != 0;
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	hu_map_init(m, c, is_skipped(in) ? &keep : c->op->moments->step, in[0]->n, 1);
	hu_map_add(m, in[0], HU_EACH);
	hu_map_add(m, in[1], HU_EACH);
	hu_map_add(m, in[3], HU_EACH);
	hu_map_add(m, in[4], HU_EACH);
	c->op->moments->constants(m, c, in);
}

/* The constants as the emulation uses them: epsilon is rounded to v's format, where it may become 0. */
static void
prepare_emulated(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	int i = c->op->moments->eps;

	prepare(m, c, in);
	double eps = m->k[i];
	m->k[i] = hu_rne(hu_format_of(in[4]->format), eps);
	m->ke[i] = hu_abs(m->k[i] - eps);
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	HU_TRY(hu_shape_expect(c, 1, in[1], in[0]));
	HU_TRY(hu_shape_length(c, 2, in[2], 1));
	HU_TRY(hu_shape_expect(c, 3, in[3], in[0]));
	HU_TRY(hu_shape_expect(c, 4, in[4], in[0]));
	HU_TRY(hu_shape_length(c, 5, in[5], 3));
	HU_TRY(hu_shape_rate(c, in, 6, 6));
	for (int k = 0; k < 3; k++)
		HU_TRY(hu_shape_settle(c, k, out, in[0]));
	return HU_OK;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = c->op->moments->flops * (double)hu_count(in[0]);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_map m;

	prepare_emulated(&m, c, in);
	hu_map_emulate(&m, out, 3, env);
	return HU_OK;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_map m;

	prepare(&m, c, in);
	return hu_map_reference(&m, out, element, n, exact);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *b)
{
	hu_map m;

	prepare_emulated(&m, c, in);
	return hu_map_bound(&m, 3, out, hu_output_format(c, in, out), element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	const hu_moments *own = c->op->moments;
	hu_format_id f = hu_output_format(c, in, out);
	hu_map m, other;

	prepare(&m, c, in);
	if (out > 0 && m.blocks == own->step) { /* a moment alone, by the same operations as in the whole step */
		hu_map_init(&other, c, own->alone[out - 1], in[0]->n, 1);
		hu_map_add(&other, in[2 + out], HU_EACH);
		hu_map_add(&other, in[1], HU_EACH);
		own->certify_alone(&other, &m, out);
		return own->blends ? hu_moments_enclose_alone(&other, in, out, f, element, n, sink)
				   : hu_map_enclose(&other, &other, in, 0, f, element, n, sink);
	}
	prepare_emulated(&other, c, in);
	own->certify(&m, in, sink);
	return hu_map_enclose(&m, &other, in, out, f, element, n, sink);
}

void
hu_moments_still(const hu_call *c, hu_tensor *const *in, size_t first, size_t n, char *still)
{
	hu_map m;

	prepare(&m, c, in);
	/* a rate of 0, or a first moment that its correction would divide by 0 or less */
	int usual = !is_skipped(in) && hu_isfinite(m.k[0]) && m.k[0] != 0 && hu_get(in[5], 1) < 1;
	int divides = usual && hu_get(in[5], 2) < 1 && m.k[c->op->moments->eps] > 0; /* by more than 0 */
	for (size_t i = 0; i < n; i++) {
		double old = hu_get(in[3], first + i), g = hu_get(in[1], first + i), x = m.k[1] * old, y = m.k[2] * g,
		       v = hu_get(in[4], first + i);
		int moves = hu_abs(x + y) > 0x1p-50 * (hu_abs(x) + hu_abs(y)) + 0x1p-1000 && hu_isfinite(x + y);
		still[i] = HU_MOMENTS_OPEN;
		if (usual && moves && hu_isfinite(v))
			still[i] = HU_MOMENTS_MOVE;
		else if (divides && old == 0 && g == 0 && v >= 0 && hu_isfinite(v))
			still[i] = HU_MOMENTS_STILL;
	}
}

static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_map m;

	if (out != 0 || is_skipped(in))
		return HU_OK;
	prepare_emulated(&m, c, in);
	m.blocks = c->op->moments->term;
	return hu_update_swamping(&m, element, n, env, count);
}

static void
updates(const hu_call *c, hu_tensor *const *in, const hu_tensor *out, hu_update_tally *count)
{
	hu_map m;

	if (is_skipped(in))
		return;
	prepare_emulated(&m, c, in);
	m.blocks = c->op->moments->term;
	hu_update_tally_all(&m, in[0], out, count);
}

int
hu_moments_are_finer(const hu_call *c, const hu_format *stored)
{
	hu_format f = hu_format_of(c->fmt.compute);

	return f.p > stored->p && f.emin <= stored->emin;
}

double
hu_moments_epsilon(const hu_call *c, const hu_format *stored)
{
	double eps = hu_attr_num(c, "eps", c->op->moments->usual_eps);
	int wide = hu_attr_num(c, "library", 0) > 0 && hu_moments_are_finer(c, stored);

	return hu_rne(wide ? hu_format_of(c->fmt.compute) : *stored, eps);
}

const hu_columns hu_family_moments = {
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound, .enclose = enclose,
	.swamping = swamping, .updates = updates, .grain = hu_op_grain_one,
};
