/* SPDX-License-Identifier: Apache-2.0
   What the tensor-core micro-kernels of all instruction sets share: which models they know, how operands are
   converted, and the plain version of one block, which does the lanes that a kernel cannot. */
#include "lib/sum/tc/panel.h"

int
hu_tc_plan_of(hu_tc_plan *p, hu_sum s)
{
	hu_tc t = hu_tc_of_sum(s);

	if (t.kind == HU_TC_SCALED) /* a call's scales are all 1 */
		t.kind = HU_TC_BLOCK;
	/* Terms in units of 2^(emax-F) are below 2^(F+2); sums of 16 of them fit 31 bits. */
	if (s.id != HU_SUM_TC || (t.kind != HU_TC_BLOCK && t.kind != HU_TC_HALVES) || t.f > 25 ||
		(t.l != 4 && t.l != 8 && t.l != 16 && t.l != 32))
		return 0;
	p->t = t;
	p->a = hu_tc_inner(t, hu_format_of(s.in));
	p->b = hu_tc_inner(t, hu_format_of(s.in2));
	p->out = hu_format_of(s.out);
	p->step = (size_t)t.l * (t.kind == HU_TC_HALVES ? 2 : 1);
	p->floor = p->out.emin - t.zero > -100 ? p->out.emin - t.zero : -100;
	return p->a.p + p->b.p <= 24;
}

float
hu_tc_operand(float x, hu_format f, int16_t *e, int *near, int *finite)
{
	uint32_t u = hu_bits32(x);
	int field;

	if (f.emin == -126) /* the format has fp32's exponents: drop the bits that tf32 cannot hold */
		u &= ~0u << (24 - f.p);
	field = (int)(u >> 23 & 0xff);
	if (!(u & 0x7fffffffu) || field == 0xff) {
		if (field == 0xff)
			*finite = *near = 0;
		*e = HU_TC_NONE;
		return 0;
	}
	*e = (int16_t)(field - 127 < f.emin ? f.emin : field - 127);
	if (field < 127 - HU_TC_NEAR || field > 127 + HU_TC_NEAR)
		*near = 0;
	return hu_from_bits32(u);
}

void
hu_tc_panel_plain(float *r, const int32_t *mark, const float *c, const float *a, const float *b, size_t nr, int l,
	const hu_tc_plan *p)
{
	int32_t am[32], ae[32], bm[32], be[32];

	for (int k = 0; k < l; k++)
		hu_tc_split(a[k], p->a, &am[k], &ae[k]);
	for (size_t j = 0; j < nr; j++) {
		if (!mark[j])
			continue;
		for (int k = 0; k < l; k++)
			hu_tc_split(b[(size_t)k * nr + j], p->b, &bm[k], &be[k]);
		r[j] = (float)hu_tc_block(am, ae, bm, be, l, p->a.p + p->b.p - 2, c[j], p->t, p->out, NULL);
	}
}
