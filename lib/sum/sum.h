/* SPDX-License-Identifier: Apache-2.0
   Which summation model a call uses: NAME[:N][,key=value…], e.g. "fma,acc=fp32",
   "chunk:64,acc=fp16", "tc:hopper,in=fp16". Parsing and printing; the arithmetic is in model.h and tc.h. */
#ifndef HU_SUM_SUM_H
#define HU_SUM_SUM_H

#include "lib/number/format.h"

typedef enum hu_sum_id {
#define SUM(id, name, takes_n, summary) HU_SUM_##id,
#include "lib/sum/sums.def"
#undef SUM
	HU_SUMS
} hu_sum_id;

/* Tensor cores by architecture; rtxblackwell: compute capability 12. */
typedef enum hu_tc_arch {
	HU_TC_VOLTA,
	HU_TC_TURING,
	HU_TC_AMPERE,
	HU_TC_ADA,
	HU_TC_HOPPER,
	HU_TC_BLACKWELL,
	HU_TC_RTXBLACKWELL,
	HU_TC_ARCHS
} hu_tc_arch;
/* Instruction paths, as bits. */
enum { HU_TC_MMA = 1, HU_TC_WGMMA = 2, HU_TC_TCGEN05 = 4, HU_TC_PATHS = 7 };

/* acc: the accumulator's format; outer: the format in which parts and lanes
   combine (HU_NO_FORMAT: as acc; promote: fp32). mode: rounding of every accumulator operation;
   bits: random bits of each under SR, 0 for all 32.
   Of tc alone: the architecture, the operands' formats, the output's and the path, HU_NO_FORMAT
   and 0 where nothing is said; acc then means nothing before hu_sum_resolve. group > 0: operands are block-scaled,
   GROUP of them sharing one scale of format SCALE along k (in=mxfp8, in=nvfp4, …); in and in2 are then the elements'.
 */
typedef struct hu_sum {
	hu_sum_id id;
	int n;
	hu_format_id acc, outer;
	hu_mode mode;
	int bits;
	hu_tc_arch arch;
	int path;
	hu_format_id in, in2, out, scale;
	int group;
} hu_sum;

/* "fma,acc=fp32", the default of every float32 accumulation. */
hu_sum hu_sum_default(void);
/* HU_EINVAL names the word that is wrong and the nearest known one. */
hu_status hu_sum_parse(const char *text, hu_sum *out);
/* The canonical text, which parses back to the same model. OUT: at least 96 bytes. */
void hu_sum_print(hu_sum s, char *out, size_t size);
/* Fills what a tc model leaves open from the operands' formats and the call's accumulate format:
   fp32 operands are tf32's; fp16 accumulators where the call's are fp16 and the unit has them, else fp32 (fp64 of
   fp64). in, in2, out and acc are then settled, and a chain of fp64 operations has become fma. HU_EINVAL where the
   architecture has no such instruction, or where it has two and no path is given. Every other model stays as it is. */
hu_status hu_sum_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
/* The name of S's operands with elements of format F: of a block format where they share scales. */
void hu_sum_operand(hu_sum s, hu_format_id f, char *to, size_t size);
const char *hu_tc_arch_name(hu_tc_arch arch);
const char *hu_tc_path_name(int path);
const char *hu_sum_name(hu_sum_id id);
const char *hu_sum_summary(hu_sum_id id);
#endif
