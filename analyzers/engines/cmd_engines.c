/* SPDX-License-Identifier: Apache-2.0
   halfulp engines A B: how far two engines that computed the same tokens are apart, from their files of logits. */
#include "analyzers/engines/mismatch.h"

#include "lib/base/console/opt.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"

#include <math.h>
#include <stdio.h>

static const hu_opt opts[] = {
	{ "tokens", "FILE", NULL,
		"the tokens that were sampled, integers; a negative one is left out [A's greedy ones]" },
	{ "name", "NAME", NULL, "the array of logits in both files [logits, or the only one that has floats]" },
	{ "tau", "X", "2", "count the tokens whose probabilities are a factor of more than X apart" },
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

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

static void
print_json(const hu_mismatches *m, const hu_logits *a, const char *const *path, int given, double tau)
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
	hu_json_write(o, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(o);
}

static void
print_place(long long at, size_t positions)
{
	printf("sequence %lld, position %lld", at / (long long)positions, at % (long long)positions);
}

static void
print(const hu_mismatches *m, const hu_logits *a, int given, double tau)
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

static hu_status
check_shapes(const hu_logits *a, const hu_logits *b, const hu_logits *tokens, const char *const *path)
{
	if (a->sequences != b->sequences || a->positions != b->positions || a->classes != b->classes)
		return hu_fail(HU_EFILE,
			"%s has %zu sequences of %zu positions and %zu classes, %s %zu of %zu and %zu: both engines "
			"have to compute the same tokens",
			hu_shown(path[0]), a->sequences, a->positions, a->classes, hu_shown(path[1]), b->sequences,
			b->positions, b->classes);
	if (tokens->token && (tokens->sequences != a->sequences || tokens->positions != a->positions))
		return hu_fail(HU_EFILE, "--tokens has %zu sequences of %zu positions, the logits %zu of %zu",
			tokens->sequences, tokens->positions, a->sequences, a->positions);
	return HU_OK;
}

static hu_status
compare(const hu_args *args, const char *const *path)
{
	const char *name = hu_args_text(args, "name"), *file = hu_args_text(args, "tokens");
	hu_logits a = { .x = NULL }, b = { .x = NULL }, tokens = { .x = NULL };
	hu_mismatches m;
	double tau;

	HU_TRY(hu_args_real(args, "tau", 1, 1e300, &tau));
	hu_status st = hu_logits_read(&a, path[0], name);
	if (st == HU_OK)
		st = hu_logits_read(&b, path[1], name);
	if (st == HU_OK && file)
		st = hu_logits_tokens(&tokens, file, NULL);
	if (st == HU_OK)
		st = check_shapes(&a, &b, &tokens, path);
	if (st == HU_OK && (st = hu_mismatch_measure(&m, &a, &b, file ? &tokens : NULL, tau)) == HU_OK) {
		if (hu_args_given(args, "json"))
			print_json(&m, &a, path, file != NULL, tau);
		else
			print(&m, &a, file != NULL, tau);
		hu_mismatch_release(&m);
	}
	hu_logits_release(&a);
	hu_logits_release(&b);
	hu_logits_release(&tokens);
	return st;
}

static int
run(const hu_args *args)
{
	if (args->nrest != 2)
		return hu_complain(
			hu_fail(HU_EINVAL, "%d files are named: two files of logits are needed, A and B", args->nrest));
	hu_status st = compare(args, (const char *const *)args->rest);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

const hu_command hu_cmd_engines = { "engines", "A B [OPTION...]",
	"compare the logits that two engines computed of the same tokens",
	"A and B are files of logits (npy, npz or safetensors): [positions, classes] or [sequences, positions, "
	"classes].\n"
	"Where a training takes tokens that another engine sampled, A is the engine that sampled and B the one that\n"
	"trains. Of each token d = log pB - log pA is computed in long double. k1, k2 and k3 estimate KL(A || B) by\n"
	"-d, d^2/2 and exp(d) - 1 - d; KL(A || B) itself is over all classes. A greedy token is the first of the\n"
	"largest logits.",
	opts, run, NULL, NULL };
