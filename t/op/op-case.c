/* SPDX-License-Identifier: Apache-2.0 */
#include "t/op/op-case.h"

#include "lib/base/mem.h"
#include "lib/op/element/pointwise.h"
#include "lib/number/philox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const op_row rows[] = {
#define CASE(op, attrs, in, out) { #op, attrs, in, out },
#include "t/op/op-cases.def"
#undef CASE
	{ NULL, NULL, NULL, NULL }
};

static op_row made[256];
static int nmade = -1;

/* The case of pointwise operators that have no row: operands of one shape. */
static void
add_plain(const hu_op *op)
{
	static const char *const in[] = { "x:30x13", "x:30x13 x:30x13", "x:30x13 x:30x13 x:30x13" };
	int plain = op->family == &hu_family_pointwise && op->nout == 1 && op->max_in <= (int)(sizeof in / sizeof *in);

	for (int k = 0; k < op->max_in && plain; k++)
		plain = op->pointwise->how[k] == HU_EACH;
	for (const op_row *r = rows; r->op && plain; r++)
		plain = strcmp(r->op, op->name) != 0;
	HU_ASSERT(nmade < 256);
	if (plain)
		made[nmade++] = (op_row){ op->name, "", in[op->max_in - 1], "x" };
}

const op_row *
op_row_at(int i)
{
	enum { ROWS = sizeof rows / sizeof *rows - 1 };

	if (nmade < 0) {
		nmade = 0;
		for (int k = 0; hu_op_at(k); k++)
			add_plain(hu_op_at(k));
	}
	return i < ROWS ? &rows[i] : i - ROWS < nmade ? &made[i - ROWS] : NULL;
}

hu_tensor
op_tensor(hu_format_id f, hu_shape s)
{
	hu_tensor t = { .format = f, .shape = s, .n = hu_count(s) };

	t.data = hu_alloc((t.n + 1) * hu_element_size(f));
	return t;
}

/* "K:3x4" to a kind and a shape; returns what follows. */
static const char *
operand(const char *s, char *kind, hu_shape *shape)
{
	hu_shape r = { 0, { 0, 1, 1, 1 } };

	*kind = *s++;
	if (*s == ':')
		do
			r.d[r.rank++] = strtoul(s + 1, (char **)&s, 10);
		while (*s == 'x');
	*shape = r;
	return s + strspn(s, " ");
}

static double
value(hu_format f, int level, uint64_t seed, uint32_t stream, size_t i)
{
	hu_random r = hu_random_at(seed, stream, 0, i);
	double u = hu_uniform(r), m = 1 + u;
	int low = f.emin - f.p + 1, span = level == LEVEL_RANGE || level == LEVEL_SPECIAL ? f.emax - low + 1 : 16;
	int e = (int)(r.w[2] % (uint32_t)span), corner = (int)(r.w[3] % 16), negative = (int)(r.w[3] >> 31);
	double x;

	if (level == LEVEL_OFFSET)
		return hu_round(96 + 2 * u, f, HU_RNE, 0, 0);
	if (level == LEVEL_MILD)
		return hu_round(4 * u - 2, f, HU_RNE, 0, 0);
	if (level == LEVEL_SPECIAL && corner < 3)
		return corner == 0 || !hu_has_inf(f) ? hu_nan() : hu_inf(corner & negative);
	x = ldexp(corner < 4 ? 1 : m, level == LEVEL_SPREAD ? e - 10 : e + low);
	x = hu_round(x, f, HU_RZ, 0, 0);
	if (corner == 4)
		x = 0;
	if (corner == 5)
		x = level == LEVEL_SPREAD ? hu_smallest(f) : f.max;
	return negative ? -x : x;
}

static void
fill(op_case *k, int j, int level, uint64_t seed)
{
	hu_tensor *t = &k->in[j];
	hu_format f = hu_format_of(t->format);

	for (size_t i = 0; i < t->n; i++) {
		double x = value(f, level, seed, (uint32_t)j, i),
		       u = hu_uniform(hu_random_at(seed, 99, (uint32_t)j, i));
		switch (k->kind[j]) {
		case 'p': x = fabs(x); break;
		case 'u': x = hu_round(u, f, HU_RNE, 0, 0); break;
		case 'L': x = (double)(i % 4); break;
		case 'B': x = (double)(i % 3 == 1); break;
		case 'W': x = i % 5 == 3 ? 0 : i % 3 == 1 ? 0.5 : 1; break;
		case 'S': x = 1024; break;
		case 'F': x = 0; break;
		case 'N': x = 1; break;
		case 'R': x = 0.01; break;
		case 'C': x = i == 0 ? 3 : i == 1 ? 0.9 * 0.9 * 0.9 : 0.999 * 0.999 * 0.999; break;
		case 'K': x = i == 0 ? 20240229 : 7; break;
		case 'T': x = i == 0 ? 9 : i == 1 ? 2 : i == 2 ? 9 : -1; break;
		default: break;
		}
		hu_put(t, i, x);
		if (isnan(x) && !hu_is_wide(t->format)) /* a payload and a sign that no result may keep */
			((float *)t->data)[i] = hu_from_bits32(0xffc12345u);
	}
}

static hu_status
maxpool_of(op_case *k, int j, const hu_env *env)
{
	hu_call c = k->c;
	hu_tensor *in = &k->in[0], *out = &k->in[j];

	c.op = hu_op_find("maxpool");
	c.nin = c.nout = 1;
	return HU_COLUMN(c.op, emulate)(&c, &in, &out, env);
}

static void
set_attrs(hu_call *c, const char *s)
{
	char key[16], text[40], *end;

	for (int used; sscanf(s, " %15[^=]=%39s%n", key, text, &used) == 2; s += used) {
		double num = strtod(text, &end);
		if (*end)
			hu_attr_set_text(c, key, text);
		else
			hu_attr_set(c, key, num);
	}
}

static hu_format_id
format_of(char kind, hu_format_id f)
{
	if (kind == 'o')
		return f == HU_E5M2 ? HU_E4M3 : HU_E5M2;
	return strchr("CKRd", kind) ? HU_FP64 : strchr("LWSFNTf", kind) ? HU_FP32 : f;
}

hu_status
op_case_init(op_case *k, const op_row *row, hu_format_id in, hu_format_id compute, hu_format_id out, int level,
	uint64_t seed)
{
	hu_shape from[16];
	hu_env env = { seed, 1 };
	hu_call *c = &k->c;

	memset(k, 0, sizeof *k);
	c->op = hu_op_find(row->op);
	c->phase = HU_FORWARD;
	c->fmt.in = in;
	c->fmt.out = out;
	c->fmt.compute = c->fmt.acc = compute;
	c->mode = HU_RNE;
	c->sum = hu_sum_default();
	c->sum.acc = compute;
	snprintf(c->seed_name, sizeof c->seed_name, "%s/test", row->op);
	set_attrs(c, row->attrs);
	for (const char *s = row->in; *s; c->nin++) {
		s = operand(s, &k->kind[c->nin], &from[c->nin]);
		if (!from[c->nin].rank)
			from[c->nin] = hu_shape0();
		if (strchr("CKT", k->kind[c->nin]))
			from[c->nin] = hu_shape1(k->kind[c->nin] == 'C' ? 3 : k->kind[c->nin] == 'K' ? 2 : 4);
		k->in[c->nin] = op_tensor(format_of(k->kind[c->nin], in), from[c->nin]);
		k->pin[c->nin] = &k->in[c->nin];
		fill(k, c->nin, level, seed);
	}
	char kinds[8];
	for (const char *s = row->out; *s; c->nout++)
		s = operand(s, &kinds[c->nout], &k->shape[c->nout]);
	hu_shape to[8];
	memcpy(to, k->shape, sizeof to);
	HU_TRY(HU_COLUMN(c->op, shape)(c, from, to));
	for (int j = 0; j < c->nout; j++) {
		hu_format_id f = kinds[j] == 'c'                      ? compute
				 : kinds[j] >= '0' && kinds[j] <= '9' ? k->in[kinds[j] - '0'].format
								      : format_of(kinds[j], out);
		k->out[j] = op_tensor(f, to[j]);
		k->pout[j] = &k->out[j];
	}
	c->fmt.out = k->out[0].format;
	for (int j = 0; j < c->nin; j++)
		if (k->kind[j] == 'M')
			HU_TRY(maxpool_of(k, j, &env));
	return HU_OK;
}

void
op_case_release(op_case *k)
{
	for (int j = 0; j < 16; j++)
		free(k->in[j].data);
	for (int j = 0; j < 8; j++)
		free(k->out[j].data);
	memset(k, 0, sizeof *k);
}

hu_status
op_case_emulate(op_case *k, const hu_env *env)
{
	return HU_COLUMN(k->c.op, emulate)(&k->c, k->pin, k->pout, env);
}
