/* SPDX-License-Identifier: Apache-2.0
   Measures resident memory by what Linux says in /proc, and elsewhere by getrusage. */
#include "lib/base/memory/resident.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Returns the value of a line "KEY: 123 kB" of /proc/self/status in bytes, or NaN where there is no such line. */
static double
status_of(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = strlen(key);
	double kb = NAN;
	char line[256];

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, key, n) && line[n] == ':' && sscanf(line + n + 1, "%lf", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return 1024 * kb;
}

/* Sets the kernel's mark of the largest resident set back to the present size: that is what writing 5 does
   (proc(5)). */
static int
set_back(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	int done = f && fputs("5", f) >= 0;

	if (f)
		done &= fclose(f) == 0;
	return done;
}

/* The largest resident set that this process ever had, in bytes. Linux and the BSDs count it in kB. */
static double
lifetime(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) == 0 ? 1024.0 * (double)u.ru_maxrss : NAN;
}

/* Has every block of 1 MiB or more be a mapping of its own, as in a fresh process, and gives back what is free. Left to
   itself, malloc raises that limit up to 32 MiB as such blocks are freed; later blocks then leave holes in the heap,
   which count as resident. */
static void
give_back(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 17);
	malloc_trim(0);
#endif
}

/* Has malloc keep what is freed, up to 256 MiB at the heap's end, and take blocks of up to 32 MiB from the heap: a step
   frees and allocates the same blocks each time, and pages that the kernel takes back have to be cleared again. */
static void
keep(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

hu_resident
hu_resident_begin(void)
{
	hu_resident r = { .most = NAN };

	give_back();
	r.reset = set_back();
	r.begun = status_of("VmRSS");
	r.lifetime = lifetime();
	return r;
}

void
hu_resident_pause(hu_resident *r)
{
	r->most = hu_resident_growth(r);
	r->paused = 1;
	keep();
}

void
hu_resident_resume(hu_resident *r)
{
	give_back();
	r->paused = !set_back(); /* without a mark the peak is that of the pause too */
}

double
hu_resident_growth(const hu_resident *r)
{
	double most = r->reset && !r->paused ? status_of("VmHWM") : NAN;

	if (r->paused)
		return r->most;

	if (isnan(most) && lifetime() > r->lifetime)
		most = lifetime();
	if (isnan(most) || isnan(r->begun))
		return NAN;
	return fmax(most > r->begun ? most - r->begun : 0, r->most); /* fmax passes over a most that is NaN */
}
