/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/engines/mismatch_out.h"

#include "lib/base/show.h"

#include <math.h>
#include <stdio.h>

/* Not finite: as a text. */
static json_t *
number(double x)
{
	return isnan(x) ? json_string("nan") : isinf(x) ? json_string(x > 0 ? "inf" : "-inf") : json_real(x);
}

static json_t *
mean(double sum, size_t n)
{
	return n ? number(sum / (double)n) : json_null();
}

static json_t *
place(long long at, size_t positions)
{
	return at < 0 ? json_null()
		      : json_pack("{s:I s:I}", "sequence", at / (json_int_t)positions, "position",
				at % (json_int_t)positions);
}

/* The members that one sequence and all together have. */
static json_t *
object_of(const hu_mismatch *m, size_t positions)
{
	json_t *o = json_object();

	json_object_set_new(o, "tokens", json_integer((json_int_t)m->tokens));
	json_object_set_new(o, "left_out", json_integer((json_int_t)m->left_out));
	json_object_set_new(o, "nonfinite", json_integer((json_int_t)m->nonfinite));
	json_object_set_new(o, "identical", json_integer((json_int_t)m->same));
	json_object_set_new(o, "log_ratio_sum", m->tokens ? number(m->sum) : json_null());
	json_object_set_new(o, "log_ratio_mean", mean(m->sum, m->tokens));
	json_object_set_new(o, "log_ratio_mean_abs", mean(m->sum_abs, m->tokens));
	json_object_set_new(o, "log_ratio_max", m->tokens ? number(m->max) : json_null());
	json_object_set_new(o, "log_ratio_max_at", place(m->worst, positions));
	json_object_set_new(o, "k1", mean(m->k1, m->tokens));
	json_object_set_new(o, "k2", mean(m->k2, m->tokens));
	json_object_set_new(o, "k3", mean(m->k3, m->tokens));
	json_object_set_new(o, "beyond", json_integer((json_int_t)m->beyond));
	json_object_set_new(o, "beyond_share", mean((double)m->beyond, m->tokens));
	json_object_set_new(o, "kl_mean", mean(m->kl, m->tokens));
	json_object_set_new(o, "kl_max", m->tokens ? number(m->kl_max) : json_null());
	json_object_set_new(o, "greedy_differ", json_integer((json_int_t)m->differ));
	json_object_set_new(o, "greedy_first", place(m->first, positions));
	return o;
}

json_t *
hu_mismatch_json(const hu_mismatches *m, const hu_logits *a, const char *const *path, int given, double tau)
{
	json_t *o = object_of(&m->all, a->positions), *q = json_object(), *list = json_array();
	char key[24];

	for (int i = 0; i < HU_MISMATCH_QUANTILES; i++) {
		snprintf(key, sizeof key, "%g", hu_mismatch_quantile[i]);
		json_object_set_new(q, key, m->all.tokens ? number(m->quantile[i]) : json_null());
	}
	for (size_t i = 0; i < m->sequences; i++) {
		json_t *one = object_of(&m->sequence[i], a->positions);
		json_object_set_new(one, "sequence", json_integer((json_int_t)i));
		json_array_append_new(list, one);
	}
	json_object_set_new(o, "a", json_string(hu_shown(path[0])));
	json_object_set_new(o, "b", json_string(hu_shown(path[1])));
	json_object_set_new(o, "of", json_string(given ? "the tokens given" : "the greedy tokens of A"));
	json_object_set_new(o, "sequences", json_integer((json_int_t)m->sequences));
	json_object_set_new(o, "positions", json_integer((json_int_t)a->positions));
	json_object_set_new(o, "classes", json_integer((json_int_t)a->classes));
	json_object_set_new(o, "tau", json_real(tau));
	json_object_set_new(o, "log_ratio_quantiles", q);
	json_object_set_new(o, "by_sequence", list);
	return o;
}

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
	if (all->same == all->tokens)
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
