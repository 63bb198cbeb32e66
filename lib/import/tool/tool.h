/* SPDX-License-Identifier: Apache-2.0
   Tools that rewrite a float32 model to lower precision, as they are: their rules applied to a model in memory, so that
   what the tool's file computes is known before the tool is run. */
#ifndef HU_IMPORT_TOOL_H
#define HU_IMPORT_TOOL_H

#include "lib/import/import.h"
#include "lib/program/quantise/range.h"

/* Names that an option lists. */
typedef struct hu_tool_list {
	char **name;
	size_t n, cap;
} hu_tool_list;

/* A tool with its options, a member for each row of tool_words.def. */
typedef struct hu_tool {
	int row;
#define HU_WORD_FLAG int
#define HU_WORD_TYPE int
#define HU_WORD_BLOCK int
#define HU_WORD_LEVEL int
#define HU_WORD_PERCENT double
#define HU_WORD_REAL double
#define HU_WORD_COUNT int
#define HU_WORD_LIST hu_tool_list
#define WORD(name, kind, member, otherwise, summary) HU_WORD_##kind member;
#include "lib/import/tool/tool_words.def"
#undef WORD
#undef HU_WORD_FLAG
#undef HU_WORD_TYPE
#undef HU_WORD_BLOCK
#undef HU_WORD_LEVEL
#undef HU_WORD_PERCENT
#undef HU_WORD_REAL
#undef HU_WORD_COUNT
#undef HU_WORD_LIST
} hu_tool;

/* 1 where TEXT begins with a tool's name, up to its end, a colon or a comma. */
int hu_tool_is(const char *text);
/* Reads NAME[:WORD]…; HU_EINVAL says what is wrong. *T then needs no release. */
hu_status hu_tool_parse(hu_tool *t, const char *text);
void hu_tool_release(hu_tool *t);
/* Name, words and summary of row I of tools.def; NULL past the last. */
const char *hu_tool_row(int i, const char **words, const char **summary);
/* What the tool measures on calibration inputs: ranges of floating-point values, of whole numbers too, or of
   floating-point values with bins that grow from batch to batch. */
typedef enum hu_tool_calibration {
	HU_TOOL_NOTHING,
	HU_TOOL_FLOATS,
	HU_TOOL_WHOLE_TOO,
	HU_TOOL_BATCHES
} hu_tool_calibration;
hu_tool_calibration hu_tool_calibrates(const hu_tool *t);
/* 1 where ONNX Runtime's CPU is what runs the tool's file. */
int hu_tool_runs_on_ort(const hu_tool *t);

/* Makes TO the model that the tool would write of FROM, whose import for float32 is M; range[tensor] is what
   calibration showed of M's tensors, needed where the tool calibrates. FROM must outlive TO, which hu_onnx_release
   frees; on a failure it needs no release. HU_EUNABLE names what the tool, or onnxruntime with its file, refuses.
   *NOTES, which the caller frees, are sentences on faults of the tool that this model meets, a line each; NULL: none.
 */
hu_status hu_tool_rewrite(
	hu_onnx *to, char **notes, const hu_tool *t, const hu_onnx *from, const hu_imported *m, const hu_range *range);

/* Makes TO the model that onnxruntime's CPU runs of FROM with its optimisations, as far as these change results by more
   than the order of float32's sums: one pair of QuantizeLinear and DequantizeLinear where two follow each other and,
   where KERNELS is set, as at the levels extended and all, kernels of codes in place of nodes between these. FROM must
   outlive TO, which hu_onnx_release frees; on a failure it needs no release. */
hu_status hu_tool_fuse(hu_onnx *to, const hu_onnx *from, int kernels);
#endif
