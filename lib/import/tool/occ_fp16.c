/* SPDX-License-Identifier: Apache-2.0
   The rules of onnxconverter-common 1.16 and of onnxruntime 1.32's transformers.float16. */
#include "lib/import/tool/fp16.h"

#define LEARNED                                                                                                        \
	"ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer FeatureVectorizer Imputer "             \
	"LabelEncoder LinearClassifier LinearRegressor Normalizer OneHotEncoder RandomUniformLike SVMClassifier "      \
	"SVMRegressor Scaler TreeEnsembleClassifier TreeEnsembleRegressor ZipMap "
#define BLOCKED "NonMaxSuppression TopK RoiAlign Range CumSum Min Max Upsample"

hu_status
hu_tool_occ_fp16(hu_rewriting *x)
{
	static const hu_fp16_rules rules = { .tool = "onnxconverter-common",
		.blocked = LEARNED "Resize " BLOCKED,
		.small = 1e-7f,
		.large = 1e4f,
		.drops_pairs = 1 };

	return hu_fp16_write(x, &rules);
}

hu_status
hu_tool_ort_fp16(hu_rewriting *x)
{
	static const hu_fp16_rules rules = { .tool = "onnxruntime.transformers.float16",
		.blocked = LEARNED "TreeEnsemble " BLOCKED,
		.small = 5.96e-8f,
		.large = 65504,
		.converts_all = 1,
		.scales_stay = 1 };

	return hu_fp16_write(x, &rules);
}
