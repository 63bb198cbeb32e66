/* SPDX-License-Identifier: Apache-2.0
   Bulk copies and mbarriers (bulk.h), on the host. A copy arrives at once, between two turns of threads, or when no
   thread can go on without it; in half of all blocks always then. A block that ends while a copy is under way stops the
   launch. */
#include "cuda/gemm/bulk.h"
#include "cuda/shim/shim_engine.h"

using namespace shim;

namespace {

/* Ends the mbarrier's phase if it is complete, and wakes who waits for that. */
void
complete(engine *e, hu_mbarrier *mbarrier)
{
	if (mbarrier->left || mbarrier->bytes)
		return;
	mbarrier->left = mbarrier->arrivals;
	mbarrier->phase ^= 1;
	for (unsigned i = 0; i < e->n; i++)
		if (e->threads[i].state == AT_MBARRIER && e->threads[i].mbarrier == mbarrier)
			make_ready(e, i);
}

void
arrive(engine *e, const bulk *b)
{
	const hu_bulk_map *m = &b->map;

	if (e->ended[b->block] == e->each) {
		snprintf(e->reason, sizeof e->reason, "a bulk copy arrives in a block that has ended");
		return;
	}

	for (uint32_t r = 0; r < m->box; r++)
		for (uint32_t c = 0; c < HU_BULK_LINE / 16; c++) {
			unsigned char piece[16] = { 0 };
			uint32_t row = b->row + r, column = b->column + c * 16 / m->size;
			size_t to = (size_t)b->to + r * HU_BULK_LINE + c * 16;
			size_t at = b->z * (size_t)m->apart + row * (size_t)m->columns + column;
			if (b->z < m->count && row < m->rows && column < m->columns) /* whole groups of 16 bytes */
				memcpy(piece, m->data + at * m->size, 16);
			memcpy((void *)(to ^ (to >> 7 & 7) << 4), piece, 16);
		}
	b->mbarrier->bytes -= (int32_t)(m->box * HU_BULK_LINE);
	complete(e, b->mbarrier);
}

} /* namespace */

void
shim::bulk_arrive(engine *e)
{
	unsigned i = draw(e, e->nbulk);
	bulk b = e->under_way[i];

	e->under_way[i] = e->under_way[--e->nbulk];
	arrive(e, &b);
}

extern "C" {

void
hu_shim_mbarrier_begin(hu_mbarrier *mbarrier, uint32_t arrivals)
{
	HU_ASSERT(arrivals && arrivals < 256);
	*mbarrier = { 0, (uint16_t)arrivals, (uint8_t)arrivals, 0 };
}

void
hu_shim_mbarrier_arrive(hu_mbarrier *mbarrier, uint32_t bytes)
{
	if (!mbarrier->left)
		stop(own, "a thread arrives at an mbarrier where all are already");
	mbarrier->bytes += (int32_t)bytes;
	mbarrier->left--;
	complete(own, mbarrier);
}

void
hu_shim_mbarrier_wait(hu_mbarrier *mbarrier, uint32_t parity, const char *file, int line)
{
	thread *t = &own->threads[own->running];

	while (mbarrier->phase == parity) {
		t->state = AT_MBARRIER;
		t->mbarrier = mbarrier;
		t->file = file;
		t->line = line;
		to_main(own);
	}
}

void
hu_shim_mbarrier_arrive_at(hu_mbarrier *mbarrier, uint32_t rank)
{
	unsigned here = own->running / own->each;

	if (own->ended[rank] == own->each)
		stop(own, "a thread arrives at an mbarrier of a block that has ended");
	ptrdiff_t away = ((ptrdiff_t)rank - (ptrdiff_t)here) * HALF;
	hu_shim_mbarrier_arrive((hu_mbarrier *)((unsigned char *)mbarrier + away), 0);
}

void
hu_shim_bulk_copy(
	void *to, const hu_bulk_map *map, hu_mbarrier *mbarrier, uint32_t column, uint32_t row, uint32_t z, int both)
{
	engine *e = own;
	unsigned here = e->running / e->each;

	HU_ASSERT((size_t)to % 1024 == 0);
	for (unsigned r = 0; r < e->together; r++) {
		ptrdiff_t away = ((ptrdiff_t)r - (ptrdiff_t)here) * HALF;
		hu_mbarrier *there = (hu_mbarrier *)((unsigned char *)mbarrier + away);
		bulk b = { (unsigned char *)to + away, *map, there, column, row, z, r };
		if (r != here && !both)
			continue;
		if (!e->late && draw(e, 4) == 0)
			arrive(e, &b);
		else if (e->nbulk == sizeof e->under_way / sizeof *e->under_way)
			stop(e, "more than %u bulk copies are under way", e->nbulk);
		else
			e->under_way[e->nbulk++] = b;
	}
}

} /* extern "C" */
