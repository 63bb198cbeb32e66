/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/power.h"

#include "analyzers/drift/statistics/student.h"

#include <math.h>

/* The logarithm of the density of y = s/sigma: n·y² has the distribution chi square with n degrees of freedom. */
static double
log_density(double y, int n)
{
	double half = 0.5 * n;

	return log(2) + half * log(half) - lgamma(half) + (n - 1) * log(y) - half * y * y;
}

double
hu_power(double t, int n, double d)
{
	enum { STEPS = 4000 }; /* beyond 12 standard deviations is less than 1e-30 */
	double high = 1 + 12 / sqrt(n), h = high / STEPS, sum = 0;

	for (int i = 0; i <= STEPS; i++) {
		double y = i ? i * h : 1e-12, p = 0.5 * erfc((t * y - d) / sqrt(2)), w = i % 2 ? 4 : 2;
		sum += (i == 0 || i == STEPS ? 1 : w) * p * exp(log_density(y, n));
	}
	return sum * h / 3;
}

double
hu_power_shift(double alpha, int n, double power)
{
	double t = hu_student_limit(alpha, n), low = 0, high = 1;

	while (hu_power(t, n, high) < power)
		high *= 2;
	while (high - low > 0x1p-30 * high) {
		double mid = 0.5 * (low + high);
		if (hu_power(t, n, mid) < power)
			low = mid;
		else
			high = mid;
	}
	return high;
}
