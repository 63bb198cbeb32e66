/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/number/block/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
ascending(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Point k of torch.linspace(0.1, 1, n + 1) in fp32: from both ends in steps of 0.9 / n. */
static float
boundary(int k, int n)
{
	float step = (1 - 0.1f) / (float)n;

	return k < (n + 1) / 2 ? fmaf(step, (float)k, 0.1f) : fmaf(-step, (float)(n - k), 1.0f);
}

/* Decade i of `bits` - 1 has 2^i midpoints of equal parts of 0.1 to 1, or twice as many without a sign, times
   10^(i - bits + 2). */
static void
dynamic(hu_code_map *m, int bits, int is_signed)
{
	m->n = 0;
	for (int i = 0; i < bits - 1; i++) {
		int parts = is_signed ? 1 << i : 2 << i;
		double unit = pow(10, i - bits + 2);
		for (int k = 0; k < parts; k++) {
			float middle = (boundary(k, parts) + boundary(k + 1, parts)) / 2;
			m->value[m->n++] = (float)unit * middle;
			if (is_signed)
				m->value[m->n++] = -(float)unit * middle;
		}
	}
	m->value[m->n++] = 0;
	m->value[m->n++] = 1;
	qsort(m->value, (size_t)m->n, sizeof *m->value, ascending);
}

hu_status
hu_code_map_find(const char *name, hu_code_map *m)
{
	if (!strcmp(name, "dynamic8") || !strcmp(name, "dynamic4")) {
		dynamic(m, name[7] - '0', 1);
	} else if (!strcmp(name, "dynamic8u")) {
		dynamic(m, 8, 0);
	} else if (!strcmp(name, "linear4u")) {
		m->n = 16;
		for (int k = 0; k < 16; k++)
			m->value[k] = (float)(k + 1) / 16;
	} else {
		return hu_fail(HU_EINVAL,
			"unknown map of codes '%s'; there are dynamic8, dynamic8u, dynamic4 and linear4u", name);
	}
	return HU_OK;
}

int
hu_code_map_nearest(const hu_code_map *m, float x)
{
	int low = 0, high = m->n - 1;

	while (high - low > 1) {
		int middle = (low + high) / 2;
		if (m->value[middle] <= x)
			low = middle;
		else
			high = middle;
	}
	return (double)x - (double)m->value[low] < (double)m->value[high] - (double)x ? low : high;
}
