/* SPDX-License-Identifier: Apache-2.0
   Rows of the next batch, made by a thread of their own while a training step runs. made.c decides when; here are the
   thread and what it shares with the one that trains. */
#ifndef HU_TRAINER_DATA_AHEAD_H
#define HU_TRAINER_DATA_AHEAD_H

#include "trainer/data/made.h"

typedef struct hu_ahead hu_ahead;

/* Returns what makes rows of m by a thread, which is started at the first hu_ahead_ask. */
hu_ahead *hu_ahead_new(hu_maker m);
/* Ends the thread; m may be in use until this returns. a may be NULL. */
void hu_ahead_free(hu_ahead *a);

/* Asks for row index[i] at to[i], for each i < n whose to[i] is not NULL. Both arrays must stay until hu_ahead_stop. A
   row that cannot be made is left unmade. Where no thread can be started nothing is made. */
void hu_ahead_ask(hu_ahead *a, const size_t *index, unsigned char *const *to, size_t n);
/* Ends the making, once the row in progress is done. done[i] is set where row i of the n asked for has been made. */
void hu_ahead_stop(hu_ahead *a, unsigned char *done);
#endif
