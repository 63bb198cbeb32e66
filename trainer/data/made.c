/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/made.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "trainer/data/ahead.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A batch: its rows, where each is, and where those that are still to be made go (NULL: it is there). Rows that are not
   kept lie in `own`. */
typedef struct batch {
	size_t *index, n;
	const unsigned char **row;
	unsigned char **to, *own;
} batch;

struct hu_made {
	hu_maker maker;
	size_t n, bytes, kept;
	unsigned char *row, *there; /* kept rows, and whether each is made */
	hu_ahead *ahead;
	batch next; /* what was asked for; n is 0 where nothing is */
};

/* How many rows of that size fit into half of the machine's memory. */
static size_t
room(size_t bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 2 / bytes : (size_t)1 << 30;
}

static void
batch_release(batch *b)
{
	free(b->index);
	free(b->row);
	free(b->to);
	free(b->own);
	memset(b, 0, sizeof *b);
}

hu_made *
hu_made_new(hu_maker maker, size_t n, size_t bytes)
{
	hu_made *m = hu_xcalloc(1, sizeof *m);

	*m = (hu_made){ .maker = maker,
		.n = n,
		.bytes = bytes,
		.kept = n < room(bytes) ? n : room(bytes),
		.there = hu_xcalloc(n + 1, 1),
		.ahead = hu_ahead_new(maker) };
	while (m->kept && !(m->row = calloc(m->kept, bytes))) /* the system gives pages when they are written */
		m->kept /= 2;
	return m;
}

void
hu_made_free(hu_made *m)
{
	if (!m)
		return;
	hu_ahead_free(m->ahead);
	batch_release(&m->next);
	m->maker.release(m->maker.own);
	free(m->row);
	free(m->there);
	free(m);
}

uint64_t
hu_made_digest(const hu_made *m)
{
	return m->maker.digest;
}

size_t
hu_made_bytes(const hu_made *m, size_t *kept)
{
	*kept = m->kept;
	return m->kept * m->bytes;
}

/* Makes row index[i] at to[i], where that is not NULL, in all threads. Returns the first i that failed, or n.
   The caller makes that row once more, so that its own thread has the reason. */
static size_t
make(const hu_made *m, const size_t *index, unsigned char *const *to, size_t n)
{
	size_t failed = n;

#pragma omp parallel for schedule(dynamic) num_threads(hu_threads()) if (n > 1) reduction(min : failed)
	for (size_t i = 0; i < n; i++)
		if (to[i] && m->maker.make(m->maker.own, index[i], to[i]) != HU_OK && i < failed)
			failed = i;
	return failed;
}

/* Lays out the n rows of a batch. Kept rows that are not there are noted as there: a second place of such a row in the
   batch makes it no more. */
static void
lay_out(batch *b, hu_made *m, const size_t *index, size_t n)
{
	size_t own = 0;

	for (size_t i = 0; i < n; i++)
		own += index[i] >= m->kept;
	*b = (batch){ hu_xmalloc(n * sizeof *b->index + 1), n, hu_xcalloc(n + 1, sizeof *b->row),
		hu_xcalloc(n + 1, sizeof *b->to), hu_xmalloc(own * m->bytes + 1) };
	own = 0;
	for (size_t i = 0; i < n; i++) {
		int keep = index[i] < m->kept;
		unsigned char *row = keep ? m->row + index[i] * m->bytes : b->own + own++ * m->bytes;
		b->index[i] = index[i];
		b->row[i] = row;
		if (!keep || !m->there[index[i]])
			b->to[i] = row;
		if (keep)
			m->there[index[i]] = 1;
	}
}

/* Notes that the kept rows of b that are still to be made are not there. */
static void
forget(hu_made *m, const batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->to[i] && b->index[i] < m->kept)
			m->there[b->index[i]] = 0;
}

/* Ends the making ahead: rows that were made are there, the others are still to be made. */
static void
pause_ahead(hu_made *m)
{
	unsigned char *done = hu_xcalloc(m->next.n + 1, 1);

	hu_ahead_stop(m->ahead, done);
	for (size_t i = 0; i < m->next.n; i++)
		if (done[i])
			m->next.to[i] = NULL;
	free(done);
}

void
hu_made_ask(hu_made *m, const size_t *index, size_t n)
{
	pause_ahead(m);
	forget(m, &m->next);
	batch_release(&m->next);
	lay_out(&m->next, m, index, n);
	hu_ahead_ask(m->ahead, m->next.index, m->next.to, n);
}

/* Moves the batch that was asked for to b where it has these rows; else lays b out, while the other's rows that are not
   made yet count as not there. */
static int
take(batch *b, hu_made *m, const size_t *index, size_t n)
{
	pause_ahead(m);
	if (m->next.n == n && n && !memcmp(m->next.index, index, n * sizeof *index)) {
		*b = m->next;
		memset(&m->next, 0, sizeof m->next);
		return 1;
	}
	forget(m, &m->next);
	lay_out(b, m, index, n);
	return 0;
}

/* Goes on with the batch ahead after another one was made, which may have made some of its rows. */
static void
go_on(hu_made *m)
{
	batch *b = &m->next;

	for (size_t i = 0; i < b->n; i++) {
		if (!b->to[i] || b->index[i] >= m->kept)
			continue;
		if (m->there[b->index[i]])
			b->to[i] = NULL;
		m->there[b->index[i]] = 1;
	}
	if (b->n)
		hu_ahead_ask(m->ahead, b->index, b->to, b->n);
}

hu_status
hu_made_rows_get(hu_made_rows *r, hu_made *m, const size_t *index, size_t n)
{
	hu_status st = HU_OK;
	batch b;
	int asked = take(&b, m, index, n);
	size_t failed = make(m, b.index, b.to, n);

	if (failed < n) {
		forget(m, &b);
		st = m->maker.make(m->maker.own, index[failed], b.to[failed]);
	}
	if (!asked)
		go_on(m);
	if (st == HU_OK) {
		*r = (hu_made_rows){ b.row, b.own };
		b.row = NULL;
		b.own = NULL;
	}
	batch_release(&b);
	return st;
}

void
hu_made_rows_release(hu_made_rows *r)
{
	free(r->row);
	free(r->own);
}
