/* SPDX-License-Identifier: Apache-2.0
   Static scales: what a model's tensors hold in float32 on calibration inputs. */
#ifndef HU_ANALYZERS_CALIBRATE_H
#define HU_ANALYZERS_CALIBRATE_H

#include "analyzers/network/samples.h"
#include "analyzers/network/variants.h"

#include "lib/base/terminal/progress.h"

/* The range of each tensor of m->p. A tensor whose range was not needed has n = 0. */
typedef struct hu_calibrated {
	hu_range *range;
	size_t n, inputs; /* tensors of the program; inputs that were run */
	hu_range *tool;   /* the same as tools find them, which have onnxruntime run the model; NULL: range */
	hu_range *held;   /* what owns the memory of tool's elements: nheld ranges */
	size_t nheld;
} hu_calibrated;

/* What is needed of a tensor, bits: its ends, how many of its values lie in each bin, which takes a second pass,
   bins that grow from batch to batch, and bins of magnitudes as onnxruntime has them, with COUNTS. */
enum { HU_CALIBRATE_ENDS = 1, HU_CALIBRATE_COUNTS = 2, HU_CALIBRATE_GROWS = 4, HU_CALIBRATE_MAGNITUDES = 8 };

/* Marks in NEEDED, by tensor of m->p, the operands whose scales the variant V takes from calibration. Returns how many
   it added. HU_EINVAL as hu_variant_schemes. */
hu_status hu_calibrate_needs(char *needed, size_t *count, const hu_variant *v, const hu_imported *m);

/* Runs M, of batches of BATCH rows, on the first INPUTS rows of S, twice where counts are needed. Batches are whole:
   rows that fill up the last one are the first ones again, and where values are counted batches go on so until every
   input was in as many of them as every other. Steps *bar twice for each batch that begins with an input. */
hu_status hu_calibrate(hu_calibrated *c, const char *needed, const hu_imported *m, const hu_samples *s, size_t inputs,
	size_t batch, hu_progress *bar);
/* Adds c->tool: the ranges of M's values from those of OTHER, the same model with onnxruntime's order of sums, which
   FOUND are and which then are c's. */
void hu_calibrated_add_tool(hu_calibrated *c, const hu_imported *m, hu_calibrated *found, const hu_imported *other);
/* The ranges that a tool reads. */
const hu_range *hu_calibrated_tool(const hu_calibrated *c);
void hu_calibrated_release(hu_calibrated *c);
#endif
