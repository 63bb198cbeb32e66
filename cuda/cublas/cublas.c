/* SPDX-License-Identifier: Apache-2.0
   The library's matrices are column-major, ours row-major. It is therefore asked for dᵀ = bᵀ aᵀ, and its A is our
   b. */
#include "cuda/cublas/cublas.h"

#include "cuda/device/vendor.h"
#include "lib/base/mem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plan {
	hu_cublas_product p;
	void *desc, *a, *b, *d;
	hu_cublas_choice choice;
	int slices;
	char ran[160];
} plan;

typedef struct library {
	void *file, *handle;
	plan *plans;
	size_t n, cap;
	size_t (*version)(void);
	int (*create)(void **);
	int (*desc_create)(void **, int, int), (*desc_set)(void *, int, const void *, size_t), (*desc_destroy)(void *);
	int (*layout_create)(void **, int, uint64_t, uint64_t, int64_t), (*layout_destroy)(void *);
	int (*layout_set)(void *, int, const void *, size_t);
	int (*pref_create)(void **), (*pref_set)(void *, int, const void *, size_t), (*pref_destroy)(void *);
	int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, hu_cublas_choice *, int *);
	int (*check)(void *, void *, void *, void *, void *, void *, const hu_cublas_algo *, hu_cublas_choice *);
	int (*config)(const hu_cublas_algo *, int, void *, size_t, size_t *);
	int (*matmul)(void *, void *, const void *, const void *, void *, const void *, void *, const void *,
		const void *, void *, void *, void *, const hu_cublas_algo *, void *, size_t, void *);
} library;

static library libraries[2];

static const char *const names[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL };

static hu_status
load(library *l, int host)
{
	if (l->handle)
		return HU_OK;
	l->file = hu_vendor_open(host ? "HALFULP_CUBLASLT_HOST" : "HALFULP_CUBLASLT", names, !host);
	if (!l->file && host)
		return hu_fail(HU_EUNABLE, "gemm=cublas: the shim has no cuBLAS (HALFULP_CUBLASLT_HOST names a "
					   "library for the host's memory): use gemm=mma or simt");
	if (!l->file)
		return hu_fail(HU_EUNABLE, "gemm=cublas: cuBLASLt (libcublasLt.so.13 or 12) is not found, nor in a "
					   "CUDA toolkit or among Python's packages: install "
					   "it, name it in HALFULP_CUBLASLT, or use gemm=mma or simt");
#define TAKE(member, name) !hu_vendor_symbol(l->file, "cublasLt" name, &l->member)
	if (TAKE(version, "GetVersion") || TAKE(create, "Create") || TAKE(desc_create, "MatmulDescCreate") ||
		TAKE(desc_set, "MatmulDescSetAttribute") || TAKE(desc_destroy, "MatmulDescDestroy") ||
		TAKE(layout_create, "MatrixLayoutCreate") || TAKE(layout_destroy, "MatrixLayoutDestroy") ||
		TAKE(layout_set, "MatrixLayoutSetAttribute") ||
		TAKE(pref_create, "MatmulPreferenceCreate") || TAKE(pref_set, "MatmulPreferenceSetAttribute") ||
		TAKE(pref_destroy, "MatmulPreferenceDestroy") || TAKE(heuristic, "MatmulAlgoGetHeuristic") ||
		TAKE(check, "MatmulAlgoCheck") || TAKE(config, "MatmulAlgoConfigGetAttribute") ||
		TAKE(matmul, "Matmul"))
		return hu_fail(HU_EUNABLE,
			"gemm=cublas: the library found is not cuBLASLt: a function is missing (%s)", dlerror());
#undef TAKE
	int st = l->create(&l->handle);
	if (st) {
		l->handle = NULL;
		return hu_fail(HU_EUNABLE,
			"gemm=cublas: cublasLtCreate failed with status %d: it needs a device and a driver as new "
			"as it is",
			st);
	}
	return HU_OK;
}

static void
drop(library *l, plan *x)
{
	void *layouts[] = { x->a, x->b, x->d };

	if (x->desc)
		l->desc_destroy(x->desc);
	for (int k = 0; k < 3; k++)
		if (layouts[k])
			l->layout_destroy(layouts[k]);
}

void
hu_cublas_forget(int host)
{
	library *l = &libraries[host != 0];

	for (size_t i = 0; i < l->n; i++)
		drop(l, &l->plans[i]);
	free(l->plans);
	memset(l, 0, sizeof *l);
	hu_cublas_recall(NULL);
}

static int
type_of(hu_format_id f)
{
	switch (f) {
	case HU_FP16: return CUBLASLT_R_16F;
	case HU_BF16: return CUBLASLT_R_16BF;
	case HU_FP64: return CUBLASLT_R_64F;
	case HU_E4M3: return CUBLASLT_R_8F_E4M3;
	case HU_E5M2: return CUBLASLT_R_8F_E5M2;
	case HU_FP32: return CUBLASLT_R_32F;
	default: HU_ASSERT(!"operand_format of gemm_cublas.cu gives no other format"); return -1;
	}
}

static int
compute_of(const hu_cublas_product *p)
{
	int t = type_of(p->fa);

	return t == CUBLASLT_R_64F   ? CUBLASLT_COMPUTE_64F_PEDANTIC
	       : t != CUBLASLT_R_32F ? CUBLASLT_COMPUTE_32F
	       : p->tf32             ? CUBLASLT_COMPUTE_32F_FAST_TF32
				     : CUBLASLT_COMPUTE_32F_PEDANTIC;
}

/* Returns the status of the first call that fails. */
#define DO(call) if ((st = (call)) != 0) return st

/* Describes our rows x columns matrices, step elements from one to the next, as the library's layout. */
static int
layout(library *l, void **out, hu_format_id f, uint32_t rows, uint32_t columns, uint32_t ld, const hu_cublas_product *p,
	uint32_t step)
{
	int32_t batches = (int32_t)p->batches;
	int64_t offset = step;
	int st;

	DO(l->layout_create(out, type_of(f), columns, rows, ld));
	if (batches <= 1)
		return 0;
	DO(l->layout_set(*out, CUBLASLT_LAYOUT_BATCH_COUNT, &batches, sizeof batches));
	return l->layout_set(*out, CUBLASLT_LAYOUT_BATCH_OFFSET, &offset, sizeof offset);
}

static int
describe(library *l, plan *x)
{
	const hu_cublas_product *p = &x->p;
	int32_t op_a = p->tb ? CUBLASLT_T : CUBLASLT_N, op_b = p->ta ? CUBLASLT_T : CUBLASLT_N;
	int8_t fast = 0;
	int st;

	DO(l->desc_create(&x->desc, compute_of(p), p->fa == HU_FP64 ? CUBLASLT_R_64F : CUBLASLT_R_32F));
	DO(l->desc_set(x->desc, CUBLASLT_DESC_TRANSA, &op_a, sizeof op_a));
	DO(l->desc_set(x->desc, CUBLASLT_DESC_TRANSB, &op_b, sizeof op_b));
	if (hu_format_of(p->fa).bits == 8)
		DO(l->desc_set(x->desc, CUBLASLT_DESC_FAST_ACCUM, &fast, sizeof fast));
	DO(layout(l, &x->a, p->fb, p->tb ? p->n : p->k, p->tb ? p->k : p->n, p->ldb, p, p->step_b));
	DO(layout(l, &x->b, p->fa, p->ta ? p->k : p->m, p->ta ? p->m : p->k, p->lda, p, p->step_a));
	return layout(l, &x->d, p->fd, p->m, p->n, p->ldd, p, p->step_d);
}

/* *found gets the number of algorithms. */
static int
choose(library *l, plan *x, int *found)
{
	int64_t workspace = CUBLASLT_WORKSPACE;
	uint32_t mask = CUBLASLT_REDUCTION_COMPUTE_TYPE, align = x->p.align;
	void *pref;
	int st;

	DO(l->pref_create(&pref));
	DO(l->pref_set(pref, CUBLASLT_PREF_MAX_WORKSPACE, &workspace, sizeof workspace));
	DO(l->pref_set(pref, CUBLASLT_PREF_REDUCTION_MASK, &mask, sizeof mask));
	for (int i = CUBLASLT_PREF_ALIGN_A; i <= CUBLASLT_PREF_ALIGN_D; i++)
		DO(l->pref_set(pref, i, &align, sizeof align));
	st = l->heuristic(l->handle, x->desc, x->a, x->b, x->d, x->d, pref, 1, &x->choice, found);
	l->pref_destroy(pref);
#undef DO
	return st ? st : *found > 0 ? x->choice.state : 0;
}

/* Gives the library the algorithm that this version of it chose earlier. */
static hu_status
take(library *l, plan *x, size_t version)
{
	const hu_cublas_product *p = &x->p;
	hu_cublas_choice now;
	int st = 0;

	memset(&now, 0, sizeof now);
	if (version == l->version())
		st = l->check(l->handle, x->desc, x->a, x->b, x->d, x->d, &x->choice.algo, &now);
	if (version != l->version() || st || now.state || now.workspace > x->choice.workspace)
		return hu_fail(HU_EUNABLE,
			"gemm=cublas: the recorded algorithm for %u x %u x %u of %s and %s to %s is cuBLASLt %zu's, "
			"and cuBLASLt %zu does not take it (status %d): use that library and device, or say gemm=",
			p->m, p->n, p->k, hu_format_name(p->fa), hu_format_name(p->fb), hu_format_name(p->fd), version,
			l->version(), st ? st : now.state);
	return HU_OK;
}

static uint32_t
word(const library *l, const plan *x, int which)
{
	uint32_t v = 0;
	size_t written;

	return l->config(&x->choice.algo, which, &v, sizeof v, &written) == 0 ? v : 0;
}

/* Some configuration words have 16 bits, and the library refuses to return them as 32. */
static uint32_t
short_word(const library *l, const plan *x, int which)
{
	uint16_t v = 0;
	size_t written;

	return l->config(&x->choice.algo, which, &v, sizeof v, &written) == 0 ? v : 0;
}

static void
say(const library *l, plan *x)
{
	x->slices = (int)word(l, x, CUBLASLT_CONFIG_SPLITK);
	x->slices = x->slices < 1 ? 1 : x->slices;
	snprintf(x->ran, sizeof x->ran,
		"cublasLt %zu algo %u tile %u stages %u splitk %u reduction %u swizzle %u custom %u inner %u cluster "
		"%u workspace %zu",
		l->version(), word(l, x, CUBLASLT_CONFIG_ID), word(l, x, CUBLASLT_CONFIG_TILE),
		word(l, x, CUBLASLT_CONFIG_STAGES), word(l, x, CUBLASLT_CONFIG_SPLITK),
		word(l, x, CUBLASLT_CONFIG_REDUCTION), word(l, x, CUBLASLT_CONFIG_SWIZZLE),
		word(l, x, CUBLASLT_CONFIG_CUSTOM), short_word(l, x, CUBLASLT_CONFIG_INNER),
		short_word(l, x, CUBLASLT_CONFIG_CLUSTER), x->choice.workspace);
}

static hu_status
plan_of(const hu_cublas_product *p, library **library_of, plan **out)
{
	library *l = &libraries[p->host != 0];
	int found = 0;
	size_t version;

	HU_TRY(load(l, p->host));
	*library_of = l;
	for (size_t i = 0; i < l->n; i++)
		if (!memcmp(&l->plans[i].p, p, sizeof *p)) {
			*out = &l->plans[i];
			return HU_OK;
		}
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		l->plans = hu_xrealloc(l->plans, l->cap * sizeof *l->plans);
	}
	plan *x = &l->plans[l->n];
	memset(x, 0, sizeof *x);
	x->p = *p;
	int st = describe(l, x);
	if (!st && hu_cublas_recalled(p, &version, &x->choice)) {
		hu_status taken = take(l, x, version);
		if (taken != HU_OK) {
			drop(l, x);
			return taken;
		}
		found = 1;
	} else if (!st)
		st = choose(l, x, &found);
	if (st || !found) {
		drop(l, x);
		return hu_fail(HU_EUNABLE,
			"gemm=cublas: cuBLASLt %zu has no algorithm for %u x %u x %u of %s and %s to %s on this "
			"device (status %d): use gemm=mma or simt",
			l->version(), p->m, p->n, p->k, hu_format_name(p->fa), hu_format_name(p->fb),
			hu_format_name(p->fd), st);
	}
	say(l, x);
	l->n++;
	*out = x;
	return HU_OK;
}

hu_status
hu_cublas_plan(const hu_cublas_product *p, size_t *workspace, int *slices, char *ran, size_t size)
{
	library *l;
	plan *x;

	HU_TRY(plan_of(p, &l, &x));
	*workspace = x->choice.workspace;
	*slices = x->slices;
	if (ran)
		snprintf(ran, size, "%s", x->ran);
	return HU_OK;
}

int
hu_cublas_line(size_t i, char *to, size_t size)
{
	const library *l = i < libraries[0].n ? &libraries[0] : &libraries[1];

	i -= l == libraries ? 0 : libraries[0].n;
	if (i >= l->n)
		return 0;
	hu_cublas_print(&l->plans[i].p, l->version(), &l->plans[i].choice, to, size);
	return 1;
}

hu_status
hu_cublas_run(const hu_cublas_product *p, void *queue, const void *a, const void *b, void *d, void *workspace)
{
	static const double one = 1, zero = 0;
	static const float onef = 1, zerof = 0;
	library *l;
	plan *x;

	HU_TRY(plan_of(p, &l, &x));
	int wide = p->fa == HU_FP64, st = l->matmul(l->handle, x->desc, wide ? (const void *)&one : &onef, b, x->a, a,
					     x->b, wide ? (const void *)&zero : &zerof, d, x->d, d, x->d,
					     &x->choice.algo, workspace, x->choice.workspace, queue);
	return st ? hu_fail(HU_EDEVICE,
		"cublasLtMatmul of %u x %u x %u, %s, failed with status %d", p->m, p->n, p->k, x->ran, st)
		  : HU_OK;
}
