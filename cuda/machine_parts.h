/* SPDX-License-Identifier: Apache-2.0
   The executor's own parts, which the rest of the program does not see: memory (room.c), launching
   (stages.c), input (feed.c) and what a step leaves for the host (readback.c). */
#ifndef HU_CUDA_MACHINE_PARTS_H
#define HU_CUDA_MACHINE_PARTS_H

#include "cuda/machine.h"
#include "cuda/plan.h"

enum { HU_GRAPHS = 4, HU_FEEDS = 8 };

/* The low-precision copies of the weights: none is right, those in the tensors are, those that the last update made are. */
enum { HU_AHEAD_NONE, HU_AHEAD_HERE, HU_AHEAD_MADE };

/* An input tensor: values wait in ROOM, on the device, for the step that copies them to their tensor. */
typedef struct hu_feed { int tensor, fresh; void *room, *host; void *arrived, *taken; } hu_feed;

/* What the host is going to read after each step. */
typedef struct hu_look {
	int *value, *counted, *surveyed, nvalue, ncounted, nsurveyed;
	uint32_t *at;                   /* of each value, in the block */
	int *update_of;                 /* of each call: which of the updates it is; -1: none */
	size_t bytes, tally_at, update_at, census_at;
	unsigned char *block[2], *host[2];  /* a pulse, the values, the tallies, the updates' counts, the censuses: of steps in turn, by the pointers' position */
	void *event[2];
	int last, made;                 /* the last step's block; how many steps' blocks hold, up to 2 */
	int back;                       /* reads are of the step before the last one */
} hu_look;

struct hu_machine {
	const hu_side *side;
	const hu_program *p;
	void *queue, *feed_queue;
	hu_slot *t;
	const hu_kernel **kernel;   /* of each call */
	uint64_t *name_hash;
	unsigned char *memory;      /* of all tensors, the scratch room and the pulse */
	size_t bytes;               /* of it */
	unsigned char *scratch;
	int arch, gemm;
	char (*ran)[HU_RAN];        /* of each call; empty of what is no product */
	hu_pulse *pulse;
	void *stage;                /* host: the largest tensor's codes */
	size_t stage_bytes;
	void *landing[2], *landed[2];   /* host: two more of that size, for traces; and their events */
	hu_pulse *beat;             /* host: the pulse to be sent */
	void *beaten;               /* event: it was sent */
	hu_plan plan[2];            /* [1] fused */
	int fuse, use_graphs;
	void **shadow;              /* of each tensor: where the updates put its next value; NULL: nowhere */
	int ahead, stepped, turn;   /* HU_AHEAD_…; a step awaits its commit; which of the pointers' positions */
	long steps;
	void *graph[HU_GRAPHS];
	hu_feed feed[HU_FEEDS];
	int nfeed;
	hu_look look;
	double *seconds;            /* of each call, and of the look; NULL: nothing is timed */
	void **timer;               /* two of each stage and of the look */
	int timers, timed;          /* how many there are; stages launched since the step began */
	int *timed_stage;
	long *launched[2];          /* of each stage of each plan, and then of the look */
};

/* room.c: one allocation for everything; HU_ENOMEM says what would fit. */
hu_status hu_machine_room(hu_machine *m);
void hu_machine_leave(hu_machine *m);
/* HU_ENOMEM with that sentence: NEED bytes were asked for. */
hu_status hu_machine_no_room(const hu_machine *m, size_t need);

/* stages.c: launches one stage of PLAN; DRY: only says in *peak how much scratch it takes. */
hu_status hu_machine_launch(hu_machine *m, const hu_plan *plan, int stage, int dry, size_t *peak);
/* A whole step on the queue. */
hu_status hu_machine_run(hu_machine *m);
/* The weights' copies are no longer what the updates made. */
void hu_machine_forget_ahead(hu_machine *m);
void hu_machine_drop_graphs(hu_machine *m);

/* profile.c. Around stage STAGE of the plan in use, its number of stages being the look: what it launched, and its time where that is wanted. */
hu_status hu_machine_watch_begin(hu_machine *m, long *before);
hu_status hu_machine_watch_end(hu_machine *m, int stage, long before);
/* After a step: adds up the times. */
hu_status hu_machine_profile_read(hu_machine *m);
void hu_machine_profile_close(hu_machine *m);

/* feed.c. Find: which tensors are inputs, before room.c gives them theirs. */
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
