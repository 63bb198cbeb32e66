/* SPDX-License-Identifier: Apache-2.0
   A stand-in for NVIDIA's NCCL with the same entry points, on the host's memory, for tests of --all-reduce nccl on the
   launch shim. Ranks meet in a file that all of them map; each adds what they put there from rank 0 on, in fp32 or
   fp64, and rounds to the format once, which no model of the program does. STUB_NCCL_VERSION sets the version that it
   claims, STUB_NCCL_FAIL=1 has it refuse to connect, STUB_NCCL_WRONG=1 leave the last rank's numbers out of the
   sum, and STUB_NCCL_LEFT names a file that each rank writes its number to when it leaves. STUB_NCCL_LOST=R has rank R
   lose its link: the sums that it begins are never there, and with STUB_NCCL_SEEN=1 the library notices;
   STUB_NCCL_SLOW=1 has every sum take as long as three questions for it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct id { char path[128]; } id;
enum { ROOM = 1 << 22 };
typedef struct meeting { volatile int arrived, turn; } meeting;
typedef struct comm { int ranks, rank, lost, asked; unsigned char *map; } comm;

int
ncclGetVersion(int *version)
{
	const char *own = getenv("STUB_NCCL_VERSION");

	*version = own ? atoi(own) : 22803;
	return 0;
}

const char *
ncclGetErrorString(int status)
{
	return status == 5 ? "invalid usage" : status == 6 ? "remote process error" : "unhandled system error";
}

int
ncclGetUniqueId(id *to)
{
	const char *folder = getenv("TMPDIR");

	snprintf(to->path, sizeof to->path, "%.90s/nccl-XXXXXX", folder ? folder : "/tmp");
	int f = mkstemp(to->path);
	if (f < 0 || ftruncate(f, (off_t)(4096 + 16L * ROOM)) || close(f))
		return 2;
	return 0;
}

/* Waits until all ranks are here. */
static void
meet(comm *c)
{
	meeting *m = (meeting *)c->map;
	int turn = m->turn;

	if (__sync_add_and_fetch(&m->arrived, 1) == c->ranks) {
		m->arrived = 0;
		__sync_fetch_and_add(&m->turn, 1);
	}
	while (m->turn == turn)
		sched_yield();
}

int
ncclCommInitRank(void **out, int ranks, id where, int rank)
{
	if (getenv("STUB_NCCL_FAIL"))
		return 5;
	comm *c = calloc(1, sizeof *c);
	int f = open(where.path, O_RDWR);
	if (!c || f < 0 || ranks > 16)
		return 2;
	const char *lost = getenv("STUB_NCCL_LOST");
	c->ranks = ranks;
	c->rank = rank;
	c->lost = lost && atoi(lost) == rank;
	c->map = mmap(NULL, 4096 + 16L * ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	if (c->map == MAP_FAILED || close(f))
		return 2;
	meet(c);
	if (!rank)
		unlink(where.path);
	*out = c;
	return 0;
}

/* What has been begun is at its end; 6: a remote process or link is lost; 7: it is still on its way. */
int
ncclCommGetAsyncError(void *all, int *state)
{
	comm *c = all;

	*state = c->lost && getenv("STUB_NCCL_SEEN")				 ? 6
		 : c->lost || (getenv("STUB_NCCL_SLOW") && ++c->asked % 4) ? 7
									 : 0;
	return 0;
}

int
ncclCommAbort(void *all)
{
	comm *c = all;

	munmap(c->map, 4096 + 16L * ROOM);
	free(c);
	return 0;
}

int
ncclCommDestroy(void *all)
{
	comm *c = all;

	const char *left = getenv("STUB_NCCL_LEFT");
	FILE *f = left ? fopen(left, "a") : NULL;

	if (f) {
		fprintf(f, "%d\n", c->rank);
		fclose(f);
	}
	munmap(c->map, 4096 + 16L * ROOM);
	free(c);
	return 0;
}

static double
load(const void *p, size_t i, int type)
{
	if (type == 8)
		return ((const double *)p)[i];
	if (type == 7)
		return (double)((const float *)p)[i];
	uint16_t code = ((const uint16_t *)p)[i];
	if (type == 9) {
		uint32_t bits = (uint32_t)code << 16;
		float x;
		memcpy(&x, &bits, sizeof x);
		return (double)x;
	}
	int e = code >> 10 & 31, s = code >> 15;
	double m = code & 1023, x = e == 31 ? (m > 0 ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
	return s ? -x : x;
}

/* Rounds to a format of p digits, smallest exponent emin and largest number most, ties to even. */
static double
rounded(double x, int p, int emin, double most)
{
	int e;

	if (x == 0 || !isfinite(x))
		return x;
	frexp(x, &e);
	double unit = ldexp(1, (e - 1 < emin ? emin : e - 1) - p + 1), y = nearbyint(x / unit) * unit;
	return fabs(y) > most ? copysign(INFINITY, y) : y;
}

static void
store(void *p, size_t i, double x, int type)
{
	if (type == 8)
		((double *)p)[i] = x;
	else if (type == 7)
		((float *)p)[i] = (float)x;
	else if (type == 9) {
		float y = (float)rounded(x, 8, -126, 0x1.fep127);
		uint32_t bits;
		memcpy(&bits, &y, sizeof bits);
		((uint16_t *)p)[i] = isnan(y) ? 0x7fc0 : (uint16_t)(bits >> 16);
	} else {
		double y = fabs(rounded(x, 11, -14, 65504));
		int e = 0;
		unsigned code = 0x7e00;
		if (isinf(y))
			code = 0x7c00;
		else if (y < 0x1p-14)
			code = (unsigned)ldexp(y, 24);
		else if (!isnan(y)) {
			double m = frexp(y, &e);
			code = (unsigned)((e + 14) << 10) + (unsigned)(ldexp(m, 11) - 1024);
		}
		((uint16_t *)p)[i] = (uint16_t)(code | (signbit(x) ? 0x8000u : 0));
	}
}

int
ncclAllReduce(const void *in, void *out, size_t n, int type, int operation, void *all, void *queue)
{
	comm *c = all;
	size_t size = type == 8 ? 8 : type == 7 ? 4 : 2, each = ROOM / size;

	(void)queue;
	if (operation || type < 6 || type > 9)
		return 5;
	if (c->lost)
		return 0;
	int ranks = c->ranks - (getenv("STUB_NCCL_WRONG") != NULL);
	for (size_t first = 0; first < n; first += each) {
		size_t some = n - first < each ? n - first : each;
		memcpy(c->map + 4096 + (size_t)c->rank * ROOM, (const char *)in + first * size, some * size);
		meet(c);
		for (size_t i = 0; i < some; i++) {
			double sum = 0;
			for (int r = 0; r < ranks; r++) {
				sum += load(c->map + 4096 + (size_t)r * ROOM, i, type);
				sum = type == 8 ? sum : (double)(float)sum;
			}
			store(out, first + i, sum, type);
		}
		meet(c);
	}
	return 0;
}
