/* SPDX-License-Identifier: Apache-2.0
   What step 0 began with, and the bits that came of it, where that step was traced: a digest of each tensor. A training
   that begins with others is told from one that computes otherwise, and the first call that does from the calls behind
   it, also where its error is the same. */
#ifndef HU_ANALYZERS_BASELINE_BEGIN_H
#define HU_ANALYZERS_BASELINE_BEGIN_H

#include "analyzers/drift/baseline/drift.h"
#include "lib/base/str.h"

/* Adds the quantity begin/TENSOR/digest of each tensor that no call makes (the batch, the weights and the rest of the
   state), and output/TENSOR/digest of every other: FNV-1a in 64 bits of its bytes. None where step 0 was not traced. */
hu_status hu_baseline_collect_begin(hu_baseline *b, const hu_run *r);
/* Appends which of them are others among n findings, the batch first; returns how many there are. */
size_t hu_begin_add_cause(hu_str *s, const hu_finding *f, size_t n);
/* Appends the first call of GOT's training program whose output has other bits among n findings, as the cause; returns
   0 where there is none. */
int hu_begin_add_call(hu_str *s, const hu_finding *f, size_t n, const hu_baseline *got);
#endif
