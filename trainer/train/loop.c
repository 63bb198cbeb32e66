/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/train/loop.h"

#include "lib/base/terminal/fitted.h"
#include "lib/base/terminal/progress.h"

#include <string.h>

typedef struct loop {
	hu_session *s;
	hu_record *r;
	hu_metrics *m;
	hu_progress bar;
	int talk;
	hu_account *energy;
	double scale_before, seconds, waited, ended, ended_joules;
	size_t timed, every;
	int running;
} loop;

/* Prints a line where a step was skipped or the scale moved: which tensor of which call overflowed first, and by how
   much. */
/* Where no scaler looks, the call that made the first number that is not finite. */
static void
say_origin(loop *l, const hu_metrics_row *r)
{
	const hu_program *p = l->s->programs.train;

	if (!l->talk || r->skipped || r->overflow_call < 0)
		return;
	const hu_call *c = &p->c[r->overflow_call];
	const hu_info *t = &p->t[r->overflow_tensor];
	hu_progress_end(&l->bar);
	fprintf(stderr,
		"step %zu: call %d (%s, layer %s) made %.0f of %zu elements of %s (%s) infinite or NaN, from finite "
		"numbers; halfulp analyze tells why where the step is traced\n",
		r->step, c->id, c->op->name, c->layer, r->overflow_count, hu_count(t->shape), t->name,
		hu_format_name(t->format));
}

static void
say_scale(loop *l, const hu_metrics_row *r, double next)
{
	const hu_program *p = l->s->programs.train;

	if (!l->talk || (!r->skipped && next == r->loss_scale))
		return;
	hu_progress_end(&l->bar);
	fprintf(stderr, "step %zu: loss scale %g", r->step, r->loss_scale);
	if (next != r->loss_scale)
		fprintf(stderr, " -> %g", next);
	if (r->skipped && r->overflow_tensor >= 0 && r->overflow_call >= 0) {
		const hu_call *c = &p->c[r->overflow_call];
		const hu_info *t = &p->t[r->overflow_tensor];
		fprintf(stderr,
			": step skipped; first overflow: %.0f of %zu elements of %s (%s), written by call %d (%s, "
			"layer %s); %.0f tensor%s not finite",
			r->overflow_count, hu_count(t->shape), t->name, hu_format_name(t->format), c->id, c->op->name,
			c->layer, r->overflow_tensors, r->overflow_tensors == 1 ? "" : "s");
	} else
		fprintf(stderr, "%s", r->skipped ? ": step skipped" : ": enough finite steps in a row");
	fputc('\n', stderr);
}

static hu_status
next_scale(hu_session *s, double present, double *next)
{
	int to = s->programs.train->t[s->id.scale].next;

	*next = present;
	return to < 0 ? HU_OK : hu_session_scalar(s, to, next);
}

/* Starts measuring a part of a step; observing and tracing do not count as its work. */
static double
begin(loop *l, double *joules)
{
	*joules = hu_energy_read(&l->energy->meter);
	return hu_now();
}

static void
end(loop *l, hu_metrics_row *r, double start, double joules)
{
	l->ended_joules = hu_energy_read(&l->energy->meter);
	l->ended = hu_now();
	r->seconds += l->ended - start;
	r->joules = l->ended_joules >= 0 && joules >= 0 && r->joules >= 0 ? r->joules + (l->ended_joules - joules) : -1;
}

/* Returns 1 where the next step may run while the results of `step` are read: where only the metrics need the tensors
   of that step or the state after it. */
static int
may_overlap(const loop *l, size_t step)
{
	const hu_session *s = l->s;

	return hu_session_may_lag(s) && step + 1 < s->steps && (step + 1) % s->steps_per_epoch &&
	       (step + 1) % l->every && !hu_record_traces(l->r, step);
}

/* Reads a step's metrics; its time ends when its loss has arrived. */
static hu_status
observe(loop *l, size_t step, hu_metrics_row *r, double start, double joules, double *next)
{
	HU_TRY(hu_session_scalar(l->s, l->s->id.loss, &r->loss));
	end(l, r, start, joules);
	HU_TRY(hu_metrics_observe(l->m, l->s, step, r));
	return next_scale(l->s, r->loss_scale, next);
}

static hu_status
observe_running(loop *l, size_t step, hu_metrics_row *r, double start, double joules, double *next)
{
	HU_TRY(hu_session_advance(l->s, step));
	hu_session_lag(l->s, 1);
	hu_status st = observe(l, step, r, start, joules, next);
	if (st == HU_OK)
		st = hu_session_digest(l->s, &r->digest);
	hu_session_lag(l->s, 0);
	return st;
}

static hu_status
observe_at_rest(loop *l, size_t step, hu_metrics_row *r, double start, double joules, double *next)
{
	HU_TRY(observe(l, step, r, start, joules, next));
	HU_TRY(hu_record_trace(l->r, l->s, step));
	start = begin(l, &joules);
	HU_TRY(hu_session_commit(l->s, &r->digest));
	end(l, r, start, joules);
	return HU_OK;
}

static hu_status
one_step(loop *l, size_t step, hu_metrics_row *r)
{
	double start, joules, next;

	memset(r, 0, sizeof *r);
	l->s->waited = 0;
	start = begin(l, &joules);
	if (l->running) {
		start = l->ended;
		joules = l->ended_joules;
	} else
		HU_TRY(hu_session_step(l->s, step));
	l->running = may_overlap(l, step);
	HU_TRY(l->running ? observe_running(l, step, r, start, joules, &next)
			  : observe_at_rest(l, step, r, start, joules, &next));
	r->utilisation = hu_energy_utilisation(&l->energy->meter);
	r->waited = l->s->waited;
	l->seconds += r->seconds;
	l->waited += r->waited;
	l->timed++;
	say_origin(l, r);
	say_scale(l, r, next);
	return HU_OK;
}

static void
say_epoch(loop *l, const hu_metrics_row *r)
{
	const hu_session *s = l->s;
	hu_str line;

	if (!l->talk)
		return;
	hu_progress_end(&l->bar);
	hu_str_init(&line);
	hu_str_addf(&line, "epoch %zu/%zu  step %zu  loss %.4f  eval_loss %.4f  accuracy %.2f %%", r->epoch + 1,
		(s->steps + s->steps_per_epoch - 1) / s->steps_per_epoch, r->step + 1, r->loss, r->eval.loss,
		100 * r->eval.accuracy);
	if (s->views == 1)
		hu_str_addf(
			&line, "  precision %.2f %%  recall %.2f %%", 100 * r->eval.precision, 100 * r->eval.recall);
	if (hu_config_is_masked(s->config))
		hu_str_addf(&line, "  dice %.2f %%  intersection over union %.2f %%", 100 * r->eval.dice,
			100 * r->eval.iou);
	if (s->data.candidates)
		hu_str_addf(&line, "  hit rate@10 %.2f %%  NDCG@10 %.4f", 100 * r->eval.hit_rate, r->eval.ndcg);
	hu_str_addf(&line, "  %.1f ms a step", 1e3 * l->seconds / (double)l->timed);
	if (l->waited >= 0.01 * l->seconds)
		hu_str_addf(&line, ", %.1f of them waiting for data", 1e3 * l->waited / (double)l->timed);
	hu_fitted_prose(line.s, 4);
	hu_str_release(&line);
	fflush(stdout);
	l->seconds = l->waited = 0;
	l->timed = 0;
}

/* Reports a lost device. The run directory is complete up to its last checkpoint, so only the steps since are lost. */
static hu_status
lost(const hu_record *r)
{
	char why[512];

	snprintf(why, sizeof why, "%s", hu_reason());
	return hu_fail(HU_EDEVICE,
		"%s; to go on: halfulp train --resume %s, with --backend cpu where no device is left", why, r->dir);
}

hu_status
hu_loop_run(hu_session *s, hu_record *r, hu_metrics *m, size_t from, int talk, hu_account *energy, hu_metrics_row *last)
{
	loop l = { .s = s, .r = r, .m = m, .talk = talk, .energy = energy };
	double accuracy = 0;
	hu_status st = HU_OK;

	l.every = s->config->checkpoint_every ? s->config->checkpoint_every : s->steps_per_epoch;
	hu_progress_start(&l.bar, "train", s->steps - from);
	for (size_t step = from; step < s->steps && st == HU_OK; step++) {
		int ends = step + 1 == s->steps;
		st = one_step(&l, step, last);
		if (st == HU_OK && (ends || (step + 1) % s->steps_per_epoch == 0)) {
			last->evaluated = 1;
			st = hu_session_evaluate(s, &last->eval);
			if (st == HU_OK)
				say_epoch(&l, last);
		}
		if (st != HU_OK)
			break;
		hu_metrics_add(m, s, last);
		if (last->evaluated)
			accuracy = last->eval.accuracy;
		if (ends || (step + 1) % l.every == 0) {
			hu_account_write(energy, r->manifest, accuracy);
			st = hu_record_checkpoint(r, s, m, step + 1);
		}
		hu_progress_note(&l.bar, "loss %.4f", last->loss);
		hu_progress_step(&l.bar, 1);
	}
	hu_progress_end(&l.bar);
	return st == HU_EDEVICE ? lost(r) : st;
}
