/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/bench/gemm.h"

#include "cuda/cublas/cublas.h"
#include "cuda/fuse/side.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 64, BITS = 200 };

/* Fills t with values uniform in ±1/2, so that every product counts and nothing overflows; stream 0 gives zeros. */
static hu_status
fill(hu_tensor *t, const hu_info *of, uint32_t stream)
{
	*t = (hu_tensor){ .format = of->format, .shape = of->shape, .n = hu_count(of->shape) };
	t->data = hu_alloc(t->n * hu_element_size(t->format));
	if (!t->data)
		return hu_fail(HU_ENOMEM, "no memory for a matrix of %zu x %zu", t->shape.d[0], t->shape.d[1]);
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < (stream ? t->n : 0); i++)
		hu_put(t, i,
			hu_round(hu_uniform(hu_random_at(1, stream, 0, i)) - 0.5, hu_format_of(t->format), HU_RNE, 0,
				0));
	return HU_OK;
}

/* Makes the program of so many products; the matrices are g's already. */
static void
build(hu_bench_product *g, int products)
{
	hu_format_id out = hu_format_of(g->format).bits <= 8 ? HU_BF16 : g->format;

	hu_program_free(g->p);
	g->p = hu_program_new("product");
	g->products = products;
	g->a = hu_program_tensor(g->p, "gemm.a", g->format, hu_shape2(g->m, g->k), HU_ACTIVATION);
	g->b = hu_program_tensor(g->p, "gemm.b", g->format, hu_shape2(g->k, g->n), HU_WEIGHT);
	g->one = hu_program_tensor(
		g->p, "gemm.one", HU_FP32, hu_shape2(1, 1), HU_OTHER); /* reading it waits for the device */
	for (int i = 0; i < products; i++) {
		char name[32];
		snprintf(name, sizeof name, "gemm.y%d", i);
		int y = hu_program_tensor(g->p, name, out, hu_shape2(g->m, g->n), HU_ACTIVATION);
		g->y = i ? g->y : y;
	}
	for (int i = 0; i < products; i++) {
		int y = g->y + i;
		hu_program_call(g->p, "matmul", HU_FORWARD, "gemm", (int[]){ g->a, g->b }, 2, &y, 1)->sum = g->sum;
	}
}

hu_status
hu_gemm_init(hu_bench_product *g, size_t m, size_t n, size_t k, hu_format_id format, const char *sum)
{
	memset(g, 0, sizeof *g);
	HU_TRY(hu_sum_parse(sum, &g->sum));
	g->m = m;
	g->n = n;
	g->k = k;
	g->format = format;
	build(g, 1);
	hu_status st = fill(&g->ta, &g->p->t[g->a], 1);
	if (st == HU_OK)
		st = fill(&g->tb, &g->p->t[g->b], 2);
	if (st == HU_OK)
		st = fill(&g->ty, &g->p->t[g->y], 0);
	if (st != HU_OK)
		hu_gemm_release(g);
	return st;
}

void
hu_gemm_release(hu_bench_product *g)
{
	hu_program_free(g->p);
	free(g->ta.data);
	free(g->tb.data);
	free(g->ty.data);
	memset(g, 0, sizeof *g);
}

static uint64_t
digest(const hu_tensor *t)
{
	uint64_t sum = 0;

#pragma omp parallel for reduction(+ : sum) schedule(static)
	for (size_t i = 0; i < t->n; i++)
		sum += hu_digest_term(1, i, hu_encode(hu_get(t, i), hu_format_of(t->format)));
	return sum;
}

/* Chooses the outputs that are checked: the first, the last and others between them, ascending, at most SAMPLE. */
static size_t
places(size_t *at, size_t n)
{
	size_t count = n < SAMPLE ? n : SAMPLE;

	for (size_t i = 0; i < count; i++)
		at[i] = count == 1 ? 0 : (size_t)((double)i * (double)(n - 1) / (double)(count - 1));
	return count;
}

/* Compares some outputs with the plain version, bit by bit. */
static hu_status
check_bits(hu_bench_product *g, int *wrong)
{
	hu_tensor *in[2] = { &g->ta, &g->tb };
	const hu_call *c = &g->p->c[0];
	size_t at[SAMPLE], n = places(at, g->ty.n);
	double want[SAMPLE];
	hu_env env = { 1, 0 };

	HU_TRY(HU_COLUMN(c->op, emulate_some)(c, in, 0, at, n, &env, want, NULL));
	for (size_t i = 0; i < n && !*wrong; i++)
		if (hu_bits64(hu_get(&g->ty, at[i])) != hu_bits64(want[i])) {
			hu_fail(HU_EUNABLE, "element %zu is %a and must be %a", at[i], hu_get(&g->ty, at[i]), want[i]);
			*wrong = 1;
		}
	return HU_OK;
}

/* Returns the error bound of an output with magnitude mag (the sum of |a b|) and exact value e, rounded to its format.
   It is hu_cublas_bound's, which holds for any order of the blocks and up to SLICES slices of k. Operands are at most
   1/2. */
static double
bound_of(const hu_bench_product *g, hu_sum sum, int arch, double mag, double e)
{
	enum { SLICES = 32, MOST = -2 };
	hu_cublas_product p = { .k = (uint32_t)g->k,
		.fa = g->format,
		.fb = g->format,
		.tf32 = g->format == HU_TF32 || (g->format == HU_FP32 && sum.id == HU_SUM_TC) };
	hu_format out = hu_format_of(g->ty.format);
	double b = hu_cublas_bound(sum, &p, arch, SLICES, MOST, mag);

	b += p.tf32 && g->format == HU_FP32 ? mag * 0x1p-9 : 0; /* two operands cut to tf32, each with a relative error
								   below 2^-10 */
	return b + (e + b) * hu_unit(out) + 0.5 * hu_smallest(out);
}

/* Compares some outputs with their error bound, where the order of the sum is not known. */
static hu_status
check_bound(hu_bench_product *g, int arch, int *wrong)
{
	hu_tensor *in[2] = { &g->ta, &g->tb };
	const hu_call *c = &g->p->c[0];
	size_t at[SAMPLE], n = places(at, g->ty.n);
	double mag[SAMPLE];
	mpfr_t exact[SAMPLE], error;
	hu_sum sum = c->sum;

	HU_TRY(hu_sum_resolve(&sum, g->format, g->format, c->fmt.acc));
	mpfr_init2(error, BITS);
	for (size_t i = 0; i < n; i++)
		mpfr_init2(exact[i], BITS);
	hu_status st = HU_COLUMN(c->op, reference)(c, in, 0, at, n, exact);
	if (st == HU_OK)
		st = HU_COLUMN(c->op, magnitude)(c, in, 0, at, n, mag);
	for (size_t i = 0; i < n && st == HU_OK && !*wrong; i++) {
		double bound = bound_of(g, sum, arch, mag[i], fabs(mpfr_get_d(exact[i], MPFR_RNDA)));
		mpfr_sub_d(error, exact[i], hu_get(&g->ty, at[i]), MPFR_RNDA);
		double e = fabs(mpfr_get_d(error, MPFR_RNDA));
		if (!(e <= bound)) {
			hu_fail(HU_EUNABLE, "element %zu is off by %g, its bound is %g", at[i], e, bound);
			*wrong = 1;
		}
	}
	for (size_t i = 0; i < n; i++)
		mpfr_clear(exact[i]);
	mpfr_clear(error);
	return st;
}

/* Returns the architecture of the device's matrix units; -1: unknown, so any. */
static int
arch_of(const hu_backend *backend)
{
	(void)backend;
#ifdef HU_HAVE_CUDA
	if (!strcmp(backend->name, "cuda"))
		return hu_gpu_side.arch();
#endif
	return -1;
}

/* Returns 1 if bound_of holds for g's summation model: sums of fp32 or fp64 in any order, and those of matrix units. */
static int
has_bound(const hu_bench_product *g)
{
	hu_sum s = g->p->c[0].sum;

	return hu_sum_resolve(&s, g->format, g->format, g->p->c[0].fmt.acc) == HU_OK && s.mode == HU_RNE &&
	       (s.id == HU_SUM_TC ? s.out == HU_FP32
				  : (s.id == HU_SUM_FMA || s.id == HU_SUM_SEQUENTIAL) &&
					    s.acc == (g->format == HU_FP64 ? HU_FP64 : HU_FP32));
}

static hu_status
check(hu_bench_product *g, const hu_backend *backend, hu_gemm_way way, hu_gemm_time *out)
{
	out->check = way == HU_GEMM_CUBLAS ? "bound" : "bits";
	if (way == HU_GEMM_CUBLAS)
		return check_bound(g, arch_of(backend), &out->wrong);
	HU_TRY(check_bits(g, &out->wrong));
	if (!out->wrong && has_bound(g)) /* so that an error that the emulation shares shows too */
		HU_TRY(check_bound(g, arch_of(backend), &out->wrong));
	uint64_t d = digest(&g->ty);
	if (!g->checked) {
		g->checked = 1;
		g->digest = d;
	} else if (d != g->digest && !out->wrong) {
		hu_fail(HU_EUNABLE, "digest 0x%016llx, and 0x%016llx the first time", (unsigned long long)d,
			(unsigned long long)g->digest);
		out->wrong = 1;
	}
	return HU_OK;
}

/* Runs n steps; *seconds is the time of one, on a device by its own clock. */
static hu_status
steps(const hu_bench_product *g, const hu_backend *backend, hu_machine *m, size_t n, double *seconds)
{
	hu_env env = { 1, 0 };
	float one;
	double start = hu_now();

	if (backend->mark)
		HU_TRY(backend->mark(m, 0));
	for (size_t i = 0; i < n; i++)
		HU_TRY(backend->step(m, &env));
	if (backend->mark) {
		HU_TRY(backend->mark(m, 1));
		HU_TRY(backend->elapsed(m, seconds));
	} else {
		HU_TRY(backend->read(m, g->one, &one));
		*seconds = hu_now() - start;
	}
	*seconds /= (double)n;
	return HU_OK;
}

/* Reads the first product's result; the others must have its bits. */
static hu_status
results(hu_bench_product *g, const hu_backend *backend, hu_machine *m, hu_gemm_time *out)
{
	uint64_t first = 0;

	for (int i = g->products - 1; i >= 0; i--) {
		HU_TRY(backend->read(m, g->y + i, g->ty.data));
		uint64_t now = g->products > 1 ? digest(&g->ty) : 0;
		if (i < g->products - 1 && now != first && !out->wrong) {
			hu_fail(HU_EUNABLE, "product %d of %d in a step has digest 0x%016llx, the last 0x%016llx",
				i + 1, g->products, (unsigned long long)now, (unsigned long long)first);
			out->wrong = 1;
		}
		first = i == g->products - 1 ? now : first;
	}
	return HU_OK;
}

/* Opens the program, and times trials stretches of it; if there are none, only one step. */
static hu_status
run(hu_bench_product *g, const hu_backend *backend, hu_gemm_way way, int trials, hu_gemm_time *out)
{
	hu_machine *m;
	double s = 0;

	HU_TRY(backend->open(&m, g->p, way));
	hu_status st = backend->write(m, g->a, g->ta.data);
	if (st == HU_OK)
		st = backend->write(m, g->b, g->tb.data);
	/* The first step loads kernels and libraries, and a device records the second; the third says how long one
	   takes. */
	for (int i = 0; i < (backend->mark ? 3 : 2) && st == HU_OK; i++)
		st = steps(g, backend, m, 1, &s);
	size_t n = s > 0.02 ? 1 : s > 2e-5 ? (size_t)(0.02 / s) + 1 : 1000;
	out->seconds = trials ? INFINITY : s;
	for (int i = 0; i < trials && st == HU_OK; i++) {
		st = steps(g, backend, m, n, &s);
		s /= g->products;
		out->seconds = s < out->seconds ? s : out->seconds;
	}
	const char *ran = st == HU_OK && backend->ran ? backend->ran(m, 0) : NULL;
	snprintf(out->ran, sizeof out->ran, "%s", ran ? ran : "");
	if (st == HU_OK && trials)
		st = results(g, backend, m, out);
	backend->close(m);
	return st;
}

/* How many products of so many seconds and outputs a step has: a millisecond of them, which is long beside launching a
   step; two at least, so that a later one can differ from the first; and no more than fit in 256 MiB. */
static int
products_of(double seconds, size_t outputs)
{
	enum { FEWEST = 2, MOST = 64, ROOM = 256 << 20 };
	double wanted = seconds > 0 ? 1e-3 / seconds : MOST, fit = (double)ROOM / (8.0 * (double)outputs);

	wanted = wanted < FEWEST ? FEWEST : wanted > MOST ? MOST : ceil(wanted);
	return fit < wanted ? fit < 1 ? 1 : (int)fit : (int)wanted;
}

hu_status
hu_gemm_measure(hu_bench_product *g, const hu_backend *backend, hu_gemm_way way, int trials, hu_gemm_time *out)
{
	memset(out, 0, sizeof *out);
	build(g, 1);
	if (backend->mark) {
		HU_TRY(run(g, backend, way, 0, out));
		build(g, products_of(out->seconds, g->m * g->n));
	}
	HU_TRY(run(g, backend, way, trials, out));
	out->products = g->products;
	return check(g, backend, way, out);
}

hu_status
hu_gemm_available(const char *backend)
{
	const hu_backend *b;
	hu_machine *m;
	hu_bench_product g;

	HU_TRY(hu_backend_find(backend, &b));
	HU_TRY(hu_gemm_init(&g, 1, 1, 1, HU_FP32, "fma,acc=fp32"));
	hu_status st = b->open(&m, g.p, HU_GEMM_AUTO);
	if (st == HU_OK)
		b->close(m);
	hu_gemm_release(&g);
	return st;
}
