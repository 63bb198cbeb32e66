/* SPDX-License-Identifier: Apache-2.0
   plan --ranks: its options, and its tables as text and JSON. */
#ifndef HU_TRAINER_RANKS_OUT_H
#define HU_TRAINER_RANKS_OUT_H

#include "lib/base/console/opt.h"
#include "trainer/plan/ranks.h"

/* n: ranks, 0 where nobody asks. network.name is NULL where none is named. */
typedef struct hu_rank_ask { size_t n; hu_format_id wire; hu_rank_network network; } hu_rank_ask;

/* Reads --ranks, --wire and --network. */
hu_status hu_rank_ask_parse(hu_rank_ask *r, const hu_args *a);

/* A row for each stage. compute_s is the least time of the step's calls in seconds, NaN where no device is asked for;
   beside a network, efficiency is compute over the longer of compute and sending, as if all sending were hidden. */
json_t *hu_rank_stages_json(const hu_rank_ask *r, const hu_rank_sizes *s, double compute_s);
void hu_rank_stages_print(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s);
#endif
