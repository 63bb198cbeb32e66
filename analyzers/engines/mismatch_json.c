/* SPDX-License-Identifier: Apache-2.0
   How far two engines' probabilities are apart, as JSON: the columns of all tokens and of one sequence. */
#include "analyzers/engines/mismatch_out.h"

#include "lib/base/show.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdio.h>

/* All tokens, or those of one sequence. */
typedef struct mismatch_row {
	long long tokens, left_out, nonfinite, same, beyond, differ, sequence, sequences, positions, classes;
	hu_field_cell sum, mean, mean_abs, max, k1, k2, k3, share, kl, kl_max;
	double tau;
	const char *a, *b, *of;
	json_t *worst, *first, *quantiles, *by_sequence;
} mismatch_row;

enum { ONE = 1, ALL = 2 };

#define MISMATCH(name, kind, member, means, ...)                                                                       \
	HU_FIELD_OF(mismatch_row, name, kind, member, WRITTEN, means, __VA_ARGS__)
static const hu_table_field field[] = {
	MISMATCH("tokens", COUNT, tokens, "how many tokens were compared"),
	MISMATCH("left_out", COUNT, left_out, "tokens without a label"),
	MISMATCH("nonfinite", COUNT, nonfinite, "tokens of which an engine has no probabilities"),
	MISMATCH("identical", COUNT, same, "tokens whose logits are the same bits"),
	MISMATCH("log_ratio_sum", CELL, sum, "the sum of log pB - log pA"),
	MISMATCH("log_ratio_mean", CELL, mean, "its mean"),
	MISMATCH("log_ratio_mean_abs", CELL, mean_abs, "the mean of its size"),
	MISMATCH("log_ratio_max", CELL, max, "its largest size"),
	MISMATCH("log_ratio_max_at", JSON, worst, "the token that has it"),
	MISMATCH("k1", CELL, k1, "the mean of -d, where d is the log-ratio"),
	MISMATCH("k2", CELL, k2, "the mean of d^2 / 2"),
	MISMATCH("k3", CELL, k3, "the mean of exp(d) - 1 - d"),
	MISMATCH("beyond", COUNT, beyond, "tokens whose probabilities are more than a factor of tau apart"),
	MISMATCH("beyond_share", CELL, share, "their share"),
	MISMATCH("kl_mean", CELL, kl, "the mean of KL(A || B)"),
	MISMATCH("kl_max", CELL, kl_max, "its largest value"),
	MISMATCH("greedy_differ", COUNT, differ, "greedy tokens that differ"),
	MISMATCH("greedy_first", JSON, first, "the first of these"),
	MISMATCH("a", TEXT, a, "the engine A", .only = ALL),
	MISMATCH("b", TEXT, b, "the engine B", .only = ALL),
	MISMATCH("of", TEXT, of, "which tokens were compared", .only = ALL),
	MISMATCH("sequences", COUNT, sequences, "how many sequences there are", .only = ALL),
	MISMATCH("positions", COUNT, positions, "the length of each", .only = ALL),
	MISMATCH("classes", COUNT, classes, "how many classes there are", .only = ALL),
	MISMATCH("tau", REAL, tau, "the factor tau", .only = ALL),
	MISMATCH("log_ratio_quantiles", JSON, quantiles, "quantiles of the log-ratio's size", .only = ALL),
	MISMATCH("by_sequence", JSON, by_sequence, "the same of each sequence", .only = ALL),
	MISMATCH("sequence", COUNT, sequence, "the sequence's number", .only = ONE),
};

/* A figure of n tokens: there is none of no token. */
static hu_field_cell
figure(double x, size_t n)
{
	return n ? (hu_field_cell){ x, isnan(x) ? "nan" : NULL } : (hu_field_cell){ NAN, NULL };
}

static hu_field_cell
mean(double sum, size_t n)
{
	return figure(sum / (double)n, n);
}

static json_t *
place(long long at, size_t positions)
{
	return at < 0 ? NULL
		      : json_pack("{s:I s:I}", "sequence", at / (json_int_t)positions, "position",
				at % (json_int_t)positions);
}

/* The columns that one sequence and all together have. */
static mismatch_row
row_of(const hu_mismatch *m, size_t positions)
{
	size_t n = m->tokens;

	return (mismatch_row){
		.tokens = (long long)n,
		.left_out = (long long)m->left_out,
		.nonfinite = (long long)m->nonfinite,
		.same = (long long)m->same,
		.beyond = (long long)m->beyond,
		.differ = (long long)m->differ,
		.sum = figure(m->sum, n),
		.mean = mean(m->sum, n),
		.mean_abs = mean(m->sum_abs, n),
		.max = figure(m->max, n),
		.k1 = mean(m->k1, n),
		.k2 = mean(m->k2, n),
		.k3 = mean(m->k3, n),
		.share = mean((double)m->beyond, n),
		.kl = mean(m->kl, n),
		.kl_max = figure(m->kl_max, n),
		.worst = place(m->worst, positions),
		.first = place(m->first, positions),
	};
}

json_t *
hu_mismatch_json(const hu_mismatches *m, const hu_logits *a, const char *const *path, int given, double tau)
{
	hu_fields all = HU_FIELDS(field, mismatch_row), one = all;
	mismatch_row row = row_of(&m->all, a->positions);
	char key[24];

	all.with = ALL;
	one.with = ONE;
	row.quantiles = json_object();
	for (int i = 0; i < HU_MISMATCH_QUANTILES; i++) {
		snprintf(key, sizeof key, "%g", hu_mismatch_quantile[i]);
		json_object_set_new(row.quantiles, key,
			m->all.tokens ? hu_fields_number(m->quantile[i]) : json_null());
	}
	row.by_sequence = json_array();
	for (size_t i = 0; i < m->sequences; i++) {
		mismatch_row sequence = row_of(&m->sequence[i], a->positions);
		sequence.sequence = (long long)i;
		json_array_append_new(row.by_sequence, hu_fields_object(&one, &sequence));
	}
	row.a = hu_shown(path[0]);
	row.b = hu_shown(path[1]);
	row.of = given ? "the tokens given" : "the greedy tokens of A";
	row.sequences = (long long)m->sequences;
	row.positions = (long long)a->positions;
	row.classes = (long long)a->classes;
	row.tau = tau;
	return hu_fields_object(&all, &row);
}
