/* SPDX-License-Identifier: Apache-2.0
   --count: every step's exponents of chosen tensors, and what of them their casts lost; counted where the step ran. */
#ifndef HU_TRAINER_CENSUS_H
#define HU_TRAINER_CENSUS_H

#include "lib/program/bins.h"
#include "trainer/run/session.h"

/* Columns of casts.tsv; exponents.tsv's are in bins.h. */
#define HU_CASTS_COLUMNS                                                                                               \
	"step call layer tensor class from to elements nonzeros became_zero became_subnormal lost_bits ftz"

/* HU_EINVAL where nothing of p matches pattern, which may be NULL: nothing is to be counted. */
hu_status hu_census_check(const hu_program *p, const char *pattern);
/* Adds the rows of step `step`, between step and commit. */
hu_status hu_census_add(hu_tsv *exponents, hu_tsv *casts, hu_session *s, size_t step);
/* Adds x's elements; before: what it was cast from, times scale; NULL: it was not. */
void hu_census_of(hu_census *c, const hu_tensor *x, const hu_tensor *before, double scale);
#endif
