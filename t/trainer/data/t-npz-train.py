#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# `--data npz:FILE` trains on anyone's arrays: the bytes of images give the bits that the same images give as IDX files,
# flat rows of floats are learnt, a run goes on and is verified, and a file that changed or is wrong is refused.
import json, os, random, struct, subprocess, sys, zipfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, '..'), os.path.join(here, '..', '..', 'tool')]
from tap import HALFULP, finish, ok  # noqa: E402
from trained import Trainings  # noqa: E402

runs = Trainings()
column = runs.column
os.chdir(runs.folder)


def run(*line):
    p = subprocess.run([HALFULP, *line], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if p.stderr:
        print(p.stderr, end="", file=sys.stderr)
    return p


def npz(path, **arrays):
    """Each array is (dtype, shape, bytes), written as numpy.savez does."""
    with zipfile.ZipFile(path, "w") as z:
        for name, (dtype, shape, data) in arrays.items():
            head = str({"descr": dtype, "fortran_order": False, "shape": tuple(shape)})
            head = (head + " " * (-(11 + len(head)) % 64) + "\n").encode()
            z.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)


# The same bytes as IDX files and as arrays
N, SIDE = 96, 10
random.seed(3)
pixels, labels = bytes(random.randrange(256) for _ in range(N * SIDE * SIDE)), bytes(i % 10 for i in range(N))
os.mkdir("images")
open("images/train-images-idx3-ubyte", "wb").write(struct.pack(">4I", 0x803, N, SIDE, SIDE) + pixels)
open("images/train-labels-idx1-ubyte", "wb").write(struct.pack(">2I", 0x801, N) + labels)
npz("images.npz", x=("|u1", (N, SIDE, SIDE, 1), pixels), labels=("<i4", (N,), struct.pack("<%di" % N, *labels)))
for model in "mlp", "convnet":
    o = ["--model", model, "--model", "width=0.25", "--batch", "16", "--data", "split=80", "--epochs", "1", "--quiet"]
    a = run("train", *o, "--policy", "mixed_float16", "--data", "idx:images", "i-" + model)
    b = run("train", *o, "--policy", "mixed_float16", "--data", "npz:images.npz", "n-" + model)
    digests = [column(d + model, "digest") for d in ("i-", "n-")] if not a.returncode + b.returncode else [[], []]
    ok(len(digests[0]) == 5 and digests[0] == digests[1],
       "%s: images as IDX files and as an array train to the same bits" % model)
    same = [column(d + model, "eval_accuracy")[-1] for d in ("i-", "n-")]
    ok(same[0] == same[1] and same[0] not in "-", "and evaluate alike (%s)" % same[0])
manifests = [json.load(open(d + "mlp/manifest.json"))["dataset"] for d in ("i-", "n-")]
ok(manifests[0]["digest"] == manifests[1]["digest"] and manifests[1]["height"] == SIDE,
   "with one digest in the manifest")

# Rows of floats, two classes that a plane separates
N, WIDE = 400, 6
rows = [[random.gauss(0, 1) for _ in range(WIDE)] for _ in range(N)]
sides = [int(sum(r) > 0) for r in rows]
flat = {
    "x": ("<f8", (N, WIDE), struct.pack("<%dd" % (N * WIDE), *sum(rows, []))),
    "labels": ("|u1", (N,), bytes(sides)),
    "names": ("<U1", (N,), b"a\0\0\0" * N),
}
npz("flat.npz", **flat)
o = ["--data", "npz:flat.npz", "--batch", "20", "--policy", "mixed_bfloat16", "--model", "width=0.25"]
p = run("train", *o, "--epochs", "4", "--optimizer", "lr=0.01", "--quiet", "flat")
accuracy = float(column("flat", "eval_accuracy")[-1]) if not p.returncode else 0
ok(accuracy > 0.85, "rows of floats are learnt: accuracy %g of two classes" % accuracy)
m = json.load(open("flat/manifest.json"))["dataset"]
ok(m["classes"] == 2 and m["arrays"] == {"x": [WIDE], "labels": []} and "height" not in m and m["train"] == 360,
   "the manifest has the arrays' shapes")
ok(os.path.isabs(json.load(open("flat/manifest.json"))["config"]["data"][4:]), "and the file's whole path")
p = run("verify", "flat")
ok(p.returncode == 0, "verify executes it again")
p = run("analyze", "flat")
ok(p.returncode == 0, "analyze takes the run")
p = run("plan", *o)
ok(p.returncode == 0 and "20 samples of 6" in p.stdout, "plan says the shape")

# What cannot be
p = run("train", *o, "--model", "convnet", "--quiet", "never")
ok(p.returncode == 2 and "reads x[n,height,width,channels]" in p.stderr and "x[n,6]" in p.stderr
   and p.stderr.count("\n") == 1, "a convnet needs images")
p = run("train", "--data", "npz", "--quiet", "never")
ok(p.returncode == 2 and "npz:FILE" in p.stderr and p.stderr.count("\n") == 1, "npz without a file")
flat["x"] = (flat["x"][0], flat["x"][1], struct.pack("<%dd" % (N * WIDE), *([2.0] + sum(rows, [])[1:])))
npz("flat.npz", **flat)
p = run("verify", "flat")
ok(p.returncode == 3 and "digest" in p.stderr, "a run whose data changed in one element is not verified")
del flat["labels"]
npz("flat.npz", **flat)
p = run("train", *o, "--quiet", "never")
ok(p.returncode == 3 and "no array labels; there are x names" in p.stderr and p.stderr.count("\n") == 1,
   "an archive without labels")
open("flat.npz", "wb").write(b"no archive")
p = run("train", *o, "--quiet", "never")
ok(p.returncode == 3 and p.stderr.count("\n") == 1 and not os.path.exists("never"),
   "a file that is no archive, and nothing is left")
finish()
