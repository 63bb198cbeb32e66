/* SPDX-License-Identifier: Apache-2.0
   What accumulate is asked for: formats, summation models by name, and where terms come from. */
#ifndef HU_ACCUMULATE_OPTIONS_H
#define HU_ACCUMULATE_OPTIONS_H

#include "lib/base/console/opt.h"
#include "lib/number/format.h"
#include "lib/sum/sum.h"

enum { HU_ACCUMULATE_SUMS = 256, HU_ACCUMULATE_ROWS = 4096 };

/* One --sum with one length: the text that hu_sum_parse reads. */
typedef struct hu_accumulate_model { char text[112]; int ranged; } hu_accumulate_model;

typedef struct hu_accumulate_options {
	hu_format_id format[HU_FORMATS];
	int formats, json, table, sums, started, counted; /* counted: --n was given */
	hu_accumulate_model sum[HU_ACCUMULATE_SUMS];
	long long seed, seeds, n, every; /* every: 0 where --table has powers of two */
	double start;
	const char *terms, *times;
} hu_accumulate_options;

/* Reads the command line into *o, every model of which hu_accumulate_resolve can resolve for every format of *o.
   Fails where an option cannot be read, is out of range, or names no model or format. Texts in *o belong to args. */
hu_status hu_accumulate_parse(const hu_args *args, hu_accumulate_options *o);

/* Sets *s to the model m for terms of format f. The accumulator has that format unless the model names another. */
hu_status hu_accumulate_resolve(const hu_accumulate_model *m, hu_format_id f, hu_sum *s);

#endif
