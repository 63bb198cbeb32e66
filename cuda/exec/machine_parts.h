/* SPDX-License-Identifier: Apache-2.0
   The executor's own parts, which the rest of the program does not see: its memory (allocation.c), a step's stages
   (stages.c, launch_stage.c), input (feed.c), what a step leaves for the host (readback.c), traces (gather.c) and times
   (profile.c). */
#ifndef HU_CUDA_MACHINE_PARTS_H
#define HU_CUDA_MACHINE_PARTS_H

#include "cuda/exec/machine.h"
#include "cuda/fuse/plan.h"

enum { HU_GRAPHS = 4, HU_FEEDS = 8 };

/* State of the low-precision weight copies: stale; current in the tensors; current in the shadow buffers, where the
   last update wrote them. */
enum { HU_AHEAD_NONE, HU_AHEAD_HERE, HU_AHEAD_MADE };

/* An input tensor. A batch is sent from the host buffer to the waiting buffer on the device, from which the next step
   copies it. */
typedef struct hu_feed { int tensor, fresh; void *waiting, *host; void *arrived, *taken; } hu_feed;

/* What the host is going to read after each step. */
typedef struct hu_look {
	int *value, *counted, *surveyed, nvalue, ncounted, nsurveyed;
	uint32_t *at;                   /* of each value, in the block */
	int *update_of;                 /* of each call: which of the updates it is; -1: none */
	size_t bytes, tally_at, update_at, census_at;
	unsigned char *block[2], *host[2]; /* a pulse, the values, the tallies, the updates' counts, the censuses: of
					      steps in turn, by the pointers' position */
	void *event[2];
	int last, made;                 /* the last step's block; how many steps' blocks hold, up to 2 */
	int back;                       /* reads are of the step before the last one */
} hu_look;

/* In which order stages are launched, and what is prepared for the next step. */
typedef struct hu_schedule {
	hu_plan plan[2];            /* [1] is the one with fused passes */
	int fuse, use_graphs;
	void **shadow; /* of each tensor: the buffer where updates put its next low-precision copy; NULL where none does
			*/
	int ahead;                  /* one of HU_AHEAD_… */
	int stepped;                /* a step awaits its commit */
	int turn; /* bit 0: which of the two positions a commit gives the pointers; bit 1: whether shadows are exchanged
		   */
	long steps;
	void *graph[HU_GRAPHS];     /* of each turn */
} hu_schedule;

/* Two host buffers, each as large as the largest tensor, for traces, and the events that say when each has arrived. */
typedef struct hu_gathering { void *landing[2], *landed[2]; } hu_gathering;

/* What each stage launched and how long it took. */
typedef struct hu_profile {
	double *seconds;            /* of each call, and of the look; NULL: nothing is timed */
	void **timer;               /* two of each stage and of the look */
	int timers, timed;          /* how many there are; how many stages were launched since the step began */
	int *timed_stage;
	long *launched[2];          /* of each stage of each plan, and then of the look */
} hu_profile;

struct hu_machine {
	const hu_side *side;
	const hu_program *p;
	void *queue, *feed_queue;
	hu_slot *t;
	const hu_kernel **kernel;   /* of each call */
	uint64_t *name_hash;
	unsigned char *memory;      /* of all tensors, the scratch space and the pulse */
	size_t bytes;               /* of it */
	unsigned char *scratch;
	int arch, gemm;
	char (*ran)[HU_RAN];        /* of each call; empty of what is no product */
	hu_pulse *pulse;
	void *stage;                /* host: the largest tensor's codes */
	size_t stage_bytes;
	hu_pulse *beat;             /* host: the pulse to be sent */
	void *beaten;               /* event: it was sent */
	hu_schedule schedule;
	hu_feed feed[HU_FEEDS];
	int nfeed;
	hu_look look;
	hu_gathering gather;
	hu_profile profile;
};

/* allocation.c: gives every tensor its place in one allocation. HU_ENOMEM says what would fit. */
hu_status hu_machine_allocate(hu_machine *m);
void hu_machine_release_memory(hu_machine *m);

/* out_of_memory.c: HU_ENOMEM with a sentence that says that NEED bytes were asked for, how many are free, and which
   batch would fit. */
hu_status hu_machine_out_of_memory(const hu_machine *m, size_t need);
/* M has its memory, or no longer: that sentence counts every program that has its own. */
void hu_machine_memory_taken(const hu_machine *m);
void hu_machine_memory_left(const hu_machine *m);

/* Every tensor starts at a multiple of 256 bytes. */
static inline size_t
hu_machine_padded(size_t n)
{
	return (n + 255) / 256 * 256;
}

static inline size_t
hu_slot_bytes(const hu_slot *t)
{
	return t->n * hu_slot_size(t->format);
}

/* launch_stage.c: launches stage STAGE of PLAN. With DRY it launches nothing and only says in *peak how many bytes of
   scratch the stage takes. */
hu_status hu_machine_launch(hu_machine *m, const hu_plan *plan, int stage, int dry, size_t *peak);
/* stages.c: puts a whole step on the queue. */
hu_status hu_machine_run(hu_machine *m);
/* graph.c: the weights' low-precision copies are stale from now on; the recorded graphs no longer hold. */
void hu_machine_forget_ahead(hu_machine *m);
void hu_machine_drop_graphs(hu_machine *m);
/* gather.c */
void hu_machine_gather_close(hu_machine *m);

/* profile.c. Called before and after stage STAGE of the plan in use (the look is the stage after the last): they note
   what was launched and, where it is wanted, the time. */
hu_status hu_machine_watch_begin(hu_machine *m, long *before);
hu_status hu_machine_watch_end(hu_machine *m, int stage, long before);
/* After a step: adds up the times. */
hu_status hu_machine_profile_read(hu_machine *m);
void hu_machine_profile_close(hu_machine *m);

/* feed.c. Find: which tensors are inputs, before allocation.c gives them their waiting buffers. */
void hu_machine_feed_find(hu_machine *m);
hu_status hu_machine_feed_open(hu_machine *m);
void hu_machine_feed_close(hu_machine *m);
/* 1 where TENSOR is an input, which is then on its way; *st says how that went. */
int hu_machine_feed(hu_machine *m, int tensor, const void *values, hu_status *st);
/* On the queue: what was fed goes to its tensors. */
hu_status hu_machine_take(hu_machine *m);

/* readback.c: recorded at a step's start and end, and sent after it. */
hu_status hu_machine_look_begin(hu_machine *m);
hu_status hu_machine_look(hu_machine *m);
/* Where the update CALL counts; NULL: nowhere. */
hu_update_tally *hu_machine_update_counts(const hu_machine *m, int call);
hu_status hu_machine_look_send(hu_machine *m);
void hu_machine_look_close(hu_machine *m);
/* 1 where the last step's value of TENSOR was looked at: *AT points to its codes. */
int hu_machine_digest_seen(hu_machine *m, uint64_t *digest, hu_status *st);
int hu_machine_seen(hu_machine *m, int tensor, const void **at, hu_status *st);
#endif
