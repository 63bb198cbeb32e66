#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Promise: A bad file or option gives one line and the exit code of its kind.
# Bad input files: one clear line, exit 3, nothing written.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
command -v "$py" >/dev/null || skip_all "python3 is absent"

# A small data set of the MNIST family's kind, and broken ones
"$py" - <<'END'
import gzip, os, random, struct
rnd = random.Random(7)
n, size = 60, 12
images = struct.pack(">IIII", 0x803, n, size, size) + bytes(rnd.randrange(256) for _ in range(n * size * size))
labels = struct.pack(">II", 0x801, n) + bytes(i % 10 for i in range(n))
def put(name, im, la, gz=False):
    os.mkdir(name)
    for f, b in (("t10k-images-idx3-ubyte", im), ("t10k-labels-idx1-ubyte", la)):
        open(f"{name}/{f}" + (".gz" if gz else ""), "wb").write(b)
z = lambda b: gzip.compress(b, mtime=0)
put("good", images, labels)
put("goodgz", z(images), z(labels), True)
put("cutgz", z(images)[:-300], z(labels), True)
put("crcgz", z(images)[:-8] + b"\0\0\0\0" + z(images)[-4:], z(labels), True)
put("magic", b"\0\0\x09\x03" + images[4:], labels)
put("range", images, labels[:-1] + b"\x0a")
put("short", images[:-5], labels)
put("long", images + b"x", labels)
put("uneven", images, struct.pack(">II", 0x801, n - 1) + labels[8:-1])
END
o="--model mlp:width=0.1 --batch 10 --epochs 1 --data split=50"
for d in good goodgz; do
	run train $o --data idx:$d --quiet run-$d
	test $code = 0
	test_is $? "idx:$d trains"
done
test "$(column run-good/metrics.tsv digest)" = "$(column run-goodgz/metrics.tsv digest)"
test_is $? "gzip or not: the same bits"
for case in "cutgz:truncated gzip" "crcgz:a gzip whose checksum is wrong" "magic:a wrong magic number" "range:a label out of range" "short:too few pixels" "long:bytes after the end" "uneven:fewer labels than images" "nowhere:no such folder"; do
	run train $o --data idx:${case%%:*} --quiet bad
	refused 3 "${case%%:*}" "${case#*:}"
	test ! -e bad
	test_is $? "${case#*:}: nothing written"
done

# Runs that were damaged
run train $o --data idx:good --trace steps=last --quiet a
t=trace/step-000004.safetensors
damaged() { rm -rf b; cp -r a b; }
everywhere() { # pattern what
	for c in "verify" "verify --trace" "train --resume"; do
		run $c b
		refused 3 "$1" "halfulp $c: $2"
	done
}
damaged
truncate -s -100 b/$t
everywhere 'cut short' "a trace file that was cut short"
damaged
truncate -s -100 b/$t
unlist b $t
run verify --trace b
refused 3 "$t" "verify --trace: the same without the manifest's length"
for change in "h['relu1.y']['shape'][0] -= 1" "h['relu1.y']['shape'].reverse()" "h['relu1.y']['dtype'] = 'I32'" "h['relu9.y'] = h.pop('relu1.y')"; do
	damaged
	"$py" - b/$t "$change" <<'END'
import json, struct, sys
b = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", b[:8])[0]
h = json.loads(b[8:8 + n])
exec(sys.argv[2])
s = json.dumps(h).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(s)) + s + b[8 + n:])
END
	unlist b $t
	run verify --trace b
	refused 3 'relu[19].y' "a trace after $change"
done
damaged
sed 's/"run_version": 1/"run_version": 2/' a/manifest.json >b/manifest.json
everywhere 'newer' "a manifest of a newer version"
damaged
echo '{' >b/manifest.json
everywhere 'manifest.json' "a manifest that is no JSON"
damaged
rm b/program-train.json
everywhere 'program-train.json' "no program"
damaged
printf 'x' | dd of=b/$t bs=1 seek=5000 conv=notrunc 2>/dev/null
everywhere 'checksum' "a byte changed"
run train --model convnet:width=0.0625 --data size=8,train=64,eval=16 --batch 16 --steps 2 --trace steps=last --quiet cn
for change in 'stride=1e30' 'stride=2.5' 'stride=0' 'part=-5' 'part=1e300' 'part="many"' 'part=""' 'part=None' 'scaled=2' 'padding=-1' 'padding="same"' 'padding_left=1e18' 'dilation=0' 'dilation_h=1.5' 'stride_w=0' 'groups=0' 'groups=3' 'paddings=1'; do
	rm -rf b
	cp -r cn b
	"$py" - b/program-train.json "$change" <<'END'
import json, sys
p = json.load(open(sys.argv[1]))
key, value = sys.argv[2].split("=")
call = [c for c in p["calls"] if c["op"] == "conv2d"][0]
call["attr"][key] = eval(value)
json.dump(p, open(sys.argv[1], "w"))
END
	unlist b program-train.json
	for c in analyze "verify --trace"; do
		run $c b
		refused 3 'program' "halfulp $c: a convolution whose $change"
	done
done
damaged
mv good/t10k-labels-idx1-ubyte l
"$py" -c 'b=bytearray(open("l","rb").read()); b[20]^=1; open("good/t10k-labels-idx1-ubyte","wb").write(b)'
run verify b
refused 3 'digest' "data that is no longer what it was"
mv l good/t10k-labels-idx1-ubyte

printf 'nonsense' >w.safetensors
run train $o --data idx:good --init w.safetensors --quiet bad
refused 3 'w.safetensors' "--init from no safetensors file"
echo '{"compute": "float17"}' >p.json
run train $o --data idx:good --policy ./p.json --quiet bad
test $code != 0 && test "$(wc -l <err)" = 1 && test ! -e bad
test_is $? "a policy file with an unknown format: one line, nothing written"
for p in '{"compute": "float16", "computes": {"a": 1}}' '{"computes": 3}' '{"computes": "float16"}'; do
	echo "$p" >p.json
	run train $o --data idx:good --policy ./p.json --quiet bad
	refused 3 "unknown key 'computes'; known: name, compute, variable" "a policy file with the unknown key of $p"
done
echo '{"compute": 16}' >p.json
run train $o --data idx:good --policy ./p.json --quiet bad
refused 3 'policy: compute must be a string' "a policy file with a known key that is no text"
finish
