/* SPDX-License-Identifier: Apache-2.0
   halfulp compare: trains (and analyzes) by running this program, as a user would, and merges the results of the
   runs. */
#include "lib/base/console/show_json.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/plan/compare_out.h"
#include "trainer/plan/compare_patterns.h"
#include "trainer/plan/layerwise.h"
#include "trainer/run/idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const hu_opt opts[] = { { "policy", "LIST", "float32,mixed_float16,mixed_bfloat16",
				       "policies to compare; the first is the one that the others are compared with; "
				       "layerwise:POLICY: float32 and "
				       "policies that move one more layer with weights each to POLICY, first to last" },
	{ "seeds", "LIST", "1", "seeds: each policy has a run for each, and standard errors are over these runs" },
	{ "analyze", NULL, NULL,
		"analyze every run too, for the shares of swamped additions and underflowed gradients" },
#include "trainer/run/options_model.def"
#include "trainer/run/options_run.def"
	{ "backend:simd", "LEVEL", "auto", "instruction set: auto, scalar, avx2 or avx512" },
	{ "threads", "N", "0", "most threads that a call may use; small calls use fewer; 0: one a core" },
#include "lib/base/parts/share_options.def"
	{ "json", NULL, NULL, "print the table as JSON" }, { NULL, NULL, NULL, NULL } };

static hu_status
refuse_idle(const hu_comparison *c, const hu_args *a)
{
	hu_status st = HU_OK;
	hu_config config;
	hu_idle idle;

	hu_idle_init(&idle, a);
	for (int i = 0; i < c->policies && st == HU_OK; i++)
		if ((st = hu_compare_config(&config, a, hu_compare_policy(c, i))) == HU_OK) {
			hu_idle_add(&idle, &config);
			hu_config_release(&config);
		}
	hu_status idled = hu_idle_end(&idle);
	if (st == HU_OK)
		st = idled;
	return st == HU_OK && !hu_parts_offered() ? hu_compare_patterns_check(c, a) : st;
}

/* Returns POLICY of --policy layerwise:POLICY; NULL where a list is given. */
static const char *
layerwise_of(const hu_args *a)
{
	const char *text = hu_args_text(a, "policy");

	return strncmp(text, "layerwise:", 10) ? NULL : text + 10;
}

/* Reads the policies of --policy layerwise:POLICY. */
static hu_status
read_layerwise(hu_comparison *c, const hu_args *a)
{
	hu_layerwise_policy *made = NULL;
	hu_config config;
	int n = 0;

	HU_TRY(hu_compare_config(&config, a, "float32"));
	hu_status st = hu_layerwise(&made, &n, &config, layerwise_of(a));
	hu_config_release(&config);
	c->policy = hu_xcalloc((size_t)n + 1, sizeof *c->policy);
	c->text = hu_xcalloc((size_t)n + 1, sizeof *c->text);
	for (c->policies = 0; c->policies < n; c->policies++) {
		c->policy[c->policies] = made[c->policies].name;
		c->text[c->policies] = made[c->policies].policy;
	}
	free(made);
	return st;
}

/* The learning rates of a list --optimizer lr=A,B. */
static hu_status
read_rates(hu_comparison *c, const char *list)
{
	char *all = hu_xstrdup(list), *save = NULL;
	double x, other;
	int cap = 0;
	hu_status st = HU_OK;

	c->rates = 0;
	for (char *w = strtok_r(all, ",", &save); w && st == HU_OK; w = strtok_r(NULL, ",", &save)) {
		if (!hu_parse_real(w, &x) || !(x >= 0 && x <= 1e9))
			st = hu_fail(HU_EINVAL,
				"--optimizer lr=%s: numbers from 0 to 1e+09 separated by commas are needed",
				hu_shown(list));
		for (int i = 0; i < c->rates && st == HU_OK; i++)
			if (hu_parse_real(c->rate[i], &other) && other == x)
				st = hu_fail(
					HU_EINVAL, "--optimizer lr=%s: %s is there twice", hu_shown(list), hu_shown(w));
		HU_GROW(c->rate, c->rates, cap);
		c->rate[c->rates++] = hu_xstrdup(w);
	}
	free(all);
	return st != HU_OK || c->rates ? st : hu_fail(HU_EINVAL, "--optimizer lr=: at least one is needed");
}

static hu_status
read_lists(hu_comparison *c, const hu_args *a)
{
	const char *s = hu_args_text(a, "seeds");
	int cap = 0;
	hu_policy p;

	if (layerwise_of(a))
		HU_TRY(read_layerwise(c, a));
	else
		c->policies = hu_split_policies(hu_args_text(a, "policy"), &c->policy);
	if (!c->policies)
		return hu_fail(HU_EINVAL, "--policy: a list of policies is needed");
	for (int i = 0; i < c->policies; i++)
		HU_TRY(hu_policy_parse(hu_compare_policy(c, i), &p));
	for (char *end; *s; s = *end ? end + 1 : end) {
		long long seed = strtoll(s, &end, 10);
		if (end == s || (*end && *end != ',') || seed < 0)
			return hu_fail(HU_EINVAL, "--seeds %s: whole numbers separated by commas are needed",
				hu_args_text(a, "seeds"));
		HU_GROW(c->seed, c->seeds, cap);
		c->seed[c->seeds++] = seed;
	}
	if (!c->seeds)
		return hu_fail(HU_EINVAL, "--seeds: at least one is needed");
	if (hu_compare_has_rates(a))
		HU_TRY(read_rates(c, hu_args_text(a, "optimizer:lr")));
	c->result = hu_xcalloc((size_t)(hu_comparison_rows(c) * c->seeds), sizeof *c->result);
	return HU_OK;
}

static char *
default_dir(void)
{
	for (int n = 1;; n++) {
		char *path = hu_xprintf("runs/compare-%d", n);
		if (!hu_exists(path))
			return path;
		free(path);
	}
}

/* Where runs go; shards and ranks, and who resumes, must mean the same folder. */
static hu_status
choose_dir(const hu_args *a, char **dir)
{
	int merges = hu_parts_offered() != NULL, goes_on = hu_args_given(a, "resume") || hu_args_given(a, "shard");

	*dir = a->nrest ? hu_xstrdup(a->rest[0]) : default_dir();
	if (a->nrest > 1)
		return hu_fail(HU_EINVAL, "'%s': compare writes to one folder alone", a->rest[1]);
	if (!a->nrest && goes_on)
		return hu_fail(HU_EINVAL, "--%s needs the folder that all runs are in: halfulp compare ... DIR",
			hu_args_given(a, "shard") ? "shard" : "resume");
	if (hu_exists(*dir) && !goes_on && !merges)
		return hu_fail(HU_EINVAL, "%s exists already; choose another name", *dir);
	return HU_OK;
}

/* The line that makes a page of the runs of the first seed, whose first one the page holds the others to, as the tables
   above do: in the order of the policies, without those that have no results. */
static void
tell_report(const hu_comparison *c, const char *dir)
{
	fputs("Next: halfulp report", stdout);
	for (int i = 0; i < c->policies * c->rates * c->seeds; i += c->seeds)
		if (!c->result[i].train) {
			char *folder = hu_compare_folder(c, dir, i);
			printf(" %s", hu_shown(folder));
			free(folder);
		}
	putchar('\n');
}

static void
tell(const hu_comparison *c, const hu_args *a, const char *dir)
{
	if (hu_args_given(a, "json")) {
		json_t *j = hu_comparison_to_json(c);
		hu_json_write(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
		return;
	}
	putchar('\n');
	hu_comparison_print(c, stdout);
	printf("%s/compare.tsv has it all\n", hu_shown(dir));
	if (hu_args_given(a, "analyze"))
		tell_report(c, dir);
	else
		printf("Next: halfulp compare --analyze ... records and judges steps too, for halfulp report\n");
}

static hu_status
prepare(hu_comparison *c, const hu_args *a, char **dir)
{
	HU_TRY(choose_dir(a, dir));
	HU_TRY(read_lists(c, a));
	return refuse_idle(c, a);
}

/* Makes the runs that this process is to make, and the tables where it has all of them. */
static hu_status
compare(hu_comparison *c, const hu_args *a, const char *dir, int *code)
{
	hu_compare_job j = { .c = c, .args = a, .dir = dir, .json = hu_args_given(a, "json") };
	hu_sharing s;
	int ends;
	hu_status st = hu_compare_share(&j, &s, hu_make_dirs(dir), &ends);

	if (st == HU_OK && !ends)
		st = hu_comparison_write(c, dir);
	hu_share_end(&s, st);
	hu_compare_job_release(&j);
	if (j.refused) {
		rmdir(dir); /* unless other runs are there */
		hu_ranks_give_up(HU_EXIT_USAGE);
		*code = HU_EXIT_USAGE;
		return HU_OK;
	}
	if (st != HU_OK || ends)
		return st;
	for (int p = 0; p < hu_comparison_rows(c); p++) {
		int mine;
		hu_comparison_failed(c, p, &mine);
		*code = mine > *code ? mine : *code;
	}
	tell(c, a, dir);
	return HU_OK;
}

static int
run(const hu_args *a)
{
	hu_comparison c = { .rates = 1 };
	char *dir = NULL;
	int code = 0;
	hu_status st = hu_ranks_open();

	if (st == HU_OK)
		st = hu_ranks_agree(prepare(&c, a, &dir));
	if (hu_ranks_rank())
		hu_progress_disable();
	if (st == HU_OK)
		st = compare(&c, a, dir, &code);
	for (int i = 0; c.result && i < hu_comparison_rows(&c) * c.seeds; i++)
		free(c.result[i].dir);
	for (int i = 0; i < c.policies; i++) {
		free(c.policy[i]);
		if (c.text)
			free(c.text[i]);
	}
	for (int i = 0; c.rate && i < c.rates; i++)
		free(c.rate[i]);
	free(c.rate);
	free(c.policy);
	free(c.text);
	free(c.seed);
	free(c.result);
	free(dir);
	return st != HU_OK ? hu_complain(st) : code;
}

static const hu_opt_need needs[] = {
#include "lib/base/parts/share_needs.def"
	{ NULL, NULL, NULL }
};

const hu_command hu_cmd_compare = { "compare", "--policy LIST [--seeds LIST] [--optimizer lr=LIST] [OPTION...] [DIR]",
	"train a model under several policies, learning rates and seeds and tabulate accuracy, time, memory and losses",
	"Options are those of train. --optimizer lr=A,B has a run at each rate for each policy and seed, and "
	"differences\n"
	"hold at one rate. Each holds for every run in which it has an effect (--loss-scale init= has none\n"
	"in float32's), and so does each pattern of --trace, --count and no_decay: *@fp16 names casts of one policy\n"
	"alone. A run that has none of the tensors to trace is not analyzed. The runs are written to DIR\n"
	"[runs/compare-N], with compare.tsv and compare-runs.tsv. A run that fails becomes a row that says so, and\n"
	"the others go on; the exit code is the largest of theirs. In LIST, key=value belongs to the policy before\n"
	"it: mixed_float16,layer:dense1=float32.",
	opts, run, needs, NULL };
