/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/effect/confidence.h"

#include <math.h>

/* P(X <= k) for 0 < p < 1 and k < n, from the term of k down to that of 0. Terms that no longer count are left out
   where those below them are smaller still. */
static long double
at_most(size_t k, size_t n, long double p)
{
	long double all = (long double)n, at = (long double)k, odds = (1 - p) / p, sum = 0,
		    term = expl(lgammal(all + 1) - lgammal(at + 1) - lgammal(all - at + 1) + at * logl(p) +
				(all - at) * log1pl(-p));

	if (term == 0 && at > (all + 1) * p) /* it underflowed far above the mean */
		return 1;
	for (size_t i = k;; i--) {
		long double ratio = (long double)i / (long double)(n - i + 1) * odds;
		sum += term;
		if (!i || (ratio < 1 && term <= sum * 0x1p-70L * (1 - ratio)))
			return sum;
		term *= ratio;
	}
}

double
hu_confidence_most(size_t k, size_t n, double c)
{
	long double low = 0, high = 1;

	if (k >= n)
		return 1;
	for (int step = 0; step < 128 && high - low > 0x1p-42L * high; step++) {
		long double mid = 0.5L * (low + high);
		if (at_most(k, n, mid) > 1 - (long double)c)
			low = mid;
		else
			high = mid;
	}
	return (double)high;
}

size_t
hu_confidence_inputs(size_t k, double limit, double c)
{
	const size_t most = (size_t)1 << 40;
	size_t low = k, high = k + 1; /* k of k inputs never keep a limit below 1 */

	if (!(limit > 0))
		return 0;
	if (limit >= 1)
		return k ? k : 1;
	while (at_most(k, high, limit) > 1 - (long double)c) {
		low = high;
		if (high >= most)
			return 0;
		high *= 2;
	}
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (at_most(k, mid, limit) > 1 - (long double)c)
			low = mid;
		else
			high = mid;
	}
	return high;
}
