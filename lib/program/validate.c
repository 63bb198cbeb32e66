/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/op/reduce/summed.h"
#include "lib/program/program.h"

#include <stdlib.h>
#include <string.h>

static int
known_attr(const hu_op *op, const char *key)
{
	return hu_op_takes(op, key) || !strcmp(key, "library") || (!strcmp(key, "grad") && op->cls == HU_CLASS_GEMM) ||
	       (!strcmp(key, "summed") && hu_summed_takes(op));
}

static hu_status
check_operands(const hu_program *p, const hu_call *c)
{
	const hu_op *op = c->op;

	if (c->nin < op->min_in || (op->max_in >= 0 && c->nin > op->max_in) || c->nout < 1 ||
		(op->nout >= 0 && c->nout > op->nout))
		return hu_fail(HU_EINVAL, "call %d (%s): %d inputs and %d outputs do not fit the operator", c->id,
			op->name, c->nin, c->nout);
	for (int i = 0; i < c->nin; i++) {
		int t = c->in[i];
		if (t < 0 || t >= p->nt)
			return hu_fail(HU_EINVAL, "call %d (%s): input %d names tensor %d of %d", c->id, op->name, i, t,
				p->nt);
		if (p->t[t].producer >= c->id)
			return hu_fail(HU_EINVAL, "call %d (%s): it reads %s before call %d writes it", c->id, op->name,
				p->t[t].name, p->t[t].producer);
	}
	for (int i = 0; i < c->nout; i++) {
		int t = c->out[i];
		if (t < 0 || t >= p->nt || p->t[t].producer != c->id)
			return hu_fail(
				HU_EINVAL, "call %d (%s): output %d is not a tensor of its own", c->id, op->name, i);
		HU_ASSERT(hu_program_find(p, p->t[t].name) == t);
	}
	for (int i = 0; i < c->nattr; i++)
		if (!known_attr(op, c->attr[i].key))
			return hu_fail(
				HU_EINVAL, "call %d (%s): unknown attribute '%s'", c->id, op->name, c->attr[i].key);
	return HU_OK;
}

static hu_status
check_shapes(const hu_program *p, const hu_call *c)
{
	hu_shape *in = hu_xcalloc((size_t)c->nin + 1, sizeof *in), *out = hu_xcalloc((size_t)c->nout + 1, sizeof *out);

	hu_call_shapes(p, c, in, out);
	hu_status st = hu_op_shape(c, in, out);
	for (int i = 0; i < c->nout && st == HU_OK; i++)
		if (hu_count(out[i]) != hu_count(p->t[c->out[i]].shape))
			st = hu_fail(HU_EINVAL, "output %s has %zu elements, but the operator computes %zu",
				p->t[c->out[i]].name, hu_count(p->t[c->out[i]].shape), hu_count(out[i]));
	free(in);
	free(out);
	if (st != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_fail(st, "call %d (%s, layer %s): %s", c->id, c->op->name, c->layer, why);
		free(why);
	}
	return st;
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Checks that no two calls draw the same random bits. */
static hu_status
check_streams(const hu_program *p)
{
	uint32_t *h = hu_xmalloc((2 * (size_t)p->nc + 1) * sizeof *h);
	hu_status st = HU_OK;
	int n = 0;

	for (int i = 0; i < p->nc; i++) {
		if (p->c[i].op->role == HU_ROLE_OPAQUE)
			continue;
		h[n++] = hu_fnv1a32(p->c[i].seed_name);
		/* Later micro-batches draw other elements of the same stream; gradients draw the same ones. */
		if (p->c[i].phase == HU_FORWARD && hu_op_takes(p->c[i].op, "stream") &&
			hu_attr_num(&p->c[i], "first", 0) == 0)
			h[n++] = (uint32_t)hu_attr_num(&p->c[i], "stream", 0);
	}
	qsort(h, (size_t)n, sizeof *h, by_value);
	for (int i = 1; i < n && st == HU_OK; i++)
		if (h[i] == h[i - 1])
			st = hu_fail(HU_EINVAL,
				"two random streams of program %s share the hash 0x%08x: rename a layer", p->name,
				h[i]);
	free(h);
	return st;
}

hu_status
hu_program_validate(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++) {
		HU_TRY(check_operands(p, &p->c[i]));
		HU_TRY(check_shapes(p, &p->c[i]));
	}
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		if (t->next >= p->nt || (t->next >= 0 && (!t->state || !hu_same_shape(t->shape, p->t[t->next].shape) ||
								 t->format != p->t[t->next].format)))
			return hu_fail(HU_EINVAL,
				"tensor %s: its next value %s is no tensor of the same shape and format", t->name,
				t->next < p->nt ? p->t[t->next].name : "?");
	}
	return check_streams(p);
}
