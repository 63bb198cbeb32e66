/* SPDX-License-Identifier: Apache-2.0
   Arrays in expressions: [1, 2, x*y] and @FILE.npy are arguments of sum, dot, mean, norm and softmax, each of which is
   written out as an expression of single numbers, so that its operations, flags and drawings are those of these. */
#ifndef HU_ANALYZERS_EXPRESSION_ARRAY_H
#define HU_ANALYZERS_EXPRESSION_ARRAY_H

#include "analyzers/expression/expr.h"

enum {
	HU_ARRAY_MOST = 65536,  /* most elements of a file */
	HU_ARRAY_SOFTMAX = 256, /* most elements of softmax, which is written out with n^2 operations */
	HU_ARRAY_FUNCTIONS = 0
#define ARRAY(name, arrays, numbers, summary) +1
#include "analyzers/expression/arrays.def"
#undef ARRAY
};

/* Returns the number of the function that the n characters at `name` call, -1 where none does. */
int hu_array_function(const char *name, size_t n);
const char *hu_array_name(int function);

/* Returns 1 where the name of sum, or of a function that is written out with it, stands in the text. */
int hu_array_asks_sum(const char *text);

/* Sets *out to an array (HU_EXPR_ARRAY) of the elements of a .npy file. HU_EFILE where it cannot be read, HU_EINVAL
   where it has no element or too many. */
hu_status hu_array_read(const char *path, int column, hu_expr **out);

/* Sets *out to the expression that the function of these arguments is; what of `arguments` it has no use for is freed,
   and so are all of them where it fails: HU_EINVAL says which arguments are needed. */
hu_status hu_array_call(int function, hu_expr *arguments, hu_expr **out);

/* Replaces every array among the arguments of sum by its elements. */
void hu_array_spread(hu_expr *call);
#endif
