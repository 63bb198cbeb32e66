# SPDX-License-Identifier: Apache-2.0
# Judges a kernel's result from Python: assert_close("attention", dict(q=q, k=k, v=v), got, causal=1, p="bf16") asks the
# program `halfulp judge`, which knows exact values and proven bounds, and raises AssertionError with what it says.
# This file only hands arrays over.
"""Kernels against exact values and proven bounds (doc/kernels.md)."""
import inspect
import json
import os
import tempfile
import warnings

import numpy as np

from . import arrays, program

SHOWN = 5   # so many wrong cases of a sweep are told at length


class Verdict(dict):
    """The program's answer; its keys are those of `halfulp judge --json`. str() is the text of the same answer."""

    def __str__(self):
        return self.text

    @property
    def right(self):
        return self["verdict"].startswith("right")


def _names(kernel):
    """The results of a kernel, in their order."""
    if "=" in kernel:
        return [name.strip() for name in kernel.rstrip("; \n").split(";")[-1].split("=")[0].split(",")]
    for row in json.loads(program.run("judge", "list", "--json").stdout):
        if row["kind"] == "kernel" and row["name"] == kernel:
            return row["results"].replace("?", "").split()
    raise ValueError("results of %s are needed by name: a tuple does not say which is which" % kernel)


def _results(kernel, got):
    if isinstance(got, tuple):
        names = _names(kernel)
        if len(got) > len(names):
            raise ValueError("%s has %d results (%s), not %d" % (kernel, len(names), ", ".join(names), len(got)))
        got = dict(zip(names, got))
    got = got if isinstance(got, dict) else {"": got}
    if all(x is None for x in got.values()):
        raise ValueError("%s: the kernel's result is None: an array is needed" % kernel)
    return got


def judge(kernel, inputs, got, given=None, options=(), **facts):
    """Returns the Verdict of a kernel's result. inputs: arrays by name; got: the result, or results by name, or a tuple
    of them in the kernel's order; given: the kernel's own intermediate values by name; facts: what is declared, such as
    p="bf16" or causal=True. `in`, which is a word of Python's, is written in_."""
    facts = {k.rstrip("_"): v for k, v in facts.items() if v is not None}
    settled = "out" in facts
    with tempfile.TemporaryDirectory(prefix="halfulp-judge-") as folder:
        words = ["judge", kernel]
        for option, several in (("in", inputs), ("got", _results(kernel, got)), ("given", given or {})):
            for name, value in several.items():
                if value is None:
                    continue
                a, form = arrays.to_numpy(value, "--%s %s" % (option, name) if name else "the result")
                path = os.path.join(folder, "%d.npy" % len(words))
                np.save(path, a)
                words += ["--" + option, "%s=%s" % (name, path) if name else path]
                if form and option != "given":
                    facts.setdefault("in" if option == "in" else "out", form)
                if form and option == "got" and name and not settled and form != facts["out"]:
                    facts["out." + name] = form   # log-sum-exp in fp32 beside results of 16 bits
        if facts:
            words += ["--set", arrays.facts(facts)]
        try:
            done = program.run(*words, *options, "--json")
        except program.Refused as why:
            raise program.Refused(str(why).replace(folder + os.sep, "")) from None
    verdict = Verdict(json.loads(done.stdout))
    verdict.failed = done.returncode == 1
    verdict.text = _text(verdict)
    return verdict


def _number(x):
    return "%.9g" % x if isinstance(x, float) else str(x)


def _report(r):
    """The lines of one result."""
    if r["verdict"] == "the shape is wrong":
        yield "%s: its shape is %s, where the result's is %s" % (r["result"], r["shape"], r["shape_of_result"])
    if not r["elements"]:
        return
    if r["decisions_open"] is not None:
        yield "%s: of %d choices %d are wrong, and %d are open" % (
            r["result"], r["elements"], r["beyond_proven"], r["decisions_open"])
        return
    yield "%s: of %d elements %d are beyond the proven bound, %d beyond the probable one" % (
        r["result"], r["elements"], r["beyond_proven"], r["beyond_probable"])
    yield "worst: [%s] is %s, exactly %s; its error is %s of the bound %s" % (r["worst_element"], *(
        _number(r[k]) for k in ("worst_value", "worst_exact", "bound_ratio_max", "worst_bound")))
    if r["verdict"] == "biased":
        yield "bias: %s ulp on the mean, %s; T = %s" % (
            _number(r["bias"]["ulp_mean"]), r["bias"]["direction"], _number(r["bias"]["T"]))
    if r["as_if"]:
        yield "culprit: " + r["as_if"]
    if r["right_if"]:
        yield "right if " + r["right_if"]
    if r["narrower"]:
        yield "narrower: right with %s too, by a bound %.3g times narrower: declare it if the kernel does so" % (
            r["narrower"], r["narrower_times"])


def _text(verdict):
    lines = ["%s: %s" % (verdict["kernel"], verdict["verdict"])]
    for r in verdict["results"]:
        lines += _report(r)
    return "\n".join(lines + ["assumed: " + " ".join("%s=%s" % f for f in verdict["assumed"].items())])


def cases(kernel, like=None, with_operands="", seed=0):
    """Yields (name, operands) of inputs on which kernels break: boundary shapes, outliers, repeated maxima, ties,
    zeros, subnormal numbers, infinities, NaN. like: the type, of torch or numpy, that floating-point operands get;
    None: numpy's float32. with_operands: names of optional operands that are drawn too."""
    form = "fp32" if like is None else arrays.FORMATS.get(arrays.type_name(like))
    if not form:
        raise ValueError("like=%r: a floating-point type of torch or numpy is needed, such as torch.bfloat16" % (like,))
    with tempfile.TemporaryDirectory(prefix="halfulp-judge-") as folder:
        drawn = os.path.join(folder, "cases")
        program.run("judge", kernel, "--make", drawn, "--set", "in=" + form, "--with", with_operands, "--seed", seed)
        with open(os.path.join(drawn, "cases.json"), encoding="utf-8") as f:
            listed = json.load(f)
        for case in listed:
            yield case["case"], {name: arrays.drawn(np.load(os.path.join(drawn, path)), like, name in case["whole"])
                                 for name, path in case["inputs"].items()}


def _call(kernel, operands):
    """Calls a kernel by its operands' names, or in their order where it has other names for them. It gets copies, since
    a kernel may write its result into an operand."""
    copies = {k: x.clone() if hasattr(x, "clone") else x.copy() for k, x in operands.items()}
    try:
        takes = inspect.signature(kernel)
    except (TypeError, ValueError):
        return kernel(**copies)
    try:
        takes.bind(**copies)
    except TypeError:
        try:
            takes.bind(*copies.values())
        except TypeError:
            return kernel(**copies)
        return kernel(*copies.values())
    return kernel(**copies)


def _swept(kernel, f, drawn, options, facts):
    """The Verdicts of f on the cases, and the wrong ones as (case, text). A kernel that raises is wrong there. What a
    wrong result looks like is looked for in those that are told at length."""
    verdicts, wrong = [], []
    for name, operands in drawn:
        try:
            got = _call(f, operands)
        except Exception as why:
            wrong.append((name, "the kernel raised %s: %s" % (type(why).__name__, why)))
            continue
        verdict = judge(kernel, operands, got, None, (*options, "--no-culprit"), **facts)
        verdicts.append(verdict)
        if verdict.failed and len(wrong) < SHOWN:
            verdict = judge(kernel, operands, got, None, options, **facts)
        if verdict.failed:
            wrong.append((name, str(verdict)))
    return verdicts, wrong


class KernelWarning(UserWarning):
    """A kernel passed whose verdict is not plainly right: fail_if says which verdicts shall fail."""


def _warn(verdicts):
    doubtful = [v for v in verdicts if v["verdict"] != "right"]
    if doubtful:
        first = " of %d cases, the first:" % len(doubtful) if len(verdicts) > 1 else ""
        warnings.warn("the kernel passes, with doubts%s\n%s" % (first, doubtful[0]), KernelWarning, stacklevel=3)


def assert_close(kernel, inputs=None, got=None, given=None, fail_if="proven", sweep=None, like=None, with_operands="",
                 seed=0, **facts):
    """Raises AssertionError, with the answer, where the verdict is fail_if's or a worse one: undeclared, biased,
    probable or proven. Returns the Verdict otherwise, and warns (KernelWarning) where it is not plainly right. With
    sweep=f the kernel f is called with the operands of each of cases(kernel, like, with_operands, seed), and all its
    results are judged; then a list of Verdicts is returned."""
    __tracebackhide__ = True
    options = ("--fail-if", fail_if)
    if (sweep is None) == (inputs is None):
        raise ValueError("assert_close needs the operands and the kernel's result, or sweep=KERNEL alone")
    if sweep is None:
        verdict = judge(kernel, inputs, got, given, options, **facts)
        if verdict.failed:
            raise AssertionError(str(verdict))
        _warn([verdict])
        return verdict
    verdicts, wrong = _swept(kernel, sweep, cases(kernel, like, with_operands, seed), options, facts)
    if wrong:
        lines = ["case %s: %s" % w for w in wrong[:SHOWN]] + \
            ["case %s: %s" % (name, text.split("\n")[0]) for name, text in wrong[SHOWN:]]
        count = len(verdicts) + sum("the kernel raised" in text for _, text in wrong)
        raise AssertionError("%d of %d cases are wrong\n%s" % (len(wrong), count, "\n".join(lines)))
    _warn(verdicts)
    return verdicts
