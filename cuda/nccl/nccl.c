/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/nccl/nccl.h"

#include "cuda/device/vendor.h"
#include "lib/base/console/opt.h"
#include "lib/base/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct library {
	void *file, *all; /* all: the communicator of all ranks */
	int (*version)(int *), (*id)(hu_nccl_id *), (*init)(void **, int, hu_nccl_id, int), (*destroy)(void *);
	int (*abort)(void *), (*state)(void *, int *);
	int (*sum)(const void *, void *, size_t, int, int, void *, void *);
	const char *(*words)(int);
	char name[48];
	hu_nccl_words used;
	double limit; /* seconds that a sum may take */
} l;

static const char *const names[] = { "libnccl.so.2", NULL };

static hu_status
load(int host)
{
	int version = 0;

	if (*l.name)
		return HU_OK;
	l.file = hu_vendor_open(host ? "HALFULP_NCCL_HOST" : "HALFULP_NCCL", names, !host);
	if (!l.file && host)
		return hu_fail(HU_EUNABLE, "--all-reduce nccl: the shim has no NCCL (HALFULP_NCCL_HOST names a library "
					   "for the host's memory): say ring:N");
	if (!l.file)
		return hu_fail(HU_EUNABLE,
			"--all-reduce nccl: NCCL (libnccl.so.2) is not found, nor in a CUDA toolkit or among Python's "
			"packages: install it, name it in HALFULP_NCCL, or say ring:N");
#define TAKE(member, name) !hu_vendor_symbol(l.file, "nccl" name, &l.member)
	if (TAKE(version, "GetVersion") || TAKE(id, "GetUniqueId") || TAKE(init, "CommInitRank") ||
		TAKE(destroy, "CommDestroy") || TAKE(abort, "CommAbort") || TAKE(state, "CommGetAsyncError") ||
		TAKE(sum, "AllReduce") || TAKE(words, "GetErrorString"))
		return hu_fail(HU_EUNABLE, "--all-reduce nccl: the library found is not NCCL: a function is missing");
#undef TAKE
	int st = l.version(&version);
	if (st)
		return hu_fail(HU_EUNABLE, "--all-reduce nccl: ncclGetVersion failed: %s", l.words(st));
	/* Since 2.9 a version is 10 000 times the first number, before 1 000 times. */
	int major = version < 10000 ? version / 1000 : version / 10000;
	snprintf(l.name, sizeof l.name, "NCCL %d.%d.%d", major,
		version < 10000 ? version % 1000 / 100 : version % 10000 / 100, version % 100);
	return HU_OK;
}

/* The library reads both variables when ranks are connected. */
static void
settle_order(void)
{
	setenv("NCCL_ALGO", "Ring", 0);
	setenv("NCCL_PROTO", "Simple", 0);
	l.used = (hu_nccl_words){ l.name, getenv("NCCL_ALGO"), getenv("NCCL_PROTO") };
}

/* Ten minutes, as PyTorch's process group has it. */
static hu_status
settle_limit(void)
{
	const char *own = getenv("HALFULP_NCCL_TIMEOUT");

	l.limit = 600;
	if (own && (!hu_parse_real(own, &l.limit) || !(l.limit > 0)))
		return hu_fail(HU_EINVAL, "HALFULP_NCCL_TIMEOUT=%s: a number of seconds above 0 is needed", own);
	return HU_OK;
}

static hu_status
must(int st, const char *what)
{
	return st ? hu_fail(HU_EDEVICE,
		"--all-reduce nccl: %s failed: %s (each rank needs a GPU of its own; NCCL_DEBUG=WARN says more)", what,
		l.words(st))
		  : HU_OK;
}

hu_status
hu_nccl_join(int host)
{
	hu_nccl_id id;

	if (l.all)
		return HU_OK;
	memset(&id, 0, sizeof id);
	HU_TRY(hu_ranks_agree(load(host)));
	HU_TRY(hu_ranks_same("NCCL's version", l.name));
	HU_TRY(hu_ranks_agree(settle_limit()));
	settle_order();
	HU_TRY(hu_ranks_agree(hu_ranks_rank() ? HU_OK : must(l.id(&id), "ncclGetUniqueId")));
	hu_ranks_broadcast(0, &id, sizeof id);
	return hu_ranks_agree(must(l.init(&l.all, hu_ranks_size(), id, hu_ranks_rank()), "ncclCommInitRank"));
}

/* The number of a format in nccl.h; -1: NCCL has no such format. */
static int
type_of(hu_format_id f)
{
	switch (f) {
	case HU_FP16: return NCCL_FLOAT16;
	case HU_BF16: return NCCL_BFLOAT16;
	case HU_FP32:
	case HU_TF32: return NCCL_FLOAT32;
	case HU_FP64: return NCCL_FLOAT64;
	default: /* NCCL has no such type: the caller refuses. */
		return -1;
	}
}

int
hu_nccl_adds(hu_format_id f)
{
	return type_of(f) >= 0;
}

hu_status
hu_nccl_all_reduce(void *queue, const void *in, void *out, size_t n, hu_format_id f)
{
	if (!hu_nccl_adds(f))
		return hu_fail(
			HU_EUNABLE, "--all-reduce nccl: NCCL adds no numbers of %s: say ring:N", hu_format_name(f));
	return must(l.sum(in, out, n, type_of(f), NCCL_SUM, l.all, queue), "ncclAllReduce");
}

/* Gives up: what the ranks have begun ends on this rank, and there is nothing to leave any more. */
static void
give_up(void)
{
	l.abort(l.all);
	l.all = NULL;
}

hu_status
hu_nccl_look(double waited, int *busy)
{
	int state = 0, st = l.state(l.all, &state);

	*busy = !st && state == NCCL_IN_PROGRESS;
	if (st || (state && !*busy)) {
		give_up();
		return hu_fail(HU_EDEVICE,
			"--all-reduce nccl: a sum over the ranks failed: %s: a rank, or the link to one, is lost "
			"(NCCL_DEBUG=WARN says more)",
			l.words(st ? st : state));
	}
	if (!(waited > l.limit))
		return HU_OK;
	give_up();
	return hu_fail(HU_EDEVICE,
		"--all-reduce nccl: a sum over the ranks is not there after %g s: a rank, or the link to one, is lost "
		"or slow (HALFULP_NCCL_TIMEOUT sets the seconds)",
		l.limit);
}

const hu_nccl_words *
hu_nccl_used(void)
{
	return l.all ? &l.used : NULL;
}

int
hu_nccl_find(char *to, size_t size)
{
	int found = load(0) == HU_OK;

	snprintf(to, size, "%s", found ? l.name : "");
	return found;
}

void
hu_nccl_leave(void)
{
	if (l.all)
		l.destroy(l.all);
	l.all = NULL;
}
