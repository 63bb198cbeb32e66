/* SPDX-License-Identifier: Apache-2.0
   Ranks (ranks.h): the messages, and what becomes of failures. What loads the module is ranks_open.c. */
#include "lib/base/ranks/ranks.h"

#include "lib/base/terminal/excerpts.h"
#include "lib/base/terminal/progress.h"
#include "lib/base/bug.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct { const char *who, *size, *rank; } const starters[] = {
#define STARTER(who, size, rank) { who, size, rank },
#include "lib/base/ranks/starters.def"
#undef STARTER
};

hu_ranks_state hu_ranks_now = { .size = 1, .local = 1 };
static hu_ranks_traffic moved;

/* Reads a variable as a number from 0. Returns 0 where it is none. */
static int
number(const char *name, long *out)
{
	const char *s = getenv(name);
	char *end;

	if (!s || !*s)
		return 0;
	errno = 0;
	*out = strtol(s, &end, 10);
	return !errno && !*end && *out >= 0 && *out <= 1 << 24;
}

/* Returns this process's number, or how many there are. */
static long
from_environment(int rank)
{
	const char *module = getenv("HALFULP_MPI");

	if (module && !strcmp(module, "none"))
		return !rank;
	for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
		long n, k;
		if (number(starters[i].size, &n) && number(starters[i].rank, &k) && k < n)
			return rank ? k : n;
	}
	return !rank;
}

int
hu_ranks_started(void)
{
	return (int)from_environment(0);
}

int
hu_ranks_own(void)
{
	return (int)from_environment(1);
}

int
hu_ranks_size(void)
{
	return hu_ranks_now.size;
}

int
hu_ranks_rank(void)
{
	return hu_ranks_now.rank;
}

int
hu_ranks_local(void)
{
	return hu_ranks_now.local;
}

int
hu_ranks_place(void)
{
	return hu_ranks_now.place;
}

const char *
hu_ranks_library(void)
{
	return hu_ranks_now.library;
}

void
hu_ranks_withdraw(int on)
{
	static hu_ranks_state among;

	HU_ASSERT(on == !among.size);
	if (on) {
		among = hu_ranks_now;
		hu_ranks_now.wire = NULL;
		hu_ranks_now.rank = 0;
		hu_ranks_now.size = hu_ranks_now.local = 1;
	} else {
		hu_ranks_now = among;
		among.size = 0;
	}
}

/* The table, for a message between two ranks: there is none where there is one rank. */
static const hu_wire *
wire(void)
{
	HU_ASSERT(hu_ranks_now.wire);
	return hu_ranks_now.wire;
}

void
hu_ranks_send(int to, int tag, const void *data, size_t bytes)
{
	double start = hu_now();

	wire()->send(to, tag, data, bytes);
	moved.sent += (double)bytes;
	moved.seconds += hu_now() - start;
}

void
hu_ranks_post(int to, int tag, const void *data, size_t bytes)
{
	double start = hu_now();

	wire()->post(to, tag, data, bytes);
	moved.sent += (double)bytes;
	moved.seconds += hu_now() - start;
}

void
hu_ranks_sent(void)
{
	double start = hu_now();

	if (hu_ranks_now.wire)
		hu_ranks_now.wire->sent();
	moved.seconds += hu_now() - start;
}

void
hu_ranks_receive(int from, int tag, void *data, size_t bytes)
{
	double start = hu_now();

	wire()->receive(from, tag, data, bytes);
	moved.received += (double)bytes;
	moved.seconds += hu_now() - start;
}

size_t
hu_ranks_next(int *from, int tag)
{
	double start = hu_now();
	size_t bytes = wire()->next(from, tag);

	moved.seconds += hu_now() - start;
	return bytes;
}

void *
hu_ranks_begin(int from, int tag, void *data, size_t bytes)
{
	moved.received += (double)bytes;
	return wire()->begin(from, tag, data, bytes);
}

int
hu_ranks_arrived(void *handle)
{
	return wire()->arrived(handle);
}

int
hu_ranks_waits(int tag)
{
	return wire()->waits(tag);
}

/* Naps last a sixteenth of what was waited so far, but from 50 microseconds to 4 milliseconds, so that a long wait
   costs little of a core and a short one ends soon. */
void
hu_ranks_nap(double start)
{
	double nap = (hu_now() - start) / 16;

	nap = nap < 5e-5 ? 5e-5 : nap > 4e-3 ? 4e-3 : nap;
	nanosleep(&(struct timespec){ 0, (long)(nap * 1e9) }, NULL);
}

void
hu_ranks_await(int tag)
{
	double start = hu_now();

	while (!hu_ranks_waits(tag))
		hu_ranks_nap(start);
	moved.seconds += hu_now() - start;
}

void
hu_ranks_broadcast(int root, void *data, size_t bytes)
{
	double start = hu_now();

	if (!hu_ranks_now.wire)
		return;
	hu_ranks_now.wire->broadcast(root, data, bytes);
	/* MPI has ranks pass on what they received, in an order of its own that no rank can count. What root has for
	   all counts as sent to each by root itself, so that what all ranks sent is what all received. */
	if (hu_ranks_now.rank == root)
		moved.sent += (double)bytes * (hu_ranks_now.size - 1);
	else
		moved.received += (double)bytes;
	moved.seconds += hu_now() - start;
}

void
hu_ranks_gather(int root, const void *own, size_t bytes, void *all)
{
	double start = hu_now();

	if (!hu_ranks_now.wire) {
		memcpy(all, own, bytes);
		return;
	}
	hu_ranks_now.wire->gather(root, own, bytes, all);
	if (hu_ranks_now.rank == root)
		moved.received += (double)bytes * (hu_ranks_now.size - 1);
	else
		moved.sent += (double)bytes;
	moved.seconds += hu_now() - start;
}

void
hu_ranks_barrier(void)
{
	double start = hu_now();

	if (hu_ranks_now.wire)
		hu_ranks_now.wire->barrier();
	moved.seconds += hu_now() - start;
}

hu_ranks_traffic
hu_ranks_moved(void)
{
	return moved;
}

/* A rank's end of something, as it is told to rank 0. */
typedef struct verdict { int status; char host[64], reason[448]; } verdict;

hu_status
hu_ranks_agree(hu_status st)
{
	verdict own = { .status = (int)st }, first = own, *all;

	if (hu_ranks_now.size == 1)
		return st;
	if (gethostname(own.host, sizeof own.host - 1))
		strcpy(own.host, "?");
	snprintf(own.reason, sizeof own.reason, "%s", st == HU_OK ? "" : hu_reason());
	all = hu_xcalloc((size_t)hu_ranks_now.size, sizeof *all);
	hu_ranks_gather(0, &own, sizeof own, all);
	for (int i = hu_ranks_now.size - 1; i >= 0 && !hu_ranks_now.rank; i--)
		if (all[i].status != HU_OK) {
			first = all[i];
			if (i)
				snprintf(first.reason, sizeof first.reason, "rank %d of %d, on %s: %.340s", i,
					hu_ranks_now.size, all[i].host, all[i].reason);
		}
	free(all);
	hu_ranks_broadcast(0, &first, sizeof first);
	if (first.status == HU_OK)
		return HU_OK;
	hu_ranks_now.agreed = 1;
	return hu_fail((hu_status)first.status, "%s", first.reason);
}

hu_status
hu_ranks_same(const char *what, const char *text)
{
	size_t bytes = strlen(text) + 1;
	hu_status st = HU_OK;

	/* Every rank gets the whole text of rank 0, of its length, whatever its own is: no hash could fail to see a
	   difference, and all ranks take part in the same messages. */
	hu_ranks_broadcast(0, &bytes, sizeof bytes);
	char *zero = hu_xmalloc(bytes);
	if (!hu_ranks_now.rank)
		memcpy(zero, text, bytes);
	hu_ranks_broadcast(0, zero, bytes);
	if (strcmp(zero, text)) {
		hu_excerpts w = hu_excerpts_of(text, zero);
		st = hu_fail(HU_EFILE,
			"its %s is %s and that of rank 0 is %s: give all ranks the same options and files", what, w.a,
			w.b);
	}
	free(zero);
	return hu_ranks_agree(st);
}

int
hu_ranks_speaks(void)
{
	if (hu_ranks_now.size > 1)
		return !hu_ranks_now.agreed || !hu_ranks_now.rank;
	return hu_ranks_now.apart || hu_ranks_own() == 0;
}

void
hu_ranks_give_up(int code)
{
	if (hu_ranks_now.size > 1 && !hu_ranks_now.agreed)
		hu_ranks_now.wire->abort(hu_bug_no_end(code));
}

void
hu_ranks_close(void)
{
	if (hu_ranks_now.wire)
		hu_ranks_now.wire->close();
	hu_ranks_now.wire = NULL;
	hu_ranks_now.size = 1;
	hu_ranks_now.rank = 0;
}
