/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/metrics.h"

#include "trainer/record/origin.h"

#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/thread.h"
#include "lib/number/count.h"
#include "trainer/record/census.h"

#include <stdlib.h>
#include <string.h>

static void
begin(hu_tsv *t, const hu_config *c, const char *table, const char *columns)
{
	hu_tsv_init(t);
	hu_tsv_note(t, "table", "%s", table);
	hu_tsv_note(t, "halfulp", "%s", hu_build_version());
	hu_tsv_note(t, "model", "%s", c->model);
	hu_tsv_note(t, "policy", "%s", c->policy.name);
	hu_tsv_note(t, "seed", "%zu", c->seed);
	hu_tsv_note(t, "backend", "%s", c->backend);
	hu_tsv_header(t, columns);
}

void
hu_metrics_init(hu_metrics *m, const hu_config *c)
{
	begin(&m->rows, c, "metrics",
		"step epoch loss accuracy eval_loss eval_accuracy eval_precision eval_recall eval_dice eval_iou "
		"eval_hit_rate eval_ndcg lr loss_scale skipped overflow_call overflow_tensor overflow_count grad_norm "
		"ms wait_ms samples_per_s joules joules_per_sample watts utilisation digest");
	begin(&m->grads, c, "grads", "step tensor amax nonzeros zeros nonfinite");
	begin(&m->updates, c, "updates", "step tensor weights updates swamped");
	memset(&m->exponents, 0, sizeof m->exponents);
	memset(&m->casts, 0, sizeof m->casts);
	memset(&m->team, 0, sizeof m->team);
	m->steps = 0;
	m->seconds = m->waited = 0;
	if (!c->count)
		return;
	begin(&m->exponents, c, "exponents", HU_EXPONENTS_COLUMNS);
	begin(&m->casts, c, "casts", HU_CASTS_COLUMNS);
}

void
hu_metrics_release(hu_metrics *m)
{
	hu_tsv_release(&m->rows);
	hu_tsv_release(&m->grads);
	hu_tsv_release(&m->updates);
	if (m->exponents.columns) {
		hu_tsv_release(&m->exponents);
		hu_tsv_release(&m->casts);
	}
}

/* Finds the place in old of each column that t writes; -1 where old, of an earlier version, lacks it. */
static hu_status
match_columns(int *at, const hu_tsv *t, const hu_table *old, const char *path)
{
	const char *s = t->text.s + t->head;
	int found = 0;

	for (int k = 0; k < t->columns; k++) {
		size_t n = strcspn(s, "\t\n");
		char *name = hu_xprintf("%.*s", (int)n, s);
		at[k] = hu_table_column(old, name);
		found += at[k] >= 0;
		free(name);
		s += n + 1;
	}
	return found == old->columns ? HU_OK
				     : hu_fail(HU_EFILE,
					       "%s has columns that this program does not write: go on with the "
					       "version that began it",
					       path);
}

/* Copies the rows whose first cell is below step; sets *last to one more than the largest such cell. */
static hu_status
take_rows(hu_tsv *t, const char *dir, const char *name, size_t step, size_t *last)
{
	char *path = hu_path(dir, "%s", name);
	hu_table old;
	int *place = hu_xcalloc((size_t)t->columns, sizeof *place);
	hu_status st = hu_table_read(&old, path);

	*last = 0;
	if (st != HU_OK) {
		free(path);
		free(place);
		return st;
	}
	st = match_columns(place, t, &old, path);
	for (int i = 0; i < old.rows && st == HU_OK; i++) {
		size_t at = strtoull(hu_table_cell(&old, i, 0), NULL, 10);
		if (at >= step)
			break;
		*last = at + 1;
		for (int k = 0, n = t->columns; k < n; k++)
			hu_tsv_text(t, hu_table_cell(&old, i, place[k]));
	}
	hu_table_release(&old);
	free(path);
	free(place);
	return st;
}

/* Returns 1 where updates are counted: by the operator that makes a parameter's next value. */
static int
counts_updates(const hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (hu_is_update(p, &p->c[i]) && HU_COLUMN(p->c[i].op, updates))
			return 1;
	return 0;
}

hu_status
hu_metrics_resume(hu_metrics *m, const hu_program *p, const char *dir, size_t step)
{
	size_t rows, grads, updates, counted, casts;

	if (!step)
		return HU_OK;
	HU_TRY(take_rows(&m->rows, dir, "metrics.tsv", step, &rows));
	HU_TRY(take_rows(&m->grads, dir, "grads.tsv", step, &grads));
	HU_TRY(take_rows(&m->updates, dir, "updates.tsv", step, &updates));
	if (m->exponents.columns) {
		HU_TRY(take_rows(&m->exponents, dir, "exponents.tsv", step, &counted));
		HU_TRY(take_rows(&m->casts, dir, "casts.tsv", step, &casts));
		rows = counted == step ? rows : 0;
	}
	if (rows != step || grads != step || updates != (counts_updates(p) ? step : 0))
		return hu_fail(HU_EFILE,
			"%s: metrics.tsv or another table ends before the checkpoint's step %zu; train it anew", dir,
			step);
	return HU_OK;
}

/* Counts on the back end that executed the step, or here where it cannot. */
static hu_status
tally(hu_session *s, int tensor, hu_tally *c)
{
	hu_status st = HU_OK;
	hu_tensor g;

	if (s->backend->tally && s->backend->tally(s->train, tensor, c, &st))
		return st;
	memset(c, 0, sizeof *c);
	HU_TRY(hu_session_read(s, tensor, &g));
	for (size_t k = 0; k < g.n; k++)
		hu_tally_count(c, hu_get(&g, k));
	return HU_OK;
}

static hu_status
add_gradient(hu_tsv *t, hu_session *s, size_t step, int tensor)
{
	hu_tally c;

	HU_TRY(tally(s, tensor, &c));
	hu_tsv_int(t, (long long)step);
	hu_tsv_text(t, s->programs.train->t[tensor].name);
	hu_tsv_real(t, hu_from_bits64(c.amax));
	hu_tsv_int(t, (long long)c.nonzeros);
	hu_tsv_int(t, (long long)c.zeros);
	hu_tsv_int(t, (long long)c.nonfinite);
	return HU_OK;
}

/* Counts an update from the tensor of the update, or from what the call read and wrote. */
static hu_status
count_updates(hu_session *s, const hu_call *c, hu_update_tally *count)
{
	hu_tensor *in[16], now[16];
	hu_status st = HU_OK;

	memset(count, 0, sizeof *count);
	if (s->backend->updates && s->backend->updates(s->train, c->id, count, &st))
		return st;
	for (int k = 0; k < c->nin && s->backend->peek && k < 16; k++) {
		now[k] = *s->backend->peek(s->train, c->in[k]);
		in[k] = &now[k];
	}
	if (!s->backend->peek)
		return hu_fail(HU_EUNABLE, "back end %s did not count the updates of call %d (%s)", s->backend->name,
			c->id, c->op->name);
	HU_COLUMN(c->op, updates)(c, in, s->backend->peek(s->train, c->out[0]), count);
	return HU_OK;
}

static hu_status
add_updates(hu_tsv *t, hu_session *s, size_t step, const hu_call *c)
{
	const hu_info *w = &s->programs.train->t[c->in[0]];
	hu_update_tally count;

	HU_TRY(count_updates(s, c, &count));
	hu_tsv_int(t, (long long)step);
	hu_tsv_text(t, w->name);
	hu_tsv_int(t, (long long)hu_count(w->shape));
	hu_tsv_int(t, (long long)count.updates);
	hu_tsv_int(t, (long long)count.swamped);
	return HU_OK;
}

/* Finds the tensor that held the first non-finite element: `where` of the finite check is an index of its own
   inputs. */
static hu_status
observe_overflow(hu_session *s, hu_metrics_row *r)
{
	const hu_program *p = s->programs.train;
	hu_tensor where;

	HU_TRY(hu_session_read(s, s->id.where, &where));
	const hu_call *c = &p->c[p->t[s->id.where].producer];
	double first = hu_get(&where, 0);
	if (!(first >= 0 && first < c->nin))
		return HU_OK;
	r->overflow_tensor = c->in[(int)first];
	r->overflow_call = p->t[r->overflow_tensor].producer;
	r->overflow_count = hu_get(&where, 1);
	r->overflow_tensors = hu_get(&where, 2);
	return HU_OK;
}

/* Adds the rows of the other tables, each from whole tensors. */
static hu_status
observe_tensors(hu_metrics *m, hu_session *s, size_t step)
{
	const hu_program *p = s->programs.train;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			HU_TRY(add_gradient(&m->grads, s, step, p->t[i].grad));
	for (int i = 0; i < p->nc; i++)
		if (hu_is_update(p, &p->c[i]) && HU_COLUMN(p->c[i].op, updates))
			HU_TRY(add_updates(&m->updates, s, step, &p->c[i]));
	return hu_census_add(&m->exponents, &m->casts, s, step);
}

hu_status
hu_metrics_observe(hu_metrics *m, hu_session *s, size_t step, hu_metrics_row *r)
{
	int threads = hu_threads();
	double found;

	r->step = step;
	r->epoch = step / s->steps_per_epoch;
	r->overflow_call = r->overflow_tensor = -1;
	HU_TRY(hu_session_scalar(s, s->id.loss, &r->loss));
	HU_TRY(hu_session_scalar(s, s->id.scale, &r->loss_scale));
	HU_TRY(hu_session_scalar(s, s->id.norm, &r->grad_norm));
	HU_TRY(hu_session_scalar(s, s->id.found, &found));
	r->rate = s->config->optim.lr;
	if (s->id.rate >= 0)
		HU_TRY(hu_session_scalar(s, s->id.rate, &r->rate));
	HU_TRY(hu_session_accuracy(s, &r->accuracy));
	r->skipped = found != 0;
	if (r->skipped)
		HU_TRY(observe_overflow(s, r));
	else
		hu_origin_observe(s, r);
	double start = hu_now();
	hu_threads_set(hu_team_all(&m->team) ? threads : 1);
	hu_status st = observe_tensors(m, s, step);
	hu_threads_set(threads);
	hu_team_took(&m->team, hu_now() - start);
	return st;
}

static void
add_energy(hu_tsv *t, const hu_metrics_row *r, size_t batch)
{
	const double each[] = { r->joules, r->joules / (double)batch, r->joules / r->seconds };

	for (int k = 0; k < 3; k++) {
		if (r->joules >= 0)
			hu_tsv_real(t, each[k]);
		else
			hu_tsv_none(t);
	}
	if (r->utilisation >= 0)
		hu_tsv_real(t, r->utilisation);
	else
		hu_tsv_none(t);
}

void
hu_metrics_add(hu_metrics *m, const hu_session *s, const hu_metrics_row *r)
{
	const double eval[] = { r->eval.loss, r->eval.accuracy, r->eval.precision, r->eval.recall, r->eval.dice,
		r->eval.iou, r->eval.hit_rate, r->eval.ndcg };
	/* by pairs, which of them are there: views of samples have no classes */
	const int has[] = { 1, s->views == 1, hu_config_is_masked(s->config), s->data.candidates > 0 };
	hu_tsv *t = &m->rows;
	char digest[24];

	hu_tsv_int(t, (long long)r->step);
	hu_tsv_int(t, (long long)r->epoch);
	hu_tsv_real(t, r->loss);
	hu_tsv_real(t, r->accuracy);
	for (int k = 0; k < 8; k++) {
		if (r->evaluated && has[k / 2])
			hu_tsv_real(t, eval[k]);
		else
			hu_tsv_none(t);
	}
	hu_tsv_real(t, r->rate);
	hu_tsv_real(t, r->loss_scale);
	hu_tsv_int(t, r->skipped);
	if (r->overflow_tensor >= 0) {
		hu_tsv_int(t, r->overflow_call);
		hu_tsv_text(t, s->programs.train->t[r->overflow_tensor].name);
		hu_tsv_real(t, r->overflow_count);
	} else
		for (int k = 0; k < 3; k++)
			hu_tsv_none(t);
	hu_tsv_real(t, r->grad_norm);
	hu_tsv_real(t, r->seconds * 1e3);
	hu_tsv_real(t, r->waited * 1e3);
	hu_tsv_real(t, (double)s->config->batch / r->seconds);
	add_energy(t, r, s->config->batch);
	snprintf(digest, sizeof digest, "0x%016llx", (unsigned long long)r->digest);
	hu_tsv_text(t, digest);
	m->steps++;
	m->seconds += r->seconds;
	m->waited += r->waited;
}

static hu_status
write_copy(const hu_tsv *t, const char *dir, const char *name)
{
	char *path = hu_path(dir, "%s", name);
	hu_status st = hu_file_write(path, t->text.s, t->text.len);

	free(path);
	return st;
}

hu_status
hu_metrics_write(const hu_metrics *m, const char *dir)
{
	HU_TRY(write_copy(&m->grads, dir, "grads.tsv"));
	HU_TRY(write_copy(&m->updates, dir, "updates.tsv"));
	if (m->exponents.columns) {
		HU_TRY(write_copy(&m->exponents, dir, "exponents.tsv"));
		HU_TRY(write_copy(&m->casts, dir, "casts.tsv"));
	}
	return write_copy(&m->rows, dir, "metrics.tsv");
}
