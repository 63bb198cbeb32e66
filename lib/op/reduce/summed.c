/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/reduce/summed.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/attr.h"
#include "lib/op/contract/contract.h"
#include "lib/op/performed.h"
#include "lib/op/reduce/stats.h"
#include "lib/sum/bound.h"
#include "lib/sum/table/model.h"
#include "lib/sum/prefixes.h"

#include <stdlib.h>

const hu_sum *
hu_summed_by(const hu_call *c)
{
	return hu_attr_num(c, "summed", 0) != 0 ? &c->sum : NULL;
}

const hu_sum *
hu_summed_or_product(const hu_call *c)
{
	return hu_op_takes_sum(c->op) || hu_attr_num(c, "block", 0) > 0 ? &c->sum : hu_summed_by(c);
}

int
hu_summed_takes(const hu_op *op)
{
	const hu_stats_own *s = op->stats;

	for (int i = 0; s && i < HU_STATS_RULES && s->rule[i].kind != HU_STAT_END; i++)
		if (s->rule[i].kind == HU_STAT_SUM || s->rule[i].kind == HU_STAT_INPUTS)
			return 1;
	return op->adds || op->reduce != NULL || op->norm != NULL;
}

hu_status
hu_summed_set(hu_call *c, hu_sum sum)
{
	if (!hu_summed_takes(c->op))
		return hu_fail(HU_EINVAL, "operator %s adds nothing that a summation model could order", c->op->name);
	if (hu_sum_is_unit(sum.id))
		return hu_fail(HU_EINVAL,
			"operator %s adds terms, and %s products: name another summation model, such as "
			"sequential,acc=fp16",
			c->op->name,
			hu_sum_takes_of(sum.id) == HU_TAKES_ARCH ? "tensor cores add" : "units multiply and add");
	if (hu_mode_draws(sum.mode))
		return hu_fail(HU_EINVAL,
			"operator %s: mode=%s draws random bits, which the sums of products and all-reduces alone have",
			c->op->name, hu_mode_name(sum.mode));
	c->sum = sum;
	c->fmt.acc = sum.acc;
	hu_attr_set(c, "summed", 1);
	return HU_OK;
}

/* Returns the model's sum of the n terms, rounded to the compute format f. */
static double
added(hu_sum s, hu_format f, const double *x, const double *one, size_t n, hu_sum_count *count)
{
	double v = hu_model_run(x, one, n, s, NULL, count);

	return hu_contract_holds(f, hu_part_format(s)) ? v : hu_rne(f, v);
}

static double *
ones(size_t n)
{
	double *one = hu_xmalloc((n + 1) * sizeof *one);

	for (size_t i = 0; i < n; i++)
		one[i] = 1;
	return one;
}

/* Computes results 0 … nout-1 of n elements from `first` on; to[k] has room for n. */
static void
terms(const hu_map *m, size_t first, size_t n, int nout, double *const *to)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);
	float y[HU_MAP_OUT][HU_MAP_BLOCK], *as[HU_MAP_OUT] = { y[0], y[1], y[2], y[3] };

	for (size_t i = 0; i < n; i += HU_MAP_BLOCK) {
		size_t some = n - i < HU_MAP_BLOCK ? n - i : HU_MAP_BLOCK;
		double *at[HU_MAP_OUT] = { NULL };
		for (int k = 0; k < nout; k++)
			at[k] = to[k] + i;
		if (m->compute != HU_FP32) {
			hu_map_block_f64(m, &wide, first + i, some, at);
			continue;
		}
		hu_map_block_f32(m, &narrow, first + i, some, as);
		for (int k = 0; k < nout; k++)
			for (size_t j = 0; j < some; j++)
				at[k][j] = (double)y[k][j];
	}
}

/* 1 where the model adds terms, floats or doubles, to one float after another, each sum rounded once to nearest: a term
   times 1 is itself, and sequential rounds it first. */
static int
adds_to_floats(const hu_map *m, hu_sum s)
{
	int takes = m->compute == HU_FP32 ? s.id == HU_SUM_FMA || s.id == HU_SUM_SEQUENTIAL
					  : m->compute == HU_FP64 && s.id == HU_SUM_FMA;

	return takes && s.acc == HU_FP32 && s.mode == HU_RNE && hu_part_format(s).id == HU_FP32;
}

static void
add_floats(float *acc, const float *x, size_t n)
{
	HU_SIMD
	for (size_t i = 0; i < n; i++)
		acc[i] += x[i];
}

static void
add_doubles(float *acc, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		acc[i] = (float)hu_add_odd((double)acc[i], x[i]);
}

/* hu_summed_columns where that is so: all columns at once. */
static void
columns_of_floats(const hu_map *m, size_t first, size_t rows, size_t at, hu_stat *sum, int nout)
{
	hu_ctx_f32 narrow = hu_map_context_f32(m);
	hu_ctx_f64 wide = hu_map_context_f64(m);
	size_t C = m->channels, n = rows * C;
	float *acc = hu_xcalloc((size_t)nout * C + 1, sizeof *acc), y[HU_MAP_OUT][HU_MAP_BLOCK];
	double z[HU_MAP_OUT][HU_MAP_BLOCK];

	for (size_t i = 0; i < n; i += HU_MAP_BLOCK) {
		size_t some = n - i < HU_MAP_BLOCK ? n - i : HU_MAP_BLOCK;
		if (m->compute == HU_FP32)
			hu_map_block_f32(m, &narrow, first * C + i, some, (float *[]){ y[0], y[1], y[2], y[3] });
		else
			hu_map_block_f64(m, &wide, first * C + i, some, (double *[]){ z[0], z[1], z[2], z[3] });
		for (int k = 0; k < nout; k++)
			for (size_t e = 0, j = i % C, left; e < some; e += left, j = 0) {
				left = some - e < C - j ? some - e : C - j;
				float *to = acc + (size_t)k * C + j;
				if (m->compute == HU_FP32)
					add_floats(to, y[k] + e, left);
				else
					add_doubles(to, z[k] + e, left);
			}
	}
	for (int k = 0; k < nout; k++)
		for (size_t j = 0; j < C; j++) {
			float v = acc[(size_t)k * C + j];
			hu_put(&sum[k].t, at + j, v == v ? (double)v : hu_nan());
		}
	free(acc);
}

void
hu_summed_columns(const hu_map *m, size_t first, size_t rows, size_t at, hu_stat *sum, int nout)
{
	hu_format f = hu_format_of(m->compute);
	hu_sum s = *hu_summed_by(m->call);
	size_t C = m->channels, n = rows * C;
	if (adds_to_floats(m, s)) {
		columns_of_floats(m, first, rows, at, sum, nout);
		hu_performed_operations((size_t)nout * n);
		return;
	}
	double *all = hu_xmalloc(((size_t)nout * n + 1) * sizeof *all), *one = ones(rows), *to[HU_MAP_OUT] = { NULL };

	for (int k = 0; k < nout; k++)
		to[k] = all + (size_t)k * n;
	terms(m, first * C, n, nout, to);
	hu_performed_operations((size_t)nout * n);
#pragma omp parallel num_threads(hu_threads()) if (n > 16384 && C > 1)
	{
		double *x = hu_xmalloc((rows + 1) * sizeof *x);
#pragma omp for schedule(static)
		for (size_t j = 0; j < C; j++)
			for (int k = 0; k < nout; k++) {
				for (size_t r = 0; r < rows; r++)
					x[r] = to[k][r * C + j];
				hu_put(&sum[k].t, at + j, added(s, f, x, one, rows, NULL));
			}
		free(x);
	}
	free(one);
	free(all);
}

void
hu_summed_rows(const hu_map *m, hu_stat *sum, int nout)
{
	hu_format f = hu_format_of(m->compute);
	hu_sum s = *hu_summed_by(m->call);
	size_t C = m->channels, rows = m->n / C;
	double *one = ones(C);

#pragma omp parallel num_threads(hu_threads()) if (m->n > 16384)
	{
		double *all = hu_xmalloc(((size_t)nout * C + 1) * sizeof *all), *to[HU_MAP_OUT] = { NULL };
		for (int k = 0; k < nout; k++)
			to[k] = all + (size_t)k * C;
#pragma omp for schedule(static)
		for (size_t r = 0; r < rows; r++) {
			terms(m, r * C, C, nout, to);
			hu_performed_operations((size_t)nout * C);
			for (int k = 0; k < nout; k++)
				hu_put(&sum[k].t, r, added(s, f, to[k], one, C, NULL));
		}
		free(all);
	}
	free(one);
}

void
hu_summed_prefixes(double *y, const double *x, size_t n, hu_sum s, hu_format f)
{
	int held = hu_contract_holds(f, hu_part_format(s));
	double *one = ones(n);

	hu_sum_prefixes(y, x, one, n, s);
	for (size_t k = 0; k < n && !held; k++)
		y[k] = hu_rne(f, y[k]);
	free(one);
}

double
hu_summed_error(hu_sum s, hu_format f, double all, double e, size_t n)
{
	hu_sum_bound b = hu_sum_apriori(s, n, 0);
	double up = 1 + ((double)n + 8) * 0x1p-52, m = all * up; /* all and e were added in double */

	if (!n)
		return 0;
	if (!(b.peak * m + b.absolute <= b.limit))
		return hu_inf(0);
	e = e * up + b.relative * m + b.absolute;
	if (!hu_contract_holds(f, hu_part_format(s))) {
		if (!(m + e <= f.max))
			return hu_inf(0);
		e += hu_unit(f) * (m + e) + hu_smallest(f);
	}
	return !(e >= 0) ? hu_inf(0) : e == 0 ? 0 : hu_up(e * (1 + 0x1p-48));
}

hu_roundings
hu_summed_roundings(hu_sum s, hu_format f, size_t n)
{
	hu_roundings r = hu_roundings_of_sum(s, n, 0);

	if (!hu_contract_holds(f, hu_part_format(s))) {
		hu_roundings_add(&r, f, HU_RNE, 0, 1);
		r.absolute += hu_smallest(f);
	}
	return r;
}

void
hu_summed_swamping(hu_sum s, const double *x, size_t n, hu_swamp *count)
{
	hu_sum_count k = { 0, 0, 0, 0, 0 };
	double *one = ones(n);

	hu_model_run(x, one, n, s, NULL, &k);
	count->additions += k.additions;
	count->swamped += k.swamped;
	count->outputs++;
	count->stagnated += k.run >= HU_STAGNANT_RUN;
	free(one);
}
