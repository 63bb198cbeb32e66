/* SPDX-License-Identifier: Apache-2.0
   halfulp compare: trains (and analyzes) by running this program, as a user would, and joins the results of the
   runs. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/progress.h"
#include "lib/base/console/show.h"
#include "trainer/plan/compare.h"
#include "trainer/plan/ladder.h"
#include "trainer/run/idle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const hu_opt opts[] = { { "policies", "LIST", "float32,mixed_float16,mixed_bfloat16",
				       "policies to compare; the first is the one that the others are compared with" },
	{ "ladder", "POLICY", NULL,
		"compare float32 with policies that move one more layer with weights each to POLICY, first to last" },
	{ "seeds", "LIST", "1", "seeds: each policy has a run for each, and standard errors are over these runs" },
	{ "analyze", NULL, NULL,
		"analyze every run too, for the shares of swamped additions and underflowed gradients" },
#include "trainer/run/options_model.def"
#include "trainer/run/options_run.def"
	{ "threads", "N", "0", "most threads that a call may use; small calls use fewer; 0: one a core" },
	{ "simd", "LEVEL", "auto", "instruction set: auto, scalar, avx2 or avx512" },
	{ "json", NULL, NULL, "print the table as JSON" }, { NULL, NULL, NULL, NULL } };

typedef struct words {
	char **v;
	int n, cap;
} words;

static void
say(words *w, const char *word)
{
	HU_GROW(w->v, w->n, w->cap);
	w->v[w->n++] = word ? hu_xstrdup(word) : NULL;
}

static void
say_option(words *w, const char *name, const char *value)
{
	char *s = value ? hu_xprintf("--%s=%s", name, value) : hu_xprintf("--%s", name);

	say(w, s);
	free(s);
}

/* Runs this program with the arguments w, discarding its output, and releases w. Sets *code to its exit code. */
static hu_status
execute(words *w, int *code)
{
	int status = 0;

	say(w, NULL);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(HU_EXIT_ENV);
		execv("/proc/self/exe", w->v);
		_exit(HU_EXIT_ENV);
	}
	for (int i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	memset(w, 0, sizeof *w);
	if (pid < 0)
		return hu_fail(HU_EIO, "no process can be started: %s", strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*code = WIFEXITED(status) ? WEXITSTATUS(status) : HU_EXIT_ENV;
	return HU_OK;
}

/* Passes on the options of train that were given here, except those of compare itself. */
static void
pass_on(words *w, const hu_args *a, const hu_config *c)
{
	static const char *const own[] = { "policies", "ladder", "seeds", "analyze", "json" };

	for (int i = 0; i < a->neach; i++) {
		const hu_opt *o = &opts[a->each[i].opt];
		int mine = 0;
		for (size_t k = 0; k < sizeof own / sizeof *own; k++)
			mine |= !strcmp(own[k], o->name);
		char *idle = mine ? NULL : hu_config_idle(c, o->name); /* why it has no effect under this policy; under
									  another one it has */
		if (!mine && !idle)
			say_option(w, o->name, o->arg ? a->each[i].value : NULL);
		free(idle);
	}
}

/* Makes the configuration of a run under policy. It records only what was asked for or what the analysis needs. */
static hu_status
config_of(hu_config *c, const hu_args *a, const char *policy)
{
	HU_TRY(hu_config_from_args(c, a, policy));
	if (!hu_args_given(a, "analyze") && !hu_args_given(a, "trace-steps")) {
		free(c->trace_steps);
		c->trace_steps = hu_xstrdup("none");
	}
	return HU_OK;
}

/* What train is told as policy p. */
static const char *
text_of(const hu_comparison *c, int p)
{
	return c->text ? c->text[p] : c->policy[p];
}

static hu_status
refuse_idle(const hu_comparison *c, const hu_args *a)
{
	hu_status st = HU_OK;
	hu_config config;
	hu_idle idle;

	hu_idle_init(&idle, a);
	for (int i = 0; i < c->policies && st == HU_OK; i++)
		if ((st = config_of(&config, a, text_of(c, i))) == HU_OK) {
			hu_idle_add(&idle, &config);
			hu_config_release(&config);
		}
	hu_status idled = hu_idle_end(&idle);
	return st != HU_OK ? st : idled;
}

/* Executes one run. A command line that train refuses for the first run is refused for all; any other failure belongs
   to that run alone. */
static hu_status
one_run(const hu_args *a, const char *policy, long long seed, const char *dir, hu_compare_result *r)
{
	words w = { NULL, 0, 0 };
	char number[24];
	hu_config c;

	HU_TRY(config_of(&c, a, policy));
	say(&w, "halfulp");
	say(&w, "train");
	pass_on(&w, a, &c);
	hu_config_release(&c);
	snprintf(number, sizeof number, "%lld", seed);
	say_option(&w, "policy", policy);
	say_option(&w, "seed", number);
	if (!hu_args_given(a, "analyze") && !hu_args_given(a, "trace-steps"))
		say_option(&w, "trace-steps", "none");
	say_option(&w, "quiet", NULL);
	say(&w, dir);
	r->dir = hu_xstrdup(dir);
	HU_TRY(execute(&w, &r->train));
	if (!r->train && hu_args_given(a, "analyze")) {
		say(&w, "halfulp");
		say(&w, "analyze");
		say(&w, dir);
		HU_TRY(execute(&w, &r->analyze));
	}
	return r->train ? HU_OK : hu_result_read(r, dir);
}

/* Returns the run's folder DIR/POLICY-seedN; characters of the policy that have a meaning in a shell become _. */
static char *
run_name(const hu_comparison *c, const char *dir, int p, long long seed)
{
	char *bare = hu_xstrdup(c->policy[p]);
	int again = 0;

	for (char *s = bare; *s; s++)
		if (strchr("/,=:*?[] ", *s))
			*s = '_';
	for (int i = 0; i < p; i++)
		again += !strcmp(c->policy[i], c->policy[p]);
	char *path = again ? hu_xprintf("%s/%.80s_%d-seed%lld", dir, bare, again + 1, seed)
			   : hu_xprintf("%s/%.80s-seed%lld", dir, bare, seed);
	free(bare);
	return path;
}

/* The rungs of --ladder as the policies to compare. */
static hu_status
climb(hu_comparison *c, const hu_args *a)
{
	hu_rung *rung = NULL;
	hu_config config;
	int n = 0;

	HU_TRY(config_of(&config, a, "float32"));
	hu_status st = hu_ladder(&rung, &n, &config, hu_args_text(a, "ladder"));
	hu_config_release(&config);
	c->policy = hu_xcalloc((size_t)n + 1, sizeof *c->policy);
	c->text = hu_xcalloc((size_t)n + 1, sizeof *c->text);
	for (c->policies = 0; c->policies < n; c->policies++) {
		c->policy[c->policies] = rung[c->policies].name;
		c->text[c->policies] = rung[c->policies].policy;
	}
	free(rung);
	return st;
}

static hu_status
read_lists(hu_comparison *c, const hu_args *a)
{
	const char *s = hu_args_text(a, "seeds");
	int cap = 0;
	hu_policy p;

	if (hu_args_given(a, "ladder"))
		HU_TRY(climb(c, a));
	else
		c->policies = hu_split_policies(hu_args_text(a, "policies"), &c->policy);
	if (!c->policies)
		return hu_fail(HU_EINVAL, "--policies: a list of policies is needed");
	for (int i = 0; i < c->policies; i++)
		HU_TRY(hu_policy_parse(text_of(c, i), &p));
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
	c->result = hu_xcalloc((size_t)(c->policies * c->seeds), sizeof *c->result);
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

static hu_status
compare(hu_comparison *c, const hu_args *a, const char *dir, int *code)
{
	int json = hu_args_given(a, "json");
	hu_progress bar;

	if (hu_exists(dir))
		return hu_fail(HU_EINVAL, "%s exists already; choose another name", dir);
	HU_TRY(read_lists(c, a));
	HU_TRY(refuse_idle(c, a));
	HU_TRY(hu_make_dirs(dir));
	hu_progress_start(&bar, "compare", (size_t)(c->policies * c->seeds));
	for (int i = 0; i < c->policies * c->seeds; i++) {
		int p = i / c->seeds;
		char *run = run_name(c, dir, p, c->seed[i % c->seeds]);
		hu_progress_note(&bar, "%s", run);
		hu_compare_result *r = &c->result[i];
		hu_status st = one_run(a, text_of(c, p), c->seed[i % c->seeds], run, r);
		free(run);
		HU_TRY(st);
		if (i == 0 && r->train == HU_EXIT_USAGE) {
			*code = HU_EXIT_USAGE;
			return HU_OK;
		}
		if (!json) {
			char failure[24];
			hu_progress_end(&bar);
			if (r->train)
				printf("%s: failed (%s)\n", hu_shown(r->dir), hu_result_failure(r, failure));
			else
				printf("%s: accuracy %.2f %%\n", hu_shown(r->dir), 100 * r->v[0]);
			fflush(stdout);
		}
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	HU_TRY(hu_comparison_write(c, dir));
	for (int p = 0; p < c->policies; p++) {
		int mine;
		hu_comparison_failed(c, p, &mine);
		*code = mine > *code ? mine : *code;
	}
	if (json) {
		json_t *j = hu_comparison_to_json(c);
		json_dumpf(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
	} else {
		putchar('\n');
		hu_comparison_print(c, stdout);
		printf("%s/compare.tsv has it all\n", hu_shown(dir));
		if (hu_args_given(a, "analyze"))
			printf("Next: halfulp report %s/*-seed%lld\n", hu_shown(dir), c->seed[0]);
		else
			printf("Next: halfulp compare --analyze ... records and judges steps too, for halfulp "
			       "report\n");
	}
	return HU_OK;
}

static int
run(const hu_args *a)
{
	hu_comparison c = { .policies = 0 };
	int code = 0;

	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': compare writes to one folder alone", a->rest[1]));
	char *dir = a->nrest ? hu_xstrdup(a->rest[0]) : default_dir();
	hu_status st = compare(&c, a, dir, &code);
	for (int i = 0; c.result && i < c.policies * c.seeds; i++)
		free(c.result[i].dir);
	for (int i = 0; i < c.policies; i++) {
		free(c.policy[i]);
		if (c.text)
			free(c.text[i]);
	}
	free(c.policy);
	free(c.text);
	free(c.seed);
	free(c.result);
	free(dir);
	return st != HU_OK ? hu_complain(st) : code;
}

static int
climbs_no_ladder(const void *of)
{
	return !hu_args_given(of, "ladder");
}

static const hu_opt_need needs[] = { { "policies", climbs_no_ladder, "beside --ladder, which says the policies" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_compare = { "compare", "--policies LIST | --ladder POLICY [--seeds LIST] [OPTION...] [DIR]",
	"train a model under several policies and seeds and tabulate accuracy, time, memory and losses",
	"Options are those of train; each holds for every run in which it has an effect (--init-scale has none in\n"
	"float32's). The runs are written to DIR [runs/compare-N], with compare.tsv and compare-runs.tsv. A run\n"
	"that fails becomes a row that says so, and the others go on; the exit code is the largest of theirs. In\n"
	"LIST, key=value belongs to the policy before it: mixed_float16,layer:dense1=float32.",
	opts, run, needs };
