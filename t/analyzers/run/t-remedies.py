#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Where a number that is not finite came from, by causes that are made here, and what the verdict offers against each:
# every command of every remedy runs, and shows what it promises. HALFULP names the program.
import json, os, re, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get("srcdir", "."))
sys.path.insert(0, os.path.join(TOP, "t/tool"))
from tap import HALFULP, finish, home, ok  # noqa: E402


def halfulp(*args):
    ran = subprocess.run([HALFULP, *args], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


os.chdir(home())
SMALL = ["--model", "mlp:width=0.03125", "--data", "size=8,train=40,eval=8", "--batch", "8"]
CASES = {
    "zero_constant": [
        "--policy", "float16", "--optimizer", "eps=1e-8", "--loss-scale", "none", "--steps", "2", "--trace", "steps=0,1"
    ],
    "overflow": ["--policy", "mixed_float16", "--loss-scale", "init=16777216", "--steps", "1", "--trace", "steps=0"],
    "none": ["--policy", "mixed_float16", "--steps", "2", "--trace", "steps=0,1"],
}
for cause, words in CASES.items():
    code, out, err = halfulp("train", *SMALL, *words, "--quiet", cause)
    code, out, err = halfulp("analyze", cause)
    summary = json.load(open(cause + "/analysis/summary.json"))
    first, told = summary["nonfinite"], summary["verdict"][0]
    if cause == "none":
        ok(first is None and summary["nan"] is None and "not finite" not in told, "finite numbers have no origin: "
            + told)
        continue
    ok(first and first["cause"] == cause, "%s: %s" % (cause, json.dumps(first)))
    named = [str(first[k]) for k in ("step", "op", "layer", "tensor", "element", "operands")] if first else ["?"]
    ok(all(n in told for n in named), "its step, operator, layer, tensor, element and operands are told: " + told)
    lines = [line.rstrip("\n").split("\t") for line in open(cause + "/metrics.tsv") if not line.startswith("#")]
    row = dict(zip(lines[0], lines[1 + first["step"]])) if first else {}
    same = [row.get(k) for k in ("overflow_call", "overflow_tensor", "overflow_count")]
    want = [str(first[k]) for k in ("call", "tensor", "nonfinite_elements")] if first else ["?"]
    ok(same == want, "training has named it in metrics.tsv: %s, %s" % (same, want))
    ok(all(dict(zip(lines[0], x))["overflow_call"] == "-" for x in lines[2 + first["step"]:]), "and once")
    remedies = [r for r in summary["remedies"] if r["cause"] == cause]
    ok(len(remedies) == 1 and remedies[0]["command"] in out, "and what helps: %s" % remedies)
source = open(os.path.join(TOP, "analyzers/run/summary/remedies.def")).read()
ROW = r'REMEDY\("(\w+)", "([^"]*)",\s*"((?:[^"\\]|\\.)*)"\)'
rows = [(cause, words, c.replace('\\"', '"')) for cause, words, c in re.findall(ROW, source)]
own = open(os.path.join(TOP, "analyzers/run/nonfinite/cause.c")).read()
named = set(re.findall(r'"(\w+)"', own[own.index("hu_origin_name"):own.index("};")]))
named |= {"updates", "gradients", "rounding", "moments", "statistics", "states", "next"}
ok({r[0] for r in rows} == named and source.count("REMEDY(") == len(rows) + 1,
    "each cause has a remedy: %s" % sorted(named ^ {r[0] for r in rows}))
swallowed = " ".join(w for c, w, _ in rows if c == "updates")
ok(all(w in swallowed for w in ("float32", "stochastic rounding", "Kahan")), "against swallowed updates: " + swallowed)
told = {}
for c in sorted({c for _, _, c in rows}):
    ran = subprocess.run(
        'halfulp() { "$HALFULP" "$@"; }\n'
        + re.sub(r"(halfulp (?:train|compare))", r"\1 --data train=256,eval=64 --batch 32", c),
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        env=dict(os.environ, HALFULP=HALFULP),
    )
    told[c] = ran.stdout
    ok(ran.returncode == 0 and ran.stdout, "%s runs: exit %d %s" % (c, ran.returncode, ran.stderr.strip()[:200]))
# what the remedies of one sum promise: the plain sum stands still, the other one does not
for word, c in [(w, c) for cause, w, c in rows if cause == "updates" and "accumulate" in c]:
    lines = [x.split("\t") for x in told[c].splitlines() if not x.startswith("#")]
    last = {r["sum"]: r for r in (dict(zip(lines[0], x)) for x in lines[1:])}
    plain, helped = last.pop("fma,acc=fp16"), list(last.values())
    exact = float(plain["exact"]) - 1
    ok(float(plain["value"]) == 1 and exact > 0.04 and len(helped) == 1
       and abs(float(helped[0]["value"]) - 1 - exact) < 0.2 * exact,
       "%s: %s becomes %s, where the plain sum stays at 1" % (word, helped[0]["sum"], helped[0]["value"]))
code, out, err = halfulp(
    "train", *SMALL, "--policy", "float16", "--optimizer", "eps=1e-4", "--loss-scale", "none", "--steps", "2",
    "--trace", "steps=0,1", "--quiet", "larger"
)
code, out, err = halfulp("analyze", "larger")
summary = json.load(open("larger/analysis/summary.json"))
ok(summary["nonfinite"] is None, "with the larger epsilon nothing is infinite or NaN")
finish()
