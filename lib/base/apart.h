/* SPDX-License-Identifier: Apache-2.0
   Where two texts part: a line that says that they differ is of use only if it shows where. */
#ifndef HU_BASE_APART_H
#define HU_BASE_APART_H

/* Both texts whole where they are short, else some characters before the first one that differs and more of those
   behind it; dots stand for what is left out. */
enum { HU_APART = 112 };
typedef struct hu_apart { char a[HU_APART], b[HU_APART]; } hu_apart;

hu_apart hu_where_apart(const char *a, const char *b);
#endif
