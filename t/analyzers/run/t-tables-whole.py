#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A table of an analysis is whole or it is refused: cut, emptied, edited, without its line, of another run, or not to be
# opened, each ends analyze, report, check and baseline with exit 3 and the table's name. One that is missing was not
# made. HALFULP names the program.
import glob, json, os, re, shutil, subprocess, sys

sys.dont_write_bytecode = True
TOP = os.path.abspath(os.environ.get("srcdir", "."))
sys.path.insert(0, os.path.join(TOP, "t/tool"))
from sealed import is_whole, seal, unsealed  # noqa: E402
from tap import HALFULP, finish, home, ok  # noqa: E402


def halfulp(*args):
    ran = subprocess.run([HALFULP, *args], capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def read(path):
    return open(path).read()


def write(path, text):
    os.unlink(path)
    open(path, "w").write(text)


def loop(path):
    os.unlink(path)
    os.symlink(os.path.basename(path), path)   # the system refuses to open it, as it does without descriptors or rights


def stranger(path):
    write(path, seal(re.sub(r"(?m)^# manifest xxh3: .*$", "# manifest xxh3: 0123456789abcdef", unsealed(read(path)))))


HARMS = {
    "cut": lambda p: write(p, read(p)[:read(p).rstrip("\n").rindex("\n") + 1]),
    "cut within a row": lambda p: write(p, read(p)[:-9]),
    "emptied": lambda p: write(p, ""),
    "edited": lambda p: write(p, read(p)[:-2] + ("1" if read(p)[-2] != "1" else "2") + "\n"),
    "without its line": lambda p: write(p, unsealed(read(p))),
    "not to be opened": loop,
}

os.chdir(home())
code, out, err = halfulp("train", "--model", "mlp", "--data", "digits", "--policy", "mixed_float16", "--steps", "3",
                         "--batch", "8", "--model", "width=0.1", "--trace", "steps=1,2", "--threads", "1", "run")
ok(code == 0, "a small training is traced %s" % err.strip())
code, out, err = halfulp("analyze", "--sample", "64", "--threads", "1", "run")
ok(code == 0, "and analyzed %s" % err.strip())
tables = sorted(glob.glob("run/analysis/*.tsv"))
ok(len(tables) >= 8 and all(map(is_whole, tables)), "each of %d tables says its rows and its checksum" % len(tables))
summary = read("run/analysis/summary.json")


def harmed(table, harm):
    shutil.rmtree("other", ignore_errors=True)
    shutil.copytree("run", "other")
    path = "other/analysis/" + table
    harm(path)
    return path


def refused(command, path, args):
    code, out, err = halfulp(*args)
    lines = [line for line in err.splitlines() if os.path.basename(path) in line]
    return code == 3 and len(lines) == 1, "%s: exit %d %s" % (command, code, err.strip())


OF_SUMMARY = ("weights.tsv", "coverage.tsv", "unjudged.tsv", "nonfinite.tsv")
SUMMED = ("replay.tsv", "swamping.tsv", "underflow.tsv", "state.tsv", "loss-scale-safe.tsv", *OF_SUMMARY)
for table in [os.path.basename(t) for t in tables]:
    for name, harm in HARMS.items():
        path, good, why = harmed(table, harm), True, ""
        tries = [("report", ["report", "-o", "o.html", "other"])] if table not in ("faults.tsv", *OF_SUMMARY) else []
        tries += [("summary", ["analyze", "--only", "summary", "other"])] if table in SUMMED else []
        tries += [("check", ["check", "other", "--baseline", "b.tsv"])] if table == "replay.tsv" else []
        for command, args in tries[::-1]:
            one, told = refused(command, path, args)
            good, why = good and one, why or ("" if one else told)
        kept = "analyze" not in str(tries) or read("other/analysis/summary.json") == summary
        ok(good and kept, "%s %s: %s refuse it %s" % (table, name, ", ".join(t[0] for t in tries) or "nothing to", why))
for table in SUMMED:
    path = harmed(table, stranger)
    good, why = refused("summary", path, ["analyze", "--only", "summary", "other"])
    ok(good, "%s of another run is refused %s" % (table, "" if good else why))
    path = harmed(table, os.unlink)
    code, out, err = halfulp("analyze", "--only", "summary", "other")
    ok(code == 0, "without %s there is a verdict from what was made %s" % (table, err.strip()))
path = harmed("state.tsv", lambda p: None)
code, out, err = halfulp("analyze", "--only", "summary", "--json", "other")
again, first = json.loads(read("other/analysis/summary.json")), json.loads(summary)
again["provenance"].pop("sample"), first["provenance"].pop("sample")   # of an analysis that judges nothing itself
ok(code == 0 and again == first, "whole tables give the verdict again %s" % err.strip())
finish()
