/* SPDX-License-Identifier: Apache-2.0
   The launch shim's engine, one a host thread: the coroutines that are a block's threads, their shared memory and where
   each of them waits. shim.cc schedules them, shim_fiber.cc switches, shim_shared.cc has their memory, shim_state.cc
   what tests set. */
#ifndef HU_CUDA_SHIM_ENGINE_H
#define HU_CUDA_SHIM_ENGINE_H

#include "cuda/device/launch.h"
#include "cuda/exec/side.h"

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

namespace shim {

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
	hu_copies *copies;         /* to shared memory, under way; NULL: it makes none */
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
	int late;                  /* copies arrive as late as they may, in this block */
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


/* Kept between launches, for its stacks. */
extern __thread engine *own;

/* A number below BELOW, from the launch's seed. */
uint32_t draw(engine *e, uint32_t below);

/* shim_fiber.cc. A coroutine that is free, its place in *NUMBER; NULL: no memory. */
fiber *take_fiber(engine *e, int *number);
/* From the caller's stack to F, which runs the thread e->running, and back. */
void to_fiber(engine *e, fiber *f);
void to_main(engine *e);
/* After a launch that stopped, suspended coroutines are forgotten. */
void forget(engine *e);
/* Ends the launch from within a coroutine, which never runs again. */
__attribute__((noreturn, format(printf, 2, 3))) void stop(engine *e, const char *fmt, ...);

/* shim_shared.cc. A block's shared memory from its start, filled with 0xff and forbidden; then, after its end, allowed.
 */
void shared_begin(engine *e);
void shared_end(engine *e);
/* Without AddressSanitizer: whether some array's zone was written, and whose. */
const char *overrun(engine *e);

/* shim_state.cc. What the next launch has of both: a start for its random numbers, HU_EDEVICE where the device is lost
   now. */
uint64_t next_random(void);
hu_status next_launch(const char *kernel);

} /* namespace shim */

/* shim_copy.cc. At a barrier of the running thread, whose copies are C (NULL: it has none). */
extern "C" void hu_shim_copies_at_barrier(struct hu_copies *c);
#endif
