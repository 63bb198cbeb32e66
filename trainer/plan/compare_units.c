/* SPDX-License-Identifier: Apache-2.0
   The runs of compare as units that processes share: each trains, and where asked analyzes, by running this program
   as a user would. */
#include "trainer/plan/compare_units.h"

#include "lib/base/build.h"
#include "lib/base/file.h"
#include "lib/base/guard/children.h"
#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/console/spec.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"
#include "trainer/plan/compare_patterns.h"
#include "trainer/run/idle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Says the key OPTION:KEY as its option's value. */
static void
say_key(words *w, const char *row, const char *value)
{
	size_t n = strcspn(row, ":");
	char *s = hu_xprintf("--%.*s=%s=%s", (int)n, row, row + n + 1, value);

	say(w, s);
	free(s);
}

/* Becomes this program in the child process of `parent`, with which it ends. It works alone, whoever started the
   parent together with others. Does not return. */
static void
become(char **line, pid_t parent)
{
	hu_end_with(parent);
	char *self = hu_build_program();
	if (self && !setenv("HALFULP_MPI", "none", 1) && freopen("/dev/null", "w", stdout))
		execv(self, line);
	dprintf(STDERR_FILENO, "halfulp compare: halfulp %s could not be started: %s\n", line[1], strerror(errno));
	_exit(HU_EXIT_ENV);
}

/* Waits for the child; where several ranks work, answers those that wait for a unit meanwhile. */
static int
wait_for(pid_t pid)
{
	const struct timespec nap = { 0, 2000000 };
	int status = 0;
	pid_t ended;

	if (hu_ranks_size() > 1)
		while (!(ended = waitpid(pid, &status, WNOHANG)) || (ended < 0 && errno == EINTR)) {
			hu_share_answer();
			nanosleep(&nap, NULL);
		}
	else
		while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
			;
	return ended == pid && WIFEXITED(status) ? WEXITSTATUS(status) : HU_EXIT_ENV;
}

/* Runs this program with the arguments w, discarding its output, and releases w. Sets *code to its exit code. */
static hu_status
execute(words *w, int *code)
{
	pid_t self = getpid(), pid;

	say(w, NULL);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become(w->v, self);
	for (int i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	memset(w, 0, sizeof *w);
	if (pid < 0)
		return hu_fail(HU_EIO, "no process can be started: %s", strerror(errno));
	*code = wait_for(pid);
	return HU_OK;
}

/* The value that the run is told: of patterns of names those that fit in it. */
static const char *
value_for(const hu_config *c, const char *option, const char *given)
{
	return !strcmp(option, "optimizer:no_decay") ? c->no_decay
	       : !strcmp(option, "trace")            ? c->trace
	       : !strcmp(option, "count")            ? c->count
						     : given;
}

/* Passes on the options of train that were given here, with their keys, except those of compare itself, and those
   that have no effect under this policy, while under another one they have; of a list of rates, none. */
static void
pass_on(words *w, const hu_args *a, const hu_config *c, const char *rate)
{
	for (int i = 0; a->opts[i].name; i++) {
		const hu_opt *o = &a->opts[i];
		if (!a->given[i] || (rate && !strcmp(o->name, "optimizer:lr")) ||
			hu_word_in("policy seeds analyze json shard shard:part resume", o->name))
			continue;
		char *idle = hu_config_idle(c, o->name);
		const char *value = value_for(c, o->name, a->value[i]);
		if (!idle && hu_spec_is_key(o) && (*value || !*a->value[i]))
			say_key(w, o->name, value);
		else if (!idle && !hu_spec_is_key(o) && (!o->arg || *value || !*a->value[i]))
			say_option(w, o->name, o->arg ? value : NULL);
		free(idle);
	}
}

/* Ranks that share a machine share its cores, where the command line does not say how. */
static void
say_threads(words *w, const hu_args *a)
{
	char n[16];

	if (hu_ranks_size() == 1 || hu_args_given(a, "threads"))
		return;
	snprintf(n, sizeof n, "%d", hu_threads_of(hu_ranks_local()));
	say_option(w, "threads", n);
}

/* Executes one run. A command line that train refuses for the first run is refused for all; any other failure belongs
   to that run alone. */
static hu_status
one_run(const hu_args *a, const char *policy, const char *rate, long long seed, const char *dir, hu_compare_result *r)
{
	words w = { NULL, 0, 0 };
	char number[24];
	hu_config c;

	HU_TRY(hu_compare_config(&c, a, policy));
	int traced = hu_compare_patterns_narrow(&c, a);
	say(&w, "halfulp");
	say(&w, "train");
	pass_on(&w, a, &c, rate);
	hu_config_release(&c);
	snprintf(number, sizeof number, "%lld", seed);
	say_option(&w, "policy", policy);
	say_option(&w, "seed", number);
	if (rate)
		say_key(&w, "optimizer:lr", rate);
	if (!traced || (!hu_args_given(a, "analyze") && !hu_args_given(a, "trace:steps")))
		say_option(&w, "trace", "steps=none");
	say_threads(&w, a);
	say_option(&w, "quiet", NULL);
	say(&w, dir);
	HU_TRY(execute(&w, &r->train));
	if (!r->train && traced && hu_args_given(a, "analyze")) {
		say(&w, "halfulp");
		say(&w, "analyze");
		say_threads(&w, a);
		say(&w, dir);
		HU_TRY(execute(&w, &r->analyze));
	}
	return r->train ? HU_OK : hu_result_read(r, dir);
}

/* What unit i runs: a row of the comparison, and a seed. The rate is NULL where no list was given. */
typedef struct unit {
	int policy;
	const char *rate;
	long long seed;
} unit;

static unit
unit_of(const hu_comparison *c, int i)
{
	int row = i / c->seeds;

	return (unit){ row / c->rates, c->rate ? c->rate[row % c->rates] : NULL, c->seed[i % c->seeds] };
}

/* Characters that have a meaning in a shell become _. The caller frees the text. */
static char *
plain(const char *text)
{
	char *bare = hu_xprintf("%.80s", text);

	for (char *s = bare; *s; s++)
		if (strchr("/,=:*?[]^ ", *s))
			*s = '_';
	return bare;
}

char *
hu_compare_folder(const hu_comparison *c, const char *dir, int i)
{
	unit u = unit_of(c, i);
	char *policy = plain(c->policy[u.policy]), *rate = plain(u.rate ? u.rate : ""), number[16] = "";
	int again = 0;

	for (int p = 0; p < u.policy; p++)
		again += !strcmp(c->policy[p], c->policy[u.policy]);
	if (again)
		snprintf(number, sizeof number, "_%d", again + 1);
	char *path = hu_xprintf("%s/%s%s%s%s-seed%lld", dir, policy, number, u.rate ? "-lr" : "", rate, u.seed);
	free(policy);
	free(rate);
	return path;
}

/* What a unit found. */
static void
pack_result(hu_pack *r, hu_compare_result *x)
{
	hu_pack_int(r, &x->train);
	hu_pack_int(r, &x->analyze);
	for (int k = 0; k < HU_RESULTS; k++)
		hu_pack_real(r, &x->v[k]);
}

/* A run that was ended in its middle, of which no part tells, is made again. */
static hu_status
make_room(const hu_compare_job *j, const char *run)
{
	if (!hu_exists(run))
		return HU_OK;
	if (!hu_args_given(j->args, "resume"))
		return hu_fail(
			HU_EINVAL, "%s exists already; choose another folder, or go on there with --resume", run);
	hu_remove_all(run);
	return HU_OK;
}

static hu_status
compute(void *of, int i, hu_str *found)
{
	hu_compare_job *j = of;
	const hu_comparison *c = j->c;
	unit u = unit_of(c, i);
	char *run = hu_compare_folder(c, j->dir, i);
	hu_compare_result r = { .dir = NULL };
	hu_status st = make_room(j, run);

	if (st == HU_OK)
		st = one_run(j->args, hu_compare_policy(c, u.policy), u.rate, u.seed, run, &r);
	if (st == HU_OK && i == 0 && r.train == HU_EXIT_USAGE) {
		j->refused = 1;
		st = hu_fail(HU_EINVAL, "train does not accept the first run's command line");
	}
	if (st == HU_OK) {
		hu_pack pack;
		hu_pack_write(&pack);
		pack_result(&pack, &r);
		hu_str_add(found, pack.text.s);
		hu_pack_release(&pack);
	}
	free(r.dir);
	free(run);
	return st;
}

static hu_status
merge(void *of, int i, const char *found)
{
	hu_compare_job *j = of;
	hu_comparison *c = j->c;
	hu_compare_result *r = &c->result[i];
	char failure[24];
	hu_pack pack;

	r->dir = hu_compare_folder(c, j->dir, i);
	hu_pack_read(&pack, found);
	pack_result(&pack, r);
	hu_status st = hu_pack_end(&pack, r->dir);
	hu_pack_release(&pack);
	if (st != HU_OK || j->json)
		return st;
	hu_progress_end(&j->work.bar);
	if (r->train) {
		printf("%s: failed (%s)\n", hu_shown(r->dir), hu_result_failure(r, failure));
	} else {
		double score;
		const char *title = hu_compare_score(r, &score);
		printf("%s: %s %.2f %%\n", hu_shown(r->dir), title, 100 * score);
	}
	fflush(stdout);
	return HU_OK;
}

/* Whether training or analysis ended with exit 4, which a machine with more room or memory does not, or was killed. */
static int
passing(const char *found)
{
	hu_compare_result r = { .dir = NULL };
	hu_pack pack;

	hu_pack_read(&pack, found);
	pack_result(&pack, &r);
	hu_pack_release(&pack);
	return r.train == HU_EXIT_ENV || r.analyze == HU_EXIT_ENV;
}

static char *
name_of(const void *of, int i)
{
	const hu_compare_job *j = of;

	unit u = unit_of(j->c, i);

	return u.rate ? hu_xprintf("%d.lr%s.seed%lld", u.policy, u.rate, u.seed)
		      : hu_xprintf("%d.seed%lld", u.policy, u.seed);
}

hu_status
hu_compare_share(hu_compare_job *j, hu_sharing *s, hu_status st, int *ends)
{
	int n = st == HU_OK ? hu_comparison_rows(j->c) * j->c->seeds : 0;

	j->cost = hu_xcalloc((size_t)n + 1, sizeof *j->cost);
	for (int i = 0; i < n; i++)
		j->cost[i] = 1; /* nobody knows: all are alike */
	j->text = st == HU_OK ? hu_compare_text(j) : NULL;
	j->folder = hu_path(j->dir, "parts");
	j->work = (hu_share_work){ .command = "compare",
		.text = j->text,
		.folder = j->folder,
		.place = j->dir,
		.n = n,
		.keeps = 1,
		.cost = j->cost,
		.name = name_of,
		.compute = compute,
		.merge = merge,
		.passing = passing,
		.of = j };
	return hu_share_out(s, &j->work, j->args, st, ends);
}

void
hu_compare_job_release(hu_compare_job *j)
{
	free(j->cost);
	free(j->text);
	free(j->folder);
}
