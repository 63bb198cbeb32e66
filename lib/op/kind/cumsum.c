/* SPDX-License-Identifier: Apache-2.0
   cumsum: y[i] = x[0] + … + x[i] along an axis, by default the last: one addition after another in the compute
   format, or by the call's summation model (lib/sum/prefixes.h). exclusive=1 leaves x[i] out; reverse=1 begins
   at the axis' end. Its gradient is the sum from the other end. */
#include "lib/op/axis/axes.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/contract/contract.h"
#include "lib/op/performed.h"
#include "lib/op/reduce/summed.h"
#include "lib/op/sum_call.h"
#include "lib/sum/bound.h"
#include "lib/sum/prefixes.h"
#include "lib/sum/table/model.h"

#include <stdlib.h>

/* One line of the axis: term k is element first + k * stride; a stride below 0 runs backwards. */
typedef struct line { size_t n, first; ptrdiff_t stride; } line;

static line
line_of(const hu_call *c, const hu_groups *g, size_t k)
{
	size_t first, stride, n = hu_groups_size(g);

	hu_groups_place(g, k, &first, &stride);
	if (hu_attr_num(c, "reverse", 0) != 0)
		return (line){ n, first + (n - 1) * stride, -(ptrdiff_t)stride };
	return (line){ n, first, (ptrdiff_t)stride };
}

static size_t
term(const line *l, size_t k)
{
	return (size_t)((ptrdiff_t)l->first + (ptrdiff_t)k * l->stride);
}

/* The model that adds: the call's, or one addition after another in the compute format. */
static hu_sum
model(const hu_call *c)
{
	hu_sum s = hu_sum_default();

	if (hu_summed_by(c))
		return *hu_summed_by(c);
	s.id = HU_SUM_SEQUENTIAL;
	s.acc = c->fmt.compute;
	return s;
}

/* x: the line's first n terms, rounded to f. y: their sums. */
static void
prefixes(hu_sum s, hu_format f, const hu_tensor *in, const line *l, size_t n, double *x, double *y)
{
	for (size_t k = 0; k < n; k++)
		x[k] = hu_rne(f, hu_get(in, term(l, k)));
	hu_summed_prefixes(y, x, n, s, f);
}

static hu_status
emulate(const hu_call *c, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_format f = hu_format_of(c->fmt.compute);
	hu_groups g = hu_axis_groups(c, in);
	size_t n = hu_groups_size(&g), skip = hu_attr_num(c, "exclusive", 0) != 0;
	hu_sum s = model(c);

#pragma omp parallel num_threads(hu_threads()) if (in[0]->n > 16384)
	{
		double *x = hu_xmalloc((2 * n + 1) * sizeof *x), *y = x + n;
#pragma omp for schedule(static)
		for (size_t k = 0; k < hu_groups_count(&g); k++) {
			line l = line_of(c, &g, k);
			prefixes(s, f, in[0], &l, n, x, y);
			for (size_t i = 0; i < n; i++)
				hu_store(c, env, out[0], term(&l, i), i < skip ? 0 : y[i - skip]);
		}
		free(x);
	}
	hu_performed_operations(in[0]->n);
	return HU_OK;
}

/* Element number i of a list, which is the sum of the first n terms of a line. */
typedef struct spot { size_t line, n, i; } spot;

static int
by_line(const void *a, const void *b)
{
	const spot *x = a, *y = b;

	return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : (x->n > y->n) - (x->n < y->n);
}

/* The listed elements, or the first n, in the order in which their lines are added. */
static spot *
spots(const hu_call *c, const hu_groups *g, const size_t *element, size_t n)
{
	size_t size = hu_groups_size(g), skip = hu_attr_num(c, "exclusive", 0) != 0, at;
	int back = hu_attr_num(c, "reverse", 0) != 0;
	spot *s = hu_xmalloc((n + 1) * sizeof *s);

	for (size_t i = 0; i < n; i++) {
		hu_axes_find(g, element ? element[i] : i, &s[i].line, &at);
		s[i].n = (back ? size - at : at + 1) - skip;
		s[i].i = i;
	}
	qsort(s, n, sizeof *s, by_line);
	return s;
}

static hu_status
reference(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_groups g = hu_axis_groups(c, in);
	spot *s = spots(c, &g, element, n);
	mpfr_t sum;

	(void)out;
	mpfr_init2(sum, hu_sum_bits(in[0]));
	for (size_t i = 0, k = 0; i < n; i++) {
		line l = line_of(c, &g, s[i].line);
		if (!i || s[i].line != s[i - 1].line) {
			mpfr_set_zero(sum, 1);
			k = 0;
		}
		for (; k < s[i].n; k++)
			hu_map_exact_add(sum, in[0], term(&l, k));
		mpfr_set_prec(exact[s[i].i], mpfr_get_prec(sum));
		mpfr_set(exact[s[i].i], sum, MPFR_RNDN);
	}
	mpfr_clear(sum);
	free(s);
	return HU_OK;
}

static hu_status
enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink)
{
	hu_groups g = hu_axis_groups(c, in);
	spot *s = spots(c, &g, element, n);
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v), sum = hu_dd_of(0);

	for (size_t i = 0, k = 0; i < n; i++) {
		line l = line_of(c, &g, s[i].line);
		if (!i || s[i].line != s[i - 1].line) {
			sum = hu_dd_of(0);
			k = 0;
		}
		for (; k < s[i].n; k++)
			sum = hu_dd_add(sum, hu_operand_dd(sink, in, 0, term(&l, k)));
		v[s[i].i] = sum;
	}
	hu_status st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	free(s);
	return st;
}

static hu_status
magnitude(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *all)
{
	hu_groups g = hu_axis_groups(c, in);
	spot *s = spots(c, &g, element, n);
	double sum = 0;

	(void)out;
	for (size_t i = 0, k = 0; i < n; i++) {
		line l = line_of(c, &g, s[i].line);
		if (!i || s[i].line != s[i - 1].line) {
			sum = 0;
			k = 0;
		}
		for (; k < s[i].n; k++)
			sum += hu_abs(hu_get(in[0], term(&l, k)));
		all[s[i].i] = sum * (1 + (double)s[i].n * 0x1p-52);
	}
	free(s);
	return HU_OK;
}

/* Of sums of the loaded terms so far: of their magnitudes, of what loading lost, and of the distances of each sum from
   the one before it and its term, which bound the last sum's error in whatever order it was added. */
typedef struct tally { double all, loaded, walked; } tally;

static void
count_term(tally *t, double y0, double x, double y, double loaded)
{
	double s = y0 + x, b = s - y0, lost = (y0 - (s - b)) + (x - b); /* exact (Knuth) */

	t->all += hu_abs(x);
	t->loaded += loaded;
	t->walked += (hu_abs(y - s) + hu_abs(lost)) * (1 + 0x1p-50);
}

/* Bounds the error of the sum y of n terms, in f, before it is stored. */
static double
error_of(const hu_call *c, hu_sum s, hu_format f, const tally *t, double y, size_t n)
{
	double up = 1 + ((double)n + 8) * 0x1p-52, walked = (t->walked + t->loaded) * up;

	if (hu_attr_library(c) > 0 && !hu_summed_by(c))
		return hu_reduce_tree_error(f, y, t->all * up, t->loaded, n);
	double e = hu_summed_error(s, f, t->all, t->loaded, n);
	return hu_attr_library(c) > 0 || !(walked < e) || !hu_isfinite(y) ? e : walked == 0 ? 0 : hu_up(walked);
}

static hu_status
bound(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, double *to)
{
	hu_format f = hu_attr_bounded(c);
	hu_groups g = hu_axis_groups(c, in);
	spot *s = spots(c, &g, element, n);
	size_t size = hu_groups_size(&g);
	double *x = hu_xmalloc((2 * size + 1) * sizeof *x), *y = x + size;
	hu_sum by = model(c);

	for (size_t i = 0, next; i < n; i = next) {
		line l = line_of(c, &g, s[i].line);
		tally t = { 0, 0, 0 };
		size_t k = 0;
		for (next = i; next < n && s[next].line == s[i].line;)
			next++;
		prefixes(by, f, in[0], &l, s[next - 1].n, x, y);
		for (size_t j = i; j < next; j++) {
			for (; k < s[j].n; k++)
				count_term(&t, k ? y[k - 1] : 0, x[k], y[k],
					hu_bounded_load(f, hu_get(in[0], term(&l, k)), 0).e);
			double v = k ? y[k - 1] : 0;
			to[s[j].i] = hu_bound_of(c, hu_output_format(c, in, out),
				(hu_bounded){ v, k ? error_of(c, by, f, &t, v, k) : 0 });
		}
	}
	free(x);
	free(s);
	return HU_OK;
}

static double
unit_bound(const hu_call *c, const hu_shape *in)
{
	hu_reduce_dims d = { 1, 1, 1 };

	return hu_axis_of(c, in[0], &d) == HU_OK ? hu_sum_apriori(model(c), d.middle, 0).relative : 0;
}

static hu_roundings
roundings(const hu_call *c, hu_tensor *const *in, int out)
{
	hu_groups g = hu_axis_groups(c, in);
	hu_format f = hu_format_of(c->fmt.compute), y = hu_format_of(hu_output_format(c, in, out));
	hu_roundings r = hu_summed_roundings(model(c), f, hu_groups_size(&g));

	if (!hu_contract_holds(f, hu_format_of(in[0]->format)))
		hu_roundings_add(&r, f, HU_RNE, 0, 1);
	if (!hu_contract_holds(y, f)) {
		r.last = (hu_mode_nearest(c->mode) ? 1 : 2) * hu_unit(y);
		r.least = hu_smallest(y);
	}
	return r;
}

/* Of a chain each element is one addition more; by any other model each is a sum of its own. */
static hu_status
swamping(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, const hu_env *env,
	hu_swamp *count)
{
	static const double one[2] = { 1, 1 };
	hu_groups g = hu_axis_groups(c, in);
	spot *s = spots(c, &g, element, n);
	size_t size = hu_groups_size(&g);
	double *x = hu_xmalloc((2 * size + 1) * sizeof *x), *y = x + size;
	hu_sum by = model(c);
	uint64_t run = 0;

	(void)out;
	(void)env;
	for (size_t i = 0, k = 0; i < n; i++) {
		if (!i || s[i].line != s[i - 1].line) {
			line l = line_of(c, &g, s[i].line);
			prefixes(by, hu_format_of(c->fmt.compute), in[0], &l, size, x, y);
			run = k = 0;
		}
		if (!hu_prefixes_chain(by)) {
			hu_summed_swamping(by, x, s[i].n, count);
			continue;
		}
		hu_sum_count last = { 0, 0, 0, 0, 0 };
		for (; k < s[i].n; k++) {
			last = (hu_sum_count){ 0, 0, 0, 0, 0 };
			hu_model_run((double[]){ k ? y[k - 1] : 0, x[k] }, one, 2, by, NULL, &last);
			run = last.swamped ? run + 1 : x[k] != 0 ? 0 : run;
		}
		count->additions += last.additions;
		count->swamped += last.swamped;
		count->outputs++;
		count->stagnated += run >= HU_STAGNANT_RUN;
	}
	free(x);
	free(s);
	return HU_OK;
}

/* A line is added as a whole: rows of the last axis, columns of the first, images of one between. */
static size_t
grain(const hu_call *c, const hu_shape *in, size_t *row)
{
	hu_reduce_dims d = { 1, 1, 1 };

	HU_ASSERT(hu_axis_of(c, in[0], &d) == HU_OK);
	if (d.outer == 1)
		*row = d.inner;
	return d.outer == 1 ? 1 : d.middle * d.inner;
}

static void
cost(const hu_call *c, const hu_shape *in, const hu_shape *out, hu_cost *k)
{
	(void)c;
	(void)out;
	k->flops = (double)hu_count(in[0]);
}

/* The last sums of columns of n terms. */
static void
sum_call(size_t n, hu_sum_call *s)
{
	*s = (hu_sum_call){ .n = n, .nin = 1, .by_model = 1, .in = { hu_shape2(n, HU_SUM_COLUMNS) },
		.out = hu_shape2(n, HU_SUM_COLUMNS), .attr = { { "axis", 0 } }, .copies = { HU_SUM_COLUMNS },
		.at = (n - 1) * HU_SUM_COLUMNS, .equal = HU_SUM_COLUMNS, .place = hu_sum_call_place };
}

static const hu_grad grad[] = {
	{ "cumsum", "d0", "i0", "reverse=1", "reverse=0" },
	{ "cumsum", "d0", "i0", "reverse=0", "reverse=1" },
	{ NULL, NULL, NULL, NULL, NULL },
};

const hu_op hu_op_cumsum = {
	.name = "cumsum", .summary = "sums of the elements up to each one along an axis", .min_in = 1, .max_in = 1,
	.nout = 1, .attrs = "axis exclusive reverse", .cls = HU_CLASS_POINTWISE, .parity = HU_PARITY_NONE,
	.float32 = HU_FLOAT32_AUTOCAST | HU_FLOAT32_APEX, .adds = 1,
	.own = {
		.shape = hu_axis_shape, .cost = cost, .emulate = emulate, .reference = reference, .enclose = enclose,
		.grain = grain, .bound = bound, .unit_bound = unit_bound, .magnitude = magnitude,
		.roundings = roundings, .swamping = swamping, .sum_call = sum_call,
	},
	.grad = grad,
};
