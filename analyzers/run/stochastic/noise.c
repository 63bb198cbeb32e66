/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/run/stochastic/noise.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
hu_noise_draws_init(hu_noise_draws *d, size_t n)
{
	*d = (hu_noise_draws){ .n = n };
	d->first = hu_xcalloc(n + 1, sizeof *d->first);
	d->sum = hu_xcalloc(n + 1, sizeof *d->sum);
	d->square = hu_xcalloc(n + 1, sizeof *d->square);
	d->zero = hu_xmalloc(n + 1);
	memset(d->zero, 1, n + 1);
}

void
hu_noise_draws_release(hu_noise_draws *d)
{
	free(d->first);
	free(d->sum);
	free(d->square);
	free(d->zero);
	memset(d, 0, sizeof *d);
}

void
hu_noise_draws_add(hu_noise_draws *d, size_t i, double got)
{
	d->first[i] = d->draws ? d->first[i] : got;
	double off = got - d->first[i];

	d->sum[i] += off;
	d->square[i] += off * off;
	d->zero[i] &= got == 0;
}

void
hu_noise_draws_next(hu_noise_draws *d)
{
	d->draws++;
}

void
hu_noise_of(const hu_noise_draws *d, const double *exact, hu_noise *s)
{
	double k = d->draws;

	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < d->n; i++) {
		double mean = d->sum[i] / k, off = d->first[i] - exact[i] + mean, v = 0;
		if (!isfinite(exact[i]) || !isfinite(d->sum[i]))
			continue;
		s->n++;
		s->exact2 += (long double)exact[i] * exact[i];
		s->error2 += (long double)off * off;
		s->dot += (long double)exact[i] * (exact[i] + off);
		s->zero2 += d->zero[i] ? (long double)exact[i] * exact[i] : 0;
		if (k > 1)
			v = fmax(0, d->square[i] - d->sum[i] * mean) / (k - 1);
		s->variance += v;
		s->dot_variance += (long double)exact[i] * exact[i] * v;
	}
}

void
hu_noise_merge(hu_noise *to, const hu_noise *s)
{
	to->n += s->n;
	to->exact2 += s->exact2;
	to->error2 += s->error2;
	to->variance += s->variance;
	to->dot += s->dot;
	to->dot_variance += s->dot_variance;
	to->zero2 += s->zero2;
}

void
hu_noise_pack(hu_pack *r, hu_noise *s)
{
	hu_pack_size(r, &s->n);
	hu_pack_wide(r, &s->exact2);
	hu_pack_wide(r, &s->error2);
	hu_pack_wide(r, &s->variance);
	hu_pack_wide(r, &s->dot);
	hu_pack_wide(r, &s->dot_variance);
	hu_pack_wide(r, &s->zero2);
}

static double
share(const hu_noise *s, long double of)
{
	return s->exact2 > 0 ? (double)sqrtl(fmaxl(of, 0) / s->exact2) : NAN;
}

double
hu_noise_error(const hu_noise *s)
{
	return share(s, s->error2);
}

double
hu_noise_single(const hu_noise *s, int k)
{
	return k > 1 ? share(s, s->variance) : NAN;
}

double
hu_noise_bias(const hu_noise *s, int k)
{
	return k > 1 ? share(s, s->error2 - s->variance / k) : NAN;
}

double
hu_noise_cosine(const hu_noise *s, int k)
{
	/* |exact + e|^2 = 2 exact (exact + e) - |exact|^2 + |e|^2 */
	long double noise = k > 1 ? s->variance / k : 0, got2 = 2 * s->dot - s->exact2 + s->error2 - noise;

	if (!(s->exact2 > 0))
		return NAN;
	return got2 > 0 ? (double)fminl(1, s->dot / sqrtl(got2 * s->exact2)) : 0;
}

double
hu_noise_gain(const hu_noise *s)
{
	return s->exact2 > 0 ? (double)(s->dot / s->exact2) : NAN;
}

double
hu_noise_lost(const hu_noise *s, int k)
{
	double lost = 1 - hu_noise_gain(s) - 2 * (double)(sqrtl(s->dot_variance / k) / s->exact2);

	return s->exact2 > 0 ? sqrt(fmax(0, lost)) : NAN;
}

double
hu_noise_zero(const hu_noise *s)
{
	return share(s, s->zero2);
}
