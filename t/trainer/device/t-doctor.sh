#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp doctor: what it says of the machine, and of GPUs that a stub of the driver's library pretends.
. "${srcdir:-.}/t/tool/tap.sh"
py=${PYTHON:-python3}
unset CUDA_VISIBLE_DEVICES
export HALFULP_NVML=$dir/nothing.so HALFULP_POWERCAP=$dir/nothing
run doctor
test $code = 0 && test "$(grep -c -e '^processor .* threads, SIMD .* (this build uses scalar' -e '^memory ' -e \
	'^GPU         none: no NVIDIA driver' -e '^toolkit ' -e '^CUDA ' -e '^verdict .*not run fast on a processor' \
	-e '^back ends  .*cpu' -e '^BLAS ' -e '^libraries .*MPFR' -e '^gnuplot ' out)" = 10
test_is $? "without a GPU: processor, memory, toolkit, back ends, BLAS, libraries, and that mixed precision will not "\
"be fast"
test "$(grep -c -e '^back ends .* shim' -e '^missing     the kernels on the host (--backend shim)' out)" = 1
test_is $? "the kernels on the host are a back end or missing"
cp out said
run tree --backend shim --op matmul --sum fma --n 8
if grep -q '^back ends .* shim' said; then test $code = 0; else test $code = 4 && test "$(wc -l <err)" = 1; fi
test_is $? "a back end that doctor names runs"
cp said out
test "$(grep -c '^meter .*: not available, ' out)" = 2 && grep -q '^meter       rapl: not available, .*nothing' out
test_is $? "each meter, and why it does not work"
grep -q '^Keras .*its own words' out && grep -q \
	'^            The dtype policy mixed_float16 may run slowly because this machine does not have a GPU. Only '\
'Nvidia GPUs with compute capability of at least 7.0 run quickly with mixed_float16.$' out
test_is $? "Keras's sentence for a machine without a GPU"
run train --model mlp:width=0.1 --data size=8,train=64,eval=32 --batch 32 --steps 1 --trace steps=none --policy \
	mixed_float16 none
test $code = 0 && grep -q '^Keras says (tf.keras 2.x): Mixed precision compatibility check (mixed_float16): WARNING$' \
	out && grep -q '^halfulp says: mixed precision will not run fast on a processor; here it is for its numbers$' \
	out
test_is $? "train says both"
run train --model mlp:width=0.1 --data size=8,train=64,eval=32 --batch 32 --steps 1 --trace steps=none --policy \
	mixed_bfloat16 bf16
! grep -q Keras out && grep -q '^halfulp says: ' out
test_is $? "of mixed_bfloat16 Keras says nothing"
run train --model mlp:width=0.1 --data size=8,train=64,eval=32 --batch 32 --steps 1 --trace steps=none plain
! grep -q ' says' out
test_is $? "and nobody anything of float32"
run doctor more
refused 2 'takes no argument' "an argument"
mkdir -p pc/intel-rapl:0 && echo package-0 >pc/intel-rapl:0/name && echo 1000000 >pc/intel-rapl:0/max_energy_range_uj &&
	echo 5 >pc/intel-rapl:0/energy_uj
HALFULP_POWERCAP=$dir/pc run doctor
grep -q '^meter       rapl: RAPL, 1 counter' out
test_is $? "a counter that can be read"
HALFULP_BLAS=none run doctor
grep -q '^missing     a BLAS' out && grep -q '^BLAS        none' out
test_is $? "what is missing, and what brings it"
GNUPLOT=$dir/nothing run doctor
grep -q '^gnuplot     does not run' out && grep -q '^missing     gnuplot does not run.*apt-get install' out
test_is $? "gnuplot that does not run"

mkdir bin && printf '#!/bin/sh\necho "nvcc: a compiler driver"\necho "Cuda compilation tools, release 99.3, '\
'V99.3.17"\n' >bin/nvcc && chmod +x bin/nvcc
PATH=$dir/bin:$PATH run doctor
grep -q '^toolkit     99.3$' out
test_is $? "the release of the CUDA toolkit that is found first"
printf '#!/bin/sh\nexit 1\n' >bin/nvcc
PATH=$dir/bin:$PATH CUDA_HOME=$dir/none run doctor
grep -q '^toolkit     no nvcc found' out
test_is $? "and none where nvcc does not run"

# gpu NAME CAPABILITY-MAJOR MINOR CUDA: a driver's library with that GPU
gpu() {
	cat >stub.c <<END
#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { static int x; *d = &x; return i; }
int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)d; strncpy(s, "$1", n); return 0; }
int nvmlDeviceGetUUID(void *d, char *s, unsigned n) { (void)d; strncpy(s, "GPU-1-2-3", n); return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { strncpy(s, "123.45", n); return 0; }
int nvmlSystemGetCudaDriverVersion(int *v) { *v = $4; return 0; }
int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) { (void)d; *a = $2; *b = $3; return 0; }
int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) { (void)d; *mj = 7; return 0; }
END
	${CC:-cc} -shared -fPIC -o stub.so stub.c 2>err
}
export HALFULP_NVML=$dir/stub.so
if gpu "Stub 9000" 9 0 99000; then
	run doctor
	grep -q '^            Mixed precision compatibility check (mixed_float16): OK$' out && test $code = 0 &&
		grep -q '^GPU         Stub 9000, compute capability 9.0, .*GPU-1-2-3' out &&
		grep -q '^driver      123.45, CUDA 99.0: new enough' out && grep -q '^matrix      .*wgmma' out &&
		grep -q '^verdict     mixed precision will run fast: .*at least 7.0' out &&
		grep -q '^meter       nvml: NVML, Stub 9000' out
	test_is $? "a GPU of capability 9.0: name, UUID, driver, matrix units, verdict and meter"
	gpu "Stub 61" 6 1 9000
	run doctor
	grep -q '^verdict     mixed precision will not run fast: compute capability below 7.0' out &&
		grep -q '^matrix      none' out
	test_is $? "one of 6.1: not fast, and why"
	if grep -q '^toolkit     [0-9]' out; then
		grep -q '^driver .*CUDA 9.0: too old for this toolkit: update the driver' out
		test_is $? "a driver older than the toolkit"
	fi
	gpu "Tesla V100-PCIE-16GB" 7 0 99000
	run doctor
	grep -q '^            Your GPU will likely run quickly with dtype policy mixed_float16 as it has compute '\
'capability of at least 7.0. Your GPU: Tesla V100-PCIE-16GB, compute capability 7.0$' out &&
		grep -q '^verdict     mixed precision will not run fast with halfulp, whose kernels need compute '\
'capability 7.5 or newer; in a framework mixed_float16 will' out
	test_is $? "one of 7.0: Keras's promise in Keras's words, and that our kernels do not run there"
	grep -q "no compute capability from 75 to 129" "$top/m4/halfulp.m4" &&
		grep -q '7\[\[5-9\]\]|8' "$top/m4/halfulp.m4"
	test_is $? "which is where configure begins as well"
	run train --model mlp:width=0.1 --data size=8,train=64,eval=32 --batch 32 --steps 1 --trace steps=none \
		--policy mixed_float16 v100
	grep -q '^Keras says (tf.keras 2.x): Mixed precision compatibility check (mixed_float16): OK$' out &&
		grep -q 'Your GPU: Tesla V100-PCIE-16GB, compute capability 7.0$' out &&
		grep -q '^halfulp says: mixed precision will not run fast on a processor' out
	test_is $? "train says Keras's of the GPU, and ours of the back end it runs on"
	gpu "Stub 75" 7 5 99000
	run doctor --json
	test $code = 0 && "$py" - out <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["gpu"]["name"] == "Stub 75" and d["gpu"]["capability"] == 75 and d["gpu"]["uuid"] == "GPU-1-2-3"
assert d["mixed_precision_fast"] is True
assert d["keras"].startswith("Mixed precision compatibility check (mixed_float16): OK\nYour GPU will")
assert "bfloat16 will not" in d["mixed_precision"] and "blocks of 8" in d["matrix_units"]
assert [m["meter"] for m in d["meters"]] == ["rapl", "nvml"] and [m["works"] for m in d["meters"]] == [False, True]
assert isinstance(d["missing"], list) and d["blas"] and d["simd"] in d["simd_levels"]
END
	test_is $? "--json has all of it"
fi
finish
