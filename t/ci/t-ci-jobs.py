#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doc/ci, read by PyYAML and executed step by step, as a runner would: a green job, a red one and one whose training
fails. What the jobs write is read by Python's XML parser, by junitparser where it is found, by the JSON reader
and by GitLab's rules for code quality."""

import json, os, pathlib, re, shutil, subprocess, sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.abspath(os.environ.get("srcdir", ".")), "t/tool"))
import tap
from tap import ok

top = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
program = os.path.abspath(os.environ.get("HALFULP", "halfulp"))
try:
    import yaml
except ImportError:
    tap.skip_all("PyYAML is absent (python3-yaml)")
try:
    import junitparser
except ImportError:
    junitparser = None
home = pathlib.Path(tap.home())
SMALL = "--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 2"


def checkout(name):
    """What a runner has after the steps that fetch sources: halfulp is built already, so that its bootstrap has
    nothing to do, and trains on less."""
    at = home / name
    (at / "halfulp/build").mkdir(parents=True)
    (at / "halfulp/bootstrap").write_text("#!/bin/sh\necho built >built\n")
    (at / "halfulp/build/halfulp").write_text(
        f'#!/bin/bash\nargs=("$@")\nfor i in "${{!args[@]}}"; do test "${{args[i]}}" = -- && args[i]="-- {SMALL}"; '
        f'done\nexec {program} ${{args[@]}}\n'
    )
    for f in ("bootstrap", "build/halfulp"):
        (at / "halfulp" / f).chmod(0o755)
    shutil.copy(home / "baseline.tsv", at)
    return at


def shell(at, lines, env):
    """A step: bash -e -o pipefail, as both services have it."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", "\n".join(lines)], cwd=at,
        env=dict(os.environ, OMP_WAIT_POLICY="passive", **env), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )


def whole_junit(path, code):
    suite = tree.parse(path).getroot()
    cases = suite.findall("testcase")
    bad = [c for c in cases if c.find("failure") is not None]
    errors = [c for c in cases if c.find("error") is not None]
    said = [int(suite.get(k)) for k in ("tests", "failures", "errors")]
    right = said == [len(cases), len(bad), len(errors)] and bool(bad) == (code == 1) and bool(errors) == (code > 1)
    if junitparser:
        read = junitparser.JUnitXml.fromfile(str(path))
        suites = [read] if isinstance(read, junitparser.TestSuite) else list(read)
        results = [r for s in suites for c in s for r in c.result]
        right &= sum(isinstance(r, junitparser.Failure) for r in results) == len(bad) and sum(
            isinstance(r, junitparser.Error) for r in results
        ) == len(errors)
    return right


def whole_quality(path, code):
    """As GitLab reads it: https://docs.gitlab.com/ci/testing/code_quality/, the code quality report format."""
    found = json.load(open(path))
    right = (
        isinstance(found, list) and bool(found) == (code > 0) and len({f["fingerprint"] for f in found}) == len(found)
    )
    for f in found:
        right &= all(isinstance(f[k], str) and f[k] for k in ("description", "check_name", "fingerprint")) and f[
            "severity"
        ] in ("info", "minor", "major", "critical", "blocker")
        right &= (
            isinstance(f["location"]["path"], str)
            and f["location"]["path"]
            and not f["location"]["path"].startswith("/")
            and f["location"]["lines"]["begin"] >= 1
        )
    return bool(right)


def annotations(text):
    """What GitHub makes of a job's output: workflow commands, their properties and texts decoded."""
    found = re.findall(r"^::(error|notice|warning) (?:file=[^,:]*,line=\d+,)?title=([^:]*)::(.*)$", text, re.M)
    other = [line for line in text.splitlines() if not re.match(r"::(error|notice|warning) (file=[^,:]*,line=\d+,"
                                                                r")?title=[^:]*::", line)]
    return [
        (level, re.sub("%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), message)) for level, _, message in found
    ], other


base = subprocess.run(
    f"{program} train --quiet --policy mixed_float16 {SMALL} run && {program} analyze run >/dev/null && {program} "
    f"baseline run -o baseline.tsv --reason test",
    shell=True,
    cwd=home,
    env=dict(os.environ, OMP_WAIT_POLICY="passive"),
    stdin=subprocess.DEVNULL,
    capture_output=True,
    text=True,
)
ok(base.returncode == 0, "a baseline to hold the jobs to", base.stderr)

github = yaml.safe_load((top / "doc/ci/github.yml").read_text())
call = github.get("on", github.get(True))["workflow_call"]["inputs"]  # YAML 1.1 reads the key `on` as true
job = github["jobs"]["gate"]
ok(
    github["permissions"] == {"contents": "read"} and 0 < job["timeout-minutes"] <= 60,
    "GitHub: the workflow may read only, and ends by itself",
)
ok(
    all(("uses" in s) != ("run" in s) for s in job["steps"]) and all(i["type"] == "string" for i in call.values()),
    "GitHub: steps are whole",
)
used = set(re.findall(r"\$\{\{ inputs\.(\w+) \}\}", (top / "doc/ci/github.yml").read_text()))
ok(used == set(call), "GitHub: every input is used", used ^ set(call))
options = subprocess.run([program, "gate", "--help"], capture_output=True, text=True).stdout
named = set(
    re.findall(r"gate (.*?) -- ", (top / "doc/ci/github.yml").read_text() + (top / "doc/ci/gitlab.yml").read_text())
)
ok(
    len(named) == 2 and all(f"\n  {o} " in options for line in named for o in re.findall(r"--[a-z]+", line)),
    "both use options that gate has",
)

gitlab = yaml.safe_load((top / "doc/ci/gitlab.yml").read_text())["halfulp"]
ok(
    set(gitlab) == {"image", "timeout", "variables", "before_script", "script", "artifacts"}
    and set(gitlab["artifacts"]["reports"]) == {"junit", "codequality"}
    and gitlab["artifacts"]["when"] == "always",
    "GitLab: the job has keys that GitLab knows, and uploads its reports after a failure as well",
)

for name, more, code in (("green", "", 0), ("red", "--optimizer lr=0.01", 1), ("broken", "--optimizer lr=-1", 2)):
    at = checkout("github-" + name)
    env = {"GITHUB_STEP_SUMMARY": str(at / "summary.md"), "GITHUB_ACTIONS": "true"}
    (at / "summary.md").write_text("# another step\n")
    said = []
    for step in job["steps"]:
        if "run" not in step:
            continue
        given = {
            k: re.sub(
                r"\$\{\{ inputs\.(\w+) \}\}",
                lambda m: call[m[1]].get("default", "") + (" " + more if m[1] == "options" else ""), v
            )
            for k, v in step.get("env", {}).items()
        }
        r = shell(at, [step["run"]], dict(env, **given))
        said.append(r.returncode)
        if r.returncode:
            break
    ok(said == [0, code], f"GitHub, {name}: exit {code}", (said, r.stdout[-300:], r.stderr))
    marks, other = annotations(r.stdout)
    ok(
        not other
        and bool([m for m in marks if m[0] == "error"]) == (code > 0)
        and len([m for m in marks if m[0] == "error"]) <= 10,
        f"GitHub, {name}: annotations, and nothing else",
        other,
    )
    ok(whole_junit(at / "halfulp-junit.xml", code), f"GitHub, {name}: JUnit is whole")
    md = (at / "summary.md").read_text()
    ok(
        md.startswith("# another step\n## ") and ("❌" in md) == (code > 0),
        f"GitHub, {name}: the summary is appended",
        md,
    )
    if name == "red":
        ok(
            "another setting: optimizer:lr 0.001 -> 0.01" in marks[0][1] and marks[0][1].startswith("step "),
            "the first annotation says where and why", marks[0]
        )
        rows = [
            line
            for line in md.splitlines()
            if line.startswith("| ") and not line.startswith("| failed") and not line.startswith("| ---")
        ]
        ok(
            len(rows) == 20 and all(len(re.split(r"(?<!\\)\|", line)) == 5 for line in rows),
            "a table of the worst twenty", rows[:3]
        )
        drawn = re.findall(r"!\[[^]]*\]\(([^)]*)\)", md)
        if shutil.which(os.environ.get("GNUPLOT") or "gnuplot"):
            ok(
                len(drawn) == 3 and all(tree.parse(at / f).getroot().tag.endswith("svg") for f in drawn),
                "three figures, each an SVG", drawn
            )
            data = [line.split("\t") for line in (at / "runs/ci/gate/drift-loss.tsv").read_text().splitlines()]
            held = dict(
                line.split("\t")[:2]
                for line in (at / "baseline.tsv").read_text().splitlines()
                if line.startswith("metrics/")
            )
            now = [
                line.split("\t")
                for line in (at / "runs/ci/metrics.tsv").read_text().splitlines()
                if not line.startswith("#")
            ]
            new = {r[0]: r[now[0].index("eval_loss")] for r in now[1:]}
            ok(
                len(data) == 2
                and all(
                    float(b) == float(held[f"metrics/{s}/eval_loss"]) and float(n) == float(new[s]) for s, b, n in data
                ),
                "the figure of the loss has the baseline's and the run's",
                data,
            )
        else:
            ok(not drawn and "gnuplot was not found" in md, "no figure without gnuplot, and a sentence")
            tap.skip(f"{name}: the figures", "gnuplot is absent")
        ok((at / "baseline.tsv.obtained").exists(), "what was obtained is there to upload")

    at = checkout("gitlab-" + name)
    env = {k: v + (" " + more if k == "HALFULP_OPTIONS" else "") for k, v in gitlab["variables"].items()}
    r = shell(at, gitlab["before_script"] + gitlab["script"], env)
    ok(r.returncode == code, f"GitLab, {name}: exit {code}", (r.returncode, r.stderr))
    ok(
        whole_junit(at / gitlab["artifacts"]["reports"]["junit"], code)
        and whole_quality(at / gitlab["artifacts"]["reports"]["codequality"], code),
        f"GitLab, {name}: both reports are whole",
    )
    ok(r.stdout.startswith("1..") or r.stdout.startswith("# "), f"GitLab, {name}: TAP in the job's log", r.stdout[:200])
tap.finish()
