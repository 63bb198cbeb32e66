/* SPDX-License-Identifier: Apache-2.0
   halfulp validate MODEL.onnx --list-ops: what a model is made of, and for how much of it the arithmetic is known. */
#include "analyzers/validate/list_ops.h"

#include "lib/base/console/opt.h"

#include <stdio.h>

static const hu_opt opts[] = { { "list-ops", NULL, NULL,
				       "list the model's operators, and those whose arithmetic is not known" },
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL } };

static int
run(const hu_args *a)
{
	hu_op_list l;
	hu_onnx m;
	hu_status st = HU_OK;

	if (a->nrest != 1 || !hu_args_given(a, "list-ops"))
		st = hu_fail(HU_EINVAL, "one model and --list-ops are needed: halfulp validate MODEL.onnx --list-ops");
	else if (!hu_onnx_is(a->rest[0]))
		st = hu_fail(HU_EFILE, "%s: models are read from ONNX files, whose names end in .onnx", a->rest[0]);
	if (st != HU_OK || (st = hu_onnx_open(&m, a->rest[0])) != HU_OK)
		return hu_complain(st);
	hu_op_list_init(&l, &m);
	if (hu_args_given(a, "json")) {
		json_t *o = hu_op_list_json(&l);
		json_dumpf(o, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		puts("");
		json_decref(o);
	} else {
		hu_op_list_print(&l);
	}
	hu_op_list_release(&l);
	hu_onnx_release(&m);
	return HU_EXIT_OK;
}

const hu_command hu_cmd_validate = { "validate", "MODEL.onnx --list-ops [--json]",
	"list the operators of an ONNX model and say which are known",
	"A row an operator of the graph, of the graphs inside its nodes and of the model's own functions (each of "
	"whose "
	"nodes counts once,\n"
	"however often the function is called): the version of its domain's operators that the model imports, how many "
	"nodes have it, and\n"
	"whether its arithmetic is known. arithmetic names the operators that compute it, as `halfulp op list` has "
	"them; "
	"\"moves\": elements only\n"
	"change their places; \"function\": the model's own, whose nodes are listed; \"both branches\": an If, whose "
	"graphs "
	"are. What is not\n"
	"known is named at the end, all at once; --json names every node. Models are listed, not run.",
	opts, run, NULL };
