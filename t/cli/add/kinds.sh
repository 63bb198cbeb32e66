# SPDX-License-Identifier: Apache-2.0
# The part of x-add.sh that adds what reaches furthest: a random change of rows, a change of graphs that advise tries, a
# tool that rewrites models, a sentence of the verdict, an option, a numeric type, a CUDA kernel, a fused pass, a page
# of an experiment.
# add_kinds writes them to tree/; kinds_edited prints the files; try_kinds tries each in the program that was built.

# behind FILE LINE TEXT: TEXT as a line of its own behind each line that has LINE
behind() { awk -v has="$2" -v row="$3" '{ print } index($0, has) { print row }' "tree/$1" >table &&
	cp table "tree/$1"; }

add_kinds() {
	append trainer/data/augments.def 'AUGMENT(toyturn, MOVES, "", 0, 0, 1, "a toy: upside down")'
	cat >tree/trainer/data/augment/toyturn.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   toyturn: a toy, every row is upside down. */
#include "trainer/data/augment.h"

int
hu_augment_toyturn(const hu_augmenting *a, long *y, long *x)
{
	(void)x;
	*y = a->height - 1 - *y;
	return 1;
}
END

	append analyzers/advise/remedy/remedies.def \
		'REMEDY("toyremedy", toyremedy, HALF, 1, 0.5, "a toy: factors that float16 makes 0 become larger")'
	cat >tree/analyzers/advise/remedy/remedy_toy.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: factors and divisors that float16 makes 0 become the strength. */
#include "analyzers/advise/remedy/remedy.h"

void
hu_remedy_toyremedy(hu_remedying *r)
{
	for (size_t i = 0; i < r->m->graph->nnode; i++) {
		const hu_onnx_node *x = &r->m->graph->node[i];
		int node = hu_remedy_node(r, i);
		const hu_stensor *t;
		const float *from = node >= 0 && x->nin == 2 ? hu_remedy_constant(r->m, x->in[1], &t) : NULL;
		float to = (float)r->strength;

		if (!from || t->count != 1 || !(*from < 0x1p-26f))
			continue;
		hu_remedy_replace(r, node, 1, t, &to);
		hu_str_addf(&r->sentences, "node '%s': a toy made its constant %g\n", x->name, r->strength);
		r->changed++;
	}
}
END

	append lib/import/tool/tools.def \
		'TOOL("toytool", toytool, NOTHING, ANYWHERE, "", "a toy: identities change the sign")'
	mkdir tree/lib/import/tool/toys
	cat >tree/lib/import/tool/toys/toytool.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: ToyIdentity becomes Neg. */
#include "lib/import/tool/rewriting.h"

#include <string.h>

hu_status
hu_tool_toytool(hu_rewriting *x)
{
	for (size_t i = 0; i < x->n; i++) {
		hu_onnx_node *node = hu_onnx_rewrite_copy(&x->w, &x->node[i]);

		if (!strcmp(node->op, "ToyIdentity"))
			node->op = "Neg";
	}
	return HU_OK;
}
END

	# A sentence is words in the code that puts the verdict together, its row, and a test that has the words
	behind analyzers/run/summary/summary_sentences.c '		steps, n->verdict_cosine);' \
		'	hu_str_addf(s, ", in a toy step of %d traced", a->nstep);'
	cat >tree/t/analyzers/run/t-toy-words.py <<'END'
# SPDX-License-Identifier: Apache-2.0
# A toy: the verdict counts traced steps as the run does.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tool'))
from tap import finish, halfulp, home, ok  # noqa: E402

run = os.path.join(home(), 'r')
halfulp('train', '--model', 'mlp:width=0.05', '--data', 'size=8', '--steps', '3', '--quiet', run)
steps = len([f for f in os.listdir(run + '/trace') if f.startswith('step')])
said = ' '.join(halfulp('analyze', run).stdout.split())
ok(', in a toy step of %d traced' % steps in said, 'the verdict counts steps', said)
finish()
END

	# An option is its row and what it does
	before trainer/run/options_run.def '#undef OPTION' \
		'OPTION(WHOLE, toyapart, "toyapart", 1, 9, "N", NULL, "a toy: checkpoints are N times as far apart")'
	behind trainer/train/loop.c 'l.every = s->config->checkpoint_every ?' \
		'	l.every *= s->config->toyapart ? s->config->toyapart : 1;'
	append t/cli/options/effects.txt 'train toyapart | TS R --checkpoint-every 1 | --toyapart 2'
	append t/golden/outputs/bounds.txt '$ halfulp train o --toyapart x'

	# A numeric type is its row and the formulas' inclusion for it, which no macro can make
	before lib/op/element/numerics.def 'NUMERIC_HOST(any' \
		'NUMERIC_HOST(toy, long double, hu_ctx_f64, , HU_AS_IS, HU_AS_IS, HU_AS_IS)'
	before lib/op/element/formula.h '#define HU_S any' '#define HU_S toy'
	behind lib/op/element/formula.h '#define HU_S toy' '#include "lib/op/element/formula.inc"'
	cat >tree/t/op/u-toynumber.c <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: a formula adds long doubles, and doubles lose what those keep. */
#include "lib/op/element/formula.h"
#include "t/tool/tap.h"

int
main(void)
{
	static const hu_ctx_f64 c = { .k = { 0 } };

	ok(hu_formula_add_toy(&c, 1, 0x1p-60L) - 1 == 0x1p-60L, "1 + 2^-60 has 61 bits");
	ok(hu_formula_add_f64(&c, 1, 0x1p-60) == 1, "in double it has one");
	return done_testing();
}
END

	# A kernel of the operator that moves elements
	cat >tree/cuda/kernel/toymove.cu <<'END'
/* SPDX-License-Identifier: Apache-2.0
   toymove: a toy, the elements from the last to the first. */
#include "cuda/move/hop.cuh"

struct toy_backwards {
	uint32_t n;

	HU_DEVICE_MEMBER hu_hop
	at(uint32_t i) const
	{
		hu_hop h = { n - 1 - i, (uint32_t)-1, 0, 8, 1, 0 };

		return h;
	}
};

extern "C" hu_status
HU_SIDE(op_toymove)(hu_work *w)
{
	toy_backwards t = { (uint32_t)w->in[0]->n };

	return hu_move_run(w, &t, w->in[0], w->in[0]->n, 1, 0);
}
END

	append cuda/fuse/fusions.def 'FUSION(toypass, CHAIN, "toyop toyop", "a toy: two changes of the sign")'
	cat >tree/cuda/fuse/fuse_toypass.cu <<'END'
/* SPDX-License-Identifier: Apache-2.0
   A toy: two operators one after the other, launched together. */
#include "cuda/fuse/fuse.h"

extern "C" hu_status HU_SIDE(op_pointwise)(hu_work *w);

extern "C" int
HU_SIDE(fuse_toypass_serves)(const hu_work *w, int n)
{
	(void)w;
	return n <= 2;
}

extern "C" hu_status
HU_SIDE(fuse_toypass)(hu_work *w, int n)
{
	for (int i = 0; i < n; i++)
		HU_TRY(HU_SIDE(op_pointwise)(&w[i]));
	return HU_OK;
}
END

	cat >tree/doc/experiments/13-toy.md <<'END'
# 13. A toy

**Our answer:** 2048 + 1 is 2048 in fp16.

```console
$ halfulp calc --format fp16 --json '2048 + 1' | grep value
```
END
	before t/trainer/t-experiments.py 'finish()' \
		"claim('13', '2048.0' in answers['13'], '2048 + 1 is 2048 in fp16')"
}

kinds_edited() {
	printf '%s\n' trainer/data/augments.def trainer/data/augment/toyturn.c analyzers/advise/remedy/remedies.def \
		analyzers/advise/remedy/remedy_toy.c lib/import/tool/tools.def lib/import/tool/toys/toytool.c \
		analyzers/run/summary/summary_sentences.c t/analyzers/run/t-toy-words.py trainer/run/options_run.def \
		trainer/train/loop.c lib/op/element/numerics.def lib/op/element/formula.h t/op/u-toynumber.c \
		cuda/kernel/toymove.cu cuda/fuse/fusions.def cuda/fuse/fuse_toypass.cu \
		doc/experiments/13-toy.md t/trainer/t-experiments.py
}

# in_copy SCRIPT ARGUMENT...: a Python script of the copy
in_copy() { (cd tree && srcdir=. HALFULP=$HALFULP "${PYTHON:-python3}" -B "$@") >out 2>err; code=$?; }

try_kinds() {
	# Digits of 8 x 8 pixels
	for how in "" "--augment toyturn"; do
		run train --model mlp:width=0.05 --data size=8,train=20,eval=5 --batch 20 --steps 1 --quiet \
			--trace input.x $how "augmented${how:+-toy}"
	done
	"${PYTHON:-python3}" -B - "$top/t/tool" >out 2>err <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from tensorsfile import Tensors
plain, toy = (list(Tensors('augmented%s/trace/step-000000.safetensors' % k)['input.x']) for k in ('', '-toy'))
rows = [plain[i:i + 8] for i in range(0, len(plain), 8)]
turned = [x for i in range(0, len(rows), 8) for row in reversed(rows[i:i + 8]) for x in row]
sys.exit(not (turned == toy != plain))
END
	test_is $? "a random change of rows changes them"
	run train --augment toyturn:2 t
	refused 2 'toyturn takes no number' "which has no number"

	"${PYTHON:-python3}" -B - "$top/t/tool" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import npzfile, onnxfile
onnxfile.write('tiny.onnx', onnxfile.graph(
    [onnxfile.node('MatMul', 'x w', 'h', name='fc'), onnxfile.node('Div', 'h a', 'g', name='divide'),
     onnxfile.node('Mul', 'g b', 'y', name='multiply')],
    [onnxfile.floats('w', [4, 3], [0.37 * i - 1.7 for i in range(12)]), onnxfile.floats('a', [], [2.0 ** -30]),
     onnxfile.floats('b', [], [2.0 ** -30])],
    [onnxfile.value('x', ['n', 4])], [onnxfile.value('y', ['n', 3])]))
npzfile.npz('tiny.npz', x=((8, 4), [0.5 * i for i in range(32)]))
END
	run advise tiny.onnx --data tiny.npz --format fp16 --accept 'nonfinite<=0' --accept 'sqnr>=30' --out advised \
		--json
	test $code = 0 && grep -q '"remedy": "toyremedy"' out && grep -q "a toy made its constant" out
	test_is $? "advise tries a change of graphs, which keeps the budget"

	run validate toy.onnx --data toy.npz --policy toytool --json
	test $code = 0 && grep -q '"rel_l2": 2\.0*,' out
	test_is $? "validate runs what a tool writes"

	in_copy t/analyzers/run/t-sentences.py
	test $code != 0 && grep -q 'in a toy step of' out
	test_is $? "a sentence of the verdict without its row is red"
	printf '%s\t%s\t%s\n' analyzers/run/summary/summary_sentences.c ', in a toy step of' \
		t/analyzers/run/t-toy-words.py >>tree/t/analyzers/run/sentences.tsv
	in_copy t/analyzers/run/t-sentences.py
	test_is $code "with its row and its test it is green"

	run train --model toymodel --data toydata --steps 6 --checkpoint-every 1 --quiet near
	run train --model toymodel --data toydata --steps 6 --checkpoint-every 1 --toyapart 3 --quiet apart
	test $code = 0 && test "$(ls near/checkpoint apart/checkpoint | grep -c 000003)" = 1
	test_is $? "an option has its effect"
	run train --toyapart 10 t
	refused 2 'toyapart' "and its limits"
	grep -q -- '--toyapart x: an integer from 1 to 9 is needed' tree/t/golden/outputs/bounds.txt
	test_is $? "which make golden writes"

	for on in cpu shim; do
		run train --model toymodel --data toydata --backend $on --steps 3 --quiet "on-$on"
	done
	test $code = 0 && test "$(column on-cpu/metrics.tsv digest)" = "$(column on-shim/metrics.tsv digest)" &&
		grep -q toypass on-shim/kernels.tsv
	test_is $? "a fused pass computes a program's calls, to the same bits"

	in_copy t/trainer/x-experiments.py --update 13-toy.md
	test $code = 0 && grep -q '"value": 2048.0' tree/doc/experiments/13-toy.md
	test_is $? "an experiment's page gets what its commands print"
	in_copy t/trainer/x-experiments.py 13-toy.md
	test_is $code "and is held to it"
}

kinds_tests="t/op/u-toynumber t/analyzers/run/t-toy-words t/trainer/t-experiments"
