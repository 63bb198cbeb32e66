/* SPDX-License-Identifier: Apache-2.0
   Values without elements, such as the keys and values of a past of length 0. No call computes them: they have a shape
   alone, and are constants. Operators that only choose among elements, such as Concat, know them by themselves. */
#include "lib/import/importing.h"

#include <string.h>

typedef enum rule {
	TOGETHER, /* the shape that all inputs broadcast to, element by element */
	FIRST,    /* the first input's shape */
	TURNED,   /* with its axes permuted */
	PRODUCT   /* of matrices; sums of no terms are 0 */
} rule;

/* type: of the output, 0 for that of the input `of`. */
static const struct {
	const char *op;
	rule rule;
	int type;
	size_t of;
} rules[] = { { "Add", TOGETHER, 0, 0 }, { "Sub", TOGETHER, 0, 0 }, { "Mul", TOGETHER, 0, 0 },
	{ "Div", TOGETHER, 0, 0 }, { "Pow", TOGETHER, 0, 0 }, { "Min", TOGETHER, 0, 0 }, { "Max", TOGETHER, 0, 0 },
	{ "Sum", TOGETHER, 0, 0 }, { "Mean", TOGETHER, 0, 0 }, { "Mod", TOGETHER, 0, 0 }, { "PRelu", FIRST, 0, 0 },
	{ "Where", TOGETHER, 0, 1 }, { "Equal", TOGETHER, HU_ONNX_BOOL, 0 }, { "Less", TOGETHER, HU_ONNX_BOOL, 0 },
	{ "Greater", TOGETHER, HU_ONNX_BOOL, 0 }, { "LessOrEqual", TOGETHER, HU_ONNX_BOOL, 0 },
	{ "GreaterOrEqual", TOGETHER, HU_ONNX_BOOL, 0 }, { "And", TOGETHER, HU_ONNX_BOOL, 0 },
	{ "Or", TOGETHER, HU_ONNX_BOOL, 0 }, { "Xor", TOGETHER, HU_ONNX_BOOL, 0 }, { "Not", FIRST, HU_ONNX_BOOL, 0 },
	{ "Abs", FIRST, 0, 0 }, { "Neg", FIRST, 0, 0 }, { "Exp", FIRST, 0, 0 }, { "Log", FIRST, 0, 0 },
	{ "Sqrt", FIRST, 0, 0 }, { "Erf", FIRST, 0, 0 }, { "Relu", FIRST, 0, 0 }, { "LeakyRelu", FIRST, 0, 0 },
	{ "Gelu", FIRST, 0, 0 }, { "Sigmoid", FIRST, 0, 0 }, { "Tanh", FIRST, 0, 0 }, { "Sin", FIRST, 0, 0 },
	{ "Cos", FIRST, 0, 0 }, { "Reciprocal", FIRST, 0, 0 }, { "Clip", FIRST, 0, 0 }, { "Floor", FIRST, 0, 0 },
	{ "Ceil", FIRST, 0, 0 }, { "Round", FIRST, 0, 0 }, { "Sign", FIRST, 0, 0 }, { "Softplus", FIRST, 0, 0 },
	{ "Elu", FIRST, 0, 0 }, { "HardSigmoid", FIRST, 0, 0 }, { "HardSwish", FIRST, 0, 0 }, { "Cast", FIRST, -1, 0 },
	{ "CastLike", FIRST, 0, 1 }, { "Softmax", FIRST, 0, 0 }, { "LogSoftmax", FIRST, 0, 0 },
	{ "LayerNormalization", FIRST, 0, 0 }, { "RMSNormalization", FIRST, 0, 0 }, { "Transpose", TURNED, 0, 0 },
	{ "MatMul", PRODUCT, 0, 0 } };

static int
turned(hu_importing *c, const hu_value *v, size_t *d)
{
	const hu_onnx_attr *perm = hu_import_attr(c, "perm");

	if (perm && perm->nints != (size_t)v->rank)
		return 0;
	for (int i = 0; i < v->rank; i++) {
		int64_t from = perm ? perm->ints[i] : v->rank - 1 - i;
		if (from < 0 || from >= v->rank)
			return 0;
		d[i] = v->d[from];
	}
	return 1;
}

/* The shape of the product of matrices, of two axes or more. */
static int
product(const hu_value *a, const hu_value *b, int *rank, size_t *d)
{
	hu_value x = *a, y = *b;

	if (a->rank < 2 || b->rank < 2 || a->d[a->rank - 1] != b->d[b->rank - 2])
		return 0;
	x.d[x.rank - 1] = x.d[x.rank - 2] = y.d[y.rank - 1] = y.d[y.rank - 2] = 1;
	if (!hu_import_broadcast(&x, &y, rank, d))
		return 0;
	d[*rank - 2] = a->d[a->rank - 2];
	d[*rank - 1] = b->d[b->rank - 1];
	return 1;
}

/* The output's shape by rule K; 0 where the inputs do not fit. */
static int
shape_of(hu_importing *c, rule by, int *rank, size_t *d)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1), all;

	if (!a || (by == PRODUCT && !b))
		return 0;
	all = *a;
	*rank = a->rank;
	memcpy(d, a->d, sizeof a->d);
	if (by == TURNED)
		return turned(c, a, d);
	if (by == PRODUCT)
		return product(a, b, rank, d);
	for (size_t i = 1; i < c->node->nin && by == TOGETHER; i++) {
		hu_value *v = hu_import_in(c, i);
		if (v && !hu_import_broadcast(&all, v, rank, d))
			return 0;
		all.rank = *rank;
		memcpy(all.d, d, sizeof all.d);
	}
	return 1;
}

/* 1 where the inputs that rule BY takes the shape of leave no element to compute, or a product no term: an input that
   only says a type, or a bound, may be empty beside others that are not. */
static int
none_is_left(hu_importing *c, rule by, int rank, const size_t *d)
{
	hu_value *a = hu_import_in(c, 0), *b = hu_import_in(c, 1);
	int none = by == PRODUCT && (!a->n || !b->n);

	for (int i = 0; i < rank; i++)
		none |= !d[i];
	return none;
}

/* Output 0 as N zeros of TYPE, N being 0 but of products. */
static void
make(hu_importing *c, int type, int rank, const size_t *d)
{
	size_t n = 1;

	for (int i = 0; i < rank; i++)
		n *= d[i];
	hu_value none = { .type = type, .rank = rank, .n = n, .last = -1 };
	memcpy(none.d, d, (size_t)rank * sizeof *d);
	if (n)
		none.plain = hu_import_expand(c, hu_import_number(c, type, 0), hu_import_shape(rank, d));
	else
		none.plain = hu_import_numbers(c, type, rank, d, NULL);
	hu_import_put(c, 0, &none);
}

int
hu_import_empty(hu_importing *c)
{
	size_t d[HU_RANK];
	int empty = 0, rank;

	for (size_t i = 0; i < c->node->nin; i++) {
		hu_value *v = *c->node->in[i] ? hu_import_find(c, c->node->in[i]) : NULL;
		empty |= v && !v->n;
	}
	if (!empty || *c->node->domain)
		return 0;
	for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
		hu_value *of = hu_import_in(c, rules[k].of);
		if (strcmp(rules[k].op, c->node->op) || !of || !shape_of(c, rules[k].rule, &rank, d) ||
			!none_is_left(c, rules[k].rule, rank, d))
			continue;
		int type = rules[k].type < 0 ? (int)hu_import_int(c, "to", of->type)
			   : rules[k].type   ? rules[k].type
					     : of->type;
		make(c, type, rank, d);
		return 1;
	}
	return 0;
}
