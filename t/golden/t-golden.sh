#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# golden: the bits of three training steps of every policy with every model, and of every optimizer, loss-scale rule and
# summation model, are those kept in t/golden/digests.tsv, at every SIMD level that this processor has, one of which the
# level auto is (with the argument auto, at that one alone). Other compilers and optimisations are other builds of the
# same test.
. "${srcdir:-.}/t/tool/tap.sh"
export HALFULP
kept=$top/t/golden/digests.tsv

# held LEVEL: the differences on standard error, a line for each row
held() {
	bash "$top/t/golden/golden.sh" --simd "$1" >made 2>err
	test $? = 0 && diff <(grep -v '^#' "$kept") <(grep -v '^#' made) >out
	test_is $? "$1: $(grep -vc '^#\|^model' "$kept") rows of t/golden/digests.tsv"
	test ! -s out || changed=yes
}

# tried LEVEL: trains a step there; chosen is the level that its run says it had
tried() {
	run train --backend simd=$1 --steps 1 --data train=2,eval=2 --batch 2 --data size=8 --model width=0.02 \
		--trace steps=none --quiet "probe-$1"
	chosen=$(sed -n 's/^ *"simd": "\([a-z0-9]*\)",$/\1/p' "probe-$1/manifest.json" 2>/dev/null)
}

if test "$1" = auto; then
	held auto
else
	tried auto
	own=$chosen has=
	for level in scalar neon avx2 avx512; do
		tried $level
		if test $code = 4 && grep -q "this processor has no $level" err; then
			skip 1 "$level: this processor has none"
		else
			held $level
			has="$has $chosen"
		fi
	done
	case "$has " in *" ${own:-none} "*) true ;; *) false ;; esac
	test_is $? "auto is one of these levels: ${own:-none}"
fi
test -z "$changed" || cat <<'END'
# Numbers of a training step are not those that this version promises. If this build alone has others (its compiler,
# flags or processor), that is a bug. If the change is meant, `make -C build golden` rewrites t/golden/digests.tsv, and
# the commit that contains the new file says which numbers changed and why.
END
finish
