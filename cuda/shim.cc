/* SPDX-License-Identifier: Apache-2.0
   Runs kernels on the host (shim.h). One thread of a block is one coroutine on a stack of
   its own; a scheduler on the caller's stack resumes one that can run, drawn at random,
   until all have ended. Blocks follow one another, in an order drawn too. */
#include "cuda/launch.h"
#include "cuda/side.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef HU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) || defined(HU_SHIM_UCONTEXT)
#define HU_UCONTEXT 1
#include <ucontext.h>
#endif

__thread const hu_shim_place *hu_shim_here;

namespace {

enum {
	STACK = 256 << 10,   /* virtual: a stack's pages exist once they are touched */
	MOST = 1024,         /* threads of a block, as on every device */
	SHARED = 48 << 10,   /* what every device gives without being asked */
	LARGE = 227 << 10,   /* and where it is asked */
	ZONE = 64,           /* kept free behind each shared array */
	SITES = 32
};

enum state { IDLE, READY, AT_BARRIER, AT_WARP, DONE };

struct fiber {
	unsigned char *stack;
#ifdef HU_UCONTEXT
	ucontext_t context;
#else
	void *sp;
#endif
	void *fake;   /* AddressSanitizer's */
	int live;     /* has a frame on its stack */
};

struct thread {
	hu_shim_place place;
	enum state state;
	int fiber;
	const char *what, *file;   /* where it waits */
	int line;
	unsigned meets;            /* warp operations so far */
};

struct site { const void *key; size_t at, bytes; const char *name; };

struct engine {
	fiber fibers[MOST];
	int idle[MOST], nidle, nfibers;
	thread threads[MOST];
	unsigned n, ready[MOST], nready, done, at_barrier, in_warp[MOST / 32], running;
	unsigned char piece[MOST / 32][2][32 * HU_SHIM_PIECE];
	alignas(64) unsigned char shared[LARGE + ZONE * (SITES + 1)];
	site sites[SITES];
	size_t used, dynamic, most;
	int nsites;
	void (*body)(void *);
	void *arg;
	const char *kernel;
	char reason[256];
	uint64_t random;
#ifdef HU_UCONTEXT
	ucontext_t main;
#else
	void *main_sp;
#endif
	void *main_fake;
	const void *main_bottom;
	size_t main_size;
};

/* One a host thread: kept between launches, for its stacks. */
__thread engine *own;
uint64_t seed = 1, launches, luck = 1;
__thread size_t most_shared = SHARED;
long fail_after = -1;
int lost;

uint32_t
draw(engine *e, uint32_t below)
{
	e->random = e->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((e->random >> 32) * below >> 32);
}

#ifndef HU_UCONTEXT
/* Saves the callee's registers on the stack, and the stack pointer in *FROM; continues at TO. */
extern "C" void hu_shim_switch(void **from, void *to);
__asm__(".text\n.globl hu_shim_switch\n.hidden hu_shim_switch\n.type hu_shim_switch,@function\nhu_shim_switch:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size hu_shim_switch,.-hu_shim_switch\n");
#endif

void
to_main(engine *e)
{
	fiber *f = &e->fibers[e->threads[e->running].fiber];

#ifdef HU_ASAN
	__sanitizer_start_switch_fiber(&f->fake, e->main_bottom, e->main_size);
#endif
#ifdef HU_UCONTEXT
	swapcontext(&f->context, &e->main);
#else
	hu_shim_switch(&f->sp, e->main_sp);
#endif
#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(f->fake, &e->main_bottom, &e->main_size);
#endif
}

/* What a coroutine does: threads, one after another. */
void
live(void)
{
	engine *e = own;

#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(NULL, &e->main_bottom, &e->main_size);
#endif
	for (;;) {
		e->body(e->arg);
		e->threads[e->running].state = DONE;
		to_main(e);
	}
}

void
to_fiber(engine *e, fiber *f)
{
#ifdef HU_ASAN
	__sanitizer_start_switch_fiber(&e->main_fake, f->stack, STACK);
#endif
#ifdef HU_UCONTEXT
	if (!f->live) {
		getcontext(&f->context);
		f->context.uc_stack.ss_sp = f->stack;
		f->context.uc_stack.ss_size = STACK;
		f->context.uc_link = NULL;
		makecontext(&f->context, live, 0);
	}
	f->live = 1;
	swapcontext(&e->main, &f->context);
#else
	if (!f->live) {
		/* tops at different places of their pages, else all of them share a few lines of the cache */
		void **top = (void **)(f->stack + STACK - (size_t)(f - e->fibers) % 61 * 192);
		*--top = NULL;          /* the return address of live(), which never returns; keeps 16-byte alignment */
		*--top = (void *)live;
		for (int i = 0; i < 6; i++)
			*--top = NULL;
		f->sp = top;
	}
	f->live = 1;
	hu_shim_switch(&e->main_sp, f->sp);
#endif
#ifdef HU_ASAN
	__sanitizer_finish_switch_fiber(e->main_fake, NULL, NULL);
#endif
}

/* Ends the launch from within a coroutine, which never runs again. */
__attribute__((noreturn, format(printf, 2, 3))) void
stop(engine *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->reason, sizeof e->reason, fmt, ap);
	va_end(ap);
	for (;;)
		to_main(e);
}

void
poison(engine *e, size_t from, size_t bytes, int on)
{
#ifdef HU_ASAN
	if (on)
		__asan_poison_memory_region(e->shared + from, bytes);
	else
		__asan_unpoison_memory_region(e->shared + from, bytes);
#else
	(void)e, (void)from, (void)bytes, (void)on;
#endif
}

/* Room for BYTES, with a zone behind that nobody may touch. */
size_t
room(engine *e, size_t bytes)
{
	size_t at = e->used;

	poison(e, at, bytes, 0);
	e->used = at + (bytes + ZONE - 1) / ZONE * ZONE + ZONE;
	return at;
}

/* Without AddressSanitizer: whether some array's zone was written, and whose. */
const char *
overrun(engine *e)
{
#ifndef HU_ASAN
	for (int i = 0; i < e->nsites; i++)
		for (size_t j = e->sites[i].at + e->sites[i].bytes; j % ZONE || j < e->sites[i].at + e->sites[i].bytes + ZONE; j++)
			if (e->shared[j] != 0xff)
				return e->sites[i].name;
#else
	(void)e;
#endif
	return NULL;
}

fiber *
take_fiber(engine *e, int *number)
{
	if (!e->nidle) {
		fiber *f = &e->fibers[e->nfibers];
		if (!f->stack) {
			unsigned char *p = (unsigned char *)mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			if (p == MAP_FAILED)
				return NULL;
			mprotect(p, 4096, PROT_NONE);
			f->stack = p + 4096;
		}
		e->idle[e->nidle++] = e->nfibers++;
	}
	*number = e->idle[--e->nidle];
	return &e->fibers[*number];
}

/* After a launch that stopped, suspended coroutines are forgotten. */
void
forget(engine *e)
{
	for (int i = 0; i < e->nfibers; i++) {
		e->fibers[i].live = 0;
#ifdef HU_ASAN
		__asan_unpoison_memory_region(e->fibers[i].stack, STACK);
#endif
	}
	e->nidle = 0;
	for (int i = e->nfibers - 1; i >= 0; i--)
		e->idle[e->nidle++] = i;
}

const char *
base(const char *path)
{
	const char *s = strrchr(path, '/');

	return s ? s + 1 : path;
}

/* No thread can run and not all have ended. */
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
			snprintf(e->reason, sizeof e->reason, "%u of the 32 lanes of a warp wait at a %s (%s:%d) for the others", e->in_warp[w], waits->what, base(waits->file), waits->line);
			return;
		}
	for (unsigned i = 0; i < e->n; i++)
		if (e->threads[i].state == AT_BARRIER)
			waits = &e->threads[i];
	snprintf(e->reason, sizeof e->reason, "%u of %u threads wait at a barrier (%s:%d) which the others never reach", e->at_barrier, e->n, waits ? base(waits->file) : "?", waits ? waits->line : 0);
}

void
make_ready(engine *e, unsigned i)
{
	e->threads[i].state = READY;
	e->ready[e->nready++] = i;
}

bool
elsewhere(const thread *a, const thread *b)
{
	return a->line != b->line || (a->file != b->file && strcmp(a->file, b->file));
}

/* The thread that ran has stopped at something: who may go on? */
void
settle(engine *e, unsigned i)
{
	thread *t = &e->threads[i];

	if (t->state == DONE) {
		e->done++;
		e->idle[e->nidle++] = t->fiber;
		t->fiber = -1;
	} else if (t->state == AT_BARRIER && ++e->at_barrier == e->n) {
		for (unsigned j = 1; j < e->n; j++)
			if (elsewhere(&e->threads[j], &e->threads[0])) {
				snprintf(e->reason, sizeof e->reason, "threads of a block wait at different barriers: %s:%d and %s:%d", base(e->threads[0].file), e->threads[0].line, base(e->threads[j].file), e->threads[j].line);
				return;
			}
		e->at_barrier = 0;
		for (unsigned j = 0; j < e->n; j++)
			make_ready(e, j);
	} else if (t->state == AT_WARP && ++e->in_warp[i / 32] == 32) {
		unsigned first = i / 32 * 32;
		for (unsigned j = first; j < first + 32; j++)
			if (e->threads[j].what != t->what || elsewhere(&e->threads[j], t)) {
				snprintf(e->reason, sizeof e->reason, "lanes of a warp meet at a %s (%s:%d) and a %s (%s:%d)", t->what, base(t->file), t->line, e->threads[j].what, base(e->threads[j].file), e->threads[j].line);
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
	memset(e->shared, 0xff, e->used > sizeof e->shared - ZONE ? sizeof e->shared : e->used + ZONE);
	e->used = e->nready = e->done = e->at_barrier = 0;
	e->nsites = 0;
	memset(e->in_warp, 0, sizeof e->in_warp);
	poison(e, 0, sizeof e->shared, 1);
	if (e->dynamic) {
		e->sites[e->nsites++] = site{ NULL, room(e, e->dynamic), e->dynamic, "of the launch" };
	}
	/* Of half of the blocks one warp after another goes as far as it can, from any one on: what runs ahead of the others shows. */
	int deep = draw(e, 2) != 0;
	unsigned from = deep ? draw(e, (e->n + 31) / 32) * 32 : 0;
	for (unsigned k = 0; k < e->n; k++) {
		unsigned i = (k + from) % e->n;
		e->threads[i].fiber = -1;
		e->threads[i].meets = 0;
		make_ready(e, i);
	}
	while (e->nready && !*e->reason) {
		unsigned at = deep ? e->nready - 1 : draw(e, e->nready), i = e->ready[at];
		thread *t = &e->threads[i];
		e->ready[at] = e->ready[--e->nready];
		fiber *f = t->fiber < 0 ? take_fiber(e, &t->fiber) : &e->fibers[t->fiber];
		if (!f) {
			snprintf(e->reason, sizeof e->reason, "no memory for the coroutines of %u threads", e->n);
			break;
		}
		e->running = i;
		hu_shim_here = &t->place;
		to_fiber(e, f);
		if (!*e->reason)
			settle(e, i);
	}
	poison(e, 0, sizeof e->shared, 0);
	if (!*e->reason && e->done != e->n)
		explain(e);
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

	if (fail_after >= 0 && fail_after-- == 0) {
		fail_after = 0; /* lost is lost */
		lost = 1;
	}
	HU_TRY(hu_shim_present(kernel));
	size_t most = most_shared;
	most_shared = SHARED;
	if (!threads || threads > MOST || !blocks || grid.y > 65535 || grid.z > 65535 || shared_bytes > most)
		return hu_fail(HU_EDEVICE, "kernel %s: no device runs %ux%ux%u blocks of %ux%ux%u threads with %zu bytes", kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes);
	if (!own) {
		own = (engine *)calloc(1, sizeof *own);
		if (!own)
			return hu_fail(HU_ENOMEM, "kernel %s: no memory to run it on the host", kernel);
		memset(own->shared, 0xff, sizeof own->shared);
	}
	engine *e = own;
	e->kernel = kernel;
	e->body = body;
	e->arg = arg;
	e->n = (unsigned)threads;
	e->dynamic = shared_bytes;
	e->most = most;
	e->random = (seed << 20) + ++launches;
	*e->reason = 0;
	const hu_shim_place *before = hu_shim_here;
	for (unsigned i = 0; i < threads; i++) {
		e->threads[i].place.thread = dim3(i % block.x, i / block.x % block.y, i / block.x / block.y);
		e->threads[i].place.threads = block;
		e->threads[i].place.blocks = grid;
	}
	/* Every block once: steps coprime to their number, from a random start. */
	size_t at = draw(e, (uint32_t)(blocks < 0xffffffffu ? blocks : 0xffffffffu)), step = blocks / 2 + 1 + draw(e, (uint32_t)(blocks < 1000 ? blocks : 1000));
	while (common_divisor(step, blocks) != 1)
		step++;
	for (size_t k = 0; k < blocks && !*e->reason; k++, at = (at + step) % blocks) {
		dim3 b((unsigned)(at % grid.x), (unsigned)(at / grid.x % grid.y), (unsigned)(at / grid.x / grid.y));
		for (unsigned i = 0; i < threads; i++)
			e->threads[i].place.block = b;
		run_block(e);
	}
	hu_shim_here = before;
	if (!*e->reason)
		return HU_OK;
	forget(e);
	return hu_fail(HU_EDEVICE, "kernel %s: %s", kernel, e->reason);
}

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

void *
hu_shim_shared(const void *key, size_t bytes, const char *name)
{
	engine *e = own;

	for (int i = 0; i < e->nsites; i++)
		if (e->sites[i].key == key)
			return e->shared + e->sites[i].at;
	size_t sum = bytes;
	for (int i = 0; i < e->nsites; i++)
		sum += e->sites[i].bytes;
	if (sum > e->most || e->nsites == SITES)
		stop(e, "shared memory '%s' needs %zu bytes in all, and a block has %d", name, sum, (int)e->most);
	e->sites[e->nsites] = site{ key, room(e, bytes), bytes, name };
	return e->shared + e->sites[e->nsites++].at;
}

void *
hu_shim_dynamic(void)
{
	return own->shared; /* the first site where there is one */
}

void
hu_shim_barrier(const char *file, int line)
{
	thread *t = &own->threads[own->running];

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
	/* Two buffers in turn: nobody fills the second one again before everybody has left this one. */
	unsigned char *all = e->piece[warp][t->meets++ % 2];

	if (e->n % 32 || size > HU_SHIM_PIECE)
		stop(e, "a %s (%s:%d) in a block of %u threads, which is not whole warps", what, base(file), line, e->n);
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

uint32_t
hu_shim_draw(uint32_t n)
{
	luck = luck * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((luck >> 32) * n >> 32);
}

int
hu_shim_built(void)
{
	return 1;
}

void
hu_shim_seed(uint64_t s)
{
	seed = s;
	luck = s;
	launches = 0;
}

void
hu_shim_lose_after(long n)
{
	fail_after = n;
	lost = 0;
}

hu_status
hu_shim_present(const char *what)
{
	return lost ? hu_fail(HU_EDEVICE, "%s: the device was lost (simulated)", what) : HU_OK;
}

/* Once: later machines of the process keep what tests set. */
void
hu_shim_environment(void)
{
	static int done;
	const char *s = getenv("HALFULP_SHIM_SEED"), *l = getenv("HALFULP_SHIM_LOSE_AFTER"), *m = getenv("HALFULP_SHIM_MEMORY");

	if (done++)
		return;
	if (s)
		hu_shim_seed(strtoull(s, NULL, 10));
	if (l)
		hu_shim_lose_after(strtol(l, NULL, 10));
	if (m)
		hu_shim_limit(strtoull(m, NULL, 10));
}

} /* extern "C" */
