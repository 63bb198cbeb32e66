/* SPDX-License-Identifier: Apache-2.0
   Every gradient rule of the op table against central differences of the forward
   operator's exact reference, both in MPFR on fp64 operands. With f the sum of
   d * output, step h = 2^-16 and Richardson's extrapolation (4 D(h/2) - D(h)) / 3 the
   truncation is of order h^4 f^(5) / 480 < 2^-70 f^(5). What remains is that the
   backward call reads the forward call's outputs rounded to fp64: a relative 2^-53
   each, times what it is multiplied by there. */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 160 bits: a difference over 2^-16 loses 17 bits beside those of fp64, and the tolerance asks for 36. A sample of 40
   elements, or fewer where the forward outputs, evaluated four times an element, are many. */
enum { BITS = 160, SAMPLE = 40, LEAST = 8, EVALUATIONS = 8000, MAX = 8 };

/* 2^-53 times the chains of a dozen roundings' worth, and derivatives up to some thousands. */
static const double tolerance = 0x1p-36;

typedef struct test {
	op_case k;              /* the forward call in fp64 */
	hu_tensor d[MAX];       /* gradients of its outputs; no data where no rule reads one */
	mpfr_t *value[MAX];     /* its outputs, exact */
} test;

static hu_status
evaluate(test *t, int out, mpfr_t *exact)
{
	size_t n = t->k.out[out].n, *element = hu_xmalloc((n + 1) * sizeof *element);

	for (size_t i = 0; i < n; i++)
		element[i] = i;
	hu_status st = HU_COLUMN(t->k.c.op, reference)(&t->k.c, t->k.pin, out, element, n, exact);
	free(element);
	return st;
}

static mpfr_t *
values_new(size_t n)
{
	mpfr_t *x = hu_xmalloc((n + 1) * sizeof *x);

	for (size_t i = 0; i < n; i++)
		mpfr_init2(x[i], BITS);
	return x;
}

static void
values_free(mpfr_t *x, size_t n)
{
	for (size_t i = 0; x && i < n; i++)
		mpfr_clear(x[i]);
	free(x);
}

/* SUM += SIGN * sum over every output with a gradient of d * output. */
static hu_status
add_loss(test *t, mpfr_t sum, int sign)
{
	mpfr_t term;
	hu_status st = HU_OK;

	mpfr_init2(term, BITS);
	for (int j = 0; j < t->k.c.nout && st == HU_OK; j++) {
		if (!t->d[j].data)
			continue;
		st = evaluate(t, j, t->value[j]);
		for (size_t i = 0; i < t->d[j].n && st == HU_OK; i++) {
			mpfr_mul_d(term, t->value[j][i], sign * hu_get(&t->d[j], i), MPFR_RNDN);
			mpfr_add(sum, sum, term, MPFR_RNDN);
		}
	}
	mpfr_clear(term);
	return st;
}

/* (f(x+h) - f(x-h)) / 2h in element I of operand J. */
static hu_status
difference(test *t, int j, size_t i, double h, mpfr_t d)
{
	double x = hu_get(&t->k.in[j], i);

	mpfr_set_zero(d, 1);
	hu_put(&t->k.in[j], i, x + h);
	hu_status st = add_loss(t, d, 1);
	hu_put(&t->k.in[j], i, x - h);
	if (st == HU_OK)
		st = add_loss(t, d, -1);
	hu_put(&t->k.in[j], i, x);
	mpfr_div_d(d, d, 2 * h, MPFR_RNDN);
	return st;
}

static hu_status
slope(test *t, int j, size_t i, double *result)
{
	mpfr_t coarse, fine;

	mpfr_inits2(BITS, coarse, fine, (mpfr_ptr)0);
	hu_status st = difference(t, j, i, 0x1p-16, coarse);
	if (st == HU_OK)
		st = difference(t, j, i, 0x1p-17, fine);
	mpfr_mul_ui(fine, fine, 4, MPFR_RNDN);
	mpfr_sub(fine, fine, coarse, MPFR_RNDN);
	mpfr_div_ui(fine, fine, 3, MPFR_RNDN);
	*result = mpfr_get_d(fine, MPFR_RNDN);
	mpfr_clears(coarse, fine, (mpfr_ptr)0);
	return st;
}

/* Multiples of 1/16 in [-4, 4], all of a window different: no kink is nearer than the step. */
static void
coarse_values(test *t)
{
	for (int j = 0; j < t->k.c.nin; j++)
		for (size_t i = 0; i < t->k.in[j].n; i++) {
			hu_random r = hu_random_at(4, (uint32_t)j, 0, i);
			double x = (double)((i * 37 + r.w[0] % 3) % 127) / 16 - 4 + 1.0 / 64;
			if (t->k.kind[j] == 'x' || t->k.kind[j] == 'y')
				hu_put(&t->k.in[j], i, x);
			if (t->k.kind[j] == 'p')
				hu_put(&t->k.in[j], i, fabs(x) + 0.25);
		}
}

static hu_status
prepare(test *t, const op_row *row)
{
	memset(t, 0, sizeof *t);
	HU_TRY(op_case_init(&t->k, row, HU_FP64, HU_FP64, HU_FP64, LEVEL_MILD, 8));
	coarse_values(t);
	for (int j = 0; j < t->k.c.nout; j++) {
		char name[3] = { 'd', (char)('0' + j), 0 };
		int used = 0;
		t->value[j] = values_new(t->k.out[j].n);
		for (const hu_grad *g = t->k.c.op->grad; g->op; g++)
			used |= strstr(g->operands, name) != NULL;
		if (used)
			t->d[j] = op_tensor(HU_FP64, t->k.out[j].shape);
		for (size_t i = 0; used && i < t->d[j].n; i++)
			hu_put(&t->d[j], i, hu_uniform(hu_random_at(6, (uint32_t)j, 0, i)) * 2 - 1);
		HU_TRY(evaluate(t, j, t->value[j]));
		for (size_t i = 0; i < t->k.out[j].n; i++)
			hu_put(&t->k.out[j], i, mpfr_get_d(t->value[j][i], MPFR_RNDN));
	}
	return HU_OK;
}

static void
release(test *t)
{
	for (int j = 0; j < MAX; j++) {
		values_free(t->value[j], t->k.out[j].n);
		free(t->d[j].data);
	}
	op_case_release(&t->k);
}

/* The forward call's attributes that the backward operator knows, then the rule's own: "key=3", or
   "key=i0.1", dimension 1 of forward input 0. */
static void
attributes(hu_call *to, const test *t, const char *set)
{
	const hu_call *from = &t->k.c;

	for (int i = 0; i < from->nattr; i++) {
		if (!hu_op_takes(to->op, from->attr[i].key))
			continue;
		if (*from->attr[i].text)
			hu_attr_set_text(to, from->attr[i].key, from->attr[i].text);
		else
			hu_attr_set(to, from->attr[i].key, from->attr[i].num);
	}
	char key[16], value[16];
	int input, dim;
	for (int used; set && sscanf(set, " %15[^=]=%15s%n", key, value, &used) == 2; set += used)
		hu_attr_set(to, key,
			sscanf(value, "i%d.%d", &input, &dim) == 2 ? (double)t->k.in[input].shape.d[dim]
								   : strtod(value, NULL));
}

/* Compares result K of the rule, the gradient of operand J, on a sample. */
static hu_status
compare(test *t, const hu_call *back, hu_tensor *const *in, int k, int j, double *worst)
{
	size_t all = t->k.in[j].n, afford = EVALUATIONS / (4 * (t->k.out[0].n + 1)), element[SAMPLE],
	       most = afford < LEAST ? LEAST : afford < SAMPLE ? afford : SAMPLE, n = all < most ? all : most;
	mpfr_t *exact = values_new(n);
	hu_status st = HU_OK;
	double largest = 0, *want = hu_xcalloc(n + 1, sizeof *want);

	for (size_t i = 0; i < n; i++)
		element[i] = i * all / n;
	if (back->op)
		st = HU_COLUMN(back->op, reference)(back, in, k, element, n, exact);
	else
		for (size_t i = 0; i < n; i++)
			mpfr_set_d(exact[i], hu_get(in[0], element[i]), MPFR_RNDN);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		st = slope(t, j, element[i], &want[i]);
		largest = fmax(largest, fabs(want[i]));
	}
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		double e = fabs(mpfr_get_d(exact[i], MPFR_RNDN) - want[i]) / (1 + largest);
		*worst = !(e <= *worst) ? e : *worst;
	}
	values_free(exact, n);
	free(want);
	return st;
}

/* Whether the call makes all results that the rule reads: a norm asked for y alone keeps no statistics. */
static int
has_operands(const test *t, const hu_grad *g)
{
	for (const char *o = g->operands; *o; o += o[2] ? 3 : 2)
		if (o[0] == 'o' && o[1] - '0' >= t->k.c.nout)
			return 0;
	return 1;
}

static void
check_rule(test *t, const op_row *row, const hu_grad *g)
{
	hu_call back = t->k.c;
	hu_tensor *in[16];
	hu_shape from[16], to[MAX];
	int result[MAX], same = !strcmp(g->op, "=");
	double worst = 0;
	hu_status st = HU_OK;

	back.op = same ? NULL : hu_op_find(g->op);
	if (!ok(same || back.op, "%s's gradient operator %s exists", row->op, g->op))
		return;
	back.nattr = back.nin = back.nout = 0;
	for (const char *o = g->operands; *o; o += o[2] ? 3 : 2) {
		int k = o[1] - '0';
		if (o[0] == 'i' && k >= t->k.c.nin) /* an optional operand */
			continue;
		in[back.nin] = o[0] == 'i' ? &t->k.in[k] : o[0] == 'o' ? &t->k.out[k] : &t->d[k];
		from[back.nin] = in[back.nin]->shape;
		back.nin++;
	}
	for (const char *r = g->results; *r; r += r[2] ? 3 : 2) {
		result[back.nout] = r[1] - '0';
		to[back.nout] = t->k.in[r[1] - '0'].shape;
		back.nout++;
	}
	if (!same) {
		attributes(&back, t, g->attrs);
		st = HU_COLUMN(back.op, shape)(&back, from, to);
	}
	for (int k = 0; k < back.nout && st == HU_OK; k++)
		st = compare(t, &back, in, k, result[k], &worst);
	if (!ok(st == HU_OK && worst <= tolerance, "%s (%s): %s is its gradient in %s (largest difference %.3g)",
		    row->op, row->attrs, same ? "the incoming one" : g->op, g->results, worst) &&
		st != HU_OK)
		diag("%s", hu_reason());
}

int
main(int argc, char **argv)
{
	for (int r = 0; op_row_at(r); r++) {
		const op_row *row = op_row_at(r);
		const hu_op *op = hu_op_find(row->op);
		test t;
		if (!op || !op->grad || (argc > 1 && strcmp(argv[1], row->op)))
			continue;
		/* Rules are written for forward products as stored; a scaled cast stands for its operand, not for its
		   values. */
		if (strstr(row->attrs, "ta=") || strstr(row->attrs, "scaled="))
			continue;
		/* A straight-through estimate is no derivative: t/trainer/train/t-qat.py holds it. */
		if (!strcmp(row->op, "fake_quantise"))
			continue;
		hu_status st = prepare(&t, row);
		size_t size = t.k.out[0].n + t.k.in[0].n;
		if (st != HU_OK)
			ok(0, "%s (%s): %s", row->op, row->attrs, hu_reason());
		for (const hu_grad *g = op->grad; st == HU_OK && size < 4000 && g->op; g++)
			if (has_operands(&t, g) && hu_grad_applies(g, &t.k.c))
				check_rule(&t, row, g);
		release(&t);
	}
	return done_testing();
}
