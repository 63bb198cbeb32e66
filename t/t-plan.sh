#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp plan and doctor: tables from shapes alone.
. "${srcdir:-.}/t/tap.sh"
py=${PYTHON:-python3}
run plan --model mlp --policy float32 --policy mixed_float16
test $code = 0 && grep -q '^mlp, mixed_float16: compute float16, variables float32; 235146 parameters' out && grep -q '^dense1  ' out && grep -q '^memory ' out
test_is $? "plan: a table a policy, then memory by category"
test "$(grep -c '^mixed_float16 .*kB .*kB' out)" = 1
test_is $? "masters where a narrower copy is multiplied"
run plan --model convnet --program
test $code = 0 && grep -q 'conv1.xw *= conv2d *(input.x, conv1.w)' out && grep -q 'finite_check' out && grep -q 'adamw' out
test_is $? "plan --program prints the calls"
run plan --policies
test $code = 0 && grep -q '^mixed_bfloat16 ' out && grep -q '^O3 ' out
test_is $? "plan --policies lists them"
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
	run doctor --json
	test $code = 0 && "$py" -c 'import json; d=json.load(open("out")); assert d["mpfr"] and d["threads"]>0 and "cpu" in d["backends"]'
	test_is $? "doctor --json"
fi
run doctor
test $code = 0 && grep -q '^processor ' out && grep -q 'MPFR [0-9]' out
test_is $? "doctor"
finish
