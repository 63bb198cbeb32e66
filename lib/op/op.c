/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/op.h"

#include "lib/base/status.h"

#include <stdio.h>
#include <string.h>

static const hu_op *const table[] = {
#define OP(name) &hu_op_##name,
#include "lib/op/ops.def"
#undef OP
	NULL
};

const hu_op *
hu_op_at(int i)
{
	return i >= 0 && i < (int)(sizeof table / sizeof *table) ? table[i] : NULL;
}

const hu_op *
hu_op_of(hu_role role)
{
	const hu_op *op;

	for (int i = 0; (op = hu_op_at(i)); i++)
		if (op->role == role)
			return op;
	return NULL;
}

const hu_op *
hu_op_find(const char *name)
{
	for (int i = 0; table[i]; i++)
		if (!strcmp(table[i]->name, name))
			return table[i];
	return NULL;
}

int
hu_op_takes(const hu_op *op, const char *key)
{
	size_t n = strlen(key);

	for (const char *s = op->attrs ? op->attrs : ""; *s;) {
		size_t k = strcspn(s, " ");
		if (k == n && !strncmp(s, key, n))
			return 1;
		s += k + (s[k] == ' ');
	}
	return 0;
}

int
hu_op_takes_sum(const hu_op *op)
{
	return op->cls == HU_CLASS_GEMM || op->role == HU_ROLE_ALL_REDUCE;
}

static hu_attr *
look(const hu_call *c, const char *key)
{
	for (int i = 0; i < c->nattr; i++)
		if (!strcmp(c->attr[i].key, key))
			return (hu_attr *)&c->attr[i];
	return NULL;
}

double
hu_attr_num(const hu_call *c, const char *key, double otherwise)
{
	const hu_attr *a = look(c, key);

	return a ? a->num : otherwise;
}

const char *
hu_attr_text(const hu_call *c, const char *key, const char *otherwise)
{
	const hu_attr *a = look(c, key);

	return a && *a->text ? a->text : otherwise;
}

static hu_attr *
place(hu_call *c, const char *key)
{
	hu_attr *a = look(c, key);

	if (!a) {
		HU_ASSERT(c->nattr < HU_MAX_ATTR);
		a = &c->attr[c->nattr++];
		memset(a, 0, sizeof *a);
		snprintf(a->key, sizeof a->key, "%s", key);
	}
	return a;
}

void
hu_attr_set(hu_call *c, const char *key, double num)
{
	place(c, key)->num = num;
}

void
hu_attr_set_text(hu_call *c, const char *key, const char *text)
{
	hu_attr *a = place(c, key);

	snprintf(a->text, sizeof a->text, "%s", text);
}

int
hu_grad_applies(const hu_grad *g, const hu_call *c)
{
	char key[16];
	double num;
	int used;

	for (const char *r = g->results; r && *r; r += r[2] ? 3 : 2)
		if (r[1] - '0' >= c->nin)
			return 0;
	for (const char *s = g->when; s && *s; s += used) {
		HU_ASSERT(sscanf(s, " %15[^=]=%lf%n", key, &num, &used) == 2);
		if (hu_attr_num(c, key, 0) != num)
			return 0;
	}
	return 1;
}

size_t
hu_op_grain_one(const hu_call *c, const hu_shape *in, size_t *row)
{
	(void)c;
	(void)in;
	(void)row;
	return 1;
}

size_t
hu_op_grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	*row = 0;
	return HU_COLUMN(c->op, grain) ? HU_COLUMN(c->op, grain)(c, in, row) : 0;
}
