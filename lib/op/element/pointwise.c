/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/element/pointwise.h"

#include <stdio.h>
#include <string.h>

static const hu_form *
form_of(const hu_call *c)
{
	const hu_pointwise *p = c->op->pointwise;

	return &p->form[p->which ? p->which(c) != 0 : 0];
}

int
hu_pointwise_keys(const hu_call *c, double *k)
{
	const char *s = c->op->attrs ? c->op->attrs : "";
	int n = 0;

	for (char key[32]; *s && n < HU_POINTWISE_CONSTANTS; n++) {
		size_t length = strcspn(s, " ");
		snprintf(key, sizeof key, "%.*s", (int)length, s);
		k[n] = hu_attr_num(c, key, c->op->pointwise->usual[n]);
		s += length + (s[length] == ' ');
	}
	return n;
}

int
hu_pointwise_is_formula(const hu_op *op)
{
	return op->pointwise && !op->pointwise->prepare;
}

int
hu_pointwise_describe(hu_pointwise_call *d, const hu_call *c)
{
	const hu_pointwise *p = c->op->pointwise;

	if (!hu_pointwise_is_formula(c->op))
		return 0;
	d->formula = form_of(c)->formula;
	d->nin = c->nin;
	memcpy(d->how, p->how, sizeof d->how);
	d->nk = p->constants ? p->constants(c, d->k) : 0;
	return 1;
}

void
hu_pointwise_map(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	const hu_pointwise *p = c->op->pointwise;
	const hu_form *form = form_of(c);

	hu_map_init(m, c, hu_formula_blocks(form->formula), in[0]->n, hu_last(in[0]->shape));
	m->exact = form->exact;
	if (in[0]->shape.rank && in[0]->shape.d[0])
		m->image = in[0]->n / in[0]->shape.d[0];
	for (int i = 0; i < c->nin; i++)
		hu_map_add(m, in[i], i ? hu_pointwise_how(p->how[i], in[i]->shape.rank) : p->how[i]);
	m->nk = p->constants ? p->constants(c, m->k) : 0;
}

static void
prepare(hu_map *m, const hu_call *c, hu_tensor *const *in)
{
	(c->op->pointwise->prepare ? c->op->pointwise->prepare : hu_pointwise_map)(m, c, in);
}

/* Operand k must have operand 0's shape or be one number (HU_EACH), or have the length of its last dimension
   (HU_CHANNEL), that many for each index of its first dimension (HU_IMAGE) or one element (HU_ONE). */
static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	const hu_pointwise *p = c->op->pointwise;

	if (p->check)
		HU_TRY(p->check(c));
	for (int i = 1; i < c->nin; i++) {
		size_t channels = p->how[i] == HU_ONE ? 1 : hu_last(in[0]);
		if (p->how[i] == HU_IMAGE && in[0].rank < 2)
			return hu_fail(HU_EINVAL, "%s: operand 0 must have rank 2 or more", c->op->name);
		if (p->how[i] == HU_IMAGE)
			channels *= in[0].d[0];
		if (p->how[i] == HU_EACH && in[i].rank)
			HU_TRY(hu_shape_expect(c, i, in[i], in[0]));
		else if (p->how[i] != HU_EACH)
			HU_TRY(hu_shape_length(c, i, in[i], channels));
	}
	return hu_shape_settle(c, 0, out, in[0]);
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)out;
	k->flops = form_of(c)->flops * (double)hu_count(in[0]);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_map m;

	prepare(&m, c, in);
	hu_map_emulate(&m, out, c->nout, env);
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

	prepare(&m, c, in);
	return hu_map_bound(&m, c->nout, out, hu_output_format(c, in, out), element, n, b);
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_map m;

	prepare(&m, c, in);
	return hu_map_enclose(&m, &m, in, out, hu_output_format(c, in, out), element, n, sink);
}

const hu_columns hu_family_pointwise = {
	.shape = shape, .cost = cost, .emulate = emulate, .reference = reference, .bound = bound,
	.enclose = enclose, .grain = hu_op_grain_one,
};

int
hu_approx_tanh(const hu_call *c)
{
	return !strcmp(hu_attr_text(c, "approx", "none"), "tanh");
}

hu_status
hu_approx_check(const hu_call *c)
{
	const char *a = hu_attr_text(c, "approx", "none");

	if (strcmp(a, "none") && strcmp(a, "tanh"))
		return hu_fail(HU_EINVAL, "%s: approx is none or tanh, not '%s'", c->op->name, a);
	return HU_OK;
}

void
hu_pointwise_softplus(mpfr_t y, const mpfr_t x)
{
	mpfr_t t;

	mpfr_init2(t, mpfr_get_prec(y));
	mpfr_abs(t, x, MPFR_RNDN);
	mpfr_neg(t, t, MPFR_RNDN);
	mpfr_exp(t, t, MPFR_RNDN);
	mpfr_log1p(t, t, MPFR_RNDN);
	if (mpfr_nan_p(x) || mpfr_sgn(x) > 0)
		mpfr_add(y, x, t, MPFR_RNDN);
	else
		mpfr_set(y, t, MPFR_RNDN);
	mpfr_clear(t);
}

void
hu_pair_exact(const mpfr_t *k, const mpfr_t *x, int out, mpfr_t y)
{
	(void)k;
	(void)out;
	mpfr_add(y, x[0], x[1], MPFR_RNDN);
}

/* The second operand of a sum or difference; channels is 0 where it has as many elements as the first, and 1 where it
   is one number. */
typedef struct addend {
	const hu_tensor *t;
	size_t channels;
	int negative;
} addend;

static addend
addend_of(const hu_call *c, hu_tensor *const *in)
{
	hu_how how = hu_pointwise_how(c->op->pointwise->how[1], in[1]->shape.rank);

	return (addend){ in[1], how == HU_CHANNEL ? hu_last(in[0]->shape) : how == HU_ONE ? 1 : 0,
		c->op->pointwise->form[0].formula == HU_FORMULA_sub };
}

/* What is added to element i of the first operand: the second operand's element, or its negative. */
static double
second(const addend *a, size_t i)
{
	double y = hu_get(a->t, a->channels ? i % a->channels : i);

	return a->negative ? -y : y;
}

hu_status
hu_pair_magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	addend a = addend_of(c, in);

	(void)out;
	for (size_t i = 0; i < n; i++)
		all[i] = hu_abs(hu_get(in[0], element[i])) + hu_abs(second(&a, element[i]));
	return HU_OK;
}

hu_status
hu_pair_swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	hu_format f = hu_format_of(c->fmt.compute);
	addend a = addend_of(c, in);

	(void)out;
	for (size_t i = 0; i < n; i++) {
		double x = hu_get(in[0], element[i]), y = second(&a, element[i]);
		double s = hu_stored(c, env, c->fmt.out, element[i], hu_rne(f, hu_rne(f, x) + hu_rne(f, y)));
		count->outputs++;
		if (x == 0 || y == 0 || !hu_isfinite(x) || !hu_isfinite(y))
			continue;
		count->additions++;
		count->swamped += (uint64_t)(s == x || s == y);
	}
	return HU_OK;
}
