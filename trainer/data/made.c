/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/made.h"

#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <stdlib.h>
#include <unistd.h>

struct hu_made {
	hu_maker maker;
	size_t n, bytes, kept;
	unsigned char *row, *there; /* kept rows, and whether each is made */
};

/* How many rows of that size fit into half of the machine's memory. */
static size_t
room(size_t bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 2 / bytes : (size_t)1 << 30;
}

hu_made *
hu_made_new(hu_maker maker, size_t n, size_t bytes)
{
	hu_made *m = hu_xcalloc(1, sizeof *m);

	*m = (hu_made){ maker, n, bytes, n < room(bytes) ? n : room(bytes), NULL, hu_xcalloc(n + 1, 1) };
	while (m->kept && !(m->row = calloc(m->kept, bytes))) /* the system gives pages when they are written */
		m->kept /= 2;
	return m;
}

void
hu_made_free(hu_made *m)
{
	if (!m)
		return;
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

hu_status
hu_made_rows_get(hu_made_rows *r, hu_made *m, const size_t *index, size_t n)
{
	unsigned char **to = hu_xcalloc(n + 1, sizeof *to);
	size_t own = 0, failed;
	hu_status st = HU_OK;

	for (size_t i = 0; i < n; i++)
		own += index[i] >= m->kept;
	*r = (hu_made_rows){ hu_xcalloc(n + 1, sizeof *r->row), hu_xmalloc(own * m->bytes + 1) };
	own = 0;
	for (size_t i = 0; i < n; i++) {
		int keep = index[i] < m->kept;
		unsigned char *row = keep ? m->row + index[i] * m->bytes : r->own + own++ * m->bytes;
		r->row[i] = row;
		if (!keep || !m->there[index[i]])
			to[i] = row;
		m->there[index[i]] = (unsigned char)keep; /* a second place of this row in the batch makes it no more */
	}
	failed = make(m, index, to, n);
	if (failed < n) {
		for (size_t i = 0; i < n; i++)
			if (to[i])
				m->there[index[i]] = 0;
		st = m->maker.make(m->maker.own, index[failed], to[failed]);
		hu_made_rows_release(r);
	}
	free(to);
	return st;
}

void
hu_made_rows_release(hu_made_rows *r)
{
	free(r->row);
	free(r->own);
}
