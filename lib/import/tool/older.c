/* SPDX-License-Identifier: Apache-2.0
   Models from before version 10 of the operators, which has the first ones of codes: onnxruntime's quantisers convert
   them to version 11 first, with onnx.version_converter. What it leaves as it is is known here. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/show.h"

/* Operators that mean the same, with the same attributes and inputs, from version 7 to 11. */
#define SAME                                                                                                           \
	"Abs Add And ArgMax ArgMin AveragePool BatchNormalization Cast Ceil Concat Constant ConstantOfShape Conv "     \
	"ConvTranspose Cos DepthToSpace Div Dropout Elu Equal Erf Exp Expand Flatten Floor GRU Gather Gemm "           \
	"GlobalAveragePool GlobalMaxPool Greater HardSigmoid Identity InstanceNormalization LRN LSTM LeakyRelu Less "  \
	"Log LogSoftmax LpNormalization MatMul Max MaxPool Mean Min Mul Neg Not Or PRelu Pow RNN Reciprocal ReduceL1 " \
	"ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Selu Shape "        \
	"Sigmoid Sign Sin Size Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Tanh Tile "           \
	"Transpose Unsqueeze Where"

hu_status
hu_rewriting_newer(hu_rewriting *x)
{
	int64_t version = hu_onnx_version(x->from, "");

	if (version >= 10)
		return HU_OK;
	for (size_t i = 0; i < x->from->graph->nnode; i++) {
		const hu_onnx_node *node = &x->from->graph->node[i];
		if (version < 7 || (!*node->domain && !hu_rewriting_has(SAME, node->op)))
			return hu_fail(HU_EUNABLE,
				"%s: node '%s' (%s): onnxruntime's quantisers convert models of version %lld of the "
				"operators to version 11 first; do so with onnx.version_converter.convert_version, and "
				"give that model",
				x->from->path, hu_shown(node->name), hu_shown(node->op), (long long)version);
	}
	hu_onnx_rewrite_version(&x->w, 11);
	return HU_OK;
}
