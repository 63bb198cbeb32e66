/* SPDX-License-Identifier: Apache-2.0
   Changes of the graph that make the whole model fit float16 or int8, where a choice of precisions alone would not:
   proposed near the first result that is not finite, or anywhere, tried one after another, and kept where they help. */
#ifndef HU_ANALYZERS_ADVISE_REMEDIES_H
#define HU_ANALYZERS_ADVISE_REMEDIES_H

#include "analyzers/advise/trial/trials.h"

/* A remedy that was kept: a row of remedies.def, its strength, the places as a line each, and what the inputs that are
   searched on showed before and after it. */
typedef struct hu_remedy {
	const char *name, *summary;
	double strength, rel_l2[2];
	size_t nonfinite[2];
	char *places;
} hu_remedy;

/* What came of one way to deploy: a scheme or a tool of validate's. worst: the node of the first result that was not
   finite, NULL: none. before: with the model as it is on half h; effect: with all remedies, measured where n > 0.
   needed: the model as it is breaks the budget. keeps: with the remedies it keeps it on both halves. path: the model
   with the remedies, in float32. */
typedef struct hu_remedied {
	const char *way;
	int tried, needed, keeps;
	char *worst, *path;
	hu_remedy *remedy;
	size_t n, cap, runs;
	hu_effect before[2], effect[2];
	int has[2]; /* before and effect */
} hu_remedied;

enum { HU_REMEDY_WAYS = 3 };

/* What remedies are judged on: both halves of the inputs, and whether an effect on half H keeps the budget. */
typedef struct hu_remedy_inputs {
	const hu_trials *trials;
	int (*keeps)(const void *of, const hu_effect *e, int h);
	const void *of;
	int fp16, int8; /* which ways are asked for */
} hu_remedy_inputs;

typedef struct hu_remedies {
	hu_remedied way[HU_REMEDY_WAYS];
	size_t n;
	int decides; /* the outputs are decisions, which flip */
} hu_remedies;

/* Tries each way of float16, and writes DIR/remedied_WAY.onnx for each that remedies help. */
hu_status hu_remedies_find(hu_remedies *r, hu_network *n, const hu_remedy_inputs *inputs, const char *dir);
void hu_remedies_print(const hu_remedies *r);
json_t *hu_remedies_json(const hu_remedies *r);
void hu_remedies_release(hu_remedies *r);
#endif
