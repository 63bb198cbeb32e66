# SPDX-License-Identifier: Apache-2.0
# What policies change in the answers of an ONNX model, and whether files drifted: `halfulp validate` and `halfulp check`
# with their answers as dataclasses and arrays. What is computed is the program's.
"""validate and check from Python."""
import dataclasses
import json
import os
import tempfile

import numpy as np

from . import program


@dataclasses.dataclass
class Policy:
    """A row of validate. flips: inputs whose answer changed, None where nothing is decided; flips_low and flips_high:
    the 95 % interval of their share; sqnr_db is inf where the outputs are float32's; outputs: arrays by name."""
    policy: str
    verdict: str
    flips: "int | None"
    flips_low: float
    flips_high: float
    accuracy: "float | None"
    sqnr_db: float
    rel_l2: float
    max_error: float
    weight_bytes: float
    outputs: dict
    json: dict = dataclasses.field(repr=False)


@dataclasses.dataclass
class Validation:
    """The answer of validate. passed: every policy keeps every rule; sentence: the decision."""
    passed: bool
    sentence: str
    policies: list

    def __getitem__(self, name):
        return next(p for p in self.policies if p.policy == name)


@dataclasses.dataclass
class Check:
    """The answer of check. passed: nothing drifted; why: what failed, worst first; text: all that the program prints."""
    passed: bool
    why: str
    text: str


def _npz(path, arrays):
    np.savez(path, **{k: v.detach().cpu().numpy() if hasattr(v, "detach") else np.asarray(v) for k, v in arrays.items()})
    return path


def _number(x, absent):
    return absent if x is None else float(x)


def validate(model, data, policies=("fp16", "bf16", "fp8", "int8"), accept=(), labels=None, options=()):
    """Runs `halfulp validate`. model: an ONNX file; data: an .npz file, or arrays by name; labels: the right classes, or
    the name of their array in data; accept: rules such as "flips<=1%". options: more words of the command line."""
    with tempfile.TemporaryDirectory(prefix="halfulp-validate-") as folder:
        if not isinstance(data, (str, os.PathLike)):
            data = _npz(os.path.join(folder, "data.npz"), data)
        words = ["validate", model, "--data", data, "--policy", ",".join(policies), "--outputs", os.path.join(folder, "out")]
        for rule in [accept] if isinstance(accept, str) else accept:
            words += ["--accept", rule]
        if isinstance(labels, str):
            words += ["--labels", labels]
        elif labels is not None:
            path = os.path.join(folder, "labels.npy")
            np.save(path, np.asarray(labels).astype(np.int64))
            words += ["--labels", path]
        done = program.run(*words, *options, "--json")
        answer = json.loads(done.stdout)
        rows = []
        for r in answer["policies"]:
            path = os.path.join(folder, "out", r["policy"] + ".npz")
            with np.load(path) as f:
                outputs = {k: f[k] for k in f.files}
            rows.append(Policy(r["policy"], r["verdict"], r["flips"], _number(r["flips_low"], float("nan")),
                               _number(r["flips_high"], float("nan")), r["accuracy"], _number(r["sqnr_db"], float("inf")),
                               _number(r["rel_l2"], float("inf")), _number(r["max_error"], float("inf")),
                               _number(r["weight_bytes"], float("nan")), outputs, r))
        return Validation(done.returncode == 0, answer["sentence"], rows)


def check(new, baseline, rules=()):
    """Runs `halfulp check NEW --baseline BASELINE`. Both are files, or arrays by name; rules as '*: rel <= 1e-5'."""
    with tempfile.TemporaryDirectory(prefix="halfulp-check-") as folder:
        files = [f if isinstance(f, (str, os.PathLike)) else _npz(os.path.join(folder, n + ".npz"), f)
                 for n, f in (("new", new), ("baseline", baseline))]
        words = ["check", files[0], "--baseline", files[1]]
        for rule in [rules] if isinstance(rules, str) else rules:
            words += ["--rule", rule]
        done = program.run(*words)
        why = "\n".join(x for x in done.stdout.splitlines() if not x.startswith(("ok ", "1..")))
        return Check(done.returncode == 0, "" if done.returncode == 0 else why, done.stdout)
