/* SPDX-License-Identifier: Apache-2.0
   The interface between the executor (machine.c) and what runs the kernels: the GPU through the CUDA runtime, or the
   host through the launch shim, for tests and machines without a GPU. Everything on a queue happens in order and may
   still be running until the caller waits. Calls between graph_begin and graph_end are recorded with the arguments they
   have then, and happen whenever the graph is launched. */
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
	hu_status (*graph_end)(void *queue, void **graph);   /* the caller releases *graph */
	hu_status (*graph_launch)(void *queue, void *graph);
	void (*graph_release)(void *graph);
	hu_status (*event_open)(void **event);
	void (*event_close)(void *event);
	hu_status (*event_record)(void *queue, void *event);
	hu_status (*event_await)(void *queue, void *event);  /* the queue continues after the event */
	hu_status (*event_wait)(void *event); /* the host waits; returns at once if the event was never recorded */
	hu_status (*event_done)(void *event, int *done); /* does not wait: *done is 1 where that would return at once */
	long (*launches)(void);                              /* kernels launched or recorded so far */
	hu_status (*timer_open)(void **event);               /* an event that records its time; not for graphs */
	hu_status (*timer_between)(
		void *from, void *to, double *seconds); /* between two such events of one queue that have happened */
} hu_queue_calls;

/* A part of what a step sends to the host (cuda/exec/look.cu): bytes from from go to offset at of the block. */
typedef struct hu_look_part { const void *from; uint32_t bytes, at; } hu_look_part;

typedef struct hu_look_calls {
	hu_status (*pack)(void *queue, void *block, const hu_look_part *part, int n);
	/* Adds each of n tensors' tally to tally[k], in one launch. */
	hu_status (*tally)(void *queue, const hu_slot *const *t, int n, hu_tally *tally);
	/* Adds the digest terms of n tensors to *sum. */
	hu_status (*digest)(void *queue, const hu_slot *const *t, const uint64_t *name_hash, int n, uint64_t *sum);
	/* Adds each of n tensors' census to census[k], in one launch: its exponents by bin and, if before[k] is not
	   NULL, what a cast of that tensor, multiplied by scale[k] unless NULL, lost. */
	hu_status (*census)(void *queue, const hu_slot *const *t, const hu_slot *const *before,
		const hu_slot *const *scale, int n, hu_census *census);
} hu_look_calls;

typedef struct hu_side {
	const char *name, *summary;
	/* Opens one queue for a machine. HU_EDEVICE says why there is no device. */
	hu_status (*open)(void **queue);
	void (*close)(void *queue);
	/* Allocates device memory, whose contents are undefined; HU_ENOMEM if it does not fit. NULL may be released. */
	hu_status (*alloc)(void **p, size_t bytes);
	void (*release)(void *p);
	/* Allocates pinned host memory, from which transfers are fastest. */
	hu_status (*host_alloc)(void **p, size_t bytes);
	void (*host_release)(void *p);
	hu_status (*clear)(void *queue, void *p, size_t bytes);
	hu_status (*upload)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*download)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*copy)(void *queue, void *to, const void *from, size_t bytes);
	hu_status (*wait)(void *queue);
	hu_status (*memory)(size_t *left, size_t *total);
	/* The architecture of the matrix units (hu_tc_arch; HU_TC_ARCHS: an unknown one); -1: any, computed by its
	   model. */
	int (*arch)(void);
	const hu_kernel *kernels;   /* ends with a row without a name */
	/* Adds the digest terms of one tensor to *sum. */
	hu_status (*digest)(void *queue, const hu_slot *t, uint64_t name_hash, uint64_t *sum);
	/* Runs test number which of selftest.cu on device memory. */
	hu_status (*selftest)(int which, void *out, const void *in, size_t n);
	const hu_fusion *fusions;   /* ends with a row without a name */
	const hu_queue_calls *queues;
	const hu_look_calls *look;
	/* The most bytes that were allocated at once since the last call with again set. */
	size_t (*peak)(int again);
	int host;                   /* 1: the device's memory is the host's */
} hu_side;

/* Present if configure found what they need (HU_HAVE_CUDA, HU_HAVE_SHIM). */
extern const hu_side hu_gpu_side, hu_shim_side;

/* The following are for the shim alone, for tests. Sets the seed that orders threads and blocks from here on. */
void hu_shim_seed(uint64_t seed);
/* The device has n multiprocessors; 0: 132. */
void hu_shim_processors(uint32_t n);
/* The device is lost at launch n from now (0: the next) and stays so, for launches and transfers; -1 brings it back. */
void hu_shim_lose_after(long n);
/* HU_EDEVICE if the device is lost; what names the attempt in the message. */
hu_status hu_shim_present(const char *what);
/* Sets these from HALFULP_SHIM_SEED, _LOSE_AFTER and _MEMORY when a process first opens the shim. */
void hu_shim_environment(void);
/* Limits the device's memory, against which allocations count, to bytes; 0: no limit. */
void hu_shim_limit(size_t bytes);
/* Bytes allocated now; 0 after everything was released. */
size_t hu_shim_allocated(void);

/* HU_EDEVICE while this thread records a queue; what names the attempt in the message. */
hu_status hu_shim_unrecorded(const char *what);

/* The shim's queues (shim_queue.cc), as members of hu_side and hu_queue_calls. */
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
hu_status hu_shim_event_done(void *event, int *done);
long hu_shim_launches(void);
/* Time by the queue's own clock, which stops while the queue is idle. */
hu_status hu_shim_timer_open(void **event);
hu_status hu_shim_timer_between(void *from, void *to, double *seconds);

/* The tests of selftest.cu. From HU_SELF_FAULTS on they are wrong kernels, which the shim must catch. */
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
	HU_SELF_COPY_LEFT,
	HU_SELF_BULK_READ,
	HU_SELF_BULK_LEFT,
	HU_SELF_MBARRIER,
	HU_SELF_MBARRIER_ENDED
};

#ifdef __cplusplus
}
#endif
#endif
