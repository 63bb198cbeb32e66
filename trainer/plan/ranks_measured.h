/* SPDX-License-Identifier: Apache-2.0
   What the ranks of a training that was shared took a step, from the run's ranks.tsv. */
#ifndef HU_TRAINER_RANKS_MEASURED_H
#define HU_TRAINER_RANKS_MEASURED_H

#include "lib/base/status.h"

#include <jansson.h>

/* ms: of the slowest rank; ms_messages: the ranks' mean; sent, memory: bytes a step, and held, of the rank with most.
   run is NULL where nobody asks. */
typedef struct hu_ranks_measured {
	const char *run;
	char policy[128];
	size_t ranks, parameters;
	double ms, ms_messages, sent, memory;
} hu_ranks_measured;

/* Reads RUN/manifest.json and RUN/ranks.tsv. HU_EFILE where one is missing, or is not as this program writes it: a run
   that one process made has no ranks.tsv. run must outlive *m. */
hu_status hu_ranks_measured_read(hu_ranks_measured *m, const char *run);
json_t *hu_ranks_measured_json(const hu_ranks_measured *m);
void hu_ranks_measured_print(const hu_ranks_measured *m);
#endif
