/* SPDX-License-Identifier: Apache-2.0
   What ranks together have read of data whose rows are made when a batch asks for them. */
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/ranked/orders.h"

#include <stdlib.h>

/* Which rows are asked for, and what a rank found of those that are its own to count. */
typedef struct asked { unsigned long long from, to; int evaluated; } asked;
typedef struct found { unsigned long long rows; uint64_t digest; } found;

/* Each row is counted by one rank and digests are sums of rows' terms, so that those of ranks add up to those of one
   process. */
static hu_status
add_up(hu_session *s, const asked *of, size_t *rows, uint64_t *digest)
{
	size_t n;
	found own = { 0, 0 }, *all = hu_xcalloc((size_t)hu_ranks_size(), sizeof *all);
	hu_status st = hu_ranks_agree(
		hu_session_read_rows(s, (size_t)of->from, (size_t)of->to, of->evaluated, &n, &own.digest));

	own.rows = n;
	*rows = *digest = 0;
	if (st == HU_OK)
		hu_ranks_gather(0, &own, sizeof own, all);
	for (int r = 0; r < hu_ranks_size() && st == HU_OK; r++) {
		*rows += (size_t)all[r].rows;
		*digest += all[r].digest;
	}
	free(all);
	return st;
}

hu_status
hu_ranked_read_rows(hu_session *s, size_t from, size_t to, int evaluated, size_t *rows, uint64_t *digest)
{
	asked of = { from, to, evaluated };

	if (hu_ranks_size() > 1 && s->data.made) {
		hu_ranked_order_next(HU_RANKED_ROWS, 0);
		hu_ranks_broadcast(0, &of, sizeof of);
	}
	return s->data.made ? add_up(s, &of, rows, digest)
			    : hu_session_read_rows(s, from, to, evaluated, rows, digest);
}

hu_status
hu_ranked_answer_rows(hu_session *s)
{
	asked of;
	uint64_t digest;
	size_t rows;

	hu_ranks_broadcast(0, &of, sizeof of);
	return add_up(s, &of, &rows, &digest);
}
