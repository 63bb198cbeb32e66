/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/train/say.h"

#include "lib/base/table/fields.h"
#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/str.h"
#include "lib/program/policy/pass_policy.h"
#include "trainer/device/gpu.h"
#include "trainer/device/keras.h"
#include "trainer/device/mixed.h"
#include "trainer/energy/account.h"
#include "trainer/run/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints Keras's message for this policy, and then what holds for this program and the chosen back end. */
static void
say_compatibility(const hu_config *c)
{
	enum { SHOWN = 64 };
	const hu_policy *p = &c->policy;
	hu_gpu_name g[SHOWN];
	hu_str keras;

	if (p->compute == p->variable)
		return;
	int n = hu_gpu_list(g, SHOWN), device = n && !strcmp(c->backend, "cuda");
	if (!strcmp(p->name, "mixed_float16")) {
		hu_str_init(&keras);
		hu_keras_check(&keras, g, n < SHOWN ? n : SHOWN);
		printf("Keras says (tf.keras 2.x): %s\n", keras.s);
		hu_str_release(&keras);
	}
	printf("halfulp says: %s\n", hu_mixed_support(device ? g[0].capability : 0));
}

void
hu_say_dtypes(const hu_config *c)
{
	const hu_policy *p = &c->policy;

	printf("Compute dtype: %s\nVariable dtype: %s\n", hu_dtype_name(p->compute), hu_dtype_name(p->variable));
	for (int i = 0; i < p->noverride; i++)
		printf("  layers %s: %s\n", p->override[i].pattern, hu_dtype_name(p->override[i].compute));
	say_compatibility(c);
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

void
hu_say_start(const hu_config *c, const hu_session *s, const hu_record *r, int resumed, size_t from)
{
	const hu_optim_options *o = &c->optim;

	printf("Model: %s, %zu parameters, %s with learning rate %g, batch %zu%s\n", c->model,
		hu_parameters(s->programs.train), o->row->name, o->lr, c->batch, s->views > 1 ? " in two views" : "");
	printf("Data: %s, %zu to train, %zu to evaluate; %zu step%s, %zu an epoch; seed %zu\n", s->data.name,
		s->data.n_train, s->data.n_eval, s->steps, s->steps == 1 ? "" : "s", s->steps_per_epoch, c->seed);
	if (hu_ranks_size() > 1)
		printf("Ranks: %d, which share %zu micro-batches; %s\n", hu_ranks_size(), c->micro_batches,
			hu_ranks_library());
	printf("Loss scaling: %s", c->scaling.rule.name);
	if (strcmp(c->scaling.rule.name, "none"))
		printf(", from %g", c->scaling.rule.init);
	if (c->loss_weight != 1)
		printf("; loss weight %g", c->loss_weight);
	putchar('\n');
	say_memory(s->programs.train);
	say_trace(r);
	if (resumed)
		printf("Resuming at step %zu of %zu\n", from, s->steps);
	fflush(stdout);
	hu_format_id runs;
	const hu_call *widened = hu_policy_widened(&c->policy, s->programs.train, &runs);
	if (widened)
		fprintf(stderr,
			"warning: %s computes attention in blocks in %s: %s is a format of products' operands alone\n",
			widened->layer, hu_dtype_name(runs),
			hu_dtype_name(hu_policy_compute(&c->policy, widened->layer)));
	const hu_optim_options own = hu_config_optim(c);
	char *lost = hu_optim_lost_constant(&own);
	if (lost)
		fprintf(stderr, "warning: %s\n", lost);
	free(lost);
	if (hu_optim_eps_vanishes(o, c->policy.variable))
		fprintf(stderr, "warning: epsilon %g is zero in %s: where v is zero too, the update divides by zero\n",
			o->eps, hu_dtype_name(c->policy.variable));
}

void
hu_say_end(
	const char *dir, size_t steps, const hu_metrics *m, const hu_metrics_row *r, const json_t *manifest, int json)
{
	if (json) {
		json_t *j = json_pack("{s:s s:I s:o s:o s:o s:o s:o s:o}", "run", hu_shown(dir), "steps",
			(json_int_t)steps, "loss", hu_fields_number(r->loss), "eval_loss",
			hu_fields_number(r->eval.loss), "accuracy", hu_fields_measured(r->eval.accuracy), "precision",
			hu_fields_measured(r->eval.precision), "recall", hu_fields_measured(r->eval.recall),
			"loss_scale", hu_fields_measured(r->loss_scale));
		json_object_set_new(j, "ms", json_real(1e3 * m->seconds / (double)m->steps));
		json_object_set_new(j, "wait_ms", json_real(1e3 * m->waited / (double)m->steps));
		hu_json_write(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
	} else {
		printf("%s: loss %.4f, eval_loss %.4f, accuracy %.2f %% after %zu step%s\n", hu_shown(dir), r->loss,
			r->eval.loss, 100 * r->eval.accuracy, steps, steps == 1 ? "" : "s");
		hu_account_print(manifest, stdout);
		printf("Next: halfulp analyze %s\n", hu_shown(dir));
	}
}
