/* SPDX-License-Identifier: Apache-2.0
   The library's calls of operators: what they are told, and what follows from it. */
#include "lib/api/call.h"

#include "lib/api/enter.h"
#include "lib/api/format.h"
#include "lib/base/console/opt.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/op/element/map.h"
#include "lib/op/reduce/summed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct making {
	halfulp_call **call;
	const char *op;
} making;

static hu_status
make(void *of)
{
	const making *m = of;

	HU_TRY(hu_api_needs(m->call, "halfulp_call_new", "call"));
	*m->call = NULL;
	HU_TRY(hu_api_needs(m->op, "halfulp_call_new", "op"));
	const hu_op *op = hu_op_find(m->op);
	if (!op) {
		const char *names[512], *near;
		size_t n = 0;
		for (; n < 512 && hu_op_at((int)n); n++)
			names[n] = hu_op_at((int)n)->name;
		near = hu_nearest(m->op, names, n);
		return hu_fail(HU_EINVAL, "halfulp_call_new: there is no operator '%s'%s%s; halfulp op list names all",
			m->op, near ? "; did you mean " : "", near ? near : "");
	}
	if (op->role == HU_ROLE_OPAQUE || op->nout < 1 || op->nout > HU_CALL_OUTPUTS || !HU_COLUMN(op, emulate))
		return hu_fail(HU_EUNABLE, "halfulp_call_new: nothing computes %s", op->name);
	halfulp_call *c = hu_xcalloc(1, sizeof *c);
	c->call.op = op;
	c->call.nout = op->nout;
	c->out = c->compute = c->acc = HU_NO_FORMAT;
	c->sum = hu_sum_default();
	strcpy(c->call.seed_name, "op");
	*m->call = c;
	return HU_OK;
}

halfulp_status
halfulp_call_new(halfulp_call **call, const char *op)
{
	return hu_api_enter(make, &(making){ call, op });
}

void
halfulp_call_free(halfulp_call *call)
{
	for (int i = 0; call && i < HU_CALL_INPUTS; i++)
		free(call->operand[i].data);
	free(call);
}

typedef struct setting {
	halfulp_call *call;
	const char *key, *value;
} setting;

static hu_status
set_sum(halfulp_call *c, const char *text)
{
	hu_sum s;
	hu_call trial;

	HU_TRY(hu_sum_parse(text, &s));
	if (s.group)
		return hu_fail(HU_EUNABLE,
			"halfulp_call_set: sum '%s' has block-scaled operands, which halfulp op alone takes", text);
	if (!hu_op_takes_sum(c->call.op) && !hu_summed_takes(c->call.op))
		return hu_fail(
			HU_EINVAL, "halfulp_call_set: %s adds nothing that a summation model orders", c->call.op->name);
	trial = c->call;
	if (hu_summed_takes(c->call.op))
		HU_TRY(hu_summed_set(&trial, s));
	c->call = trial;
	c->sum = s;
	c->has_sum = 1;
	return HU_OK;
}

static hu_status
set_seed(halfulp_call *c, const char *text)
{
	char *end;

	errno = 0;
	unsigned long long seed = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		return hu_fail(HU_EINVAL, "halfulp_call_set: seed '%s' is no whole number from 0 to 2^64 - 1", text);
	c->seed = seed;
	return HU_OK;
}

static hu_status
set_attribute(halfulp_call *c, const char *key, const char *value)
{
	hu_call trial = c->call;
	double x;

	if (!hu_op_takes(c->call.op, key))
		return hu_fail(HU_EINVAL,
			"halfulp_call_set: %s has no attribute '%s'; known: out compute acc mode sum seed %s",
			c->call.op->name, key, c->call.op->attrs ? c->call.op->attrs : "");
	if (!*value)
		return hu_fail(HU_EINVAL, "halfulp_call_set: attribute %s needs a value", key);
	if (trial.nattr == HU_MAX_ATTR)
		return hu_fail(HU_EINVAL, "halfulp_call_set: more than %d attributes", HU_MAX_ATTR);
	if (!hu_attr_is_word(key) && hu_parse_real(value, &x))
		hu_attr_set(&trial, key, x);
	else
		hu_attr_set_text(&trial, key, value);
	HU_TRY(hu_attr_check(&trial));
	c->call = trial;
	return HU_OK;
}

static hu_status
set(void *of)
{
	const setting *s = of;

	HU_TRY(hu_api_needs(s->call, "halfulp_call_set", "call"));
	HU_TRY(hu_api_needs(s->key, "halfulp_call_set", "key"));
	HU_TRY(hu_api_needs(s->value, "halfulp_call_set", "value"));
	if (!strcmp(s->key, "out"))
		return hu_format_find(s->value, &s->call->out);
	if (!strcmp(s->key, "compute"))
		return hu_format_find(s->value, &s->call->compute);
	if (!strcmp(s->key, "acc"))
		return hu_format_find(s->value, &s->call->acc);
	if (!strcmp(s->key, "mode"))
		return hu_mode_find(s->value, &s->call->call.mode);
	if (!strcmp(s->key, "sum"))
		return set_sum(s->call, s->value);
	if (!strcmp(s->key, "seed"))
		return set_seed(s->call, s->value);
	return set_attribute(s->call, s->key, s->value);
}

halfulp_status
halfulp_call_set(halfulp_call *call, const char *key, const char *value)
{
	return hu_api_enter(set, &(setting){ call, key, value });
}

typedef struct giving {
	halfulp_call *call;
	int i;
	const double *x;
	const size_t *shape;
	int rank;
	const halfulp_format *format;
} giving;

/* The number of elements of a shape; 0 where there is none, or more than memory can address. */
static size_t
elements(const size_t *shape, int rank)
{
	size_t n = 1;

	for (int d = 0; d < rank; d++) {
		if (!shape[d] || n > SIZE_MAX / 64 / shape[d])
			return 0;
		n *= shape[d];
	}
	return n;
}

static hu_status
give(void *of)
{
	static const char *const here = "halfulp_call_operand";
	const giving *g = of;
	hu_tensor t = { .shape = { g->rank, { 1, 1, 1, 1, 1, 1 } } };

	HU_TRY(hu_api_needs(g->call, here, "call"));
	HU_TRY(hu_api_needs(g->x, here, "x"));
	HU_TRY(hu_api_needs(g->format, here, "format"));
	const hu_op *op = g->call->call.op;
	if (g->i < 0 || g->i >= HU_CALL_INPUTS || (op->max_in >= 0 && g->i >= op->max_in))
		return hu_fail(HU_EINVAL, "%s: %s has no operand %d; they are counted from 0 to %d", here, op->name,
			g->i, (op->max_in >= 0 && op->max_in < HU_CALL_INPUTS ? op->max_in : HU_CALL_INPUTS) - 1);
	if (g->rank < 0 || g->rank > HU_RANK)
		return hu_fail(HU_EINVAL, "%s: rank %d is not one from 0 to %d", here, g->rank, HU_RANK);
	if (g->rank)
		HU_TRY(hu_api_needs(g->shape, here, "shape"));
	t.n = elements(g->shape, g->rank);
	if (!t.n)
		return hu_fail(HU_EINVAL, "%s: operand %d has no element, or more than memory holds", here, g->i);
	size_t wrong = hu_format_misfit(g->x, t.n, g->format->f);
	if (wrong < t.n)
		return hu_fail(HU_EINVAL,
			"%s: element %zu of operand %d, %.17g, is no value of %s (halfulp_round makes it one)", here,
			wrong, g->i, g->x[wrong], g->format->name);
	for (int d = 0; d < g->rank; d++)
		t.shape.d[d] = g->shape[d];
	t.format = g->format->f.id;
	t.data = hu_alloc(t.n * hu_element_size(t.format));
	if (!t.data)
		return hu_fail(HU_ENOMEM, "%s: there is no memory for operand %d of %zu elements", here, g->i, t.n);
	for (size_t k = 0; k < t.n; k++)
		hu_put(&t, k, g->x[k]);
	free(g->call->operand[g->i].data);
	g->call->operand[g->i] = t;
	return HU_OK;
}

halfulp_status
halfulp_call_operand(
	halfulp_call *call, int i, const double *x, const size_t *shape, int rank, const halfulp_format *format)
{
	return hu_api_enter(give, &(giving){ call, i, x, shape, rank, format });
}

/* The sum of a product, with what the call's formats leave open. */
static hu_status
settle_sum(hu_call_settled *s, const halfulp_call *c)
{
	s->call.sum = c->sum;
	if (!c->has_sum && s->call.fmt.in == HU_FP64)
		s->call.sum.acc = HU_FP64;
	if (c->has_sum && s->call.nin > 1)
		return hu_sum_resolve(&s->call.sum, s->in[0]->format, s->in[1]->format, s->call.fmt.acc);
	return HU_OK;
}

hu_status
hu_call_settle(hu_call_settled *s, const halfulp_call *c, int k, const char *function)
{
	hu_shape shapes[HU_CALL_INPUTS];
	const hu_op *op;
	int n = HU_CALL_INPUTS;

	HU_TRY(hu_api_needs(c, function, "call"));
	op = c->call.op;
	if (k < 0 || k >= op->nout)
		return hu_fail(HU_EINVAL, "%s: %s has no result %d; they are counted from 0 to %d", function, op->name,
			k, op->nout - 1);
	while (n > 0 && !c->operand[n - 1].data)
		n--;
	for (int i = 0; i < n || i < op->min_in; i++) {
		if (i >= HU_CALL_INPUTS || !c->operand[i].data)
			return hu_fail(HU_EINVAL, "%s: operand %d of %s is missing (halfulp_call_operand)", function, i,
				op->name);
		s->in[i] = (hu_tensor *)&c->operand[i];
		shapes[i] = c->operand[i].shape;
	}
	s->call = c->call;
	s->call.nin = n;
	hu_format_id first = n ? c->operand[0].format : HU_FP32, wide = first == HU_FP64 ? HU_FP64 : HU_FP32;
	s->call.fmt.in = first;
	s->call.fmt.out = c->out == HU_NO_FORMAT ? first : c->out;
	s->call.fmt.compute = c->compute == HU_NO_FORMAT ? wide : c->compute;
	s->call.fmt.acc = c->acc == HU_NO_FORMAT ? wide : c->acc;
	HU_TRY(settle_sum(s, c));
	memset(s->shape, 0, sizeof s->shape);
	HU_TRY(hu_op_shape(&s->call, shapes, s->shape));
	s->format[0] = s->call.fmt.out;
	for (int i = 1; i < op->nout; i++)
		s->format[i] = hu_output_format(&s->call, s->in, i);
	return HU_OK;
}
