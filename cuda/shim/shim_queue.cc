/* SPDX-License-Identifier: Apache-2.0
   The shim's queues. An operation on a queue happens either immediately or as late as possible: when the host waits for
   it, or when another queue that waits for it gets there. The seed decides which, so that a missing wait leads to
   reading old or newer values. A graph is a list of such operations with the arguments they had. The queue NULL does
   everything immediately. */
#include "cuda/base/launch.h"
#include "cuda/fuse/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

namespace {

enum kind { KERNEL, COPY, CLEAR, AWAIT, STAMP, GRAPH };

struct queue;
struct graph;

struct node {
	node *next;
	enum kind kind;
	const char *name;
	dim3 blocks, threads;
	size_t shared, most;
	unsigned together;
	void (*invoke)(void *);
	void *to;
	const void *from;
	size_t bytes;
	queue *other;
	uint64_t until;
	graph *all;
	alignas(16) unsigned char body[16]; /* with as many more as the kernel's arguments take */
};

struct list { node *first, **last; };
struct graph { list l; };

struct queue {
	list l;
	uint64_t issued, done;
	graph *recording;
	double clock;   /* seconds that its operations took */
	hu_status st;
	char why[512];
};

struct event { queue *q; uint64_t at; int timed; double clock; };

long launched;
__thread int recordings; /* queues that this thread records */

/* Kernels that were launched, by their addresses: a table with open addressing, never full. */
enum { KERNELS = 1 << 13 };
const void *loaded[KERNELS];

/* Whether the kernel was loaded before; now it is. */
int
load(const void *code)
{
	for (size_t i = (size_t)code / 16 % KERNELS;; i = (i + 1) % KERNELS) {
		const void *here = __atomic_load_n(&loaded[i], __ATOMIC_RELAXED);
		if (!here && __atomic_compare_exchange_n(
				     &loaded[i], &here, code, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return 0;
		if (here == code)
			return 1;
	}
}

void
empty(list *l)
{
	l->first = NULL;
	l->last = &l->first;
}

void
free_all(list *l)
{
	for (node *n = l->first, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	empty(l);
}

double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

hu_status run_until(queue *q, uint64_t at);

hu_status
execute(node *n)
{
	switch (n->kind) {
	case KERNEL:
		hu_shim_most(n->most);
		hu_shim_together(n->together);
		return hu_shim_run(n->name, n->blocks, n->threads, n->shared, n->invoke, n->body);
	case COPY:
		HU_TRY(hu_shim_present("copying"));
		memcpy(n->to, n->from, n->bytes);
		return HU_OK;
	case CLEAR:
		HU_TRY(hu_shim_present("clearing device memory"));
		memset(n->to, 0, n->bytes);
		return HU_OK;
	case AWAIT: return run_until(n->other, n->until);
	case STAMP:
		((event *)n->to)->clock = n->other->clock;
		return HU_OK;
	default: /* GRAPH */
		for (node *g = n->all->l.first; g; g = g->next)
			HU_TRY(execute(g));
		return HU_OK;
	}
}

/* After a failure nothing more happens on a queue, and every wait reports the failure. */
hu_status
run_until(queue *q, uint64_t at)
{
	while (q->done < at && q->l.first) {
		node *n = q->l.first;
		q->l.first = n->next;
		if (!q->l.first)
			q->l.last = &q->l.first;
		q->done++;
		double start = now();
		hu_status st = q->st == HU_OK ? execute(n) : q->st;
		q->clock += now() - start;
		if (q->st == HU_OK && st != HU_OK) {
			q->st = st;
			snprintf(q->why, sizeof q->why, "%s", hu_reason());
		}
		free(n);
	}
	return q->st == HU_OK ? HU_OK : hu_fail(q->st, "%s", q->why);
}

hu_status
post(void *where, enum kind kind, const node *like, const void *body, size_t bytes)
{
	queue *q = (queue *)where;
	node *n = (node *)aligned_alloc(64, (sizeof *n + bytes + 63) / 64 * 64);

	if (!n)
		return hu_fail(HU_ENOMEM, "no memory for a queue's operation");
	*n = *like;
	n->kind = kind;
	n->next = NULL;
	if (bytes)
		memcpy(n->body, body, bytes);
	if (!q) {
		hu_status st = execute(n);
		free(n);
		return st;
	}
	list *l = q->recording ? &q->recording->l : &q->l;
	q->issued += !q->recording;
	*l->last = n;
	l->last = &n->next;
	if (!q->recording && hu_shim_draw(4) == 0)
		run_until(q, q->issued); /* whoever waits learns how it went */
	return HU_OK;
}

node
plain(void)
{
	node n;

	memset((void *)&n, 0, sizeof n);
	return n;
}

} /* namespace */

extern "C" {

hu_status
hu_shim_unrecorded(const char *what)
{
	return recordings ? hu_fail(HU_EDEVICE, "%s while a step is recorded, which no device allows", what) : HU_OK;
}

hu_status
hu_shim_post(void *q, const char *kernel, const void *code, dim3 grid, dim3 block, size_t shared_bytes,
	void (*invoke)(void *), const void *body, size_t bytes)
{
	node n = plain();

	if (!load(code) && q && ((queue *)q)->recording)
		return hu_fail(
			HU_EDEVICE, "kernel %s: its first launch is recorded, before any device has loaded it", kernel);
	n.name = kernel;
	n.blocks = grid;
	n.threads = block;
	n.shared = shared_bytes;
	n.most = hu_shim_most(48 << 10);
	n.together = hu_shim_together(1);
	n.invoke = invoke;
	launched++;
	return post(q, KERNEL, &n, body, bytes);
}

hu_status
hu_shim_queue_open(void **where)
{
	queue *q = (queue *)calloc(1, sizeof *q);

	*where = q;
	if (!q)
		return hu_fail(HU_ENOMEM, "no memory for a queue");
	empty(&q->l);
	return HU_OK;
}

void
hu_shim_queue_close(void *where)
{
	queue *q = (queue *)where;

	if (!q)
		return;
	if (q->st == HU_OK)
		run_until(q, q->issued);
	free_all(&q->l);
	free(q);
}

hu_status
hu_shim_queue_wait(void *where)
{
	queue *q = (queue *)where;

	HU_TRY(hu_shim_unrecorded("waiting for a queue"));
	return q ? run_until(q, q->issued) : HU_OK;
}

hu_status
hu_shim_queue_copy(void *q, void *to, const void *from, size_t bytes)
{
	node n = plain();

	n.to = to;
	n.from = from;
	n.bytes = bytes;
	return post(q, COPY, &n, NULL, 0);
}

hu_status
hu_shim_queue_clear(void *q, void *to, size_t bytes)
{
	node n = plain();

	n.to = to;
	n.bytes = bytes;
	return post(q, CLEAR, &n, NULL, 0);
}

hu_status
hu_shim_graph_begin(void *where)
{
	queue *q = (queue *)where;

	q->recording = (graph *)calloc(1, sizeof *q->recording);
	if (!q->recording)
		return hu_fail(HU_ENOMEM, "no memory for a graph");
	empty(&q->recording->l);
	recordings++;
	return HU_OK;
}

hu_status
hu_shim_graph_end(void *where, void **g)
{
	queue *q = (queue *)where;

	*g = q->recording;
	q->recording = NULL;
	recordings--;
	return HU_OK;
}

hu_status
hu_shim_graph_launch(void *where, void *g)
{
	node n = plain();

	n.all = (graph *)g;
	return post(where, GRAPH, &n, NULL, 0);
}

void
hu_shim_graph_release(void *g)
{
	free_all(&((graph *)g)->l);
	free(g);
}

hu_status
hu_shim_event_open(void **e)
{
	*e = calloc(1, sizeof(event));
	return *e ? HU_OK : hu_fail(HU_ENOMEM, "no memory for an event");
}

void
hu_shim_event_close(void *e)
{
	free(e);
}

hu_status
hu_shim_event_record(void *where, void *what)
{
	event *e = (event *)what;

	e->q = (queue *)where;
	if (e->q && e->timed) {
		node n = plain();
		n.to = e;
		n.other = e->q;
		HU_TRY(post(where, STAMP, &n, NULL, 0));
	}
	e->at = e->q ? e->q->issued : 0;
	return HU_OK;
}

hu_status
hu_shim_event_await(void *where, void *what)
{
	event *e = (event *)what;
	node n = plain();

	if (!e->q)
		return HU_OK;
	n.other = e->q;
	n.until = e->at;
	return post(where, AWAIT, &n, NULL, 0);
}

hu_status
hu_shim_event_wait(void *what)
{
	event *e = (event *)what;

	HU_TRY(hu_shim_unrecorded("waiting for an event"));
	return e->q ? run_until(e->q, e->at) : HU_OK;
}

/* The shim has no time of its own in which a queue gets on: whoever asks has it done. */
hu_status
hu_shim_event_done(void *what, int *done)
{
	*done = 1;
	return hu_shim_event_wait(what);
}

hu_status
hu_shim_timer_open(void **e)
{
	HU_TRY(hu_shim_event_open(e));
	((event *)*e)->timed = 1;
	return HU_OK;
}

hu_status
hu_shim_timer_between(void *from, void *to, double *seconds)
{
	*seconds = ((event *)to)->clock - ((event *)from)->clock;
	return HU_OK;
}

long
hu_shim_launches(void)
{
	return launched;
}

} /* extern "C" */
