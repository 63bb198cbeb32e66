/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/quantise/pass.h"

#include "lib/base/mem.h"

#include <stdio.h>
#include <string.h>

void
hu_quantise_note(hu_quantise_pass *x, int id)
{
	hu_version *v = x->v;

	if ((size_t)id < x->cap)
		return;
	size_t cap = 2 * (size_t)id + 64;
	v->constant = hu_xrealloc(v->constant, cap * sizeof *v->constant);
	v->owned = hu_xrealloc(v->owned, cap);
	v->bits = hu_xrealloc(v->bits, cap * sizeof *v->bits);
	memset(v->constant + x->cap, 0, (cap - x->cap) * sizeof *v->constant);
	memset(v->owned + x->cap, 0, cap - x->cap);
	memset(v->bits + x->cap, 0, (cap - x->cap) * sizeof *v->bits);
	x->cap = cap;
}

int
hu_quantise_tensor(hu_quantise_pass *x, const char *stem, const char *word, hu_format_id f, hu_shape s, hu_tclass cls)
{
	char name[HU_NAME];

	snprintf(name, sizeof name, "%.100s@%.40s", stem, word);
	for (int i = 2; hu_program_find(x->to, name) >= 0; i++)
		snprintf(name, sizeof name, "%.100s@%.40s_%d", stem, word, i);
	int id = hu_program_tensor(x->to, name, f, s, cls);
	hu_quantise_note(x, id);
	return id;
}

int
hu_quantise_constant(hu_quantise_pass *x, const char *stem, const char *word, hu_shape s, float *data)
{
	int id = hu_quantise_tensor(x, stem, word, HU_FP32, s, HU_WEIGHT);

	x->to->t[id].state = 1;
	x->v->constant[id] = (hu_tensor){ .format = HU_FP32, .shape = s, .n = hu_count(s), .data = data };
	x->v->owned[id] = 1;
	return id;
}

int
hu_quantise_number(hu_quantise_pass *x, const char *stem, const char *word, float value)
{
	float *data = hu_xmalloc(sizeof *data);

	*data = value;
	int id = hu_quantise_constant(x, stem, word, hu_shape0(), data);
	x->v->bits[id] = -1;
	return id;
}

int
hu_quantise_call(hu_quantise_pass *x, const char *op, const int *in, int nin, const char *stem, const char *word,
	hu_format_id f, const hu_attr *attr, int nattr)
{
	hu_shape shapes[4], out = { 0, { 0, 0, 0, 0 } };
	hu_call probe = { .op = hu_op_find(op), .nin = nin, .nout = 1, .nattr = nattr };

	for (int i = 0; i < nin; i++)
		shapes[i] = x->to->t[in[i]].shape;
	for (int i = 0; i < nattr; i++)
		probe.attr[i] = attr[i];
	HU_ASSERT(hu_op_shape(&probe, shapes, &out) == HU_OK);
	int id = hu_quantise_tensor(x, stem, word, f, out, HU_ACTIVATION);
	hu_call *c = hu_program_call(x->to, op, HU_FORWARD, x->c->layer, in, nin, &id, 1);
	c->nattr = nattr;
	memcpy(c->attr, probe.attr, sizeof c->attr);
	return id;
}

int
hu_quantise_outer(const hu_quantise_pass *x, int t)
{
	return x->v->map[t];
}
