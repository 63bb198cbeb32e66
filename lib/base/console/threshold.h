/* SPDX-License-Identifier: Apache-2.0
   A limit on a number, as a line of the user says it: <=0.1%, >30. Every rule that compares a number with one, whatever
   the number is of, is read and judged here. */
#ifndef HU_BASE_CONSOLE_THRESHOLD_H
#define HU_BASE_CONSOLE_THRESHOLD_H

typedef struct hu_threshold {
	double value;
	int least;   /* 1: the number is the limit or more; 0: the limit or less */
	int open;    /* 1: it is not the limit itself */
	int percent; /* % stood behind the number */
} hu_threshold;

/* Reads TEXT, which begins with <, <=, > or >=. Returns 0 where no number stands behind that, or NaN. */
int hu_threshold_read(hu_threshold *l, const char *text);
/* Returns what stands behind the sign. */
const char *hu_threshold_number(const char *text);
/* x <= value, and x >= value. */
hu_threshold hu_threshold_most(double value);
hu_threshold hu_threshold_least(double value);
/* Returns whether x keeps the limit; NaN keeps none. */
int hu_threshold_keeps(hu_threshold l, double x);
#endif
