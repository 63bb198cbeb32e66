/* SPDX-License-Identifier: Apache-2.0
   The quantities of a history.tsv commit by commit, and where each moved: what check --history says of them, and what
   report --history draws. */
#ifndef HU_STORE_COURSE_H
#define HU_STORE_COURSE_H

#include "lib/base/tsv.h"

/* One quantity over the commits that have a finite value of it, in the table's order. low, high: the limits of the
   baseline that the commit was held to; an infinity where one side is free, NaN where nothing was compared. split: the
   first commit behind the change point, 0 where there is none; before, after: the means on both sides of it. step,
   call: where in a run the quantity is, NaN where the table does not say. headline: the quantity is of the first
   table, those that stand first in a baseline. */
typedef struct hu_course {
	const char *key, **commit, **date;
	double *value, *low, *high, before, after, step, call;
	size_t n, cap[5], split;
	int headline;
} hu_course;

/* The strings are the tables'. commit, date: of each commit, in the order of the first table that has it. */
typedef struct hu_courses {
	hu_course *q;
	const char **commit, **date;
	size_t n, cap, commits, commits_cap, dates_cap;
} hu_courses;

/* The files of a history's folder: of the quantities that stand first in a baseline, for all commits; and of every
   other one that a baseline holds a run to, for the last HU_HISTORY_KEPT. */
#define HU_HISTORY_FILE "history.tsv"
#define HU_HISTORY_GATED "gated.tsv"
enum { HU_HISTORY_KEPT = 100 };

/* Takes the courses from T, whose columns are commit, date, quantity, value and, where limits were kept, low and high,
   and then, where it is not NULL, from GATED, which has step and call as well, and whose quantities are no headlines.
   The change point is the split into two runs of commits that leaves the least sum of squares within them; it is there
   where nothing is left, or where the F statistic of the split, with 1 and n - 2 degrees of freedom, is above 30. */
void hu_courses_of(hu_courses *c, const hu_table *t, const hu_table *gated);
void hu_courses_release(hu_courses *c);
/* Where COMMIT stands among all; their number where it is none of these. */
size_t hu_courses_place(const hu_courses *c, const char *commit);
/* HU_EFILE where the columns of T, read from PATH, are not those of a history. */
hu_status hu_courses_fit(const hu_table *t, const char *path);
#endif
