/* SPDX-License-Identifier: Apache-2.0
   Rows that are made when they are first asked for, such as images that are decoded from files, and kept in memory
   after that. Which threads make them, and when, changes no value: those of the batch that asks, or one that makes the
   next batch ahead. */
#ifndef HU_TRAINER_DATA_MADE_H
#define HU_TRAINER_DATA_MADE_H

#include "lib/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* What makes rows. make writes one row of the array's bytes and may run in several threads at once; release frees
   own. */
typedef struct hu_maker {
	hu_status (*make)(const void *own, size_t row, unsigned char *to);
	void (*release)(void *own);
	void *own;
	uint64_t digest; /* of what the rows are made from */
} hu_maker;

typedef struct hu_made hu_made;

/* Returns what makes and keeps n rows of `bytes` bytes each; it takes m over. Memory for a row is used when it is made.
   Rows beyond half of this machine's memory are not kept: they are made again each time. */
hu_made *hu_made_new(hu_maker m, size_t n, size_t bytes);
void hu_made_free(hu_made *m); /* m may be NULL */
uint64_t hu_made_digest(const hu_made *m);
/* Returns the bytes that the rows take once all that are kept are made; *kept is their number. */
size_t hu_made_bytes(const hu_made *m, size_t *kept);

/* Says which n rows the next hu_made_rows_get will be for, if it is known. A thread of its own makes those that are not
   there while the caller does other work; which rows it has made by then changes no value. A get for other rows pauses
   it. */
void hu_made_ask(hu_made *m, const size_t *index, size_t n);

/* Rows of a batch: row[i] is valid until the release. */
typedef struct hu_made_rows { const unsigned char **row; unsigned char *own; } hu_made_rows;

/* Gets n rows, which may occur several times; those that are not there are made by all threads. After a failure, which
   is that of the first row in the batch that cannot be made, nothing needs a release. */
hu_status hu_made_rows_get(hu_made_rows *r, hu_made *m, const size_t *index, size_t n);
void hu_made_rows_release(hu_made_rows *r);
#endif
