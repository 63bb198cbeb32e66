#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CI workflows, read by PyYAML and, where it is installed, by actionlint: jobs end by themselves, name tests that
exist, and the long tests, a build without optimisation, other compilers and the golden digests are among what they
run."""
import os, pathlib, re, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tool'))
from tap import finish, ok, skip, skip_all  # noqa: E402

top = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
try:
    import yaml
except ImportError:
    skip_all("PyYAML is absent (python3-yaml)")

files = {name: yaml.safe_load((top / ".github/workflows" / name).read_text()) for name in ("ci.yml", "nightly.yml")}
on = {name: w.get("on", w.get(True)) for name, w in files.items()}  # YAML 1.1 reads the key `on` as true
said = {}
for name, w in files.items():
    ok(w["permissions"] == {"contents": "read"}, f"{name}: may read only")
    for job, j in w["jobs"].items():
        said[job] = " && ".join(s["run"] for s in j["steps"] if "run" in s)
        ok(
            j.get("runs-on") and 0 < j.get("timeout-minutes", 0) <= 360,
            f"{name}: {job} names a machine and ends by itself",
        )
        ok(
            all(("uses" in s) != ("run" in s) for s in j["steps"])
            and j["steps"][0]["uses"].startswith("actions/checkout@"),
            f"{name}: {job} has whole steps",
        )
        named = re.findall(r"t/[a-z0-9/-]+(?:\.sh|\.py)?(?=[ '])", said[job])
        ok(
            all((top / t).exists() or (top / (t + ".c")).exists() for t in named),
            f"{name}: {job}: tests that exist ({len(named)})",
        )
ok(set(on["ci.yml"]) == {"push", "pull_request"}, "ci.yml runs on pushes and requests")
ok(
    len(on["nightly.yml"]["schedule"]) == 1 and len(on["nightly.yml"]["schedule"][0]["cron"].split()) == 5,
    "nightly.yml has a schedule",
)
ok("check-expensive" in said["expensive"], "the long tests run every night")
beside = said["beside-pytorch"]
ok("torch" in beside and ".ci/run" in beside, "the tests that need PyTorch run every night")
words = "whl/cpu", "t/trace/t-*.py", "no PyTorch"
ok(all(w in said["pytorch"] for w in words), "those of the recorder on every push")
parts = files["nightly.yml"]["jobs"]["expensive"]["strategy"]["matrix"]["part"]
ok(f"/{len(parts)}" in said["expensive"] and parts == list(range(len(parts))), "all parts of them")
ok(
    "-O0" in said["unoptimised"] and "t/golden/t-golden.sh" in said["unoptimised"],
    "a build without optimisation is held to the golden digests",
)
ok(
    ".ci/run" in said["gcc"] and ".ci/run" in said["clang-sanitizers"] and "CC=clang" in said["clang-sanitizers"],
    "gcc and clang run the whole suite",
)
tried = {row["compiler"] for row in files["nightly.yml"]["jobs"]["compilers"]["strategy"]["matrix"]["include"]}
ok(
    tried == {f"gcc-{n}" for n in range(12, 16)} | {f"clang-{n}" for n in range(14, 20)}
    and "t/golden/t-golden.sh" in said["compilers"] and "t/golden/t-outputs.py" in said["musl"],
    "gcc 12 to 15, clang 14 to 19 and musl are held to the golden digests and outputs",
)
systems = [j for j in ("macos", "freebsd") if j in said]
ok(len(systems) == 2 and all("continue-on-error" in files["nightly.yml"]["jobs"][j] for j in systems),
   "macOS and FreeBSD are tried, and may fail until they have passed once")
if shutil.which("actionlint"):
    run = subprocess.run(
        ["actionlint", *sorted(map(str, (top / ".github/workflows").glob("*.yml")))], capture_output=True, text=True
    )
    ok(run.returncode == 0, "actionlint" + run.stdout.replace("\n", " "))
else:
    skip("actionlint finds nothing", "actionlint is absent")
finish()
