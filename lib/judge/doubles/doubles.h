/* SPDX-License-Identifier: Apache-2.0
   A deep network in doubles, as a reference for its run in float32.

   In a deep network the running bounds of pairs of doubles say nothing, and the agreement with float32's run takes
   their place (propagate.h). Where bounds rest on that agreement anyway, one double holds digits enough: both runs
   round at the same places, and each rounding of doubles is 2^-29 of float32's, so that their errors are about 2^-29 of
   float32's. Values of an output have the bound 2^-HU_DOUBLES_AGREE of the largest distance in it: 13 bits are left for
   errors that differ by chance or by the order of a sum. A bound is never below 2^-HU_DOUBLES_FLOOR of the largest
   value, for runs that happen to agree.

   The argument holds for functions that change by a constant times what their operands do. So no operator may jump or
   have a pole or an upright tangent, unless its operands are exact: an input, a constant, or what moves and comparisons
   make of these (continuous.def). */
#ifndef HU_JUDGE_DOUBLES_H
#define HU_JUDGE_DOUBLES_H

#include "lib/program/exec.h"

enum {
	HU_DOUBLES_AGREE = 16,
	HU_DOUBLES_FLOOR = 44,
	/* A product of k terms widens the running bounds by about sqrt(k) beside the values. Bounds of pairs of doubles
	   begin at 2^-104 and are too wide at 2^-40 of float32's error, which is 2^40 times as much. A program counts
	   as deep only where its products widen them by 2^64. */
	HU_DOUBLES_GROWTH = 64,
	/* One value may be right by chance, several hardly. */
	HU_DOUBLES_FEWEST = 4
};

/* The program with every tensor and operation in doubles, and its values. */
typedef struct hu_doubles {
	struct hu_program *q;
	hu_exec run;
	const char *keep;
} hu_doubles;

/* Returns 1 if doubles serve for those tensors of p that keep names: p computes in float32 alone, in its products too,
   is deep, and has no jump but at exact operands; calls make the tensors, which have at least HU_DOUBLES_FEWEST
   elements. */
int hu_doubles_serve(const hu_program *p, const char *keep);
/* Makes the program of p and loads what no call computes from `recorded`, by tensor id. p's, and keep, must outlive d.
   release takes what open left where it failed, and zeros. */
hu_status hu_doubles_open(hu_doubles *d, const hu_program *p, const hu_tensor *recorded, const char *keep);
void hu_doubles_release(hu_doubles *d);
/* Sets a tensor that no call computes. */
void hu_doubles_set(hu_doubles *d, int id, const hu_tensor *value);
/* Runs the program. (*value)[i] gets tensor i where keep[i] is set, and (*off)[i] what bounds its distances from the
   exact values, given the tensors of float32's run: +Inf where a value of either is not finite. The caller frees each
   by hu_room_free and then both arrays, as those of hu_propagate_bounded. */
hu_status hu_doubles_run(hu_doubles *d, const hu_tensor *single, double ***value, double ***off);
#endif
