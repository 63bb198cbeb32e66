/* SPDX-License-Identifier: Apache-2.0
   The build's sums as black boxes: one call of a program on a back end, or a function of the BLAS that
   the exact engine loads. Terms go in, one sum comes out. */
#ifndef HU_ANALYZERS_TREE_BOX_H
#define HU_ANALYZERS_TREE_BOX_H

#include "analyzers/tree/reveal.h"
#include "lib/program/backend.h"

typedef struct hu_tree_box {
	hu_format term, acc;    /* of the factors (or terms), and where they are summed */
	int products;
	hu_reveal_sum *sum;     /* gets the box; a NaN where it failed or where equal outputs differ */
	hu_status st;           /* of the sums so far; WHY where one failed */
	char why[256];
	const char *op;
	size_t n;
	const hu_backend *backend;
	hu_machine *machine;
	hu_program *program;
	int a, b, y;            /* tensors */
	size_t rows, columns;   /* of a's terms and of outputs that must agree */
	size_t at;              /* the first of them */
	double *last;           /* terms of the sum before, NaN at first: what stayed is not written again */
	char *a_values, *b_values; /* doubles where the format is wide, else floats */
	void (*function)(void);
} hu_tree_box;

/* The sums that op is: matmul, conv2d, conv2d_dx or conv2d_dw by model s, factors in `in`, the inner dimension in
   parts of part terms (0: one); bias_db by the fixed tree, values in `in`. Fails as the back end's open does. */
hu_status hu_tree_box_open(
	hu_tree_box *box, const hu_backend *backend, const char *op, hu_sum s, hu_format_id in, size_t part, size_t n);

/* `name` of the loaded BLAS: cblas_sgemm, cblas_dgemm, cblas_sdot or cblas_ddot, of which `name` is kept. HU_EABSENT
   where there is none. */
hu_status hu_tree_box_blas(hu_tree_box *box, const char *name, size_t n);
void hu_tree_box_close(hu_tree_box *box);
#endif
