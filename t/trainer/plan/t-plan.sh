#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp plan and doctor: tables from shapes alone.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
run plan --model mlp --policy float32 --policy mixed_float16
test $code = 0 && grep -q '^mlp, mixed_float16: compute float16, variables float32; 235146 parameters' out &&
	grep -q '^dense1  ' out && grep -q '^memory ' out
test_is $? "plan: a table a policy, then memory by category"
test "$(grep -c '^mixed_float16 .*kB .*kB' out)" = 1
test_is $? "masters where a narrower copy is multiplied"
run plan --model convnet --program
test $code = 0 && grep -q 'conv1.xw *= conv2d *(input.x, conv1.w)' out && grep -q 'finite_check' out &&
	grep -q '= adam *(conv1.w, ' out
test_is $? "plan --program prints the calls"
run plan --list
test $code = 0 && grep -q '^mixed_bfloat16 ' out && grep -q '^O3 ' out
test_is $? "plan --list lists them"
run plan --device abacus
refused 2 'known are here, m2200' "an unknown device"
run plan --device v100:measure=3
refused 2 'device here' "measuring what is not here"
run plan --model mlp --data train=200,eval=10 --device here:measure=3
test $code = 0 && grep -q '^layer .*measured ms  limit' out && grep -q 'ms a step, median of 3' out
test_is $? "plan --device here --measure: this machine's ceilings and what each layer took"
run plan --memory lots
refused 2 '16GiB' "a size that is none"
run plan --by colour
refused 2 'layer or call' "--by with another word"
run plan --data idx:nowhere
refused 3 'nowhere' "plan for data that is not there"
if command -v "$py" >/dev/null; then
	run plan --model mlp --policy float32 --by call --json
	"$py" - out <<'END'
import json, sys
p = json.load(open(sys.argv[1]))[0]
rows = {r.get("tensor"): r for r in p["rows"]}
assert rows["dense1.xw"]["macs"] == 64 * 784 * 256, rows["dense1.xw"]
assert rows["dense1.xw"]["bytes"] == 4 * (64 * 784 + 784 * 256 + 64 * 256)
assert rows["dense1.dw"]["macs"] == 64 * 784 * 256
n = 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
assert p["parameters"] == n and p["memory_bytes"]["weights"] == 4 * n and p["memory_bytes"]["masters"] == 0
# mixed precision's own: one multiply-add is two roundings of at most 2^-24 a product
assert rows["dense1.xw"]["bound"] is not None and 0 < rows["dense1.xw"]["bound"] < 784 * 2 * 2**-24 * 1.01
total = [r for r in p["rows"] if r["layer"] == "all"][0]
assert total["macs"] == sum(r["macs"] for r in p["rows"] if r is not total)
END
	test_is $? "multiply-adds, bytes and memory are the shapes' own"
	run plan --model mlp --policy mixed_float16 --json
	"$py" - out <<'END'
import json, sys
p = json.load(open(sys.argv[1]))[0]
n = 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
m = p["memory_bytes"]
assert m["masters"] == 4 * n and m["weights"] == 2 * n, m
END
	test_is $? "mixed_float16 keeps float32 masters and float16 copies"
	run plan --model convnet --data size=256,channels=3 --batch 32 --policy float32 --policy mixed_float16 \
		--policy mixed_bfloat16 --device v100 --memory 16GiB --by call --json
	"$py" - out <<'END'
import json, sys
f32, f16, b16 = json.load(open(sys.argv[1]))
calls = {p["policy"]: p["timing"]["rows"][:-1] for p in (f32, f16, b16)}
total = {p["policy"]: p["timing"]["rows"][-1]["predicted_ms"] for p in (f32, f16, b16)}
peak = {"float32": 15.7e12, "mixed_float16": 125e12}
for name, rows in calls.items():
    for r in rows:
        want = max(r["arithmetic_ms"], r["memory_ms"], r["launch_ms"])
        assert abs(r["predicted_ms"] - want) < 1e-12 and abs(r["memory_ms"] - r["bytes"] / 900e9 * 1e3) < 1e-12
        assert abs(r["launch_ms"] - 5e-3) < 1e-12
    assert abs(sum(r["predicted_ms"] for r in rows) - total[name]) < 1e-9
for name, rate in peak.items():
    r = [r for r in calls[name] if r["op"] == "conv2d" and r["layer"] == "conv2"][0]
    assert abs(r["arithmetic_ms"] - r["flops"] / rate * 1e3) < 1e-9, r
# three channels keep the first convolution off a V100's matrix units; it has none for bfloat16
first = [r for r in calls["mixed_float16"] if r["op"] == "conv2d" and r["layer"] == "conv1"][0]
assert "extent 3" in first["odd"] and abs(first["arithmetic_ms"] - first["flops"] / 15.7e12 * 1e3) < 1e-9
conv = lambda name: sum(r["arithmetic_ms"] for r in calls[name] if r["op"].startswith("conv2d"))
assert abs(conv("mixed_bfloat16") - conv("float32")) < 1e-9
assert total["mixed_float16"] < total["mixed_bfloat16"] <= total["float32"]
# what a device allocates is no less than the tensors by category, and nearly linear in the batch (t-memory tries the
# batch found and the next)
for p in (f32, f16):
    m = sum(p["memory_bytes"].values())
    assert m <= p["device_bytes"] <= (4 if p["device_bytes_bound"] else 2) * m, (m, p["device_bytes"])
    assert 0.95 <= p["largest_batch"] / (16 * 2**30 / (p["device_bytes"] / 32)) <= 1.08, p["largest_batch"]
assert f32["largest_batch"] < f16["largest_batch"]
END
	test_is $? "plan --device: each call its roofline, --memory: the largest batch"
	for side in 28 9; do
		run plan --model mlp --data size=$side --policy mixed_float16 --device v100 --by call --json
		"$py" - out $side <<'END'
import json, sys
side = int(sys.argv[2])
rows = [r for r in json.load(open(sys.argv[1]))[0]["timing"]["rows"][:-1]
        if r["op"] == "matmul" and r["layer"] == "dense1"]
assert len(rows) == 2, rows
for r in rows: # a product takes an image as one row: of 784 pixels, or of 81, which is no multiple of 8
    assert abs(r["arithmetic_ms"] - r["flops"] / (125e12 if side == 28 else 15.7e12) * 1e3) < 1e-12, r
    assert r["odd"] == ("" if side == 28 else "input.x@fp16: last extent 81"), r
END
		test_is $? "plan --device: an image of $side x $side pixels is one row of a product, and fits the "\
"matrix units if that does"
	done
	run doctor --json
	test $code = 0 && "$py" -c 'import json; d=json.load(open("out")); assert d["mpfr"] and d["threads"]>0 and '\
'"cpu" in d["backends"]'
	test_is $? "doctor --json"
fi
run doctor
test $code = 0 && grep -q '^processor ' out && grep -q 'MPFR [0-9]' out
test_is $? "doctor"
# A sum for which no kernel is written, and a build that has none: both are said where the number stands
small="--model mlp:width=0.1 --data size=9 --batch 3"
if "$HALFULP" doctor | grep -q '^back ends .* shim'; then
	run plan $small --reductions sequential,acc=bf16
	test $code = 0 && test "$(grep -c '^No device takes float32: .* adds by sequential' out)" = 1 &&
		grep -q '^float32 .* -$' out
	test_is $? "what no device takes is not counted, and the reason is said"
	run plan $small --reductions sequential,acc=bf16 --json
	grep -q '"device_bytes": null' out && grep -q '"device_refused": "[^"]* adds by sequential' out
	test_is $? "also in JSON"
else
	run plan $small
	test $code = 0 && grep -q '^It is a bound here: ' out
	test_is $? "a bound is called one"
	run plan $small --json
	grep -q '"device_bytes_bound": true' out
	test_is $? "also in JSON"
fi
finish
