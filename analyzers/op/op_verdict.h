/* SPDX-License-Identifier: Apache-2.0
   Somebody else's result beside ours: shape, bits, errors, the proven bound and the probabilistic one. */
#ifndef HU_ANALYZERS_OP_VERDICT_H
#define HU_ANALYZERS_OP_VERDICT_H

#include "analyzers/op/op_run.h"

#include <jansson.h>

/* Prints the judgement of got, as JSON or in lines. wrong gets 1 where its shape is another one or elements are wrong:
   they differ from the back end's result (or the exact one rounded once, by --as reference); with --as bound they are
   beyond the proven bound. The probabilistic bound never makes a result wrong, but what lies outside it is said on
   standard error too. */
hu_status hu_op_verdict(const hu_op_run *r, const hu_npy *got, int json, int *wrong);

/* What the probabilistic bound of a run rests on: confidence, lambda, roundings, terms, source; null where there is
   none. */
json_t *hu_op_probable_json(const hu_op_run *r);
/* The same as a sentence without an end, or why there is none. `text` of 300 bytes or more. */
void hu_op_probable_words(const hu_op_run *r, char *text, size_t size);
#endif
