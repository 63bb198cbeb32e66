/* SPDX-License-Identifier: Apache-2.0
   The exact step: the whole program again from the recorded state and inputs with
   every rounding of the policy taken out. Its distance from the recorded tensors is
   the propagated error of the step. */
#ifndef HU_ANALYZERS_PROPAGATE_H
#define HU_ANALYZERS_PROPAGATE_H

#include "lib/judge/engine.h"
#include "lib/judge/errors.h"
#include "lib/program/exec.h"

/* One line for a table's head: how the exact step is computed. */
#define HU_PROPAGATE_HOW                                                                                               \
	"the step again in double-double from the recorded state and inputs, casts and roundings removed, a bound of " \
	"its own error running along; by MPFR (values of 212 bits, and again of 265 where nothing else tells how "     \
	"many of them are right) where that bound exceeds 2^-10 of an error told, and under --engine mpfr "            \
	"throughout; a tensor with a number beyond double's range is not known; recorded: the scales and the finite "  \
	"check, so a skipped step stays skipped; recomputed: relu's masks, maxima and all other choices, and one "     \
	"that the bound leaves open counts in full into it"

/* How a step came to its figures, added up over steps. */
typedef struct hu_propagation {
	size_t steps, by_mpfr,
		twice;             /* steps, those that went to MPFR whole, and those that did so at two precisions */
	size_t tensors, escalated; /* tensors told, and those whose figures are MPFR's because the bound was too wide */
	size_t untold;             /* tensors not told, because two precisions of MPFR disagree */
	size_t judged; /* values of the double-double step judged by MPFR against the bound of their call; all hold */
	size_t vanished;           /* values taken for 0 (errors.h) */
	double widest; /* the largest share that a bound has of its figure, of figures told from double-doubles */
} hu_propagation;

/* RECORDED: a traced step by tensor id of P. *ideal: an array of P->nt arrays, by
   tensor id, NULL where the tensor is an input that was not recorded or follows from
   one, and where KEEP (by tensor id; NULL: all are kept) is 0: the exact step's values to nearest; the caller gives
   back each by hu_room_free and frees the whole. ERRORS: by tensor id, of the recorded tensors from these, known = 0
   where there are none. A tensor in a scaled 8-bit format carries the recorded scale, so that it compares with the
   recorded one. One value a call at least is judged by MPFR from the same operands; one outside its bound is a bug and
   ends the analysis (HU_EUNABLE). HOW may be NULL. Memory: what is kept, and the values that later calls read, 24 bytes
   each in double-double and 32 or 40 under MPFR, and two a value without a digit, in files where it is much
   (lib/base/room.h). */
hu_status hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed,
	const char *keep, hu_errors_step *errors, double ***ideal, hu_propagation *how);
#endif
