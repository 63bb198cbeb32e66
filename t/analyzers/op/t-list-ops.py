#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# validate --list: every node of a model is counted once, under its operator and its domain's version; what is not
# known is named with its nodes. The models are written here, and so are the counts. HALFULP names the program.
import json, os, re, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get("srcdir", "."))
sys.path.insert(0, os.path.join(TOP, "t/tool"))
from onnxfile import *
from tap import HALFULP, finish, home, ok  # noqa: E402


def validate(*args):
    ran = subprocess.run([HALFULP, "validate", *args], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def listed(path):
    code, out, err = validate(path, "--list", "--json")
    ok(code == 0, "%s is listed %s" % (path, err.strip()))
    o = json.loads(out) if code == 0 else {"operators": []}
    return o, {(r["domain"], r["operator"], r["known"]): (r["version"], r["nodes"], r["arithmetic"], r["names"])
               for r in o["operators"]}


where = home()
os.chdir(where)
inner = graph([node("Relu", "c", "t", name="inner"), node("Mystery", "t", "u", name="lost", domain="my.domain")],
              outputs=[value("u")])
other = graph([node("Tanh", "c", "e")], outputs=[value("e")])
body = (
    blob(1, "Twice")
    + blob(4, "a")
    + blob(5, "b")
    + blob(7, node("Add", "a a", "s", name="sum"))
    + blob(7, node("MaxRoiPool", "s", "b", name="nms"))
    + blob(10, "my.functions")
)
nodes = [
    node("Conv", "x w", "c", name="conv", kernel_shape=[3, 3]),
    node("Conv", "v w4", "c3", name="volume", kernel_shape=[3, 3, 3, 3]),
    node("If", "yes", "i", name="pick", then_branch=inner, else_branch=other),
    node("Twice", "c", "f1", name="f1", domain="my.functions"),
    node("Twice", "c", "f2", name="f2", domain="my.functions"),
    node("BatchNormalization", "c s b m q", "n", name="bn"),
    node("Det", "c", "n2", name="training"),
]
nodes += [node("Unique", "c k", "t%d u%d" % (i, i), name="top%d" % i) for i in range(5)] + [
    node("Gelu", "c", "g", name="g\x1b[2J")
]
write("m.onnx", graph(nodes, [], [value(n) for n in "x w v w4 yes s b m q k".split()], [value("i")]), opset=17,
      domains=[("my.functions", 1)], functions=[body])
o, rows = listed("m.onnx")
want = {
    ("ai.onnx", "Conv", True): (17, 1, "conv2d", ["conv"]),
    ("ai.onnx", "Conv", False): (17, 1, None, ["volume"]),
    ("ai.onnx", "If", True): (17, 1, "both branches", ["pick"]),
    ("ai.onnx", "Relu", True): (17, 1, "relu", ["inner"]),
    ("my.domain", "Mystery", False): (None, 1, None, ["lost"]),
    ("ai.onnx", "Tanh", True): (17, 1, "tanh", ["e"]),
    ("my.functions", "Twice", True): (1, 2, "function", ["f1", "f2"]),
    ("ai.onnx", "Add", True): (17, 1, "add", ["Twice/sum"]),
    ("ai.onnx", "MaxRoiPool", False): (17, 1, None, ["Twice/nms"]),
    ("ai.onnx", "BatchNormalization", True): (17, 1, "batchnorm_eval layernorm mul add", ["bn"]),
    ("ai.onnx", "Det", False): (17, 1, None, ["training"]),
    ("ai.onnx", "Unique", False): (17, 5, None, ["top%d" % i for i in range(5)]),
    ("ai.onnx", "Gelu", False): (17, 1, None, ["g\\x1b[2J"]),
}
for key, row in want.items():
    ok(rows.get(key) == row, "%s %s, %s: %r" % (*key[:2], "known" if key[2] else "not known", rows.get(key)))
ok(set(rows) == set(want), "and nothing else %s" % sorted(set(rows) ^ set(want)))
ok((o.get("nodes"), o.get("unknown_operators"), o.get("unknown_nodes"), o.get("ir_version")) == (18, 6, 10, 8),
   "18 nodes, ten of six operators not known")
code, out, err = validate("m.onnx", "--list")
ok(code == 0 and re.search(r"^Conv +ai\.onnx +17 +1 +yes +conv2d$", out, re.M)
   and re.search(r"^Mystery +my\.domain +- +1 +no +-$", out, re.M), "printed: a row an operator")
ok("the arithmetic of 10 of 18 nodes is not known:\n" in out
   and "  Unique, 5 nodes: top0, top1, top2 and 2 more\n" in out and "  MaxRoiPool, 1 node: Twice/nms\n" in out
   and "\x1b" not in out, "printed: what is not known, by name, all at once")

write("n.onnx", graph([node("Gelu", "x", "a"), node("Gemm", "a w", "y")], [], [value("x"), value("w")], [value("y")]),
      opset=20)
o, rows = listed("n.onnx")
ok(set(k[2] for k in rows) == {True} and o.get("unknown_nodes") == 0, "the same Gelu by a version that has it")
ok("the arithmetic of all 2 nodes is known\n" in validate("n.onnx", "--list")[1], "printed: all known")
write("o.onnx", graph([node("Add", "x w", "y")], [], [value("x"), value("w")], [value("y")]), opset=6)
ok(("ai.onnx", "Add", False) in listed("o.onnx")[1], "an Add of a version when it meant another thing")

defined = dict(
    re.findall(
        r'^OPERATOR\((\w+), \d+, "([^"]*)", \w+\)', open(os.path.join(TOP, "lib/import/operators.def")).read(), re.M
    )
)
ours = set(subprocess.check_output(["sh", os.path.join(TOP, "t/tool/operators.sh"), TOP], text=True).split())
ok(len(defined) > 40 and all(w in ours for a in defined.values() if a != "moves" for w in a.split()),
   "every arithmetic names operators of the table")
ok(list(defined) == sorted(defined), "rows by name")

for what, args, want_code, pattern in (
    ("no --list", ["m.onnx"], 2, "--list"),
    ("no model", ["--list"], 2, "one model"),
    ("two models", ["m.onnx", "n.onnx", "--list"], 2, "one model"),
    ("another kind of file", ["m.safetensors", "--list"], 3, ".onnx"),
    ("a model that is not there", ["absent.onnx", "--list"], 3, "cannot be opened"),
):
    code, out, err = validate(*args)
    ok(
        code == want_code and not out and err.count("\n") == 1 and pattern in err,
        "%s: exit %d, one line: %s" % (what, want_code, err.strip()),
    )
finish()
