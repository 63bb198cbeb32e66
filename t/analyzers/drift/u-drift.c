/* SPDX-License-Identifier: Apache-2.0
   Baselines: what passes, what fails and in which order; the file reads back. */
#include "analyzers/drift/baseline/drift.h"
#include "analyzers/drift/baseline/baseline_program.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
add(hu_baseline *b, const char *key, const char *text, hu_baseline_side side)
{
	hu_baseline_add(b, key, text, side, HU_FP64);
}

static hu_held
held(const hu_finding *f, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp((f[i].want ? f[i].want : f[i].got)->key, key))
			return f[i].held;
	bail_out("no finding for %s", key);
}

static void
verdicts(void)
{
	hu_baseline want, got;
	size_t n, failed;

	memset(&want, 0, sizeof want);
	memset(&got, 0, sizeof got);
	const struct {
		const char *key, *want, *got;
		hu_baseline_side side;
		double ulps, tolerance;
		hu_held held;
	} row[] = {
		{ "same", "0.1", "0.1", HU_SIDE_BOTH, 0, 0, HU_BIT_IDENTICAL },
		{ "digest", "0x12", "0x12", HU_SIDE_BOTH, 0, 0, HU_BIT_IDENTICAL },
		{ "other-digest", "0x12", "0x13", HU_SIDE_BOTH, 0, 0, HU_DRIFT },
		{ "zero", "0", "-0", HU_SIDE_BOTH, 0, 0, HU_WITHIN_ULPS },
		{ "one-ulp", "1", "1.0000000000000002", HU_SIDE_BOTH, 1, 0, HU_WITHIN_ULPS },
		{ "two-ulps", "1", "1.0000000000000004", HU_SIDE_BOTH, 1, 0, HU_DRIFT },
		{ "near", "1", "1.01", HU_SIDE_BOTH, 0, 0.02, HU_WITHIN_TOLERANCE },
		{ "more", "1", "1.03", HU_SIDE_BOTH, 0, 0.02, HU_DRIFT },
		{ "shrunk", "1", "0.5", HU_SIDE_UP, 0, 0, HU_BETTER },
		{ "grown", "1", "1.5", HU_SIDE_UP, 0, 0, HU_DRIFT },
		{ "cosine", "0.99", "0.999", HU_SIDE_DOWN, 0, 0, HU_BETTER },
		{ "cosine-lost", "0.99", "0.98", HU_SIDE_DOWN, 0, 0, HU_DRIFT },
		{ "nan", "1", "nan", HU_SIDE_UP, 1e9, 1e9, HU_NON_FINITE },
		{ "declared", "nan", "nan", HU_SIDE_BOTH, 0, 0, HU_BIT_IDENTICAL },
		{ "declared-inf", "inf", "1", HU_SIDE_UP, 0, 0, HU_DRIFT },
		{ "not-measured", "1", "-", HU_SIDE_BOTH, 0, 0, HU_DRIFT },
		{ "tiny", "1e-30", "2e-30", HU_SIDE_BOTH, 0, 0, HU_DRIFT },
	};
	enum { ROWS = sizeof row / sizeof *row };
	for (int i = 0; i < ROWS; i++) {
		add(&want, row[i].key, row[i].want, row[i].side);
		want.q[want.n - 1].ulps = row[i].ulps;
		want.q[want.n - 1].tolerance = row[i].tolerance;
		add(&got, row[i].key, row[i].got, row[i].side);
	}
	add(&want, "gone", "1", HU_SIDE_UP);
	add(&got, "new", "1", HU_SIDE_UP);
	hu_baseline_sort(&want);
	hu_baseline_sort(&got);
	hu_finding *f = hu_drift_compare(&want, &got, &n, &failed);
	for (int i = 0; i < ROWS; i++)
		is_text(hu_held_text(held(f, n, row[i].key)), hu_held_text(row[i].held), "%s: %s to %s", row[i].key,
			row[i].want, row[i].got);
	ok(held(f, n, "gone") == HU_MISSING_KEY && held(f, n, "new") == HU_NEW_KEY, "keys are compared both ways");
	is_int((long long)failed, 11, "every failure is counted");
	int sorted = 1;
	for (size_t i = 0; i < n; i++)
		sorted &= (f[i].held >= HU_DRIFT) == (i < failed) && (!i || f[i].severity <= f[i - 1].severity);
	ok(sorted, "failures stand first, worst first");
	/* the larger of two changes of about one size stands first, though the other's name does */
	hu_baseline few = { 0 }, moved = { 0 };
	add(&few, "metrics/1/a_loss", "1", HU_SIDE_UP);
	add(&few, "metrics/2/b_loss", "1", HU_SIDE_UP);
	add(&moved, "metrics/1/a_loss", "2.1", HU_SIDE_UP);
	add(&moved, "metrics/2/b_loss", "2.9", HU_SIDE_UP);
	hu_baseline_sort(&few);
	hu_baseline_sort(&moved);
	size_t m, red;
	hu_finding *g = hu_drift_compare(&few, &moved, &m, &red);
	ok(m == 2 && red == 2 && !strcmp(g[0].want->key, "metrics/2/b_loss"), "the worst is the first: %s",
		g[0].want->key);
	free(g);
	/* 3.9 times its ulps is worse than 2.2 times, though it moved less of its own value */
	few.q[0].ulps = 1e15;
	few.q[1].ulps = 4e15;
	few.q[0].side = few.q[1].side = HU_SIDE_BOTH;
	moved.q[0].value = 1 + 3.9 * 1e15 * 0x1p-52;
	moved.q[1].value = 1 + 2.2 * 4e15 * 0x1p-52;
	g = hu_drift_compare(&few, &moved, &m, &red);
	ok(red == 2 && !strcmp(g[0].want->key, "metrics/1/a_loss"), "by what each may differ by: %s", g[0].want->key);
	free(g);
	hu_baseline_release(&few);
	hu_baseline_release(&moved);
	free(f);
	hu_baseline_release(&want);
	hu_baseline_release(&got);
}

static void
file(void)
{
	static const char *const settings[] = { "halfulp", "model", "policy", "dataset", "seed", "summation_tree" };
	hu_baseline b, back, none;
	char path[4200];

	memset(&b, 0, sizeof b);
	add(&b, "x/1", "0.30000000000000004", HU_SIDE_UP);
	add(&b, "x/2", "nan", HU_SIDE_BOTH);
	add(&b, "x/3", "-", HU_SIDE_DOWN);
	hu_baseline_set(&b, "compiler", "gcc: 12");
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		snprintf(path, sizeof path, "%s/bare-%zu.tsv", test_dir(), i);
		ok(hu_baseline_write(&b, path, "a reason", "by hand", "") == HU_OK &&
				hu_baseline_read(&none, path) == HU_EFILE && strstr(hu_reason(), settings[i]),
			"a file without env.%s has no environment: %s", settings[i], hu_reason());
		hu_baseline_set(&b, settings[i], "x");
	}
	b.q[0].tolerance = 0.25;
	hu_baseline_sort(&b);
	snprintf(path, sizeof path, "%s/baseline.tsv", test_dir());
	ok(hu_baseline_write(&b, path, "a reason", "by hand", "one\ntwo\n") == HU_OK &&
			hu_baseline_read(&back, path) == HU_OK,
		"written and read");
	ok(back.n == 3 && back.q[0].value == b.q[0].value && back.q[0].tolerance == 0.25 &&
			back.q[0].side == HU_SIDE_UP,
		"values, tolerances and sides are kept");
	ok(isnan(back.q[1].value) && back.q[1].number && !back.q[2].number, "a NaN is a number, a dash is none");
	is_text(hu_baseline_env(&back, "compiler"), "gcc: 12", "so is the environment block");
	hu_baseline_release(&back);
	FILE *out = fopen(path, "a");
	fputs("x/1\t1\t0x1p+0\tup\tfp64\t0\t0\n", out);
	fclose(out);
	ok(hu_baseline_read(&none, path) == HU_EFILE, "a key that stands twice is refused");
	out = fopen(path, "w");
	fputs("# halfulp baseline: 99\nquantity\tvalue\n", out);
	fclose(out);
	ok(hu_baseline_read(&none, path) == HU_EFILE && strstr(hu_reason(), "newer halfulp"),
		"so is a newer version: %s", hu_reason());
	out = fopen(path, "w");
	fputs("# halfulp baseline: 1\nquantity\tvalue\thex\tmust_not_move\tulps_of\tulps\ttolerance\n", out);
	fclose(out);
	ok(hu_baseline_read(&none, path) == HU_EFILE && strstr(hu_reason(), "record it again"),
		"and one without a checksum: %s", hu_reason());
	hu_baseline_release(&b);
}

/* A baseline of several runs: what no number says is not compared where they differ, numbers are judged as before. */
static void
span(void)
{
	hu_baseline b, more[2];

	memset(&b, 0, sizeof b);
	memset(more, 0, sizeof more);
	add(&b, "digest", "0x1", HU_SIDE_BOTH);
	add(&b, "equal", "5", HU_SIDE_BOTH);
	add(&b, "gone", "5", HU_SIDE_BOTH);
	add(&b, "loss", "1", HU_SIDE_BOTH);
	for (int i = 0; i < 2; i++) {
		add(&more[i], "digest", i ? "0x2" : "0x3", HU_SIDE_BOTH);
		add(&more[i], "equal", "5", HU_SIDE_BOTH);
		if (i)
			add(&more[i], "extra", "1", HU_SIDE_BOTH);
		add(&more[i], "loss", i ? "2" : "3", HU_SIDE_BOTH);
	}
	hu_baseline_span(&b, more, 2);
	ok(hu_baseline_find(&b, "digest")->side == HU_SIDE_ANY && hu_baseline_find(&b, "gone")->side == HU_SIDE_ANY &&
			hu_baseline_find(&b, "extra")->side == HU_SIDE_ANY,
		"what is not in every run, or differs without being a number, is not compared");
	ok(hu_baseline_find(&b, "loss")->side == HU_SIDE_BOTH && hu_baseline_find(&b, "loss")->tolerance == 0 &&
			hu_baseline_find(&b, "equal")->side == HU_SIDE_BOTH,
		"numbers are compared, and have no tolerance that nobody said");
	size_t n, failed;
	hu_finding *f = hu_drift_compare(&b, &more[0], &n, &failed);
	ok(failed == 1 && n == 5 && !strcmp(f->want->key, "loss"), "a number of another run that differs fails");
	free(f);
	hu_baseline_release(&b);
	hu_baseline_release(&more[0]);
	hu_baseline_release(&more[1]);
}

/* Which traced steps the run lacks: names of tables whose keys have a step before the tensor, each step once. */
static void
missing(void)
{
	static const char *const was[] = { "replay/3/y/ulp_max", "replay/3/z/ulp_max", "replay/12/y/ulp_max",
		"replay/20/y/ulp_max", "swamping/12/y/share", "swamping/20/y/share", "metrics/7/loss",
		"exercise/9/loss", "program/train/8/y", "program/8/y", "updates/4x/y", "updates//y", "5", "a/6",
		"replay/120/y/ulp_max" },
				 *const is[] = { "replay/3/y/ulp_max", "swamping/20/y/share", "metrics/2/loss" };
	hu_baseline want = { 0 }, got = { 0 };
	hu_str s;

	for (size_t i = 0; i < sizeof was / sizeof *was; i++)
		add(&want, was[i], "1", HU_SIDE_BOTH);
	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		add(&got, is[i], "1", HU_SIDE_BOTH);
	hu_str_init(&s);
	hu_missing_steps(&s, &want, &got, NULL);
	is_text(s.s,
		"step 12 was traced in the baseline and not in this run: train with --trace steps=12\n"
		"step 120 was traced in the baseline and not in this run: train with --trace steps=120\n"
		"the baseline has an exercise and this run has none: train with --exercise\n",
		"the steps that were traced, and are no longer");
	add(&got, "exercise/1/loss", "1", HU_SIDE_BOTH);
	add(&got, "x/12/y", "1", HU_SIDE_BOTH);
	hu_str_release(&s);
	hu_str_init(&s);
	hu_missing_steps(&s, &want, &got, NULL);
	is_text(s.s, "step 120 was traced in the baseline and not in this run: train with --trace steps=120\n",
		"another table of the step shows it, and a step of more digits is another");
	hu_str_release(&s);
	hu_baseline_release(&want);
	hu_baseline_release(&got);
}

int
main(void)
{
	verdicts();
	file();
	span();
	missing();
	return done_testing();
}
