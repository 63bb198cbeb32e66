/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/student.h"

#include <math.h>

/* P(T > t) for t >= 0, summed so that small tails keep their digits. */
static double
tail_of(double t, int n)
{
	double theta = atan2(t, sqrt(n)), c = cos(theta), s = sin(theta), sum = 0, term;

	/* A&S 26.7.3, 26.7.4 give A = P(|T| <= t); the tail is (1 - A)/2. Where A is near 1 the series of the tail,
	   I_x(n/2, 1/2)/2 with x = n/(n + t²), is summed instead: all its terms are positive. */
	double x = c * c;
	if (x < 0.5) {
		double a = 0.5 * n, f = 1, p = exp(lgamma(a + 0.5) - lgamma(a) - 0.5 * log(M_PI) + a * log(x)) * s / a;
		for (int k = 0; k < 400; k++) {
			sum += f;
			f *= x * (a + 0.5 + k) / (a + 1 + k);
		}
		return 0.5 * p * sum;
	}
	if (n % 2) {
		term = c;
		for (int k = 1; k <= n - 2; k += 2) {
			sum += term;
			term *= c * c * (k + 1) / (k + 2);
		}
		return 0.5 - (theta + s * sum) / M_PI;
	}
	term = 1;
	for (int k = 0; k <= n - 2; k += 2) {
		sum += term;
		term *= c * c * (k + 1) / (k + 2);
	}
	return 0.5 - 0.5 * s * sum;
}

double
hu_student_limit(double tail, int n)
{
	double low = 0, high = 1;

	while (tail_of(high, n) > tail)
		high *= 2;
	while (high - low > 0x1p-40 * high) {
		double mid = 0.5 * (low + high);
		if (tail_of(mid, n) > tail)
			low = mid;
		else
			high = mid;
	}
	return high;
}

/* P(X > x): from 1 or 2 degrees of freedom on, one term more for each 2. */
static double
above(double x, int n)
{
	double half = 0.5 * x, p = n % 2 ? erfc(sqrt(half)) : exp(-half);

	for (int k = n % 2 ? 1 : 2; k < n; k += 2)
		p += exp(0.5 * k * log(half) - half - lgamma(0.5 * k + 1));
	return p;
}

double
hu_chi_square_limit(double tail, int n)
{
	double low = 0, high = 1;

	while (1 - above(high, n) < tail)
		high *= 2;
	while (high - low > 0x1p-40 * high) {
		double mid = 0.5 * (low + high);
		if (1 - above(mid, n) < tail)
			low = mid;
		else
			high = mid;
	}
	return high;
}
