/* SPDX-License-Identifier: Apache-2.0
   Limits of memory and of the stack (limit.h). */
#include "lib/base/guard/limit.h"

#include "lib/base/memory/room.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

/* A sanitizer's shadow of the memory counts as memory too. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define SHADOWED
#endif
#endif
#if defined HU_ASAN || defined __SANITIZE_THREAD__
#define SHADOWED
#endif

/* No frame of ours is larger than 64 kB (-Wframe-larger-than), and a few of that size may lie above each other. */
enum { LEAST_STACK = 512 << 10 };
/* Below this not even the program's own start fits. */
enum { LEAST_MEMORY = 16 << 20 };

hu_status
hu_limit_parse(const char *option, const char *text, double *bytes)
{
	static const struct {
		const char *unit;
		double times;
	} units[] = { { "", 1 }, { "B", 1 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 },
		{ "KiB", 0x1p10 }, { "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 } };
	char *end;
	double x = strtod(text, &end);

	while (*end == ' ')
		end++;
	for (size_t i = 0; end > text && x > 0 && x < INFINITY && i < sizeof units / sizeof *units; i++)
		if (!strcmp(end, units[i].unit)) {
			*bytes = x * units[i].times;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "--%s %s: a size like 16GiB, 512MB or 8e9 is needed", option, text);
}

hu_status
hu_limit_memory(const char *text)
{
	struct rlimit r;
	double most = (double)hu_memory_limit() / 2;

	if (text)
		HU_TRY(hu_limit_parse("max-memory", text, &most));
	/* whoever started this process, perhaps another halfulp, has set a limit of its own */
	else if ((!getrlimit(RLIMIT_DATA, &r) && r.rlim_cur != RLIM_INFINITY) ||
		 (!getrlimit(RLIMIT_AS, &r) && r.rlim_cur != RLIM_INFINITY))
		return HU_OK;
	if (most < LEAST_MEMORY)
		return text ? hu_fail(HU_EINVAL, "--max-memory %s: the program itself needs 16MiB", text) : HU_OK;
#ifndef SHADOWED
	if (!getrlimit(RLIMIT_DATA, &r) && most < 0x1p62 &&
		(r.rlim_cur == RLIM_INFINITY || most < (double)r.rlim_cur)) {
		r.rlim_cur = (rlim_t)most;
		setrlimit(RLIMIT_DATA, &r);
		hu_room_limit_changed();
	}
#endif
	return HU_OK;
}

/* A size as OpenMP reads it: a number of kB, or one with a unit B, K, M or G. 0 where it is none. */
static double
openmp_size(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	end += strspn(end, " \t");
	switch (*end) {
	case 'b':
	case 'B': return x;
	case 0:
	case 'k':
	case 'K': return 0x1p10 * x;
	case 'm':
	case 'M': return 0x1p20 * x;
	case 'g':
	case 'G': return 0x1p30 * x;
	}
	return 0;
}

hu_status
hu_limit_stack(void)
{
	static const char *const names[] = { "OMP_STACKSIZE", "GOMP_STACKSIZE" };
	struct rlimit r;

	if (!getrlimit(RLIMIT_STACK, &r) && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < LEAST_STACK)
		return hu_fail(HU_EUNABLE, "the stack may take %llu kB, and halfulp needs %d kB: ulimit -s %d",
			(unsigned long long)r.rlim_cur / 1024, LEAST_STACK / 1024, LEAST_STACK / 1024);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = getenv(names[i]);
		double size = text ? openmp_size(text) : 0;
		if (size > 0 && size < LEAST_STACK)
			return hu_fail(HU_EUNABLE, "%s=%s: the stack of a thread needs %d kB", names[i], text,
				LEAST_STACK / 1024);
	}
	return HU_OK;
}
