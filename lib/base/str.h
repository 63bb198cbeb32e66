/* SPDX-License-Identifier: Apache-2.0
   A growing string. After hu_str_init, s is never NULL and s[len] is 0. */
#ifndef HU_BASE_STR_H
#define HU_BASE_STR_H

#include <stddef.h>

typedef struct hu_str { char *s; size_t len, cap; } hu_str;

/* hu_str_init makes an empty string and hu_str_release frees it. The others append a string, n bytes, or printed
   text. They end the program where there is no memory. */
void hu_str_init(hu_str *b);
void hu_str_release(hu_str *b);
void hu_str_add(hu_str *b, const char *text);
void hu_str_addn(hu_str *b, const void *bytes, size_t n);
void hu_str_addf(hu_str *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns 1 where s matches one of the shell patterns (`*`, `?`, `[a-z]`), which commas separate. */
int hu_match(const char *patterns, const char *s);
/* Returns a copy, for the caller to free, of the first of the patterns that fits none of the names name(of, 0),
   name(of, 1), ..., name(of, n - 1), or "" where there is no pattern at all; NULL where each fits one. A name that is
   NULL does not count. */
char *hu_str_unmatched(const char *patterns, const char *(*name)(const void *of, size_t i), const void *of, size_t n);

/* Compares two names as strcmp does, but that digits are numbers: layer.2 stands before layer.10, and step-20 before
   step-100. 0 only for names that are the same. */
int hu_str_order(const char *a, const char *b);

/* Finds what a user probably meant by word: the first of the n names that begins with it (two letters or more), else
   the name at the smallest edit distance, compared without case. NULL where no name is near: the distance must be at
   most a third of word's length + 1, and at most 1 for words of up to three letters. */
const char *hu_nearest(const char *word, const char *const *names, size_t n);
#endif
