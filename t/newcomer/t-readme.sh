#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of README and of the pages that it sends to first, as they stand there, one after the other under `bash
# -e`. What is put in their place is the program, by one that trains on less and reduces fewer elements; nothing else is
# changed. What README says that they print is held by t-first.py.
. "${srcdir:-.}/t/tool/tap.sh"
mkdir build
cp -r "$top/examples" examples
cat >build/halfulp <<END
#!/bin/bash
less=()
more=()
case \$1 in
train) less=(--model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 2) ;;
compare) less=(--model width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 1) ;;
esac
case \$* in
compare*' images:'*) more=(--model depth=10 --data train=8,eval=4 --batch 4) ;;
allreduce*) more=(--sample 16) ;;
esac
test "\$1" = gate &&
	exec "$HALFULP" "\$@" --model mlp:width=0.125 --data size=8,train=256,eval=64 --batch 32 --epochs 2
exec "$HALFULP" "\$1" "\${less[@]}" "\${@:2}" "\${more[@]}"
END
chmod +x build/halfulp
PATH=$PWD/build:$PATH
export PATH
halfulp train --quiet weights && cp weights/checkpoint/step-000016.safetensors weights.safetensors &&
	cp weights.safetensors new.safetensors && rm -r weights
test_is $? "the user's own files that README inspects and guards"
"${PYTHON:-python3}" - "$top/t/tool" <<'END'
import os, struct, sys, zipfile, zlib
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from onnxfile import *
write("model.onnx", graph([node("Gemm", "x w", "y", name="fc")],
    [floats("w", [3, 2], [1, 0, 0, 1, -1, 2])], [value("x", ["n", 3])], [value("y")]))
head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }".ljust(117) + b"\n"
with zipfile.ZipFile("inputs.npz", "w") as z:
    z.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<12f", *range(12)))
chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for i in range(96):
    folder = "photos/%s/%s" % (("train", "val")[i % 3 == 0], ("cat", "dog")[i % 2])
    os.makedirs(folder, exist_ok=True)
    rows = b"".join(b"\0" + bytes((i * x * y + 80 * (i % 2)) % 256 for x in range(3 * 9)) for y in range(9))
    with open("%s/%d.png" % (folder, i), "wb") as f:
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0))
        f.write(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
test_is $? "the model with its inputs that README validates, and the photographs that it trains on"

# The indented blocks that are commands, so none within a fence, a file each; what builds the program is not for
# here, nor what is shown with its output
for page in README.md doc/deploy.md doc/ci.md doc/figures.md doc/train.md; do
	awk -v page="${page##*/}" 'function block(text) { printf "%s", text >sprintf("block-%02d-%s", ++n, page) }
		/^```/ { fenced = !fenced }
		!fenced && /^    / { text = text substr($0, 5) "\n"; next }
		/^$/ && text ~ /^\$ / { next }
		text != "" { if (text !~ /^\$ /) block(text); text = "" }
		END { if (text != "" && text !~ /^\$ /) block(text) }' "$top/$page"
	ls block-*-"${page##*/}" >/dev/null 2>&1
	test_is $? "$page has commands"
done
blocks=0
for block in block-*-README.md block-*-deploy.md block-*-ci.md block-*-figures.md block-*-train.md; do
	if grep -q '^\./bootstrap' "$block"; then
		! grep -v '^\./bootstrap *[a-z]*$\|^export PATH=' "$block" | grep -q .
		test_is $? "$block: what installs and builds"
		continue
	fi
	blocks=$((blocks + 1))
	line=0
	while IFS= read -r command; do
		line=$((line + 1))
		case $command in *'train --policy mixed_float16 runs/ci') rm -rf runs/ci ;; esac # each page begins anew
		case $command in
		*' --library numpy'*)
			"${PYTHON:-python3}" -c 'import numpy' 2>/dev/null || { skip 1 "NumPy is absent"; continue; }
			;;
		*pdflatex*) command -v pdflatex >/dev/null || { skip 1 "pdflatex is absent"; continue; } ;;
		*' report '* | *' figures '* | *' accumulate '*' -o '*.svg* | *' accumulate '*' -o '*.png* | *' '\
'accumulate '*' -o '*.pdf*)
			command -v gnuplot >/dev/null || { skip 1 "gnuplot is absent"; continue; }
			;;
		esac
		bash -e -c "$command" >out 2>err </dev/null
		test_is $? "$block: $command"
	done <"$block"
done
cat block-* >blocks
test $blocks -ge 4 && test "$(grep -c '^halfulp check ' blocks)" = 4 &&
	test "$(grep -c '^halfulp baseline ' blocks)" = 2 && test "$(grep -c '^halfulp gate ' blocks)" = 1
test_is $? "the pages have their blocks, and baseline, check and gate among them"

# The same in one script, and an output that left its bound between training and analysis: it ends in check, which names
# it
wrong() { # one recorded product becomes another
	"${PYTHON:-python3}" - "$1" <<'END'
import json, struct, sys, glob
run = sys.argv[1]
name = sorted(glob.glob(run + "/trace/*.safetensors"))[-1]
f = open(name, "r+b")
n = struct.unpack("<Q", f.read(8))[0]
head = json.loads(f.read(n))
at = head["dense1.xw"]["data_offsets"][0] if "dense1.xw" in head else head["dense1.y"]["data_offsets"][0]
f.seek(8 + n + at)
f.write(b"\x00\x57")  # fp16: 112
f.close()
m = json.load(open(run + "/manifest.json"))
del m["files"][name[len(run) + 1:]]
json.dump(m, open(run + "/manifest.json", "w"))
END
}
export -f wrong
export PYTHON
if command -v "${PYTHON:-python3}" >/dev/null; then
	block=$(grep -l 'check runs/ci' block-*)
	rm -r runs/ci
	awk '{ print } /^halfulp train/ { print "wrong runs/ci" }' "$block" >script
	bash -e script >out 2>err </dev/null
	code=$?
	test $code = 1 && grep -q 'outputs* left their call.s bound' err &&
		grep -q '^not ok .*/over_bound: drifted' out && grep -q 'quantities failed' out
	test_is $? "under bash -e, analyze's exit 1 does not keep check from its list"
	rm -r runs/first baseline.tsv
	block=$(grep -l 'baseline runs/first' block-*)
	awk '{ print } /^halfulp train/ { print "wrong runs/first" }' "$block" >script
	bash -e script >out 2>err </dev/null
	code=$?
	test $code = 0 && grep -q 'warning: [0-9]* judged outputs of runs/first left their bound' err
	test_is $? "nor from recording it, which is said aloud"
else
	skip 2 "python3 is absent"
fi
# Other failures do end it
rm -rf runs/ci
sed 's/^halfulp train.*/true/' "$(grep -l 'check runs/ci' block-*)" >script
bash -e script >out 2>err </dev/null
code=$?
refused 1 'no run is there' "a run that is not there ends the script at analyze"
finish
