/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/ranked/session_open.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/model/loss/loss.h"
#include "trainer/ranked/ranked.h"

#include <stdlib.h>
#include <string.h>

static size_t
largest(const hu_program *p)
{
	size_t most = 1;

	for (int i = 0; i < p->nt; i++)
		if (hu_count(p->t[i].shape) > most)
			most = hu_count(p->t[i].shape);
	return most;
}

/* Opens the machines and allocates the buffers of batches. */
static hu_status
open_all(hu_session *s)
{
	const hu_config *c = s->config;

	HU_TRY(hu_backend_find(c->backend, &s->backend));
	if (hu_ranks_size() > 1)
		s->backend = hu_ranked_over(s->backend);
	HU_TRY(hu_session_machines(s));
	hu_model_sizes sizes = hu_config_sizes(c, &s->data);
	s->views = hu_loss_views(&sizes);
	s->rows = c->batch;
	if (hu_ranks_size() > 1)
		hu_ranked_rows(s->train, &s->first_row, &s->rows);
	for (int i = 0; i < s->data.narray; i++) {
		s->batch[i] = hu_xcalloc(s->views * c->batch * hu_count(s->data.array[i].shape), sizeof *s->batch[i]);
		if (!strcmp(s->data.array[i].name, hu_config_is_masked(c) ? "mask" : "labels"))
			s->labels = i;
	}
	s->labels_each = s->views * hu_count(s->data.array[s->labels].shape);
	s->id.classes = s->eval_id.classes = s->data.array[s->labels].classes;
	if (s->views > 1) {
		s->id.classes = hu_last(s->programs.train->t[s->id.p].shape);
		s->eval_id.classes = hu_last(s->programs.eval->t[s->eval_id.p].shape);
	}
	s->weight = hu_xcalloc(c->batch * s->labels_each, sizeof *s->weight);
	s->next_labels = hu_xcalloc(c->batch * s->labels_each, sizeof *s->next_labels);
	s->index = hu_xcalloc(c->batch, sizeof *s->index);
	s->order = hu_xcalloc(s->data.n_train, sizeof *s->order);
	s->read = hu_xcalloc(largest(s->programs.train), sizeof(double));
	return HU_OK;
}

hu_status
hu_session_open(hu_session *s, const hu_config *c, hu_dataset *data)
{
	memset(s, 0, sizeof *s);
	s->config = c;
	s->data = *data;
	memset(data, 0, sizeof *data);
	s->epoch_shuffled = SIZE_MAX;
	s->steps_per_epoch = s->data.n_train / c->batch;
	s->steps = hu_config_steps(c, &s->data);
	hu_status st = HU_OK;
	if (!s->steps_per_epoch)
		st = hu_fail(
			HU_EINVAL, "--batch %zu: there are only %zu samples to train on", c->batch, s->data.n_train);
	if (st == HU_OK)
		st = open_all(s);
	if (st != HU_OK)
		hu_session_close(s);
	return st;
}
