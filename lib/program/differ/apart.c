/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/differ/apart.h"

#include "lib/number/round.h"
#include "lib/number/ulps.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double
distance(double x, double y, hu_format f)
{
	if (x == y || (x != x && y != y))
		return 0;
	return hu_isfinite(x) && hu_isfinite(y) ? ldexp(fabs(x - y), -hu_ulp_exponent(x, f)) : INFINITY;
}

hu_apart
hu_apart_of(const hu_tensor *x, const hu_tensor *y)
{
	int coarser = hu_format_of(y->format).p < hu_format_of(x->format).p;
	hu_apart d = { .n = x->n, .format = coarser ? y->format : x->format };
	hu_format f = hu_format_of(d.format);

	for (size_t i = 0; i < x->n; i++) {
		double u = hu_get(x, i), v = hu_get(y, i), ulps;
		if (hu_bits64(u) == hu_bits64(v))
			continue;
		ulps = distance(u, v, f);
		if (!d.differ++)
			d.first = i;
		if (d.differ == 1 || ulps > d.ulps) {
			d.ulps = ulps;
			d.worst = i;
			d.a = u;
			d.b = v;
		}
	}
	return d;
}

void
hu_apart_text(hu_str *s, const hu_apart *d)
{
	char a[40], b[40], ulps[32];

	if (!d->differ)
		return;
	for (int digits = 6; digits <= 17; digits++) { /* as few as tell the two apart */
		snprintf(a, sizeof a, "%.*g", digits, d->a);
		snprintf(b, sizeof b, "%.*g", digits, d->b);
		if (strcmp(a, b))
			break;
	}
	if (d->differ == 1 && d->ulps == 1)
		hu_str_addf(s, "one element of %zu, number %zu, is one ulp of %s off: ", d->n, d->worst,
			hu_format_name(d->format));
	else
		hu_str_addf(s, "%zu of %zu elements differ, the worst, number %zu, by %s ulps of %s: ", d->differ, d->n,
			d->worst, hu_ulps_text(ulps, d->ulps, hu_format_of(d->format), 4), hu_format_name(d->format));
	hu_str_addf(s, "%s -> %s", a, b);
	if (d->a != 0 && isfinite(d->a) && isfinite(d->b))
		hu_str_addf(s, " (relative %.3g)", fabs((d->b - d->a) / d->a));
}
