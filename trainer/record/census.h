/* SPDX-License-Identifier: Apache-2.0
   The option --count: at every step the exponents of chosen tensors are counted, and what their casts lost, on the back
   end that executes the step. */
#ifndef HU_TRAINER_CENSUS_H
#define HU_TRAINER_CENSUS_H

#include "lib/program/bins.h"
#include "trainer/run/session.h"

/* The columns of casts.tsv; bins.h has those of exponents.tsv. */
#define HU_CASTS_COLUMNS                                                                                               \
	"step call layer tensor class from to elements nonzeros became_zero became_subnormal lost_bits ftz"

/* Adds the rows of step `step`; to be called between hu_session_step and hu_session_commit. */
hu_status hu_census_add(hu_tsv *exponents, hu_tsv *casts, hu_session *s, size_t step);
#endif
