#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp verify: a run and its trace hold; a changed digest and a changed bit are named.
. "${srcdir:-.}/t/tool/tap.sh"
command -v "${PYTHON:-python3}" >/dev/null || skip_all "python3 is absent"
run train --model mlp --policy mixed_float16 --data train=160,eval=32 --batch 32 --data size=10 --model width=0.1 \
	--epochs 2 --quiet a
test_is $code "a run to verify"
run verify a
test $code = 0 && grep -q '10 steps re-executed, every digest is the recorded one' out
test_is $? "verify: every digest is the recorded one"
run verify --threads 1 --backend simd=scalar --quiet a
test $code = 0 && test ! -s out
test_is $? "verify with one thread and scalar code; --quiet"
run verify --trace a
test $code = 0 && grep -q ' of 2 steps executed again, [0-9]* elements compared, 0 differ$' out
test_is $? "verify --trace: every element"

# A metrics row that says otherwise
cp -r a b
digest=$(column b/metrics.tsv digest | sed -n 7p)
sed "s/$digest/0x0123456789abcdef/" a/metrics.tsv >b/metrics.tsv
run verify b
refused 3 'metrics.tsv: its checksum' "a changed file"
unlist b metrics.tsv
run verify b
test $code = 1 && grep -q "step 6 is the first that differs: digest $digest, recorded 0x0123456789abcdef" out
test_is $? "verify names the first step that differs, exit 1"

# One bit of one element of one recorded output; T must name it and no other call's own
cp -r a c
file=c/trace/step-000009.safetensors
unlist c trace/step-000009.safetensors
"${PYTHON:-python3}" - $file c/program-train.json >want <<'END'
import json, struct, sys
f = open(sys.argv[1], "r+b")
n = struct.unpack("<Q", f.read(8))[0]
h = json.loads(f.read(n))
p = json.load(open(sys.argv[2]))
for c in p["calls"]:
    t = p["tensors"][c["out"][0]]["name"]
    if c["op"] == "relu":
        at = 8 + n + h[t]["data_offsets"][0] + 2 * 5
        f.seek(at); v = struct.unpack("<H", f.read(2))[0] ^ 1
        f.seek(at); f.write(struct.pack("<H", v))
        print(9, c["id"], "relu", t, 5)
        break
END
run verify --trace c
test $code = 1 && sed 's/  */ /g; s/^ //' out | grep -q "^$(cat want) " && test "$(grep -c ' no$' out)" = 1
test_is $? "verify --trace names the element that was changed; what follows from it is marked inherited"
sed -n '/^ *[0-9]/p' out | awk '{ print $2, $5 }' >rows
test "$(wc -l <rows)" -gt 2 && sort -n -k 1,1 -k 2,2 -s rows | diff - rows >&2
test_is $? "in the order of calls and elements"
run verify --trace --json c
test $code = 1 && "${PYTHON:-python3}" -c 'import json,sys; d=json.load(open("out"))["differences"]; sys.exit(not '\
'any(x["tensor"]=="relu1.y" and x["element"]==5 and not x["inherited"] for x in d))'
test_is $? "and as JSON"

# A digest of a step that has no trace, and a traced call of another step that is not what was recorded
cp -r c d
sed "s/$digest/0x0123456789abcdef/" a/metrics.tsv >d/metrics.tsv
unlist d metrics.tsv
run verify d
test $code = 1 && grep -q 'step 6 is the first that differs' out && grep -q 'relu1' out
test_is $? "of an untraced step verify names the traced call that differs"

# An evaluation that was recorded as a NaN, and is a number when it is made again
cp -r a e
loss=$(column a/metrics.tsv eval_loss | sed -n 5p)
sed "s/	$loss	/	nan	/" a/metrics.tsv >e/metrics.tsv
unlist e metrics.tsv
run verify e
test $code = 1 && grep -qF "eval_loss" out && grep -qF "$loss" out && grep -q nan out
test_is $? "verify holds no number for a NaN: eval_loss $loss"

run verify
refused 2 'one RUN' "no RUN"
run verify --backend simd=nonsense a
refused 2 'nonsense' "an instruction set that is none"
run verify --threads x --backend simd=scalar a
refused 2 'threads' "threads that are no number, beside an instruction set"
run verify nowhere
refused 3 'no run is there' "a RUN that is none"
run verify --backend nothing a
refused 2 'unknown back end' "an unknown back end"
finish
