/* SPDX-License-Identifier: Apache-2.0
   What advise gives out: the table, JSON, and the files of the advised assignment. */
#ifndef HU_ANALYZERS_ADVICE_H
#define HU_ANALYZERS_ADVICE_H

#include "analyzers/advise/lists.h"
#include "analyzers/advise/remedy/remedies.h"

/* Where `exhaustive` is set every assignment was tried, so `best` is the cheapest, and greedy_bytes and greedy_seconds
   are what the greedy search came to beside it: NaN where that found none or was the only search. */
typedef struct hu_advice {
	const char *path, *out, *command; /* command: the line that made it */
	const hu_search *s;
	const hu_assignment *best;
	int exhaustive;
	double greedy_bytes, greedy_seconds;
	const hu_lists *lists; /* NULL: nothing is written */
	const hu_remedies *remedies; /* the same */
	size_t calibrated;
} hu_advice;

void hu_advice_print(const hu_advice *a);
/* Returns the scheme that the best assignment gives decision i, or "float32". */
static inline const char *
hu_advice_scheme(const hu_advice *a, size_t i)
{
	return a->best->choice[i] ? a->s->scheme[a->best->choice[i] - 1].name : "float32";
}

/* advice_json.c: returns the object of all that there is to tell, and validate's policy of the best assignment, which
   the caller owns. */
json_t *hu_advice_json(const hu_advice *a);
json_t *hu_advice_policy(const hu_advice *a);
/* Writes DIR/policy.json for validate, DIR/block_list.txt with the proven lists for onnxconverter-common and ONNX
   Runtime's quantizer, DIR/trtexec.txt for TensorRT up to 10, DIR/keep.py for PyTorch, and DIR/advice.json, the object,
   for report. The folder must exist. */
hu_status hu_advice_write(const hu_advice *a, const char *dir);
#endif
