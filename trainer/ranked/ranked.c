/* SPDX-License-Identifier: Apache-2.0
   The back end of a shared training: the cpu's, but that rank 0 has the others work with it. */
#include "trainer/ranked/ranked.h"

#include "lib/base/console/progress.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/program/spread/spread.h"
#include "trainer/ranked/orders.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above the tags of a step (lib/program/spread/spread.c). */
enum { TAG_READ = 32700 };

struct hu_machine {
	hu_exec x;
	hu_spread s;
	int shared;   /* 0: the evaluation's program, which rank 0 has to itself */
	char *here;   /* rank 0: the tensor was fetched since the step */
	double steps, seconds, waited, sent, received; /* of the steps alone */
	uint64_t digest;
};

hu_ranked_order
hu_ranked_order_next(hu_ranked_kind kind, long long number)
{
	hu_ranked_order o = { kind, number };

	hu_ranks_broadcast(0, &o, sizeof o);
	return o;
}

static hu_status
open_shared(hu_machine *m, const hu_program *p)
{
	HU_TRY(hu_spread_init(&m->s, p, hu_ranks_size(), hu_ranks_rank()));
	m->shared = 1;
	m->here = hu_xcalloc((size_t)p->nt + 1, 1);
	return hu_spread_exec_init(&m->x, &m->s);
}

static void
ranked_close(hu_machine *m)
{
	if (!m)
		return;
	if (m->x.t)
		hu_exec_release(&m->x);
	if (m->shared)
		hu_spread_release(&m->s);
	free(m->here);
	free(m);
}

static hu_status
ranked_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	char *none = hu_xcalloc((size_t)p->nt + 1, 1);
	hu_status st = HU_OK;

	*m = hu_xcalloc(1, sizeof **m);
	if (gemm != HU_GEMM_AUTO)
		st = hu_fail(HU_EINVAL, "--gemm %s: ranks compute on the cpu, which has one way; leave it out",
			hu_gemm_name(gemm));
	else if (!strcmp(p->name, "train"))
		st = open_shared(*m, p);
	else
		st = hu_ranks_rank() ? hu_exec_init_some(&(*m)->x, p, none) : hu_exec_init(&(*m)->x, p);
	free(none);
	if (st != HU_OK) {
		ranked_close(*m);
		*m = NULL;
	}
	return st;
}

static size_t
bytes_of(const hu_tensor *t)
{
	return t->n * hu_element_size(t->format);
}

static hu_status
ranked_write(hu_machine *m, int tensor, const void *values)
{
	hu_tensor *t = &m->x.t[tensor];

	if (t->data)
		memcpy(t->data, values, bytes_of(t));
	return HU_OK;
}

/* Drops what was fetched of the step before. */
static void
forget(hu_machine *m)
{
	for (int i = 0; i < m->s.p->nt; i++) {
		if (!m->here[i])
			continue;
		m->here[i] = 0;
		if (!m->s.need[i]) {
			free(m->x.t[i].data);
			m->x.t[i].data = NULL;
		}
	}
}

static hu_status
ranked_step(hu_machine *m, const hu_env *env)
{
	if (!m->shared)
		return hu_exec_run(&m->x, env);
	if (!hu_ranks_rank()) {
		hu_ranked_order_next(HU_RANKED_STEP, env->step);
		forget(m);
	}
	hu_ranks_traffic before = hu_ranks_moved();
	double start = hu_now();
	HU_TRY(hu_spread_run(&m->x, &m->s, env));
	hu_ranks_traffic after = hu_ranks_moved();
	m->steps++;
	m->seconds += hu_now() - start;
	m->waited += after.seconds - before.seconds;
	m->sent += after.sent - before.sent;
	m->received += after.received - before.received;
	return HU_OK;
}

/* Every rank has the whole state and updates it itself; each step's end says whether they still agree. */
static hu_status
ranked_commit(hu_machine *m)
{
	hu_status st = HU_OK;

	hu_exec_commit(&m->x);
	if (!m->shared)
		return HU_OK;
	if (!hu_ranks_rank())
		hu_ranked_order_next(HU_RANKED_COMMIT, 0);
	m->digest = hu_exec_digest(&m->x);
	uint64_t *all = hu_xcalloc((size_t)m->s.ranks, sizeof *all);
	hu_ranks_gather(0, &m->digest, sizeof m->digest, all);
	for (int r = 1; r < m->s.ranks && !hu_ranks_rank() && st == HU_OK; r++)
		if (all[r] != m->digest)
			st = hu_fail(HU_EUNABLE,
				"after a step rank %d has a state of digest 0x%016llx and rank 0 one of 0x%016llx: a "
				"machine computes or copies wrongly, or runs another build",
				r, (unsigned long long)all[r], (unsigned long long)m->digest);
	free(all);
	return st;
}

static hu_status
ranked_digest(hu_machine *m, uint64_t *digest)
{
	*digest = m->shared && m->steps > 0 ? m->digest : hu_exec_digest(&m->x);
	return HU_OK;
}

/* The bytes of tensor i that rank r has: the rows of its micro-batches where it is an input. */
static char *
piece(hu_machine *m, int i, int r, size_t *bytes)
{
	const hu_info *t = &m->s.p->t[i];
	char *data = m->x.t[i].data;
	int first, n;

	*bytes = bytes_of(&m->x.t[i]);
	if (t->producer >= 0 || t->state)
		return data;
	n = hu_spread_share(m->s.micro_batches, m->s.ranks, r, &first);
	*bytes /= (size_t)m->s.micro_batches;
	data += (size_t)first * *bytes;
	*bytes *= (size_t)n;
	return data;
}

void
hu_ranked_answer(hu_machine *m, int i)
{
	const hu_info *t = &m->s.p->t[i];
	int input = t->producer < 0 && !t->state;
	size_t bytes;

	if (!input && m->s.at[i] != hu_ranks_rank())
		return;
	char *data = piece(m, i, hu_ranks_rank(), &bytes);
	hu_ranks_send(0, TAG_READ, data, bytes);
}

/* Rank 0: has the ranks that hold a tensor, or rows of it, send them. */
static void
fetch(hu_machine *m, int i)
{
	const hu_info *t = &m->s.p->t[i];
	int input = t->producer < 0 && !t->state;
	size_t bytes;

	if (m->here[i] || (!input && m->s.at[i] <= 0))
		return;
	hu_ranked_order_next(HU_RANKED_READ, i);
	if (!m->x.t[i].data)
		m->x.t[i].data = hu_xalloc(bytes_of(&m->x.t[i]));
	for (int r = 1; r < m->s.ranks; r++) {
		char *data = piece(m, i, r, &bytes);
		if (input || m->s.at[i] == r)
			hu_ranks_receive(r, TAG_READ, data, bytes);
	}
	m->here[i] = 1;
}

static const hu_tensor *
ranked_peek(hu_machine *m, int tensor)
{
	if (m->shared && !hu_ranks_rank())
		fetch(m, tensor);
	return &m->x.t[tensor];
}

static hu_status
ranked_read(hu_machine *m, int tensor, void *values)
{
	const hu_tensor *t = ranked_peek(m, tensor);

	memcpy(values, t->data, bytes_of(t));
	return HU_OK;
}

void
hu_ranked_rows(hu_machine *m, size_t *first, size_t *rows)
{
	*first = m->s.first;
	*rows = m->s.rows;
}

hu_ranked_share
hu_ranked_did(hu_machine *m)
{
	hu_ranked_share r = { .rows = (double)m->s.rows, .steps = m->steps, .seconds = m->seconds, .waited = m->waited,
		.sent = m->sent, .received = m->received };
	int first;

	if (gethostname(r.host, sizeof r.host - 1))
		strcpy(r.host, "?");
	r.micro_batches = hu_spread_share(m->s.micro_batches, m->s.ranks, m->s.rank, &first);
	for (int i = 0; i < m->s.p->nt; i++)
		r.bytes += m->s.need[i] ? (double)bytes_of(&m->x.t[i]) : 0;
	return r;
}

const hu_backend hu_ranked_backend = { .name = "cpu",
	.summary = "emulation on the CPU, shared by ranks: the bits of one process",
	.reads = "",
	.open = ranked_open,
	.close = ranked_close,
	.write = ranked_write,
	.read = ranked_read,
	.step = ranked_step,
	.commit = ranked_commit,
	.digest = ranked_digest,
	.peek = ranked_peek };
