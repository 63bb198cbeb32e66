/* SPDX-License-Identifier: Apache-2.0
   plan --ranks: its options, and its tables as text and JSON. */
#ifndef HU_TRAINER_RANKS_OUT_H
#define HU_TRAINER_RANKS_OUT_H

#include "lib/base/console/opt.h"
#include "trainer/plan/ranks.h"
#include "trainer/plan/ranks_measured.h"

/* n: ranks, 0 where nobody asks. network.name is NULL where none is named. */
typedef struct hu_rank_ask {
	size_t n;
	hu_format_id wire;
	hu_rank_network network;
	hu_ranks_measured measured;
} hu_rank_ask;

/* Reads --ranks and its keys wire=, network= and measured=. */
hu_status hu_rank_ask_parse(hu_rank_ask *r, const hu_args *a);

/* Whether a run was measured under this policy. */
int hu_rank_ask_measured(const hu_rank_ask *r, const char *policy);
/* HU_EFILE where a run was measured under this policy and its model has another number of parameters. */
hu_status hu_rank_ask_fits(const hu_rank_ask *r, const char *policy, size_t parameters);

/* A row for each stage, and what was measured where that is of this policy. compute_s is the least time of the step's
   calls in seconds, NaN where no device is asked for; beside a network, efficiency is compute over the longer of
   compute and sending, as if all sending were hidden. */
json_t *hu_rank_stages_json(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s);
void hu_rank_stages_print(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s);
#endif
