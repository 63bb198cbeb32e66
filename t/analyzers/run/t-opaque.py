#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A traced step in which one call is made opaque: its results are not judged, nothing that the exact step computes from
# them is, and all else has the figures that it had. Every third call has its turn. HALFULP names the program.
import json, os, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get("srcdir", "."))
sys.path.insert(0, os.path.join(TOP, "t/tool"))
from tap import HALFULP, finish, home, ok  # noqa: E402


def halfulp(*args):
    ran = subprocess.run([HALFULP, *args], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def rows(path):
    lines = [l.rstrip("\n").split("\t") for l in open(path) if not l.startswith("#")]
    return [dict(zip(lines[0], l)) for l in lines[1:]]


os.chdir(home())
code, out, err = halfulp("train", "--model", "mlp", "--data", "digits", "--policy", "mixed_float16", "--steps", "3",
                         "--batch", "8", "--model", "width=0.1", "--trace", "steps=2", "--threads", "1", "run")
ok(code == 0, "a small training is traced %s" % err.strip())
program, step = json.load(open("run/program-train.json")), "run/trace/step-000002.safetensors"


def analyzed(name):
    code, out, err = halfulp("analyze", name + ".json", step, "--out", name, "--sample", "64", "--threads", "1")
    there = [rows("%s/analysis/%s.tsv" % (name, table)) if code == 0 else [] for table in ("replay", "swamping")]
    return code, err, *there


json.dump(program, open("whole.json", "w"))
code, err, whole, updates = analyzed("whole")
ok(code == 0 and whole, "and analyzed from its files %s" % err.strip())
judged = {r["tensor"]: r for r in whole}
DECISIONS = ("finite_check", "scale_update")   # their recorded results hold in the exact step too
for c in [c for c in program["calls"] if c["op"] not in DECISIONS][::3]:
    changed = json.loads(json.dumps(program))
    changed["calls"][c["id"]].update(op="opaque", attr={}, opaque={"name": "aten.mystery", "reason": "made so"})
    json.dump(changed, open("other.json", "w"))
    code, err, other, swamped = analyzed("other")
    tainted, names = set(c["out"]), [t["name"] for t in program["tensors"]]
    for k in program["calls"][c["id"] + 1:]:
        if k["op"] not in DECISIONS and set(k["in"]) & tainted:
            tainted |= set(k["out"])
    tainted, own = {names[i] for i in tainted}, {names[i] for i in c["out"]}
    got, wrong = {r["tensor"]: r for r in other}, []
    for tensor, r in judged.items():
        want = {k: "-" if tensor in tainted and k.startswith("propagated") else v for k, v in r.items()}
        if tensor in own:
            wrong += [tensor] if tensor in got else []
        elif got.get(tensor) != want:
            wrong.append(tensor)
    ok(code == 0 and not wrong, "%s %d opaque: %d of %d tensors are tainted, and the others' figures stay %s %s"
       % (c["op"], c["id"], len(tainted & set(judged)), len(judged), wrong[:3], err.strip() if code else ""))
    if c["op"] == "adamw":
        lost = {r["tensor"] for r in updates} - {r["tensor"] for r in swamped}
        ok(lost == own & {r["tensor"] for r in updates}, "and its update has no row: %s" % ", ".join(sorted(lost)))
code, out, err = halfulp("op", "opaque", "--in", "a=a.npy", "--out", "b.npy")
ok(code == 2 and "nothing computes" in err, "op refuses it: %s" % err.strip())
code, out, err = halfulp("op", "list")
ok(code == 0 and "opaque" not in out, "and does not list it")
finish()
