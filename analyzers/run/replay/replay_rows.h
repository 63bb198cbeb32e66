/* SPDX-License-Identifier: Apache-2.0
   Rows of the table replay, and of the table that has one per judged element. */
#ifndef HU_ANALYZERS_REPLAY_ROWS_H
#define HU_ANALYZERS_REPLAY_ROWS_H

#include "analyzers/run/analyzer.h"
#include "lib/judge/parts/bias_sum.h"

#define HU_REPLAY_COLUMNS                                                                                      \
	"step call op phase layer tensor format compute sum elements sampled ulp_max ulp_mean ulp_p99 "        \
	"rel_max backward_normwise backward_componentwise condition_max bound_ratio_max over_bound "           \
	"worst_element propagated_ulp_max propagated_ulp_mean propagated_rel_normwise ulp_mean_ci95 "          \
	"signed_ulp_mean outward_ulp_mean bias_t bias_t_declared biased"

/* Appends the row of tensor id, of whose elements `judged` were judged, and m and b found. */
void hu_replay_row(hu_tsv *out, const hu_analysis *a, const hu_step_facts *s, int id, size_t judged, const hu_errors *m,
	const hu_bias_found *b);
/* Appends a row for every element of tensor id that was judged. */
void hu_replay_elements(hu_tsv *out, const hu_analysis *a, const hu_trace *t, int id, const hu_judged *j);
#endif
