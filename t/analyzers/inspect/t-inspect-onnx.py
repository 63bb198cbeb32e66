#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# inspect of ONNX models: every tensor with its dtype and shape, and block formats along the axis over which the product
# sums. The figures must be those of the same numbers in a safetensors file, laid out so that this axis is the last.
# HALFULP names the program.
import json, math, os, random, struct, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ.get("srcdir", "."), "t/tool"))
from onnxfile import *
from tap import HALFULP, finish, home, ok  # noqa: E402

TO = "fp16,e4m3,mxfp4,nvfp4,int4x16,int8"
BLOCKS = ("mxfp4", "nvfp4", "int4x16")  # the others have no scale along an axis


def inspect(path, *more):
    ran = subprocess.run([HALFULP, "inspect", path, *more], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def rows(path):
    code, out, err = inspect(path, "--json", "--to", TO)
    ok(code == 0, "%s is read %s" % (path, err.strip()))
    return {(r["tensor"], r["to"]): r for r in (json.loads(out) if code == 0 else [])}


r = random.Random(5)
gauss = lambda n: [r.gauss(0, 1) * 2.0 ** r.randrange(-6, 3) for _ in range(n)]
SHAPES = {
    "conv.w": (4, 5, 3, 3),
    "up.w": (6, 4, 2, 2),
    "fc.w": (7, 37),
    "head.w": (37, 7),
    "mm.w": (2, 35, 3),
    "lone": (3, 33),
    "bias": (4,),
    "sub.w": (5, 40),
}
AXIS = {"conv.w": 1, "up.w": 0, "fc.w": 1, "head.w": 0, "mm.w": 1, "sub.w": 0}
data = {n: gauss(math.prod(s)) for n, s in SHAPES.items()}
where = home()
os.chdir(where)
branch = lambda out, nodes: graph(nodes, outputs=[value(out)])
write(
    "m.onnx",
    graph(
        [
            node("Conv", "x conv.w bias", "c"),
            node("ConvTranspose", "c up.w", "u"),
            node("Flatten", "u", "f"),
            node("Gemm", "f fc.w", "g", transB=1),
            node("Gemm", "f head.w", "h"),
            node("MatMul", "g mm.w", "m"),
            node("Add", "m lone", "a"),
            node("Constant", "", "sub.w", value=floats("", SHAPES["sub.w"], data["sub.w"])),
            node(
                "If", "yes", "y", then_branch=branch("t", [node("MatMul", "a sub.w", "t")]),
                else_branch=branch("e", [node("Relu", "h", "e")])
            ),
        ],
        [floats(n, SHAPES[n], data[n]) for n in SHAPES if n != "sub.w"]
        + [
            tensor("yes", BOOL, (), b"\1"), tensor("half", FLOAT16, (2,), struct.pack("<2e", 1, -3)),
            ints("to", (2,), [1, 2])
        ],
        [value("x", ["N", 5, 8, 8])],
        [value("y")],
    ),
)


def last(name):
    """The tensor's numbers with the axis of the sum last."""
    s, v = SHAPES[name], data[name]
    if name not in AXIS:
        return s, v
    at = AXIS[name]
    if name == "conv.w":
        return (s[0], s[1] * s[2] * s[3]), v
    outer, k, inner = math.prod(s[:at]), s[at], math.prod(s[at + 1:])
    return (outer * inner, k), [
        v[(o * k + j) * inner + i] for o in range(outer) for i in range(inner) for j in range(k)
    ]


head, body = {}, b""
for n in SHAPES:
    s, v = last(n)
    head[n] = {"dtype": "F32", "shape": list(s), "data_offsets": [len(body), len(body) + 4 * len(v)]}
    body += struct.pack("<%df" % len(v), *v)
text = json.dumps(head).encode()
with open("s.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + body)
got, want = rows("m.onnx"), rows("s.safetensors")
ok({k[0] for k in got} == set(SHAPES) | {"half"}, "initialisers and Constants, also those that graphs inside read")
for n in SHAPES:
    wrong = []
    for to in TO.split(","):
        a, b = got[n, to], want[n, to]
        wrong += [
            "%s %s: %r, not %r" % (to, k, a[k], b[k])
            for k in b
            if k
            not in (
                "shape", "axis", "file", "max_error_at", "mean_error", "cosine", "rel_l2", "sqnr_db", "l2_share_lost"
            )
            and a[k] != b[k]
        ]
        # sums run in another order
        wrong += [
            "%s %s: %r, not %r" % (to, k, a[k], b[k])
            for k in ("mean_error", "cosine", "rel_l2", "sqnr_db", "l2_share_lost")
            if not (a[k] == b[k] or abs(a[k] - b[k]) <= 1e-9 * abs(b[k]))
        ]
    ok(not wrong, "%s: the figures of the same numbers laid out along the sum %s" % (n, wrong[:3]))
    ok(
        all(
            (got[n, to]["shape"], got[n, to]["axis"])
            == ("x".join(map(str, SHAPES[n])), AXIS.get(n) if to in BLOCKS else None)
            for to in TO.split(",")
        ),
        "%s: shape, and axis %s of blocks" % (n, AXIS.get(n)),
    )
ok(got["half", "e4m3"]["dtype"] == "F16" and got["half", "e4m3"]["amax"] == 3, "halves")
code, out, err = inspect("m.onnx")
ok(
    code == 0
    and "2 tensors hold no floating-point numbers" in out
    and out.splitlines()[0].split()[-2:] == ["shape", "axis"],
    "printed; integers are left out and that is said",
)

whole = open("m.onnx", "rb").read()
for what, bytes_ in (
    ("cut short", whole[: len(whole) // 2]),
    ("nothing", b""),
    ("text", b"not a model at all, but a text\n"),
):
    open("bad.onnx", "wb").write(bytes_)
    code, out, err = inspect("bad.onnx")
    ok(code == 3 and not out and err.count("\n") == 1, "%s: exit 3, one line: %s" % (what, err.strip()))
write("loop.onnx", graph([node("Relu", "b", "a"), node("Relu", "a", "b", name="n\x1b[2J")], [], [], [value("b")]))
code, out, err = inspect("loop.onnx")
ok(code == 3 and "cycle" in err and "\x1b" not in err and err.count("\n") == 1, "a cycle: %s" % err.strip())
finish()
