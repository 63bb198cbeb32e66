#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# What validate does with models and inputs of other kinds: overflows, branches and functions of the model's own, inputs
# that are constants of the run, arrays by other names, results of three dimensions, and what is refused.
import json, shutil

from quantised_mlp import *
from npzfile import *
from tap import finish, halfulp, ok


def run(*args):
    ran = halfulp("validate", *args)
    return ran.returncode, ran.stdout, ran.stderr


big = graph(
    [node("MatMul", "x w", "a", name="wide"), node("Mul", "a k", "y", name="narrow")],
    [floats("w", [I, 2], [3000.0] * (2 * I)), floats("k", [1], [0.001])],
    [value("x", ["n", I])],
    [value("y")],
)
write("big.onnx", big)
npz("big.npz", x=([4, I], [4.0] * (4 * I)))
code, out, err = run("big.onnx", "--data", "big.npz", "--policy", "fp16,bf16", "--json")
r = {p["policy"]: p for p in json.loads(out)["policies"]}
ok(
    r["fp16"]["nonfinite"] == 8 and r["fp16"]["first_nonfinite"] == "wide" and r["bf16"]["nonfinite"] == 0,
    "an overflow, and the layer where it arose",
)
ok(r["fp16"]["max_error"] == "inf" and r["fp16"]["flips"] is not None, "its distance is infinite")

inner = graph([node("Relu", "x", "b")], outputs=[value("b")])
other = graph([node("Neg", "x", "c")], outputs=[value("c")])
body = (
    blob(1, "Twice")
    + blob(4, "a")
    + blob(5, "b")
    + blob(7, node("Add", "a a", "b", name="sum"))
    + blob(10, "my.functions")
)
write(
    "if.onnx",
    graph(
        [
            node("Equal", "two one", "yes"),
            node("If", "yes", "z", name="pick", then_branch=inner, else_branch=other),
            node("Twice", "z", "y", name="f", domain="my.functions"),
            node("Shape", "x", "s"),
            node("Gather", "s at", "two", axis=0),
        ],
        [ints("one", [], [1]), ints("at", [], [1])],
        [value("x", ["n", 3])],
        [value("y")],
    ),
    domains=[("my.functions", 1)],
    functions=[body],
)
npz("if.npz", x=([2, 3], [1.5, -2.0, 0.25, -1.0, 8.0, 3.0]))
code, out, err = run("if.onnx", "--data", "if.npz", "--outputs", "if", "--policy", "fp16")
ok(
    code == 0 and outputs("if/float32.npz")["y"][1] == (-3.0, 4.0, -0.5, 2.0, -16.0, -6.0),
    "a branch chosen by a shape, and a function of the model's own %s" % err.strip(),
)

# A scalar input with one value in all rows is a constant of the run: here it chooses a branch.
write(
    "rate.onnx",
    graph(
        [
            node("Equal", "rate two", "yes"),
            node("If", "yes", "y", name="pick", then_branch=inner, else_branch=other),
        ],
        [ints("two", [], [2])],
        [value("x", [3]), value("rate", [], INT64)],
        [value("y")],
    ),
)
for rates, want_code, want in (
    ([2, 2], 0, (1.5, 0, 0.25, 0, 8.0, 3.0)),
    ([1, 1], 0, (-1.5, 2.0, -0.25, 1.0, -8.0, -3.0)),
    ([1, 2], 0, (-1.5, 2.0, -0.25, 0, 8.0, 3.0)),
):
    npz("rate.npz", x=([2, 3], [1.5, -2.0, 0.25, -1.0, 8.0, 3.0]), rate=([2], rates, "<i8"))
    shutil.rmtree("rate", ignore_errors=True)
    code, out, err = run("rate.onnx", "--data", "rate.npz", "--outputs", "rate", "--policy", "fp16")
    got = outputs("rate/float32.npz")["y"][1] if code == 0 else None
    ok(code == want_code and got == want, "a scalar that is %s in the rows: %s" % (rates, err.strip() or got))

# So is a number an input, such as its length: here the number of columns that are kept.
write(
    "length.onnx",
    graph(
        [
            node("ReduceMax", "n", "most", name="most", keepdims=1),
            node("Slice", "x zero most axis", "part", name="part"),
            node("MatMul", "part w", "y", name="fc"),
        ],
        [ints("zero", [1], [0]), ints("axis", [1], [1]), floats("w", [2, 2], [1.0, 0.5, -1.0, 2.0])],
        [value("x", ["batch", 3]), value("n", ["batch"], INT64)],
        [value("y")],
    ),
)
rows = [1.5, -2.0, 0.25, -1.0, 8.0, 3.0, 0.5, 0.5, 9.0]
for lengths, rest, want_code, want, said in (
    ([2, 2, 2], (), 0, (3.5, -3.25, -9.0, 15.5, 0.0, 1.25), ""),
    ([2, 2, 1], (), 3, None, "node 'fc' (MatMul): its operands have 1 columns and 2 rows"),
    ([2, 2, 2], ("--calibrate", "others.npz"), 3, None, "for input 'n' has 3, and --data have 2 alone"),
):
    npz("length.npz", x=([3, 3], rows), n=([3], lengths, "<i8"))
    npz("others.npz", x=([3, 3], rows), n=([3], [2, 3, 2], "<i8"))
    shutil.rmtree("length", ignore_errors=True)
    policies = ("--policy", "int8" if rest else "fp16", *rest)
    code, out, err = run("length.onnx", "--data", "length.npz", "--outputs", "length", *policies)
    got = outputs("length/float32.npz")["y"][1] if code == 0 else None
    ok(code == want_code and got == want and said in err, "lengths %s: %s" % (lengths, err.strip() or got))

write(
    "unknown.onnx",
    graph(
        [
            node("Enigma", "x", "a", name="one"),
            node("Mystery", "a", "b", name="two"),
            node("Mystery", "b", "y", name="three"),
        ],
        [],
        [value("x", ["n", 3])],
        [value("y")],
    ),
)
npz("three.npz", x=([2, 3], [1.0] * 6))
npz("few.npz", y=([N - 1], [0] * (N - 1), "<i8"))
write("old.onnx", graph([node("Relu", "x", "y", name="r")], [], [value("x", ["n", 3])], [value("y")]), 5)
for what, args, want, pattern in (
    (
        "an operator of an older version",
        ["old.onnx", "--data", "three.npz"],
        4,
        "Relu (1 node, such as 'r') before version 6 of the operators; export the model with opset_version=6 or later",
    ),
    (
        "a model in place of its inputs",
        ["unknown.onnx", "--data", "old.onnx"],
        3,
        "old.onnx: byte 0: this is no .npy file, as numpy.save writes, nor an .npz",
    ),
    (
        "a name that is no format, scheme or policy",
        ["old.onnx", "--data", "three.npz", "--policy", "fp15"],
        2,
        "unknown policy 'fp15'; it may be a format (halfulp formats), a scheme such as int8 (halfulp validate --help)",
    ),
    (
        "operators that are not known, all at once",
        ["unknown.onnx", "--data", "three.npz"],
        4,
        "Enigma (1 node, such as 'one'), Mystery (2 nodes, such as 'two')",
    ),
    ("no data", ["mlp.onnx"], 2, "--data"),
    ("an array of another length", ["mlp.onnx", "--data", "if.npz"], 3, "elements along dimension 1"),
    ("data that are not there", ["mlp.onnx", "--data", "absent.npz"], 3, "absent.npz"),
    ("a policy that is none", ["mlp.onnx", "--data", "x.npz", "--policy", "fp17"], 2, "fp17"),
    ("a budget that is none", ["mlp.onnx", "--data", "x.npz", "--accept", "flops<=1"], 2, "flips"),
    ("a share of what is no count", ["mlp.onnx", "--data", "x.npz", "--accept", "sqnr>=3%"], 2, "shares"),
    ("labels of another length", ["mlp.onnx", "--data", "x.npz", "--labels", "few.npz:y"], 3, "labels"),
    ("an output that is none", ["mlp.onnx", "--data", "x.npz", "--output", "z"], 2, "no output called 'z'"),
    ("a size for nothing", ["mlp.onnx", "--data", "x.npz", "--shape", "length=3"], 2, "'length'"),
    ("a size that is none", ["mlp.onnx", "--data", "x.npz", "--shape", "batch=0"], 2, "whole numbers"),
    ("an option without effect", ["mlp.onnx", "--list", "--data", "x.npz"], 2, "--data has no effect"),
):
    code, out, err = run(*args)
    ok(
        code == want and not out and err.count("\n") == 1 and pattern in err,
        "%s: exit %d, one line: %s" % (what, want, err.strip()),
    )
# One input takes an archive's only array whatever its name is, and an .npy file; a second array is asked for by name.
npz("only.npz", other=([N, I], x))
npz("more.npz", other=([N, I], x), third=([N, I], x))
open("x.npy", "wb").write(npy([N, I], x))
two = [node("MatMul", "x w", "h"), node("MatMul", "h v", "y")], [floats("w", [I, H], w1), floats("v", [H, C], w2)]
write("one.onnx", graph(*two, [value("x", ["n", I])], [value("y", ["n", C])]))
told = {
    d: run("one.onnx", "--data", d, "--policy", "bf16", "--json", "--exact", "0")
    for d in ("x.npz", "only.npz", "x.npy", "more.npz")
}
rel = {d: json.loads(out)["policies"][1]["rel_l2"] if code == 0 else err for d, (code, out, err) in told.items()}
ok(
    rel["only.npz"] == rel["x.npy"] == rel["x.npz"] > 0 and told["more.npz"][0] == 3,
    "an array without the input's name: %s" % rel,
)
# A result of three dimensions keeps them
write(
    "three.onnx",
    graph(
        [node("MatMul", "x w", "y")],
        [floats("w", [4, 5], w2[:20])],
        [value("x", ["n", 3, 4])],
        [value("y", ["n", 3, 5])],
    ),
)
npz("three.npz", x=([N, 3, 4], x[: N * 12]))
code, out, err = run("three.onnx", "--data", "three.npz", "--policy", "bf16", "--exact", "2", "--outputs", "three")
shapes = [outputs("three/%s.npz" % who)["y"][0] for who in ("float32", "bf16", "exact")] if code == 0 else err
ok(shapes == [(N, 3, 5), (N, 3, 5), (2, 3, 5)], "the shape of results of three dimensions: %s" % shapes)
finish()
