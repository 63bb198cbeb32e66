/* SPDX-License-Identifier: Apache-2.0
   The back end of a shared training: one of the table's, on which each rank executes its part of a step, but that rank
   0 has the others work with it. */
#include "trainer/ranked/ranked.h"

#include "lib/base/terminal/progress.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/ranked/machine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The back end that ranks share. */
static const hu_backend *shared;

static hu_status
open_shared(hu_machine *m, const hu_program *p, hu_gemm_way gemm)
{
	HU_TRY(hu_spread_init(&m->s, p, hu_ranks_size(), hu_ranks_rank()));
	m->shared = 1;
	m->fetched = hu_xcalloc((size_t)p->nt + 1, sizeof *m->fetched);
	return m->of->part->open(&m->own, &m->s, gemm);
}

static void
ranked_close(hu_machine *m)
{
	if (!m)
		return;
	if (m->joined)
		m->of->part->leave();
	if (m->own)
		m->of->close(m->own);
	if (m->shared) {
		hu_ranked_forget(m);
		hu_spread_release(&m->s);
	}
	free(m->fetched);
	free(m);
}

static hu_status
ranked_open(hu_machine **m, const hu_program *p, hu_gemm_way gemm)
{
	hu_status st = HU_OK;

	*m = hu_xcalloc(1, sizeof **m);
	(*m)->of = shared;
	if (!strcmp(p->name, "train"))
		st = open_shared(*m, p, gemm);
	else if (!hu_ranks_rank())
		st = shared->open(&(*m)->own, p, gemm);
	if (st != HU_OK) {
		ranked_close(*m);
		*m = NULL;
	}
	return st;
}

static hu_status
ranked_write(hu_machine *m, int tensor, const void *values)
{
	return !m->shared || m->s.need[tensor] ? m->of->write(m->own, tensor, values) : HU_OK;
}

static hu_status
ranked_room(hu_machine *m, int tensor, void **values)
{
	return m->of->room(m->own, tensor, values);
}

static hu_status
ranked_step(hu_machine *m, const hu_env *env)
{
	if (!m->shared)
		return m->of->step(m->own, env);
	if (!hu_ranks_rank())
		hu_ranked_order_next(HU_RANKED_STEP, env->step);
	hu_ranked_forget(m);
	hu_ranks_traffic before = hu_ranks_moved();
	m->started = hu_now();
	HU_TRY(hu_spread_run(m->of, m->own, &m->s, env));
	hu_ranks_traffic after = hu_ranks_moved();
	m->steps++;
	if (m->of->peek)
		m->seconds += hu_now() - m->started;
	m->waited += after.seconds - before.seconds;
	m->sent += after.sent - before.sent;
	m->received += after.received - before.received;
	return HU_OK;
}

/* A rank's digests: of the states that all ranks have, and of those that it alone has. */
typedef struct halves { uint64_t common, own; } halves;

static hu_status
digest_halves(hu_machine *m, halves *d)
{
	HU_TRY(m->of->digest(m->own, &d->common));
	HU_TRY(m->of->part->own_digest(m->own, &d->own));
	d->common -= d->own;
	return HU_OK;
}

/* Every rank has the state but what error feedback keeps, and updates it itself; each step's end says whether they
   still agree. Rank 0's digest is of all. A device's step has ended when its digest is there. */
static hu_status
ranked_commit(hu_machine *m)
{
	halves mine;

	HU_TRY(m->of->commit(m->own));
	if (!m->shared)
		return HU_OK;
	if (!hu_ranks_rank())
		hu_ranked_order_next(HU_RANKED_COMMIT, 0);
	hu_ranked_forget(m); /* states have other values now */
	HU_TRY(digest_halves(m, &mine));
	if (!m->of->peek)
		m->seconds += hu_now() - m->started;
	hu_status st = HU_OK;
	halves *all = hu_xcalloc((size_t)m->s.ranks, sizeof *all);
	hu_ranks_gather(0, &mine, sizeof mine, all);
	m->digest = mine.common + mine.own;
	for (int r = 1; r < m->s.ranks && !hu_ranks_rank() && st == HU_OK; r++) {
		m->digest += all[r].own;
		if (all[r].common != mine.common)
			st = hu_fail(HU_EUNABLE,
				"after a step rank %d has a state of digest 0x%016llx and rank 0 one of 0x%016llx: a "
				"machine computes or copies wrongly, or runs another build",
				r, (unsigned long long)all[r].common, (unsigned long long)mine.common);
	}
	free(all);
	return st;
}

/* Before the first step the digest is of the states that all ranks have. */
static hu_status
ranked_digest(hu_machine *m, uint64_t *digest)
{
	halves mine;

	if (!m->shared)
		return m->of->digest(m->own, digest);
	if (m->steps > 0) {
		*digest = m->digest;
		return HU_OK;
	}
	HU_TRY(digest_halves(m, &mine));
	*digest = mine.common;
	return HU_OK;
}

static hu_status
ranked_read(hu_machine *m, int tensor, void *values)
{
	if (!m->shared || hu_ranks_rank() || !hu_ranked_is_elsewhere(m, tensor))
		return m->of->read(m->own, tensor, values);
	HU_TRY(hu_ranked_fetch(m, tensor));
	const hu_tensor *t = &m->fetched[tensor];
	memcpy(values, t->data, t->n * hu_element_size(t->format));
	return HU_OK;
}

/* Tensors of the host fail to be fetched only where the job ends anyway. */
static const hu_tensor *
ranked_peek(hu_machine *m, int tensor)
{
	if (m->shared && !hu_ranks_rank() && hu_ranked_fetch(m, tensor) == HU_OK && m->fetched[tensor].data)
		return &m->fetched[tensor];
	return m->of->peek(m->own, tensor);
}

static void
ranked_tune(hu_machine *m, int fuse, int graphs)
{
	if (m->own)
		m->of->tune(m->own, fuse, graphs);
}

static const char *
ranked_ran(hu_machine *m, int call)
{
	return m->of->ran(m->own, call);
}

/* Returns 1 if rank 0 itself has the tensor's values after a step. */
static int
is_here(const hu_machine *m, int tensor)
{
	return m->s.need[tensor] && !hu_ranked_is_elsewhere(m, tensor);
}

/* Copies those of n tensors that rank 0 has; of a survey also what they were cast from. Their scale is where they are,
   since one cast makes both. */
static int
choose(const hu_machine *m, int *to, const int *tensor, int n, int survey)
{
	int kept = 0, from, scale;

	for (int i = 0; i < n && !m->s.rank; i++) {
		int here = is_here(m, tensor[i]);
		if (here && survey && hu_is_cast(m->s.p, tensor[i], &from, &scale))
			here = m->s.need[from];
		if (here)
			to[kept++] = tensor[i];
	}
	return kept;
}

/* Has a device send rank 0 what is asked of the tensors there, and every rank the digest. */
static hu_status
ranked_watch(hu_machine *m, const int *value, int nvalue, const int *counted, int ncounted, const int *surveyed,
	int nsurveyed)
{
	if (!m->own)
		return HU_OK;
	if (!m->shared)
		return m->of->watch(m->own, value, nvalue, counted, ncounted, surveyed, nsurveyed);
	int *v = hu_xmalloc(((size_t)(nvalue + ncounted + nsurveyed) + 1) * sizeof *v),
	    nv = choose(m, v, value, nvalue, 0), *c = v + nv, nc = choose(m, c, counted, ncounted, 0), *y = c + nc,
	    ny = choose(m, y, surveyed, nsurveyed, 1);
	hu_status st = m->of->watch(m->own, v, nv, c, nc, y, ny);
	free(v);
	return st;
}

static int
ranked_tally(hu_machine *m, int tensor, hu_tally *tally, hu_status *st)
{
	return m->of->tally(m->own, tensor, tally, st);
}

static int
ranked_census(hu_machine *m, int tensor, hu_census *census, hu_status *st)
{
	return m->of->census(m->own, tensor, census, st);
}

static int
ranked_updates(hu_machine *m, int call, hu_update_tally *count, hu_status *st)
{
	return m->of->updates(m->own, call, count, st);
}

const hu_backend *
hu_ranked_over(const hu_backend *of)
{
	static hu_backend row;

	shared = of;
	row = (hu_backend){ .name = of->name,
		.summary = of->summary,
		.reads = of->reads,
		.open = ranked_open,
		.close = ranked_close,
		.write = ranked_write,
		.read = ranked_read,
		.step = ranked_step,
		.commit = ranked_commit,
		.digest = ranked_digest,
		.peek = of->peek ? ranked_peek : NULL,
		.part = of->part,
		.ran = of->ran ? ranked_ran : NULL,
		.room = of->room ? ranked_room : NULL,
		.tune = of->tune ? ranked_tune : NULL,
		.watch = of->watch ? ranked_watch : NULL,
		.tally = of->tally ? ranked_tally : NULL,
		.census = of->census ? ranked_census : NULL,
		.updates = of->updates ? ranked_updates : NULL };
	return &row;
}

hu_status
hu_ranked_join(hu_machine *m)
{
	for (int i = 0; i < m->s.n && !m->joined; i++)
		if (m->s.todo[i].action == HU_DO_REDUCE) {
			HU_TRY(m->of->part->join(m->own));
			m->joined = 1;
		}
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
		.sent = m->sent, .received = m->received, .bytes = m->of->part->memory(m->own) };
	int first;

	if (gethostname(r.host, sizeof r.host - 1))
		strcpy(r.host, "?");
	m->of->part->where(r.device, sizeof r.device);
	r.micro_batches = hu_spread_share(m->s.micro_batches, m->s.ranks, m->s.rank, &first);
	return r;
}
