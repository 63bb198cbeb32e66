/* SPDX-License-Identifier: Apache-2.0
   The processor's energy counters through Linux's powercap tree (RAPL): packages, and memory
   where it is counted apart. Each counts microjoules up to max_energy_range_uj, then from 0. */
#include "trainer/energy/energy.h"

#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 64 };

typedef struct zone { char path[320]; double range, last, wraps; } zone;
typedef struct rapl { zone z[MOST]; int n; double busy, since; } rapl;

/* Returns the microjoules that file in the zone at path has; negative where it cannot be read. */
static double
number(const char *path, const char *file)
{
	char name[400];
	unsigned long long x;
	FILE *f;

	snprintf(name, sizeof name, "%s/%s", path, file);
	if (!(f = fopen(name, "r")))
		return -1;
	int got = fscanf(f, "%llu", &x) == 1;
	fclose(f);
	return got ? (double)x : -1;
}

/* Returns 1 for a package and for memory that is counted apart. Cores are part of their package, and psys counts all of
   it again. */
static int
counts(const char *path)
{
	char name[400], text[64] = "";
	FILE *f;

	snprintf(name, sizeof name, "%s/name", path);
	if (!(f = fopen(name, "r")))
		return 0;
	int got = fscanf(f, "%63s", text) == 1;
	fclose(f);
	return got && (!strncmp(text, "package", 7) || !strcmp(text, "dram"));
}

/* Zones are intel-rapl:0, intel-rapl:0:1, … (the name on AMD's processors too), all of them links in one folder;
   intel-rapl-mmio:… would count the same packages a second time. */
static int
find_zones(rapl *r, const char *root)
{
	DIR *d = opendir(root);
	struct dirent *e;
	int denied = 0;

	while (d && (e = readdir(d)) && r->n < MOST) {
		zone *z = &r->z[r->n];
		if (strncmp(e->d_name, "intel-rapl:", 11))
			continue;
		snprintf(z->path, sizeof z->path, "%.200s/%.100s", root, e->d_name);
		if (!counts(z->path))
			continue;
		z->range = number(z->path, "max_energy_range_uj");
		z->last = number(z->path, "energy_uj");
		if (z->last < 0)
			denied |= errno == EACCES || errno == EPERM;
		else
			r->n++;
	}
	if (d)
		closedir(d);
	return denied;
}

static double
busy_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void *
open_rapl(char *what, size_t what_size, char *why, size_t why_size)
{
	const char *root = getenv("HALFULP_POWERCAP");
	rapl *r = hu_xcalloc(1, sizeof *r);

	root = root && *root ? root : "/sys/class/powercap";
	int denied = find_zones(r, root);
	if (!r->n) {
		snprintf(why, why_size,
			denied ? "%s: its counters are readable by root only"
			       : "%s has no RAPL counter (a virtual machine, or not Linux on x86)",
			root);
		free(r);
		return NULL;
	}
	snprintf(what, what_size, "RAPL, %d counter%s (packages and memory)", r->n, r->n == 1 ? "" : "s");
	r->busy = busy_seconds();
	r->since = hu_now();
	return r;
}

static double
joules(void *state)
{
	rapl *r = state;
	double sum = 0;

	for (int i = 0; i < r->n; i++) {
		zone *z = &r->z[i];
		double x = number(z->path, "energy_uj");
		if (x < 0)
			return -1;
		/* range is the largest value; the next one is 0 */
		if (x < z->last)
			z->wraps += z->range > 0 ? z->range + 1 : z->last;
		z->last = x;
		sum += z->wraps + x;
	}
	return 1e-6 * sum;
}

/* Returns this process's share of the time of all processors. */
static double
utilisation(void *state)
{
	rapl *r = state;
	double busy = busy_seconds(), now = hu_now(), cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double u = now > r->since ? (busy - r->busy) / (now - r->since) / cores : -1;

	r->busy = busy;
	r->since = now;
	return u < 1 ? u : 1;
}

const hu_meter hu_meter_rapl = { "rapl", 0, open_rapl, joules, utilisation, free };
