/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sum/prefixes.h"

#include "lib/sum/table/model.h"

static const hu_draw none = { 0, 0, 0, 0, 0 };

void
hu_prefixes_fused(double *y, const double *x, const double *one, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0;

	for (size_t k = 0; k < n; k++)
		y[k] = acc = hu_model_fma(acc, x[k], one[k], f, s.mode, &none, k, NULL);
}

void
hu_prefixes_rounded(double *y, const double *x, const double *one, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0;

	for (size_t k = 0; k < n; k++) {
		double term = hu_model_product(x[k], one[k], f, s.mode, &none, k);
		y[k] = acc = hu_acc_term(acc, term, f, s.mode, &none, k, HU_DRAW_SUM, NULL);
	}
}

/* carry is the sum of the blocks before k's, acc that of k's block so far. */
void
hu_prefixes_blocks(double *y, const double *x, const double *one, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	double carry = 0, acc = 0;

	for (size_t k = 0; k < n; k++) {
		if (k % (size_t)s.n == 0) {
			carry = k ? y[k - 1] : 0;
			acc = 0;
		}
		acc = hu_model_fma(acc, x[k], one[k], f, s.mode, &none, k, NULL);
		y[k] = hu_acc_term(carry, acc, f, s.mode, &none, k, HU_DRAW_OUTER, NULL);
	}
}

/* level has the sums of the subtrees that k + 1's binary digits stand for, the largest first. */
void
hu_prefixes_halves(double *y, const double *x, const double *one, size_t n, hu_sum s)
{
	hu_format f = hu_format_of(s.acc);
	double level[64];
	int top = 0;

	for (size_t k = 0; k < n; k++) {
		double sum = hu_model_product(x[k], one[k], f, s.mode, &none, k);
		for (size_t joined = k; joined & 1; joined >>= 1)
			sum = hu_model_node(level[--top], sum, f, s.mode, &none, 0, NULL);
		level[top++] = sum;
		for (int i = top - 1; i > 0; i--)
			sum = hu_model_node(level[i - 1], sum, f, s.mode, &none, 0, NULL);
		y[k] = sum;
	}
}

int
hu_prefixes_chain(hu_sum s)
{
	const hu_sum_model *m = hu_sum_model_of(s.id);

	return m->prefixes && m->from_start;
}

void
hu_sum_prefixes(double *y, const double *x, const double *one, size_t n, hu_sum s)
{
	const hu_sum_model *m = hu_sum_model_of(s.id);

	if (m->prefixes) {
		m->prefixes(y, x, one, n, s);
		return;
	}
	for (size_t k = 0; k < n; k++)
		y[k] = hu_model_run(x, one, k + 1, s, NULL, NULL);
}
