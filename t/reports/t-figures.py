#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report's figures say: numbers, colours and axes, read from a report's own files and from the runs' tables.

Each number in a picture's foot is recomputed here from the run's tables. Runs are trained, but small.
"""

import collections
import glob
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
import paper  # noqa: E402
from sealed import seal, unsealed  # noqa: E402
from tap import HALFULP as halfulp, finish, ok  # noqa: E402

top = os.path.abspath(os.environ.get("srcdir", "."))

def run(*words):
    return subprocess.run([halfulp, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def table(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8") if not line.startswith("#")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def number(text):
    return math.nan if text == "-" else float(text)


def text_of(svg):
    return ["".join(t.itertext()) for t in xml.parse(svg).iter() if t.tag.endswith("}text")]


RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def value(words):
    """The number that stands in words: 1 234, 99.5 %, 3.668 × 10⁻⁷."""
    words = words.replace("\u2212", "-")
    m = re.fullmatch(r"(-?[\d.]+)(?:×10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?(%?)", words)
    if not m:
        return math.nan
    x = float(m[1]) * 10.0 ** int((m[2] or "⁰").translate(RAISED))
    return x / 100 if m[3] else x


def near(words, want):
    return abs(value(words) - want) <= 0.006 * abs(want) + 1e-300


if subprocess.run(["sh", "-c", "command -v ${GNUPLOT:-gnuplot}"], capture_output=True).returncode:
    print("1..0 # SKIP gnuplot is absent")
    sys.exit(0)
folder = tempfile.TemporaryDirectory(prefix="halfulp-test-")
os.chdir(folder.name)
size = ["--model", "mlp:width=0.25", "--steps", "30", "--trace", "steps=12,last", "--data", "eval=64"]
scaled = ["--loss-scale", "init=16777216,interval=5"]
runs = [("float32", []), ("mixed_float16", scaled), ("float16", [])]
for policy, more in runs:
    made = run("train", "--quiet", *size, "--policy", policy, *more, policy)
    judged = run("analyze", policy)
    if made.returncode or judged.returncode not in (0, 1):
        print("Bail out! %s%s" % (made.stderr, judged.stderr))
        sys.exit(99)
names = [policy for policy, _ in runs]
out = run("report", "--out", "report", "--format", "svg,tex", *names)
ok(out.returncode == 0, "a report of three runs " + out.stderr.strip())
out = run("report", "--out", "column", "--format", "tex", "--width", "column", *names)
ok(out.returncode == 0, "and for the column of a paper " + out.stderr.strip())

# Colours
style = open(top + "/reports/style.gp").read()
hues = re.findall(r"#[0-9A-F]{6}", re.search(r"array hue\[8\] = (.*)", style)[1])
css = dict(re.findall(r"\.run-(\d) \{ --run: (#\w{6}); \}", open(top + "/reports/page/page.css").read()))
ok([css.get(str(i + 1)) for i in range(8)] == hues, "the page gives each run the colour that its figures have")
verdicts = re.search(r"harmless = '(#\w+)'; costs = '(#\w+)'; fatal = '(#\w+)'", style).groups()


ok(not set(verdicts) & set(hues) and len(set(hues)) == 8, "no run has a verdict's colour, and no two the same")


def rgb(c):
    return tuple(int(c[i : i + 2], 16) for i in (1, 3, 5))


def colours(svg):
    return {tuple(map(int, m)) for m in re.findall(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", open(svg).read())}


figure = {}  # name -> one file's stem a run, None for figures of all runs
for svg in sorted(glob.glob("report/*.svg")):
    stem = os.path.basename(svg)[:-4]
    name, _, n = stem.partition("-")
    of_all = name in ("loss", "difference", "error")
    figure[stem] = (name, None if of_all else int(n or 1) - 1)
for stem, (name, r) in figure.items():
    said = text_of("report/%s.svg" % stem)
    foot = [t for t in said if "model mlp" in t]
    want = ["3 runs"] if r is None else ["run " + names[r], "computes in", "weights in"]
    ok(len(foot) == 1 and all(w in foot[0] for w in want), "%s says its run, model and formats: %s" % (stem, foot[:1]))
    tex = open("report/%s.tex" % stem, encoding="utf-8").read()
    ok("model mlp" in tex and (r is None or names[r].replace("_", "\\_") in tex), "%s: its LaTeX caption too" % stem)
    others = {rgb(h) for i, h in enumerate(hues[:3]) if r is not None and i != r}
    ok(not colours("report/%s.svg" % stem) & others, "%s has no other run's colour" % stem)
captions = collections.Counter(re.search(r"\\caption\{(.*)\}\n", open(f, encoding="utf-8").read())[1]
                               for f in glob.glob("report/*.tex"))
ok(max(captions.values()) == 1, "no two LaTeX captions are the same")


def foot_of(stem):
    """The line above the one that names the run."""
    said = text_of("report/%s.svg" % stem)
    numbers = re.search(r"^numbers = '(.*)'$", open("report/%s.gp" % stem, encoding="utf-8").read(),
                        re.M)[1].replace("''", "'")
    ok(
        numbers.replace(" ", "") in "".join(said).replace(" ", ""), # which breaks long lines at spaces
        "%s: its numbers stand in the picture" % stem,
    )
    return numbers.replace("\u202f", "")


def parts(pattern, stem):
    m = re.search(pattern, foot_of(stem))
    return m.groups() if m else None


for r, policy in enumerate(names):
    at = "" if r == 0 else "-%d" % (r + 1)
    analysis = {
        t: table("%s/analysis/%s.tsv" % (policy, t))
        for t in (
            "replay", "swamping", "underflow", "state", "exponents", "loss-scale-safe", "loss-scale-timeline",
            "swamping-ratio", "weights"
        )
    }
    # harm: the worst of the rows `all`, recomputed from four tables
    for word, rows in (
        ("gradients", [x for x in analysis["underflow"] if x["from"] == "exact" and x["tensor"] == "all"]),
        ("steps by second moments", [x for x in analysis["state"] if x["kind"] == "moment" and x["tensor"] == "all"]),
        ("updates", [x for x in analysis["swamping"] if x["kind"] == "update" and x["tensor"] == "all"]),
        ("beside the exact step", [x for x in analysis["weights"] if x["role"] == "parameter"
                                   and x["tensor"] == "all"]),
    ):
        lost = [number(x["l2_share_lost"]) for x in rows if x["l2_share_lost"] != "-"]
        cosine = [number(x["cosine"]) for x in rows if x["cosine"] != "-"]
        got = parts(re.escape(word) + r": (\S+) lost, cosine\s(.*?)(?:;|$)", "harm" + at)
        if not lost:
            ok(got is None, "%s harm: nothing is said of %s" % (policy, word))
            continue
        ok(
            got and near(got[0], max(lost)),
            "%s harm: %s: %s lost, recomputed %.4g" % (policy, word, got and got[0], max(lost)),
        )
        close = got and (near(got[1], min(cosine)) or abs(1 - min(cosine)) < 1e-4 and got[1].startswith("1"))
        ok(close, "%s harm: %s: cosine %s, recomputed %.6g" % (policy, word, got and got[1], min(cosine)))
    finite = [(number(x["bound_ratio_max"]), x["layer"] + "  " + x["op"]) for x in analysis["replay"]
              if x["bound_ratio_max"] not in ("-", "inf")]
    got = parts(r"; (\S+) of a bound at most, in (.*)", "ulp" + at)
    ok(got and near(got[0], max(finite)[0]) and got[1] in [w for u, w in finite if u == max(finite)[0]],
       "%s ulp: %s, recomputed %r" % (policy, got, max(finite)))
    worst = max(number(x["ulp_max"]) for x in analysis["replay"] if x["ulp_max"] not in ("-", "inf"))
    got = parts(r"^largest error: (.*) ulps in ([^;]*)", "ulp" + at)
    ok(got and ("2²⁴" in got[0] if worst > 2**24 else near(got[0], worst)) and any(
        got[1] == x["layer"] + "  " + x["op"] and number(x["ulp_max"]) == worst for x in analysis["replay"]),
       "%s ulp: %s, recomputed %r ulps" % (policy, got, worst))
    total = sum(number(x["count"]) for x in analysis["exponents"] if x["format"] != "-")
    got = parts(r"^(\S+) values", "exponents" + at)
    ok(got and value(got[0]) == total, "%s exponents: %s values, recomputed %d" % (policy, got, total))
    got = parts(r"^(\S+) weights", "ratio" + at)
    ok(got and value(got[0]) == sum(number(x["count"]) for x in analysis["swamping-ratio"]),
       "%s ratio: the number of weights" % policy)
    got = parts(r"; (\S+) of them get no gradient", "ratio" + at)
    ok(got and value(got[0]) == sum(number(x["by_decay"]) for x in analysis["swamping-ratio"]),
       "%s ratio: those that weight decay alone moves" % policy)
    each = [x for x in analysis["loss-scale-safe"] if x["tensor"] != "all"]
    needs = [(number(x["log2_scale_min"]), x["tensor"]) for x in each if x["log2_scale_min"] != "-"]
    limits = [(number(x["log2_scale_max"]), x["tensor"]) for x in each if x["log2_scale_max"] != "-"]
    if "sweep" + at in figure:
        tics = [t for t in text_of("report/sweep%s.svg" % at) if re.fullmatch(r"2−?\d+", t)]
        ok(len(tics) > 6, "%s sweep: a power of two stands at every fourth tic: %s" % (policy, tics))
        got = parts(r"in (\S+) (\S+) needs a scale of 2(\S+) or more; in (\S+) (\S+) overflows beyond 2(\S+)", "sweep"
                    + at)
        ok(got and int(got[2].translate(RAISED)) == max(needs)[0] and int(got[5].translate(RAISED)) == min(limits)[0],
           "%s sweep: from 2^%d to 2^%d (%s)" % (policy, max(needs)[0], min(limits)[0], got))
        ok(got and (max(needs)[0], got[1]) in needs and (min(limits)[0], got[4]) in limits,
           "%s sweep: and the tensors" % policy)

# loss and difference: a number a run, from the runs' metrics
metrics = {p: table(p + "/metrics.tsv") for p in names}


def cells(policy, column):
    return {x["step"]: number(x[column]) for x in metrics[policy] if x[column] not in ("-", "nan", "inf")}


got = re.findall(r"(\S+) %? ?\((\w+)\)", foot_of("loss").replace("%", " %").replace("  ", " "))
for policy in names:
    last = list(cells(policy, "eval_accuracy").values())[-1]
    said = [value(n) for n, p in got if p == policy]
    ok(len(said) == 1 and abs(said[0] - 100 * last) < 0.051, "%s loss: %s %% of the unseen samples, recomputed %.2f"
       % (policy, said, 100 * last))
got = dict((p, value(n)) for n, p in re.findall(r"([^\s,:]+) \((\w+)\)", foot_of("difference")))
base = cells(names[0], "loss")
for policy in names[1:]:
    far = max(abs(x - base[s]) for s, x in cells(policy, "loss").items() if s in base)
    ok(
        policy in got and abs(got[policy] - far) <= 5e-4 * far,
        "%s difference: %s, recomputed %.6g" % (policy, got.get(policy), far),
    )
ok(names[0] not in got, "the first run has no difference to itself")

# No bin without values is drawn, and few values are no distribution
for stem in [s for s, (name, _) in figure.items() if name == "exponents"]:
    rows = table("report/%s.tsv" % stem)
    total = collections.Counter()
    for x in rows:
        total[x["class_id"], x["format_id"]] += number(x["count"])
    drawn = sum(1 for x in rows if total[x["class_id"], x["format_id"]] >= 32 and x["bin"] != "nonfinite")
    boxes = 0
    for g in xml.parse("report/%s.svg" % stem).iter():
        if g.get("id", "").startswith("gnuplot_plot_"):
            boxes += sum(1 for e in g.iter() if e.tag.endswith("}polygon")) or sum(
                len(re.findall("M", e.get("d", ""))) for e in g.iter() if e.tag.endswith("}path")
            )
    few = [k for k in total if 0 < total[k] < 32]
    said = " ".join(text_of("report/%s.svg" % stem))
    ok(said.count("not drawn") == len(few), "%s: %d kinds of few values are named and not drawn" % (stem, len(few)))
    ok(
        boxes == drawn + len(+total),
        "%s: as many bars as bins with values, %d, and one a kind in the legend" % (stem, drawn),
    )

# One axis for the timelines, none for a run whose scale never moves
ok("timeline" not in figure and "timeline-2" in figure, "a timeline where a scale moves, none where none does: %s"
   % sorted(figure))
page = open("report/index.html", encoding="utf-8").read()
ok("Not drawn for float32: no scaler ever changes its scale" in page, "and the page says why")
scales = [number(x["scale"]) for x in table("report/timeline-2.tsv") if x["scale"] != "-"]
gp = open("report/timeline-2.gp").read()
ok("scale_most = %.17g" % max(scales) in gp, "its axis reaches over all runs")
recorded = [number(x["loss_scale"]) for x in table("mixed_float16/metrics.tsv") if x["loss_scale"] != "-"]
got = parts(r"between (\S+) and (\S+), and the run skipped (\S+) steps", "timeline-2")
skipped = sum(x["skipped"] == "1" for x in table("mixed_float16/metrics.tsv"))
ok(got and value(got[0]) == min(recorded) and value(got[1]) == max(recorded) and value(got[2]) == skipped,
   "the recorded scale from %g to %g, %d steps skipped (%s)" % (min(recorded), max(recorded), skipped, got))

# A gradient that is exactly 0 in exact arithmetic has no relative error: its row stands among the worst, with a square
# of its own. Here a table says so of one.
shutil.copytree("float16", "cancelled")
lines = open("cancelled/analysis/replay.tsv").read().split("\n")
heads = next(line for line in lines if not line.startswith("#")).split("\t")
at = heads.index("propagated_rel_normwise")
for i, line in enumerate(lines):
    cells_of = line.split("\t")
    of = dict(zip(heads, cells_of))
    if (of.get("op"), of.get("layer")) == ("bias_db", "dense2"):
        lines[i] = "\t".join(cells_of[:at] + ["-"] + cells_of[at + 1 :])
open("cancelled/analysis/replay.tsv", "w").write(seal(unsealed("\n".join(lines))))
run("report", "--out", "zero", "cancelled")
svg = open("zero/error.svg").read()
squares = len(re.findall("xlink:href='#gpPt3'", svg))
plain = len(re.findall("xlink:href='#gpPt3'", open("report/error.svg").read()))
ok((text_of("zero/error.svg").count("exactly 0"), squares - plain) == (1, 1),
   "what is exactly 0 is said to be: %d squares, %d without such a row" % (squares, plain))

# The page: worst first, the figure of the verdict before the others, and the test of the cause
words = re.findall(r'<section class="verdict (\w+)">', page)
# The grounds of harm's picture are the thresholds of the words
source = lambda path: open(os.path.join(top, path)).read()  # noqa: E731
grounds, rule = source("reports/figures/harm.gp"), source("lib/judge/harm.c")
whole = float(re.search(r"define HU_WEIGHT_WHOLE (\S+)", source("analyzers/run/weights/weight.h"))[1])
ok("rectangle from %g, graph 0 to" % (1 - whole) in grounds, "a weight costs from where the ground does: %g" % (1 - whole))
fatal = [float(x) for x in re.search(r"share >= (\S+) \|\| cosine <= ([\d.]+)", rule).groups()]
fine = [float(x) for x in re.search(r"share <= (\S+) && cosine >= (\S+)", rule).groups()]
want = "harm_from = side == 1 ? %g : %g; fatal_from = side == 1 ? %g : %g" % (
    fine[0], 1 - fine[1], fatal[0], 1 - fatal[1])
ok(want in grounds, "the other grounds are those of the words: " + want)
order = {"fatal": 3, "costs": 2, "harmless": 0}
ok(words == sorted(words, key=lambda w: -order.get(w, 1)) and len(words) == 3, "the worst verdict stands first: %s"
   % words)
ok(re.findall(r'<section id="(\w+)">', page)[0] == "harm", "what the verdict rests on is the first figure")
cause = {p: re.search(r'"cause": (\S+?),?\n', open(p + "/analysis/summary.json").read())[1] for p in names}
told = [p for p in names if cause[p] != "null"]
ok(len(re.findall("<strong>Test it.</strong>", page)) == len(told), "each named cause has its counter-experiment: %s"
   % cause)
# Updates too small for the weights, and the same training with float32 masters
small = ["--optimizer", "sgd", "--optimizer", "lr=1e-3"]
run("train", "--quiet", *size, "--policy", "float16", *small, "swamped")
run("train", "--quiet", *size, "--policy", "mixed_float16", *small, "remedied")
run("analyze", "swamped")
run("analyze", "remedied")
run("report", "--out", "both", "swamped", "remedied")
both = open("both/index.html", encoding="utf-8").read()
ok(json.load(open("swamped/analysis/summary.json"))["cause"] == "updates"
   and len(re.findall("<strong>Test it.</strong>", both)) >= 1
   and "--policy=mixed_float16 --optimizer=sgd --optimizer=lr=1e-3" in both,
   "swamped updates have theirs, as a command with one option changed")
ok("Here it is: float16 ended at a loss of " in both and "mixed_float16 ended at a loss of " in both,
   "and where that run is there, how both ended")

# Each number at the top leads to a row that has all its digits, its table, the row there, and who made the table
focus = re.search(r"<h2>In numbers: (\w+)</h2>", page)[1]
numbers = json.load(open(focus + "/analysis/summary.json"))["numbers"]
tiles = re.findall(r'<dd><a href="#from-(\w+)">(.*?)</a>', page)
rows = {key: re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for key,
        row in re.findall(r'<tr id="from-(\w+)">(.*?)</tr>', page)}
ok(len(tiles) == 12 and {key for key, _ in tiles} == set(rows), "12 numbers lead to a row each: %s" % sorted(rows))
for key, (_, said, words, where, row, maker) in sorted(rows.items()):
    path = re.sub("<.*?>", "", where)
    ran = path == "metrics.tsv"
    ok(("halfulp analyze " + focus in maker) != ran and ('href="#again"' in maker) == ran, "%s: made by %s" % (key, maker))
    all_rows = table(focus + "/" + path)
    want = numbers.get(key, statistics.median(number(x["ms"]) for x in all_rows) if ran else None)
    column = re.search(r"(?:largest|last|smallest|sum of|median of|of the largest) (\w+)", words)
    if key == "safe_log2_scale_min":
        most = [x["log2_scale_min"] for x in all_rows if x["tensor"] == "all"]
        want = None if "-" in most else max(map(number, most), default=None)
    holds = want is None and said in ("–", "-") or abs(number(said) - want) <= 1e-12 * abs(want)
    ok(holds, "%s: %s, the summary or its table has %r" % (key, said, want))
    names = dict(re.findall(r"(step|call|tensor) ([^, ]+)", row))
    found = [x for x in all_rows if all(x[k] == v for k, v in names.items())]
    counted = re.fullmatch(r"(\d+) rows?", row)
    if key == "zeroed_gradients":
        found = [x for x in all_rows if x["from"] != "exact" and x["class"] in ("gradient", "wgrad")]
    if key == "swamped_share_updates":
        found = [x for x in all_rows if x["kind"] == "update" and x["tensor"] == "all"]
    ok(len(found) == int(counted[1]) if counted else said == "–" or said in [x[column[1]] for x in found],
       "%s: the row is there: %s" % (key, row))

paper.check(figure, ok)
finish()
