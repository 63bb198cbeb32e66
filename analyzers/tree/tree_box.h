/* SPDX-License-Identifier: Apache-2.0
   The build's sums as black boxes: one call of a program on a back end, or a function of the BLAS that the exact engine
   loads. Each takes terms and returns one sum. */
#ifndef HU_ANALYZERS_TREE_BOX_H
#define HU_ANALYZERS_TREE_BOX_H

#include "analyzers/tree/library.h"
#include "analyzers/tree/reveal.h"
#include "lib/op/sum_call.h"
#include "lib/program/spread/backend.h"

typedef struct hu_tree_box {
	hu_format term, acc;    /* format of the factors (or terms), and format that they are summed in */
	int products;
	hu_reveal_sum *sum;     /* its argument `to` is the box; returns NaN where it failed or where outputs of the
				   same terms differ */
	hu_status st;           /* status of the sums so far; why has the reason of a failure */
	char why[256];
	const char *op;
	size_t n;
	const hu_backend *backend;
	hu_machine *machine;
	hu_program *program;
	int in[2], y;           /* tensors */
	hu_sum_call call;       /* where the terms are, and which outputs must agree */
	double *last;           /* terms of the sum before, NaN at first, so that unchanged terms are not written
				   again */
	char *values[2];        /* of the two factors: doubles where the format is wide, otherwise floats */
	void (*function)(void);
	hu_library *library;    /* whose sum number `which` it is */
	size_t which;
} hu_tree_box;

/* Opens the sums of operator op, which has the column sum_call: if its terms are products, by model s, with factors in
   format `in` and the inner dimension cut into parts of `part` terms (0: one part); otherwise the sums of values of
   format `in` by the fixed tree. Fails as the back end's open does. */
hu_status hu_tree_box_open(
	hu_tree_box *box, const hu_backend *backend, const hu_op *op, hu_sum s, hu_format_id in, size_t part, size_t n);

/* Opens function `name` of the loaded BLAS: cblas_sgemm, cblas_dgemm, cblas_sdot or cblas_ddot. The box keeps the
   pointer `name`. HU_EABSENT where there is no such function. */
hu_status hu_tree_box_blas(hu_tree_box *box, const char *name, size_t n);
/* Opens sum i of a library, which outlives the box. */
hu_status hu_tree_box_library(hu_tree_box *box, hu_library *l, size_t i);
void hu_tree_box_close(hu_tree_box *box);
#endif
