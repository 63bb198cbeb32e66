/* SPDX-License-Identifier: Apache-2.0
   What validate gives out: the table, JSON, TAP, and the outputs themselves as .npz files. */
#ifndef HU_ANALYZERS_OUTPUTS_H
#define HU_ANALYZERS_OUTPUTS_H

#include "analyzers/network/variants.h"
#include "analyzers/validate/against/against.h"
#include "analyzers/validate/effect/accept.h"
#include "analyzers/validate/exact/exact_network.h"
#include "analyzers/validate/sensitivity/sensitivity.h"

#include <jansson.h>

/* A policy, its outputs and figures; keeps[i]: it keeps rule i, and is[i] the figure that the rule counted. */
typedef struct hu_judgement {
	const char *policy;
	size_t products, quantised; /* Conv, Gemm and MatMul nodes, and those with a scheme that is no format */
	hu_evaluated e;
	hu_effect r;
	char *keeps;
	double *is;
	hu_sensitivity *sensitivity; /* NULL: not asked for, or of a policy that is none of schemes */
} hu_judgement;

void hu_judgement_release(hu_judgement *j);

/* Of a model whose inputs have outputs of their own shape: which are a list of boxes [n, 4] with labels [n] and scores
   [n]; -1: there is none. */
typedef struct hu_each_lists {
	int boxes, labels, scores;
	double threshold; /* boxes of lower scores are not there; NaN: all are */
} hu_each_lists;

/* All that there is to tell; exact is NULL where the exact network was not run. row[0] is float32, which the others are
   compared with. */
typedef struct hu_validation {
	const char *path, *data;
	const char *command; /* the line that made all this */
	const char *runtime; /* of files with types that float32 is wider than; NULL: there are none */
	int typed;           /* the model's own file is one of these */
	const hu_against *against;
	size_t nagainst;
	const hu_imported *m;
	const hu_samples *s;
	hu_deciding d;
	const hu_each_lists *lists; /* of a model whose inputs have a program each; else NULL */
	size_t batch, nrow, naccept;
	const char *alone; /* why inputs ran one by one although a batch was asked for; NULL: they did not */
	hu_judgement *row;
	hu_accept *accept;
	const hu_exact_network *exact;
	size_t calibrated;       /* inputs that static scales were measured on; 0: there are none */
	const char *calibration; /* the file of these inputs; NULL: the first ones of data */
	double too_long;         /* operations on one input of an exact network left out for its length; else 0 */
} hu_validation;

/* "pass", "fail", or "-" without a rule. */
const char *hu_validation_verdict(const hu_validation *v, const hu_judgement *j);
void hu_validation_print(const hu_validation *v);
json_t *hu_validation_json(const hu_validation *v);
/* Writes that object to DIR/validation.json, and makes the folder. */
hu_status hu_validation_report(const hu_validation *v, const char *dir);
/* A line a policy and rule. */
void hu_validation_tap(const hu_validation *v);
/* Writes DIR/POLICY.npz for each policy and float32.npz: the outputs by name, in the formats of their files' types; and
   where the exact network was run DIR/exact.npz, in doubles, with its inputs' numbers and bounds (halfulp.input,
   halfulp.off). hu_validation_files refuses policies, the first one left out, two of which would have one file, or one
   of which the exact network's. */
hu_status hu_validation_files(const hu_variants *list, int exact, const char *dir);
hu_status hu_validation_write(const hu_validation *v, const char *dir);

/* An array of an archive: its name, dtype ("f4" or "f8", of values that are given as doubles), and shape. */
typedef struct hu_validation_array {
	const char *name, *dtype;
	int rank;
	size_t shape[HU_NPY_RANK];
	const double *value;
} hu_validation_array;
/* Writes the N arrays to DIR/STEM.npz. */
hu_status hu_validation_arrays(const char *dir, const char *stem, const hu_validation_array *a, size_t n);
#endif
