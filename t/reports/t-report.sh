#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp report on run directories of synthetic numbers (t/reports/make-sample-run.py):
# every figure is there or says why not, files are whole, the page fetches nothing,
# bad input gives exit 3 and one line, and a kept .gp draws its figure again.
. "${srcdir:-.}/t/tool/tap.sh"
python=${PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 || skip_all 'python3 is absent'
gnuplot=${GNUPLOT:-gnuplot}
command -v "$gnuplot" >/dev/null 2>&1 || skip_all 'gnuplot is absent'

run() { "$HALFULP" report "$@" >out 2>err </dev/null; code=$?; }
sealed() { "$python" -B "$top/t/tool/sealed.py" "$@"; }
sample() { "$python" -B "$top/t/reports/make-sample-run.py" "$@"; }
refused() { # what, word of the reason, arguments
	what=$1 word=$2
	shift 2
	run "$@"
	test $code = 3 && test ! -s out && test "$(wc -l <err)" = 1 && grep -qe "$word" err && test ! -e "${!#}/report"
	test_is $? "$what: exit 3, one line with '$word', nothing written"
}

cat >look.py <<'END'
"""look.py REPORT JSON [little]: faults of a report folder, one line each; little: a run of one step."""
import base64, html.parser, json, os, re, struct, sys, xml.etree.ElementTree as xml

folder, said, LITTLE = sys.argv[1], json.load(open(sys.argv[2])), "little" in sys.argv[3:]
VOID = {"meta", "img", "input", "br", "link"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.links += [a[k] for k in ("href", "src") if k in a]
        self.ids += [a["id"]] if "id" in a else []
        if tag == "img" and not a.get("alt"):
            print("an image without alt")
        if tag in ("link", "iframe", "object") or tag == "script" and a:
            print("a <%s> in the page" % tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            print("</%s> closes nothing, line %d" % (tag, self.getpos()[0]))


text = open(os.path.join(folder, "index.html"), encoding="utf-8").read()
page = Page()
page.feed(text)
if page.open:
    print("never closed:", page.open)
if len(set(page.ids)) != len(page.ids):
    print("an id twice")
if re.search(r"https?:|@import|url\(", text):
    print("the page names a place to fetch from")
inside = [base64.b64decode(link.split(",")[1]) for link in page.links if link.startswith("data:image/svg+xml;base64,")]
files = [open(os.path.join(folder, f), "rb").read() for f in sorted(os.listdir(folder)) if f.endswith(".svg")]
if sorted(inside) != sorted(files):
    print("the pictures in the page are not those of the folder: %d, %d" % (len(inside), len(files)))
for link in page.links:
    inside = link[:1] == "#" and link[1:] in page.ids
    if not inside and not link.startswith("data:") and not os.path.isfile(os.path.join(folder, link)):
        print("a link to nothing:", link)
for f in said["figures"]:
    if not f["drawn"]:
        if not f["why"]:
            print("no reason for", f["figure"])
        continue
    for name in f["files"]:
        path = os.path.join(folder, name)
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        if size < 100:
            print("missing or empty:", name)
        elif name.endswith(".svg"):
            plots = [g for g in xml.parse(path).iter() if g.get("id", "").startswith("gnuplot_plot_")]
            marks = [e for g in plots for e in g.iter() if e.tag.split("}")[1] in ("path", "use", "polygon", "rect", "circle", "text")]
            least = 1 if LITTLE else 12
            if len(marks) < least or size < 4000:
                print("a trivial figure:", name, len(marks))
        elif name.endswith(".png"):
            head = open(path, "rb").read(26)
            width, height = struct.unpack(">II", head[16:24])
            if head[:8] != b"\x89PNG\r\n\x1a\n" or width != 1720 or height < 500 or size < 6000:
                print("a trivial figure:", name, width, height, size)
extra = [f for f in os.listdir(folder) if f.startswith(".") or f.endswith((".log", ".tmp"))]
if extra:
    print("left behind:", extra)
END

# One run, everything in it: of the rows of figures.def all are counted, and what needs two runs is not drawn
drawn_and_not() { # OUT
	set -- $(sed -n 's|^one/report/index.html: \([0-9]*\) figures, \([0-9]*\) not drawn.*|\1 \2|p' "$1")
	test $# = 2 && test "$1" -ge 1 && test "$2" -ge 1 && test $(($1 + $2)) = "$(grep -c '^FIGURE(' "$top/reports/figures.def")"
}
sample one --traced 3
run one
test $code = 0 && test ! -s err && drawn_and_not out
test_is $? "one run: exit 0, the line that names the page"
run --json one
test $code = 0 && "$python" look.py one/report out >faults && test ! -s faults
test_is $? "one run: files whole, page well-formed, no fetch$(sed 's/^/; /' faults)"
rows=$(sed -n 's/^FIGURE("\([a-z]*\)".*/\1/p' "$top/reports/figures.def" | sort)
said=$("$python" -c 'import json; print("\n".join(sorted({f["figure"] for f in json.load(open("out"))["figures"]})))')
test -n "$rows" && test "$rows" = "$said"
test_is $? "every row of figures.def is drawn or said to be left out"
test "$rows" = "$(cd "$top/reports/figures" && ls ./*.gp | sed 's|./||; s/\.gp$//' | sort)"
test_is $? "every row has its .gp and every .gp its row"

# A kept .gp by hand
cp -r one/report kept && rm kept/*.svg kept/*.png
(cd kept && for gp in *.gp; do test "$gp" = style.gp || "$gnuplot" -d "$gp" || exit 1; done) >out 2>err
same=$?
for f in one/report/*.svg one/report/*.png; do cmp -s "$f" "kept/${f##*/}" || same=1; done
# gnuplot in a C locale warns that it has no degree sign
test $same = 0 && ! grep -v iconv err
test_is $? "each .gp draws the same figure again in its folder, byte for byte"
sed 's/^/x/' one/report/index.html >before
run one && sed 's/^/x/' one/report/index.html | cmp -s - before && cmp -s one/report/loss.svg kept/loss.svg
test_is $? "a second report is the same"

# Several runs, and what a run can lack
sample plain --policy float32 --format fp32 --no-scaling --verdict harmless
sample short --policy bfloat16 --format bf16 --steps 1 --traced 1 --seed 3
sample bare --policy autocast_float16 --no-analysis --seed 4
sample broken --policy float16 --nan --verdict fatal --over 3 --empty-interval --long-names --layers 9 --traced 14 --seed 5
# 26 characters: no label is shortened at that length
evil='it`touch pwned`'"'"'s <b>&_{x}'
sample evil --policy "$evil" --seed 6
for set in 'short' 'bare' 'broken' 'plain one short' 'plain one short bare broken evil'; do
	rm -rf many
	run --json --out many $set
	test $code = 0 && "$python" look.py many out $(case $set in *short*) echo little ;; esac) >faults && test ! -s faults
	test_is $? "report $set$(sed 's/^/; /' faults)"
done
test -f many/difference.svg && test -f many/ulp-5.png && test ! -f many/ulp-4.png
test_is $? "six runs: a figure of differences, figures for each analyzed run"
test ! -e pwned && test ! -e many/pwned && ! grep -q '<b>&' many/index.html && grep -qF '&lt;b&gt;&amp;_{x}' many/index.html && grep -q 'touch pwned.*&amp;_{x}' many/loss.svg
test_is $? "a hostile name is text on the page and in gnuplot"
grep -q 'float16</strong>: the loss is not finite from step 281 on (120 steps)' many/index.html
test_is $? "a loss that became nan is told with its first step"
grep -q 'analysis/ulp.tsv\|<code>halfulp analyze bare</code>' many/index.html
test_is $? "a run without analysis: the command that makes it"
run --json --out same plain plain
"$python" -c 'import json; f = [f for f in json.load(open("out"))["figures"] if f["figure"] == "difference"][0]; exit(f["drawn"] or "bit" not in f["why"])'
test_is $? "a run against itself: no figure of differences, and the reason"
run --out tex --format tex,pdf bare
test $code = 0 && test -s tex/loss.pdf && grep -q 'includegraphics.*loss.pdf}' tex/loss.tex && test -s tex/loss.svg && test ! -e tex/loss.png
test_is $? "--format tex,pdf"
run -o - plain one
test $code = 0 && grep -q '^mixed_float16: costs' out && grep -q 'Updates swamped  *41.2' out && grep -q 'conv1 .*█' out && test ! -s err
test_is $? "-o -: verdict, numbers and bars"
"$python" -c 'import sys; sys.exit(max(len(l) for l in open("out", encoding="utf-8").read().split("Training loss")[1].split("\n")) > 80)'
test_is $? "-o -: curves and bars fit 80 columns"
GNUPLOT=/nonexistent/gnuplot "$HALFULP" report -o - one >/dev/null 2>err
test_is $? "-o - needs no gnuplot"

# Bad command lines and environments
run
test $code = 2 && test "$(wc -l <err)" = 1
test_is $? "no run: exit 2"
run --format svg,gif one
test $code = 2 && grep -q gif err
test_is $? "an unknown format: exit 2"
rm -rf one/report
GNUPLOT=/nonexistent/gnuplot run one
test $code = 4 && test "$(wc -l <err)" = 1 && grep -q 'install gnuplot' err && test ! -e one/report
test_is $? "no gnuplot: exit 4, what to install, nothing written"
run one
echo '<!-- older -->' >>one/report/loss.svg
cp -r one/report before.d
printf '#!/bin/sh\ncase "$*" in *--version) exit 0 ;; *ulp.gp) echo "line 3: broken"; exit 1 ;; esac\nexec %s "$@"\n' "$(command -v "$gnuplot")" >failing && chmod +x failing
GNUPLOT=$dir/failing run one
test $code = 4 && test "$(wc -l <err)" = 1 && grep -q 'ulp: line 3: broken' err && diff -r one/report before.d >/dev/null
test_is $? "a gnuplot that fails: exit 4, its complaint, the older report stays whole"
: >file && run --out file/report one
test $code = 4 && test "$(wc -l <err)" = 1
test_is $? "a folder that cannot be made: exit 4"
rm -rf one/report

# Bad files
spoil() { rm -rf bad && cp -r one bad; }
refused "a folder that is absent" 'manifest.json' nowhere
spoil && rm bad/manifest.json
refused "no manifest" 'bad: no run is there (no manifest.json)' bad
spoil && echo '{' >bad/manifest.json
refused "a manifest that is no JSON" 'manifest.json:' bad
spoil && sed 's/"run_version": 1/"run_version": 2/' one/manifest.json >bad/manifest.json
refused "a manifest of a newer version" 'run_version is 2' bad
spoil && rm bad/metrics.tsv
refused "no metrics" 'metrics.tsv' bad
spoil && head -c 3000 one/metrics.tsv >bad/metrics.tsv
refused "metrics cut short" 'metrics.tsv:' bad
spoil && echo '[1]' >bad/analysis/summary.json
refused "a summary that is no object" 'summary.json' bad
for t in replay exponents underflow loss-scale loss-scale-safe loss-scale-timeline swamping swamping-ratio; do
	spoil && head -c $(($(wc -c <one/analysis/$t.tsv) - 9)) one/analysis/$t.tsv >bad/analysis/$t.tsv
	refused "$t.tsv cut short" "$t.tsv:" bad
done
spoil && sed 's/ulp_max/ulp_largest/' one/analysis/replay.tsv >bad/analysis/replay.tsv && sealed bad/analysis/replay.tsv
refused "a column that is missing" 'no column ulp_max' bad
spoil && awk 'BEGIN { FS = OFS = "\t" } NR == 9 { $12 = "many" } { print }' one/analysis/replay.tsv >bad/analysis/replay.tsv && sealed bad/analysis/replay.tsv
refused "a word where a number belongs" "'many' is no number" bad
spoil && sed '/^[0-9]/d' one/analysis/replay.tsv >bad/analysis/replay.tsv && sealed bad/analysis/replay.tsv
run bad
test $code = 0 && test ! -e bad/report/ulp.svg && grep -q 'has no row for it' bad/report/index.html
test_is $? "a table without rows: its figures are left out and the page says so"

finish
