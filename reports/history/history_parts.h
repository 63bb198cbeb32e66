/* SPDX-License-Identifier: Apache-2.0
   What the files of this room share. */
#ifndef HU_REPORTS_HISTORY_PARTS_H
#define HU_REPORTS_HISTORY_PARTS_H

#include "lib/base/str.h"
#include "lib/store/history/course.h"

/* 1 where the value of commit K is outside its limits. */
int hu_history_beyond(const hu_course *c, size_t k);
/* Appends the picture of a course as SVG: its values, their limits, and a line where it moved. */
void hu_history_draw(hu_str *b, const hu_course *c);
#endif
