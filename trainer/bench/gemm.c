/* SPDX-License-Identifier: Apache-2.0
   Benchmarks matrix products: a unit for each size, format and summation model, and in it a row on the CPU for each
   instruction set, on a device for each of the ways of lib/program/gemms.def. The first result of each is compared with
   the plain version, the others with the first, bit by bit, and so are those of summation models that say the same in
   other words, such as a matrix unit's on two of its paths. */
#include "trainer/bench/gemm.h"

#include "lib/base/mem.h"
#include "lib/base/failed.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/sum/tc/tc.h"
#include "trainer/device/fma.h"
#include "trainer/device/peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

/* A unit: a product by the summation model that a text names. */
typedef struct unit {
	const char *size, *sum;
	size_t m, n, k;
	hu_format_id format;
} unit;

/* The digest of a product that was checked, as the unit's rows have it. */
typedef struct seen {
	const unit *of;
	hu_sum sum;
	char digest[24];
} seen;

typedef struct sweep {
	char *size[MOST], *sum[MOST];
	unit *unit;
	hu_format_id format[HU_FORMATS];
	hu_gemm_way way[HU_GEMM_WAYS];
	double peak[HU_SIMDS];        /* GFLOP/s of a thread by instruction set; 0: not measured yet */
	double device[HU_FORMATS][2]; /* GFLOP/s of a device, by fp32's units and by the matrix units; 0: not measured
					 yet, negative: none */
	char levels[HU_SIMDS];
	int sizes, sums, formats, units, ways, trials, available;
	const hu_backend *backend;
	seen *seen;
	int nseen, cseen;
} sweep;

/* Returns 1 if two resolved models give the same bits: they are equal but for the path to the matrix units, whose rows
   on both paths are equal. */
static int
same_bits(hu_sum a, hu_sum b)
{
	char text[2][128];

	if (a.id == HU_SUM_TC && b.id == HU_SUM_TC && !a.group && !b.group) {
		hu_tc x = hu_tc_of(a.arch, a.in, a.path), y = hu_tc_of(b.arch, b.in, b.path);
		if (x.kind != y.kind || x.l != y.l || x.f != y.f || x.keep != y.keep || x.zero != y.zero ||
			x.status != y.status || x.status16 != y.status16)
			return 0;
		a.path = b.path = 0;
	}
	hu_sum_print(a, text[0], sizeof text[0]);
	hu_sum_print(b, text[1], sizeof text[1]);
	return !strcmp(text[0], text[1]);
}

/* Compares the digest that the unit's rows have with that of a unit before it of other words with the same bits. */
static void
merge(hu_bench_work *w, int i, json_t *rows)
{
	sweep *s = w->of;
	const unit *u = &s->unit[i];
	json_t *row = NULL;
	const char *digest = NULL;
	seen now = { .of = u };

	for (size_t r = 0; r < json_array_size(rows) && !digest; r++) {
		row = json_array_get(rows, r);
		digest = json_string_value(json_object_get(row, "digest"));
	}
	if (!digest || hu_sum_parse(u->sum, &now.sum) != HU_OK ||
		hu_sum_resolve(&now.sum, u->format, u->format, u->format == HU_FP64 ? HU_FP64 : HU_FP32) != HU_OK)
		return;
	snprintf(now.digest, sizeof now.digest, "%s", digest);
	for (int k = 0; k < s->nseen; k++) {
		const seen *t = &s->seen[k];
		if (t->of->m != u->m || t->of->n != u->n || t->of->k != u->k || t->of->format != u->format ||
			!same_bits(t->sum, now.sum))
			continue;
		if (strcmp(t->digest, now.digest) && !json_integer_value(json_object_get(row, "wrong"))) {
			json_object_set_new(row, "wrong", json_integer(1));
			json_object_set_new(row, "why",
				json_sprintf("%s %s %s: digest %s, and %s by the model before that says the same",
					u->size, hu_format_name(u->format), u->sum, now.digest, t->digest));
		}
		return;
	}
	HU_GROW(s->seen, s->nseen, s->cseen);
	s->seen[s->nseen++] = now;
}

/* Parses "512" or "512x64x1024" into m, n, k. */
static hu_status
parse_size(const char *s, size_t *m, size_t *n, size_t *k)
{
	unsigned long v[3] = { 0, 0, 0 };
	char end;
	int count = sscanf(s, "%lux%lux%lu%c", &v[0], &v[1], &v[2], &end);

	if (count == 1 && !strchr(s, 'x') && strspn(s, "0123456789") == strlen(s))
		v[1] = v[2] = v[0];
	else if (count != 3)
		v[0] = 0;
	if (!v[0] || !v[1] || !v[2] || v[0] > 1 << 20 || v[1] > 1 << 20 || v[2] > 1 << 20)
		return hu_fail(HU_EINVAL, "--sizes %s: a size like 512, or MxNxK like 512x64x1024, is needed", s);
	*m = v[0];
	*n = v[1];
	*k = v[2];
	return HU_OK;
}

/* Returns the peak of the instruction set on as many threads, measured in this run when it is first needed; fp64 has a
   peak of its own. */
static double
ceiling_here(sweep *s, hu_format_id f)
{
	hu_simd level = hu_simd_level();

	if (s->peak[level] == 0)
		s->peak[level] = 1e-9 * hu_fma_peak();
	return f == HU_FP64 ? -1 : s->peak[level] * hu_threads();
}

/* Returns the peak of the device's units on which `way` computes f. cublas uses the matrix units where they support
   f. */
static double
ceiling_device(sweep *s, hu_format_id f, hu_gemm_way way)
{
	int units = f == HU_FP16 || f == HU_BF16 || f == HU_TF32 || f == HU_E4M3 || f == HU_E5M2,
	    matrix = hu_gemm_by_units(way) || (way == HU_GEMM_CUBLAS && units);
	double *known = &s->device[f][matrix], flops;

	if (*known == 0)
		*known = f != HU_FP64 && hu_peak_flops(s->backend->name, f == HU_FP32 && matrix ? HU_TF32 : f, HU_FP32,
						 matrix, &flops) == HU_OK
				 ? 1e-9 * flops
				 : -1;
	return *known;
}

static json_t *
positive(double x)
{
	return x > 0 ? json_real(x) : json_null();
}

/* Measures one way of computing the product g of unit u, and appends the row. */
static hu_status
measure_way(sweep *s, hu_bench_product *g, const unit *u, hu_gemm_way way, json_t *rows)
{
	int cpu = !strcmp(s->backend->name, "cpu");
	hu_gemm_time t = { 0 };
	hu_status st = hu_gemm_measure(g, s->backend, way, s->trials, &t);

	if (st != HU_OK && st != HU_EUNABLE && st != HU_ENOMEM)
		return st;
	double top = st != HU_OK ? -1
		     : cpu       ? ceiling_here(s, g->format)
				 : ceiling_device(s, g->format, way),
	       gflops = t.seconds > 0 ? 2e-9 * (double)g->m * (double)g->n * (double)g->k / t.seconds : 0;
	json_t *row = json_pack("{s:s s:s s:s s:s s:s s:s}", "size", u->size, "format", hu_format_name(g->format),
		"sum", u->sum, "on", s->backend->name, "gemm", cpu ? "-" : hu_gemm_name(way), "simd",
		strcmp(s->backend->name, "cuda") ? hu_simd_name() : "-");
	json_array_append_new(rows, row);
	if (st != HU_OK) {
		hu_failed_forget();
		json_object_set_new(row, "ran", json_string(hu_reason()));
		return HU_OK;
	}
	json_t *more = json_pack("{s:i s:f s:f s:o s:o s:s s:s}", "products", t.products, "ms", 1e3 * t.seconds,
		"gflops", gflops, "ceiling", positive(top), "share", top > 0 ? json_real(gflops / top) : json_null(),
		"check", t.check, "ran", *t.ran ? t.ran : "-");
	json_object_update(row, more);
	json_decref(more);
	if (g->checked)
		json_object_set_new(row, "digest", json_sprintf("0x%016llx", (unsigned long long)g->digest));
	if (t.wrong) {
		json_object_set_new(row, "wrong", json_integer(t.wrong));
		json_object_set_new(row, "why",
			json_sprintf("%s %s %s: %s", u->size, hu_format_name(u->format), u->sum, hu_reason()));
	}
	return HU_OK;
}

static hu_status
measure(hu_bench_work *w, int i, json_t *rows)
{
	sweep *s = w->of;
	const unit *u = &s->unit[i];
	hu_bench_product g;

	if (!s->available)
		HU_TRY(hu_gemm_available(s->backend->name));
	s->available = 1;
	HU_TRY(hu_gemm_init(&g, u->m, u->n, u->k, u->format, u->sum));
	hu_progress_note(w->bar, "%s, %s, %s", u->size, hu_format_name(u->format), u->sum);
	hu_status st = HU_OK;
	int cuda = !strcmp(s->backend->name, "cuda");
	for (int l = 0; l < (cuda ? 1 : HU_SIMDS) && st == HU_OK; l++) {
		if (!cuda && !s->levels[l])
			continue;
		if (!cuda)
			st = hu_simd_set(hu_simd_name_of((hu_simd)l));
		for (int k = 0; k < s->ways && st == HU_OK; k++)
			st = measure_way(s, &g, u, s->way[k], rows);
	}
	hu_gemm_release(&g);
	return st;
}

static char *
unit_name(const hu_bench_work *w, int i)
{
	const unit *u = &((const sweep *)w->of)->unit[i];

	return hu_xprintf("%s.%s.%s", u->size, hu_format_name(u->format), u->sum);
}

static hu_status
list(char **out, int *n, const char *text, const char *option)
{
	char *all = hu_xstrdup(text), *save = NULL;

	for (char *w = strtok_r(all, ",", &save); w && *n < MOST; w = strtok_r(NULL, ",", &save))
		out[(*n)++] = hu_xstrdup(w);
	free(all);
	return *n ? HU_OK : hu_fail(HU_EINVAL, "--%s: a list is needed", option);
}

static hu_status
parse_ways(sweep *s, const char *text)
{
	char *word[MOST];
	int n = 0;
	hu_status st = HU_OK;

	if (!strcmp(s->backend->name, "cpu")) {
		s->way[s->ways++] = HU_GEMM_AUTO;
		return HU_OK;
	}
	for (int i = 0; !text && i < HU_GEMM_WAYS; i++)
		if (i != HU_GEMM_AUTO && i != HU_GEMM_BULK && (i != HU_GEMM_CUBLAS || strcmp(s->backend->name, "shim")))
			s->way[s->ways++] = (hu_gemm_way)i;
	if (text)
		st = list(word, &n, text, "gemm");
	for (int i = 0; i < n; i++) {
		if (st == HU_OK && s->ways < HU_GEMM_WAYS)
			st = hu_gemm_find(word[i], &s->way[s->ways++]);
		free(word[i]);
	}
	return st;
}

static hu_status
parse(sweep *s, const hu_args *a)
{
	long long trials, threads;
	unit u;
	hu_sum sum;

	HU_TRY(hu_backend_find(hu_args_text(a, "backend"), &s->backend));
	HU_TRY(list(s->size, &s->sizes, hu_args_text(a, "sizes"), "sizes"));
	for (int i = 0; i < s->sizes; i++)
		HU_TRY(parse_size(s->size[i], &u.m, &u.n, &u.k));
	for (const char *w; s->sums < MOST && (w = hu_args_nth(a, "sum", s->sums)) != NULL;)
		s->sum[s->sums++] = hu_xstrdup(w);
	if (!s->sums)
		s->sum[s->sums++] = hu_xstrdup(hu_args_text(a, "sum"));
	for (int i = 0; i < s->sums; i++)
		HU_TRY(hu_sum_parse(s->sum[i], &sum));
	if (!strcmp(hu_args_text(a, "format"), "all"))
		return hu_fail(HU_EINVAL, "--format all: products of some formats only; name them");
	HU_TRY(hu_format_list(hu_args_text(a, "format"), s->format, HU_FORMATS, &s->formats));
	HU_TRY(parse_ways(s, hu_args_text(a, "backend:gemm")));
	HU_TRY(hu_args_int(a, "trials", 1, 1000, &trials));
	HU_TRY(hu_args_int(a, "threads", 0, 1024, &threads));
	s->trials = (int)trials;
	hu_threads_set((int)threads);
	return hu_bench_levels(s->levels, hu_args_text(a, "backend:simd"));
}

/* Lists the units, and what each costs at a guess: some 20 ms a trial, or its operations at 50 GFLOP/s a thread. */
static hu_status
list_units(sweep *s, hu_bench_work *w)
{
	int n = s->sizes * s->formats * s->sums;

	s->unit = hu_xcalloc((size_t)n + 1, sizeof *s->unit);
	w->cost = hu_xcalloc((size_t)n + 1, sizeof *w->cost);
	for (int i = 0; i < n; i++) {
		unit *u = &s->unit[i];
		u->size = s->size[i / s->sums / s->formats];
		u->format = s->format[i / s->sums % s->formats];
		u->sum = s->sum[i % s->sums];
		HU_TRY(parse_size(u->size, &u->m, &u->n, &u->k));
		w->cost[i] = (2 + s->trials) *
			     fmax(0.02, 2 * (double)u->m * (double)u->n * (double)u->k / (5e10 * hu_threads()));
	}
	w->n = n;
	return HU_OK;
}

static hu_status
begin(hu_bench_work *w, const hu_args *a)
{
	sweep *s = w->of = hu_xcalloc(1, sizeof *s);

	HU_TRY(parse(s, a));
	w->setting = hu_bench_levels_text(s->levels);
	return list_units(s, w);
}

static void
end(hu_bench_work *w)
{
	sweep *s = w->of;

	for (int i = 0; i < s->sizes; i++)
		free(s->size[i]);
	for (int i = 0; i < s->sums; i++)
		free(s->sum[i]);
	free(s->unit);
	free(s->seen);
	free(s);
}

static const hu_bench_column columns[] = { { "size", 14, -1, 0, NULL }, { "format", 6, -1, 0, NULL },
	{ "sum", 14, -1, 1, NULL }, { "on", 5, -1, 2, NULL }, { "gemm", 6, -1, 6, NULL }, { "simd", 7, -1, 8, NULL },
	{ "products", 8, 0, 9, NULL }, { "ms", 10, 4, 0, NULL }, { "gflops", 10, 2, 0, "GFLOP/s" },
	{ "ceiling", 9, 1, 5, "ceiling_GFLOP/s" }, { "share", 6, 3, 3, NULL }, { "check", 9, -1, 4, NULL },
	{ "ran", 1, -1, 10, NULL }, { NULL, 0, 0, 0, NULL } };

static const hu_bench_option takes[] = { { "sizes", "128,512,512x64x1024" }, { "format", "fp32,fp16,bf16" },
	{ "sum", NULL }, { "backend", NULL }, { "backend:gemm", NULL }, { "backend:simd", NULL }, { "threads", NULL },
	{ "trials", NULL }, { NULL, NULL } };

static int
on_device(const void *of)
{
	return strcmp(hu_args_text(of, "backend"), "cpu");
}

static int
not_on_gpu(const void *of)
{
	return strcmp(hu_args_text(of, "backend"), "cuda");
}

static const hu_opt_need needs[] = { { "backend:gemm", on_device,
					     "with --backend cpu, which has one way, the call's summation model" },
	{ "backend:simd threads", not_on_gpu, "with --backend cuda" }, { NULL, NULL, NULL } };

const hu_bench hu_bench_gemm = { .name = "gemm",
	.summary = "products by size, format and summation model",
	.columns = columns,
	.takes = takes,
	.needs = needs,
	.begin = begin,
	.unit = unit_name,
	.measure = measure,
	.merge = merge,
	.end = end };
