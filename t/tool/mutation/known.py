# SPDX-License-Identifier: Apache-2.0
# Changes that are none, though no compiler can know it: the file, what the changed line has, and why.
KNOWN = [
    ("cuda/kernel/sgd.cu", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape (lib/op/kind/sgd.c checks)"),
    ("cuda/kernel/sgd.cu", "if (w->call->nin >= 3)", "three there always are, and the formula without a velocity reads no fourth"),
    ("cuda/element/update.cuh", "hu_field_of(w, w->in[1]->n, 1)", "a weight and its gradient have one shape"),
    ("cuda/kernel/finite_check.cu", "if (judged >= 0)", "where nothing is judged nothing is bad, and the search ends with its first look at the counts"),
    ("analyzers/run/swamping.c", "size_t n = in[1]->n;", "a weight and its gradient have one shape"),
    ("trainer/record/record.c", "select[i] = (char)", "which tensors a device copies; a CPU's are borrowed, all of them"),
    ("analyzers/run/timeline.c", "int edge = i == 0 || memcmp", "the point behind the last one is all zeros, which no scale is"),
    ("analyzers/run/swamping.c", "hu_harm_add(&u->harm, next - w, d, next == w)", "what is lost of an update of 0 is 0"),
    ("lib/judge/propagate.c", "if (!x->known[id]", "when values are dropped: memory, no number"),
]
