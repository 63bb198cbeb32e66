/* SPDX-License-Identifier: Apache-2.0
   What a step costs, counted from shapes: a row for each layer or each call; and tables that have a row for each
   policy: memory, and times on a device. */
#ifndef HU_TRAINER_PLAN_ROWS_H
#define HU_TRAINER_PLAN_ROWS_H

#include "lib/program/program.h"
#include "trainer/device/timing.h"
#include "trainer/run/memory.h"

#include <jansson.h>

/* A row: a call, or the calls of a layer together. bound is the largest proven error coefficient, NaN where there is
   none. */
typedef struct hu_plan_row {
	const char *layer;
	const hu_call *call;
	int calls, casts;
	double macs, flops, bytes, bound;
} hu_plan_row;

/* Makes *n rows in the order of their first call in the program; the last one is the sum. The caller frees them. */
hu_plan_row *hu_plan_rows(const hu_program *p, int by_call, int *n);
void hu_plan_rows_print(const hu_program *p, const hu_plan_row *rows, int n, int by_call);
/* Prints what the columns of rows mean. */
void hu_plan_rows_help(void);
json_t *hu_plan_row_json(const hu_program *p, const hu_plan_row *r, int by_call);
/* name, memory and need have n elements; need: bytes on a device, NaN where that is unknown. */
void hu_plan_memory_print(const char *const *name, const hu_memory *memory, const double *need, int n);
/* Ratios are to the first. */
void hu_plan_timings_print(const char *const *name, const hu_timing *timing, int n);
#endif
