/* SPDX-License-Identifier: Apache-2.0
   Compares another program's result with ours: shape, bits, errors, the proven bound and the probabilistic one. */
#ifndef HU_ANALYZERS_OP_VERDICT_H
#define HU_ANALYZERS_OP_VERDICT_H

#include "analyzers/op/op_run.h"

#include <jansson.h>

/* Prints the comparison with got as JSON or in lines. Sets *wrong to 1 where its shape differs or elements are wrong:
   where they differ from the back end's result (for --as reference, from the exact one rounded once); for --as bound,
   where they are beyond the proven bound. The probabilistic bound never makes a result wrong, but elements outside it
   are reported on standard error too. */
hu_status hu_op_verdict(const hu_op_run *r, const hu_npy *got, int json, int *wrong);

/* Returns what the probabilistic bound rests on: confidence, lambda, roundings, terms, source; null where there is
   none. */
json_t *hu_op_probable_json(const hu_op_run *r);
/* The same as a sentence without its full stop, or the reason why there is none. `text` has at least 300 bytes. */
void hu_op_probable_words(const hu_op_run *r, char *text, size_t size);
#endif
