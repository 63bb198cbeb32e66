/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/mismatch_out.h"

#include <stdio.h>

static void
print_place(long long at, size_t positions)
{
	printf("sequence %lld, position %lld", at / (long long)positions, at % (long long)positions);
}

void
hu_mismatch_print(const hu_mismatches *m, const hu_logits *a, int given, double tau)
{
	const hu_mismatch *all = &m->all;
	double n = (double)all->tokens;

	if (!all->tokens) {
		printf("No token was compared: %zu have no label, and of %zu an engine has no probabilities.\n",
			all->left_out, all->nonfinite);
		return;
	}
	/* What has no probabilities was not compared, so that nobody can say that the engines agree. */
	if (all->nonfinite)
		printf("Of %zu tokens an engine has no probabilities. ", all->nonfinite);
	if (all->nonfinite && all->same == all->tokens)
		printf("The logits of the other %zu are the same bits.\n", all->tokens);
	else if (all->same == all->tokens)
		printf("The engines agree: the logits of all %zu tokens are the same bits.\n", all->tokens);
	else if (all->differ)
		printf("The engines choose other tokens: %zu of %zu greedy tokens differ.\n", all->differ, all->tokens);
	else
		printf("The engines choose the same %zu greedy tokens, from other probabilities.\n", all->tokens);
	printf("\n  tokens         %zu of %zu sequences, %zu classes; %s\n", all->tokens, m->sequences, a->classes,
		given ? "those given" : "the greedy ones of A");
	printf("  log-ratio      log pB - log pA: mean %.6g, mean size %.6g, at most %.6g at ", all->sum / n,
		all->sum_abs / n, all->max);
	print_place(all->worst, a->positions);
	printf("\n  quantiles      of its size: 50 %% %.6g, 90 %% %.6g, 99 %% %.6g, 99.9 %% %.6g\n", m->quantile[0],
		m->quantile[1], m->quantile[2], m->quantile[3]);
	printf("  k1, k2, k3     %.6g, %.6g, %.6g\n", all->k1 / n, all->k2 / n, all->k3 / n);
	printf("  beyond tau     %zu (%.3g %%) have probabilities more than a factor of %g apart\n", all->beyond,
		100 * (double)all->beyond / n, tau);
	printf("  KL(A || B)     mean %.6g, at most %.6g\n", all->kl / n, all->kl_max);
	printf("  greedy tokens  %zu differ", all->differ);
	if (all->differ) {
		printf(", the first at ");
		print_place(all->first, a->positions);
	}
	printf("\n");
	if (all->left_out || all->nonfinite)
		printf("  not compared   %zu without a label, %zu without probabilities\n", all->left_out,
			all->nonfinite);
}
