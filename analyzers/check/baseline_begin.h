/* SPDX-License-Identifier: Apache-2.0
   What step 0 began with: a digest of each tensor that no call makes – the batch, the weights and the rest of the
   state – where that step was traced. A training that begins with others is told from one that computes otherwise. */
#ifndef HU_ANALYZERS_BASELINE_BEGIN_H
#define HU_ANALYZERS_BASELINE_BEGIN_H

#include "analyzers/check/drift.h"
#include "lib/base/str.h"

/* Adds a quantity begin/TENSOR/digest, FNV-1a in 64 bits of the tensor's bytes, for each; none where step 0 was not
   traced. */
hu_status hu_baseline_collect_begin(hu_baseline *b, const hu_run *r);
/* Appends which of them are others among n findings, the batch first; returns how many there are. */
size_t hu_begin_add_cause(hu_str *s, const hu_finding *f, size_t n);
#endif
