/* SPDX-License-Identifier: Apache-2.0
   The shim's shared memory: arrays one after another in the order in which the kernel reaches their declarations.
   Behind each is a zone that nobody may touch: poisoned under AddressSanitizer, otherwise checked when the block has
   ended. */
#include "cuda/shim/shim_engine.h"

namespace shim {

static __thread size_t most_shared = SHARED;
static __thread unsigned side_by_side = 1;

static void
poison(engine *e, size_t from, size_t bytes, int on)
{
#ifdef HU_ASAN
	for (unsigned b = 0; b < e->together; b++)
		if (on)
			__asan_poison_memory_region(e->shared[b] + from, bytes);
		else
			__asan_unpoison_memory_region(e->shared[b] + from, bytes);
#else
	(void)e, (void)from, (void)bytes, (void)on;
#endif
}

/* Allocates bytes at the same place of each block that runs, followed by a zone that nobody may touch. */
static size_t
room(engine *e, size_t bytes)
{
	size_t at = e->used;

	poison(e, at, bytes, 0);
	e->used = at + (bytes + ZONE - 1) / ZONE * ZONE + ZONE;
	return at;
}

void
shared_begin(engine *e)
{
	for (unsigned b = 0; b < 2; b++) /* the launch before may have been one of pairs */
		memset(e->shared[b], 0xff, e->used > HALF - ZONE ? HALF : e->used + ZONE);
	e->used = 0;
	e->nsites = 0;
	poison(e, 0, HALF, 1);
	if (e->dynamic) {
		e->sites[e->nsites++] = site{ NULL, room(e, e->dynamic), e->dynamic, "of the launch" };
	}
}

void
shared_end(engine *e)
{
	poison(e, 0, HALF, 0);
}

const char *
overrun(engine *e)
{
#ifndef HU_ASAN
	for (int i = 0; i < e->nsites; i++)
		for (size_t j = e->sites[i].at + e->sites[i].bytes;
			j % ZONE || j < e->sites[i].at + e->sites[i].bytes + ZONE; j++)
			for (unsigned b = 0; b < e->together; b++)
				if (e->shared[b][j] != 0xff)
					return e->sites[i].name;
#else
	(void)e;
#endif
	return NULL;
}

} /* namespace shim */

using namespace shim;

extern "C" {

void
hu_shim_large(void)
{
	most_shared = LARGE;
}

size_t
hu_shim_most(size_t next)
{
	size_t most = most_shared;

	most_shared = next;
	return most;
}

unsigned
hu_shim_together(unsigned next)
{
	unsigned together = side_by_side;

	side_by_side = next;
	return together;
}

void *
hu_shim_shared(const void *key, size_t bytes, const char *name)
{
	engine *e = own;
	unsigned char *here = e->shared[e->running / e->each];

	for (int i = 0; i < e->nsites; i++)
		if (e->sites[i].key == key)
			return here + e->sites[i].at;
	size_t sum = bytes;
	for (int i = 0; i < e->nsites; i++)
		sum += e->sites[i].bytes;
	if (sum > e->most || e->nsites == SITES)
		stop(e, "shared memory '%s' needs %zu bytes in all, and a block has %d", name, sum, (int)e->most);
	e->sites[e->nsites] = site{ key, room(e, bytes), bytes, name };
	return here + e->sites[e->nsites++].at;
}

void *
hu_shim_dynamic(void)
{
	return own->shared[own->running / own->each]; /* the first site, if there is one */
}

} /* extern "C" */
