/* SPDX-License-Identifier: Apache-2.0
   Memory. Small things use the x-functions, which end the program with one
   line and exit 4 when there is no memory; tensors use hu_alloc, whose NULL
   the caller turns into HU_ENOMEM with the size and what would fit. */
#ifndef HU_BASE_MEM_H
#define HU_BASE_MEM_H

#include <stddef.h>

void *hu_xmalloc(size_t n);
void *hu_xcalloc(size_t count, size_t size);
void *hu_xrealloc(void *p, size_t n);
char *hu_xstrdup(const char *s);
char *hu_xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* N zeroed bytes aligned to 64, or NULL. Freed by free(). */
void *hu_alloc(size_t n);
/* The same, ending as the x-functions do. */
void *hu_xalloc(size_t n);

/* Makes room for one more in a growing array: ARR[LEN], capacity CAP. */
#define HU_GROW(arr, len, cap)                                                      \
	do {                                                                        \
		if ((len) == (cap)) {                                               \
			(cap) = (cap) ? 2 * (cap) : 16;                             \
			(arr) = hu_xrealloc((arr), (size_t)(cap) * sizeof *(arr)); \
		}                                                                   \
	} while (0)
#endif
