/* SPDX-License-Identifier: Apache-2.0
   The exact step: the whole program run again from the recorded state and inputs without the policy's roundings. The
   distance of the recorded tensors from it is the propagated error of the step. */
#ifndef HU_ANALYZERS_PROPAGATE_H
#define HU_ANALYZERS_PROPAGATE_H

#include "lib/judge/engine.h"
#include "lib/judge/errors.h"
#include "lib/program/exec.h"

/* A line for a table's head that says how the exact step is computed. */
#define HU_PROPAGATE_HOW                                                                                        \
	"the whole step computed again from the recorded state and inputs without casts and roundings, in pairs "\
	"of doubles with a bound on their own error; by MPFR where that bound exceeds 2^-10 of an error reported, "\
	"with 212 bits, and again with 265 where only the agreement of both tells how many are right, and "     \
	"everywhere under --engine mpfr; a tensor with a number beyond the range of doubles has no figure; the "\
	"loss scale, the scales of casts and the finite check are the recorded ones, so a skipped step stays "  \
	"skipped; relu's masks, maxima and all other choices are made again, and a choice that the bound leaves "\
	"open counts in full into the bound"                                                                    

/* How steps came to their figures, added up over steps. */
typedef struct hu_propagation {
	size_t steps, by_mpfr,
		twice; /* all steps, those that MPFR computed wholly, and those that it computed at two precisions */
	/* tensors reported, and those whose figures are MPFR's because the bound was too wide */
	size_t tensors, escalated;
	size_t untold;             /* tensors not reported, because two precisions of MPFR disagree */
	size_t judged; /* values of the double-double step that MPFR judged against their call's bound; all hold */
	size_t vanished;           /* values taken for 0 (errors.h) */
	double widest; /* the largest ratio of a bound to its figure, among the figures that come from double-doubles */
} hu_propagation;

/* Runs the exact step. recorded holds a traced step by tensor id of p. errors gets the recorded tensors' errors by
   tensor id, with known = 0 if there are no exact values. *ideal, if not NULL, gets an array of p->nt arrays by tensor
   id: the exact step's values to nearest. An entry is NULL if the tensor is an input that was not recorded or depends
   on one, or if keep (by tensor id; NULL keeps all) is 0 for it; the caller frees each by hu_room_free and then the
   array. A tensor in a scaled 8-bit format is multiplied by the recorded scale, to compare with the recorded one. At
   least one value per call is judged by MPFR from the same operands; if one is outside its bound, that is a bug and
   ends the analysis (HU_EUNABLE). how may be NULL. Memory: what is kept, and the values that later calls read, at 24
   bytes each in double-double and 32 or 40 in MPFR, and two bytes for each value without a digit; large arrays are in
   files (lib/base/room.h). */
hu_status hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed,
	const char *keep, hu_errors_step *errors, double ***ideal, hu_propagation *how);
#endif
