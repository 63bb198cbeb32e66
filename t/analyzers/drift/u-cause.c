/* SPDX-License-Identifier: Apache-2.0
   The most likely cause of a failed check, in words, for every difference that two baselines can have: data, seed,
   settings, programs, steps, the analysis, what step 0 began with, versions, and what is left. A cause that explains
   more goes before one that explains less. */
#include "analyzers/drift/check/why.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

#define SAME "settings, data, seed, programs and version are the same"

/* env: "KEY=WAS>IS" parted by ';'; rows: "KEY:WAS>IS" likewise, of a program "KEY:WAS>IS@CALL". A '-' is one that is
   absent. The first place that moved is a row of table, in step and call. */
static const struct {
	const char *env, *rows, *table;
	int step, call;
	const char *want;
} cases[] = {
	{ "dataset_digest=0x1>0x2;seed=1>2;lr=1>2", "", NULL, 0, -1,
		"other input data: their digest is 0x2, and 0x1 in the baseline" },
	{ "seed=1>2;lr=1>2", "", NULL, 0, -1, "another seed: 1 in the baseline, 2 now" },
	{ "lr=0.1>0.2;simd=avx2>scalar", "", NULL, 0, -1, "another setting: optimizer:lr 0.1 -> 0.2" },
	{ "lr=0.1>0.2;beta1=->0.9;momentum=0.5>-", "", NULL, 0, -1,
		"another setting: optimizer:lr 0.1 -> 0.2, optimizer:momentum 0.5 -> nothing, optimizer:beta1 nothing "
		"-> 0.9" },
	{ "a=1>2;b=1>2;c=1>2;d=1>2;e=1>2", "", NULL, 0, -1,
		"another setting: a 1 -> 2, b 1 -> 2, c 1 -> 2 and 2 more" },
	{ "lr=1>2", "program/train/y:matmul dense1 part=0>matmul dense1 part=4@7", NULL, 0, -1,
		"another setting: optimizer:lr 1 -> 2, which makes train call 7 matmul dense1: part 0 -> 4" },
	{ "summation_tree=0x1>0x2;casts=0x3>0x4", "program/train/y:matmul dense1 part=0>matmul dense1 part=4@7", NULL,
		0, -1,
		"other summation trees and other casts, though the settings are the same: train call 7 matmul dense1: "
		"part 0 -> 4" },
	{ "summation_tree=0x1>0x2;casts=0x3>0x3", "program/train/y:matmul dense1 part=0>matmul dense1 part=4@7", NULL,
		0, -1,
		"another summation tree, though the settings are the same: train call 7 matmul dense1: part "
		"0 -> 4" },
	{ "summation_tree=0x1>0x1;casts=0x3>0x4",
		"program/train/y:matmul dense1 part=0>matmul dense1 part=4@7;program/train/z:relu act>-;"
		"program/eval/y:->relu act@2",
		NULL, 0, -1, "other casts, though the settings are the same: " },
	{ "", "program/train/y:->relu act@2", NULL, 0, -1,
		"another program, with the same summation trees and casts, though the settings are the same: train "
		"call 2 relu act is new" },
	{ "analysis=all>sampled", "", NULL, 0, -1, "another analysis: all in the baseline, sampled now" },
	{ "", "begin/dense1.w/digest:0x1>0x2", NULL, 0, -1,
		"other values that the training began with, as they are drawn or loaded: dense1.w" },
	{ "", "begin/input.x/digest:0x1>0x2;begin/input.y/digest:0x1>0x2", NULL, 0, -1,
		"another batch in step 0, though the data are the same: which samples are drawn, or how they are put "
		"together: input.x (and 1 more)" },
	{ "", "begin/dense1.w/digest:0x1>0x2;begin/input.x/digest:0x1>0x2;begin/dense1.b/digest:0x1>0x1", NULL, 0, -1,
		"another batch in step 0, though the data are the same: which samples are drawn, or how they are "
		"put together: input.x; other values that the training began with, as they are drawn or loaded: "
		"dense1.w" },
	{ "halfulp=1>2;simd=avx2>scalar;compiler=gcc>-", "", NULL, 0, -1,
		"another version or machine (halfulp 1 -> 2, simd avx2 -> scalar): settings, data, seed and programs "
		"are the same" },
	{ "",
		"output/y/digest:0x1>0x2;output/z/digest:0x1>0x2;program/train/y:relu act y=fp16[2]>relu act "
		"y=fp16[2]@4;"
		"program/train/z:matmul dense1 z=fp16[2]>matmul dense1 z=fp16[2]@3",
		NULL, 0, -1,
		"the arithmetic of call 3 matmul (z): " SAME
		", and it is the first call of step 0 whose result has other bits" },
	/* Several results of one call, of which the row is named after one; and quantities that are new or gone */
	{ "",
		"output/y/digest:0x1>0x2;output/y_mean/digest:0x1>0x2;output/y_var/digest:0x1>0x2;program/train/y_mean:"
		"batchnorm bn y_mean=fp32[2]>batchnorm bn y_mean=fp32[2]@4",
		NULL, 0, -1,
		"the arithmetic of call 4 batchnorm (y_mean): " SAME
		", and it is the first call of step 0 whose result has other bits" },
	{ "",
		"a/1/x:->3;output/z/digest:0x1>0x2;program/train/z:relu act z=fp16[2]>relu act z=fp16[2]@6;"
		"zz:1>-",
		NULL, 0, -1,
		"the arithmetic of call 6 relu (z): " SAME
		", and it is the first call of step 0 whose result has other bits" },
	{ "",
		"begin/a.w/digest:0x1>0x2;begin/b.w/digest:0x1>0x2;begin/input.x/digest:0x1>0x2;"
		"begin/input.y/digest:0x1>0x2;begin/input.z/digest:0x1>0x2",
		NULL, 0, -1,
		"another batch in step 0, though the data are the same: which samples are drawn, or how they are "
		"put together: input.x (and 2 more); other values that the training began with, as they are drawn or "
		"loaded: a.w (and 1 more)" },
	{ "", "loss:1>2", "exercise", 3, -1,
		"the check for overflow, or the rule of the loss scale: steps of the exercise moved, and " SAME },
	{ "", "loss:1>2", "replay", 0, 5,
		"the arithmetic of call 5: " SAME ", and it is the first call of step 0 whose error moved" },
	{ "", "loss:1>2", "replay", 20, 5,
		"the arithmetic of a call, or the weights that it began with: " SAME
		"; --trace steps=0 in both runs names the call" },
	{ "", "loss:1>2", "metrics", 0, -1,
		"the arithmetic of a step that was not traced, or the weights that it began with: " SAME
		"; --trace steps=0 in both runs names the call" },
	{ "", "metrics/3/digest:0x1>0x1;metrics/4/digest:0x1>0x2;metrics/5/digest:0x1>0x2", "replay", 20, 5,
		"the arithmetic of a call, or the weights that it began with: " SAME
		"; --trace steps=4 in both runs names the call" },
	{ "", "loss:1>2", NULL, 0, -1,
		"the arithmetic of a step that was not traced, or the weights that it began with: " SAME
		"; --trace steps=0 in both runs names the call" },
};

/* Adds both sides of "KEY=WAS>IS" or "KEY:WAS>IS@CALL". */
static void
add(hu_baseline *want, hu_baseline *got, const char *one, size_t length)
{
	char text[256], *was, *is, *call;

	snprintf(text, sizeof text, "%.*s", (int)length, one);
	is = strrchr(text, '>');
	*is++ = 0;
	call = strchr(is, '@');
	if (call)
		*call++ = 0;
	int setting = strcspn(text, "=") < strcspn(text, ":");
	was = strchr(text, setting ? '=' : ':');
	*was++ = 0;
	for (int k = 0; k < 2; k++) {
		hu_baseline *b = k ? got : want;
		const char *value = k ? is : was;
		if (!strcmp(value, "-"))
			continue;
		if (setting) {
			hu_baseline_set(b, text, "%s", value);
			continue;
		}
		hu_baseline_add(b, text, value, HU_SIDE_BOTH, HU_FP64);
		if (call)
			b->q[b->n - 1].call = atoi(call);
	}
}

static void
add_all(hu_baseline *want, hu_baseline *got, const char *list)
{
	for (const char *s = list; *s; s += strcspn(s, ";"), s += *s == ';')
		add(want, got, s, strcspn(s, ";"));
}

/* From which step on the state is another one, as far as both have digests. */
static void
partings(void)
{
	static const struct {
		const char *rows, *want;
	} steps[] = {
		{ "metrics/0/digest:0x1>0x1;metrics/1/digest:0x2>0x2;metrics/2/digest:0x3>0x4;metrics/2/loss:1>2",
			"; the state differs from step 2 on" },
		{ "metrics/0/digest:0x1>0x9;metrics/1/digest:0x2>0x8;metrics/1/loss:1>2",
			"; the state differs from step 0 on" },
		{ "metrics/1/digest:0x1>0x1;metrics/4/digest:0x2>0x2;metrics/7/digest:0x3>0x4;metrics/9/digest:0x3>0x3;"
		  "metrics/9/loss:1>2",
			"; the state is the same until step 4 and differs after step 7" },
		{ "metrics/3/digest:0x1>0x2;metrics/5/digest:0x1>0x3;metrics/2/loss:3>3;metrics/5/loss:1>2",
			"; the state differs after step 3 at the latest" },
	};

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		hu_baseline want = { 0 }, got = { 0 };
		size_t n, failed;

		add_all(&want, &got, steps[i].rows);
		hu_baseline_sort(&want);
		hu_baseline_sort(&got);
		hu_finding *f = hu_drift_compare(&want, &got, &n, &failed);
		hu_check_report r = { .run = "run", .want = &want, .got = &got, .f = f, .n = n, .failed = failed };
		char *why = hu_check_why(&r), *at = why ? strstr(why, "; the state") : NULL;
		size_t length = strlen(steps[i].want);
		ok(at && !strncmp(at, steps[i].want, length) && (!at[length] || strchr(";.", at[length])), "%s",
			why ? why : "nothing");
		free(why);
		free(f);
		hu_baseline_release(&want);
		hu_baseline_release(&got);
	}
}

/* A number that one of the two lacks is said to be missing or new. */
static void
lacking(void)
{
	static const struct {
		const char *rows, *want;
	} lacks[] = {
		{ "metrics/2/loss:1>-", "step 2, loss is missing in the run" },
		{ "metrics/2/loss:->1", "step 2, loss is new" },
	};

	for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
		hu_baseline want = { 0 }, got = { 0 };
		size_t n, failed, length = strlen(lacks[i].want);

		add_all(&want, &got, lacks[i].rows);
		hu_finding *f = hu_drift_compare(&want, &got, &n, &failed);
		hu_check_report r = { .run = "run", .want = &want, .got = &got, .f = f, .n = n, .failed = failed };
		char *why = hu_check_why(&r);
		ok(why && !strncmp(why, lacks[i].want, length) && strchr(".;", why[length]), "%s",
			why ? why : "nothing");
		free(why);
		free(f);
		hu_baseline_release(&want);
		hu_baseline_release(&got);
	}
}

int
main(void)
{
	partings();
	lacking();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		hu_baseline want = { 0 }, got = { 0 };
		hu_place place = { .table = cases[i].table, .step = cases[i].step, .call = cases[i].call };
		size_t n, failed;
		hu_str s;

		add_all(&want, &got, cases[i].env);
		add_all(&want, &got, cases[i].rows);
		hu_baseline_sort(&want);
		hu_baseline_sort(&got);
		hu_finding *f = hu_drift_compare(&want, &got, &n, &failed);
		hu_check_report r = { .run = "run", .want = &want, .got = &got, .f = f, .n = n, .failed = failed };
		hu_str_init(&s);
		hu_check_cause(&s, &r, cases[i].table ? &place : NULL);
		size_t end = strlen(cases[i].want), some = cases[i].want[end - 1] == ' ';
		ok(some ? !strncmp(s.s, cases[i].want, end) : !strcmp(s.s, cases[i].want), "%s", s.s);
		if (some)
			ok(strstr(s.s, " (and 2 more)") != NULL, "and how many more calls are others");
		hu_str_release(&s);
		free(f);
		hu_baseline_release(&want);
		hu_baseline_release(&got);
	}
	return done_testing();
}
