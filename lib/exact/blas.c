/* SPDX-License-Identifier: Apache-2.0
   Finds, loads, checks and times a CBLAS library. */
#include "lib/exact/blas.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/base/terminal/progress.h"
#include "lib/exact/grid/grid.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#ifndef HU_BLAS
#define HU_BLAS "none"
#endif

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* CBLAS's enumerations are ints */

typedef void dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double *a, int lda,
	const double *b, int ldb, double beta, double *c, int ldc);

static struct {
	void *handle;
	dgemm *run;     /* cblas_dgemm; NULL: there is none to trust */
	char *said;     /* hu_blas_describe's line */
	double ns;      /* nanoseconds of a multiply-add, measured */
	double own[3];  /* the same for the engine's kernels with 1 and 2 levels */
} blas;

static pthread_once_t loaded = PTHREAD_ONCE_INIT, timed = PTHREAD_ONCE_INIT;

/* Opens a library by its path, or by a name as in -lNAME. */
static void *
open_library(const char *name)
{
	static const char *const ending[] = { ".so.0", ".so", ".so.3", ".so.2", ".dylib" };
	void *h = NULL;

	if (strchr(name, '/') || strstr(name, ".so") || strstr(name, ".dylib"))
		return dlopen(name, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; !h && i < sizeof ending / sizeof *ending; i++) {
		char file[256];
		snprintf(file, sizeof file, "lib%s%s", name, ending[i]);
		h = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	}
	return h;
}

/* Stores a symbol's address in the function pointer *function. ISO C has no conversion from object pointers. */
static void
find(void *function, const char *name)
{
	void *p = dlsym(blas.handle, name);

	memcpy(function, &p, sizeof p);
}

/* Returns the core type to ask for where the kernels for `core` would leave registers of this processor unused; else
   NULL. */
static const char *
better_core(const char *core)
{
	static const char *const wide[] = { "SkylakeX", "Cooperlake", "SapphireRapids", "Zen4", "Zen5" };
	static const char *const fused[] = { "Haswell", "Zen" };

	if (!core || (!hu_simd_has(HU_SIMD_AVX2)))
		return NULL;
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		if (!strcasecmp(core, wide[i]))
			return NULL;
	if (hu_simd_has(HU_SIMD_AVX512))
		return "SKYLAKEX";
	for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
		if (!strcasecmp(core, fused[i]))
			return NULL;
	return "HASWELL";
}

/* Loads the library with one thread for each caller, and with the kernels for `core` unless that is NULL. */
static void
load(const char *name, const char *core)
{
	/* Libraries read these variables while they are loaded, so they are set only then. */
	static const char *const variable[] = { "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
		"OPENBLAS_CORETYPE" };
	enum { N = sizeof variable / sizeof *variable };
	char *old[N];

	for (int i = 0; i < N; i++) {
		const char *was = getenv(variable[i]), *set = i < N - 1 ? "1" : core;
		old[i] = was ? hu_xstrdup(was) : NULL;
		if (set)
			setenv(variable[i], set, 1);
	}
	blas.handle = open_library(name);
	for (int i = 0; i < N; i++) {
		if (old[i])
			setenv(variable[i], old[i], 1);
		else
			unsetenv(variable[i]);
		free(old[i]);
	}
	if (!blas.handle)
		return;
	void (*threads)(int);
	find(&threads, "openblas_set_num_threads");
	if (!threads)
		find(&threads, "MKL_Set_Num_Threads");
	if (threads)
		threads(1);
	find(&blas.run, "cblas_dgemm");
}

/* In OpenBLAS a caller's first product allocates a buffer of 128 MB, and tries for ever where there is no memory. */
static int
has_room(void)
{
	void *buffer = malloc(((size_t)128 << 20) + (1 << 20));

	free(buffer);
	return buffer != NULL;
}

/* Multiplies integers of up to 23 bits, of all widths, whose sums of 64 products need up to 53 bits. A library that
   computes in truncated slices, or in less than double precision, loses some of these bits. */
static int
is_exact(void)
{
	enum { M = 65, N = 67, K = 64 };
	double *a = hu_xmalloc((size_t)K * M * sizeof *a), *b = hu_xmalloc((size_t)K * N * sizeof *b),
	       *c = hu_xmalloc((size_t)M * N * sizeof *c);
	int wrong = 0;

	for (uint32_t i = 0; i < K * M + K * N; i++) {
		hu_random r = hu_random_at(1, 1, 0, i);
		double x = (double)(r.w[0] >> 9 >> r.w[1] % 23);
		*(i < K * M ? a + i : b + (i - K * M)) = r.w[2] & 1 ? -x : x;
	}
	for (int i = 0; i < M * N; i++)
		c[i] = i;
	blas.run(ROW_MAJOR, TRANS, NO_TRANS, M, N, K, 1, a, M, b, N, 1, c, N);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			int64_t s = i * N + j;
			for (int k = 0; k < K; k++)
				s += (int64_t)a[k * M + i] * (int64_t)b[k * N + j];
			wrong += c[i * N + j] != (double)s;
		}
	free(a);
	free(b);
	free(c);
	return !wrong;
}

static char *
text_of(const char *function)
{
	char *(*text)(void);

	find(&text, function);
	return text ? text() : NULL;
}

static void
start(void)
{
	const char *own = getenv("HALFULP_BLAS"), *name = own && *own ? own : HU_BLAS, *core, *better;
	char *first = NULL;

	if (!strcmp(name, "none")) {
		blas.said = hu_xstrdup(
			own && *own ? "none (HALFULP_BLAS=none)" : "none (this build was configured without one)");
		return;
	}
	load(name, NULL);
	if (!blas.handle || !blas.run || !has_room()) {
		blas.said = hu_xprintf("none (%s: %s)", name,
			!blas.handle ? "no such library here"
			: !blas.run  ? "it has no cblas_dgemm"
				     : "no memory for its buffer");
		blas.run = NULL;
		return;
	}
	core = text_of("openblas_get_corename");
	better = getenv("OPENBLAS_CORETYPE") ? NULL : better_core(core);
	if (better) {
		first = hu_xstrdup(core);
		dlclose(blas.handle);
		load(name, better);
		HU_ASSERT(blas.run);
		core = text_of("openblas_get_corename");
	}
	const char *config = text_of("openblas_get_config");
	char version[64] = "";
	if (config)
		snprintf(version, sizeof version, "%.*s",
			(int)strcspn(config + strcspn(config, " ") + (strchr(config, ' ') != NULL), " ") +
				(int)strcspn(config, " ") + 1,
			config);
	int exact = is_exact();
	blas.said = hu_xprintf("%s%s%s%s%s%s%s%s%s", config ? version : name, core ? ", kernels for " : "",
		core ? core : "", first ? " (asked for: it had chosen " : "", first ? first : "", first ? ")" : "",
		core && getenv("OPENBLAS_CORETYPE") ? " (OPENBLAS_CORETYPE)" : "", ", one thread a caller",
		exact ? "" : "; not used: its sums of integers below 2^53 are not exact");
	free(first);
	if (!exact)
		blas.run = NULL;
}

int
hu_blas_works(void)
{
	pthread_once(&loaded, start);
	return blas.run != NULL;
}

int
hu_blas_product(double *c, size_t m, size_t n, size_t k, const double *a, const double *b)
{
	static _Thread_local int ready;

	if (!hu_blas_works())
		return 0;
	if (!(ready = ready || has_room())) { /* exact in any order, so in this one, too */
		for (size_t p = 0; p < k; p++)
			for (size_t i = 0; i < m; i++)
				for (size_t j = 0; j < n; j++)
					c[i * n + j] += a[p * m + i] * b[p * n + j];
		return 1;
	}
	blas.run(ROW_MAJOR, TRANS, NO_TRANS, (int)m, (int)n, (int)k, 1, a, (int)m, b, (int)n, 1, c, (int)n);
	return 1;
}

const char *
hu_blas_describe(void)
{
	pthread_once(&loaded, start);
	return blas.said;
}

void
(*hu_blas_symbol(const char *name))(void)
{
	void (*function)(void) = NULL;

	pthread_once(&loaded, start);
	if (blas.handle)
		find(&function, name);
	return function;
}

/* This thread's processor time, which other programs disturb less than wall-clock time. */
static double
seconds(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		return hu_now();
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Measures nanoseconds of a multiply-add, the best of five trials: by the BLAS, and by the kernels with one and two
   levels. */
static void
measure(void)
{
	enum { M = 192, K = 512 }; /* like the engine's tiles */
	const hu_grid *grid = hu_grid_get();
	double *a = hu_xmalloc(2 * (size_t)M * K * sizeof *a), *b = a + (size_t)M * K,
	       *c = hu_xcalloc((size_t)M * M, sizeof *c), unit = 1e9 / ((double)M * M * K);

	hu_blas_works();
	for (size_t i = 0; i < (size_t)M * K; i++)
		a[i] = b[i] = (double)(i % 1000);
	blas.ns = blas.own[1] = blas.own[2] = 1e9;
	for (int trial = 0; blas.run && trial < 5; trial++)
		for (int way = 0; way < 3; way++) {
			double from = seconds(), *best = way ? &blas.own[way] : &blas.ns;
			if (way == 0)
				hu_blas_product(c, M, M, K, a, b);
			else
				for (size_t q = 0; q < M / grid->cols; q++)
					for (size_t p = 0; p < M / HU_GRID_ROWS; p++)
						grid->narrow_sum(
							K, a + p * HU_GRID_ROWS * K, b + q * grid->cols * K, c, way);
			double t = (seconds() - from) * unit;
			*best = t < *best ? t : *best;
		}
	free(a);
	free(c);
}

int
hu_blas_pays(int products, int levels)
{
	pthread_once(&timed, measure);
	return blas.run && products * blas.ns < 0.9 * blas.own[levels];
}
