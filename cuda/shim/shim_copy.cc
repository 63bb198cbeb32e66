/* SPDX-License-Identifier: Apache-2.0
   Background copies to shared memory (stage.h), on the host. A copy is only guaranteed to have arrived after its own
   thread's wait. In half of all blocks every copy arrives only then; in the others each arrives at a random time:
   immediately, at one of the barriers in between, or at the wait. A copy for which a thread never waits arrives when
   the thread ends, while others still work, and then stops the launch. */
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

/* Delivers the pending copies of c that are in none of the last groups groups (~0u: all of them); if some is set, each
   at random. */
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
