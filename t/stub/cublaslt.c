/* SPDX-License-Identifier: Apache-2.0
   A cuBLASLt for the host's memory: the entry points that cuda/cublas/cublas.c calls, by a plain loop, refusing
   what the library's manual refuses. t/cuda/u-cuda-cublas.c compiles it. stub_set(KEY, X) and stub_get(KEY): see below.
 */
#include "cuda/cublas/cublas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct desc { int compute, scale, ta, tb, fast; } desc;
typedef struct layout { int type; uint64_t rows, cols; int64_t ld, step; int32_t batches; } layout;
typedef struct pref { int64_t workspace; uint32_t mask, align[4]; } pref;

/* Set: 0 status of Create, 1 slices of k, 2 algorithms found, 3 a wrong answer, 7 its version; 1 and 7 also by
   STUB_SLICES and STUB_VERSION. Got: 4 products, 5 heuristics, 6 largest m*k of a B operand's bytes, 8 checks. */
static long long key[9] = { 0, 1, 1, 0, 0, 0, 0, 130000, 0 };
static char why[200];

void stub_set(int k, long long x) { key[k] = x; }
long long stub_get(int k) { return key[k]; }
const char *stub_why(void) { return why; }

static int
no(const char *text)
{
	snprintf(why, sizeof why, "%s", text);
	return 15;
}

static size_t
size_of(int type)
{
	return type == CUBLASLT_R_64F                              ? 8
	       : type == CUBLASLT_R_32F                            ? 4
	       : type == CUBLASLT_R_16F || type == CUBLASLT_R_16BF ? 2
								   : 1;
}

static double
small(unsigned u, int bits, int p, int bias, int fn)
{
	int mant = p - 1, sign = (int)(u >> (bits - 1) & 1), e = (int)(u >> mant & ((1u << (bits - p)) - 1)),
	    m = (int)(u & ((1u << mant) - 1)), top = (1 << (bits - p)) - 1;
	double x = e ? ldexp(m + (1 << mant), e - bias - mant) : ldexp(m, 1 - bias - mant);

	if (fn ? e == top && m == (1 << mant) - 1 : e == top)
		x = fn || m ? NAN : INFINITY;
	return sign ? -x : x;
}

static double
value(const void *x, size_t i, int type)
{
	uint32_t w;
	float f;

	switch (type) {
	case CUBLASLT_R_64F: return ((const double *)x)[i];
	case CUBLASLT_R_32F: return ((const float *)x)[i];
	case CUBLASLT_R_16F: return small(((const uint16_t *)x)[i], 16, 11, 15, 0);
	case CUBLASLT_R_16BF:
		w = (uint32_t)((const uint16_t *)x)[i] << 16;
		memcpy(&f, &w, sizeof f);
		return f;
	case CUBLASLT_R_8F_E4M3: return small(((const uint8_t *)x)[i], 8, 4, 7, 1);
	default: return small(((const uint8_t *)x)[i], 8, 3, 15, 0);
	}
}

/* To nearest even, P bits from EMIN on, as 16-bit code. */
static unsigned
code(double x, int p, int emin, int emax)
{
	int e, mant = p - 1, bias = 1 - emin;
	unsigned sign = signbit(x) ? 0x8000 : 0;
	double a = fabs(x);

	if (isnan(x))
		return 0x7fff;
	frexp(a, &e);
	e = a == 0 || e - 1 < emin ? emin : e - 1;
	double q = nearbyint(ldexp(a, mant - e));
	if (isinf(a) || q >= ldexp(2, mant + emax - e))
		return sign | (unsigned)(2 * bias + 1) << mant;
	return sign |
	       (unsigned)((unsigned long)q + ((unsigned long)(e - emin) << mant)); /* a carry moves the exponent */
}

static void
put(void *d, size_t i, double x, int type)
{
	if (type == CUBLASLT_R_64F)
		((double *)d)[i] = x;
	else if (type == CUBLASLT_R_32F)
		((float *)d)[i] = (float)x;
	else
		((uint16_t *)d)[i] =
			(uint16_t)(type == CUBLASLT_R_16F ? code((float)x, 11, -14, 15) : code((float)x, 8, -126, 127));
}

static long long
either(int k, const char *name)
{
	const char *s = getenv(name);

	return s ? atoll(s) : key[k];
}

size_t cublasLtGetVersion(void) { return (size_t)either(7, "STUB_VERSION"); }

/* What an algorithm is for: FNV-1a of the matrices. */
static uint64_t
kind(const desc *e, const layout *a, const layout *b, const layout *d)
{
	uint64_t all[] = { (uint64_t)e->compute, (uint64_t)e->ta, (uint64_t)e->tb, (uint64_t)a->type, a->rows, a->cols,
		(uint64_t)a->ld, (uint64_t)b->type, b->rows, b->cols, (uint64_t)b->ld, (uint64_t)d->type, d->rows,
		d->cols, (uint64_t)d->ld, (uint64_t)d->batches, (uint64_t)a->step, (uint64_t)b->step,
		(uint64_t)d->step },
		 h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		h = (h ^ all[i]) * 0x100000001b3u;
	return h;
}

int
cublasLtCreate(void **handle)
{
	*handle = &key;
	return (int)key[0];
}

int
cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
	desc *d = calloc(1, sizeof *d);

	d->compute = compute;
	d->scale = scale;
	d->fast = -1;
	*out = d;
	return 0;
}

int
cublasLtMatmulDescSetAttribute(void *p, int which, const void *x, size_t size)
{
	desc *d = p;

	if (which == CUBLASLT_DESC_FAST_ACCUM && size == 1)
		d->fast = *(const int8_t *)x;
	else if ((which == CUBLASLT_DESC_TRANSA || which == CUBLASLT_DESC_TRANSB) && size == 4)
		*(which == CUBLASLT_DESC_TRANSA ? &d->ta : &d->tb) = *(const int32_t *)x;
	else
		return 7;
	return 0;
}

int
cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
	layout *l = calloc(1, sizeof *l);

	*l = (layout){ type, rows, cols, ld, 0, 1 };
	*out = l;
	return ld < (int64_t)rows ? 7 : 0;
}

int
cublasLtMatrixLayoutSetAttribute(void *p, int which, const void *x, size_t size)
{
	layout *l = p;

	if (which == CUBLASLT_LAYOUT_BATCH_COUNT && size == 4)
		memcpy(&l->batches, x, 4);
	else if (which == CUBLASLT_LAYOUT_BATCH_OFFSET && size == 8)
		memcpy(&l->step, x, 8);
	else
		return 7;
	return 0;
}

int
cublasLtMatmulDescDestroy(void *p)
{
	free(p);
	return 0;
}

int
cublasLtMatrixLayoutDestroy(void *p)
{
	free(p);
	return 0;
}

int
cublasLtMatmulPreferenceCreate(void **out)
{
	*out = calloc(1, sizeof(pref));
	return 0;
}

int
cublasLtMatmulPreferenceSetAttribute(void *p, int which, const void *x, size_t size)
{
	pref *f = p;

	if (which == CUBLASLT_PREF_MAX_WORKSPACE && size == 8)
		memcpy(&f->workspace, x, 8);
	else if (which == CUBLASLT_PREF_REDUCTION_MASK && size == 4)
		memcpy(&f->mask, x, 4);
	else if (which >= CUBLASLT_PREF_ALIGN_A && which <= CUBLASLT_PREF_ALIGN_D && size == 4)
		memcpy(&f->align[which - CUBLASLT_PREF_ALIGN_A], x, 4);
	else
		return 7;
	return 0;
}

int
cublasLtMatmulPreferenceDestroy(void *p)
{
	free(p);
	return 0;
}

static int
eight(int type)
{
	return type == CUBLASLT_R_8F_E4M3 || type == CUBLASLT_R_8F_E5M2;
}

/* The manual's table of types, and its rules for fp8. */
static int
supported(const desc *e, const layout *a, const layout *b, const layout *d)
{
	uint64_t m = e->ta ? a->cols : a->rows, k = e->ta ? a->rows : a->cols, k2 = e->tb ? b->cols : b->rows,
		 n = e->tb ? b->rows : b->cols;
	int wide = a->type == CUBLASLT_R_64F, f32 = a->type == CUBLASLT_R_32F;

	if (k != k2 || d->rows != m || d->cols != n)
		return no("the matrices do not fit together");
	if (a->batches != b->batches || a->batches != d->batches || a->batches < 1)
		return no("numbers of products differ");
	if (e->compute != (wide         ? CUBLASLT_COMPUTE_64F_PEDANTIC
				  : f32 ? e->compute == CUBLASLT_COMPUTE_32F_FAST_TF32 ? e->compute
										       : CUBLASLT_COMPUTE_32F_PEDANTIC
					: CUBLASLT_COMPUTE_32F))
		return no("compute type");
	if (e->scale != (wide ? CUBLASLT_R_64F : CUBLASLT_R_32F))
		return no("scale type");
	if (eight(a->type)) {
		if (!eight(b->type) || (a->type == CUBLASLT_R_8F_E5M2 && b->type == CUBLASLT_R_8F_E5M2))
			return no("fp8 types");
		if (!e->ta || e->tb || k % 16 || m % 16 || a->ld % 16 || b->ld % 16 || d->ld % 4)
			return no("fp8: A transposed, B not, m and k multiples of 16");
		if (e->fast != 0)
			return no("fp8: fast accumulation");
		return d->type == CUBLASLT_R_32F || d->type == CUBLASLT_R_16F || d->type == CUBLASLT_R_16BF
			       ? 0
			       : no("fp8: output");
	}
	if (b->type != a->type)
		return no("types of A and B");
	return d->type == a->type || (d->type == CUBLASLT_R_32F && !wide) ? 0 : no("type of D");
}

int
cublasLtMatmulAlgoGetHeuristic(void *handle, void *e, void *a, void *b, void *c, void *d, void *p, int want,
	hu_cublas_choice *choice, int *found)
{
	const pref *f = p;
	int st = supported(e, a, b, d);

	key[5]++;
	if (handle != &key || c != d || want != 1 || f->workspace != CUBLASLT_WORKSPACE ||
		f->mask != CUBLASLT_REDUCTION_COMPUTE_TYPE)
		return no("heuristic: handle, layouts or preference");
	for (int i = 0; i < 4; i++)
		if (!f->align[i] || f->align[i] != f->align[0] || f->align[0] > CUBLASLT_ALIGN)
			return no("heuristic: alignment");
	*found = st ? 0 : (int)key[2];
	memset(choice, 0, sizeof *choice);
	choice->algo.data[0] = 66;
	choice->algo.data[1] = (uint64_t)either(1, "STUB_SLICES");
	choice->algo.data[6] = f->align[0];
	choice->algo.data[7] = kind(e, a, b, d);
	choice->workspace = (size_t)(choice->algo.data[1] > 1 ? 4096 : 0);
	return st;
}

int
cublasLtMatmulAlgoCheck(
	void *handle, void *e, void *a, void *b, void *c, void *d, const hu_cublas_algo *algo, hu_cublas_choice *result)
{
	key[8]++;
	if (handle != &key || c != d || supported(e, a, b, d))
		return no("check: handle or layouts");
	if (algo->data[0] != 66 || !algo->data[1] || algo->data[7] != kind(e, a, b, d))
		return no("check: no algorithm of mine, or another shape's");
	memset(result, 0, sizeof *result);
	result->algo = *algo;
	result->workspace = (size_t)(algo->data[1] > 1 ? 4096 : 0);
	return 0;
}

int
cublasLtMatmulAlgoConfigGetAttribute(const hu_cublas_algo *algo, int which, void *out, size_t size, size_t *written)
{
	uint32_t v = which == CUBLASLT_CONFIG_ID          ? (uint32_t)algo->data[0]
		     : which == CUBLASLT_CONFIG_SPLITK    ? (uint32_t)algo->data[1]
		     : which == CUBLASLT_CONFIG_REDUCTION ? algo->data[1] > 1 ? 2 : 0
							  : 20;
	uint16_t s = 5;
	int is_short = which == CUBLASLT_CONFIG_INNER || which == CUBLASLT_CONFIG_CLUSTER;

	*written = is_short ? sizeof s : sizeof v;
	if (size != *written)
		return 7;
	memcpy(out, is_short ? (void *)&s : (void *)&v, size);
	return 0;
}

/* Σ over k from FIRST to END, descending, so that no order is expected. */
static double
run(const desc *e, const void *a, const layout *la, const void *b, const layout *lb, size_t i, size_t j, size_t first,
	size_t end)
{
	int wide = la->type == CUBLASLT_R_64F;
	double s = 0;

	for (size_t k = end; k-- > first;) {
		double x = value(a, e->ta ? k + i * (size_t)la->ld : i + k * (size_t)la->ld, la->type),
		       y = value(b, e->tb ? j + k * (size_t)lb->ld : k + j * (size_t)lb->ld, lb->type);
		if (e->compute == CUBLASLT_COMPUTE_32F_FAST_TF32) { /* chopped to 11 bits, where it is no tf32 yet */
			x = ldexp(trunc(ldexp(frexp(x, &(int){ 0 }), 11)), ilogb(x == 0 ? 1 : x) + 1 - 11);
			y = ldexp(trunc(ldexp(frexp(y, &(int){ 0 }), 11)), ilogb(y == 0 ? 1 : y) + 1 - 11);
		}
		s = wide ? s + x * y : (double)(float)(s + (double)(float)(x * y));
	}
	return s;
}

static void
product(const desc *e, const void *a, const layout *la, const void *b, const layout *lb, void *d, const layout *ld,
	size_t slices)
{
	size_t k = e->ta ? la->rows : la->cols;
	int wide = e->scale == CUBLASLT_R_64F;

	for (size_t j = 0; j < ld->cols; j++)
		for (size_t i = 0; i < ld->rows; i++) {
			double s = 0;
			for (size_t p = 0; p < slices; p++) {
				double part = run(e, a, la, b, lb, i, j, k * p / slices, k * (p + 1) / slices);
				s = wide ? s + part : (double)(float)(s + part);
			}
			if (key[3] && i == 1 && j == 1)
				s += fabs(s) * 0x1p-8 + 0x1p-8;
			put(d, i + j * (size_t)ld->ld, s, ld->type);
		}
}

int
cublasLtMatmul(void *handle, void *desc_, const void *alpha, const void *a, void *la_, const void *b, void *lb_,
	const void *beta, const void *c, void *lc, void *d, void *ld_, const hu_cublas_algo *algo, void *workspace,
	size_t bytes, void *queue)
{
	const desc *e = desc_;
	const layout *la = la_, *lb = lb_, *ld = ld_;
	size_t slices = (size_t)algo->data[1];
	int wide = e->scale == CUBLASLT_R_64F;

	key[4]++;
	if (handle != &key || queue || lc != ld_ || c != d || algo->data[0] != 66 ||
		algo->data[7] != kind(e, la, lb, ld))
		return no("matmul: handle, C or another shape's algorithm");
	if (supported(e, la, lb, ld))
		return 15;
	if ((wide ? *(const double *)alpha : (double)*(const float *)alpha) != 1 ||
		(wide ? *(const double *)beta : (double)*(const float *)beta) != 0)
		return no("matmul: alpha, beta");
	if (((size_t)a | (size_t)b | (size_t)d) % algo->data[6] || (size_t)workspace % 64 ||
		bytes != (slices > 1 ? 4096u : 0u))
		return no("matmul: alignment or workspace");
	if (slices > 1)
		memset(workspace, 0x5a, bytes);
	long long room = (long long)(lb->cols * lb->rows * size_of(lb->type));
	key[6] = room > key[6] ? room : key[6];
	for (int z = 0; z < ld->batches; z++)
		product(e, (const char *)a + (size_t)z * (size_t)la->step * size_of(la->type), la,
			(const char *)b + (size_t)z * (size_t)lb->step * size_of(lb->type), lb,
			(char *)d + (size_t)z * (size_t)ld->step * size_of(ld->type), ld, slices);
	return 0;
}
