/* SPDX-License-Identifier: Apache-2.0
   What ranks other than 0 do in a shared training, from its beginning to its end, and which of them share a device. */
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/program/spread/spread.h"
#include "lib/store/run_check.h"
#include "trainer/ranked/orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hu_status
hu_ranked_possible(const hu_config *c)
{
	int ranks = hu_ranks_size();

	if (ranks == 1)
		return HU_OK;
	if (!c->micro_batches || c->micro_batches < (size_t)ranks)
		return hu_fail(HU_EINVAL,
			"--batch micro=%zu: each of the %d ranks executes whole micro-batches, so that at least %d "
			"are needed",
			c->micro_batches ? c->micro_batches : 1, ranks, ranks);
	return HU_OK;
}

/* Returns how many of the ranks from i on are on the device of rank i. */
static int
on_the_device_of(const hu_ranked_share *all, int i)
{
	int n = 0;

	for (int k = i; k < hu_ranks_size(); k++)
		n += !strcmp(all[k].host, all[i].host) && !strcmp(all[k].device, all[i].device);
	return n;
}

void
hu_ranked_say(const hu_session *s, int talk)
{
	int most = 0;

	if (hu_ranks_size() == 1 || s->backend->peek)
		return;
	hu_ranked_share own = hu_ranked_did(s->train),
			*all = hu_xcalloc((size_t)hu_ranks_size(), sizeof *all);
	hu_ranks_gather(0, &own, sizeof own, all);
	for (int i = 1; i < hu_ranks_size() && !hu_ranks_rank(); i++)
		if (on_the_device_of(all, i) > on_the_device_of(all, most))
			most = i;
	int n = on_the_device_of(all, most);
	if (talk && n > 1)
		printf("Devices: %d ranks share one, %s of %s\n", n, all[most].device, all[most].host);
	fflush(stdout);
	free(all);
}

/* The loop of a rank other than 0. A failure here is this rank's own: hu_complain says it and ends all. */
static hu_status
follow(hu_session *s)
{
	for (;;) {
		hu_ranked_order o = hu_ranked_order_next(HU_RANKED_END, 0);
		uint64_t digest;
		switch (o.kind) {
		case HU_RANKED_STEP: HU_TRY(hu_session_step(s, (size_t)o.number)); break;
		case HU_RANKED_COMMIT: HU_TRY(hu_session_commit(s, &digest)); break;
		case HU_RANKED_ROWS: HU_TRY(hu_ranked_answer_rows(s)); break;
		case HU_RANKED_READ: HU_TRY(hu_ranked_answer(s->train, (int)o.number)); break;
		default: /* HU_RANKED_END */
			return HU_OK;
		}
	}
}

hu_status
hu_ranked_follow(hu_session *s)
{
	HU_TRY(follow(s));
	hu_ranked_share row = hu_ranked_did(s->train);
	hu_ranks_gather(0, &row, sizeof row, NULL);
	return HU_OK;
}
