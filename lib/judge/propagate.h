/* SPDX-License-Identifier: Apache-2.0
   The exact step: the whole program run again from the recorded state and inputs without the policy's roundings. The
   distance of the recorded tensors from it is the propagated error of the step. */
#ifndef HU_JUDGE_PROPAGATE_H
#define HU_JUDGE_PROPAGATE_H

#include "lib/judge/engine.h"
#include "lib/judge/errors.h"
#include "lib/program/exec.h"

/* A line for a table's head that says how the exact step is computed. */
#define HU_PROPAGATE_HOW                                                                                               \
	"the whole step computed again from the recorded state and inputs without casts and roundings, in pairs "      \
	"of doubles with a bound on their own error; by MPFR where that bound exceeds 2^-10 of an error reported "     \
	"(in steps of at most 5e8 operations; in larger ones a product whose bound is wider than 2^-40 of the "        \
	"largest distance of its recorded values, 2^-56 after a rounding to bf16, has that as its bound, and a "       \
	"tensor whose bound is still too wide has no figure), "                                                        \
	"with 212 bits, and again with 265 where only the agreement of both tells how many are right, and "            \
	"everywhere under --engine mpfr; a tensor with a number beyond the range of doubles has no figure; the "       \
	"loss scale, the scales of casts and the finite check are the recorded ones, so a skipped step stays "         \
	"skipped; relu's masks, maxima and all other choices are made again, and a choice that the bound leaves "      \
	"open counts in full into the bound"

/* The most operations of a step that MPFR is asked to compute where --engine mpfr does not ask for it: it does about
   ten million a second on two cores. In larger steps products have the bounds of hu_propagate_bounded, the recorded
   values being the second precision, and a tensor whose bound is too wide nevertheless has no figure. */
#define HU_PROPAGATE_OPERATIONS 5e8

/* How steps came to their figures, added up over steps. */
typedef struct hu_propagation {
	size_t steps, by_mpfr,
		twice; /* all steps, those that MPFR computed wholly, and those that it computed at two precisions */
	/* tensors reported, and those whose figures are MPFR's because the bound was too wide */
	size_t tensors, escalated;
	size_t unreported; /* tensors not reported, because two precisions of MPFR disagree */
	size_t left;   /* tensors not reported, because MPFR would take too long */
	size_t agreed; /* tensors reported whose bounds rest on the agreement of two precisions */
	size_t judged; /* values of the double-double step that MPFR judged against their call's bound */
	/* calls and tensors of which two ways of computing them disagreed: they and what depends on them are not
	   known */
	size_t disagreed;
	size_t vanished; /* values taken for 0 (errors.h) */
	double widest; /* the largest ratio of a bound to its figure, among the figures that come from double-doubles */
} hu_propagation;

/* Adds the steps of another count. */
void hu_propagation_merge(hu_propagation *to, const hu_propagation *one);

/* Runs the exact step. recorded holds a traced step by tensor id of p. errors gets the recorded tensors' errors by
   tensor id, with known = 0 if there are no exact values. *ideal, if not NULL, gets an array of p->nt arrays by tensor
   id: the exact step's values to nearest. An entry is NULL if the tensor is an input that was not recorded or depends
   on one, or if keep (by tensor id; NULL keeps all) is 0 for it; the caller frees each by hu_room_free and then the
   array. A tensor in a scaled 8-bit format is multiplied by the recorded scale, to compare with the recorded one. At
   least one value per call is judged by MPFR from the same operands; if one is outside its bound, the call's outputs
   are not known, nor is what depends on them. how may be NULL. Memory: what is kept, and the values that later calls
   read, at 24 bytes each in double-double and 32 or 40 in MPFR, and two bytes for each value without a digit; large
   arrays are in files (lib/base/memory/room.h). */
hu_status hu_propagate(const hu_program *p, hu_tensor *recorded, const hu_engine *engine, uint64_t seed,
	const char *keep, hu_errors_step *errors, double ***ideal, hu_propagation *how);

/* hu_propagate_bounded asks no MPFR, so that its time is a few times that of the emulation, however deep the program.

   A running bound grows by the square root of the number of terms in every product, errors do not; after about twenty
   layers it says nothing. Where the program was also run in another precision, the distance between the two runs shows
   how much rounding errors really grew: both runs round at the same places, so their errors grow alike, and those of
   pairs of doubles (unit roundoff 2^-104) are about 2^-80 of float32's. A product's results are therefore given the
   bound 2^-HU_BOUNDED_AGREE of the largest distance in their tensor where their running bound is wider: 40 bits are
   left for values on which the errors differ by chance, and an error of 2^-40 of float32's is nothing beside
   float32's. In a recorded step, after a rounding to p < 24
   bits, the bound is smaller by 24 - p bits, because pairs of doubles are finer than that format by so much more. No
   such bound is below 2^-HU_BOUNDED_FLOOR of the tensor's largest value, for runs that happen to agree.

   The argument holds for continuous functions only. Where a value's bound reaches over a jump (a comparison, a
   rounding to whole numbers, a choice of index), the bound of the result is the whole jump: more than
   2^-HU_BOUNDED_JUMP of the tensor's largest value. All that depends on such a tensor keeps its running bound, and so
   an undecided choice is never taken for a decided one. */
enum { HU_BOUNDED_AGREE = 40, HU_BOUNDED_FLOOR = 80, HU_BOUNDED_JUMP = 40 };

typedef struct hu_bounding {
	size_t judged;    /* values that MPFR judged against their call's own bound */
	size_t agreed;    /* products in which the agreement of two precisions bounds a value */
	size_t disagreed; /* calls of which two ways of computing them disagreed, and whose outputs are not known */
	size_t jumps;     /* calls whose operands leave a jump open, or have no finite value */
} hu_bounding;

/* Runs p exactly on what no call computes, whose values are those of `recorded` by tensor id (formats and data).
   second, if not NULL, holds every tensor of p as the same program made it from the same inputs in its own formats.
   (*value)[i] gets tensor i to nearest and (*off)[i] bounds on |exact - value|, +Inf where nothing is known; NULL
   where keep[i] is 0 or the tensor has no values. The caller frees each by hu_room_free and then both arrays.
   Where MPFR finds a sampled value outside its call's bound, the call's outputs are not known. */
hu_status hu_propagate_bounded(const hu_program *p, const hu_tensor *recorded, const hu_tensor *second,
	const hu_engine *engine, uint64_t seed, const char *keep, double ***value, double ***off, hu_bounding *how);
#endif
