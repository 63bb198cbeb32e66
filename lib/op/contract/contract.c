/* SPDX-License-Identifier: Apache-2.0
   The emulation of products. fma and chunk to nearest even pack operands into panels and run the micro-kernels of
   lib/sum; contract_tc.c emulates tensor cores, contract_lanes.c other models to nearest even, and the plain version of
   a model does the rest. */
#include "lib/op/contract/contract.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/draw.h"
#include "lib/op/contract/pieces.h"
#include "lib/op/performed.h"
#include "lib/sum/vector/panel.h"
#include "lib/sum/table/parts.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static hu_status
plain(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env)
{
	size_t parts = (x->k + part - 1) / part, k = x->k, rows = x->m, columns = x->n;
	double *b = malloc(columns * k * sizeof *b); /* the columns of B, with k values in each row */
	int full = !b;

#pragma omp parallel
	{
		double *a = malloc(k * sizeof *a), *sums = malloc(parts * sizeof *sums),
		       *line = malloc(columns * sizeof *line);
		if (!a || !sums || !line)
#pragma omp atomic write
			full = 1;
#pragma omp barrier
#pragma omp for
		for (size_t n = 0; n < columns; n++)
			if (!full)
				hu_contract_column(x, n, b + n * k);
#pragma omp for schedule(dynamic)
		for (size_t m = 0; m < rows; m++) {
			if (full)
				continue;
			size_t at = hu_contract_at(x, m);
			hu_contract_row(x, m, a);
			hu_performed_macs(k * columns);
			for (size_t n = 0; n < columns; n++) {
				hu_draw draw = { env->seed, hu_draw_stream(c->seed_name), env->step,
					(at + n) * x->terms, c->sum.bits };
				line[n] = hu_parts_run(a, b + n * k, k, part, c->sum, &draw, sums, NULL);
			}
			hu_contract_store(c, y, at, columns, line, x->scale, env);
		}
		free(a);
		free(sums);
		free(line);
	}
	free(b);
	return full ? hu_fail(HU_ENOMEM,
		"there is no memory for a product of %zu x %zu x %zu", x->m, x->n, x->k) : HU_OK;
}

#define finish_f32 hu_contract_finish

static void
finish_f64(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t first, size_t n, double *v, const hu_env *env)
{
	hu_contract_store(c, y, first, n, v, x->scale, env);
}

#define finish_any finish_f64 /* the narrow kernel's accumulators are doubles */

static void
run_narrow(
	const hu_panel *kernel, const hu_call *c, size_t kc, const double *a, const double *b, double *to, size_t ldc)
{
	hu_narrow n;

	if (hu_narrow_of(&n, hu_format_of(c->sum.acc)))
		(c->sum.id == HU_SUM_SEQUENTIAL ? kernel->sequential : kernel->fma)(kc, a, b, to, ldc, &n);
}

#define HU_T float
#define HU_F(name) name##_f32
#define HU_NR nr32
#define HU_FLOATS 1
#define HU_RUN(kernel, c, ...) (kernel)->f32(__VA_ARGS__)
#define HU_PLUS(f, a, b) ((a) + (b))
#include "lib/op/contract/contract.inc"
#undef HU_T
#undef HU_F
#undef HU_NR
#undef HU_FLOATS
#undef HU_RUN
#undef HU_PLUS

#define HU_T double
#define HU_F(name) name##_f64
#define HU_NR nr64
#define HU_FLOATS 0
#define HU_RUN(kernel, c, ...) (kernel)->f64(__VA_ARGS__)
#define HU_PLUS(f, a, b) ((a) + (b))
#include "lib/op/contract/contract.inc"
#undef HU_F
#undef HU_RUN
#undef HU_PLUS

#define HU_F(name) name##_any
#define HU_RUN(kernel, c, ...) run_narrow(kernel, c, __VA_ARGS__)
#define HU_PLUS(f, a, b) hu_acc_add(a, b, f, HU_RNE, NULL, 0, 0)
#include "lib/op/contract/contract.inc"
#undef HU_T
#undef HU_F
#undef HU_NR
#undef HU_FLOATS
#undef HU_RUN
#undef HU_PLUS

/* Stores +0 for sums without a term, which occur if a stride exceeds its kernel and leaves pixels out. */
static hu_status
zeros(const hu_contract *x, const hu_call *c, hu_tensor *y, const hu_env *env)
{
	double *none = hu_xcalloc(x->n, sizeof *none);

	for (size_t m = 0; m < x->m; m++)
		hu_contract_store(c, y, hu_contract_at(x, m), x->n, none, x->scale, env);
	free(none);
	return HU_OK;
}

/* Emulates one product of the settled call c, in parts of part terms. */
static hu_status
emulate_product(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env)
{
	int fused = c->sum.id == HU_SUM_FMA || c->sum.id == HU_SUM_CHUNK,
	    fast = c->sum.mode == HU_RNE && (c->sum.outer == HU_NO_FORMAT || c->sum.outer == c->sum.acc);
	int wide = x->a->format == HU_FP64 || x->b->format == HU_FP64;
	hu_narrow narrow;

	if (!x->k)
		return zeros(x, c, y, env);
	part = part && part < x->k ? part : x->k;
	if (fast && fused && !wide && c->sum.acc == HU_FP32)
		return fast_f32(x, c, y, part, env);
	if (fast && fused && c->sum.acc == HU_FP64)
		return fast_f64(x, c, y, part, env);
	if (c->sum.id == HU_SUM_SEQUENTIAL && c->sum.acc == HU_FP32 && hu_contract_has_lanes(x, c))
		return hu_contract_lanes(x, c, y, part, env);
	if (fast && (fused || c->sum.id == HU_SUM_SEQUENTIAL) && hu_narrow_of(&narrow, hu_format_of(c->sum.acc)))
		return fast_any(x, c, y, part, env);
	return (hu_contract_has_tc(x, c, part) ? hu_contract_tc
		: hu_contract_has_lanes(x, c) ? hu_contract_lanes
					      : plain)(x, c, y, part, env);
}

/* Emulates product i of x. Returns 1 where there is no memory for it. */
static int
emulate_one(const hu_contract *x, size_t i, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env)
{
	hu_contract one = hu_contract_product(x, i);

	return emulate_product(&one, c, y, part, env) != HU_OK;
}

hu_status
hu_contract_emulate(const hu_call *call, hu_tensor *const *in, hu_tensor *const *out, const hu_env *env)
{
	hu_contract x;
	hu_call settled, *c = &settled;

	HU_TRY(hu_contract_settle(c, call, in));
	size_t part = hu_attr_count(c, "part", 0);

	hu_contract_open(&x, c, in);
	const hu_contract_own *own = c->op->contract;
	hu_status st;
	if (own->whole && own->whole(&x, c, part, out[0], env, &st))
		return st;
	size_t n = hu_contract_products(&x), full = 0;
	/* Many small products run one per thread. The others have threads inside, and no region around these: even one
	   of a single thread would make OpenMP start new threads for each product. */
	if (n >= 2 * (size_t)omp_get_max_threads() && (double)x.m * (double)x.n * (double)x.k < 1 << 22) {
#pragma omp parallel for schedule(dynamic) reduction(+ : full)
		for (size_t i = 0; i < n; i++)
			full += emulate_one(&x, i, c, out[0], part, env);
	} else {
		for (size_t i = 0; i < n; i++)
			full += emulate_one(&x, i, c, out[0], part, env);
	}
	return full ? hu_fail(HU_ENOMEM, "there is no memory for a product of %zu x %zu x %zu", x.m, x.n, x.k) : HU_OK;
}
