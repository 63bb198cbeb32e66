/* SPDX-License-Identifier: Apache-2.0
   The launch shim's engine, one per host thread: the coroutines that stand for a block's threads, their shared memory,
   and where each of them waits. shim.cc schedules them, shim_fiber.cc switches between them, shim_shared.cc has their
   memory, shim_state.cc has what tests set. */
#ifndef HU_CUDA_SHIM_ENGINE_H
#define HU_CUDA_SHIM_ENGINE_H

#include "cuda/base/launch.h"
#include "cuda/fuse/side.h"
#include "cuda/gemm/bulk_map.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__) || defined(HU_SHIM_UCONTEXT)
#define HU_UCONTEXT 1
#include <ucontext.h>
#endif

struct hu_copies;
struct hu_mbarrier;

namespace shim {

enum {
	STACK = 256 << 10,   /* virtual: a stack's pages exist once they are used */
	MOST = 1024,         /* threads of a block, as on every device */
	SHARED = 48 << 10,   /* shared memory that every device gives without being asked */
	LARGE = 227 << 10,   /* and that it gives if asked */
	ZONE = 64,           /* kept free behind each shared array */
	SITES = 32,
	HALF = (LARGE + ZONE * (SITES + 1) + 1023) / 1024 * 1024 /* a block's, and then that of the other of a pair */
};

enum state { IDLE, READY, AT_BARRIER, AT_WARP, AT_MBARRIER, DONE };

struct fiber {
	unsigned char *stack;
#ifdef HU_UCONTEXT
	ucontext_t context;
#else
	void *sp;
#endif
	void *fake;   /* AddressSanitizer's */
	int live;     /* it has a frame on its stack */
};

struct thread {
	hu_shim_place place;
	enum state state;
	int fiber;
	const char *what, *file;   /* where it waits */
	int line;
	unsigned meets;            /* warp operations so far */
	hu_copies *copies;         /* its pending copies to shared memory; NULL: it makes none */
	const hu_mbarrier *mbarrier;       /* for AT_MBARRIER */
};

/* A bulk copy under way. */
struct bulk { unsigned char *to; hu_bulk_map map; hu_mbarrier *mbarrier; uint32_t column, row, z; unsigned block; };

struct site { const void *key; size_t at, bytes; const char *name; };

struct engine {
	fiber fibers[MOST];
	int idle[MOST], nidle, nfibers;
	thread threads[MOST];
	unsigned n, ready[MOST], nready, done, at_barrier, in_warp[MOST / 32], running;
	unsigned char piece[MOST / 32][2][32 * HU_SHIM_PIECE];
	alignas(64) unsigned char shared[2][HALF];
	site sites[SITES];
	bulk under_way[64];
	unsigned nbulk;
	size_t used, dynamic, most;
	int nsites;
	void (*body)(void *);
	void *arg;
	const char *kernel;
	char reason[256];
	int no_memory;             /* the reason is that the host has no memory, which is no fault of the kernel */
	unsigned together, each;   /* how many blocks run side by side, and threads of each */
	unsigned ended[2];         /* threads of each that have ended */
	int late;                  /* in this block copies arrive as late as they may */
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


/* Kept between launches because of its stacks. */
extern __thread engine *own;

/* A random number below below, from the launch's seed. */
uint32_t draw(engine *e, uint32_t below);

/* Lets thread i run again. */
void make_ready(engine *e, unsigned i);

/* shim_bulk.cc: delivers one of the bulk copies that are under way, drawn at random. */
void bulk_arrive(engine *e);

/* shim_fiber.cc: returns a free coroutine, whose index goes to *number; NULL: out of memory. */
fiber *take_fiber(engine *e, int *number);
/* to_fiber switches from the caller's stack to f, which runs thread e->running; to_main switches back. */
void to_fiber(engine *e, fiber *f);
void to_main(engine *e);
/* Discards suspended coroutines after a launch that stopped. */
void forget(engine *e);
/* Ends the launch from within a coroutine, which never runs again. */
__attribute__((noreturn, format(printf, 2, 3))) void stop(engine *e, const char *fmt, ...);

/* shim_shared.cc: begin fills a block's shared memory with 0xff and poisons it for AddressSanitizer; end lifts the
   poison. */
void shared_begin(engine *e);
void shared_end(engine *e);
/* Without AddressSanitizer: returns the name of an array behind which something was written; NULL: none. */
const char *overrun(engine *e);

/* shim_state.cc: what the next launch needs, a start for its random numbers and HU_EDEVICE if the device is lost by
   now. */
uint64_t next_random(void);
hu_status next_launch(const char *kernel);

} /* namespace shim */

/* shim_copy.cc: called when the running thread reaches a barrier; c are its copies, NULL if it has none. */
extern "C" void hu_shim_copies_at_barrier(struct hu_copies *c);
#endif
