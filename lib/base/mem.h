/* SPDX-License-Identifier: Apache-2.0
   Memory. Small allocations use the x-functions, which end the program with one line and exit code 4 when there is
   no memory. Tensors use hu_alloc; where it returns NULL, the caller returns HU_ENOMEM with the size and what would
   fit. */
#ifndef HU_BASE_MEM_H
#define HU_BASE_MEM_H

#include <stddef.h>

/* As in the C library, but without memory they end the program. hu_xcalloc zeroes; the last two return new strings,
   hu_xprintf one that is printed. All are freed with free(). */
void *hu_xmalloc(size_t n);
void *hu_xcalloc(size_t count, size_t size);
void *hu_xrealloc(void *p, size_t n);
char *hu_xstrdup(const char *s);
char *hu_xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns n zeroed bytes aligned to 64, or NULL where there is no memory. Freed with free(). */
void *hu_alloc(size_t n);
/* The same, but ends the program as the x-functions do where there is no memory. */
void *hu_xalloc(size_t n);

/* Ends the program as those do: there is no memory for n bytes. */
void hu_mem_end(size_t n) __attribute__((noreturn));

/* Makes room for one more element in a growing array arr of len elements and capacity cap. */
#define HU_GROW(arr, len, cap)                                                                                         \
	do {                                                                                                           \
		if ((len) == (cap)) {                                                                                  \
			(cap) = (cap) ? 2 * (cap) : 16;                                                                \
			(arr) = hu_xrealloc((arr), (size_t)(cap) * sizeof *(arr));                                     \
		}                                                                                                      \
	} while (0)
#endif
