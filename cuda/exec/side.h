/* SPDX-License-Identifier: Apache-2.0
   What the kernels' two sides offer to the executor (machine.c): the GPU through the CUDA
   runtime, and the same kernels on the host through the launch shim, for tests and for
   machines without a GPU. Everything on a queue happens in order; what a caller does not
   wait for may still be under way. Calls between graph_begin and graph_end are recorded, with
   the arguments they have then, and happen whenever the graph is launched. */
#ifndef HU_CUDA_SIDE_H
#define HU_CUDA_SIDE_H

#include "cuda/fuse/fuse.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "lib/number/count.h"

/* Graphs, and events that order queues (cuda/device/queue.cu). */
typedef struct hu_queue_calls {
	hu_status (*graph_begin)(void *queue);
	hu_status (*graph_end)(void *queue, void **graph);   /* *GRAPH is the caller's, to release */
	hu_status (*graph_launch)(void *queue, void *graph);
	void (*graph_release)(void *graph);
	hu_status (*event_open)(void **event);
	void (*event_close)(void *event);
	hu_status (*event_record)(void *queue, void *event);
	hu_status (*event_await)(void *queue, void *event);  /* the queue goes on once the event has happened */
	hu_status (*event_wait)(void *event);                /* the host does; at once where it was never recorded */
	long (*launches)(void);                              /* kernels launched or recorded so far */
	hu_status (*timer_open)(void **event);               /* an event that keeps when it happened; not in graphs */
	hu_status (*timer_between)(
		void *from, void *to, double *seconds); /* of two such events of one queue that have happened */
} hu_queue_calls;

/* Part of what a step leaves for the host (cuda/exec/look.cu): BYTES from FROM to a place AT in the block. */
typedef struct hu_look_part { const void *from; uint32_t bytes, at; } hu_look_part;

typedef struct hu_look_calls {
	hu_status (*pack)(void *queue, void *block, const hu_look_part *part, int n);
	/* Adds to TALLY[k] those of tensor k, in one launch. */
	hu_status (*tally)(void *queue, const hu_slot *const *t, int n, hu_tally *tally);
	/* Adds the digest terms of N tensors to *SUM. */
	hu_status (*digest)(void *queue, const hu_slot *const *t, const uint64_t *name_hash, int n, uint64_t *sum);
	/* Adds to CENSUS[k] those of tensor k, in one launch: exponents by bin; and where BEFORE[k] is not NULL what a
	   cast of that, multiplied by SCALE[k] where that is not NULL, lost. */
	hu_status (*census)(void *queue, const hu_slot *const *t, const hu_slot *const *before,
		const hu_slot *const *scale, int n, hu_census *census);
} hu_look_calls;

typedef struct hu_side {
	const char *name, *summary;
	/* HU_EDEVICE says why there is no device. One queue a machine. */
	hu_status (*open)(void **queue);
	void (*close)(void *queue);
	/* Device memory, unset; HU_ENOMEM where BYTES do not fit. NULL may be released. */
	hu_status (*alloc)(void **p, size_t bytes);
	void (*release)(void *p);
	/* Host memory that transfers run fastest from. */
	hu_status (*host_alloc)(void **p, size_t bytes);
	void (*host_release)(void *p);
	hu_status (*clear)(void *queue, void *p, size_t bytes);
	hu_status (*upload)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*download)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*copy)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*wait)(void *queue);
	hu_status (*memory)(size_t *left, size_t *total);
	/* The matrix units' architecture (hu_tc_arch; HU_TC_ARCHS: none that is known); -1: any, by its model. */
	int (*arch)(void);
	const hu_kernel *kernels;   /* ends with a row without a name */
	/* Adds the digest terms of N elements to *SUM. */
	hu_status (*digest)(void *queue, const hu_slot *t, uint64_t name_hash, uint64_t *sum);
	/* Test WHICH of selftest.cu, on device memory. */
	hu_status (*selftest)(int which, void *out, const void *in, size_t n);
	const hu_fusion *fusions;   /* ends with a row without a name */
	const hu_queue_calls *queues;
	const hu_look_calls *look;
	/* Most bytes that were allocated at once since the last call with AGAIN set. */
	size_t (*peak)(int again);
} hu_side;

/* Present where configure found what they need (HU_HAVE_CUDA, HU_HAVE_SHIM). */
extern const hu_side hu_gpu_side, hu_shim_side;

/* Of the shim alone, for tests. The order of threads and blocks from here on. */
void hu_shim_seed(uint64_t seed);
/* The device is lost at launch N from now (0: the next) and stays so, for launches and transfers; -1: it is there
   again. */
void hu_shim_lose_after(long n);
/* HU_EDEVICE where it is lost; WHAT was being done. */
hu_status hu_shim_present(const char *what);
/* The three by HALFULP_SHIM_SEED, _LOSE_AFTER and _MEMORY, when a process first opens the shim. */
void hu_shim_environment(void);
/* The device has BYTES of memory, of which what is allocated counts; 0: no limit. */
void hu_shim_limit(size_t bytes);
/* Bytes allocated now: 0 where everything was released. */
size_t hu_shim_allocated(void);

/* Its queues (shim_queue.cc), as the members of hu_side and hu_queue_calls. */
hu_status hu_shim_queue_open(void **queue);
void hu_shim_queue_close(void *queue);
hu_status hu_shim_queue_wait(void *queue);
hu_status hu_shim_queue_copy(void *queue, void *to, const void *from, size_t bytes);
hu_status hu_shim_queue_clear(void *queue, void *p, size_t bytes);
hu_status hu_shim_graph_begin(void *queue);
hu_status hu_shim_graph_end(void *queue, void **graph);
hu_status hu_shim_graph_launch(void *queue, void *graph);
void hu_shim_graph_release(void *graph);
hu_status hu_shim_event_open(void **event);
void hu_shim_event_close(void *event);
hu_status hu_shim_event_record(void *queue, void *event);
hu_status hu_shim_event_await(void *queue, void *event);
hu_status hu_shim_event_wait(void *event);
long hu_shim_launches(void);
/* By the queue's own clock, which stands still while it has nothing to do. */
hu_status hu_shim_timer_open(void **event);
hu_status hu_shim_timer_between(void *from, void *to, double *seconds);

/* What selftest.cu has; from SELF_FAULTS on, kernels that are wrong and must be caught. */
enum {
	HU_SELF_INDEX,
	HU_SELF_TREE,
	HU_SELF_VOTES,
	HU_SELF_ATOMICS,
	HU_SELF_DYNAMIC,
	HU_SELF_FAULTS,
	HU_SELF_BARRIER = HU_SELF_FAULTS,
	HU_SELF_TWO_BARRIERS,
	HU_SELF_LANES,
	HU_SELF_OVERRUN,
	HU_SELF_RACE,
	HU_SELF_UNSET,
	HU_SELF_TOO_MUCH,
	HU_SELF_COPY_READ,
	HU_SELF_COPY_LEFT
};

#ifdef __cplusplus
}
#endif
#endif
