#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu.sh --dry: every part of the script that a machine with a GPU runs, with the launch shim in the GPU's place
# and tiny sizes, so that what it does and how it judges is proven where there is none.
. "${srcdir:-.}/t/tool/tap.sh"
unset HALFULP_SIMD
"$HALFULP" doctor | grep -q '^back ends .* shim' || skip_all "this build has no launch shim"
dry() { (cd "$dir" && HALFULP=$1 bash "$top/bench/gpu.sh" --dry "${@:2}") >out 2>err </dev/null; code=$?; }

dry "$HALFULP" --out all
test $code = 0 && tail -n 1 out | grep -q ' parts passed$' && test "$(column all/summary.tsv verdict | sort -u)" = passed
test_is $? "every part passes: $(tail -n 1 out | sed 's/.*: //')"
missing=
for t in gemm parity probe summary train-mlp train-convnet why; do test -s "all/$t.tsv" || missing="$missing $t"; done
test "$(column all/summary.tsv part | wc -l)" -ge 15 && test -z "$missing"
test_is $? "one folder of tables${missing:+, but without$missing}"
bad=
for t in all/*.tsv; do
	for key in gpu driver clocks toolkit; do test "$(grep -c "^# $key: " "$t")" = 1 || bad="$bad $t:$key"; done
done
test -z "$bad"
test_is $? "each with device, driver, clocks and toolkit in its head, once${bad:+, but not$bad}"
test "$(column all/parity.tsv equal | sort -u)" = yes && test "$(column all/parity.tsv gemm | sort -u | tr '\n' ' ')" = "mma simt " && test "$(column all/parity.tsv digest | sort -u | wc -l)" -ge 5
test_is $? "digests are the CPU's, and differ from training to training"
test "$(column all/probe.tsv verdict | grep -c DIFFERS)" = 0 && test "$(column all/probe.tsv probe | grep -c '^random$')" = 20
test_is $? "probes and random operands of 20 instructions"

# A program that fails but for one command, and one whose digests are wrong
printf '#!/bin/sh\ntest "$1" = doctor && exec "%s" "$@"\nexit 4\n' "$HALFULP" >broken
cat >lying <<END
#!/bin/bash
case "\$*" in *"--backend cpu"*) set -- "\${@/--seed=1/}" --seed 2 ;; esac
test "\$1" = train || exit 0
exec "$HALFULP" "\$@"
END
chmod +x broken lying
dry "$dir/broken" --out some
test $code = 1 && test "$(column some/summary.tsv verdict | grep -c '^passed$')" = 1 && test "$(column some/summary.tsv verdict | grep -c '^failed$')" = $(($(column all/summary.tsv part | wc -l) - 1))
test_is $? "a part that fails stops no other, and the exit code says so"
dry "$dir/lying" --out lies
test $code = 1 && test "$(column lies/parity.tsv equal | sort -u)" = no && test "$(paste <(column lies/summary.tsv part) <(column lies/summary.tsv verdict) | grep -c '^train-[mc].*failed$')" = "$(column lies/parity.tsv equal | wc -l)"
test_is $? "another digest than the CPU's fails its part"
# A bundle, in a root with nothing of ours: it starts, trains, and finds the digests that were packed
pack() { exec bash "$top/bench/gpu.sh" --dry --bundle bundle.tgz --build "${HALFULP%/*}" "$@" >out 2>err </dev/null; } # in a subshell: (pack)
made() { ls bundle.tgz.parts/reference 2>/dev/null | grep -v 'part$'; }
(pack) &
until test "$(made | wc -l)" -ge 3 || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
kill $! && ! wait $! && test ! -e bundle.tgz && kept=$(made | wc -l) && test "$kept" -ge 3
test_is $? "a bundle that is stopped is no file, and keeps the ${kept:-0} trainings that were done"
sed -i '2s/^/x/' bundle.tgz.parts/reference/"$(made | head -n 1)"
(pack)
code=$?
before=$(sed -n 's/^gpu.sh: --bundle: \([0-9]*\) of .* from before.*/\1/p' err)
test $code = 0 && test "${before:-0}" -ge "${kept:-1}" && test ! -e bundle.tgz.parts &&
	tar -xzOf bundle.tgz --wildcards '*/reference/*' | grep -q '^x'
test_is $? "called again it takes those as they are: ${before:-0} of them"
(pack)
code=$?
test $code = 0 && ! grep -q before err && grep -q ' trainings$' out && mkdir root && cp bundle.tgz root/
test_is $? "a bundle: $(sed 's/.*: //' out)"
cp bundle.tgz all.tgz
(pack --only 'digests-mlp') && test "$(tar -tzf bundle.tgz | grep -c 'reference/mlp-')" -gt 5 && ! tar -tzf bundle.tgz | grep -q 'reference/[a-ln-z]'
test_is $? "one with the digests of one part alone"
clean() { bash "$top/t/tool/clean-root.sh" root "$@" >out 2>err </dev/null; code=$?; }
clean tar -C /tmp -xzf /bundle.tgz
if test $code = 125; then
	skip 4 "this user may not change roots: $(head -n 1 err)"
else
	clean /tmp/halfulp-gpu/bench/gpu.sh --dry --out /tmp/r --only 'd*'
	test $code = 0 && test "$(column root/tmp/r/summary.tsv verdict | sort | uniq -c | tr -s ' ')" = " $(($(grep -c '^MODEL(' "$top/trainer/model/models.def") + 1)) passed" && test "$(column root/tmp/r/digests.tsv equal | sort -u)" = yes && test -s root/tmp/r.tar.gz
	test_is $? "in a clean root its trainings have the digests that were packed"
	sed -i 's/0x./0x0/' root/tmp/halfulp-gpu/reference/mlp-tf32-tc:hopper
	clean /tmp/halfulp-gpu/bench/gpu.sh --dry --out /tmp/s --only 'digests-mlp'
	test $code = 1 && test "$(column root/tmp/s/digests.tsv equal | grep -c no)" = 1
	test_is $? "and one that is another is seen"
	clean /tmp/halfulp-gpu/bench/gpu.sh --list --only 'digests-[!p]*' --out /tmp/s
	test $code = 0 && test "$(column out part | wc -l)" = "$(grep -c '^MODEL(' "$top/trainer/model/models.def")" && test "$(column out verdict | sort -u | tr '\n' ,)" = 'failed,not run,'
	test_is $? "its parts are listed, and what became of them"
	clean /tmp/halfulp-gpu/bench/gpu.sh
	refused 4 'no driver, or no GPU' "without a driver"
fi
finish
