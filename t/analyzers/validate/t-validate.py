#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate: models written here run under policies, and every figure is computed again from the outputs that it writes,
# by other formulas; float32's outputs are compared with doubles. Then budgets, exit codes, and what is refused. HALFULP
# names the program.
import json, math, os, random, shutil, struct, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get("srcdir", "."))
sys.path.insert(0, os.path.join(TOP, "t/tool"))
from npzfile import *
from onnxfile import *
from tap import finish, halfulp, home, ok


def run(*args):
    ran = halfulp("validate", *args)
    return ran.returncode, ran.stdout, ran.stderr


def close(a, b, tolerance=1e-9):
    return a == b or (a is not None and b is not None and abs(a - b) <= tolerance * max(abs(a), abs(b)))


os.chdir(home())
random.seed(7)
N, I, H, C = 60, 12, 16, 5
w1, b1, w2 = ([random.gauss(0, s) for _ in range(n)] for n, s in ((H * I, 0.4), (H, 0.1), (H * C, 0.35)))
f32 = lambda values: list(struct.unpack("<%df" % len(values), struct.pack("<%df" % len(values), *values)))
w1, b1, w2, x = f32(w1), f32(b1), f32(w2), f32([random.gauss(0, 1) for _ in range(N * I)])
# The nodes stand in the wrong order, and the second product's operands are three-dimensional.
mlp = graph(
    [
        node("MatMul", "r w2", "y", name="second"),
        node("Relu", "h", "r", name="relu"),
        node("Gemm", "x w1 b1", "h", name="first", transB=1),
    ],
    [floats("w1", [H, I], w1), floats("b1", [H], b1), floats("w2", [H, C], w2)],
    [value("x", ["batch", I])],
    [value("y", ["batch", C])],
)
write("mlp.onnx", mlp)
labels = [random.randrange(C) for _ in range(N)]
npz("x.npz", x=([N, I], x), y=([N], labels, "<i8"))

code, out, err = run(
    "mlp.onnx",
    "--data",
    "x.npz",
    "--labels",
    "y",
    "--policy",
    "fp16,bf16,e4m3,mixed_float16,layer:first=float32",
    "--json",
    "--outputs",
    "out",
    "--exact",
    "60",
    "--top-k",
    "2",
)
ok(code == 0 and not err, "a model of three nodes runs under four policies %s" % err.strip())
o = json.loads(out)
rows = {r["policy"]: r for r in o["policies"]}
ok(
    list(rows) == ["float32", "fp16", "bf16", "e4m3", "mixed_float16,layer:first=float32"],
    "a row a policy, float32 first: %s" % list(rows),
)
files = {p: outputs("out/%s.npz" % p.replace(":", "_"))["y"] for p in rows}
ok(all(f[0] == (N, C) for f in files.values()), "each policy's outputs have a row an input")

# A name gives a layer no format: one that is called loss is computed as any other is
write(
    "named.onnx",
    graph(
        [
            node("Gemm", "x w1 b1", "h", name="loss", transB=1),
            node("Relu", "h", "r", name="relu"),
            node("MatMul", "r w2", "y", name="second"),
        ],
        [floats("w1", [H, I], w1), floats("b1", [H], b1), floats("w2", [H, C], w2)],
        [value("x", ["batch", I])],
        [value("y", ["batch", C])],
    ),
)
both = "mixed_float16,mixed_float16,layer:loss=float32"
code, out, err = run("named.onnx", "--data", "x.npz", "--policy", both, "--outputs", "named", "--exact", "0")
files_of = ("mixed_float16", "mixed_float16,layer_loss=float32")
low, high = (outputs("named/%s.npz" % p)["y"] for p in files_of)
ok(
    code == 0 and high == files["mixed_float16,layer:first=float32"] != low,
    "a layer called loss is computed in the policy's format unless it is asked for another %s" % err.strip(),
)

# A model that ends in probabilities, which do not add up to 1 in a narrow format
write(
    "soft.onnx",
    graph(
        [
            node("Gemm", "x w1 b1", "h", transB=1),
            node("Relu", "h", "r"),
            node("MatMul", "r w2", "z"),
            node("Softmax", "z", "y", axis=1),
        ],
        [floats("w1", [H, I], w1), floats("b1", [H], b1), floats("w2", [H, C], w2)],
        [value("x", ["batch", I])],
        [value("y", ["batch", C])],
    ),
)
code, out, err = run(
    "soft.onnx", "--data", "x.npz", "--policy", "bf16,fp16", "--json", "--outputs", "soft", "--exact", "0"
)
soft = {r["policy"]: r["kl"] for r in json.loads(out)["policies"]} if code == 0 else {}
for policy, told in soft.items():
    a, b = (outputs("soft/%s.npz" % p)["y"][1] for p in ("float32", policy))
    kl = 0
    for i in range(N):
        p, q = ([v / math.fsum(row) for v in row] for row in (a[i * C : i * C + C], b[i * C : i * C + C]))
        kl += math.fsum(s * math.log(s / t) for s, t in zip(p, q)) / N
    ok(kl >= 0 and abs(told - kl) < 1e-12, "%s: the divergence of probabilities is %.3g" % (policy, kl))
ok(list(soft) == ["float32", "bf16", "fp16"], "probabilities under two policies %s" % err.strip())

# A network of more operations than MPFR is asked for, twice 512 * 512 * 512 multiply-adds, of numbers whose sums are
# exact
L = 512
write(
    "large.onnx",
    graph(
        [node("MatMul", "x w", "y")],
        [floats("w", [L, L], [((7 * i) % 13 - 6) / 8 for i in range(L * L)])],
        [value("x", ["batch", L, L])],
        [value("y", ["batch", L, L])],
    ),
)
npz("large.npz", x=([1, L, L], [((5 * i) % 11 - 5) / 8 for i in range(L * L)]))
code, out, err = run("large.onnx", "--data", "large.npz", "--policy", "fp16")
ok(
    code == 0 and "The exact network, on 1 input: float32 is at most 0 off" in out,
    "a network of 2.7e8 operations is run exactly unasked: %s%s" % (out.strip().split("\n")[-2:], err),
)

exact = []
for i in range(N):
    h = [max(0, math.fsum(x[i * I + k] * w1[j * I + k] for k in range(I)) + b1[j]) for j in range(H)]
    exact += [math.fsum(h[k] * w2[k * C + j] for k in range(H)) for j in range(C)]
base = files["float32"][1]
worst = max(abs(a - b) for a, b in zip(base, exact))
ok(worst < 3e-6, "float32's outputs are within %.2g of the sums in doubles" % worst)
ok(
    close(o["exact"]["max_error"], worst, 1e-6) and o["exact"]["inputs"] == N,
    "and the exact network says as much: %.9g" % o["exact"]["max_error"],
)


def decided(values):
    return [max(range(C), key=lambda j: (values[i * C + j], -j)) for i in range(N)]


was = decided(base)
for policy, row in rows.items():
    got = files[policy][1]
    now = decided(got)
    changed = []
    for i in range(N):
        of, of32 = got[i * C : i * C + C], base[i * C : i * C + C]
        if now[i] != was[i]:
            rest = max(v for j, v in enumerate(of32) if j != was[i])
            changed.append([i, 0, was[i], now[i], of32[was[i]] - rest, of[now[i]] - of[was[i]]])
    ok(
        [[c[k] for k in ("input", "row", "was", "is", "margin32", "margin")] for c in row["changed"]] == changed,
        "%s: its %d changed decisions, with both margins" % (policy, len(changed)),
    )
    flips = sum(a != b for a, b in zip(now, was))
    top = sum(sum(got[i * C + j] > got[i * C + was[i]] for j in range(C)) >= 2 for i in range(N))
    l2 = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(got, base)) / math.fsum(b * b for b in base))
    z = 1.959963984540054
    p, mid = flips / N, (flips / N + z * z / (2 * N)) / (1 + z * z / N)
    half = z * math.sqrt(p * (1 - p) / N + z * z / (4 * N * N)) / (1 + z * z / N)
    kl = 0
    for i in range(N):
        a, b = base[i * C : i * C + C], got[i * C : i * C + C]
        la, lb = (max(v) + math.log(sum(math.exp(e - max(v)) for e in v)) for v in (a, b))
        kl += sum(math.exp(s - la) * ((s - la) - (t - lb)) for s, t in zip(a, b)) / N
    ok(
        row["inputs"] == N and row["flips"] == flips and row["top"] == top,
        "%s: %d flips, %d beyond the first two" % (policy, flips, top),
    )
    ok(
        close(row["rel_l2"], l2) and close(row["max_error"], max(abs(a - b) for a, b in zip(got, base))),
        "%s: rel_l2 %.6g, and the largest difference" % (policy, l2),
    )
    ok(
        close(row["sqnr_db"], None if l2 == 0 else -20 * math.log10(l2)) and abs(row["kl"] - kl) < 1e-12,
        "%s: its decibels and the divergence %.3g" % (policy, kl),
    )
    ok(
        abs(row["flips_low"] - max(0, mid - half)) < 1e-12 and abs(row["flips_high"] - (mid + half)) < 1e-12,
        "%s: Wilson's interval" % policy,
    )
    ok(
        close(row["accuracy"], sum(a == b for a, b in zip(now, labels)) / N),
        "%s: the share of right answers" % policy,
    )
    margins = [sorted(base[i * C : i * C + C])[-1] - sorted(base[i * C : i * C + C])[-2] for i in range(N)]
    flipped = [i for i in range(N) if now[i] != was[i]]
    open_ = sum(
        margins[i]
        <= abs(base[i * C + was[i]] - exact[i * C + was[i]])
        + max(
            abs(base[i * C + j] - exact[i * C + j])
            for j in range(C)
            if j != was[i] and base[i * C + was[i]] - base[i * C + j] == margins[i]
        )
        for i in flipped
    )
    ok(
        row["flips_judged"] == len(flipped) and row["open"] == open_,
        "%s: %d of %d flips are open" % (policy, open_, len(flipped)),
    )
ok(
    0 < rows["fp16"]["rel_l2"] < rows["bf16"]["rel_l2"] < rows["e4m3"]["rel_l2"] and rows["e4m3"]["flips"] > 0,
    "fewer bits, more error; e4m3 changes answers",
)
weights = 4 * (H * I + H + H * C)
ok(
    [rows[p]["weight_bytes"] for p in ("float32", "fp16", "bf16")] == [weights, weights / 2, weights / 2],
    "weights take as many bytes as their formats have",
)
bits = lambda v, n: struct.unpack("<I", struct.pack("<f", v))[0] & ((1 << n) - 1)
ok(
    all(bits(v, 13) == 0 for v in files["fp16"][1]) and all(bits(v, 16) == 0 for v in files["bf16"][1]),
    "outputs are values of the policy's format",
)
code, again, _ = run(
    "mlp.onnx",
    "--data",
    "x.npz",
    "--labels",
    "y",
    "--policy",
    "fp16,bf16,e4m3,mixed_float16,layer:first=float32",
    "--json",
    "--exact",
    "60",
    "--top-k",
    "2",
    "--batch",
    "7",
)
same = json.loads(again)
keys = [k for k in rows["fp16"] if k != "traffic_bytes"]
ok(
    all(r[k] == rows[r["policy"]][k] for r in same["policies"] for k in keys if r["policy"] != "e4m3"),
    "in batches of another size the figures are the same, but for scales of whole batches",
)

code, out, err = run(
    "mlp.onnx", "--data", "x.npz", "--policy", "fp16,e4m3", "--accept", "sqnr>=40", "--accept", "flips<=5%", "--tap"
)
ok(
    code == 1 and "not ok 5 - e4m3: sqnr>=40" in out and "ok 3 - fp16: sqnr>=40" in out and out.startswith("1..6\n"),
    "a broken budget: exit 1, and TAP says which",
)
code, out, err = run(
    "mlp.onnx", "--data", "x.npz", "--policy", "fp16", "--accept", "sqnr>=40", "--accept", "nonfinite<=0"
)
ok(code == 0 and "pass" in out, "a kept one: exit 0")

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
ok(r["fp16"]["max_error"] is None and r["fp16"]["flips"] is not None, "its distance is no number")

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
    ("labels of another length", ["mlp.onnx", "--data", "three.npz", "--labels", "x.npz:y"], 3, ""),
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
ok(not [n for n in os.listdir("out") if n.endswith("part")], "no half-written file is left")
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
npz("three.npz", x=([N, 3, 4], x))
code, out, err = run("three.onnx", "--data", "three.npz", "--policy", "bf16", "--exact", "2", "--outputs", "three")
shapes = [outputs("three/%s.npz" % who)["y"][0] for who in ("float32", "bf16", "exact")] if code == 0 else err
ok(shapes == [(N, 3, 5), (N, 3, 5), (2, 3, 5)], "the shape of results of three dimensions: %s" % shapes)
finish()
