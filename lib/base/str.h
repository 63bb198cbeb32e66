/* SPDX-License-Identifier: Apache-2.0
   A growing string. Invariant: s is never NULL after hu_str_init and s[len] is 0. */
#ifndef HU_BASE_STR_H
#define HU_BASE_STR_H

#include <stddef.h>

typedef struct hu_str { char *s; size_t len, cap; } hu_str;

void hu_str_init(hu_str *b);
void hu_str_release(hu_str *b);
void hu_str_add(hu_str *b, const char *text);
void hu_str_addn(hu_str *b, const void *bytes, size_t n);
void hu_str_addf(hu_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True where S matches the shell pattern PATTERN (`*`, `?`, `[a-z]`); several
   patterns are separated by commas. */
int hu_match(const char *patterns, const char *s);

/* The entry of NAMES (N of them) that begins with WORD (two letters or more), else the nearest by edit distance,
   compared without case; NULL where none is near (distance above a third of its length + 1). */
const char *hu_nearest(const char *word, const char *const *names, size_t n);
#endif
