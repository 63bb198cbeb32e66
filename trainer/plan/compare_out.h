/* SPDX-License-Identifier: Apache-2.0
   The tables of a comparison: TSV files, JSON, and lines for people. */
#ifndef HU_TRAINER_COMPARE_OUT_H
#define HU_TRAINER_COMPARE_OUT_H

#include "trainer/plan/compare.h"

#include <jansson.h>
#include <stdio.h>

/* Writes compare.tsv, with a row for each policy and rate, and compare-runs.tsv, with a row for each run, into dir. */
hu_status hu_comparison_write(const hu_comparison *c, const char *dir);
json_t *hu_comparison_to_json(const hu_comparison *c);
/* Prints the table for people: a row for each policy with the model's three scores, the first of which is compared with
   the first policy's. */
void hu_comparison_print(const hu_comparison *c, FILE *f);
#endif
