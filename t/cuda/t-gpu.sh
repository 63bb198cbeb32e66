#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh --dry, the script that a machine with a GPU runs, in its smallest parts: how it judges, resumes and
# refuses. All parts and the bundle in a root without our libraries are x-gpu.sh's.
. "${srcdir:-.}/t/tool/tap.sh"
unset HALFULP_SIMD
"$HALFULP" doctor | grep -q '^back ends .* shim' || skip_all "this build has no launch shim"
dry() { (cd "$dir" && HALFULP=$1 bash "$top/bench/gpu.sh" --dry "${@:2}") >out 2>err </dev/null; code=$?; }

# A program that fails but for one command
printf '#!/bin/sh\ntest "$1" = doctor && exec "%s" "$@"\nexit 4\n' "$HALFULP" >broken
chmod +x broken
dry "$dir/broken" --out some --only 'd*'
test $code = 1 && test "$(column some/summary.tsv verdict | grep -c '^passed$')" = 1 && test "$(column some/summary.tsv verdict | grep -c '^failed$')" = $(($(column some/summary.tsv part | wc -l) - 1))
test_is $? "a part that fails stops no other, and the exit code says so"
dry "$HALFULP" --out none --minutes 0
test $code = 1 && test "$(column none/summary.tsv verdict | sort -u)" = "not run: no time left"
test_is $? "what there is no time for is said"
dry "$HALFULP" --out part --only 'doctor'
rm -rf part
dry "$HALFULP" --out part --only 'd*-mlp'
test $code = 0 && test "$(column part/summary.tsv part | tr '\n' ' ')" = "doctor digests-mlp " && test "$(cut -f 1 out | grep -c '^doctor')" = 0 && test "$(column part/digests.tsv equal | sort | uniq -c | tr -s ' ')" = " 6 yes"
test_is $? "the archive alone brings a first call's results back, and its parts are not repeated"
echo no >none.tar.gz
rm -rf none
dry "$HALFULP" --out none --only doctor
refused 3 'not an archive of results' "a file that is no archive is not written over"

bash "$top/bench/gpu.sh" --from out >out2 2>err </dev/null
code=$?
mv out2 out
refused 3 'this is no bundle' "another file than a bundle"
(PATH=/usr/bin:/bin bash "$top/bench/gpu.sh" --out gone) >out 2>err </dev/null
code=$?
if command -v nvidia-smi >/dev/null; then :; else
	refused 4 'no NVIDIA GPU' "without --dry and without a GPU"
fi
dry "$HALFULP" --out two --only 'd*-mlp,doctor'
test $code = 0 && test "$(column two/summary.tsv part | tr '\n' ' ')" = "doctor digests-mlp "
test_is $? "a list of patterns names the parts of each"
rm -rf none none.tar.gz
dry "$HALFULP" --out none --only 'doctor,nothing'
refused 3 'has such a name' "a pattern that names no part, before any part runs"
test ! -e none.tar.gz && ! test -s none/parts
test_is $? "and nothing is written"
over= all=0
for call in 1 2 3; do
	seconds=$(sed -n "s/^\t'\([0-9]*\) .*/\1/p" "$top/bench/gpu-trainings.sh" | sed -n ${call}p)
	limits=$(bash "$top/bench/gpu.sh" --list --call $call | sed -n 's/^all	\([0-9]*\)	.*/\1/p')
	test "${limits:-0}" -ge 100 && test $limits -le $seconds || over="$over $call"
	all=$((all + seconds))
done
test -z "$over" && test $all -le 1600
test_is $? "the limits of a lease's three calls add up to the seconds of each${over:+, but not of call$over}"
bash "$top/bench/gpu.sh" --list --call 4 >out 2>err </dev/null
code=$?
refused 2 'has the calls 1 to 3' "a call that a lease does not have"
bash "$top/bench/gpu.sh" --wet >out 2>err </dev/null
code=$?
refused 2 '--wet' "an unknown option"
finish
