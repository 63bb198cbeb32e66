/* SPDX-License-Identifier: Apache-2.0
   The judges of products: exact value, a-priori bound, magnitude, swamping, cost. Bounds are
   those of doc/formats.md: Jeannerod and Rump 2013 for recurrent and fma sums, the models' own
   for the rest, plus what subnormal products may lose, the tree over parts, and the output's
   rounding. */
#include "lib/op/contract.h"

#include "lib/base/mem.h"
#include "lib/exact/dot.h"
#include "lib/sum/model.h"
#include "lib/sum/tree.h"

#include <stdlib.h>

hu_status
hu_contract_reference(hu_contract_map *map, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, mpfr_t *exact)
{
	hu_contract x;

	hu_contract_open(&x, map, c, in);
#pragma omp parallel
	{
		double *a = hu_xmalloc(2 * x.k * sizeof *a);
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < n; i++) {
			hu_contract_gather(&x, element[i] / x.n, element[i] % x.n, a, a + x.k);
			hu_exact_dot(exact[i], a, a + x.k, x.k);
			if (x.scale != 1)
				mpfr_div_d(exact[i], exact[i], x.scale, MPFR_RNDN); /* a power of two: exact */
		}
		free(a);
		mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
	}
	return HU_OK;
}

/* Σ|ab|, never too small: each of K+1 double operations may lose 2^-53 of it. */
static double
magnitude_of(const double *a, const double *b, size_t k)
{
	double s = 0;

	for (size_t i = 0; i < k; i++)
		s += (a[i] < 0 ? -a[i] : a[i]) * (b[i] < 0 ? -b[i] : b[i]);
	return s * (1 + ((double)k + 2) * 0x1p-52) + (s > 0 ? (double)k * 0x1p-1074 : 0);
}

/* Additions that one term of a part may pass through in the model, as multiples of u. */
static double
steps(hu_sum s, double k)
{
	double depth = 0, n = s.n;

	switch (s.id) {
	case HU_SUM_FMA: return k;
	case HU_SUM_SEQUENTIAL: return k + 1;
	case HU_SUM_CHUNK: return (n < k ? n : k) + k / n + 2;
	case HU_SUM_PAIRWISE:
		for (double m = 1; m < k; m *= 2)
			depth++;
		return 2 * depth + 2; /* the binary counter's last fold may add its depth once more */
	case HU_SUM_KAHAN: return 4; /* (1 + 2u) for the sum, u for a product, second-order terms below */
	default: return k;
	}
}

static double
unit(hu_sum s)
{
	return (s.mode == HU_RNE || s.mode == HU_RNA ? 1 : 2) * hu_unit(hu_format_of(s.acc));
}

double
hu_contract_coefficient(hu_sum s, size_t k, size_t part)
{
	double u = unit(s), len = (double)(part && part < k ? part : k), n = steps(s, len), c;
	size_t parts = part && part < k ? (k + part - 1) / part : 1;

	if (s.id == HU_SUM_KAHAN)
		c = n * u + 8 * len * u * u;
	else if (s.mode == HU_RNE && (s.id == HU_SUM_FMA || s.id == HU_SUM_SEQUENTIAL))
		c = n * u; /* for any n */
	else
		c = pow(1 + u, n) - 1;
	if (parts > 1) {
		double v = unit((hu_sum){ .id = s.id, .acc = s.outer == HU_NO_FORMAT ? s.acc : s.outer, .mode = s.mode });
		c += (1 + c) * (pow(1 + v, (double)hu_tree_depth(parts)) - 1);
	}
	return c * (1 + 0x1p-40);
}

/* |Σ ab|, never too small: the double sum and what it may be off. */
static double
value_of(const double *a, const double *b, size_t k, double mag)
{
	double s = 0;

	for (size_t i = 0; i < k; i++)
		s += a[i] * b[i];
	return (s < 0 ? -s : s) + mag * ((double)k + 2) * 0x1p-52;
}

/* Bound of one output: MAG >= Σ|ab|, VALUE >= |Σ ab|, both before the scale is divided out. */
static double
bound_of(const hu_contract *x, const hu_call *c, double mag, double value)
{
	size_t part = (size_t)hu_attr_num(c, "part", 0);
	hu_format acc = hu_format_of(c->sum.acc), out = hu_format_of(c->fmt.out);
	double coefficient = hu_contract_coefficient(c->sum, x->k, part);
	double eta = hu_smallest(acc) * (c->sum.mode == HU_RNE ? 0.5 : 1);
	double operations = (double)x->k * (c->sum.id == HU_SUM_KAHAN ? 5 : 2);
	double e = coefficient * mag + operations * eta * (1 + coefficient);
	double most = (value + e) / x->scale;
	double last = c->mode == HU_RNE ? 1 : 2;

	if (!(mag * (1 + coefficient) + e <= acc.max))
		return INFINITY;
	e /= x->scale;
	if (c->fmt.out != c->sum.acc || x->scale != 1) {
		if (!(most * (1 + hu_unit(out)) <= out.max) && !(c->flags & HU_SATURATE))
			return INFINITY;
		e += last * (hu_unit(out) * most + hu_smallest(out) / 2);
		if (most > out.max)
			e += most - out.max;
	}
	return e * (1 + 0x1p-40);
}

typedef enum { BOUND, MAGNITUDE } what;

static hu_status
judge(hu_contract_map *map, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, double *out, what w)
{
	hu_contract x;

	hu_contract_open(&x, map, c, in);
#pragma omp parallel
	{
		double *a = hu_xmalloc(2 * x.k * sizeof *a);
#pragma omp for schedule(dynamic, 64)
		for (size_t i = 0; i < n; i++) {
			hu_contract_gather(&x, element[i] / x.n, element[i] % x.n, a, a + x.k);
			double mag = magnitude_of(a, a + x.k, x.k);
			out[i] = w == BOUND ? bound_of(&x, c, mag, value_of(a, a + x.k, x.k, mag)) : mag / x.scale;
		}
		free(a);
	}
	return HU_OK;
}

hu_status
hu_contract_bound(hu_contract_map *map, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, double *bound)
{
	return judge(map, c, in, element, n, bound, BOUND);
}

hu_status
hu_contract_magnitude(hu_contract_map *map, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, double *magnitude)
{
	return judge(map, c, in, element, n, magnitude, MAGNITUDE);
}

hu_status
hu_contract_swamping(hu_contract_map *map, const hu_call *c, hu_tensor *const *in, const size_t *element, size_t n, const hu_env *env, hu_swamp *count)
{
	hu_contract x;
	uint64_t additions = 0, swamped = 0, stagnated = 0;
	size_t part = (size_t)hu_attr_num(c, "part", 0);

	hu_contract_open(&x, map, c, in);
	if (!part || part > x.k)
		part = x.k;
#pragma omp parallel reduction(+ : additions, swamped, stagnated)
	{
		double *a = hu_xmalloc(2 * x.k * sizeof *a);
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < n; i++) {
			hu_sum_count k = { 0, 0, 0 };
			hu_draw draw = { env->seed, hu_draw_stream(c->seed_name), env->step, element[i] * x.k };
			hu_contract_gather(&x, element[i] / x.n, element[i] % x.n, a, a + x.k);
			for (size_t p = 0; p < x.k; p += part, draw.first += part) {
				k.run = 0;
				hu_model_run(a + p, a + x.k + p, x.k - p < part ? x.k - p : part, c->sum, &draw, &k);
			}
			additions += k.additions;
			swamped += k.swamped;
			stagnated += k.run >= HU_STAGNANT_RUN;
		}
		free(a);
	}
	count->additions += additions;
	count->swamped += swamped;
	count->outputs += n;
	count->stagnated += stagnated;
	return HU_OK;
}

void
hu_contract_cost(hu_contract_map *map, const hu_call *c, const hu_shape *in, hu_cost *cost)
{
	hu_contract x = { 0 };

	map(&x, c, in);
	cost->macs = (double)x.m * (double)x.n * (double)x.k;
	cost->flops = 2 * cost->macs;
}

double
hu_contract_unit_bound(hu_contract_map *map, const hu_call *c, const hu_shape *in)
{
	hu_contract x = { 0 };

	map(&x, c, in);
	return hu_contract_coefficient(c->sum, x.k, (size_t)hu_attr_num(c, "part", 0)) + (c->fmt.out != c->sum.acc ? hu_unit(hu_format_of(c->fmt.out)) : 0);
}
