#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --backend gemm=: what computed each product is in the manifest, and nothing falls back in silence.
. "${srcdir:-.}/t/tool/tap.sh"
"$HALFULP" train --backend shim --steps 1 --data train=16,eval=16 --batch 16 --data size=8 --model width=0.1 --quiet probe >/dev/null 2>probe.err
grep -q "no C++ compiler" probe.err && skip_all "the kernels are not compiled for the host"
small="--model mlp --policy mixed_float16 --data train=32,eval=16 --batch 16 --data size=8 --model width=0.1 --steps 2 --quiet"

run train --backend shim:gemm=wgmma $small a
refused 2 "gemm=wgmma: there is no way of that name" "an unknown way"
run train --backend gemm=simt $small a
refused 2 "--backend gemm= has no effect with --backend cpu" "a way on the CPU"
run train --backend shim:gemm=mma $small a
refused 4 "gemm=mma: no matrix unit .* computes fma,acc=fp32 (call 2, layer dense1) of fp16 and fp16: choose the summation model tc:hopper, or gemm=simt" "a sum that no matrix unit computes"
unset HALFULP_CUBLASLT_HOST
run train --backend shim:gemm=cublas $small a
refused 4 "gemm=cublas: the shim has no cuBLAS" "cuBLAS where there is none"
test ! -e a
test_is $? "none of these made a run"

for way in mma bulk simt auto; do
	run train --backend shim:gemm=$way --accumulate tc:ampere $small $way
	test $code = 0 && grep -q "\"asked\": *\"$way\"" $way/manifest.json
	test_is $? "a run with --backend gemm=$way, recorded as asked for"
done
grep -q '"ran": *"mma.sync fp16 to fp32' mma/manifest.json && ! grep -q '"ran": *"simt' mma/manifest.json && grep -q '"ran": *"simt plain' simt/manifest.json && ! grep -q '"ran": *"mma' simt/manifest.json && grep -q '"ran": *"mma.sync' auto/manifest.json
test_is $? "and what computed each product"
test "$(column mma/metrics.tsv digest)" = "$(column simt/metrics.tsv digest)" && test "$(column mma/metrics.tsv digest)" = "$(column auto/metrics.tsv digest)"
test_is $? "all three ways, the same digests"
test "$(column mma/metrics.tsv digest)" = "$(column bulk/metrics.tsv digest)"
test_is $? "and those of --backend gemm=bulk"
run verify --backend cpu mma
test $code = 0 && grep -q "2 steps re-executed, every digest is the recorded one" out
test_is $? "verified on the CPU"
run verify --backend gemm=simt mma
test $code = 0 && grep -q "every digest is the recorded one" out
test_is $? "verified by another way"
sed 's/"gemm": *"mma"/"gemm": "cublas"/' mma/manifest.json >changed && mv changed mma/manifest.json
run verify --backend cpu mma
refused 4 "cuBLAS.*no other back end has" "a run of cuBLAS on another back end"

# cuBLAS by a library of the host (t/stub)
if ${CC:-cc} -std=gnu11 -O1 -shared -fPIC -I"$top" -o cublaslt.so "$top/t/stub/cublaslt.c" -lm 2>/dev/null; then
	export HALFULP_CUBLASLT_HOST=$dir/cublaslt.so
	run train --backend shim:gemm=cublas $small library
	test $code = 0 && grep -q '"ran": *"cublasLt 130000 algo 66 tile 20 .* workspace 0"' library/manifest.json && ! grep -q '"ran": *"[^c]' library/manifest.json
	test_is $? "a run with --backend gemm=cublas; the algorithm's words are in the manifest"
	run verify library
	test $code = 0 && grep -q "every digest is the recorded one" out
	test_is $? "the same algorithms, the same digests"
	test "$(grep -c '"m [0-9]* n .* cublasLt 130000 workspace 0 words 0000000000000042 ' library/manifest.json)" -gt 4
	test_is $? "which are in the manifest in the library's own words"

	# Slices of k change sums: an algorithm that was chosen anew shows
	small=${small/mixed_float16/float32}
	STUB_SLICES=3 run train --backend shim:gemm=cublas $small sliced
	run verify sliced
	test $code = 0 && grep -q "every digest is the recorded one" out
	test_is $? "another choice by now: the recorded algorithms are used"
	run verify --backend gemm=cublas sliced
	test $code = 1 && grep -q "is the first that differs" out
	test_is $? "chosen anew on request, they differ"
	run train --backend shim:gemm=cublas $small --checkpoint-every 1 --steps 4 whole
	STUB_SLICES=3 run train --backend shim:gemm=cublas $small --checkpoint-every 1 --steps 4 whole3
	HALFULP_SHIM_LOSE_AFTER=400 STUB_SLICES=3 run train --backend shim:gemm=cublas $small --checkpoint-every 1 --steps 4 lost
	test $code = 4 && run train --resume --quiet lost
	test $code = 0 && test "$(column lost/metrics.tsv digest)" = "$(column whole3/metrics.tsv digest)" && test "$(column whole/metrics.tsv digest)" != "$(column whole3/metrics.tsv digest)"
	test_is $? "so they are when a run goes on"
	STUB_VERSION=130001 run verify sliced
	refused 4 "the recorded algorithm for .* is cuBLASLt 130000's, and cuBLASLt 130001 does not take it" "another version of the library"
	sed 's/words 0000000000000042/words 0000000000000043/' sliced/manifest.json >changed && mv changed sliced/manifest.json
	run verify sliced
	refused 4 "cuBLASLt 130000 does not take it (status 15)" "words that the library does not know"
	sed 's/words 0000000000000043/words none/' sliced/manifest.json >changed && mv changed sliced/manifest.json
	run verify sliced
	refused 3 "line 1 names no algorithm of cuBLASLt" "no words"
	run train --backend shim:gemm=cublas --accumulate chunk:8 $small a
	refused 4 "gemm=cublas: cuBLASLt sums in fp32, in an order of its own" "a sum that cuBLAS does not compute"
fi
finish
