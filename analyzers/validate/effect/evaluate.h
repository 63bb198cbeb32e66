/* SPDX-License-Identifier: Apache-2.0
   A model's outputs on all inputs under one policy, computed by emulation, and what was met on the way. */
#ifndef HU_ANALYZERS_EVALUATE_H
#define HU_ANALYZERS_EVALUATE_H

#include "analyzers/network/samples.h"

#include "lib/base/terminal/progress.h"
#include "lib/program/quantise/version.h"

/* The summation models that options name: of products, and of all other sums but the losses'; NULL: none. */
typedef struct hu_evaluate_sums {
	const hu_sum *products, *reductions;
} hu_evaluate_sums;

/* out[k] holds output k of every input, each elements of an input. nonfinite counts elements of all outputs that are
   not finite; first_call is the first call, in the program's order, whose output is not finite somewhere although its
   inputs are, -1: none. */
typedef struct hu_evaluated {
	hu_version v;
	const hu_program *p; /* v's */
	size_t nout, n, *each;
	double **out;
	size_t nonfinite;
	int first_call;
	double weight_bytes, traffic_bytes; /* of all constants; read and written for one input */
	hu_exec *x;                         /* while inputs are run */
	char *bad;
} hu_evaluated;

/* Makes version V of M's program, which is taken over, ready for batches of BATCH rows of N inputs. The products' sums
   are ACCUMULATE's where that is not empty, and sums are those of SUMS where that is not NULL, but those of integer
   codes stay exact. */
hu_status hu_evaluate_begin(hu_evaluated *e, const hu_imported *m, hu_version v, const char *accumulate,
	const hu_evaluate_sums *sums, size_t n, size_t batch);
/* Runs inputs FIRST to LAST-1 of S, where FIRST begins a batch, and LAST ends one or is the last of all; nonfinite and
   first_call then tell of all that was run. Steps *bar once a batch. */
hu_status hu_evaluate_rows(hu_evaluated *e, const hu_imported *m, const hu_samples *s, size_t batch, size_t first,
	size_t last, hu_progress *bar);
/* Frees what running needs, and keeps what it found. */
void hu_evaluate_end(hu_evaluated *e);
/* All three, for all inputs; united ranks (lib/base/ranks/united.h) run some each, and each has all outputs. */
hu_status hu_evaluate(hu_evaluated *e, const hu_imported *m, hu_version v, const char *accumulate,
	const hu_evaluate_sums *sums, const hu_samples *s, size_t batch, hu_progress *bar);
void hu_evaluated_release(hu_evaluated *e);
/* Sets the models of P's sums but of those that are exact, of whole numbers and of integer codes in fp64: in LAYER
   alone; INVERSE: in all layers but LAYER, which is none where it is NULL. HU_EINVAL where a model cannot order a sum.
 */
hu_status hu_evaluate_accumulate(hu_program *p, const hu_evaluate_sums *sums, const char *layer, int inverse);
/* What the constants that V's calls read take in deployment. */
double hu_evaluate_weight_bytes(const hu_version *v);
#endif
