#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Promise: Every reader comes back, without a leak and within its memory (AddressSanitizer), from whatever libFuzzer
# makes of a valid file or of nothing in a minute.
# The readers are compiled by clang so that libFuzzer sees which lines an input reaches; the rest is the library as it
# was built. FUZZ_SECONDS says for how long each target runs, FUZZ_TARGETS which do, FUZZ_SEED what they draw from. The
# valid files are those that u-fuzz-files damages, and some that commands write.
. "${srcdir:-.}/t/tool/tap.sh"
build=${HALFULP%/*}
clang=${CLANG:-clang}
command -v "$clang" >/dev/null || skip_all "clang is absent"
test -f "$build/Makefile" && test -f "$build/libhalfulp.a" || skip_all "no build folder beside $HALFULP"
echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && n > 1ul << 40; }' >one.c
"$clang" -fsanitize=fuzzer,address -o one one.c 2>/dev/null || skip_all "this clang has no libFuzzer"
eval "defs=($(sed -n "s/^DEFS = //p" "$build/Makefile"))"
libs=$(sed -n 's/^LIBS = //p' "$build/Makefile")
flags=(-g -O1 -std=gnu11 -ffp-contract=off -w -DHU_LIBFUZZER "-I$top" "-I$build" "${defs[@]}")
mapfile -t readers < <(find "$top/lib/store" "$top/lib/import" "$top/analyzers/drift" -name '*.c' | sort)
readers+=("$top"/lib/base/tsv.c "$top"/lib/program/json.c "$top"/trainer/data/images/{png,jpeg,image}.c
	"$top"/analyzers/expression/*.c "$top"/lib/sum/table/sum.c "$top"/lib/program/policy/policy.c
	"$top"/lib/number/block/block_name.c
	"$top"/lib/program/quantise/scheme.c "$top"/lib/import/tool/tool.c "$top"/lib/judge/kernel/graph.c
	"$top"/analyzers/validate/effect/accept.c "$top"/lib/program/pass/all_reduce.c "$top"/trainer/optim/keys.c)
mkdir objects
for source in "${readers[@]}"; do
	test -f "$source" || echo "${source#"$top"/}, which is not there" >>left
	case $source in *cmd_*.c | *_avx*.c) continue ;; esac
	name=${source#"$top"/}
	"$clang" "${flags[@]}" -fsanitize=fuzzer-no-link,address -c -o "objects/${name//\//_}.o" "$source" 2>>err ||
		echo "$name" >>left
done
test ! -s left
test_is $? "$(ls objects | wc -l) readers are compiled for libFuzzer$(sed 's/^/, but not /' left 2>/dev/null)"
# A valid file of each kind that one line makes, to begin with
for target in npz npy onnx safetensors baseline scores statistics specs image series rules pair idx run import; do
	mkdir "corpus-$target"
done
mkdir valid
make -C "$build" t/fuzz/u-fuzz-files >out 2>err &&
	HALFULP_SEEDS=$PWD/valid HALFULP_FUZZ=0 "$build/t/fuzz/u-fuzz-files" >out 2>err
test_is $? "$(ls valid | wc -l) valid files of u-fuzz-files"
for file in valid/*; do
	name=${file#valid/}
	case $name in
	*made-right) continue ;; # the same file once more
	a-run-s-trace) for kind in '\0' '\1'; do { printf "$kind"; cat "$file"; } >"corpus-run/$name${kind#?}"; done ;;
	a-run-s-manifest) { printf '\2'; cat "$file"; } >corpus-run/seed ;;
	jpeg | png) cp "$file" "corpus-image/$name" ;;
	pairs-of-tensors) cp "$file" "corpus-pair/$name" ;;
	*) cp "$file" "corpus-${name%%[-,]*}/$name" ;;
	esac
done
"${PYTHON:-python3}" -B - "$top/t/tool" <<'END' 2>err || echo "# no seeds: $(tail -n 1 err)"
import sys
sys.path.insert(0, sys.argv[1])
import npzfile, onnxfile
npzfile.npz('corpus-npz/seed', x=((3, 4), [0.5 * i for i in range(12)]), y=((2,), [1, 0], '<i8'))
onnxfile.write('corpus-onnx/seed', onnxfile.graph(
    [onnxfile.node('MatMul', 'x w', 'y', name='fc'), onnxfile.node('Relu', 'y', 'z')],
    [onnxfile.floats('w', [4, 3], [0.37 * i - 1.7 for i in range(12)])],
    [onnxfile.value('x', ['n', 4])], [onnxfile.value('z', ['n', 3])]))
npzfile.npz('corpus-pair/seed', w=((2, 3), [0.25 * i for i in range(6)]))
import os, re, struct, zlib
open('corpus-series/seed', 'w').write('step\tloss\teval_loss\n1\t0.5\t-\n2\t0.25\t0.3\n')
open('corpus-rules/seed', 'w').write('*: rel <= 1e-3\ngrad.*: cosine >= 0.9, ulps <= 4\nstep: ignore\n')
open('corpus-idx/seed', 'wb').write(struct.pack('>4B3I', 0, 0, 8, 3, 2, 2, 2) + bytes(range(8)))
chunk = lambda name, data: struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))
open('corpus-image/seed', 'wb').write(
    b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>2I5B', 2, 2, 8, 2, 0, 0, 0))
    + chunk(b'IDAT', zlib.compress(bytes(2 * (1 + 3 * 2)))) + chunk(b'IEND', b''))
top = os.path.join(sys.argv[1], '..', '..', 't', 'fuzz')
rows = re.findall(r'\{ "([^"]*)",', open(os.path.join(top, 'fuzz-specs.c')).read().split('rows[] =')[1])
for i, line in enumerate(x for x in open(os.path.join(top, 'specs.txt'), 'rb') if x[:1] != b'#'):
    name, text = line.rstrip(b'\n').split(b'\t', 1)
    open('corpus-specs/seed%d' % i if i else 'corpus-specs/seed', 'wb').write(bytes([rows.index(name.decode())]) + text)
END
o="--quiet --model mlp --data digits --policy mixed_float16 --steps 3 --batch 8 --model width=0.02 --data size=8"
for seed in 1 2 3 4; do
	"$HALFULP" train $o --seed $seed r$seed && "$HALFULP" analyze r$seed
done >/dev/null 2>err
"$HALFULP" baseline r1 -o corpus-baseline/seed --reason first >/dev/null 2>err
"$HALFULP" baseline r1 r2 r3 r4 -o corpus-scores/seed --reason first --score loss >/dev/null 2>err
for seed in 1 2 3 4; do
	"$HALFULP" train $o --seed $seed --accumulate chunk:64 s$seed && "$HALFULP" analyze s$seed
done >/dev/null 2>err
"$HALFULP" baseline r? s? -o corpus-statistics/seed --reason first --statistics >/dev/null 2>err
cp r1/checkpoint/step-000003.safetensors corpus-safetensors/seed 2>err
cp corpus-onnx/seed corpus-import/seed
srcdir=$top "${PYTHON:-python3}" -B "$top/t/import/t-nodes.py" --keep "$PWD/corpus-import" >out 2>err ||
	echo "# no models of single nodes: $(tail -n 1 err)"
npy corpus-npy/seed '(3,)' 3f800000 00000000 7f800000
test "$(ls corpus-*/seed | wc -l)" = "$(ls -d corpus-* | wc -l)"
test_is $? "$(ls corpus-*/seed | wc -l) kinds of files have a valid one to begin with"
total=0
for file in "$top"/t/fuzz/fuzz-*.c "$top/t/fuzz/x-fuzz-import.c"; do
	target=${file##*fuzz-}
	target=${target%.c}
	test "$target" = signed && continue
	case " ${FUZZ_TARGETS:-$target} " in *" $target "*) ;; *) continue ;; esac
	more=
	grep -qi fuzz_signed "$file" && more=$top/t/fuzz/fuzz-signed.c
	test "$target" = specs && more="$top/t/fuzz/fuzz-signed.c $(ls "$top"/t/fuzz/spec-*.c)"
	"$clang" "${flags[@]}" -fsanitize=fuzzer,address -o "fuzz-$target" "$file" $more objects/*.o \
		"$build/libhalfulp.a" "$build"/libhalfulp_avx*.a "$build/libhalfulp.a" $libs -lgomp -lm 2>err
	test_is $? "${file##*/} is linked"
	mkdir -p "corpus-$target"
	"./fuzz-$target" -seed="${FUZZ_SEED:-1}" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -rss_limit_mb=2048 \
		"corpus-$target" >out 2>err
	code=$?
	runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' err)
	total=$((total + ${runs:-0}))
	tail -n 4 err >out
	# A target whose reader is not among those that are compiled here covers its own lines alone, some 20
	# edges; those of libpng, which is not compiled here, do not count
	covered=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' err | tail -n 1)
	test $code = 0 && test "${runs:-0}" -gt 100 && test "${covered:-0}" -gt 30
	test_is $? "$target: ${runs:-no} inputs, cov: $covered"
done
echo "# $total inputs in all"
finish
