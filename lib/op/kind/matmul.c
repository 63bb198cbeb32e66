/* SPDX-License-Identifier: Apache-2.0
   matmul a, b [, sa, sb] -> y[M,N]; attributes ta, tb (operand stored transposed), part, scaled.
   a is taken as [d0, the rest]. */
#include "lib/op/contract/contract.h"

static hu_stretch
row_plain(const hu_contract *c, size_t m, size_t k)
{
	return (hu_stretch){ (ptrdiff_t)(m * c->k + k), 1, c->k - k };
}

static hu_stretch
row_transposed(const hu_contract *c, size_t m, size_t k)
{
	return (hu_stretch){ (ptrdiff_t)(k * c->m + m), c->m, c->k - k };
}

static size_t
column_plain(const hu_contract *c, size_t k)
{
	return k * c->n;
}

static size_t
column_transposed(const hu_contract *c, size_t k)
{
	(void)c;
	return k;
}

static void
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	int ta = hu_attr_num(c, "ta", 0) != 0, tb = hu_attr_num(c, "tb", 0) != 0;
	size_t d0 = in[0].d[0], rest = hu_count(in[0]) / (d0 ? d0 : 1);

	x->m = ta ? rest : d0;
	x->k = ta ? d0 : rest;
	x->n = tb ? in[1].d[0] : hu_count(in[1]) / (in[1].d[0] ? in[1].d[0] : 1);
	x->row = ta ? row_transposed : row_plain;
	x->column = tb ? column_transposed : column_plain;
	x->column_stride = tb ? x->k : 1;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x;

	if (in[0].rank < 2 || in[1].rank < 2 || !hu_count(in[0]) || !hu_count(in[1]))
		return hu_fail(HU_EINVAL, "matmul: operands of rank 2 or more are needed");
	map(&x, c, in);
	size_t k = hu_attr_num(c, "tb", 0) != 0 ? hu_count(in[1]) / in[1].d[0] : in[1].d[0];
	if (k != x.k)
		return hu_fail(HU_EINVAL, "matmul: inner dimensions %zu and %zu differ", x.k, k);
	if (out->rank && hu_count(*out) != x.m * x.n)
		return hu_fail(HU_EINVAL, "matmul: the output has %zu elements where %zu x %zu are made",
			hu_count(*out), x.m, x.n);
	if (!out->rank)
		*out = hu_shape2(x.m, x.n);
	return HU_OK;
}

static const hu_grad grad[] = {
	{ "matmul", "d0 i1", "i0", "ta=0 tb=1" },
	{ "matmul", "i0 d0", "i1", "ta=1 tb=0" },
	{ NULL, NULL, NULL, NULL },
};

const hu_op hu_op_matmul = {
	.name = "matmul", .summary = "matrix product, all four transposes",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = "ta tb part scaled",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.family = &hu_family_contract, .contract = &(hu_contract_own){ map, shape },
	.grad = grad, .grad_zero = "ta tb",
};
