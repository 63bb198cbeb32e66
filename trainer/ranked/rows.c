/* SPDX-License-Identifier: Apache-2.0
   What ranks together have read of data whose rows are made when a batch asks for them; a process alone is one rank. */
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/ranked/orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

hu_status
hu_ranked_check_read(hu_session *s, const json_t *manifest, const char *run, size_t steps)
{
	const json_t *dataset = json_object_get(manifest, "dataset"), *read = json_object_get(dataset, "read");
	const char *want = json_string_value(json_object_get(read, "digest"));
	size_t rows = 0, all = (size_t)json_integer_value(json_object_get(read, "rows")),
	       from = (size_t)json_integer_value(json_object_get(read, "from_step"));
	uint64_t digest;
	char have[24];

	for (int evaluated = 0; evaluated < 2 && want && rows != all; evaluated++)
		HU_TRY(hu_ranked_read_rows(s, from, steps, evaluated, &rows, &digest));
	if (!want || rows != all)
		return HU_OK;
	snprintf(have, sizeof have, "0x%016llx", (unsigned long long)digest);
	if (!strcmp(want, have))
		return HU_OK;
	return hu_fail(HU_EFILE,
		"%s: the %zu images that it read had pixels of digest %s, those of %s have %s: give it the same files "
		"back",
		run, all, want, s->data.name, have);
}
