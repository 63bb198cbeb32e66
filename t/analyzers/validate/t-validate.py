#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate: models written here run under policies, and every figure is computed again from the outputs that it writes,
# by other formulas; float32's outputs are compared with doubles. Then budgets and exit codes. HALFULP names the
# program.
import json, math, os, random, struct, sys

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
    return a == b or (not isinstance(a, (str, type(None))) and not isinstance(b, (str, type(None))) and abs(a - b) <= tolerance * max(abs(a), abs(b)))


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
        close(row["sqnr_db"], "inf" if l2 == 0 else -20 * math.log10(l2)) and abs(row["kl"] - kl) < 1e-12,
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
ok(not [n for n in os.listdir("out") if n.endswith("part")], "no half-written file is left")
finish()
