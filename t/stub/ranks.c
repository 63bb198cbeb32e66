/* SPDX-License-Identifier: Apache-2.0
   A stand-in for the module that speaks MPI, for tests where there is none: its messages are files in the folder
   STUB_RANKS, under the name of sender, receiver, tag and number. t/tool/mpi.py compiles it and starts the ranks with
   the variables that Open MPI would set. It is slow, and no rank notices that another died. */
#include "lib/base/ranks/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const hu_wire hu_wire_mpi;

enum { RANKS = 16, TAGS = 32768, COLLECTIVE = TAGS - 1 };
static int own, number;
static unsigned short sent[RANKS][TAGS], received[RANKS][TAGS];

static void
name(char *to, size_t room, int from, int at, int tag, int k)
{
	snprintf(to, room, "%s/%d-%d-%d-%d", getenv("STUB_RANKS"), from, at, tag, k);
}

/* Ends this rank where another has given up. */
static void
wait_a_little(void)
{
	char path[512];
	int code = 4;

	snprintf(path, sizeof path, "%s/abort", getenv("STUB_RANKS"));
	FILE *f = fopen(path, "r");
	if (f) {
		if (fscanf(f, "%d", &code) != 1)
			code = 4;
		_exit(code);
	}
	usleep(200);
}

static void
stub_send(int to, int tag, const void *data, size_t bytes)
{
	char path[512], new[520];

	name(path, sizeof path, own, to, tag, sent[to][tag]++);
	snprintf(new, sizeof new, "%s.new", path);
	FILE *f = fopen(new, "w");
	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) || rename(new, path))
		abort();
}

/* Looks for a message to this rank from *from, or, where that is -1, from any; returns 1 and its size where it is. */
static int
look(int *from, int tag, size_t *bytes)
{
	char path[512];

	for (int r = 0; r < number; r++) {
		if ((*from >= 0 && r != *from) || r == own)
			continue;
		name(path, sizeof path, r, own, tag, received[r][tag]);
		FILE *f = fopen(path, "r");
		if (!f)
			continue;
		fseek(f, 0, SEEK_END);
		*bytes = (size_t)ftell(f);
		fclose(f);
		*from = r;
		return 1;
	}
	return 0;
}

static size_t
stub_next(int *from, int tag)
{
	size_t bytes;

	while (!look(from, tag, &bytes))
		wait_a_little();
	return bytes;
}

static int
stub_waits(int tag)
{
	int from = -1;
	size_t bytes;

	return look(&from, tag, &bytes);
}

static void
stub_receive(int from, int tag, void *data, size_t bytes)
{
	char path[512];

	if (stub_next(&from, tag) != bytes)
		abort();
	name(path, sizeof path, from, own, tag, received[from][tag]++);
	FILE *f = fopen(path, "r");
	if (!f || fread(data, 1, bytes, f) != bytes)
		abort();
	fclose(f);
	unlink(path);
}

/* The whole message is there already. */
static void *
stub_begin(int from, int tag, void *data, size_t bytes)
{
	stub_receive(from, tag, data, bytes);
	return data;
}

static int
stub_arrived(void *handle)
{
	(void)handle;
	return 1;
}

static void
stub_sent(void)
{
}

static void
stub_broadcast(int root, void *data, size_t bytes)
{
	if (own != root) {
		stub_receive(root, COLLECTIVE, data, bytes);
		return;
	}
	for (int r = 0; r < number; r++)
		if (r != own)
			stub_send(r, COLLECTIVE, data, bytes);
}

static void
stub_gather(int root, const void *data, size_t bytes, void *all)
{
	if (own != root) {
		stub_send(root, COLLECTIVE, data, bytes);
		return;
	}
	memcpy((char *)all + (size_t)own * bytes, data, bytes);
	for (int r = 0; r < number; r++)
		if (r != own)
			stub_receive(r, COLLECTIVE, (char *)all + (size_t)r * bytes, bytes);
}

static void
stub_barrier(void)
{
	char one = 0, all[RANKS];

	stub_gather(0, &one, 1, all);
	stub_broadcast(0, &one, 1);
}

static void
stub_abort(int code)
{
	char path[512], new[520];

	snprintf(path, sizeof path, "%s/abort", getenv("STUB_RANKS"));
	snprintf(new, sizeof new, "%s.%d", path, own);
	FILE *f = fopen(new, "w");
	if (f) {
		fprintf(f, "%d", code);
		fclose(f);
		rename(new, path);
	}
	_exit(code);
}

static void
stub_open(int *rank, int *size, int *local, int *place, char *library, size_t room)
{
	own = *rank = *place = atoi(getenv("OMPI_COMM_WORLD_RANK"));
	number = *size = *local = atoi(getenv("OMPI_COMM_WORLD_SIZE"));
	snprintf(library, room, "MPI's stand-in");
	if (number > RANKS)
		abort();
}

const hu_wire hu_wire_mpi = { .open = stub_open,
	.close = stub_barrier,
	.send = stub_send,
	.post = stub_send,
	.sent = stub_sent,
	.receive = stub_receive,
	.begin = stub_begin,
	.arrived = stub_arrived,
	.next = stub_next,
	.waits = stub_waits,
	.broadcast = stub_broadcast,
	.gather = stub_gather,
	.barrier = stub_barrier,
	.abort = stub_abort };
