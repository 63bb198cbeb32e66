/* SPDX-License-Identifier: Apache-2.0
   What rank 0 tells the others to do next, as the back end (ranked.c) and those who serve (serve.c) speak of it. */
#ifndef HU_TRAINER_ORDERS_H
#define HU_TRAINER_ORDERS_H

#include "trainer/ranked/ranked.h"

/* Execute step `number`, send rank 0 tensor `number`, end the step, say which rows of the data were read, end the
   training. */
typedef enum hu_ranked_kind {
	HU_RANKED_STEP,
	HU_RANKED_READ,
	HU_RANKED_COMMIT,
	HU_RANKED_ROWS,
	HU_RANKED_END
} hu_ranked_kind;
typedef struct hu_ranked_order { long long kind, number; } hu_ranked_order;

/* Gives an order (rank 0) or waits for one (elsewhere). */
hu_ranked_order hu_ranked_order_next(hu_ranked_kind kind, long long number);
/* Sends rank 0 what this rank has of a tensor that it asked for. */
hu_status hu_ranked_answer(hu_machine *m, int tensor);
/* Tells rank 0 what this rank has read of the rows that it asked for. */
hu_status hu_ranked_answer_rows(hu_session *s);

/* What a rank did, for ranks.tsv: gathered at the end. */
typedef struct hu_ranked_share {
	char host[64], device[128];
	double micro_batches, rows, steps, seconds, waited, sent, received, bytes;
} hu_ranked_share;
hu_ranked_share hu_ranked_did(hu_machine *m);
#endif
