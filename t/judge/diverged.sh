# SPDX-License-Identifier: Apache-2.0
# Trainings that diverge, by number: every policy, model and optimizer at learning rates from too large to absurd, so
# that infinities and NaN are everywhere. Source it after tap.sh; each must end in a verdict.
policies=($(sed -n 's/^POLICY("\([^"]*\)".*/\1/p' "$top/lib/program/policy/policies.def") compute=float16,variable=float64,list=autocast)
models=("--model mlp:width=0.1" "--model convnet:width=0.0625")
optimizers=("--optimizer adamw" "--optimizer sgd" "--optimizer sgd:momentum=0.9")
rates=(1 1e9 100 1e5 1e3)
extras=("" "" "" "--loss-scale static:1267650600228229401496703205376" "" "--loss weight=1e30" "--accumulate fma,acc=fp16" "--accumulate kahan")

# words RUN: what its analysis says, but the first number that is not finite and its operands, which are told as they are.
words() { { grep -v '^nonfinite ' out; grep -Ev '^ *"(nan|made|value)": ' "$1/analysis/summary.json"; } | sed -E 's/=-?(inf|nan)\b//g'; }

# diverge N: trains and analyzes run N in folder N and says what is wrong on standard output, nothing where all is well.
# $broken counts the runs that recorded an infinity or NaN.
broken=0
diverge() {
	local i=$1 np=${#policies[@]}
	local options="--policy ${policies[i % np]} ${models[i / np % 2]} ${optimizers[i / np / 2 % 3]} --optimizer lr=${rates[i / np / 6 % 5]} ${extras[(i + i / np) % 8]}"
	options="$options --seed $i --data size=8,train=24,eval=4 --batch 8 --steps $((2 + i % 6)) --threads 1"
	run train $options --quiet "$i"
	if test "$code" != 0; then
		echo "train $options: exit $code, $(head -c 200 err)"
		return
	fi
	run analyze --threads 1 "$i"
	test "$code" -le 1 || echo "train $options, then analyze: exit $code, $(head -c 300 err)"
	test "$code" != 1 || grep -q 'left their call' err || echo "train $options, then analyze: exit 1 without a word"
	test "$code" -gt 1 || grep -Eq '"verdict_word": "(harmless|costs|fatal|unknown)"' "$i/analysis/summary.json" || echo "train $options: no verdict"
	! words "$i" | grep -Eqw -- '-?nan|-?inf' || echo "train $options: a number in words is none: $(words "$i" | grep -Ew -m 1 -- '-?nan|-?inf' | head -c 200)"
	cut -f 3 "$i/metrics.tsv" | grep -q 'nan\|inf' && broken=$((broken + 1)) # the loss
	rm -rf "$i"
}
