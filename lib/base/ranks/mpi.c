/* SPDX-License-Identifier: Apache-2.0
   The module halfulp-mpi.so: the functions of lib/base/ranks/wire.h by MPI. Only this file includes mpi.h. It is
   compiled by mpicc, or with what pkg-config says of an MPI. */
#include "lib/base/ranks/wire.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const hu_wire hu_wire_mpi;

/* MPI counts with ints; a multiple of a page keeps pieces aligned. */
enum { PIECE = 1 << 30 };

static MPI_Request *posted;
static int nposted, room;

static int
piece(size_t bytes)
{
	return bytes > PIECE ? PIECE : (int)bytes;
}

static void
wire_open(int *rank, int *size, int *local, int *place, char *library, size_t n)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int given, length;
	MPI_Comm here;

	/* One thread speaks MPI; the others compute. */
	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	MPI_Comm_size(MPI_COMM_WORLD, size);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &here);
	MPI_Comm_size(here, local);
	MPI_Comm_rank(here, place);
	MPI_Comm_free(&here);
	MPI_Get_library_version(text, &length);
	snprintf(library, n, "%.*s", (int)strcspn(text, ",\n"), text);
}

static void
wire_close(void)
{
	free(posted);
	posted = NULL;
	MPI_Finalize();
}

static void
wire_send(int to, int tag, const void *data, size_t bytes)
{
	const char *at = data;

	do {
		MPI_Send(at, piece(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD);
		at += piece(bytes);
		bytes -= (size_t)piece(bytes);
	} while (bytes);
}

static void
wire_post(int to, int tag, const void *data, size_t bytes)
{
	const char *at = data;

	do {
		if (nposted == room) {
			room = room ? 2 * room : 64;
			posted = realloc(posted, (size_t)room * sizeof *posted);
			if (!posted)
				abort();
		}
		MPI_Isend(at, piece(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD, &posted[nposted++]);
		at += piece(bytes);
		bytes -= (size_t)piece(bytes);
	} while (bytes);
}

static void
wire_sent(void)
{
	MPI_Waitall(nposted, posted, MPI_STATUSES_IGNORE);
	nposted = 0;
}

static void
wire_receive(int from, int tag, void *data, size_t bytes)
{
	char *at = data;

	do {
		MPI_Recv(at, piece(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		at += piece(bytes);
		bytes -= (size_t)piece(bytes);
	} while (bytes);
}

static void *
wire_begin(int from, int tag, void *data, size_t bytes)
{
	MPI_Request *r = malloc(sizeof *r);

	if (!r)
		abort();
	MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, r);
	return r;
}

static int
wire_arrived(void *handle)
{
	int there;

	MPI_Test(handle, &there, MPI_STATUS_IGNORE);
	if (there)
		free(handle);
	return there;
}

static size_t
wire_next(int *from, int tag)
{
	MPI_Status s;
	int bytes;

	MPI_Probe(*from < 0 ? MPI_ANY_SOURCE : *from, tag, MPI_COMM_WORLD, &s);
	MPI_Get_count(&s, MPI_BYTE, &bytes);
	*from = s.MPI_SOURCE;
	return (size_t)bytes;
}

static int
wire_waits(int tag)
{
	int there;

	MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
	return there;
}

static void
wire_broadcast(int root, void *data, size_t bytes)
{
	char *at = data;

	for (; bytes; at += piece(bytes), bytes -= (size_t)piece(bytes))
		MPI_Bcast(at, piece(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
}

static void
wire_gather(int root, const void *own, size_t bytes, void *all)
{
	if (bytes > INT_MAX)
		MPI_Abort(MPI_COMM_WORLD, 4);
	MPI_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void
wire_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
wire_abort(int code)
{
	MPI_Abort(MPI_COMM_WORLD, code);
}

const hu_wire hu_wire_mpi = { .open = wire_open,
	.close = wire_close,
	.send = wire_send,
	.post = wire_post,
	.sent = wire_sent,
	.receive = wire_receive,
	.begin = wire_begin,
	.arrived = wire_arrived,
	.next = wire_next,
	.waits = wire_waits,
	.broadcast = wire_broadcast,
	.gather = wire_gather,
	.barrier = wire_barrier,
	.abort = wire_abort };
