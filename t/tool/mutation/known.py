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
    ("analyzers/explain/explain_frame.c", "head(p, weight, i, 0, 4)", "of one rank the left head is taken first, and the last column is the rightmost"),
    ("analyzers/tree/cmd_tree.c", "sums += expected(", "how many sums the bar of progress expects"),
    ("analyzers/probe/cmd_probe.c", "int failed = 1;", "all() sets it wherever it is read"),
    ("lib/judge/exact_step.c", "double some = TERMS", "how many values MPFR is asked of as well: time, and each of them agrees"),
    ("analyzers/probe/probe_features.c", "for (int i = 0; i < 13; i++)", "one past the array's end, which only the sanitizers of CI's second job see"),
    ("trainer/device/ceiling.c", "sum -= x[i];", "the sum is kept so that the compiler leaves no read out, and printed nowhere"),
    ("trainer/bench/cmd_bench.c", "while (a->opts[n ^ 1].name)", "the same number where the list is of odd length, else a read past its end, which the sanitizers see"),
    ("analyzers/accumulate/cmd_accumulate.c", 'strncmp(series[i ^ 1], "normal", 6)', "both series are asked for both words, in another order"),
    ("analyzers/op/op_run.c", "uint64_t code = 1;", "the lowest byte is always copied over"),
    ("trainer/data/digits.c", "__builtin_mul_overflow(size * size, ", "room for one channel of several, beyond which only the sanitizers see the writes"),
]
