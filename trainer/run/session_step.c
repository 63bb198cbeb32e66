/* SPDX-License-Identifier: Apache-2.0
   The part of session.h that steps: which rows a step reads, in an order shuffled anew each epoch, the batch that is
   made of them, for a device one ahead, and the calls on it. */
#include "trainer/run/session.h"

#include "lib/base/terminal/progress.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/number/philox.h"

#include <stdlib.h>
#include <string.h>

/* Shuffles by Fisher-Yates with the random stream "shuffle" at step = epoch: place i is swapped with one of the places
   0..i. */
static void
shuffle(hu_session *s, size_t epoch)
{
	uint32_t stream = hu_fnv1a32("shuffle");

	if (s->epoch_shuffled == epoch)
		return;
	for (size_t i = 0; i < s->data.n_train; i++)
		s->order[i] = i;
	for (size_t i = s->data.n_train - 1; i > 0; i--) {
		size_t j = (size_t)(hu_uniform(hu_random_at(s->config->seed, stream, (uint32_t)epoch, i)) *
				    (double)(i + 1)),
		       k = s->order[i];
		s->order[i] = s->order[j];
		s->order[j] = k;
	}
	s->epoch_shuffled = epoch;
}

/* Labels of views, whose neighbours are partners: the partner's number in the micro-batch. */
static void
partners(float *labels, size_t n, size_t views)
{
	for (size_t i = 0; i < n; i++)
		labels[i] = (float)(i % views ^ 1);
}

/* Makes n rows of an array, and views of them; they are changed as `view` says where it is not NULL. */
static hu_status
make_rows(hu_session *s, const hu_data_array *a, const size_t *index, size_t n, const hu_view *view, float *to)
{
	double start = hu_now();

	HU_TRY(hu_augment_batch(&s->config->augmentation, &s->data, a, view, s->views, index, n, to));
	s->waited += hu_now() - start;
	return HU_OK;
}

/* Feeds m n rows, of which `rows` from `first` on are made, and all labels. */
static hu_status
feed(hu_session *s, hu_machine *m, const hu_ids *id, const size_t *index, size_t n, size_t first, size_t rows,
	const hu_view *view)
{
	size_t batch = s->config->batch;

	for (int k = 0; k < s->data.narray; k++) {
		const hu_data_array *a = &s->data.array[k];
		size_t each = s->views * hu_count(a->shape);
		float *to = s->batch[k];
		void *room = NULL;
		/* The accuracy is computed from the labels after they were sent. */
		if (s->backend->room && id->array[k] >= 0 && k != s->labels)
			HU_TRY(s->backend->room(m, id->array[k], &room));
		if (room)
			to = room;
		if (k == s->labels && s->views > 1)
			partners(to, s->views * n, id->classes);
		else if (k == s->labels)
			HU_TRY(make_rows(s, a, index, n, view, to));
		else
			HU_TRY(make_rows(s, a, index + first, rows, view, to + first * each));
		memset(to + n * each, 0, (batch - n) * each * sizeof *to);
		if (id->array[k] >= 0)
			HU_TRY(s->backend->write(m, id->array[k], to));
	}
	for (size_t i = 0; i < batch * s->labels_each; i++)
		s->weight[i] = i < n * s->labels_each;
	return s->backend->write(m, id->weight, s->weight);
}

hu_status
hu_session_feed(hu_session *s, hu_machine *m, const hu_ids *id, const size_t *index, size_t n)
{
	hu_view view = { s->config->seed, 0, 0 };

	return feed(s, m, id, index, n, 0, n, s->views > 1 ? &view : NULL);
}

static void
exchange_labels(hu_session *s)
{
	float *labels = s->batch[s->labels];

	s->batch[s->labels] = s->next_labels;
	s->next_labels = labels;
}

/* Returns the rows of step `step`, which are valid until another epoch's are asked for. */
static const size_t *
rows_of(hu_session *s, size_t step)
{
	shuffle(s, step / s->steps_per_epoch);
	return s->order + step % s->steps_per_epoch * s->config->batch;
}

hu_status
hu_session_read_rows(hu_session *s, size_t from, size_t to, int evaluated, size_t *rows, uint64_t *digest)
{
	size_t n = s->data.n_train;
	char *wanted = hu_xcalloc(n + s->data.n_eval + 1, 1), *seen = hu_xcalloc(n + 1, 1);

	for (size_t step = from; step < to && s->data.made; step++) {
		const size_t *row = rows_of(s, step);
		for (size_t i = 0; i < s->config->batch; i++) {
			if (!seen[row[i]]) /* of ranks the first that reads it counts it, which all know alike */
				wanted[row[i]] = i - s->first_row < s->rows;
			seen[row[i]] = 1;
		}
	}
	if (evaluated && !hu_ranks_rank())
		memset(wanted + n, 1, s->data.n_eval);
	hu_status st = hu_dataset_read_rows(&s->data, wanted, rows, digest);
	free(wanted);
	free(seen);
	return st;
}

static hu_status
feed_step(hu_session *s, size_t step)
{
	hu_view view = { s->config->seed, (uint32_t)(step / s->steps_per_epoch), 0 };

	HU_TRY(feed(s, s->train, &s->id, rows_of(s, step), s->config->batch, s->first_row, s->rows,
		hu_augment_any(&s->config->augmentation) ? &view : NULL));
	if (step + 1 < s->steps)
		hu_dataset_ask(&s->data, rows_of(s, step + 1) + s->first_row, s->rows);
	return HU_OK;
}

/* Feeds a device the next batch while it works; it keeps that apart until the step that uses it. */
static hu_status
feed_ahead(hu_session *s, size_t step)
{
	s->ahead = 0;
	if (!s->backend->watch || step >= s->steps)
		return HU_OK;
	exchange_labels(s);
	hu_status st = feed_step(s, step);
	exchange_labels(s);
	s->ahead = step + 1;
	return st;
}

hu_status
hu_session_step(hu_session *s, size_t step)
{
	hu_env env = { s->config->seed, (uint32_t)step };

	if (s->ahead == step + 1)
		exchange_labels(s);
	else
		HU_TRY(feed_step(s, step));
	HU_TRY(s->backend->step(s->train, &env));
	return feed_ahead(s, step + 1);
}

hu_status
hu_session_commit(hu_session *s, uint64_t *digest)
{
	HU_TRY(s->backend->commit(s->train));
	return s->backend->digest(s->train, digest);
}

int
hu_session_may_lag(const hu_session *s)
{
	return s->backend->lag != NULL;
}

hu_status
hu_session_advance(hu_session *s, size_t step)
{
	HU_TRY(s->backend->commit(s->train));
	return hu_session_step(s, step + 1);
}

void
hu_session_lag(hu_session *s, int back)
{
	s->backend->lag(s->train, back);
}

hu_status
hu_session_digest(hu_session *s, uint64_t *digest)
{
	return s->backend->digest(s->train, digest);
}
