/* SPDX-License-Identifier: Apache-2.0
   Where two texts part: a line that says that they differ is of use only if it shows where. */
#ifndef HU_BASE_EXCERPTS_H
#define HU_BASE_EXCERPTS_H

/* Both texts whole where they are short, else some characters before the first one that differs and more of those
   behind it; dots stand for what is left out. */
enum { HU_EXCERPT = 112 };
typedef struct hu_excerpts { char a[HU_EXCERPT], b[HU_EXCERPT]; } hu_excerpts;

/* Neither excerpt begins or ends within a character of UTF-8. */
hu_excerpts hu_excerpts_of(const char *a, const char *b);
#endif
