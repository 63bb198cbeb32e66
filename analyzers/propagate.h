/* SPDX-License-Identifier: Apache-2.0
   The exact step: the whole program again from the recorded state and inputs with
   every rounding of the policy taken out. Its distance from the recorded tensors is
   the propagated error of the step. */
#ifndef HU_ANALYZERS_PROPAGATE_H
#define HU_ANALYZERS_PROPAGATE_H

#include "analyzers/engine.h"
#include "analyzers/errors.h"
#include "lib/program/exec.h"

/* Below this share of the exact value a propagated error is not reported: every
   operation of the exact step is rounded to fp64, 2^-53, and a step adds up fewer
   than 2^8 roundings an element beyond what its condition amplifies in both runs alike. */
#define HU_PROPAGATE_FLOOR 0x1p-45

/* One line for a table's head: how the exact step is computed. */
#define HU_PROPAGATE_HOW "the step again in fp64 from the recorded state and inputs, casts and roundings removed, the recorded scales and finite check kept, a sample of every call judged against its fp64 bound; reported down to 2^-45 of the value"

/* Values of every call of the exact step that are judged against its a-priori bound in fp64. */
enum { HU_PROPAGATE_SAMPLE = 16 };

/* RECORDED: a traced step by tensor id of P. *ideal: an array of P->nt arrays, by
   tensor id, NULL where the tensor is an input that was not recorded or follows from
   one, and where KEEP (by tensor id; NULL: all are kept) is 0; freed by the caller, each and the whole. ERRORS: by tensor
   id, of the recorded tensors from these, known = 0 where there are none. A tensor in a scaled 8-bit format
   carries the recorded scale, so that it compares with the recorded one. ENGINE judges a
   sample of every call, or makes every value; a call outside its own fp64 bound is a bug
   of the emulation and ends the analysis (HU_EUNABLE). Memory: what is kept, and the values that later calls read. */
hu_status hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed, const char *keep, hu_errors_step *errors, double ***ideal);
#endif
