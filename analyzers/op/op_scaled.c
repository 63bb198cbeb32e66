/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/op/op_scaled.h"

#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/sum/bound.h"
#include "lib/sum/tc/scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One operand as `rows` rows along k: its elements, a scale for each group, and their products. */
typedef struct side {
	size_t rows, k, groups;
	hu_format_id f;
	double *element, *scale, *value, whole;
} side;

static hu_status
side_init(side *s, const hu_op_run *r, int at, const hu_npy *scales, size_t rows, size_t k, int transposed)
{
	const hu_npy *a = &r->file[at];
	size_t group = (size_t)r->sum.group, groups = (k + group - 1) / group;
	float *x = hu_alloc((rows * k + 1) * sizeof *x);

	s->rows = rows;
	s->k = k;
	s->groups = groups;
	s->f = at ? r->sum.in2 : r->sum.in;
	s->whole = 1;
	s->element = hu_alloc((rows * k + 1) * sizeof *s->element);
	s->value = hu_alloc((rows * k + 1) * sizeof *s->value);
	s->scale = hu_alloc((rows * groups + 1) * sizeof *s->scale);
	if (!x || !s->element || !s->value || !s->scale) {
		free(x);
		return hu_fail(HU_ENOMEM, "op: no memory for operand %c of %zu rows of %zu", 'a' + at, rows, k);
	}
	if (scales && scales->count != rows * groups) {
		free(x);
		return hu_fail(HU_EFILE, "--in s%c has %zu scales where %zu rows of %zu groups of %zu need %zu",
			'a' + at, scales->count, rows, groups, group, rows * groups);
	}
	hu_status st = hu_op_codes_fit(r, a, at ? "operand b" : "operand a", hu_format_of(s->f));
	if (st == HU_OK && scales)
		st = hu_op_codes_fit(r, scales, at ? "--in sb" : "--in sa", hu_format_of(r->sum.scale));
	if (st != HU_OK) {
		free(x);
		return st;
	}
	for (size_t i = 0; i < rows * k; i++)
		x[i] = (float)hu_op_codes_element(r, a, transposed ? i % k * rows + i / k : i, hu_format_of(s->f));
	st = scales ? HU_OK : hu_tc_quantise(r->sum, s->f, x, rows, k, s->element, s->scale, &s->whole);
	for (size_t i = 0; scales && i < rows * k; i++)
		s->element[i] = hu_round(x[i], hu_format_of(s->f), HU_RNE, HU_SATURATE, 0);
	for (size_t i = 0; scales && i < rows * groups; i++)
		s->scale[i] = hu_round(fabs(hu_op_codes_element(r, scales, i, hu_format_of(r->sum.scale))),
			hu_format_of(r->sum.scale), HU_RNE, HU_SATURATE, 0);
	for (size_t i = 0; st == HU_OK && i < rows * k; i++)
		s->value[i] = s->element[i] *
			      s->scale[i / k * groups + i % k / group]; /* exact: at most 8 significant bits */
	free(x);
	return st;
}

static void
side_release(side *s)
{
	free(s->element);
	free(s->scale);
	free(s->value);
}

/* Returns the error bound of the unit's sum. The exponent of every product with its scales is at most that of the
   largest one, plus one, since a product of significands is below 4. */
static double
bound_of(const hu_op_run *r, const double *x, const double *y, size_t k, double c)
{
	double mag = fabs(c);
	int most = HU_TC_TINY;

	for (size_t i = 0; i < k; i++) {
		double p = fabs(x[i] * y[i]);
		mag += p;
		if (p > 0 && isfinite(p) && ilogb(p) > most)
			most = ilogb(p);
	}
	if (!isfinite(mag))
		return INFINITY;
	/* the unit counts a subnormal element or scale with the least exponent of its format, which exceeds its own by
	   at most p - 1 */
	int slack = 2 * (hu_format_of(r->sum.in).p + hu_format_of(r->sum.scale).p);
	return hu_sum_tc_bound(r->sum, k, 0, most + slack, mag * (1 + ((double)k + 2) * 0x1p-52));
}

/* Computes output i from row ra of one side and row rb of the other. alpha is the product of both whole-array scales in
   fp32. */
static void
one(hu_op_run *r, size_t i, const side *a, size_t ra, const side *b, size_t rb, double c, float alpha, int judged)
{
	size_t k = a->k;
	double v = hu_tc_scaled(a->element + ra * k, a->scale + ra * a->groups, b->element + rb * k,
		b->scale + rb * b->groups, k, c, r->sum, NULL);

	if (alpha != 1)
		v = hu_isnan(v) ? v : (double)((float)v * alpha);
	r->value[i] = hu_isnan(v) ? v : hu_round(v, r->out, r->call.mode, 0, 0);
	if (!judged)
		return;
	double *x = hu_xmalloc(2 * (k + 1) * sizeof *x), *y = x + k + 1;
	x[0] = c;
	y[0] = 1;
	for (size_t j = 0; j < k; j++) {
		x[j + 1] = a->value[ra * k + j];
		y[j + 1] = b->value[rb * k + j];
	}
	mpfr_init2(r->exact[i], 600);
	hu_exact_dot(r->exact[i], x, y, k + 1);
	double e = bound_of(r, x + 1, y + 1, k, c), top;
	if (alpha != 1) {
		mpfr_mul_d(r->exact[i], r->exact[i], alpha, MPFR_RNDN);
		e *= alpha;
		top = fabs(mpfr_get_d(r->exact[i], MPFR_RNDA)) + e;
		e += 0x1p-24 * top + 0x1p-149;
	}
	if (r->out.id != HU_FP32 && r->out.id != HU_FP64) {
		top = fabs(mpfr_get_d(r->exact[i], MPFR_RNDA)) + e;
		e = top <= r->out.max
			    ? e + (hu_mode_nearest(r->call.mode) ? 1 : 2) * hu_unit(r->out) * top + hu_smallest(r->out)
			    : INFINITY;
	}
	r->bound[i] = e * (1 + 0x1p-40);
	free(x);
}

static hu_status
shapes(const hu_op_run *r, size_t *m, size_t *n, size_t *k)
{
	const hu_npy *a = &r->file[0], *b = &r->file[1];
	int ta = !r->dot && hu_attr_num(&r->call, "ta", 0) != 0, tb = !r->dot && hu_attr_num(&r->call, "tb", 0) != 0;

	if (r->nin < 2 || r->nin > (r->dot ? 3 : 2))
		return hu_fail(
			HU_EINVAL, "block-scaled operands: a and b%s", r->dot ? ", and c where it is given" : "");
	if (a->rank != 2 || b->rank != 2 || !a->count || !b->count)
		return hu_fail(HU_EFILE, "block-scaled operands: a and b must be matrices, not of rank %d and %d",
			a->rank, b->rank);
	*m = a->shape[ta];
	*k = a->shape[!ta];
	*n = r->dot ? b->shape[0] : b->shape[!tb];
	size_t kb = r->dot ? b->shape[1] : b->shape[tb];
	if (*k != kb || (r->dot && *m != *n))
		return hu_fail(HU_EFILE,
			"block-scaled operands: a is %zu x %zu, b %zu x %zu: the inner dimensions differ", a->shape[0],
			a->shape[1], b->shape[0], b->shape[1]);
	if (r->nin == 3 && r->file[2].count != *m)
		return hu_fail(HU_EFILE, "dot: c has %zu elements where a and b have %zu rows", r->file[2].count, *m);
	return HU_OK;
}

static hu_status
room(hu_op_run *r, int judged)
{
	r->value = hu_alloc((r->n + 1) * sizeof *r->value);
	if (judged) {
		r->bound = hu_alloc((r->n + 1) * sizeof *r->bound);
		r->exact = hu_alloc((r->n + 1) * sizeof *r->exact);
	}
	if (r->value && (!judged || (r->bound && r->exact)))
		return HU_OK;
	free(r->exact);
	r->exact = NULL;
	return hu_fail(HU_ENOMEM, "op: no memory for %zu results", r->n);
}

hu_status
hu_op_run_scaled(hu_op_run *r, int judged, const hu_npy *sa, const hu_npy *sb)
{
	side a = { .rows = 0 }, b = { .rows = 0 };
	size_t m = 0, n = 0, k = 0;

	if (!r->dot && r->call.op->role != HU_ROLE_PRODUCT)
		return hu_fail(HU_EINVAL, "block-scaled operands are of dot and matmul, not %s", r->call.op->name);
	HU_TRY(shapes(r, &m, &n, &k));
	if (!r->dot) {
		HU_TRY(hu_sum_resolve(&r->sum, r->in[0], r->in[1], HU_FP32));
		/* the format of the elements cannot hold sums, so they are fp32 unless out= says otherwise */
		r->out = hu_format_of(r->call.fmt.out == r->in[0] ? HU_FP32 : r->call.fmt.out);
	}
	r->roundings.none = "tensor cores chop, so that errors have a sign of their own";
	r->n = r->dot ? m : m * n;
	r->shape = r->dot ? hu_shape1(m) : hu_shape2(m, n);
	if (r->nin == 3)
		HU_TRY(hu_op_codes_fit(r, &r->file[2], "operand c", hu_format_of(HU_FP32)));
	hu_status st = side_init(&a, r, 0, sa, m, k, !r->dot && hu_attr_num(&r->call, "ta", 0) != 0);
	if (st == HU_OK)
		st = side_init(&b, r, 1, sb, n, k, !r->dot && hu_attr_num(&r->call, "tb", 0) == 0);
	if (st == HU_OK)
		st = room(r, judged);
	float alpha = (float)(a.whole * b.whole);
#pragma omp parallel for schedule(dynamic, 16)
	for (size_t i = 0; i < (st == HU_OK ? r->n : 0); i++) {
		double c = r->nin == 3 ? hu_round(hu_op_codes_element(r, &r->file[2], i, hu_format_of(HU_FP32)),
						 hu_format_of(HU_FP32), HU_RNE, 0, 0)
				       : 0;
		one(r, i, &a, r->dot ? i : i / n, &b, r->dot ? i : i % n, c, alpha, judged);
	}
	side_release(&a);
	side_release(&b);
	return st;
}
