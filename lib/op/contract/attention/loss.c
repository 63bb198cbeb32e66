/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/op/attr.h"
#include "lib/op/contract/attention/flash.h"
#include "lib/sum/bound.h"
#include "lib/sum/result.h"
#include "lib/sum/tc/unit.h"

#include <math.h>

hu_attention_loss
hu_attention_loss_of(const hu_call *c, hu_tensor *const *in)
{
	hu_format f = hu_format_of(c->fmt.compute), g = hu_format_of(in[0]->format), v = hu_format_of(in[2]->format);
	double library = hu_attr_library(c), each = library > 1 ? library : 1;
	hu_attention_loss w = { .u = each * hu_unit(f) + 0x1p-51,
		.tiny = each * hu_smallest(f) + 0x1p-1070,
		.most = f.max,
		.widest = f.max,
		.meets = library > 0 };
	hu_flash x;

	/* A library hands weights to a product of matrices in the operands' format, and its exponentials of operands of
	   16 bits are cheap ones: PyTorch's of 0 is 1 - 2^-14.2 on a CPU. */
	if (library > 0 && g.p < f.p) {
		w.exp = 0x1p-13;
		w.narrow = w.stored = hu_unit(g);
		w.narrow_tiny = hu_smallest(g);
		w.widest = g.max;
	}
	if (hu_attr_num(c, "stored", 0) != 0) {
		hu_format held = hu_format_of(c->fmt.out);
		w.held = hu_unit(held);
		w.held_tiny = 2 * hu_smallest(held);
		w.held_most = held.max;
	}
	w.block = library > 0 ? 0 : hu_flash_block(c);
	if (!w.block)
		return w;
	if (hu_flash_of(&x, c, in, 0) != HU_OK) { /* the call is refused where it runs */
		w.most = 0;
		return w;
	}
	w.inner = x.inner;
	w.outer = x.outer;
	w.most = fmin(f.max / 2, fmin(hu_part_format(x.inner).max, hu_outer_format(x.inner).max));
	if (f.id == HU_FP32) {
		w.exp = HU_FLASH_EXP;
		w.tiny += HU_FLASH_LEAST;
	}
	if (v.p < f.p) {
		w.narrow = hu_unit(v);
		w.narrow_tiny = hu_smallest(v);
		w.widest = v.max;
	}
	if (x.inner.id == HU_SUM_TC) {
		w.cut = x.inner.in == HU_TF32 || x.outer.in == HU_TF32 ? 0x1p-9 + 0x1p-19 : 0;
		w.emin = hu_format_of(x.inner.in).emin;
	}
	return w;
}

hu_attention_sum
hu_attention_sum_loss(const hu_attention_loss *w, int weights, size_t n)
{
	hu_sum s = weights ? w->outer : w->inner;
	size_t block = w->block && weights && w->block < n ? w->block : n, turns = n ? (n + block - 1) / block : 0;
	double count = (double)n + 3, each;

	if (!w->block || !n)
		return (hu_attention_sum){ count * w->u, count * w->tiny };
	/* Between blocks a sum is multiplied, rounded to the compute format, and perhaps added in another. */
	if (s.id == HU_SUM_TC) {
		size_t whole = turns * ((block + 63) / 64 * 64);
		each = hu_sum_tc_bound(s, whole, 0, 0, 1) + w->cut + 3 * (double)turns * w->u;
		return (hu_attention_sum){ each * (1 + w->cut) * (1 + 0x1p-10), count * w->tiny };
	}
	hu_sum_bound b = hu_sum_apriori(s, block + 1, 0);
	double part = hu_unit(hu_part_format(s)) * (s.mode == HU_RNE ? 2 : 4);
	each = b.relative + part + 3 * w->u;
	return (hu_attention_sum){ expm1((double)turns * log1p(each)),
		2 * (double)turns * b.absolute * (1 + (double)turns * each) + 2 * count * w->tiny };
}

double
hu_attention_magnitude(const hu_attention_loss *w, double a, double b)
{
	double p = fabs(a * b), least = ldexp(1, w->emin);

	if (w->block && w->inner.id == HU_SUM_TC && a != 0 && b != 0 && (fabs(a) < least || fabs(b) < least))
		p += 4 * fmax(fabs(a), least) * fmax(fabs(b), least);
	return p;
}
