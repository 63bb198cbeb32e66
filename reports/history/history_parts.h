/* SPDX-License-Identifier: Apache-2.0
   What the files of this folder share. */
#ifndef HU_REPORTS_HISTORY_PARTS_H
#define HU_REPORTS_HISTORY_PARTS_H

#include "lib/base/str.h"
#include "lib/store/history/course.h"

/* 1 where the value of commit K is outside its limits. */
int hu_history_beyond(const hu_course *c, size_t k);
/* Appends a commit as it is told: of a hash its first HU_HISTORY_HASH letters, with all of them where the pointer
   rests, unless PLAIN; another name whole. */
enum { HU_HISTORY_HASH = 10 };
void hu_history_commit(hu_str *b, const char *commit, int plain);
/* Appends the picture of a course as SVG: its values, their limits, and a line where it moved. */
void hu_history_draw(hu_str *b, const hu_course *c);
/* Returns the courses as they are told: those that moved, by the commit where they did, what a reviewer reads first
   before the others, and these by their place in the program; then those that did not, in the order of their table.
   The caller frees it. */
const hu_course **hu_history_order(const hu_courses *h);
/* Appends the table of the commits where quantities moved, and that of all quantities. */
void hu_history_commits(hu_str *b, const hu_courses *h, const hu_course **order);
void hu_history_list(hu_str *b, const hu_courses *h, const hu_course **order);

/* Writes two numbers with as many digits as tell them apart, four or more. */
enum { HU_HISTORY_TEXT = 40 };
void hu_history_apart(char x[HU_HISTORY_TEXT], char y[HU_HISTORY_TEXT], double first, double second);
#endif
