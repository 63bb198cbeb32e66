/* SPDX-License-Identifier: Apache-2.0
   The cast of the elements that share a scale. Loops take eight at a time; where the last eight are not full they are
   cast beside, with zeros. */
#include "analyzers/inspect/inspect_tasks.h"

#include <math.h>
#include <string.h>

static hu_cast_scaled
scaled_by(const hu_block *b, hu_block_scale s)
{
	hu_cast_scaled c = { .scale = s.scale, .zero = s.zero, .steps = hu_block_steps(b) };
	hu_format f = hu_format_of(b->element);

	if (b->element != HU_NO_FORMAT) {
		c.p = f.p;
		c.emin = f.emin;
		c.top = f.max;
		c.low = -f.max;
	} else if (b->kind == HU_BLOCK_ZERO_POINT) {
		c.top = (1 << b->bits) - 1;
	} else {
		c.top = (1 << (b->bits - 1)) - 1;
		c.low = -c.top;
	}
	return c;
}

/* The same where the format rounds otherwise than the loops do: an element at a time. */
static void
cast_each(hu_cast_sums *s, const hu_inspect_desk *d, const hu_block *b, hu_block_scale scale, size_t at, size_t from,
	size_t n)
{
	double normal = b->element == HU_NO_FORMAT ? 0 : hu_pow2(hu_format_of(b->element).emin) / (double)b->times;

	for (size_t i = from; i < from + n; i++) {
		double x = fabs(d->x[i]);
		uint8_t code;
		float got;
		hu_block_encode(b, scale, &code, d->f + i, 1, at + i);
		hu_block_decode(b, scale, &got, &code, 1);
		d->got[i] = (double)got;
		s->saturated += (size_t)hu_block_saturates(b, scale, d->f[i]);
		s->subnormal += x != 0 && got != 0 && fabs(d->got[i]) < normal * scale.scale;
		s->lost += x != 0 && x < normal * scale.scale && d->got[i] != d->x[i];
	}
}

void
hu_inspect_cast_block(hu_cast_sums *s, const hu_inspect_job *j, const hu_inspect_desk *d, const hu_block *b,
	hu_block_scale scale, size_t at, size_t from, size_t n)
{
	hu_cast_scaled c = scaled_by(b, scale);
	size_t full = n / 8 * 8;

	if (hu_isnan(scale.scale) || scale.scale == 0) {
		for (size_t i = from; i < from + n; i++)
			d->got[i] = scale.scale;
		return;
	}
	if (b->mode != HU_RNE || b->times != 1 || scale.by != 0) {
		cast_each(s, d, b, scale, at, from, n);
		return;
	}
	j->loops->scaled(s, d->got + from, d->narrow + from, d->x + from, full, &c);
	if (full < n) {
		double x[8] = { 0 }, exact[8] = { 0 }, got[8];
		memcpy(x, d->narrow + from + full, (n - full) * sizeof *x);
		memcpy(exact, d->x + from + full, (n - full) * sizeof *x);
		j->loops->scaled(s, got, x, exact, 8, &c);
		memcpy(d->got + from + full, got, (n - full) * sizeof *x);
	}
}
