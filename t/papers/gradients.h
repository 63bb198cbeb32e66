/* SPDX-License-Identifier: Apache-2.0
   A desk model of gradients, whose exponents are normally distributed: |g| = 2^N(mean, sd). Not random: the
   quantiles of (i + 1/2) / n, so that a share of them is the distribution's to within 1/n. */
#ifndef HU_T_PAPERS_GRADIENTS_H
#define HU_T_PAPERS_GRADIENTS_H

#include "lib/store/npy.h"
#include "t/tool/tap.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENTS = 20000 };

/* Φ(x) */
static double
below(double x)
{
	return erfc(-x / sqrt(2)) / 2;
}

static double
quantile(double p)
{
	double low = -40, high = 40;

	for (int i = 0; i < 100; i++)
		*(below((low + high) / 2) < p ? &low : &high) = (low + high) / 2;
	return low;
}

/* What `halfulp inspect` says that FORMAT does to the model's gradients times 2^SCALE: its JSON row, the caller's. */
static json_t *
inspect(double mean, double sd, int scale, const char *format)
{
	static double g[GRADIENTS];
	size_t n = GRADIENTS;
	char path[1024], line[4096];
	const char *program = getenv("HALFULP");
	json_error_t why;

	for (size_t i = 0; i < n; i++)
		g[i] = (i % 2 ? -1 : 1) * exp2(mean + sd * quantile((i + 0.5) / (double)n) + scale);
	snprintf(path, sizeof path, "%s/g.npy", test_dir());
	if (hu_npy_write(path, "f8", 1, &n, g) != HU_OK)
		bail_out("%s", hu_reason());
	snprintf(line, sizeof line, "'%s' inspect --to %s --json '%s'", program ? program : "./halfulp", format, path);
	FILE *f = popen(line, "r");
	json_t *rows = f ? json_loadf(f, 0, &why) : NULL;
	if (!f || pclose(f) || json_array_size(rows) != 1)
		bail_out("%s did not answer with one row", line);
	json_t *row = json_incref(json_array_get(rows, 0));
	json_decref(rows);
	return row;
}

/* A count of that row over the number of gradients. */
static double
share(const json_t *row, const char *count)
{
	return (double)json_integer_value(json_object_get(row, count)) / GRADIENTS;
}
#endif
