/* SPDX-License-Identifier: Apache-2.0
   Published step times, to be printed beside measured ones. */
#ifndef HU_TRAINER_BENCH_PUBLISHED_H
#define HU_TRAINER_BENCH_PUBLISHED_H

#include <stddef.h>

/* A row of published.def. A number that was not published is NaN, a text "". */
typedef struct hu_published {
	const char *source, *model, *image, *device;
	size_t batch;
	const char *policy;
	double ms, memory_mb, watts;
	const char *note;
} hu_published;

/* Returns row i; NULL past the last. */
const hu_published *hu_published_at(size_t i);
/* Returns r's time over that of float32 on the same device at the same batch by the same source; NaN where either is
   missing. */
double hu_published_ratio(const hu_published *r);
#endif
