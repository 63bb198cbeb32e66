/* SPDX-License-Identifier: Apache-2.0
   Copies to shared memory in the background (stage.h), on the host. Nothing is promised of one but that it has arrived
   after the wait of its own thread: in half of all blocks every copy arrives only there, in the others each arrives at
   once, at one of the barriers in between, or there, drawn anew. What a thread never waits for arrives when the thread
   ends, while others still work, and then stops the launch. */
#include "cuda/gemm/stage.h"
#include "cuda/shim/shim_engine.h"

using namespace shim;

static void
arrive(void *to, const void *from, unsigned bytes, int inside)
{
	if (inside)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
}

/* Those of C under way that belong to none of the last GROUPS groups (~0u: all); with SOME each by a coin. */
static void
deliver(hu_copies *c, unsigned groups, int some)
{
	unsigned left = 0;

	for (unsigned i = 0; i < c->n; i++)
		if ((groups == ~0u || c->under_way[i].group + groups < c->group) && (!some || hu_shim_coin()))
			arrive(c->under_way[i].to, c->under_way[i].from, c->under_way[i].bytes, c->under_way[i].inside);
		else
			c->under_way[left++] = c->under_way[i];
	c->n = left;
}

extern "C" {

int
hu_shim_coin(void)
{
	return (int)draw(own, 2);
}

void
hu_shim_copies_begin(hu_copies *c)
{
	own->threads[own->running].copies = c;
}

void
hu_shim_copies_end(hu_copies *c)
{
	thread *t = &own->threads[own->running];

	t->copies = NULL;
	if (c->n && !*own->reason)
		snprintf(own->reason, sizeof own->reason,
			"a thread ends with %u copies to shared memory that it never waited for", c->n);
	deliver(c, ~0u, 0);
}

void
hu_shim_copies_at_barrier(hu_copies *c)
{
	if (c && c->n && !own->late)
		deliver(c, ~0u, 1);
}

void
hu_shim_copy(hu_copies *c, void *to, const void *from, unsigned bytes, int inside)
{
	HU_ASSERT((size_t)to % bytes == 0 && (size_t)from % bytes == 0);
	HU_ASSERT(c->n < sizeof c->under_way / sizeof *c->under_way);
	if (!own->late && hu_shim_coin())
		arrive(to, from, bytes, inside);
	else
		c->under_way[c->n++] = { (unsigned char *)to, (const unsigned char *)from, bytes, c->group, inside };
}

void
hu_shim_copy_wait(hu_copies *c, unsigned groups)
{
	deliver(c, groups, 0);
}

} /* extern "C" */
