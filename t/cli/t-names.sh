#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names that would move a cursor, begin a line or turn the direction of text: in whatever is printed and
# written they stand escaped, and a run that has such names in its files is refused in one line.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
command -v "$py" >/dev/null || skip_all "python3 is absent"

cat >clean.py <<'END'
"""For names of files that end in a zero byte each, and lists in another one: 0, or 1 and where a file has what must be
escaped. A hostile name has INJECTED after each of its newlines."""
import re, sys
bad = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|^INJECTED", re.M)
def first(path):
    """What is the first in the file, or None."""
    try:
        data = open(path, "rb").read()
    except OSError as e:
        return str(e)
    try:
        hit = bad.search(data.decode())
        at = hit and data.decode()[max(0, hit.start() - 40):hit.end() + 20]
    except UnicodeDecodeError as e:
        hit, at = e, data[max(0, e.start - 40):e.end + 20]
    return ascii(path) + " " + ascii(at) if hit else None


paths, name = [], b""
while byte := sys.stdin.buffer.read(1):
    if byte != b"\0":
        name += byte
    elif name:
        paths.append(name)
        name = b""
    else:
        wrong = [w for w in map(first, paths) if w]
        print("1 " + "; ".join(wrong) if wrong else "0", flush=True)
        paths = []
END
coproc "$py" -u clean.py
# clean WHAT [FILE...]: the last run's lines and these files
clean() {
	printf '%s\0' out err "${@:2}" '' >&"${COPROC[1]}"
	read -r status where <&"${COPROC[0]}"
	test -z "$where" || echo "# $where" >&2
	test_is "${status:-1}" "$1"
}
printf 'a\033[2J\n' >hostile
printf '%s\0' clean.py hostile '' >&"${COPROC[1]}"
read -r status where <&"${COPROC[0]}"
test "$status" = 1 && test "${where#*hostile}" != "$where"
test_is $? "what must be escaped is seen: $where"
# refused_clean PATTERN WHAT: exit 3 and one line without anything in it
refused_clean() {
	refused 3 "$1" "$2"
	clean "$2: nothing in the line"
}

evil=$'x\x1b[2J\nINJECTED\tt\rr\x7f\xe2\x80\xae\xc2\x9b31m\xff'
shown='x\\x1b\[2J\\nINJECTED\\tt\\rr\\x7f\\u202e\\u009b31m\\xff'

# Files of somebody else's. libzip reads a member's name that is no UTF-8 as code page 437, where ESC is an arrow
"$py" - <<'END'
import json, struct, zipfile
names = ["a\x1b[31mred", "b\nINJECTED", "c\td", "e\rf", "g\x7fh", "\u202eabc", "i\x9b2J", "j\u2028INJECTED", "plain.weight", "na\u00efve.\u91cd\u307f"]
head, at = {}, 0
for n in names:
    head[n] = {"dtype": "F32", "shape": [2], "data_offsets": [at, at + 8]}
    at += 8
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open("evil.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + struct.pack("<2f", 1, 2) * len(names))
npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"%-117s\n" % b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" + struct.pack("<2f", 1, 2)
with zipfile.ZipFile("evil.npz", "w") as z:
    for n in names:
        z.writestr(n + ".npy", npy)
END
for file in evil.safetensors evil.npz; do
	run inspect $file
	test $code = 0 && grep -q -e '^a\\x1b\[31mred ' -e '^a←' out && grep -q '^b\\nINJECTED ' out && grep -q '^plain.weight ' out && grep -q '^naïve.重み ' out
	test_is $? "inspect $file: its names escaped, those that are plain as they are"
	clean "inspect $file: nothing else"
	run inspect --json $file
	test $code = 0 && "$py" -c 'import json,sys; d = json.load(open("out")); assert {"b\\nINJECTED", "\\u202eabc", "na\u00efve.\u91cd\u307f"} <= {r["tensor"] for r in d}'
	test_is $? "inspect --json $file"
	clean "inspect --json $file: nothing else"
done
run inspect "$evil"
refused_clean "$shown" "a file that is not there"
cp evil.npz "$evil.npz" && head -c 300 evil.npz >"$evil.cut" && run inspect "$evil.cut"
refused_clean "$shown" "a file that is damaged"

# A run in a directory of such a name, through everything
o="--quiet --model mlp --data train=64,eval=32 --batch 32 --data size=8 --model width=0.1 --epochs 2"
run train ${o#--quiet} --policy mixed_float16 "$evil"
test $code = 0 && grep -q "^$shown: loss" out
test_is $? "train: the directory's name escaped"
clean "train: out, and what it wrote" "$evil"/*.json "$evil"/*.tsv
run train ${o#--quiet} --policy mixed_float16 --json "$evil.2"
test $code = 0 && grep -q '"run": "x\\\\x1b' out && "$py" -m json.tool out >/dev/null
test_is $? "train --json"
clean "train --json: nothing else"
mkdir -p good && rm -r "$evil.2"
for c in analyze "analyze --json" verify "verify --json" "verify --trace" "verify --trace --json" "baseline" "check --baseline base.tsv" "check --baseline base.tsv --format junit" "check --baseline base.tsv --format json" "check --baseline absent.tsv"; do
	case $c in
	baseline) run baseline -o base.tsv --reason "$evil" "$evil" ;;
	*) run $c "$evil" ;;
	esac
	case $c in *absent*) test $code = 3 ;; *) test $code = 0 ;; esac
	test_is $? "$c"
	clean "$c: nothing else"
done
clean "the tables of its analysis and the baseline" "$evil"/analysis/* base.tsv absent.tsv.obtained
run diff "$evil" "$evil"
clean "diff"
for c in "report -o -" "report --out page"; do
	case $c in *out*) command -v gnuplot >/dev/null || { skip 1 "gnuplot is absent"; continue; } ;; esac
	run $c "$evil"
	test $code = 0
	test_is $? "$c"
	clean "$c: nothing else" $(find page -type f ! -name '*.png' 2>/dev/null)
done
if test -e page; then
	eval "word=$("$py" -c 'import html,re; print(re.search("halfulp analyze (.*)", html.unescape(open("page/index.html").read().split("<pre>")[1])).group(1))')"
	test "$word" = "$evil"
	test_is $? "the page's command to make it again is one that bash reads back"
fi
run compare --model mlp --data train=64,eval=32 --batch 32 --data size=8 --model width=0.1 --epochs 1 --policy float32,float16 "$evil.cmp"
test $code = 0
test_is $? "compare"
clean "compare: nothing else" "$evil.cmp"/*.tsv
rm -rf "$evil.cmp"

# Runs whose files have such names: refused
run train $o --policy mixed_float16 --quiet good/run && run analyze good/run
test_is $code "a run to spoil"
# spoil FILE OLD NEW: OLD becomes NEW, a Python literal, in a copy of the run
spoil() {
	rm -rf bad && cp -r good/run bad && "$py" - "bad/$1" "$2" "$3" <<'END'
import sys
path, old, new = sys.argv[1:]
text = open(path, newline="").read()
assert old in text
open(path, "w", newline="").write(text.replace(old, eval(new)))
END
	case $1 in analysis/* | manifest.json) ;; *) unlist bad "$1" ;; esac
}
each() { # PATTERN WHAT COMMAND...
	for c in "${@:3}"; do
		run $c
		refused_clean "$1" "$c: $2"
	done
}
spoil program-train.json dense1 '"d\\u001b[31m\\nINJECTED"'
each 'program-train.json: its names' "a layer's name" "analyze bad" "verify bad" "verify --trace bad" "diff bad good/run" "diff good/run bad" "check bad --baseline base.tsv"
spoil manifest.json '"name": "mixed_float16"' '"\"name\": \"mixed\\u202e\\n\\u007fINJECTED\""'
each 'manifest.json' "a policy's name" "analyze bad" "verify bad" "diff bad good/run" "check bad --baseline base.tsv" "report -o - bad" "report --out no bad" "train --resume bad"
spoil analysis/replay.tsv dense1 '"d\x1b[2J"'
each 'analysis/replay.tsv:[0-9]*: there are characters' "a table's cell" "check bad --baseline base.tsv"
spoil metrics.tsv mlp '"m\u202elp"' 2>/dev/null || spoil metrics.tsv step '"st\x7fep"'
each 'metrics.tsv:[0-9]*: there are characters' "a table's header" "report -o - bad" "verify bad"
spoil analysis/summary.json '"verdict_word": "' '"\"verdict_word\": \"\\u001b[2J"'
each 'summary.json' "a verdict" "report -o - bad"

# Policies and weights
printf '{"compute": "float16", "layers": {"dense\\u001b[2J\\nINJECTED*": "float32"}}' >p.json
run train $o --policy ./p.json never
refused_clean 'p.json: the key "dense\\x1b\[2J' "a policy's layer"
printf '{"name": "\\u202eevil", "compute": "float16"}' >p.json
run train $o --policy ./p.json never
refused_clean 'p.json: the text' "a policy's name"
run train $o --policy "float16,layer:$evil=float32" never
refused 2 "$shown" "a policy on the command line"
clean "a policy on the command line: nothing in the line"
mkdir "$evil.data"
run train $o --data "idx:$evil.data" never
refused 2 "$shown.data: a run cannot record characters" "data in such a folder"
cp evil.safetensors "$evil.init"
run train $o --init "$evil.init" never
refused 2 "$shown.init: a run cannot record characters" "weights in such a file"
run train $o --init evil.safetensors never
refused_clean 'no tensor dense1.w' "--init from such a file"
test ! -e never
test_is $? "and nothing is begun"

# Weights of another shape: both shapes, in the file's own order
shape() { # NAME SHAPE DTYPE
	"$py" - "$1" "$2" "$3" <<'END'
import json, struct, sys
name, shape, dtype = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
n = 1
for d in shape:
    n *= d
size = {"F32": 4, "I64": 8}[dtype] * n
text = json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}).encode()
text += b" " * (-len(text) % 8)
open("w.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(size))
END
	run train $o --init w.safetensors never
}
shape dense1.w '[26, 64]' F32
refused 3 'w.safetensors: tensor dense1.w has the shape \[26, 64\] and \[64, [0-9]*\] is needed$' "--init, of our own names"
shape dense1.weight '[64, 26]' F32
refused 3 'tensor dense1.weight has the shape \[64, 26\] and \[[0-9]*, 64\] is needed, output features first, which is this model.s dense1.w$' "--init, of PyTorch's"
n1=$(sed 's/.*and \[\([0-9]*\), 64\].*/\1/' err)
shape dense1.w "[64, $n1]" I64
refused 3 'tensor dense1.w is of dtype I64, and weights are needed as F64' "--init from integers"
finish
