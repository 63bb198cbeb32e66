# SPDX-License-Identifier: Apache-2.0
# The part of x-add.sh that adds what is a row alone, or a row and a file that few others need: a policy, a preset, a
# scheme, a GPU, a compute capability, a network, a starter of ranks, a published time, an operator of ONNX, one that
# only moves elements, a benchmark, a size of models, a figure of the gallery, a command with its table and its picture,
# kernels for wider registers, a published result, tests.
# add_rows writes them to tree/; rows_edited prints the files; try_rows tries each in the program that was built.

add_rows() {
	append lib/program/policy/policies.def \
		'POLICY("toypolicy", FP16, FP32, ALL, 0, NONE, DOUBLE, "a toy: float16 compute without a loss scale")'
	append trainer/model/presets.def \
		'PRESET("toypreset", "toymodel", "data=toydata batch=10", "a toy: ten rows a step")'
	append lib/program/quantise/schemes.def \
		'SCHEME("toyscheme", "", INTEGER, 8, HU_NO_FORMAT, TENSOR, 0, NONE, "tensor channel", "a toy: int8")'
	append cuda/device/capabilities.def 'CAPABILITY(990, 1, 1, ALL, "toys")'
	append cuda/device/devices.def \
		'DEVICE(toygpu, "Toy GPU", 990, 1, 100, 0.1, 1, 0, 8, 8, 0, 0, 0, "a toy: fast in 16 bits")'
	append trainer/plan/networks.def 'NETWORK(toynet, 0.001, "a toy: a megabyte a second")'
	append lib/base/ranks/starters.def 'STARTER("a toy", "TOY_SIZE", "TOY_RANK")'
	append trainer/bench/published.def \
		'PUBLISHED("a toy", "mlp", "28x28x1", "Toy GPU", 32, "float32", 1234, NONE, NONE, "")'
	before lib/import/operators.def 'OPERATOR(Transpose' 'OPERATOR(ToyIdentity, 1, "moves", identity)'

	append lib/op/ops.def 'OP(toymove)'
	append t/op/cases/moves.def 'CASE(toymove, "", "x:5x7", "x")'
	cat >tree/lib/op/kind/toymove.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   toymove x: the elements from the last to the first. */
#include "lib/op/move/moves.h"

static hu_status
describe(hu_moves *x, const hu_call *c, const hu_shape *in, hu_shape *out)
{
	(void)c;
	x->inner = hu_count(in[0]);
	*out = in[0];
	return HU_OK;
}

static hu_moved
from(const hu_moves *x, size_t i)
{
	return (hu_moved){ 0, x->inner - 1 - i, 0, 1, 0 };
}

const hu_op hu_op_toymove = {
	.name = "toymove",
	.summary = "a toy: backwards",
	.min_in = 1,
	.max_in = 1,
	.nout = 1,
	.same = "=",
	.cls = HU_CLASS_POINTWISE,
	.parity = HU_PARITY_EXACT,
	.family = &hu_family_moves,
	.moves = &(hu_moves_own){ .describe = describe, .from = from },
};
END

	cat >tree/analyzers/formats/cmd_toy.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   halfulp toy: a table of squares. */
#include "analyzers/value/rows.h"
#include "lib/base/console/command.h"
#include "lib/base/table/fields.h"

static const hu_opt opts[] = { { "json", NULL, NULL, "print an array of objects" }, { NULL, NULL, NULL, NULL } };

typedef struct row {
	long long n;
	double square;
} row;

static const hu_table_field field[] = {
	HU_FIELD_OF(row, "n", COUNT, n, ANYWHERE, "a whole number"),
	HU_FIELD_OF(row, "square", REAL, square, ANYWHERE, "its square"),
};
static const hu_fields table = HU_FIELDS(field, row);

static int
run(const hu_args *args)
{
	static const row rows[] = { { 1, 1 }, { 2, 4 }, { 3, 9 } };

	if (hu_args_given(args, "json"))
		hu_rows_print_json(hu_fields_array(&table, rows, 3));
	else
		hu_fields_print(&table, rows, 3, NULL);
	return HU_EXIT_OK;
}

static void
say_columns(void)
{
	hu_fields_help(&table);
}

const hu_command hu_cmd_toy = { "toy", "[OPTION...]", "print three squares", "Numbers are exact.", opts, run, NULL,
	say_columns };
END
	cat >tree/doc/help/toy.txt <<'END'
usage: halfulp toy [OPTION...]

Print three squares.

$ halfulp toy
n  square
1       1
...
$ halfulp toy --json
[
...

  --json               print an array of objects

Exit codes: 0 done; 2 command line; 3 file; 4 environment.
END
	append reports/pictures/pictures.def 'VIEW("toy", "toy")'
	cat >tree/reports/pictures/toy.gp <<'END'
# SPDX-License-Identifier: Apache-2.0
# title: Three squares
# caption: Each mark is a number and its square.
# data: halfulp toy --json
# take: n square
set datafile separator "\t"
set datafile columnheaders
height_wanted = 240
load 'picture-style.gp'
do for [format in formats] {
	eval begin_picture(format, 60, 20)
	plot file using (column('n')):(column('square')) with points pt 7 lc rgb blue notitle
}
unset output
END

	append trainer/bench/benches.def 'BENCH(toybench)'
	cat >tree/trainer/bench/toybench.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: times nothing. */
#include "lib/base/mem.h"
#include "trainer/bench/bench.h"

static hu_status
begin(hu_bench_work *w, const hu_args *a)
{
	(void)a;
	w->n = 2;
	return HU_OK;
}

static char *
unit(const hu_bench_work *w, int i)
{
	(void)w;
	return hu_xprintf("toy%d", i);
}

static hu_status
measure(hu_bench_work *w, int i, json_t *rows)
{
	(void)w;
	json_array_append_new(rows, json_pack("{s:i s:i}", "n", i, "square", i * i));
	return HU_OK;
}

static void
end(hu_bench_work *w)
{
	(void)w;
}

static const hu_bench_column columns[] = { { "n", 4, 0, 0, NULL }, { "square", 6, 0, 0, NULL },
	{ NULL, 0, 0, 0, NULL } };
static const hu_bench_option takes[] = { { NULL, NULL } };

const hu_bench hu_bench_toybench = { .name = "toybench",
	.summary = "a toy: squares",
	.columns = columns,
	.takes = takes,
	.begin = begin,
	.unit = unit,
	.measure = measure,
	.end = end };
END
	before trainer/model/layer/sizes.def '#undef CHOICE' \
		'KEY(WHOLE, toysize, "model:toysize", "toysize", 1, 9, "N", NULL, "a toy: dense layers [1]")'
	append t/cli/options/effects.txt \
		'train model:toysize | TS --model toymodel --data toydata R | --model toysize=2'
	append reports/gallery/gallery.def 'PICTURE("toy-sums", "a toy: sums of ones in bf16")'
	cat >tree/reports/gallery/toy-sums.gp <<'END'
# SPDX-License-Identifier: Apache-2.0
# title: A toy: sums of ones in bf16
# caption: Nothing is beyond 256.
# source: a toy
# data: halfulp accumulate --terms ones --n 1024 --format bf16 --table
# take: n value
load 'gallery-style.gp'
do for [format in formats] {
	eval begin(format, 'the sum of n ones')
	plot file using (column('n')):(column('value')) with points pt 7 lc rgb blue notitle
}
unset output
END
	cat >>tree/t/reports/gallery_numbers.py <<'END'


def toy_sums(g):
    yield max(float(r['value']) for r in g.table()) == 256, 'sums of ones stop at 256'
END

	cat >tree/lib/number/toywide_avx2.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy that needs AVX2. */
#if defined __x86_64__ && !defined __AVX2__
#error "this file is not compiled for AVX2"
#endif
extern int hu_toywide;
int hu_toywide = 1;
END
	cat >tree/t/number/u-toy.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: e5m4 has 31 as its largest fraction. */
#include "lib/number/round.h"
#include "t/tool/tap.h"

int
main(void)
{
	ok(hu_round(1.03, hu_format_of(HU_E5M4), HU_RNE, 0, 0) == 1, "1.03 is 1");
	return done_testing();
}
END
	cat >tree/t/papers/toy-2026.sh <<'END'
#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A toy of 2026: 1 + 1 is 2. Published: 2.
. "${srcdir:-.}/t/tool/tap.sh"
run calc --format fp16 '1 + 1'
grep -q '^fp16  *2 ' out
test_is $? "1 + 1 is 2"
finish
END
	chmod +x tree/t/papers/toy-2026.sh
}

rows_edited() {
	printf '%s\n' lib/program/policy/policies.def trainer/model/presets.def lib/program/quantise/schemes.def \
		cuda/device/capabilities.def cuda/device/devices.def trainer/plan/networks.def \
		lib/base/ranks/starters.def trainer/bench/published.def lib/import/operators.def \
		trainer/bench/benches.def trainer/bench/toybench.c trainer/model/layer/sizes.def \
		t/cli/options/effects.txt reports/gallery/gallery.def reports/gallery/toy-sums.gp \
		t/reports/gallery_numbers.py lib/op/kind/toymove.c analyzers/formats/cmd_toy.c doc/help/toy.txt \
		reports/pictures/pictures.def reports/pictures/toy.gp lib/number/toywide_avx2.c t/number/u-toy.c \
		t/papers/toy-2026.sh
}

try_rows() {
	run train --model toymodel --data toydata --policy toypolicy --steps 3 --quiet policy
	test $code = 0 && grep -q toypolicy policy/manifest.json
	test_is $? "a policy trains by its name"
	run plan --model preset=toypreset
	test $code = 0 && grep -q '^toymodel, .* 10 samples' out
	test_is $? "a preset takes its data and batch"
	run plan --device toygpu --policy mixed_float16
	test $code = 0 && grep -q 'mixed precision will run fast' out
	test_is $? "plan predicts times of a GPU, whose compute capability has fp16"
	run plan --device toygpu --ranks 2:network=toynet
	test $code = 0 && cp out slow && run plan --device toygpu --ranks 2:network=nvlink4 && ! cmp -s slow out
	test_is $? "and those of ranks on a network"
	TOY_SIZE=2 TOY_RANK=0 run formats
	refused 2 '2 were started together' "ranks that a starter counts"
	run bench train --published --json
	test $code = 0 && grep -q 1234 out
	test_is $? "a published time stands beside measured ones"
	"${PYTHON:-python3}" -B - "$top/t/tool" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import npzfile, onnxfile
onnxfile.write('toy.onnx', onnxfile.graph(
    [onnxfile.node('MatMul', 'x w', 'y', name='fc'), onnxfile.node('ToyIdentity', 'y', 'z')],
    [onnxfile.floats('w', [4, 3], [0.37 * i - 1.7 for i in range(12)])],
    [onnxfile.value('x', ['n', 4])], [onnxfile.value('z', ['n', 3])]))
npzfile.npz('toy.npz', x=((3, 4), [0.5 * i for i in range(12)]))
END
	run validate toy.onnx --data toy.npz --policy toyscheme
	test $code = 0 && grep -q '^- *toyscheme ' out
	test_is $? "an operator of ONNX runs, and a scheme quantises its products"
	printf '1\n2\n3\n' >toy.txt
	npy toy.npy '(3,)' 3f800000 40000000 40400000
	run op toymove --in a=toy.npy --out back.npy
	test $code = 0 && test "$(tail -c 12 back.npy | od -An -tx4 | tr -s ' ')" = ' 40400000 40000000 3f800000'
	test_is $? "an operator moves elements"
	run bench toybench --json
	test $code = 0 && grep -q '"square": *1' out
	test_is $? "a benchmark runs"
	run train --model toymodel:toysize=2 --data toydata --steps 1 --quiet sized
	test $code = 0 && test "$(grep -o '"op": *"matmul"' sized/program-train.json | wc -l)" -gt \
		"$(grep -o '"op": *"matmul"' policy/program-train.json | wc -l)"
	test_is $? "a model reads its size"
	run train --model mlp:toysize=2 t
	refused 2 toysize "which another model does not"
	run figures --list
	test $code = 0 && grep -q '^toy-sums  *a toy: sums' out
	test_is $? "a figure of the gallery has its name"
	run toy
	test $code = 0 && test "$(tail -n 1 out | tr -s ' ')" = '3 9'
	test_is $? "a command prints its table"
	run toy --json
	test $code = 0 && grep -q '"square": 9.0' out
	test_is $? "and JSON"
	run help toy
	test $code = 0 && grep -q '^Print three squares' out &&
		grep -qF '| toy | `square` |  | its square |' tree/doc/columns.md
	test_is $? "help and the page of columns have it"
	if command -v gnuplot >/dev/null; then
		run toy -o toy.svg
		test $code = 0 && grep -q 'Three squares' toy.svg
		test_is $? "and it is drawn"
	fi
}

# Of t-help-pages only the toys' own lines: the examples of other pages count quantities, of which the toys have some
rows_tests="t/number/u-toy t/papers/toy-2026 t/cli/t-columns t/op/u-op-table"
