# SPDX-License-Identifier: Apache-2.0
# Judges a kernel's result from Python: assert_close("attention", dict(q=q, k=k, v=v), got, causal=1, p="bf16") asks the
# program `halfulp judge`, which knows exact values and proven bounds, and raises AssertionError with what it says.
# Arrays may be of torch, numpy or jax; their types name the formats. This file only hands arrays over. validate and
# check, of models.py, do the same for models and files, and record is halfulp_trace's.
"""Kernels against exact values and proven bounds (doc/kernels.md), models under number formats, drift of files."""
import json
import os
import subprocess
import tempfile

import numpy as np

from . import program
from .models import Check, Policy, Validation, check, validate
from .program import ProgramError

__all__ = ["assert_close", "cases", "check", "judge", "record", "validate", "Check", "Policy", "ProgramError", "Validation", "Verdict"]

# numpy's, ml_dtypes' and torch's names of types, and the formats' names in halfulp
FORMATS = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "half": "fp16",
           "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz"}
OWN = ("float16", "float32", "float64")   # what a .npy file holds as it is


class Verdict(dict):
    """The program's answer; its keys are those of `halfulp judge --json`. str() is the text of the same answer."""

    def __str__(self):
        return self.text

    @property
    def right(self):
        return self["verdict"].startswith("right")


def record(*arguments, **options):
    """Records training steps of a PyTorch model: halfulp_trace.record, which doc/torch.md explains."""
    import halfulp_trace

    return halfulp_trace.record(*arguments, **options)


def _array(x):
    """A numpy array that holds x's values exactly, and the name of its format or None."""
    if hasattr(x, "detach"):   # torch
        name = str(x.dtype).split(".")[-1]
        x = x.detach().cpu()
        x = (x if name in OWN or name not in FORMATS else x.float()).contiguous().numpy()
    else:
        x = np.asarray(x)
        name = x.dtype.name
        if name in FORMATS and name not in OWN:
            x = x.astype(np.float32)
    if x.dtype == np.bool_:
        x = x.astype(np.uint8)
    return np.ascontiguousarray(x).reshape(x.shape), FORMATS.get(name)


def _facts(facts):
    return " ".join("%s=%s" % (k, int(v) if isinstance(v, bool) else repr(v) if isinstance(v, float) else v)
                    for k, v in facts.items() if v is not None)


def judge(kernel, inputs, got, given=None, options=(), **facts):
    """Returns the Verdict of a kernel's result. inputs: arrays by name; got: the result, or results by name; given: the
    kernel's own intermediate values by name; facts: what is declared, such as p="bf16" or causal=True."""
    with tempfile.TemporaryDirectory(prefix="halfulp-judge-") as folder:
        words = [program.find(), "judge", kernel]
        got = got if isinstance(got, dict) else {"": got}
        settled = "out" in facts
        for option, arrays in (("in", inputs), ("got", got), ("given", given or {})):
            for name, value in arrays.items():
                if value is None:
                    continue
                a, form = _array(value)
                path = os.path.join(folder, "%s-%s.npy" % (option, name))
                np.save(path, a)
                words += ["--" + option, "%s=%s" % (name, path) if name else path]
                if form and option != "given":
                    facts.setdefault("in" if option == "in" else "out", form)
                if form and option == "got" and name and not settled and form != facts["out"]:
                    facts["out." + name] = form   # log-sum-exp in fp32 beside results of 16 bits
        if facts:
            words += ["--set", _facts(facts)]
        done = subprocess.run(words + list(options) + ["--json"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode not in (0, 1) or not done.stdout:
            raise ValueError(done.stderr.strip() or "halfulp judge ended with %d" % done.returncode)
        verdict = Verdict(json.loads(done.stdout))
        verdict.failed = done.returncode == 1
        verdict.text = _text(verdict)
        return verdict


def _text(verdict):
    lines = ["%s: %s" % (verdict["kernel"], verdict["verdict"])]
    for r in verdict["results"]:
        lines.append("%s: of %d elements %d are beyond the proven bound, %d beyond the probable one" % (
            r["result"], r["elements"], r["beyond_proven"], r["beyond_probable"]))
        lines.append("worst: [%s] is %s, exactly %s; its error is %s of the bound %s" % (
            r["worst_element"], r["worst_value"], r["worst_exact"], r["bound_ratio_max"], r["worst_bound"]))
        if r["as_if"]:
            lines.append("culprit: " + r["as_if"])
        if r["right_if"]:
            lines.append("right if " + r["right_if"])
    lines.append("assumed: " + _facts(verdict["assumed"]))
    return "\n".join(lines)


def cases(kernel, like=None, with_operands="", seed=0):
    """Yields (name, operands) of inputs on which kernels break: boundary shapes, outliers, repeated maxima, ties,
    zeros, subnormal numbers, infinities, NaN. like: a torch dtype that floating-point operands get; None: numpy's
    float32."""
    form = FORMATS[str(like).split(".")[-1]] if like is not None else "fp32"
    with tempfile.TemporaryDirectory(prefix="halfulp-judge-") as folder:
        words = [program.find(), "judge", kernel, "--make", os.path.join(folder, "cases"), "--set", "in=" + form]
        done = subprocess.run(words + ["--with", with_operands, "--seed", str(seed)], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.strip())
        with open(os.path.join(folder, "cases", "cases.json")) as f:
            listed = json.load(f)
        for case in listed:
            arrays = {name: np.load(path) for name, path in case["inputs"].items()}
            if like is not None:
                import torch
                arrays = {name: torch.from_numpy(a).to(torch.int64 if name in case["whole"] else like)
                          for name, a in arrays.items()}
            yield case["case"], arrays


def assert_close(kernel, inputs=None, got=None, given=None, fail_if="proven", sweep=None, like=None, with_operands="",
                 **facts):
    """Raises AssertionError, with the answer, where the verdict is fail_if's or a worse one: undeclared, biased,
    probable or proven. Returns the Verdict otherwise. With sweep=f the kernel f is called with the operands of each of
    cases(kernel, like, with_operands), by name, and all its results are judged; then a list of Verdicts is returned."""
    options = ("--fail-if", fail_if)
    if sweep is None:
        verdict = judge(kernel, inputs, got, given, options, **facts)
        if verdict.failed:
            raise AssertionError(str(verdict))
        return verdict
    verdicts, failed = [], []
    for name, arrays in cases(kernel, like, with_operands):
        verdict = judge(kernel, arrays, sweep(**arrays), None, options, **facts)
        verdicts.append(verdict)
        if verdict.failed:
            failed.append("case %s: %s" % (name, verdict))
    if failed:
        raise AssertionError("%d of %d cases are wrong\n%s" % (len(failed), len(verdicts), "\n".join(failed)))
    return verdicts
