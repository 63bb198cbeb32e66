#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# halfulp-check, where configure --enable-static-check built it: a static program below 5 MB that runs where nothing
# else is, and prints and exits as halfulp does.
. "${srcdir:-.}/t/tool/tap.sh"
small=${HALFULP%/*}/halfulp-check
test -x "$small" || skip_all "halfulp-check was not built (configure --enable-static-check)"
test "$(wc -c <"$small")" -lt 5000000
test_is $? "it is smaller than 5 MB: $(wc -c <"$small") bytes"
! ldd "$small" 2>&1 | grep -q '=>'
test_is $? "it needs no shared library"
"$small" --version >out && grep -q "^halfulp-check $("$HALFULP" --version | sed -n 's/^halfulp //p')$" out
test_is $? "its version is halfulp's"
"$small" train >out 2>err
test $? = 2 && test ! -s out && grep -q "^halfulp check: \|'train' is no command of halfulp-check, which has check "\
"and diff; halfulp has the others" err
test_is $? "it has check and diff alone"

# The same words and codes as halfulp
npy_of a.npy '(4,)' 1 2 3 4
npy_of b.npy '(4,)' 1 2 3 4+2^-21
printf 'step,loss\n0,2\n1,1.5\n' >m.csv
printf 'step,loss\n0,2\n1,1.25\n' >n.csv
train="--model mlp:width=0.125 --data size=8,train=128,eval=32 --batch 32 --epochs 1 --quiet --policy mixed_float16"
"$HALFULP" train $train run && "$HALFULP" train $train --optimizer lr=0.002 rate && "$HALFULP" analyze run >/dev/null &&
	"$HALFULP" analyze rate >/dev/null && "$HALFULP" baseline run -o base.tsv --reason x >/dev/null
while read -r line; do
	"$HALFULP" $line >out 2>err </dev/null
	code=$?
	"$small" $line >out2 2>err2 </dev/null
	test $? = $code && cmp -s out out2 && cmp -s err err2
	test_is $? "the same words and exit $code: $line"
done <<'END'
check b.npy --baseline a.npy
check b.npy --baseline a.npy --rule arr*:exact --format junit
check a.npy --baseline a.npy --json
diff a.npy b.npy
check n.csv --baseline m.csv --format gitlab
check n.csv --baseline m.csv --format sarif
check run --baseline base.tsv
check rate --baseline base.tsv --format markdown
check rate --baseline run
diff run rate
diff run run --json
check nowhere --baseline base.tsv
baseline run -o base.tsv
END
if command -v "${PYTHON:-python3}" >/dev/null; then
	"${PYTHON:-python3}" -c 'import zipfile; z = zipfile.ZipFile("z.npz", "w"); z.write("a.npy", "arr.npy")'
	"$small" check z.npz --baseline z.npz >out 2>err
	code=$?
	test $code = 0 || { test $code = 3 && test "$(cat err)" = \
		"halfulp check: z.npz: this halfulp-check was linked without libzip and reads no .npz: save .npy or "\
".safetensors instead, or use halfulp"; }
	test_is $? "an .npz is read, or a sentence says that this build cannot: exit $code"
else
	skip 1 "python3 is absent"
fi

# A folder with nothing in it but the program and the files
mkdir root && cp "$small" a.npy b.npy root
if test "$(id -u)" = 0 && chroot root /halfulp-check --version >/dev/null 2>&1; then
	chroot root /halfulp-check check b.npy --baseline a.npy --rule 'arr*: exact' >out 2>err
	test $? = 1 && head -n 1 out | grep -q 'one value of 4 is .*off\|: 4 -> '
	test_is $? "it runs in a root of its own, without /proc, /etc or any library"
else
	skip 1 "chroot needs root"
fi
finish
