#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a run directory made of SYNTHETIC numbers, for tests of the report only.

Nothing here was measured: shapes, columns and units are those of a run
directory (doc/formats.md), the values are random functions of --seed.
"""

import argparse
import json
import math
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
from sealed import seal  # noqa: E402

PRECISION = {"fp32": 24, "fp16": 11, "bf16": 8}
EMIN = {"fp32": -126, "fp16": -14, "bf16": -126}
PROVENANCE = "# halfulp: SYNTHETIC, made by t/reports/make-sample-run.py for a test\n# run: {run}\n# seed: {seed}\n# policy: {policy}\n"

p = argparse.ArgumentParser()
p.add_argument("run")
p.add_argument("--policy", default="mixed_float16")
p.add_argument("--format", default="fp16", choices=list(PRECISION))
p.add_argument("--seed", type=int, default=1)
p.add_argument("--steps", type=int, default=400)
p.add_argument("--traced", type=int, default=4)
p.add_argument("--layers", type=int, default=4)
p.add_argument("--long-names", action="store_true")
p.add_argument("--no-scaling", action="store_true", help="no loss scale in the metrics, no loss-scale tables")
p.add_argument("--nan", action="store_true", help="the loss turns nan, some cells inf")
p.add_argument("--no-analysis", action="store_true")
p.add_argument("--empty-interval", action="store_true")
p.add_argument("--verdict", default="costs", choices=["harmless", "costs", "fatal"])
p.add_argument("--over", type=int, default=0, help="outputs over their bound")
a = p.parse_args()
rnd = random.Random(a.seed * 1000003 + len(a.policy))
fmt, prec, emin = a.format, PRECISION[a.format], EMIN[a.format]
layers = [f"conv{i}" for i in range(1, a.layers)] + ["dense1"]
if a.long_names:
    layers = [f"encoder.layers.{i}.self_attention.output.dense" for i in range(a.layers)]
os.makedirs(os.path.join(a.run, "analysis"), exist_ok=True)


def real(x):
    return "-" if x is None else repr(float(x)) if not isinstance(x, (int, str)) else str(x)


def table(name, columns, rows):
    text = PROVENANCE.format(run=a.run, seed=a.seed, policy=a.policy) + "\t".join(columns.split()) + "\n"
    for r in rows:
        assert len(r) == len(columns.split()), (name, r)
        text += "\t".join(real(x) for x in r) + "\n"
    with open(os.path.join(a.run, name), "w") as f:
        f.write(seal(text) if name.startswith("analysis/") else text)


# metrics
scale, good, rows, per_epoch = 65536.0, 0, [], max(1, a.steps // 4)
for s in range(1, a.steps + 1):
    over = not a.no_scaling and (s < 3 or rnd.random() < 0.01)
    loss = 2.3 * math.exp(-4 * s / a.steps) + 0.08 + rnd.gauss(0, 0.05) + 10 ** (-2 - prec / 6) * rnd.random()
    acc = min(1, max(0, 1 - loss / 2.6 + rnd.gauss(0, 0.02)))
    if a.nan and s > a.steps * 0.7:
        loss = float("nan")
    ends = s % per_epoch == 0 or s == a.steps
    if over:
        scale, good = scale / 2, 0
    rows.append([s, (s - 1) // per_epoch + 1, loss, acc, loss * 0.97 if ends else None, min(1.0, acc * 1.01) if ends
                 else None, acc if ends else None, acc if ends else None, None if a.no_scaling else scale, int(over),
                 17 if over else None, layers[-1] + ".dy" if over else None, 12 if over else None, 1.5 * loss, 12.5
                 + rnd.random(), 64000 / 12.5, None, None, None, None, f"0x{rnd.getrandbits(64):016x}"])
table("metrics.tsv",
      "step epoch loss accuracy eval_loss eval_accuracy eval_precision eval_recall loss_scale skipped overflow_call "
      "overflow_tensor overflow_count grad_norm ms samples_per_s joules joules_per_sample watts utilisation digest",
      rows)
last = rows[-1]
traced = sorted({max(1, round((i + 1) * a.steps / a.traced)) for i in range(a.traced)})
manifest = {
    "halfulp_version": "0.1.0",
    "run_version": 1,
    "command": ["halfulp", "train", "--policy", a.policy, a.run],
    "seed": a.seed,
    "model": "convnet",
    "policy": {
        "name": a.policy,
        "compute": "float16" if fmt == "fp16" else "bfloat16" if fmt == "bf16" else "float32",
        "variable": "float32",
        "list": "keras",
    },
    "dataset": {"name": "SYNTHETIC <test & nothing else>", "digest": "0x0123456789abcdef"},
    "backend": "emulate",
    "device": "cpu",
    "compiler": "gcc 12.2",
    "simd": "avx2",
    "threads": 2,
    "host": "test",
    "steps": a.steps,
    "epochs": 4,
    "batch": 64,
    "loss_scaling": {"rule": "none"} if a.no_scaling else {"rule": "pytorch", "init": 65536},
    "loss_weight": 1,
    "accumulate": "fma,acc=fp32",
    "optimizer": {"name": "adamw", "lr": 0.001},
    "memory_bytes": {
        "weights": 1234567,
        "masters": 2469134,
        "activations": 9876543,
        "gradients": 1234567,
        "optimizer_state": 4938268,
    },
    "trace_steps": traced,
    "files": {},
}
with open(os.path.join(a.run, "manifest.json"), "w") as f:
    json.dump(manifest, f, indent=1)
if a.no_analysis:
    raise SystemExit

# the calls of a step
calls = []
for l in layers:
    for op, role in (
        ("cast", "w@" + fmt),
        ("conv2d" if l.startswith("conv") else "matmul", "y"),
        ("bias", "z"),
        ("batchnorm", "n"),
        ("relu", "a"),
    ):
        calls.append(("forward", l, op, f"{l}.{role}", "weight" if role[0] == "w" else "activation"))
calls.append(("forward", "loss", "softmax_xent", "loss", "other"))
for l in reversed(layers):
    for op, role in (
        ("relu_backward", "da"),
        ("batchnorm_backward", "dn"),
        ("bias_backward", "db"),
        ("wgrad", "dw"),
        ("dgrad", "dy"),
        ("cast", "dy@" + fmt),
    ):
        calls.append(("backward", l, op, f"{l}.{role}", "wgrad" if role in ("dw", "db") else "gradient"))
for l in layers:
    calls.append(("update", l, "adamw", f"{l}.w", "weight"))

# rows "all" stand for a whole step, as the analyzers write them
replay, swamp, under, ratio, expo = [], [], [], [], []
for s in traced:
    swamp.append([s, -1, "-", "-", "-", "all", "-", "update", 99999, 44444, 0.44, 99999, None, 0.999, 0.9, a.verdict,
                  30000, 20000])
    under.append([s, -1, "-", "all", "wgrad", "exact", "-", 99999, 88888, 7777, 6, 5, 4, 0.0875, 0.0778, 0.999, 0.9,
                  a.verdict, 99999, 0])
    for c, (phase, l, op, tensor, cls) in enumerate(calls):
        exact = op in ("relu", "relu_backward")
        m = 0.0 if exact else 0.5 if op == "cast" else 10 ** rnd.uniform(-0.3, 2.5)
        if a.nan and c == 3:
            m = float("inf")
        n = 4096 * (1 + c % 3)
        br = 0.0 if exact else 10 ** rnd.uniform(-4, -0.05)
        over = a.over if (c == 7 and s == traced[0]) else 0
        replay.append([s, c, op, phase, l, tensor, fmt, fmt, "fma,acc=fp32", n, n, m, m / 9 if m < 1e9 else m, m / 3
                       if m < 1e9 else m, m * 2.0**-prec, m * 1e-4, m * 1e-3, 10 ** rnd.uniform(0, 4), 3.7 if over
                       else br, over, c * 7, m * 3, m, m * 1e-4])
        if op in ("conv2d", "matmul", "wgrad", "dgrad", "bias_backward"):
            adds = n * 25
            sw = int(adds * min(1, 10 ** rnd.uniform(-5, -0.5)))
            swamp.append([s, c, op, phase, l, tensor, "fp32", "sum", adds, sw, sw / adds, n, sw // 900, None, None,
                          None, None, None])
        if phase == "update":
            sw = int(n * rnd.uniform(0.05, 0.9)) if prec < 24 else 0
            share = rnd.uniform(0.001, 0.7) if prec < 24 else 1e-7
            swamp.append([s, c, op, phase, l, tensor, fmt, "update", n, sw, sw / n, n, 0, share, 1 - share / 3,
                          a.verdict, n // 4, min(sw, n // 4)])
            for b in range(prec - 8, prec + 6):
                count = int(n * math.exp(-(((b - prec + 1.5) / 2.5) ** 2)) / 4)
                ratio.append([s, l, tensor, fmt, prec, b, count, count // 3 if b > prec else 0])
        if op == "cast" and fmt != "fp32":
            nz = int(n * 0.8)
            zero = int(nz * min(1, 10 ** rnd.uniform(-5, -0.3))) if cls == "gradient" else 0
            under.append([s, c, l, tensor, cls, "fp32", fmt, n, nz, zero, nz // 9, nz // 20, zero + nz // 9,
                          zero / nz, zero / n, zero / nz * 0.1, 1 - 1e-3 * zero / nz, "harmless", n, 0])
        mu, w = {
            "activation": (-2, 2.5),
            "weight": (-4, 1.6),
            "gradient": (-13, 5),
            "wgrad": (-10, 4),
            "other": (0, 1),
        }[cls]
        f2 = fmt if op in ("cast", "conv2d", "dgrad") else "fp32"
        if s == traced[-1]:
            for b in range(-60, 40):
                k = int(n * math.exp(-(((b - mu) / w) ** 2) / 2))
                if f2 != "fp16" or b >= -24:
                    expo.append([s, tensor, cls, l, f2, b, k])
            expo.append([s, tensor, cls, l, f2, "zero", n // 5])
            if a.nan:
                expo.append([s, tensor, cls, l, f2, "nonfinite", 3])
A = "analysis/"
table(
    A + "replay.tsv",
    "step call op phase layer tensor format compute sum elements sampled ulp_max ulp_mean ulp_p99 rel_max backward_normwise "
    "backward_componentwise condition_max bound_ratio_max over_bound worst_element propagated_ulp_max propagated_ulp_mean propagated_rel_normwise",
    replay,
)
table(A + "faults.tsv", "step call tensor element got exact error_ulps bound_ulps", [])
table(
    A + "swamping.tsv",
    "step call op phase layer tensor format kind additions swamped share_swamped outputs stagnated l2_share_lost cosine verdict by_decay swamped_by_decay",
    swamp,
)
table(A + "swamping-ratio.tsv", "step layer tensor format precision log2_ratio count by_decay", ratio)
table(
    A + "underflow.tsv",
    "step call layer tensor class from to elements nonzeros became_zero became_subnormal lost_bits ftz share_nonzeros share_elements "
    "l2_share_lost cosine verdict of_elements overflow",
    under,
)
table(A + "exponents.tsv", "step tensor class layer format bin count", expo)
if not a.no_scaling:
    sweep, safe = [], []
    for s in traced:
        amax = 0.02 * (1 + rnd.random())
        names = [t for (_, _, _, t, cls) in calls if cls in ("gradient", "wgrad") and "@" not in t][:12]
        for t in names + ["all"]:
            shift = 0 if t == "all" else rnd.uniform(-4, 4)
            hi = 20 + round(shift) if not a.empty_interval else 6
            for k in range(-8, 25):
                lost = 1 / (1 + 2 ** (0.9 * (k - 2 + shift)))
                share = 0.0 if lost < 1e-6 else lost
                sweep.append([s, t, fmt, k, int(9000 * share), max(0, (k - hi) * 40), share, share**2 * 0.3])
            empty = a.empty_interval and t == "all"
            safe.append([s, t, fmt, amax, None if empty else 13, None if empty else hi])
    table(A + "loss-scale.tsv", "step tensor format log2_scale lost overflow share_lost l2_share_lost", sweep)
    table(A + "loss-scale-safe.tsv", "step tensor format amax log2_scale_min log2_scale_max", safe)
    line = []
    for name, start in (("pytorch", 16), ("keras", 15), ("apex", 16), ("deepspeed", 32), ("recorded", 16)):
        k = start
        for s in range(1, a.steps + 1):
            skip = int(k > 17 or (name != "keras" and rows[s - 1][9] == 1))
            line.append([s, name, 2.0**k, skip, int(s % 97 < 9 and name == "keras")])
            k += -1 if skip else (s % (a.steps // 3 + 7) == 0)
    table(A + "loss-scale-timeline.tsv", "step scaler scale skipped unknown", line)
summary = {
    "verdict": [
        f"{a.policy} is {a.verdict} here: SYNTHETIC numbers of a test.",
        "Of the update's L2 norm 12 % was lost to swamping in conv1 <b>.",
        "4.1 % of the logit gradients became zero; their share of the L2 norm is 0.2 %.",
    ],
    "verdict_word": a.verdict,
    "numbers": {
        "final_loss": None if a.nan else last[2],
        "final_accuracy": last[3],
        "eval_accuracy": last[5],
        "steps": a.steps,
        "skipped_steps": sum(r[9] for r in rows),
        "loss_scale_final": last[8],
        "worst_ulp": 231.4,
        "worst_ulp_bound_ratio": 0.42,
        "worst_ulp_tensor": layers[0] + ".dw",
        "worst_bound_ratio": 0.71,
        "over_bound": a.over,
        "swamped_share_updates": 0.412,
        "update_l2_share_lost": 0.1234,
        "update_cosine": 0.99341,
        "zeroed_gradients": 123456,
        "zeroed_share": 0.0412,
        "gradient_l2_share_lost": 0.0021,
        "gradient_cosine": 0.999998,
        "safe_log2_scale_min": None if a.empty_interval else 13,
        "safe_log2_scale_max": None if a.empty_interval else 20,
    },
    "provenance": {"halfulp": "0.1.0", "run": a.run, "commands": [f"halfulp analyze {a.run}"]},
}
with open(os.path.join(a.run, A + "summary.json"), "w") as f:
    json.dump(summary, f, indent=1)
