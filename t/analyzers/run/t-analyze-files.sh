#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyze PROGRAM.json TENSORS.safetensors: the tables are those of the run that the two files are from, what the files
# lack is said, and hostile ones are refused in one line with nothing written.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
run train --model mlp:width=0.05 --data size=8,train=48,eval=16 --batch 16 --steps 1 --trace steps=0 --policy \
	mixed_float16 --quiet r && run analyze r
p=r/program-train.json
cp r/trace/step-000000.safetensors t.safetensors
run analyze $p t.safetensors
test $code = 0 && test "$(wc -l <err)" = 1 && grep -q 'no manifest and there are no metrics' err &&
	! grep -q 'tensors are not in' err && grep -q '^tables in t/analysis$' out
test_is $? "two files are enough, and a line says what they lack"
bad=
for t in replay swamping swamping-ratio state underflow exponents loss-scale loss-scale-safe faults; do
	cmp -s <(grep -v '^#' r/analysis/$t.tsv) <(grep -v '^#' t/analysis/$t.tsv) &&
		test "$(grep -vc '^#' t/analysis/$t.tsv)" -ge 1 || bad="$bad $t"
done
test -z "$bad" && test "$(grep -vc '^#' t/analysis/replay.tsv)" -gt 50
test_is $? "every table has the run's rows${bad:+: not$bad}"
grep -q '^# program and tensors xxh3: [0-9a-f]\{16\}$' t/analysis/replay.tsv &&
	! grep -q '^# seed' t/analysis/replay.tsv
test_is $? "a table names the files by their checksum, and claims no seed"

# change.py IN OUT TEXT: the file with Python's TEXT applied to its header h and data d
cat >change.py <<'END'
import json, struct, sys
b = open(sys.argv[1], 'rb').read()
n = struct.unpack('<Q', b[:8])[0]
h, d = json.loads(b[8:8 + n]), b[8 + n:]
def drop(name):
    global d
    begin, end = h.pop(name)['data_offsets']
    d = d[:begin] + d[end:]
    for e in h.values():
        o = e.get('data_offsets')
        if o and o[0] >= end:
            o[0] -= end - begin
            o[1] -= end - begin
names = [k for k in h if k != '__metadata__']
exec(sys.argv[3])
t = json.dumps(h).encode()
t += b' ' * (-len(t) % 8)
open(sys.argv[2], 'wb').write(struct.pack('<Q', len(t)) + t + d)
END
change() { "$py" change.py t.safetensors "$1" "$2"; }
change some.safetensors 'drop("dense2.xw")'
run analyze $p some.safetensors --out some
test $code = 0 && grep -q '1 of [0-9]* tensors are not in some.safetensors (the first is dense2.xw), so [0-9]* of '\
'[0-9]* calls are judged whole' err && ! grep -q dense2.xw$'\t' some/analysis/replay.tsv &&
	grep -q dense1.xw$'\t' some/analysis/replay.tsv
test_is $? "a tensor that is not there is named, and the calls that need it are left out"

refuses() { run analyze "$@"; refused 3 "$pattern" "$what"; test ! -e bad/analysis; test_is $? \
	"nothing is written of it"; }
change bad.safetensors '[drop(k) for k in names if "xw" not in k]'
pattern='none of the program' what="tensors without any call that is whole" refuses $p bad.safetensors
change bad.safetensors 'h["no.such"] = h.pop("dense1.xw")'
pattern='no.such is not in the program' what="a tensor that the program lacks" refuses $p bad.safetensors
change bad.safetensors 'h["dense1.xw"]["shape"].append(1)'
pattern='the program says' what="a tensor of another shape" refuses $p bad.safetensors
head -c 1000 t.safetensors >bad.safetensors
pattern='bad.safetensors' what="tensors that were cut short" refuses $p bad.safetensors
pattern='none.safetensors' what="no tensors" refuses $p none.safetensors
sed 's/"op": *"matmul"/"op": "matmu"/' $p >bad.json
pattern='unknown operator' what="an operator that there is not" refuses bad.json t.safetensors --out bad
"$py" -c 'import json, sys; p = json.load(open(sys.argv[1])); p["calls"][3]["in"][0] = 99999; json.dump(p, '\
'open("bad.json", "w"))' $p
pattern='bad.json: program' what="an operand out of range" refuses bad.json t.safetensors --out bad
head -c 2000 $p >bad.json
pattern='bad.json' what="a program that was cut short" refuses bad.json t.safetensors --out bad
pattern='' what="the two files exchanged" refuses t.safetensors $p --out bad
pattern='r' what="a folder for a program" refuses r t.safetensors --out bad
run analyze $p r/manifest.json
refused 2 'out DIR' "tensors whose name does not say where the tables belong"
run analyze $p t.safetensors r
refused 2 'PROGRAM.json TENSORS.safetensors' "three files"
finish
