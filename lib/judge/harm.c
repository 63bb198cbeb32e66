/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/harm.h"

#include "lib/base/inline.h"

#include <math.h>
#include <string.h>

HU_INLINE void
add(hu_harm *h, double got, double exact, int lost)
{
	if (!isfinite(got) || !isfinite(exact)) {
		h->nonfinite++;
		return;
	}
	long double e = exact, g = got;
	h->exact2 += e * e;
	h->got2 += g * g;
	h->dot += e * g;
	if (lost)
		h->lost2 += e * e;
}

void
hu_harm_add(hu_harm *h, double got, double exact, int lost)
{
	add(h, got, exact, lost);
}

void
hu_harm_add_all(hu_harm *h, const double *got, const double *exact, size_t n)
{
	hu_harm sum = *h; /* in registers, unless it is the caller's */

	for (size_t i = 0; i < n; i++)
		if (got[i] != 0 || exact[i] != 0) /* zeros change no sum */
			add(&sum, got[i], exact[i], got[i] == 0);
	*h = sum;
}

void
hu_harm_add_some(hu_harm *h, const double *got, const double *exact, const char *lost, size_t n)
{
	hu_harm sum = *h;

	for (size_t i = 0; i < n; i++)
		add(&sum, got[i], exact[i], lost[i]);
	*h = sum;
}

void
hu_harm_merge(hu_harm *h, const hu_harm *other)
{
	h->exact2 += other->exact2;
	h->got2 += other->got2;
	h->lost2 += other->lost2;
	h->dot += other->dot;
	h->nonfinite += other->nonfinite;
}

double
hu_harm_share(const hu_harm *h)
{
	return h->exact2 > 0 ? (double)sqrtl(h->lost2 / h->exact2) : NAN;
}

double
hu_harm_cosine(const hu_harm *h)
{
	if (!(h->exact2 > 0))
		return NAN;
	if (!(h->got2 > 0))
		return 0;
	double c = (double)(h->dot / (sqrtl(h->exact2) * sqrtl(h->got2)));
	return c > 1 ? 1 : c < -1 ? -1 : c;
}

double
hu_harm_length(const hu_harm *h)
{
	return h->exact2 > 0 ? (double)sqrtl(h->got2 / h->exact2) : NAN;
}

const char *
hu_verdict(double share, double cosine)
{
	if (isnan(share) || isnan(cosine))
		return "-";
	if (share >= 0.5 || cosine <= 0.9)
		return "fatal";
	return share <= 0.1 && cosine >= 0.99 ? "harmless" : "costs";
}

const char *
hu_harm_verdict(const hu_harm *h)
{
	return h->nonfinite ? "fatal" : hu_verdict(hu_harm_share(h), hu_harm_cosine(h));
}

void
hu_harm_say(hu_str *s, const hu_harm *h, const char *what)
{
	const char *others = "";

	if (h->nonfinite) {
		hu_str_addf(s, "%zu element%s of %s %s not finite", h->nonfinite, h->nonfinite == 1 ? "" : "s", what,
			h->nonfinite == 1 ? "is" : "are");
		others = h->exact2 > 0 ? "; of the others, " : ", the others are 0";
	} else if (!(h->exact2 > 0)) {
		others = " is 0";
		hu_str_add(s, what);
	}
	hu_str_add(s, others);
	if (h->exact2 > 0)
		hu_str_addf(s, "%.3g of %s's L2 norm lost, cosine %.6g", hu_harm_share(h), what, hu_harm_cosine(h));
}

int
hu_verdict_rank(const char *word)
{
	return !strcmp(word, "fatal") ? 3 : !strcmp(word, "costs") ? 2 : !strcmp(word, "harmless") ? 1 : 0;
}
