/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/ranks/united.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>

/* Above the tags of shared work (lib/base/parts/share_ranks.c). */
enum { TAG = 100 };

static int united;

void
hu_ranks_unite(int on)
{
	united = on;
}

int
hu_ranks_united(void)
{
	return united ? hu_ranks_size() : 1;
}

/* Where rank r's slice begins. */
static size_t
start(size_t n, size_t grain, int r)
{
	size_t grains = (n + grain - 1) / grain, ranks = (size_t)hu_ranks_united(), i = (size_t)r,
	       at = (grains / ranks * i + grains % ranks * i / ranks) * grain;

	return at < n ? at : n;
}

void
hu_ranks_slice(size_t n, size_t grain, size_t *first, size_t *last)
{
	int r = hu_ranks_united() > 1 ? hu_ranks_rank() : 0;

	*first = start(n, grain, r);
	*last = start(n, grain, r + 1);
}

/* Messages have the tag of who sends them, so that a rank can wait for each of the others asleep. */
void
hu_ranks_assemble(void *data, size_t n, size_t grain, size_t bytes)
{
	int ranks = hu_ranks_united(), own = hu_ranks_rank();

	for (int r = 0; r < ranks && ranks > 1; r++)
		if (r != own && start(n, grain, own) < start(n, grain, own + 1))
			hu_ranks_post(r, TAG + own, (char *)data + start(n, grain, own) * bytes,
				(start(n, grain, own + 1) - start(n, grain, own)) * bytes);
	for (int r = 0; r < ranks && ranks > 1; r++) {
		size_t first = start(n, grain, r), last = start(n, grain, r + 1);
		if (r == own || first == last)
			continue;
		hu_ranks_await(TAG + r);
		hu_ranks_receive(r, TAG + r, (char *)data + first * bytes, (last - first) * bytes);
	}
	hu_ranks_sent();
}

int
hu_ranks_all(int yes)
{
	int ranks = hu_ranks_united(), *each = hu_xcalloc((size_t)ranks, sizeof *each);

	each[ranks > 1 ? hu_ranks_rank() : 0] = yes != 0;
	hu_ranks_assemble(each, (size_t)ranks, 1, sizeof *each);
	for (int r = 0; r < ranks; r++)
		yes = yes && each[r];
	free(each);
	return yes != 0;
}
