/* SPDX-License-Identifier: Apache-2.0
   halfulp train: executes one training and records it in a run directory. */
#include "lib/base/failed.h"
#include "lib/base/mem.h"
#include "lib/base/guard/ended.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/show.h"
#include "lib/base/console/spec.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/store/run.h"
#include "trainer/ranked/ranked.h"
#include "trainer/ranked/session_open.h"
#include "trainer/train/ranked_serve.h"
#include "trainer/train/exercise.h"
#include "trainer/run/idle.h"
#include "trainer/train/loop.h"
#include "trainer/train/say.h"
#include "trainer/record/manifest.h"

#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
#include "trainer/run/options_model.def"
	{ "policy", "P", "float32", "a preset, key=value list, or JSON file: which formats are used where" },
#include "trainer/run/options_run.def"
	{ "backend:simd", "LEVEL", "auto", "instruction set: auto, scalar, avx2 or avx512. Changes no bit" },
	{ "seed", "N", "1", "seed of initial weights, shuffling and stochastic rounding" },
	{ "resume", NULL, NULL,
		"continue RUN from its last checkpoint, bit for bit, with its own options (--backend may be another)" },
	{ "exercise", NULL, NULL,
		"then train RUN/exercise: 48 steps with overflows and growth of the loss scale, which check holds" },
	{ "threads", "N", "0",
		"most threads that a call may use; small calls use fewer; 0: one a core. Changes no bit" },
	{ "meter", "NAME", "auto",
		"what measures energy: rapl (the processor's), nvml (the GPU's) or none; auto: that of what the "
		"back end runs on" },
	{ "meter:grid", "G", NULL,
		"grams of CO2 that a kWh of the local grid causes; the run's own are then reported" },
	{ "quiet", NULL, NULL, "print nothing but errors" },
	{ "json", NULL, NULL, "print the result as JSON, nothing else" }, { NULL, NULL, NULL, NULL }
};

typedef struct job {
	hu_config config;
	hu_session session;
	hu_record record;
	hu_metrics metrics;
	json_t *command;
	hu_account energy;
	hu_run_lock lock;
	char *dir;
	size_t from;
	int talk, resumed;
} job;

/* Locks dir for a run that begins there. Where another process is training in it, the failure names that process rather
   than the run that it made. */
static hu_status
claim(hu_run_lock *lock, const char *dir)
{
	if (hu_run_may_create(dir) != HU_OK) {
		hu_run_lock other;
		HU_TRY(hu_run_lock_read(&other, dir));
		hu_run_unlock(&other);
		return hu_run_may_create(dir);
	}
	HU_TRY(hu_run_lock_write(lock, dir));
	hu_status st = hu_run_may_create(dir); /* another process may have created it in between */
	if (st != HU_OK)
		hu_run_unlock(lock);
	return st;
}

/* Locks runs/MODEL-POLICY-N for the first N that is free. */
static hu_status
claim_default(job *b)
{
	const hu_config *c = &b->config;
	char *bare = hu_xstrdup(c->policy.name);
	hu_status st = HU_EIO;

	for (char *s = bare; *s; s++)
		if (strchr("/,=:*? ", *s))
			*s = '_';
	for (int n = 1; st != HU_OK; n++) {
		b->dir = hu_xprintf("runs/%s-%.60s-%d", c->model, bare, n);
		int there = hu_exists(b->dir);
		if (!there && (st = claim(&b->lock, b->dir)) != HU_OK && !(there = hu_exists(b->dir)))
			break; /* no other process took it: it cannot be made at all */
		if (!there)
			continue;
		hu_failed_forget(); /* that another process took it is no failure of this command */
		free(b->dir);
	}
	free(bare);
	return st;
}

static json_t *
command_line(const hu_args *a)
{
	json_t *j = json_pack("[s, s]", "halfulp", "train");
	char line[512];

	for (int i = 0; i < a->neach; i++) {
		const hu_opt *o = &opts[a->each[i].opt];
		snprintf(line, sizeof line, o->arg ? "--%s=%.400s" : "--%s", o->name, a->each[i].value);
		json_array_append_new(j, json_string(hu_shown(line)));
	}
	return j;
}

/* Refuses --meter grid= where no energy is measured. */
static hu_status
no_meter(const job *b, const hu_args *a)
{
	char why[sizeof b->energy.meter.why + 64];

	snprintf(why, sizeof why, "where no energy is measured (--meter %s%s%s)", hu_args_text(a, "meter"),
		*b->energy.meter.why ? ": " : "", b->energy.meter.why);
	return hu_refuse("meter:grid", why);
}

static hu_status
open_session(job *b, const hu_args *a)
{
	hu_dataset data;
	double intensity = -1;

	if (hu_args_given(a, "meter:grid"))
		HU_TRY(hu_args_real(a, "meter:grid", 0, 1e6, &intensity));
	HU_TRY(hu_account_open(&b->energy, hu_args_text(a, "meter"), b->config.backend, intensity));
	if (intensity >= 0 && !b->energy.meter.meter)
		return no_meter(b, a);
	HU_TRY(hu_config_dataset(&b->config, 0, &data));
	HU_TRY(hu_session_open(&b->session, &b->config, &data));
	if (b->talk)
		hu_say_dtypes(&b->config);
	return HU_OK;
}

static hu_status
prepare_new(job *b, const hu_args *a)
{
	HU_TRY(hu_config_from_args(&b->config, a, hu_args_text(a, "policy")));
	HU_TRY(hu_idle_refuse(a, &b->config));
	HU_TRY(hu_ranked_possible(&b->config));
	if (hu_args_given(a, "exercise"))
		HU_TRY(hu_exercise_possible(&b->config));
	if (a->nrest)
		b->dir = hu_xstrdup(a->rest[0]);
	HU_TRY(a->nrest ? claim(&b->lock, b->dir) : claim_default(b));
	HU_TRY(open_session(b, a));
	HU_TRY(hu_idle_patterns(&b->config, b->session.programs.train));
	HU_TRY(hu_record_init(&b->record, b->dir, &b->session));
	HU_TRY(hu_session_start(&b->session));
	hu_metrics_init(&b->metrics, &b->config);
	if (b->talk)
		hu_say_start(&b->config, &b->session, &b->record, b->resumed, b->from);
	b->command = command_line(a);
	json_array_append_new(b->command, json_string(hu_shown(b->dir)));
	return HU_OK;
}

/* Checks that data and program are those that the run was begun with. */
static hu_status
check_same(const job *b, const hu_run *run)
{
	const char *want = json_string_value(json_object_get(json_object_get(run->manifest, "dataset"), "digest"));
	char have[24];
	json_t *p = hu_program_to_json(b->session.programs.train), *q = hu_program_to_json(run->train);
	int same = json_equal(p, q);

	json_decref(p);
	json_decref(q);
	snprintf(have, sizeof have, "0x%016llx", (unsigned long long)hu_dataset_digest(&b->session.data));
	if (!want || strcmp(want, have))
		return hu_fail(HU_EFILE, "%s: its data had digest %s, %s now has %s: give it the same files back",
			run->dir, want ? want : "-", b->config.data, have);
	return same ? HU_OK
		    : hu_fail(HU_EFILE,
			      "%s: program-train.json is not the program that its configuration makes with this "
			      "version",
			      run->dir);
}

static hu_status
restore(job *b, const hu_run *run)
{
	hu_session *s = &b->session;
	size_t *steps;
	int n;

	HU_TRY(hu_run_list_steps(run->dir, "checkpoint", &steps, &n));
	b->from = n ? steps[n - 1] : 0;
	free(steps);
	hu_metrics_init(&b->metrics, &b->config);
	HU_TRY(hu_metrics_resume(&b->metrics, b->session.programs.train, b->dir, b->from));
	return n ? hu_session_load(s, run->dir, b->from) : hu_session_start(s);
}

static hu_status
prepare_resumed(job *b, const hu_args *a)
{
	const char *given = hu_config_given(a);
	hu_run run;

	if (given) {
		hu_str row;
		hu_str_init(&row);
		hu_spec_say(&row, given);
		hu_fail(HU_EINVAL, "%s: a resumed run keeps its own options; leave it out", row.s);
		hu_str_release(&row);
		return HU_EINVAL;
	}
	if (!a->nrest)
		return hu_fail(HU_EINVAL, "--resume needs the RUN to continue");
	b->dir = hu_xstrdup(a->rest[0]);
	b->resumed = 1;
	char *manifest = hu_path(b->dir, "manifest.json");
	int begun = hu_exists(manifest);
	free(manifest);
	if (begun)
		HU_TRY(hu_run_lock_write(&b->lock, b->dir));
	HU_TRY(hu_run_open_own(&run, b->dir, 0));
	hu_status st = hu_config_resumed(&b->config, run.manifest, a);
	if (st == HU_OK)
		st = hu_ranked_possible(&b->config);
	if (st == HU_OK)
		st = hu_manifest_recall(run.manifest);
	if (st == HU_OK)
		st = open_session(b, a);
	if (st == HU_OK)
		st = check_same(b, &run);
	if (st == HU_OK)
		st = hu_record_init(&b->record, b->dir, &b->session);
	if (st == HU_OK) {
		hu_record_continue(&b->record, run.manifest, &b->session);
		st = hu_run_create(b->dir, 1);
	}
	if (st == HU_OK)
		st = restore(b, &run);
	b->record.from = b->from;
	hu_run_release(&run);
	if (st == HU_OK)
		st = hu_record_recover(&b->record, b->from);
	if (st == HU_OK && b->talk)
		hu_say_start(&b->config, &b->session, &b->record, b->resumed, b->from);
	return st;
}

/* Has rank 0 say how to go on, where a rank's death ends all. */
static void
promise(const job *b)
{
	char *line = hu_xprintf("halfulp train: a signal ended it, as it ends all ranks where one of them died; "
				"halfulp train --resume %s goes on from the last checkpoint",
		hu_shown(b->dir));

	if (hu_ranks_size() > 1)
		hu_ended_says(line, NULL);
	free(line);
}

/* Prepares a run, on all ranks together. */
static hu_status
begin(job *b, const hu_args *a)
{
	int resumed = hu_args_given(a, "resume");

	HU_TRY(hu_ranked_agree(&b->session, resumed ? prepare_resumed(b, a) : prepare_new(b, a)));
	HU_TRY(hu_ranks_agree(resumed ? HU_OK : hu_record_begin(&b->record, &b->session, b->command)));
	hu_ranked_say(&b->session, b->talk);
	promise(b);
	return resumed ? hu_ranked_check_read(&b->session, b->record.manifest, b->dir, b->from) : HU_OK;
}

/* Has the manifest of a run whose steps are all done, but whose process was killed before it said so, say what that
   process would have said. */
static hu_status
complete(job *b)
{
	if ((size_t)json_integer_value(json_object_get(b->record.manifest, "steps_done")) < b->from) {
		hu_account_begin(&b->energy, b->record.manifest, b->from);
		hu_account_write(&b->energy, b->record.manifest, 0); /* which says why there are no numbers */
	}
	return hu_manifest_read(b->record.manifest, &b->session, b->from, b->session.steps, 1);
}

static hu_status
train(job *b, const hu_args *a)
{
	hu_metrics_row last = { .evaluated = 0 };

	HU_TRY(begin(b, a));
	if (b->from >= b->session.steps) {
		int finished = json_is_true(json_object_get(b->record.manifest, "finished"));
		if (!finished)
			HU_TRY(complete(b));
		HU_TRY(hu_ranked_end(&b->session, NULL));
		if (!finished)
			HU_TRY(hu_record_finish(&b->record, b->session.steps));
		if (hu_args_given(a, "exercise"))
			HU_TRY(hu_exercise_run(b->record.manifest, b->dir));
		if (b->talk)
			printf("%s: all %zu steps are done already\nNext: halfulp analyze %s\n", hu_shown(b->dir),
				b->session.steps, hu_shown(b->dir));
		return HU_OK;
	}
	hu_account_begin(&b->energy, b->record.manifest, b->from);
	HU_TRY(hu_loop_run(&b->session, &b->record, &b->metrics, b->from, b->talk, &b->energy, &last));
	HU_TRY(hu_manifest_read(b->record.manifest, &b->session, b->from, b->session.steps, 1));
	HU_TRY(hu_ranked_end(&b->session, b->dir));
	HU_TRY(hu_record_finish(&b->record, b->session.steps));
	if (hu_args_given(a, "exercise"))
		HU_TRY(hu_exercise_run(b->record.manifest, b->dir));
	if (b->talk || hu_args_given(a, "json"))
		hu_say_end(b->dir, b->session.steps, &b->metrics, &last, b->record.manifest, hu_args_given(a, "json"));
	return HU_OK;
}

static int
run(const hu_args *a)
{
	int first = hu_ranks_own() == 0;
	job b = { .talk = first && !hu_args_given(a, "quiet") && !hu_args_given(a, "json") };
	long long threads;
	hu_status st;

	if (!b.talk)
		hu_progress_disable();
	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': train makes one RUN at a time", a->rest[1]));
	if ((st = hu_args_int(a, "threads", 0, 4096, &threads)) == HU_OK)
		st = hu_args_given(a, "backend:simd") ? hu_simd_set(hu_args_text(a, "backend:simd")) : HU_OK;
	if (st == HU_OK)
		st = hu_ranks_open();
	if (st == HU_OK) {
		hu_threads_set(threads ? (int)threads : hu_threads_of(hu_ranks_local()));
		st = first ? train(&b, a) : hu_ranked_serve(a);
		hu_ended_says(NULL, NULL);
		hu_account_close(&b.energy);
		hu_metrics_release(&b.metrics);
		hu_record_release(&b.record);
		hu_session_close(&b.session);
		hu_config_release(&b.config);
		json_decref(b.command);
		hu_run_unlock(&b.lock);
		free(b.dir);
	}
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
prints_for_people(const void *of)
{
	return !hu_args_given(of, "json");
}

static int
is_alone(const void *of)
{
	(void)of;
	return hu_ranks_started() == 1;
}

static const hu_opt_need needs[] = {
	{ "exercise", is_alone, "where mpirun has started several processes: train it alone, with --resume" },
	{ "backend:graph", is_alone, "where mpirun has started several processes: they launch a step in parts" },
	{ "quiet", prints_for_people, "beside --json, which prints the result alone" }, { NULL, NULL, NULL }
};

const hu_command hu_cmd_train = { "train", "[OPTION...] [RUN]",
	"train a reference model under a precision policy and record it in RUN [runs/MODEL-POLICY-N]",
	"RUN is a new folder that holds the programs, a row of metrics for each step, checkpoints, and the\n"
	"tensors of the traced steps. It must not exist, unless --resume continues it; no other process may write\n"
	"or read it during training. The numbers depend on the options alone: not on threads, SIMD level,\n"
	"compiler or machine. Ranks that mpirun or srun starts share the micro-batches (--batch micro=N, at\n"
	"least one each), and neither does their number change a bit: rank 0 writes RUN, each draws its own\n"
	"rows and updates all parameters; batchnorm has the statistics of each micro-batch. With --backend cuda\n"
	"the ranks of a machine take its GPUs in turn, and what passes between ranks goes through host memory.",
	opts, run, needs, NULL };
