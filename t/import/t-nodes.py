#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Each operator that models are imported with, in a model of one or a few nodes made here, against a plain definition of
# the operator in Python: one formula an output element, in doubles. All cases are one model; where that fails each is
# tried by itself, and named. HALFULP names the program. With a word as argument only cases with it in their names run;
# --keep DIR also leaves a model a case there.
import math, shutil, sys

sys.dont_write_bytecode = True
from nodes.case import *
from nodes import pointwise, products, norms, moves, regions, recurrent, quantised  # each draws its cases
from tap import finish, halfulp, home, ok


def build(some):
    """The cases as one model, each with names of its own; the inputs' arrays; and what is wanted of which output."""
    nodes, tensors, ins, outs, arrays, wants = [], [], [], [], {}, {}
    for k, (name, made_of, inputs, constants, expected) in enumerate(some):
        own = lambda names: " ".join("-" if n == "-" else "%s%d" % (n, k) for n in names.split())
        for i, (op, reads, gives, attributes) in enumerate(made_of):
            nodes.append((op, own(reads), own(gives), "%s%d" % (name, i), attributes))
        for n, a in inputs.items():
            if a is None:
                continue
            kind = INT64 if is_whole(a) else FLOAT
            if n in constants:
                tensors.append((ints if kind == INT64 else floats)("%s%d" % (n, k), a.shape, a.v))
                continue
            ins.append(value("%s%d" % (n, k), a.shape, kind))
            arrays["%s%d" % (n, k)] = ([1] + a.shape, a.v, "<i8" if kind == INT64 else "<f4")
        for n, a in expected.items():
            outs.append(value("%s%d" % (n, k), a.shape))
            wants["%s%d" % (n, k)] = (name, a)
    made_nodes = []
    for op, reads, gives, name, attributes in nodes:
        made_nodes.append(node(op, reads, gives, name=name, **attributes))
    return graph(made_nodes, tensors, ins, outs), arrays, wants


def run(some, where):
    """Why a case fails, by name; None for those that pass. None instead of all where the model cannot be run."""
    model, arrays, wants = build(some)
    write(where + "/m.onnx", model, opset=23)
    npz(where + "/x.npz", **arrays)
    shutil.rmtree(where + "/out", ignore_errors=True)
    options = "--policy float32 --exact 0 --outputs".split()
    p = halfulp("validate", where + "/m.onnx", "--data", where + "/x.npz", *options, where + "/out")
    if p.returncode:
        return {some[0][0]: p.stderr.strip()[:300]} if len(some) == 1 else None
    got, why = outputs(where + "/out/float32.npz"), {c[0]: None for c in some}
    for n, (name, a) in wants.items():
        shape, v = got[n]
        # a float32 result of a few roundings, and of sums as long as they are here, is off by less
        off = max((abs(p - q) / max(1, abs(q)) for p, q in zip(v, a.v)), default=0)
        if list(shape) not in ([1] + a.shape, a.shape) and math.prod(shape) != len(a.v):
            why[name] = "%s has the shape %s, not %s" % (n, shape, a.shape)
        elif not off <= 2e-6 or any(math.isnan(p) for p in v):
            why[name] = "%s is off by %.3g" % (n, off)
    return why


some = [c for c in cases if not sys.argv[1:] or sys.argv[1] == "--keep" or sys.argv[1] in c[0]]
where = home()
if sys.argv[1:2] == ["--keep"]:
    for c in some:
        write("%s/%s.onnx" % (sys.argv[2], c[0]), build([c])[0], opset=23)
why = run(some, where)
if why is None:
    why = {}
    for c in some:
        why.update(run([c], where))
for c in some:
    ok(not why[c[0]], c[0], why[c[0]] or "")
finish()
