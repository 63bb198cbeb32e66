/* SPDX-License-Identifier: Apache-2.0
   Whole numbers and truth values that are constants, as the computation of shapes has them: they are computed here, in
   doubles, which hold whole numbers up to 2^53. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X cut towards zero, and wrapped to the bits of TYPE. */
static double
cut(double x, int type)
{
	const char *dtype = hu_import_dtype(type);
	int bits = atoi(dtype + 1);
	double y = trunc(x);

	if (type == HU_ONNX_BOOL)
		return x != 0;
	if (bits >= 53 || x != x)
		return y;
	y -= floor(ldexp(y, -bits)) * ldexp(1, bits);
	return *dtype == 'I' && y >= ldexp(1, bits - 1) ? y - ldexp(1, bits) : y;
}

int
hu_import_to_whole(hu_importing *c, int a, int type)
{
	if (a < 0 || c->st != HU_OK)
		return -1;
	if (!c->constant[a].data)
		return hu_import_fail(c, HU_EUNABLE,
			"numbers that depend on the model's inputs cannot become elements of type %s",
			hu_onnx_type_name(type));
	hu_shape s = c->p->t[a].shape;
	double *x = hu_xmalloc((hu_count(s) + 1) * sizeof *x);
	for (size_t i = 0; i < hu_count(s); i++)
		x[i] = cut(hu_get(&c->constant[a], i), type);
	int t = hu_import_numbers(c, type, s.rank, s.d, x);
	free(x);
	return t;
}

static double
mod(double x, double y, int fmod_)
{
	double r = fmod(x, y);

	return !fmod_ && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static double
apply(const char *op, double x, double y, int fmod_)
{
	if (!strcmp(op, "And"))
		return x != 0 && y != 0;
	if (!strcmp(op, "Or"))
		return x != 0 || y != 0;
	if (!strcmp(op, "Xor"))
		return (x != 0) != (y != 0);
	if (!strcmp(op, "Equal"))
		return x == y;
	if (!strcmp(op, "Less"))
		return x < y;
	if (!strcmp(op, "Greater"))
		return x > y;
	if (!strcmp(op, "LessOrEqual"))
		return x <= y;
	if (!strcmp(op, "GreaterOrEqual"))
		return x >= y;
	return mod(x, y, fmod_);
}

/* V's constant elements, repeated to the shape of ALL; freed by the caller. */
static double *
spread(hu_importing *c, hu_value *v, const hu_value *all)
{
	hu_value x = { .name = v->name, .n = all->n, .last = -1 };

	if (!hu_import_is_constant(c, v)) {
		hu_import_fail(c, HU_EUNABLE, "'%.120s' must be a constant here, and it depends on the model's inputs",
			v->name);
		return NULL;
	}
	x.plain = hu_import_operand(c, v, all, 0);
	if (c->st == HU_OK && !c->constant[x.plain].data) { /* too large to be repeated beforehand */
		hu_import_fail(c, HU_EUNABLE, "%zu constant elements are too many here", all->n);
		return NULL;
	}
	return hu_import_constant(c, &x);
}

static hu_value
together(hu_importing *c, const hu_value *a, const hu_value *b)
{
	hu_value all = { .type = a->type, .n = 1, .plain = -1, .last = -1 };

	if (!hu_import_broadcast(a, b, &all.rank, all.d))
		hu_import_fail(c, HU_EFILE, "the shapes of '%.100s' and '%.100s' do not broadcast", a->name, b->name);
	for (int i = 0; i < all.rank; i++)
		all.n *= all.d[i];
	return all;
}

void
hu_node_compare(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1);

	if (!a || !b)
		return;
	hu_value all = together(c, a, b);
	int type = !strcmp(c->node->op, "Mod") ? a->type : HU_ONNX_BOOL;
	double *x = c->st == HU_OK ? spread(c, a, &all) : NULL, *y = x ? spread(c, b, &all) : NULL;
	for (size_t i = 0; y && i < all.n; i++)
		x[i] = apply(c->node->op, x[i], y[i], hu_import_int(c, "fmod", 0) != 0);
	int t = y ? hu_import_numbers(c, type, all.rank, all.d, x) : -1;
	hu_import_out(c, 0, type, all.rank, all.d)->plain = t;
	free(x);
	free(y);
}

void
hu_node_not(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0);
	double *x = a ? hu_import_constant(c, a) : NULL;

	for (size_t i = 0; x && i < a->n; i++)
		x[i] = x[i] == 0;
	int t = x ? hu_import_numbers(c, HU_ONNX_BOOL, a->rank, a->d, x) : -1;
	if (x)
		hu_import_out(c, 0, HU_ONNX_BOOL, a->rank, a->d)->plain = t;
	free(x);
}

void
hu_node_where(hu_importing *c)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), *d = hu_import_in(c, 2);

	if (!a || !b || !d)
		return;
	hu_value all = together(c, b, d), more = together(c, a, &all);
	double *x = c->st == HU_OK ? spread(c, a, &more) : NULL, *y = x ? spread(c, b, &more) : NULL,
	       *z = y ? spread(c, d, &more) : NULL;
	for (size_t i = 0; z && i < more.n; i++)
		x[i] = x[i] != 0 ? y[i] : z[i];
	int t = z ? hu_import_numbers(c, b->type, more.rank, more.d, x) : -1;
	hu_import_out(c, 0, b->type, more.rank, more.d)->plain = t;
	free(x);
	free(y);
	free(z);
}

void
hu_node_range(hu_importing *c)
{
	hu_value *v[3];
	double k[3];

	for (size_t i = 0; i < 3; i++) {
		double *x = (v[i] = hu_import_in(c, i)) ? hu_import_constant(c, v[i]) : NULL;
		if (!x || !v[i]->n) {
			free(x);
			hu_import_fail(c, HU_EFILE, "it needs a start, a limit and a step");
			return;
		}
		k[i] = x[0];
		free(x);
	}
	double count = ceil((k[1] - k[0]) / k[2]);
	if (!(count >= 1 && count < 0x1p30)) {
		hu_import_fail(c, HU_EUNABLE, "it makes %g elements", count);
		return;
	}
	size_t n = (size_t)count;
	double *x = hu_xmalloc(n * sizeof *x);
	for (size_t i = 0; i < n; i++)
		x[i] = hu_import_format(v[0]->type) == HU_FP32 ? (double)((float)k[0] + (float)i * (float)k[2])
							       : k[0] + (double)i * k[2];
	int t = hu_import_numbers(c, v[0]->type, 1, &n, x);
	hu_import_out(c, 0, v[0]->type, 1, &n)->plain = t;
	free(x);
}
