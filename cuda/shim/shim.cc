/* SPDX-License-Identifier: Apache-2.0
   Runs kernels on the host (shim.h). Each thread of a block is a coroutine with a stack of its own. A scheduler on the
   caller's stack resumes one that can run, drawn at random, until all have ended. Blocks run one after another, in
   random order too. */
#include "cuda/shim/shim_engine.h"

__thread const hu_shim_place *hu_shim_here;

namespace shim {

uint32_t
draw(engine *e, uint32_t below)
{
	e->random = e->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((e->random >> 32) * below >> 32);
}

void
make_ready(engine *e, unsigned i)
{
	e->threads[i].state = READY;
	e->ready[e->nready++] = i;
}

} /* namespace shim */

using namespace shim;

namespace {

const char *
base(const char *path)
{
	const char *s = strrchr(path, '/');

	return s ? s + 1 : path;
}

/* Explains why no thread can run although not all have ended. */
void
explain(engine *e)
{
	const thread *waits = NULL;
	unsigned warps = (e->n + 31) / 32;

	for (unsigned i = 0; i < e->n && !waits; i++)
		if (e->threads[i].state == AT_WARP)
			waits = &e->threads[i];
	for (unsigned w = 0; w < warps && waits; w++)
		if (e->in_warp[w] && e->in_warp[w] < 32) {
			snprintf(e->reason, sizeof e->reason,
				"%u of the 32 lanes of a warp wait at a %s (%s:%d) for the others", e->in_warp[w],
				waits->what, base(waits->file), waits->line);
			return;
		}
	for (unsigned i = 0; i < e->n; i++)
		if (e->threads[i].state == AT_MBARRIER) {
			snprintf(e->reason, sizeof e->reason,
				"a thread waits at an mbarrier (%s:%d) that nothing will complete",
				base(e->threads[i].file), e->threads[i].line);
			return;
		}
	for (unsigned i = 0; i < e->n; i++)
		if (e->threads[i].state == AT_BARRIER)
			waits = &e->threads[i];
	snprintf(e->reason, sizeof e->reason, "%u of %u threads wait at a barrier (%s:%d) which the others never reach",
		e->at_barrier, e->n, waits ? base(waits->file) : "?", waits ? waits->line : 0);
}

bool
elsewhere(const thread *a, const thread *b)
{
	return a->line != b->line || (a->file != b->file && strcmp(a->file, b->file));
}

/* Called when the running thread has stopped at something: decides which threads may continue. */
void
settle(engine *e, unsigned i)
{
	thread *t = &e->threads[i];

	if (t->state == DONE) {
		e->done++;
		e->ended[i / e->each]++;
		e->idle[e->nidle++] = t->fiber;
		t->fiber = -1;
	} else if (t->state == AT_BARRIER && ++e->at_barrier == e->n) {
		for (unsigned j = 1; j < e->n; j++)
			if (elsewhere(&e->threads[j], &e->threads[0])) {
				snprintf(e->reason, sizeof e->reason,
					"threads of a block wait at different barriers: %s:%d and %s:%d",
					base(e->threads[0].file), e->threads[0].line, base(e->threads[j].file),
					e->threads[j].line);
				return;
			}
		e->at_barrier = 0;
		for (unsigned j = 0; j < e->n; j++)
			make_ready(e, j);
	} else if (t->state == AT_WARP && ++e->in_warp[i / 32] == 32) {
		unsigned first = i / 32 * 32;
		for (unsigned j = first; j < first + 32; j++)
			if (e->threads[j].what != t->what || elsewhere(&e->threads[j], t)) {
				snprintf(e->reason, sizeof e->reason,
					"lanes of a warp meet at a %s (%s:%d) and a %s (%s:%d)", t->what, base(t->file),
					t->line, e->threads[j].what, base(e->threads[j].file), e->threads[j].line);
				return;
			}
		e->in_warp[i / 32] = 0;
		for (unsigned j = first; j < first + 32; j++)
			make_ready(e, j);
	}
}

void
run_block(engine *e)
{
	shared_begin(e);
	e->nready = e->done = e->at_barrier = e->nbulk = e->ended[0] = e->ended[1] = 0;
	memset(e->in_warp, 0, sizeof e->in_warp);
	/* In half of the blocks one warp after another runs as far as it can, starting with any of them, so that errors
	   show in what runs ahead of the others. */
	int deep = draw(e, 2) != 0;
	e->late = draw(e, 2) != 0;
	unsigned from = deep ? draw(e, (e->n + 31) / 32) * 32 : 0;
	for (unsigned k = 0; k < e->n; k++) {
		unsigned i = (k + from) % e->n;
		e->threads[i].fiber = -1;
		e->threads[i].meets = 0;
		e->threads[i].copies = NULL;
		make_ready(e, i);
	}
	while ((e->nready || (e->nbulk && e->done < e->n)) && !*e->reason) {
		if (e->nbulk && (!e->nready || (!e->late && draw(e, 8) == 0))) {
			bulk_arrive(e);
			continue;
		}
		unsigned at = deep ? e->nready - 1 : draw(e, e->nready), i = e->ready[at];
		thread *t = &e->threads[i];
		e->ready[at] = e->ready[--e->nready];
		fiber *f = t->fiber < 0 ? take_fiber(e, &t->fiber) : &e->fibers[t->fiber];
		if (!f) {
			e->no_memory = 1;
			snprintf(e->reason, sizeof e->reason, "no memory for the coroutines of %u threads", e->n);
			break;
		}
		e->running = i;
		hu_shim_here = &t->place;
		to_fiber(e, f);
		if (!*e->reason)
			settle(e, i);
	}
	shared_end(e);
	if (!*e->reason && e->done != e->n)
		explain(e);
	if (!*e->reason && e->nbulk)
		snprintf(e->reason, sizeof e->reason, "a block ends while %u bulk copies to it are under way",
			e->nbulk);
	if (!*e->reason && overrun(e))
		snprintf(e->reason, sizeof e->reason, "shared memory '%s' was written past its end", overrun(e));
}

size_t
common_divisor(size_t a, size_t b)
{
	while (b) {
		size_t r = a % b;
		a = b;
		b = r;
	}
	return a;
}

} /* namespace */

extern "C" {

hu_status
hu_shim_run(const char *kernel, dim3 grid, dim3 block, size_t shared_bytes, void (*body)(void *), void *arg)
{
	size_t blocks = (size_t)grid.x * grid.y * grid.z, threads = (size_t)block.x * block.y * block.z;

	HU_TRY(next_launch(kernel));
	size_t most = hu_shim_most(SHARED);
	unsigned together = hu_shim_together(1);
	if (!threads || threads * together > MOST || !blocks || grid.y > 65535 || grid.z > 65535 ||
		grid.x % together || shared_bytes > most)
		return hu_fail(HU_EDEVICE,
			"kernel %s: no device runs %ux%ux%u blocks of %ux%ux%u threads with %zu bytes", kernel, grid.x,
			grid.y, grid.z, block.x, block.y, block.z, shared_bytes);
	if (!own) {
		own = (engine *)calloc(1, sizeof *own);
		if (!own)
			return hu_fail(HU_ENOMEM, "kernel %s: there is no memory to run it on the host", kernel);
		memset(own->shared, 0xff, sizeof own->shared);
	}
	engine *e = own;
	e->kernel = kernel;
	e->body = body;
	e->arg = arg;
	e->n = (unsigned)threads * together;
	e->each = (unsigned)threads;
	e->together = together;
	e->dynamic = shared_bytes;
	e->most = most;
	e->random = next_random();
	*e->reason = 0;
	e->no_memory = 0;
	const hu_shim_place *before = hu_shim_here;
	for (unsigned k = 0; k < e->n; k++) {
		unsigned i = k % e->each;
		e->threads[k].place.thread = dim3(i % block.x, i / block.x % block.y, i / block.x / block.y);
		e->threads[k].place.threads = block;
		e->threads[k].place.blocks = grid;
	}
	blocks /= together;
	unsigned across = grid.x / together;
	/* Visits every block, or pair, once, from a random start in steps coprime to their number. */
	size_t at = draw(e, (uint32_t)(blocks < 0xffffffffu ? blocks : 0xffffffffu)),
	       step = blocks / 2 + 1 + draw(e, (uint32_t)(blocks < 1000 ? blocks : 1000));
	while (common_divisor(step, blocks) != 1)
		step++;
	for (size_t k = 0; k < blocks && !*e->reason; k++, at = (at + step) % blocks) {
		dim3 b((unsigned)(at % across), (unsigned)(at / across % grid.y), (unsigned)(at / across / grid.y));
		for (unsigned i = 0; i < e->n; i++)
			e->threads[i].place.block = dim3(b.x * together + i / e->each, b.y, b.z);
		run_block(e);
	}
	hu_shim_here = before;
	if (!*e->reason)
		return HU_OK;
	forget(e);
	return hu_fail(e->no_memory ? HU_ENOMEM : HU_EDEVICE, "kernel %s: %s", kernel, e->reason);
}

void
hu_shim_barrier(const char *file, int line, int pair)
{
	thread *t = &own->threads[own->running];

	if (own->together > 1 && !pair)
		stop(own, "a block of a pair waits at a barrier of its own (%s:%d), which the shim does not have",
			base(file), line);
	hu_shim_copies_at_barrier(t->copies);
	t->state = AT_BARRIER;
	t->file = file;
	t->line = line;
	to_main(own);
}

const unsigned char *
hu_shim_meet(const void *mine, size_t size, const char *what, const char *file, int line)
{
	engine *e = own;
	unsigned i = e->running, warp = i / 32;
	thread *t = &e->threads[i];
	/* Two buffers alternate, so that nobody fills the second one again before everybody has left this one. */
	unsigned char *all = e->piece[warp][t->meets++ % 2];

	if (e->n % 32 || size > HU_SHIM_PIECE)
		stop(e, "a %s (%s:%d) in a block of %u threads, which is not whole warps", what, base(file), line,
			e->n);
	memcpy(all + i % 32 * HU_SHIM_PIECE, mine, size);
	t->state = AT_WARP;
	t->what = what;
	t->file = file;
	t->line = line;
	to_main(e);
	return all;
}

unsigned
hu_shim_lane(void)
{
	return own->running % 32;
}

} /* extern "C" */
