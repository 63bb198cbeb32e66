/* SPDX-License-Identifier: Apache-2.0
   matmul a, b [, sa, sb] -> y[…,M,N]; attributes batch, ta, tb (the operand is stored transposed), part, scaled,
   transform. The first `batch` dimensions are the same in both operands and in the result, which has a product for
   each of their indices. The dimensions after them are taken as a matrix, [the first, the product of the rest], in a as
   in b. transform=1 says that b holds the waves of a Fourier transform: the judge of kernels then allows what a fast
   transform errs. */
#include "lib/op/contract/contract.h"
#include "lib/op/sum_call.h"

static hu_stretch
row_plain(const hu_contract *c, size_t m, size_t k)
{
	return (hu_stretch){ (ptrdiff_t)((c->batch * c->m + m) * c->k + k), 1, c->k - k };
}

static hu_stretch
row_transposed(const hu_contract *c, size_t m, size_t k)
{
	return (hu_stretch){ (ptrdiff_t)((c->batch * c->k + k) * c->m + m), c->m, c->k - k };
}

static size_t
column_plain(const hu_contract *c, size_t k)
{
	return (c->batch * c->k + k) * c->n;
}

static size_t
column_transposed(const hu_contract *c, size_t k)
{
	return c->batch * c->n * c->k + k;
}

/* Dimension batch of s; *rest gets the product of those after it. */
static size_t
first_of(hu_shape s, size_t batch, size_t *rest)
{
	*rest = 1;
	for (int i = (int)batch + 1; i < s.rank; i++)
		*rest *= s.d[i];
	return s.d[batch];
}

static hu_status
map(hu_contract *x, const hu_call *c, const hu_shape *in)
{
	int ta = hu_attr_num(c, "ta", 0) != 0, tb = hu_attr_num(c, "tb", 0) != 0;
	size_t batch = hu_attr_count(c, "batch", 0), more[2],
	       first[2] = { first_of(in[0], batch, &more[0]), first_of(in[1], batch, &more[1]) };

	x->m = ta ? more[0] : first[0];
	x->k = ta ? first[0] : more[0];
	x->n = tb ? first[1] : more[1];
	x->row = ta ? row_transposed : row_plain;
	x->column = tb ? column_transposed : column_plain;
	x->column_stride = tb ? x->k : 1;
	x->batches = 1;
	for (size_t i = 0; i < batch; i++)
		x->batches *= in[0].d[i];
	x->row_step = x->n;
	x->batch_step = x->m * x->n;
	return HU_OK;
}

static hu_status
shape(const hu_call *c, const hu_shape *in, hu_shape *out)
{
	hu_contract x = { 0 };
	size_t batch = hu_attr_count(c, "batch", 0), rest, k;

	if ((size_t)in[0].rank < batch + 2 || (size_t)in[1].rank < batch + 2 || !hu_count(in[0]) || !hu_count(in[1]))
		return hu_fail(HU_EINVAL, "matmul: the operands must have rank %zu or more", batch + 2);
	for (size_t i = 0; i < batch; i++)
		if (in[0].d[i] != in[1].d[i])
			return hu_fail(HU_EINVAL,
				"matmul: dimension %zu is %zu and %zu, but with batch=%zu it must be the same in both "
				"operands",
				i, in[0].d[i], in[1].d[i], batch);
	map(&x, c, in);
	k = first_of(in[1], batch, &rest);
	k = hu_attr_num(c, "tb", 0) != 0 ? rest : k;
	if (k != x.k)
		return hu_fail(HU_EINVAL, "matmul: inner dimensions %zu and %zu differ", x.k, k);
	hu_shape y = { .rank = (int)batch + 2 };
	for (size_t i = 0; i < batch; i++)
		y.d[i] = in[0].d[i];
	y.d[batch] = x.m;
	y.d[batch + 1] = x.n;
	if (out->rank && hu_count(*out) != hu_count(y))
		return hu_fail(HU_EINVAL, "matmul: the output has %zu elements, but the product has %zu x %zu x %zu",
			hu_count(*out), x.batches, x.m, x.n);
	if (!out->rank)
		*out = y;
	return HU_OK;
}

static void
sum_call(size_t n, hu_sum_call *s)
{
	*s = (hu_sum_call){ .n = n, .nin = 2, .in = { hu_shape2(2, n), hu_shape2(n, HU_SUM_COLUMNS) },
		.out = hu_shape2(2, HU_SUM_COLUMNS), .copies = { 2, HU_SUM_COLUMNS }, .equal = 2 * HU_SUM_COLUMNS,
		.place = hu_sum_call_place };
}

static const hu_grad grad[] = {
	{ "matmul", "d0 i1", "i0", "ta=0 tb=1", "ta=0 tb=0" },
	{ "matmul", "i0 d0", "i1", "ta=1 tb=0", "ta=0 tb=0" },
	{ "matmul", "d0 i1", "i0", "ta=0 tb=0", "ta=0 tb=1" },
	{ "matmul", "d0 i0", "i1", "ta=1 tb=0", "ta=0 tb=1" },
	{ "matmul", "i1 d0", "i0", "ta=0 tb=1", "ta=1 tb=0" },
	{ "matmul", "i0 d0", "i1", "ta=0 tb=0", "ta=1 tb=0" },
	{ "matmul", "i1 d0", "i0", "ta=1 tb=1", "ta=1 tb=1" },
	{ "matmul", "d0 i0", "i1", "ta=1 tb=1", "ta=1 tb=1" },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_matmul = {
	.name = "matmul", .summary = "matrix product, all four transposes",
	.min_in = 2, .max_in = 4, .nout = 1, .attrs = "batch ta tb part scaled transform",
	.cls = HU_CLASS_GEMM, .parity = HU_PARITY_BOUND,
	.role = HU_ROLE_PRODUCT,
	.own = { .sum_call = sum_call },
	.family = &hu_family_contract, .contract = &(hu_contract_own){ .map = map, .shape = shape },
	.grad = grad,
};
