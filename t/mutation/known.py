# SPDX-License-Identifier: Apache-2.0
# Changes that are none, though no compiler can know it: the file, what the changed line has, and why.
KNOWN = [
    ("cuda/relu_dx.cu", "hu_field_of(w, w->in[1]->n, 1)", "y and dy have one shape (lib/op/pointwise.c checks)"),
    ("cuda/gelu_dx.cu", "hu_field_of(w, w->in[1]->n, 1)", "x and dy have one shape"),
    ("cuda/add.cu", "hu_field_of(w, w->in[1]->n, 1)", "both operands have one shape"),
    ("cuda/sgd.cu", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape (lib/op/sgd.c checks)"),
    ("cuda/sgd.cu", "if (w->call->nin >= 3)", "three there always are, and the formula without a velocity reads no fourth"),
    ("cuda/adamw.cu", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape"),
    ("cuda/finite_check.cu", "if (judged >= 0)", "where nothing is judged nothing is bad, and the search ends with its first look at the counts"),
    ("analyzers/swamping.c", "size_t n = in[1]->n;", "a weight and its gradient have one shape"),
]
