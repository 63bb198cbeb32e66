/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/verdict/bias.h"

#include <math.h>

size_t
hu_bias_cluster(size_t element, size_t of)
{
	return (size_t)((__uint128_t)element * HU_BIAS_CLUSTERS / of);
}

double
hu_bias_statistic(double sum, double squares, double reach)
{
	return squares > 0 ? fmax(fabs(sum) - reach, 0) / sqrt(squares) : 0;
}

double
hu_bias_of_sums(const double *sum, size_t n, double reach, double *all)
{
	double squares = 0;

	*all = 0;
	for (size_t k = 0; k < n; k++) {
		*all += sum[k];
		squares += sum[k] * sum[k];
	}
	return hu_bias_statistic(*all, squares, reach);
}
