/* SPDX-License-Identifier: Apache-2.0
   Evaluates the present weights: accuracy of a batch, and the rows for evaluation. */
#include "trainer/run/session.h"

#include "lib/base/console/opt.h"
#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t
hu_argmax(const hu_tensor *t, size_t row, size_t n)
{
	size_t best = n;
	double most = 0;

	if (hu_last(t->shape) == 1) {
		double x = hu_get(t, row);
		return x != x ? n : x > 0.5;
	}
	for (size_t j = 0; j < n; j++) {
		double x = hu_get(t, row * n + j);
		if (best == n ? x == x : x > most) {
			best = j;
			most = x;
		}
	}
	return best;
}

/* Returns the labels of the step that is read; a device that computes the next one already has been given its. */
static hu_status
labels_read(hu_session *s, float *labels)
{
	hu_tensor t;

	if (!hu_session_may_lag(s)) {
		memcpy(labels, s->batch[s->labels], s->config->batch * s->labels_each * sizeof *labels);
		return HU_OK;
	}
	HU_TRY(hu_session_read(s, s->id.labels, &t));
	for (size_t i = 0; i < t.n; i++)
		labels[i] = (float)hu_get(&t, i);
	return HU_OK;
}

static int
is_ignored(const hu_session *s, double label)
{
	double index;

	return s->config->ignore_index && hu_parse_real(s->config->ignore_index, &index) && label == index;
}

hu_status
hu_session_accuracy(hu_session *s, double *accuracy)
{
	size_t n = s->config->batch * s->labels_each, right = 0, all = 0;
	float *labels = hu_xmalloc(n * sizeof *labels);
	hu_status st = labels_read(s, labels);
	hu_tensor p;

	if (st == HU_OK)
		st = hu_session_read(s, s->id.p, &p);
	for (size_t i = 0; i < n && st == HU_OK; i++) {
		if (is_ignored(s, labels[i]))
			continue;
		right += (double)hu_argmax(&p, i, s->id.classes) == (double)labels[i];
		all++;
	}
	free(labels);
	*accuracy = (double)right / (double)all;
	return st;
}

/* Returns the training's tensor whose values tensor i of the evaluation takes: the moving average of a parameter that
   has one, else the one of the same name. */
static int
evaluated(const hu_session *s, int i)
{
	const hu_info *t = &s->programs.eval->t[i];
	char name[HU_NAME + 8];

	snprintf(name, sizeof name, "%s_" HU_OPTIM_EMA, t->name);
	int average = t->trainable ? hu_program_find(s->programs.train, name) : -1;
	return average >= 0 ? average : hu_program_find(s->programs.train, t->name);
}

/* Copies parameters, or their averages, and statistics of the training to the evaluation. */
static hu_status
copy_state(hu_session *s)
{
	const hu_program *e = s->programs.eval;

	for (int i = 0; i < e->nt; i++) {
		hu_tensor t;
		if (!e->t[i].state)
			continue;
		HU_TRY(hu_session_read(s, evaluated(s, i), &t));
		HU_TRY(s->backend->write(s->eval, i, t.data));
	}
	return HU_OK;
}

/* counted is how many rows' labels had a share in the loss. likely has the probability of label 1 of every row so far,
   where rows are ranked; else it is NULL. */
typedef struct tally {
	size_t classes, right, all, *hit, *predicted, *actual;
	double loss, counted, *likely;
} tally;

static hu_status
evaluate_batch(hu_session *s, size_t at, size_t n, tally *y)
{
	hu_env env = { s->config->seed, 0 };
	size_t before = y->all;
	double loss, counted;
	hu_tensor t;

	for (size_t i = 0; i < n; i++)
		s->index[i] = s->data.n_train + at + i;
	HU_TRY(hu_session_feed(s, s->eval, &s->eval_id, s->index, n));
	HU_TRY(s->backend->step(s->eval, &env));
	HU_TRY(hu_session_read_from(s, s->eval, s->programs.eval, s->eval_id.loss, &t));
	loss = hu_get(&t, 0);
	HU_TRY(hu_session_read_from(s, s->eval, s->programs.eval, s->eval_id.p, &t));
	for (size_t i = 0; i < n * s->labels_each; i++) {
		size_t k = hu_argmax(&t, i, y->classes), label = (size_t)s->batch[s->labels][i];
		if (is_ignored(s, s->batch[s->labels][i]))
			continue;
		y->all++;
		if (y->likely)
			y->likely[at + i] = hu_get(&t, (i + 1) * hu_last(t.shape) - 1);
		y->actual[label]++;
		if (k < y->classes)
			y->predicted[k]++;
		y->hit[label] += k == label;
		y->right += k == label;
	}
	/* A batch's loss is a mean over the labels that count in it, and NaN where there are none. */
	counted = (double)(y->all - before) / (double)s->labels_each;
	y->counted += counted;
	if (counted > 0)
		y->loss += loss * counted;
	return HU_OK;
}

static void
score(const tally *y, hu_evaluation *e)
{
	double seen = 0;

	e->precision = e->recall = e->dice = e->iou = 0;
	for (size_t k = 0; k < y->classes; k++) {
		double hit = (double)y->hit[k], both = (double)(y->predicted[k] + y->actual[k]);
		e->precision += y->predicted[k] ? hit / (double)y->predicted[k] / (double)y->classes : 0;
		e->recall += y->actual[k] ? hit / (double)y->actual[k] / (double)y->classes : 0;
		seen += both > 0;
		e->dice += both > 0 ? 2 * hit / both : 0;
		e->iou += both > 0 ? hit / (both - hit) : 0;
	}
	e->dice /= seen > 0 ? seen : 1;
	e->iou /= seen > 0 ? seen : 1;
}

/* Ranks the first row of every whole group of candidates among the others. */
static void
rank(const double *likely, size_t n, size_t candidates, hu_evaluation *e)
{
	enum { RANKED = 10 };
	double groups = 0;

	e->hit_rate = e->ndcg = likely ? 0 : NAN;
	for (const double *first = likely; likely && first + candidates <= likely + n; first += candidates, groups++) {
		size_t at = 1;
		for (size_t i = 1; i < candidates; i++)
			at += !(first[i] < first[0]);
		if (at <= RANKED) {
			e->hit_rate++;
			e->ndcg += 1 / log2((double)at + 1);
		}
	}
	e->hit_rate /= groups;
	e->ndcg /= groups;
}

hu_status
hu_session_evaluate(hu_session *s, hu_evaluation *e)
{
	size_t classes = s->eval_id.classes, n = s->data.n_eval, batch = s->config->batch;
	size_t *count = hu_xcalloc(3 * classes, sizeof *count);
	tally y = { classes, 0, 0, count, count + classes, count + 2 * classes, 0, 0,
		s->data.candidates ? hu_xmalloc(n * sizeof *y.likely) : NULL };
	hu_status st = copy_state(s);

	for (size_t at = 0; at < n && st == HU_OK; at += batch)
		st = evaluate_batch(s, at, n - at < batch ? n - at : batch, &y);
	e->loss = y.loss / y.counted;
	e->accuracy = (double)y.right / (double)y.all;
	score(&y, e);
	if (s->views > 1)
		e->precision = e->recall = NAN;
	rank(y.likely, n, s->data.candidates, e);
	free(y.likely);
	free(count);
	return st;
}
