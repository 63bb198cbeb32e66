/* SPDX-License-Identifier: Apache-2.0
   The part of session.h that opens and closes a session and sets its first state. */
#include "trainer/run/session.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/program/spread/part.h"
#include "lib/program/exec.h"
#include "trainer/run/start.h"

#include <stdlib.h>
#include <string.h>

static hu_ids
find_ids(const hu_program *p, const hu_dataset *data, int masked)
{
	hu_ids id = { .labels = hu_program_find(p, masked ? "input.mask" : "input.labels"),
		.weight = hu_program_find(p, "input.weight"),
		.loss = hu_program_find(p, "loss.y"),
		.p = hu_program_find(p, "loss.p"),
		.scale = hu_program_find(p, "scaler.scale"),
		.found = hu_program_find(p, "scaler.found_inf"),
		.where = hu_program_find(p, "scaler.where"),
		.norm = hu_program_find(p, "optim.grad_norm"),
		.rate = hu_program_find(p, "optim.rate") };

	for (int i = 0; i < data->narray; i++) {
		char name[48];
		snprintf(name, sizeof name, "input.%s", data->array[i].name);
		id.array[i] = hu_program_find(p, name);
	}
	return id;
}

/* NCCL adds what as many processes have as the program says, each on a GPU. */
static hu_status
check_library(const hu_session *s)
{
	const hu_all_reduce *r = &s->config->over_ranks;
	int here = hu_ranks_size();

	if (!r->library)
		return HU_OK;
	if (!s->backend->part->join)
		return hu_fail(HU_EUNABLE,
			"--all-reduce nccl:%d: NCCL adds on GPUs: say --backend cuda, or --all-reduce ring:%d, whose "
			"order one process on the CPU computes too",
			r->ranks, r->ranks);
	if (here != r->ranks)
		return hu_fail(HU_EUNABLE,
			"--all-reduce nccl:%d: NCCL adds what %d processes have, and here %s %d: start mpirun -n %d, "
			"or say --all-reduce ring:%d, which any number of processes computes",
			r->ranks, r->ranks, here == 1 ? "is" : "are", here, r->ranks, r->ranks);
	return HU_OK;
}

hu_status
hu_session_machines(hu_session *s)
{
	const hu_config *c = s->config;
	hu_model_sizes sizes = hu_config_sizes(c, &s->data);
	hu_gemm_way gemm;
	int masked = hu_config_is_masked(c);

	HU_TRY(check_library(s));
	HU_TRY(hu_build(&s->programs, c, &sizes));
	HU_TRY(hu_gemm_find(c->gemm, &gemm));
	HU_TRY(s->backend->open(&s->train, s->programs.train, gemm));
	HU_TRY(s->backend->open(&s->eval, s->programs.eval, gemm));
	s->id = find_ids(s->programs.train, &s->data, masked);
	s->eval_id = find_ids(s->programs.eval, &s->data, masked);
	if (s->backend->tune) {
		s->backend->tune(s->train, hu_config_on(c->fuse), hu_config_on(c->graph));
		s->backend->tune(s->eval, hu_config_on(c->fuse), hu_config_on(c->graph));
	}
	return s->backend->watch ? hu_session_watch(s) : HU_OK;
}

void
hu_session_close(hu_session *s)
{
	if (s->train)
		s->backend->close(s->train);
	if (s->eval)
		s->backend->close(s->eval);
	hu_programs_release(&s->programs);
	hu_dataset_release(&s->data);
	free(s->order);
	free(s->index);
	for (int i = 0; i < HU_ARRAYS; i++)
		free(s->batch[i]);
	free(s->weight);
	free(s->next_labels);
	free(s->read);
	memset(s, 0, sizeof *s);
}

/* Sets the state to its first values, but for the tensors that are in the file --init. */
static hu_status
start_from(hu_session *s)
{
	const hu_program *p = s->programs.train;
	hu_tensor *t;

	HU_TRY(hu_session_state_room(s, &t));
	for (int i = 0; i < p->nt; i++)
		if (p->t[i].state)
			hu_start_state(&t[i], p, i, s->config);
	hu_status st = hu_start_load(t, p, s->config->init);
	if (st == HU_OK)
		st = hu_session_restore(s, t);
	hu_session_free_tensors(s, t);
	return st;
}

/* Sets the state one tensor at a time, so that starting takes no more memory than a step. */
static hu_status
start_state(hu_session *s)
{
	const hu_program *p = s->programs.train;
	hu_status st = HU_OK;

	for (int i = 0; i < p->nt && st == HU_OK; i++) {
		hu_tensor t = { .format = p->t[i].format, .shape = p->t[i].shape, .n = hu_count(p->t[i].shape) };
		if (!p->t[i].state)
			continue;
		if (!(t.data = hu_alloc(t.n * hu_element_size(t.format))))
			return hu_fail(
				HU_ENOMEM, "no memory for the first values of %s (%zu elements)", p->t[i].name, t.n);
		hu_start_state(&t, p, i, s->config);
		st = s->backend->write(s->train, i, t.data);
		free(t.data);
	}
	return st;
}

hu_status
hu_session_start(hu_session *s)
{
	return s->config->init ? start_from(s) : start_state(s);
}
