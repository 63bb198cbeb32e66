/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/reduce/pool.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/op/contract/contract.h"
#include "lib/op/performed.h"

#include <stdlib.h>

hu_status
hu_pool_of(hu_pool *p, const hu_call *c, hu_shape x)
{
	size_t size = hu_attr_count(c, "size", 2), stride = hu_attr_count(c, "stride", size);

	if (x.rank != 4 || !hu_count(x) || !size || !stride)
		return hu_fail(
			HU_EINVAL,
			"%s: the image must have rank 4, and size and stride must be 1 or more", c->op->name);
	p->n = x.d[0];
	p->h = x.d[1];
	p->w = x.d[2];
	p->c = x.d[3];
	p->size = size;
	p->stride = stride;
	p->ho = hu_same(p->h, p->size, p->stride, &p->pad_h);
	p->wo = hu_same(p->w, p->size, p->stride, &p->pad_w);
	return HU_OK;
}

/* Along one axis. */
static double
covered(const hu_pool *p, size_t outputs, size_t n, ptrdiff_t pad)
{
	double sum = 0;

	for (size_t o = 0, from, to; o < outputs; o++) {
		hu_pool_span(p, o, n, pad, &from, &to);
		sum += (double)(to - from);
	}
	return sum;
}

double
hu_pool_covered(const hu_pool *p)
{
	return (double)p->n * (double)p->c * covered(p, p->ho, p->h, p->pad_h) * covered(p, p->wo, p->w, p->pad_w);
}

size_t
hu_pool_winner(const hu_pool *p, const hu_tensor *x, size_t o)
{
	size_t c = o % p->c, col = o / p->c % p->wo, row = o / p->c / p->wo % p->ho, n = o / p->c / p->wo / p->ho;
	size_t r0, r1, c0, c1, best = (size_t)-1, seen = 0;
	double top = 0;

	hu_pool_span(p, row, p->h, p->pad_h, &r0, &r1);
	hu_pool_span(p, col, p->w, p->pad_w, &c0, &c1);
	for (size_t r = r0; r < r1; r++)
		for (size_t k = c0; k < c1; k++) {
			size_t i = ((n * p->h + r) * p->w + k) * p->c + c;
			double v = hu_get(x, i);
			seen++;
			if (v != v)
				return i;
			if (best == (size_t)-1 || v > top) {
				best = i;
				top = v;
			}
		}
	hu_performed_operations(seen);
	return best;
}

hu_status
hu_pool_enclose(const hu_call *c, hu_tensor *const *in, int out, const size_t *element, size_t n, hu_sink *sink,
	hu_pool_value *one)
{
	hu_dd *v = hu_xmalloc((n + 1) * sizeof *v);
	hu_pool p;
	hu_status st = hu_pool_of(&p, c, in[0]->shape);

#pragma omp parallel for schedule(static) num_threads(hu_threads()) if (n > 1024)
	for (size_t i = 0; i < (st == HU_OK ? n : 0); i++)
		v[i] = one(&p, in, sink, element ? element[i] : i);
	if (st == HU_OK)
		st = hu_enclose_list(c, in, out, element, n, sink, v, NULL);
	free(v);
	return st;
}
