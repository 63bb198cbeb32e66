#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CONTRIBUTING's "Adding things" holds: on a copy of the sources a number format is added as one row; a data set, a
# model, an optimizer, an analyzer that check holds and a figure as one file and one row each, a pointwise operator with
# its line of arithmetic beside, a reduction with its case and the row of its attribute, and what
# rows.sh, kinds.sh and shares.sh name.
# What `make lists`, `make defaults`, `make golden` and t-columns' --update write is not counted, and no other line is
# edited. The copy builds, the tests of those parts pass, help and pages show each, and each works.
here=$PWD
. "${srcdir:-.}/t/tool/tap.sh"
. "$top/t/cli/add/rows.sh"
. "$top/t/cli/add/kinds.sh"
. "$top/t/cli/add/shares.sh"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL TESTS # the copy's make runs tests of its own choice
skip() { echo "1..0 # SKIP $1"; rm -rf "$dir"; exit 0; }
command -v automake >/dev/null || skip "new files need automake"
test -x "$here/config.status" || skip "there is no configured build here to configure the copy as"

mkdir tree && tar -C "$top" -cf - --exclude=./.git --exclude=./build --exclude=./_build --exclude=./autom4te.cache \
	--exclude='*.o' --exclude='*.a' \
	--exclude=./runs . | tar -C tree -xf - && chmod -R u+w tree
test_is $? "a copy of the sources"

sums() { (cd "$dir/tree" && find . -path ./b -prune -o -type f -print | sed 's|^\./||' | sort | xargs md5sum); }
sums >before
cp tree/t/golden/digests.tsv digests

# append TABLE ROW: one row behind the last one, or before the one that BEFORE begins with
append() { printf '%s\n' "$2" >>"tree/$1"; }
before() { awk -v start="$2" -v row="$3" 'index($0, start) == 1 { print row } { print }' "tree/$1" >table &&
	cp table "tree/$1"; }

append lib/number/formats.def 'FORMAT(E5M4, "e5m4", 10, 5, 5, -14, 15, 0x1.fp15, IEEE, "toyfloat", "a toy of ten bits")'

append lib/op/element/rows/function.def 'POINTWISE(toyop, 1, HU_NEG(c, a), 1, "a toy: the negative", NO_KEYS, '\
'GRAD("neg", "d0", "i0"), PLAIN, TOTAL, mpfr_neg(y, a, RN))'

# An operator that is no formula: a reduction, with its case and an attribute of its own
append lib/op/ops.def 'OP(toysum)'
append lib/op/attrs.def 'ATTR(toyflag, FLAG, 0)'
append t/op/cases/groups.def 'CASE(toysum, "toyflag=1", "x:50x7", "x")'
sed 's/^   bias_db: .*/   toysum: y = the sums over the rows. *\//; s/"bias_db"/"toysum"/; s/hu_op_bias_db/hu_op_toysum/
	s/gradient of a bias: /toy: /
	s/\.nout = 1,/.nout = 1, .attrs = "toyflag",/; s/HU_PARITY_EXACT/HU_PARITY_NONE/' tree/lib/op/kind/bias_db.c \
		>tree/lib/op/kind/toysum.c

append lib/sum/sums.def 'SUM(TOYORDER, toyorder, NOTHING, ACC)'
cat >tree/lib/sum/model/toyorder.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   toyorder: a toy, fused multiply-adds from the last term to the first. */
#include "lib/sum/model/run.h"

HU_SUM_RUN(toyorder)
{
	hu_format f = hu_format_of(s.acc);
	double acc = 0;

	for (size_t k = n; k--;)
		acc = hu_model_fma(acc, a[k], b[k], f, s.mode, draw, k, count);
	return acc;
}

#ifndef __cplusplus
#include "lib/sum/model/row.h"

static hu_sum_bound
bound(hu_sum s, double n, double u, double outer_u)
{
	(void)s;
	(void)outer_u;
	return hu_bound_met(n, u, n);
}

static void
roundings(hu_roundings *r, hu_sum s, double n)
{
	hu_roundings_add(r, hu_format_of(s.acc), s.mode, s.bits, n);
}

static hu_order *
order(hu_sum s, size_t n)
{
	hu_order *o = NULL;

	(void)s;
	while (n--)
		o = hu_order_node(o, hu_order_leaf(n));
	return o;
}

const hu_sum_model hu_sum_model_toyorder = {
	.words = "a toy: fma from the last term to the first",
	.run = hu_sum_run_toyorder,
	.bound = bound,
	.roundings = roundings,
	.order = order,
};
#endif
END

append trainer/data/datasets.def 'DATASET(toydata, "", "", "a toy of three classes")'
cat >tree/trainer/data/toydata.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   "toydata": five numbers a row, the largest of the first three of which is the class. */
#include "trainer/data/data.h"

hu_status
hu_dataset_toydata(hu_dataset *ds, const char *arg, const hu_dataset_options *o)
{
	hu_data_array *x, *labels;

	(void)arg;
	ds->n_train = 480;
	ds->n_eval = 90;
	HU_TRY(hu_dataset_add(ds, o, "x", HU_ARRAY_FLOATS, hu_shape1(5), 0, &x));
	HU_TRY(hu_dataset_add(ds, o, "labels", HU_ARRAY_BYTES, hu_shape0(), 3, &labels));
	for (size_t i = 0; i < 570 && !o->dimensions_only; i++) {
		((unsigned char *)labels->values)[i] = (unsigned char)(i % 3);
		for (size_t k = 0; k < 5; k++)
			((float *)x->values)[5 * i + k] = k == i % 3 ? 1 : 0.0625f * (float)((i + k) % 5);
	}
	return HU_OK;
}
END

append trainer/model/models.def \
	'MODEL(toymodel, "sgd", 0.1, 30, "x[n,...] labels[n]:class", "toysize", "a toy: one dense layer")'
cat >tree/trainer/model/toymodel.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   "toymodel": one dense layer. */
#include "trainer/model/models.h"

#include "trainer/model/loss/layer_loss.h"

void
hu_model_toymodel(hu_program *p, const hu_model_sizes *s, int eval)
{
	int x = hu_layer_input(p, s, "x"), n = s->toysize > 1 ? s->toysize : 1;

	(void)eval;
	for (int i = 1; i < n; i++)
		x = hu_layer_dense(p, i, x, 4);
	x = hu_layer_dense(p, n, x, hu_layer_classes(s, "labels"));
	for (int i = 1; i <= 2; i++) /* the sign changes twice */
		x = hu_layer_activation(p, "toyop", i == 1 ? "toy1" : "toy2", "y", &x, 1, NULL, 0);
	hu_layer_loss(p, s, x, "labels");
}
END

append trainer/optim/optims.def 'OPTIM(toyoptim, 1e-1, 0, 0, 0, "", "a toy: gradient descent")'
cat >tree/trainer/optim/toyoptim.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   "toyoptim": the calls of sgd without momentum. */
#include "trainer/optim/optim.h"

void
hu_optim_toyoptim(hu_program *p, const hu_optim_options *o, int found)
{
	hu_optim_options plain = { .row = o->row, .lr = o->lr };

	hu_optim_sgd(p, &plain, found);
}
END

append trainer/model/loss/losses.def 'LOSS("toyloss", toyloss, 1, "weight", "a toy: cross-entropy")'
cat >tree/trainer/model/loss/toyloss.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   "toyloss": cross-entropy by another name. */
#include "trainer/model/loss/parts.h"

void
hu_loss_toyloss(hu_program *p, const hu_model_sizes *s, int x, int labels, int weight)
{
	hu_loss_entropy(p, s, "softmax_xent", x, labels, weight);
}
END

before analyzers/run/analyzers.def 'ANALYZER(summary' 'ANALYZER(toyanalysis, "toyanalysis", 0, "steps")'
cat >tree/analyzers/run/toyanalysis.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   toyanalysis.tsv: how many calls a traced step has. */
#include "analyzers/run/analyzer.h"

static hu_status
end(hu_analysis *a, void *tables)
{
	hu_tsv out;

	(void)tables;
	hu_analysis_begin(a, &out, "toyanalysis", "step calls");
	for (int i = 0; i < a->nstep; i++) {
		hu_tsv_int(&out, (long long)a->step[i]);
		hu_tsv_int(&out, a->run->train->nc);
	}
	hu_str_addf(&a->said, "%d calls a step", a->run->train->nc);
	hu_status st = hu_analysis_write(a, &out, "toyanalysis.tsv");
	hu_tsv_release(&out);
	return st;
}

static const hu_held_column held[] = {
	{ "toyanalysis", "step", "calls", HU_HELD_AGAINST_UP },
	{ NULL, NULL, NULL, HU_HELD_AGAINST_UP },
};

const hu_analyzer hu_analyzer_toyanalysis = { "toyanalysis", "a toy: calls of a step", .end = end, .held = held };
END
cat >tree/t/judge/independent/toyanalysis.py <<'END'
# SPDX-License-Identifier: Apache-2.0
# toyanalysis.tsv: how many calls a traced step has.
HELD = {'toyanalysis': ('step', {'calls': 'up'})}


def tables(run, states):
    return {'toyanalysis': [{'step': step, 'calls': len(run.calls)} for step in run.steps]}
END

before reports/figures.def 'FIGURE("difference"' \
	'FIGURE("toyfigure", EACH, "analysis/toyanalysis.tsv step calls need calls", "", "{sum calls} calls", "A toy", '\
'"Each mark is a traced step.")'
cat >tree/reports/figures/toyfigure.gp <<'END'
# SPDX-License-Identifier: Apache-2.0
# Calls of each traced step.
load 'style.gp'
do for [format in formats] {
	eval canvas(format, 860, 260)
	plot file using (column('step')):(column('calls')) with points pt 7 lc rgb run_colour notitle
}
unset output
END

add_rows
add_kinds
add_shares

# What CONTRIBUTING names beside: the lists, then the texts and digests that the rows make
cd tree && mkdir b && cd b || exit 1
eval "set -- $("$here/config.status" --config)"
{ bash ../t/tool/lists.sh --update .. && ../configure "$@" --with-cuda=no && make -j"$(nproc)" -s && make -s defaults &&
	srcdir=.. HALFULP=$PWD/halfulp bash ../t/cli/t-columns.sh --update && make -s golden; } >"$dir/out" 2>"$dir/err"
test_is $? "it builds, with make lists, make defaults, make golden and the page of columns"
test -x halfulp || { finish; exit; }
HALFULP=$PWD/halfulp
cd "$dir" || exit 1

# Nothing but the rows and files above differs from the sources
diff before <(sums) | sed -n 's/^[<>] [0-9a-f]*  //p' | sort -u |
	grep -vE '^(Makefile\.in|aclocal\.m4|configure~?|autom4te\.cache/.*|.*/__pycache__.*)$' |
	grep -vE '^(folders|[a-z/]*local)\.mk$' |
	grep -vE '^(commands\.def|cuda/kernel/kernels\.def|doc/(columns|defaults)\.md|lib/sum/model/device\.inc)$' |
	grep -vE '^t/golden/(digests\.tsv|outputs/.*\.txt)$' >edited
{ rows_edited; kinds_edited; shares_edited; printf '%s\n' analyzers/run/analyzers.def \
	analyzers/run/toyanalysis.c lib/number/formats.def \
	lib/op/attrs.def \
	lib/op/element/rows/function.def \
	lib/op/kind/toysum.c lib/op/ops.def lib/sum/model/toyorder.c lib/sum/sums.def \
	reports/figures.def reports/figures/toyfigure.gp \
	t/judge/independent/toyanalysis.py t/op/cases/groups.def t/op/cases/moves.def \
	trainer/data/datasets.def trainer/data/toydata.c trainer/model/loss/losses.def \
	trainer/model/loss/toyloss.c \
	trainer/model/models.def trainer/model/toymodel.c trainer/optim/optims.def trainer/optim/toyoptim.c
} | sort -u >want
diff edited want >out
test_is $? "rows and files as CONTRIBUTING has them, and no other file is edited"
diff digests tree/t/golden/digests.tsv >out
tab=$(printf '\t')
new="toymodel|[a-z0-9]*${tab}toypolicy|[a-z]*$tab[a-z0-9_]*$tab--optimizer toyoptim"
new="$new|[a-z]*$tab[a-z0-9_]*$tab--accumulate toyorder[^$tab]*"
test -s out && ! grep '^[<>]' out | grep -vqE "^> ($new)$tab"
test_is $? "no digest that was there has changed"

# Help and pages
run train --help
grep -q 'toydata: a toy of three classes' out && grep -q 'toymodel: a toy: one dense layer' out &&
	grep -q ' toyoptim' out && grep -q 'toymodel: 30' out
test_is $? "train --help shows the data set, the model with its batch, and the optimizer"
run analyze --help
grep -q 'only LIST.* toyanalysis' out || tr '\n' ' ' <out | grep -q 'a comma between two:.*toyanalysis'
test_is $? "analyze --help shows the analyzer"
run formats
grep -q '^e5m4 .* toyfloat' out
test_is $? "formats has a row for the format"
run formats toyfloat
test $code = 0 && grep -q 'a toy of ten bits' out
test_is $? "and a page under its other name"
grep -q 'toydata: a toy' tree/doc/defaults.md && grep -q 'toyanalysis' tree/doc/defaults.md
test_is $? "doc/defaults.md has them"
run op list
grep -q '^ *toyop .*a toy: the negative' out
test_is $? "op list shows the operator"
run train --model toymodl t
refused 2 'did you mean toymodel' "a name near the model's"
run train --model nothing t
refused 2 'toymodel' "a name near none: the rows are listed"
run train --data nothing t
refused 2 'toydata' "and those of the data sets"
run train --optimizer nothing t
refused 2 'toyoptim' "and those of the optimizers"
run round 1.03 --format e5m4
test $code = 0 && grep -q '^e5m4  *1  *0x0f0 ' out # halves of an ulp, 2^-5, are above 0.03
test_is $? "a number is rounded to the format"

# The program uses them together
run train --model toymodel --data toydata --optimizer toyoptim --policy mixed_float16 --epochs 4 --quiet r
test $code = 0 && test "$(last r/metrics.tsv eval_accuracy)" = 1
test_is $? "the model learns the data with the optimizer: accuracy $(last r/metrics.tsv eval_accuracy)"

run train --model mlp --data toydata --loss toyloss --epochs 4 --quiet lost
test $code = 0 && run train --model mlp --data toydata --epochs 4 --quiet usual && test $code = 0 &&
	cmp lost/grads.tsv usual/grads.tsv
test_is $? "the loss trains"
run train --model mlp --data toydata --loss toyloss:label_smoothing=0.1 t
refused 2 'no effect with --loss toyloss, which does not read it' "a key of another loss"
run train --model mlp --data toydata --policy compute=e5m4 --steps 3 --quiet narrow
test $code = 0 && grep -q '"e5m4"' narrow/program-train.json
test_is $? "a policy computes in the format"
run verify narrow
test $code = 0
test_is $? "and the run is verified"
run analyze r
test $code = 0 && grep -q '^toyanalysis  *[0-9]* calls a step' out &&
	test "$(column r/analysis/toyanalysis.tsv step | tr '\n' ' ')" = "0 63 "
test_is $? "analyze runs the analyzer"
run baseline r -o b.tsv --reason 'a toy'
test $code = 0 && grep -q '^toyanalysis/0/calls	' b.tsv
test_is $? "check holds the column that the analyzer names"
run tree --backend cpu --op toysum --n 16
test $code = 0 && grep -q '^cpu: toysum, values in fp32' out
test_is $? "tree reveals the order of the reduction's sums"
# 2048 + 1 is 2048 in fp16, and 1 + ... + 1 + 2048 is not: a sum of 2048, 1, 1 from its end is 2050
run calc --format fp16 --sum toyorder 'sum(2048, 1, 1)'
test $code = 0 && grep -q '^fp16  *2050 ' out
test_is $? "calc sums by the summation model"
run accumulate --terms ones --n 1000 --format bf16 --sum toyorder
test $code = 0 && grep -q 'toyorder,acc=bf16' out
test_is $? "and accumulate"
run accumulate --terms ones --sum toyordr
refused 2 'did you mean toyorder' "a name near the model's"
run tree --backend cpu --op matmul --sum toyorder --n 8
test $code = 0 && grep -q '^  0x[0-9a-f]*  toyorder$' out
test_is $? "tree reveals its order, which is the documented one"
run train --model toymodel --data toydata --accumulate toyorder,acc=fp16 --steps 3 --quiet summed
test $code = 0 && run verify summed && test $code = 0
test_is $? "a policy adds by the model, and the run is verified"
if command -v gnuplot >/dev/null; then
	run report r
	test $code = 0 && test -s r/report/toyfigure.svg && grep -q 'Each mark is a traced step' r/report/index.html
	test_is $? "report draws the figure"
fi

try_rows
try_kinds
try_shares

# The tests of those parts
tests="$rows_tests $kinds_tests t/tool/t-lists t/cli/t-defaults t/cli/t-help t/tool/t-floors t/tool/t-rooms
	t/number/u-format t/number/u-round t/number/u-code t/number/bulk/u-bulk t/trainer/data/u-digits t/trainer/train/t-train
	t/analyzers/run/t-analyze t/judge/t-independent t/golden/t-golden t/reports/t-report t/store/u-run
	t/op/u-op-table t/op/u-gradient t/op/u-enclose t/op/u-performed t/cuda/u-cuda-op t/cuda/u-cuda-choice"
# In one go, two at a time where there are two cores; a test that did not end has no result
make -C tree/b -s -k -j"$(nproc)" check-some TESTS="$(echo $tests)" >out 2>err
for t in $tests; do
	grep -qs '^:global-test-result: PASS' "tree/b/$t.trs"
	test_is $? "$t passes"
done

make -C tree/b -s check-some TESTS=t/cli/t-help-pages.py >out 2>err
test "$(grep -c '^ok.*toy' tree/b/t/cli/t-help-pages.log)" -ge 6 && ! grep '^not ok.*toy' tree/b/t/cli/t-help-pages.log
test_is $? "the toys' help pages print what they say"

# A model whose row lacks a column is refused by name, and a row without its file does not build
sed -i '/\.bound = bound,/d; /^static hu_sum_bound/,/^}/d' tree/lib/sum/model/toyorder.c
make -C tree/b -s >out 2>err && run accumulate --terms ones --sum toyorder
refused 2 'summation model toyorder cannot be used: lib/sum/model/toyorder.c gives it no error bound' "no bound"
printf '%s\n' 'SUM(TOYNONE, toynone, NOTHING, ACC)' >>tree/lib/sum/sums.def
make -C tree/b -s halfulp >out 2>err
test $? != 0 && grep -qE 'hu_sum_(model|run)_toynone' err
test_is $? "a row of sums.def without its file does not build"
rm -rf tree
finish
