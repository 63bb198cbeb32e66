/* SPDX-License-Identifier: Apache-2.0
   The executor's parts, which the rest of the program does not see: its memory (allocation.c), a step's stages
   (stages.c, launch_stage.c), inputs (feed.c), what each step sends to the host (readback.c), traces (gather.c), times
   (profile.c), and a rank's part of a program (part.c, part_message.c). */
#ifndef HU_CUDA_MACHINE_PARTS_H
#define HU_CUDA_MACHINE_PARTS_H

#include "cuda/exec/machine.h"
#include "cuda/fuse/plan.h"
#include "lib/program/spread/spread.h"

enum { HU_GRAPHS = 4, HU_FEEDS = 8 };

/* State of the low-precision weight copies: stale; current in the tensors; current in the shadow buffers, where the
   last update wrote them. */
enum { HU_AHEAD_NONE, HU_AHEAD_HERE, HU_AHEAD_MADE };

/* An input tensor. A batch goes from the host buffer to the waiting buffer on the device, from which the next step
   copies it. arrived and taken are the events that say so. */
typedef struct hu_feed { int tensor, fresh; void *waiting, *host; void *arrived, *taken; } hu_feed;

/* What the host reads after each step. A block on the device collects it and is sent as a whole. */
typedef struct hu_look {
	int *value, *counted, *surveyed, nvalue, ncounted, nsurveyed;
	uint32_t *at;                   /* for each value, its offset in the block */
	int *update_of;                 /* for each call, its index among the updates; -1: it is none */
	size_t bytes, tally_at, update_at, census_at;
	/* a pulse, the values, tallies, updates' counts and censuses; two steps alternate by the pointers' position */
	unsigned char *block[2], *host[2];
	void *event[2];
	int last, made;                 /* block of the last step; how many blocks are filled, up to 2 */
	int back;                       /* reads refer to the step before the last */
} hu_look;

/* The order in which stages are launched, and what is prepared for the next step. */
typedef struct hu_schedule {
	hu_plan plan[2];            /* [1] is the one with fused passes */
	int fuse, use_graphs;
	/* for each tensor, the buffer for its next low-precision copy, which updates write; NULL: none */
	void **shadow;
	int ahead;                  /* one of HU_AHEAD_… */
	int stepped;                /* a step awaits its commit */
	/* bit 0: which of two positions the commits have left the pointers in; bit 1: whether shadows are exchanged */
	int turn;
	long steps;
	void *graph[HU_GRAPHS];     /* one for each turn */
} hu_schedule;

/* Two host buffers, each as large as the largest tensor, for traces, and the events that say when a transfer has
   ended. */
typedef struct hu_gathering { void *landing[2], *landed[2]; } hu_gathering;

/* What each stage launched and how long it took. The look, which collects what the host reads, counts as a last
   stage. */
typedef struct hu_profile {
	double *seconds;            /* for each call, and for the look; NULL: nothing is timed */
	void **timer;               /* two for each stage and for the look */
	int timers, timed;          /* number of timers; number of stages launched since the step began */
	void *mark[2];              /* timers at the ends of a stretch of steps; NULL: none was marked yet */
	int *timed_stage;
	long *launched[2];          /* for each stage of each plan, and then for the look */
} hu_profile;

/* Where a tensor lies on the host on its way to or from other ranks, in page-locked memory, and the event that says
   that it has left the device. NULL where it does not travel. */
typedef struct hu_message { void *host, *landed; } hu_message;

/* What a rank executes of a program. A stretch is a row of calls without a message or an action of another kind in
   between. */
typedef struct hu_part {
	const hu_spread *s;
	int *stretch;               /* for each call, its stretch; -1: this rank does not run it, or not by itself */
	int stretches;
	int *from[2];               /* for each plan and stretch, and then for the end, the number of its first stage */
	hu_message *message;        /* for each tensor */
	hu_call check;              /* the finite check on what it judges; check.op is NULL where there is none */
	hu_message found;           /* what it found */
	void *added;                /* event: the last sum of a library is there */
	int adding;                 /* 1: a library's sums were begun, and nobody has waited for them */
	hu_tally *tally;            /* on the device: one for each tensor that it searches */
} hu_part;

struct hu_machine {
	const hu_side *side;
	const hu_program *p;
	hu_part *part;              /* NULL: all of p is executed */
	void *queue, *feed_queue;
	hu_slot *t;
	const hu_kernel **kernel;   /* for each call */
	uint64_t *name_hash;
	unsigned char *memory;      /* all tensors, the scratch space and the pulse */
	size_t bytes;               /* of it */
	unsigned char *scratch;
	int arch, gemm;
	char (*ran)[HU_RAN];        /* for each call; empty if it is no product */
	hu_pulse *pulse;
	void *stage;                /* on the host: the largest tensor's codes */
	size_t stage_bytes;
	hu_pulse *beat;             /* on the host: the pulse to be sent */
	void *beaten;               /* event: the pulse was sent */
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

/* out_of_memory.c: returns HU_ENOMEM with a sentence that says how many bytes were asked for (need), how many are free,
   and which batch would fit. */
hu_status hu_machine_out_of_memory(const hu_machine *m, size_t need);
/* Notes that m has its memory, or no longer has it: the sentence above counts every program that holds memory. */
void hu_machine_memory_taken(const hu_machine *m);
void hu_machine_memory_left(const hu_machine *m);

/* Every tensor starts at a multiple of 256 bytes. */
static inline size_t
hu_machine_padded(size_t n)
{
	return (n + 255) / 256 * 256;
}

/* Returns 1 if the machine has memory for the tensor. */
static inline int
hu_machine_holds(const hu_machine *m, int tensor)
{
	return !m->part || m->part->s->need[tensor];
}

static inline size_t
hu_slot_bytes(const hu_slot *t)
{
	return t->n * hu_slot_size(t->format);
}

/* launch_stage.c: launches a stage of plan. If dry is set it launches nothing and only sets *peak to the bytes of
   scratch space that the stage takes. */
hu_status hu_machine_launch(hu_machine *m, const hu_plan *plan, int stage, int dry, size_t *peak);
/* Launches the program's call number `call` alone, as c says it: with fewer inputs than there. carry: only what it
   passes to the next micro-batch is wanted. dry and *peak as above. */
hu_status hu_machine_launch_call(hu_machine *m, const hu_call *c, int call, int carry, int dry, size_t *peak);
/* stages.c: begin sends the device what a step's kernels read of it; prepare does what precedes a step's other stages:
   inputs, and the weights' low-precision copies. */
hu_status hu_machine_begin(hu_machine *m, const hu_env *env);
hu_status hu_machine_prepare(hu_machine *m);
/* Puts a whole step on the queue. */
hu_status hu_machine_run(hu_machine *m);
/* part.c: init makes m->part and open its buffers; in between plan notes where stretches begin in the plans, and
   scratch raises *most to the bytes of scratch space that the calls outside the plans take. */
void hu_machine_part_init(hu_machine *m, const hu_spread *s);
void hu_machine_part_plan(hu_machine *m);
hu_status hu_machine_part_scratch(hu_machine *m, size_t *most);
hu_status hu_machine_part_open(hu_machine *m);
void hu_machine_part_close(hu_machine *m);
/* Waits until the sums that a library has begun are there, and notices where they never will be. */
hu_status hu_machine_part_added(hu_machine *m);
/* graph.c: marks the weights' low-precision copies as stale; discards the recorded graphs. */
void hu_machine_forget_ahead(hu_machine *m);
void hu_machine_drop_graphs(hu_machine *m);
/* gather.c: frees its buffers and events. */
void hu_machine_gather_close(hu_machine *m);

/* profile.c: called before and after a stage of the plan in use, to note what was launched and, if wanted, the time. */
hu_status hu_machine_watch_begin(hu_machine *m, long *before);
hu_status hu_machine_watch_end(hu_machine *m, int stage, long before);
/* After a step: adds up the times. */
hu_status hu_machine_profile_read(hu_machine *m);
void hu_machine_profile_close(hu_machine *m);

/* feed.c: find lists the inputs, before allocation.c gives them their waiting buffers. */
void hu_machine_feed_find(hu_machine *m);
hu_status hu_machine_feed_open(hu_machine *m);
void hu_machine_feed_close(hu_machine *m);
/* Returns 1 if the tensor is an input, whose values are then on their way; *st says whether that succeeded. */
int hu_machine_feed(hu_machine *m, int tensor, const void *values, hu_status *st);
/* Puts copies of what was fed to its tensors on the queue. */
hu_status hu_machine_take(hu_machine *m);

/* readback.c: begin and look are recorded at a step's start and end, and send follows it. */
hu_status hu_machine_look_begin(hu_machine *m);
hu_status hu_machine_look(hu_machine *m);
/* Where the update of this call adds its counts; NULL: nowhere. */
hu_update_tally *hu_machine_update_counts(const hu_machine *m, int call);
hu_status hu_machine_look_send(hu_machine *m);
void hu_machine_look_close(hu_machine *m);
/* Return 1 if the last step sent the digest or the tensor's value; *at then points to its codes. */
int hu_machine_digest_seen(hu_machine *m, uint64_t *digest, hu_status *st);
int hu_machine_seen(hu_machine *m, int tensor, const void **at, hu_status *st);
#endif
