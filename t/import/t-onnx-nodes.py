#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ONNX's own node tests: each model of one operator (and each that its body of simpler ones replaces) runs in validate,
# and its outputs are compared with the expected ones in ONNX's tolerance. Needs the Python package onnx; without it the
# test is skipped. With a word as argument only tests with it in their names run, and every reason is printed.
import collections, os, re, sys

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "tool")]
import nodetests
from tap import finish, home, none, ok, skip_all

LEAST = 1565 if nodetests.MADE else 1445  # tests that pass; raise it with every operator
ONE, ALL = 905, 1255  # tests within our operators that must pass: of one node, and of one or more
names = nodetests.names()
if not names:
    skip_all("no Python package onnx")

# Results that are not ONNX's although the operator is known, with the reason.
NO_NAN = "what NaN becomes in a format without NaN is not said"
KNOWN = {
    "test_cast%s_%s_to_FLOAT4E2M1%s" % k: NO_NAN
    for k in [("", "FLOAT16", ""), ("", "FLOAT", "")]
    + [("like", f, e) for f in ("FLOAT16", "FLOAT") for e in ("", "_expanded")]
}


where = home()
reasons, passed, wrong = collections.defaultdict(list), 0, []
with open(os.path.join(os.environ.get("srcdir", "."), "lib/import/operators.def")) as f:
    KNOWN_OPERATORS = set(re.findall(r"^OPERATOR\((\w+),", f.read(), re.M))
within = collections.Counter()


def count(name, good):
    """Within our operators is a test whose nodes' operators, whatever their versions and attributes, are rows of
    operators.def."""
    nodes = nodetests.model(name).graph.node
    if all(n.domain in ("", "ai.onnx") and n.op_type in KNOWN_OPERATORS for n in nodes):
        for key in ("all",) + (("one",) if len(nodes) == 1 else ()):
            within[key] += 1
            within[key, "pass"] += good


some = sys.argv[1:]
for name in names:
    if some and not any(w in name for w in some):
        continue
    try:
        why = nodetests.judge(name, where)
    except Exception as e:
        why = "the test itself: %s" % str(e).split("\n")[0][:80]
    passed += why is None
    count(name, why is None)
    if why:
        reasons[why if some or why.startswith("WRONG") else re.sub(r"node '…' ", "", why)].append(name)
    if why and why.startswith(("WRONG", "the test")) and name not in KNOWN:
        wrong.append("%s: %s" % (name, why))
for why, which in sorted(reasons.items(), key=lambda r: -len(r[1])):
    print("# %4d %s (%s%s)" % (len(which), why, ", ".join(which[:2]), ", …" if len(which) > 2 else ""))
ok(some or passed >= LEAST, "%d of %d node tests pass, %d or more" % (passed, len(names), LEAST))
for key, least, what in (("one", ONE, "of one node"), ("all", ALL, "of one node or more")):
    good, n = within[key, "pass"], within[key]
    ok(some or good >= least, "within our operators %d of %d tests %s pass, %d or more" % (good, n, what, least))
none(wrong, "no output is wrong")
finish()
