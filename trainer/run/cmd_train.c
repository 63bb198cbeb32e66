/* SPDX-License-Identifier: Apache-2.0
   halfulp train: executes one training and records it in a run directory. */
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/progress.h"
#include "lib/base/console/show.h"
#include "lib/base/str.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/store/run.h"
#include "trainer/device/gpu.h"
#include "trainer/device/keras.h"
#include "trainer/device/verdict.h"
#include "trainer/run/exercise.h"
#include "trainer/run/idle.h"
#include "trainer/run/loop.h"
#include "trainer/record/manifest.h"

#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = {
#include "trainer/run/options_model.def"
	{ "policy", "P", "float32", "a preset, key=value list, or JSON file: which formats are used where" },
#include "trainer/run/options_run.def"
	{ "seed", "N", "1", "seed of initial weights, shuffling and stochastic rounding" },
	{ "resume", NULL, NULL,
		"continue RUN from its last checkpoint, bit for bit, with its own options (--backend may be another)" },
	{ "exercise", NULL, NULL,
		"then train RUN/exercise: 48 steps with overflows and growth of the loss scale, which check holds" },
	{ "threads", "N", "0",
		"most threads that a call may use; small calls use fewer; 0: one a core. Changes no bit" },
	{ "simd", "LEVEL", "auto", "instruction set: auto, scalar, avx2 or avx512. Changes no bit" },
	{ "meter", "NAME", "auto",
		"what measures energy: rapl (the processor's), nvml (the GPU's) or none; auto: that of what the "
		"back end runs on" },
	{ "grid-intensity", "G", NULL,
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
		if (there)
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

/* Prints Keras's message for this policy, and then what holds for this program and the chosen back end. */
static void
say_compatibility(const job *b)
{
	enum { SHOWN = 64 };
	const hu_policy *p = &b->config.policy;
	hu_gpu_name g[SHOWN];
	hu_str keras;

	if (!b->talk || p->compute == p->variable)
		return;
	int n = hu_gpu_list(g, SHOWN), device = n && !strcmp(b->config.backend, "cuda");
	if (!strcmp(p->name, "mixed_float16")) {
		hu_str_init(&keras);
		hu_keras_check(&keras, g, n < SHOWN ? n : SHOWN);
		printf("Keras says (tf.keras 2.x): %s\n", keras.s);
		hu_str_release(&keras);
	}
	printf("halfulp says: %s\n", hu_mixed_verdict(device ? g[0].capability : 0));
}

static void
say_dtypes(const job *b)
{
	const hu_policy *p = &b->config.policy;

	if (!b->talk)
		return;
	printf("Compute dtype: %s\nVariable dtype: %s\n", hu_dtype_name(p->compute), hu_dtype_name(p->variable));
	for (int i = 0; i < p->noverride; i++)
		printf("  layers %s: %s\n", p->override[i].pattern, hu_dtype_name(p->override[i].compute));
	say_compatibility(b);
	fflush(stdout);
}

static void
say_memory(const hu_program *p)
{
	hu_memory m = hu_memory_of(p);
	char b[6][16];

	printf("Memory: weights %s, masters %s, activations %s, gradients %s, optimizer state %s; %s in all\n",
		hu_bytes_text(m.weights, b[0], 16), hu_bytes_text(m.masters, b[1], 16),
		hu_bytes_text(m.activations, b[2], 16), hu_bytes_text(m.gradients, b[3], 16),
		hu_bytes_text(m.optimizer_state, b[4], 16), hu_bytes_text(hu_memory_total(&m), b[5], 16));
}

static void
say_trace(const hu_record *r)
{
	char b[2][16];

	if (!r->ntrace) {
		puts("Trace: none");
		return;
	}
	printf("Trace: step%s", r->ntrace > 1 ? "s" : "");
	for (int i = 0; i < r->ntrace && i < 8; i++)
		printf("%s %zu", i ? "," : "", r->trace_step[i]);
	printf("%s; %s a step, %s in all\n", r->ntrace > 8 ? ", ..." : "", hu_bytes_text(r->trace_bytes, b[0], 16),
		hu_bytes_text(r->trace_bytes * r->ntrace, b[1], 16));
}

static void
say_start(const job *b)
{
	const hu_session *s = &b->session;
	const hu_config *c = &b->config;
	const hu_optim_options *o = &c->optim;

	if (!b->talk)
		return;
	printf("Model: %s, %zu parameters, %s with learning rate %g, batch %zu\n", c->model,
		hu_parameters(s->programs.train), o->row->name, o->lr, c->batch);
	printf("Data: %s, %zu to train, %zu to evaluate; %zu steps, %zu an epoch; seed %zu\n", s->data.name,
		s->data.n_train, s->data.n_eval, s->steps, s->steps_per_epoch, c->seed);
	printf("Loss scaling: %s", c->scaling.rule.name);
	if (strcmp(c->scaling.rule.name, "none"))
		printf(", from %g", c->scaling.rule.init);
	if (c->loss_weight != 1)
		printf("; loss weight %g", c->loss_weight);
	putchar('\n');
	say_memory(s->programs.train);
	say_trace(&b->record);
	if (b->resumed)
		printf("Resuming at step %zu of %zu\n", b->from, s->steps);
	fflush(stdout);
	if (hu_optim_eps_vanishes(o, c->policy.variable))
		fprintf(stderr, "warning: epsilon %g is zero in %s: where v is zero too, the update divides by zero\n",
			o->eps, hu_dtype_name(c->policy.variable));
}

/* Refuses --grid-intensity where no energy is measured. */
static hu_status
no_meter(const job *b, const hu_args *a)
{
	char why[sizeof b->energy.meter.why + 64];

	snprintf(why, sizeof why, "where no energy is measured (--meter %s%s%s)", hu_args_text(a, "meter"),
		*b->energy.meter.why ? ": " : "", b->energy.meter.why);
	return hu_refuse("grid-intensity", why);
}

static hu_status
open_session(job *b, const hu_args *a)
{
	hu_dataset data;
	double intensity = -1;

	if (hu_args_given(a, "grid-intensity"))
		HU_TRY(hu_args_real(a, "grid-intensity", 0, 1e6, &intensity));
	HU_TRY(hu_account_open(&b->energy, hu_args_text(a, "meter"), b->config.backend, intensity));
	if (intensity >= 0 && !b->energy.meter.meter)
		return no_meter(b, a);
	HU_TRY(hu_config_dataset(&b->config, 0, &data));
	HU_TRY(hu_session_open(&b->session, &b->config, &data));
	say_dtypes(b);
	return HU_OK;
}

static hu_status
prepare_new(job *b, const hu_args *a)
{
	HU_TRY(hu_config_from_args(&b->config, a, hu_args_text(a, "policy")));
	HU_TRY(hu_idle_refuse(a, &b->config));
	if (hu_args_given(a, "exercise"))
		HU_TRY(hu_exercise_possible(&b->config));
	if (a->nrest)
		b->dir = hu_xstrdup(a->rest[0]);
	HU_TRY(a->nrest ? claim(&b->lock, b->dir) : claim_default(b));
	HU_TRY(open_session(b, a));
	HU_TRY(hu_record_init(&b->record, b->dir, &b->session));
	HU_TRY(hu_session_start(&b->session));
	hu_metrics_init(&b->metrics, &b->config);
	say_start(b);
	b->command = command_line(a);
	json_array_append_new(b->command, json_string(hu_shown(b->dir)));
	return hu_record_begin(&b->record, &b->session, b->command);
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
	hu_tensor *t;
	json_t *meta;
	int n = hu_run_list_steps(run->dir, "checkpoint", &steps);

	b->from = n ? steps[n - 1] : 0;
	free(steps);
	hu_metrics_init(&b->metrics, &b->config);
	HU_TRY(hu_metrics_resume(&b->metrics, b->dir, b->from));
	if (!n)
		return hu_session_start(s);
	HU_TRY(hu_session_copy(s, NULL, &t));
	hu_status st = hu_run_load_checkpoint(run->dir, (long)b->from, s->programs.train, t, &meta);
	if (st == HU_OK) {
		json_decref(meta);
		st = hu_session_restore(s, t);
	}
	hu_session_free_tensors(s, t);
	return st;
}

/* Takes another back end where it is given: a run whose device is gone can continue elsewhere, since the bits are the
   same. */
static void
take_backend(job *b, const hu_args *a)
{
	if (!hu_args_given(a, "backend"))
		return;
	free(b->config.backend);
	b->config.backend = hu_xstrdup(hu_args_text(a, "backend"));
}

static hu_status
prepare_resumed(job *b, const hu_args *a)
{
	const char *given = hu_config_given(a);
	hu_run run;

	if (given)
		return hu_fail(HU_EINVAL, "--%s: a resumed run keeps its own options; leave it out", given);
	if (!a->nrest)
		return hu_fail(HU_EINVAL, "--resume needs the RUN to continue");
	b->dir = hu_xstrdup(a->rest[0]);
	b->resumed = 1;
	char *manifest = hu_path(b->dir, "manifest.json");
	int begun = hu_exists(manifest);
	free(manifest);
	if (begun)
		HU_TRY(hu_run_lock_write(&b->lock, b->dir));
	HU_TRY(hu_run_open_own(&run, b->dir));
	hu_status st = hu_config_from_json(&b->config, run.manifest);
	if (st == HU_OK)
		take_backend(b, a);
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
	hu_run_release(&run);
	if (st == HU_OK)
		say_start(b);
	return st;
}

static void
say_end(const job *b, const hu_metrics_row *r, int json)
{
	if (json) {
		json_t *j = json_pack("{s:s s:I s:f s:f s:f s:f s:f s:f}", "run", hu_shown(b->dir), "steps",
			(json_int_t)b->session.steps, "loss", r->loss, "eval_loss", r->eval.loss, "accuracy",
			r->eval.accuracy, "precision", r->eval.precision, "recall", r->eval.recall, "loss_scale",
			r->loss_scale);
		if (!j) /* JSON has no number for a loss that is not finite */
			j = json_pack("{s:s s:I s:n s:n s:f s:f s:f s:f}", "run", hu_shown(b->dir), "steps",
				(json_int_t)b->session.steps, "loss", "eval_loss", "accuracy", r->eval.accuracy,
				"precision", r->eval.precision, "recall", r->eval.recall, "loss_scale", r->loss_scale);
		json_dumpf(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
	} else if (b->talk) {
		printf("%s: loss %.4f, eval_loss %.4f, accuracy %.2f %% after %zu steps\n", hu_shown(b->dir), r->loss,
			r->eval.loss, 100 * r->eval.accuracy, b->session.steps);
		hu_account_print(b->record.manifest, stdout);
		printf("Next: halfulp analyze %s\n", hu_shown(b->dir));
	}
}

static hu_status
train(job *b, const hu_args *a)
{
	hu_metrics_row last = { .evaluated = 0 };

	HU_TRY(hu_args_given(a, "resume") ? prepare_resumed(b, a) : prepare_new(b, a));
	if (b->from >= b->session.steps) {
		if (!json_is_true(json_object_get(b->record.manifest, "finished")))
			HU_TRY(hu_record_finish(&b->record, b->session.steps));
		if (hu_args_given(a, "exercise"))
			HU_TRY(hu_exercise_run(b->record.manifest, b->dir));
		if (b->talk)
			printf("%s: all %zu steps are done already\nNext: halfulp analyze %s\n", hu_shown(b->dir),
				b->session.steps, hu_shown(b->dir));
		return HU_OK;
	}
	hu_account_begin(&b->energy, b->record.manifest);
	HU_TRY(hu_loop_run(&b->session, &b->record, &b->metrics, b->from, b->talk, &b->energy, &last));
	HU_TRY(hu_record_finish(&b->record, b->session.steps));
	if (hu_args_given(a, "exercise"))
		HU_TRY(hu_exercise_run(b->record.manifest, b->dir));
	say_end(b, &last, hu_args_given(a, "json"));
	return HU_OK;
}

static int
run(const hu_args *a)
{
	job b = { .talk = !hu_args_given(a, "quiet") && !hu_args_given(a, "json") };
	long long threads;
	hu_status st;

	if (!b.talk)
		hu_progress_disable();
	if (a->nrest > 1)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': train makes one RUN at a time", a->rest[1]));
	if ((st = hu_args_int(a, "threads", 0, 4096, &threads)) == HU_OK)
		st = hu_args_given(a, "simd") ? hu_simd_set(hu_args_text(a, "simd")) : HU_OK;
	if (st == HU_OK) {
		hu_threads_set((int)threads);
		st = train(&b, a);
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

static const hu_opt_need needs[] = {
	{ "quiet", prints_for_people, "beside --json, which prints the result alone" },
	{ NULL, NULL, NULL }
};

const hu_command hu_cmd_train = { "train", "[OPTION...] [RUN]",
	"train a reference model under a precision policy and record it in RUN [runs/MODEL-POLICY-N]",
	"RUN is a new folder that holds the programs, a row of metrics for each step, checkpoints, and the\n"
	"tensors of the traced steps. It must not exist, unless --resume continues it; no other process may write\n"
	"or read it during training. The numbers depend on the options alone: not on threads, SIMD level,\n"
	"compiler or machine.",
	opts, run, needs };
