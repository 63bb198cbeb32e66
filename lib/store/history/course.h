/* SPDX-License-Identifier: Apache-2.0
   The quantities of a history.tsv commit by commit, and where each moved: what check --history says of them, and what
   report --history draws. */
#ifndef HU_STORE_COURSE_H
#define HU_STORE_COURSE_H

#include "lib/base/tsv.h"

/* One quantity over the commits that have a finite value of it, in the table's order. low, high: the limits of the
   baseline that the commit was held to; an infinity where one side is free, NaN where nothing was compared. split: the
   first commit behind the change point, 0 where there is none; before, after: the means on both sides of it. */
typedef struct hu_course {
	const char *key, **commit, **date;
	double *value, *low, *high, before, after;
	size_t n, cap[5], split;
} hu_course;

/* The strings are the table's. commits: how many the table has. */
typedef struct hu_courses {
	hu_course *q;
	size_t n, cap, commits;
} hu_courses;

/* Takes the courses from T, whose columns are commit, date, quantity, value and, where limits were kept, low and high.
   The change point is the split into two runs of commits that leaves the least sum of squares within them; it is there
   where nothing is left, or where the F statistic of the split, with 1 and n - 2 degrees of freedom, is above 30. */
void hu_courses_of(hu_courses *c, const hu_table *t);
void hu_courses_release(hu_courses *c);
/* HU_EFILE where the columns of T, read from PATH, are not those of a history. */
hu_status hu_courses_fit(const hu_table *t, const char *path);
#endif
