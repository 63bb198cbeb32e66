/* SPDX-License-Identifier: Apache-2.0
   The exact values of convolutions of one filter for each channel, whose operands are certified values: inner products
   of double-doubles, in which channels that lie side by side in memory are computed side by side. */
#include "lib/op/contract/depthwise/depthwise.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/exact/dd/ddw.h"
#include "lib/op/sink.h"

#include <math.h>
#include <stdlib.h>

/* The parts of consecutive double-doubles. */
typedef struct line {
	const double *h, *l, *e;
} line;

/* A pixel's taps within the image: all channels of the image there, and their filters' weights. */
typedef struct taps {
	size_t n;
	line *x, *w;
} taps;

static void
channel(const taps *t, size_t i, double *hi, double *lo, double *err)
{
	hu_dd s = hu_dd_of(0);

	for (size_t k = 0; k < t->n; k++) {
		hu_dd x = { t->x[k].h[i], t->x[k].l[i], t->x[k].e[i] },
		      w = { t->w[k].h[i], t->w[k].l[i], t->w[k].e[i] };
		s = hu_dd_add(s, hu_dd_mul(x, w));
	}
	hi[i] = s.h;
	lo[i] = s.l;
	err[i] = s.e;
}

#ifdef HU_DDW
#define HU_DDW_EACH "lib/op/contract/depthwise/depthwise_dd.inc"
#include "lib/exact/dd/ddw_each.h"
#define FIRST(...) HU_SIMD_PICK(hu_ddw8_channels(__VA_ARGS__), hu_ddw4_channels(__VA_ARGS__), 0)
#else
#define FIRST(...) 0
#endif

/* An operand's parts: doubles, of which `own` is to be freed, and n zeros where there are no parts. */
typedef struct source {
	line all;
	double *own;
	int has_l, has_e;
} source;

static source
source_of(const hu_tensor *t, const hu_low *low, const double *zeros)
{
	source s = { { t->data, low->lo, low->err }, NULL, low->lo != NULL, low->err != NULL };

	if (!hu_is_wide(t->format)) {
		s.own = hu_xmalloc((t->n + 1) * sizeof *s.own);
		for (size_t i = 0; i < t->n; i++)
			s.own[i] = (double)((const float *)t->data)[i];
		s.all.h = s.own;
	}
	if (!s.has_l)
		s.all.l = zeros;
	if (!s.has_e)
		s.all.e = zeros;
	return s;
}

static line
line_at(const source *s, size_t i)
{
	return (line){ s->all.h + i, s->all.l + (s->has_l ? i : 0), s->all.e + (s->has_e ? i : 0) };
}

/* Collects the taps of output pixel m that lie within the image; a tap outside adds an exact zero. */
static void
meet(const hu_contract *x, size_t m, const source *image, const source *filters, taps *t)
{
	size_t col = m % x->wo, r = m / x->wo % x->ho, n = m / x->wo / x->ho;

	t->n = 0;
	for (size_t i = 0; i < x->kh; i++) {
		ptrdiff_t v = (ptrdiff_t)(r * x->sh + i * x->dh) - x->pad_h;
		for (size_t j = 0; j < x->kw && v >= 0 && v < (ptrdiff_t)x->h; j++) {
			ptrdiff_t u = (ptrdiff_t)(col * x->sw + j * x->dw) - x->pad_w;
			if (u < 0 || u >= (ptrdiff_t)x->w)
				continue;
			t->x[t->n] = line_at(image, ((n * x->h + (size_t)v) * x->w + (size_t)u) * x->cin);
			t->w[t->n++] = line_at(filters, (i * x->kw + j) * x->cout);
		}
	}
}

/* Says nothing of a value where a part is not finite, as where an operand was not. */
static void
doubt(size_t n, const double *hi, double *lo, double *err)
{
	for (size_t i = 0; i < n; i++)
		if (!(fabs(hi[i]) < INFINITY && fabs(lo[i]) < INFINITY && err[i] < INFINITY)) {
			lo[i] = 0;
			err[i] = INFINITY;
		}
}

int
hu_depthwise_enclose(const hu_contract *x, hu_sink *sink)
{
	if (x->ci != 1 || x->co != 1 || x->batches < 2 || x->scale != 1)
		return 0;
	double *zeros = hu_xcalloc(x->cout + 1, sizeof *zeros);
	source image = source_of(x->a, &sink->low[0], zeros), filters = source_of(x->b, &sink->low[1], zeros);

#pragma omp parallel num_threads(hu_threads()) if (x->m * x->cout * x->k > 65536)
	{
		double *v = hu_xmalloc((3 * x->cout + 1) * sizeof *v), *lo = v + x->cout, *err = lo + x->cout;
		line *lines = hu_xmalloc((2 * x->k + 1) * sizeof *lines);
		taps t = { 0, lines, lines + x->k };
#pragma omp for schedule(dynamic, 4)
		for (size_t m = 0; m < x->m; m++) {
			hu_tile tile = { x->cout, m * x->cout, NULL, v, lo, err, NULL, NULL };
			meet(x, m, &image, &filters, &t);
			for (size_t i = FIRST(&t, x->cout, v, lo, err); i < x->cout; i++)
				channel(&t, i, v, lo, err);
			doubt(x->cout, v, lo, err);
			sink->take(sink, &tile);
		}
		free(lines);
		free(v);
	}
	free(image.own);
	free(filters.own);
	free(zeros);
	return 1;
}
