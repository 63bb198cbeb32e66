/* SPDX-License-Identifier: Apache-2.0
   Trigonometric and hyperbolic functions. Of constants, as the angles of rotary and positional embeddings mostly are,
   they are computed beforehand by MPFR and rounded once. Of values that depend on the model's inputs sine, cosine and
   their quotient are calls; the others are refused. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/number/round.h"

#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

typedef int function(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode);

static const struct { const char *name; function *f; } functions[] = {
	{ "Acos", mpfr_acos }, { "Acosh", mpfr_acosh }, { "Asin", mpfr_asin }, { "Asinh", mpfr_asinh },
	{ "Atan", mpfr_atan }, { "Atanh", mpfr_atanh }, { "Cos", mpfr_cos }, { "Cosh", mpfr_cosh },
	{ "Sin", mpfr_sin }, { "Sinh", mpfr_sinh }, { "Tan", mpfr_tan },
};

/* V in format F, rounded once: to odd in 53 bits first, after which rounding to 51 bits or fewer is right. */
static double
rounded(const mpfr_t v, hu_format f)
{
	double d = mpfr_get_d(v, f.p > 51 ? MPFR_RNDN : MPFR_RNDZ);

	if (f.p > 51)
		return d;
	if (hu_isfinite(d) && mpfr_regular_p(v) && mpfr_cmp_d(v, d))
		d = hu_from_bits64(hu_bits64(d) | 1);
	return hu_round(d, f, HU_RNE, 0, 0);
}

/* The tangent of what the model's inputs decide. */
static void
tangent(hu_importing *c, hu_value *v)
{
	int x = hu_import_plain(c, v), sine = hu_import_call1(c, "sin", x), cosine = hu_import_call1(c, "cos", x);

	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = hu_import_call2(c, "div", sine, cosine);
}

void
hu_node_trigonometric(hu_importing *c)
{
	enum { BITS = 200 };
	hu_value *v = hu_import_in(c, 0);
	function *f = NULL;

	if (!v)
		return;
	if (!hu_import_is_constant(c, v) && !c->asking) {
		if (!strcmp(c->node->op, "Sin") || !strcmp(c->node->op, "Cos")) {
			hu_node_unary(c);
			return;
		}
		if (!strcmp(c->node->op, "Tan")) {
			tangent(c, v);
			return;
		}
	}
	double *x = hu_import_constant(c, v);
	mpfr_t y, a;

	if (!x)
		return;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		f = strcmp(functions[i].name, c->node->op) ? f : functions[i].f;
	mpfr_init2(y, BITS);
	mpfr_init2(a, BITS);
	for (size_t i = 0; f && i < v->n; i++) {
		mpfr_set_d(a, x[i], MPFR_RNDN);
		f(y, a, MPFR_RNDN);
		x[i] = rounded(y, hu_format_of(hu_import_format(c, v->type)));
	}
	mpfr_clear(y);
	mpfr_clear(a);
	int t = hu_import_numbers(c, v->type, v->rank, v->d, x);
	free(x);
	hu_import_out(c, 0, v->type, v->rank, v->d)->plain = t;
}
