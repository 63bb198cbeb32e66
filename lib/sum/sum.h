/* SPDX-License-Identifier: Apache-2.0
   Names the summation model that a call uses: NAME[:N][,key=value…], such as "fma,acc=fp32", "chunk:64,acc=fp16" and
   "tc:hopper,in=fp16". Parsing and printing are here; the arithmetic is in model.h and tc.h. */
#ifndef HU_SUM_SUM_H
#define HU_SUM_SUM_H

#include "lib/base/str.h"
#include "lib/number/format.h"

typedef enum hu_sum_id {
#define SUM(id, file, takes, result) HU_SUM_##id,
#include "lib/sum/sums.def"
#undef SUM
	HU_SUMS
} hu_sum_id;

/* What follows a model's name, and the format that its sums end in (sums.def). */
typedef enum hu_sum_takes {
	HU_TAKES_NOTHING,
	HU_TAKES_LENGTH,
	HU_TAKES_ARCH,
	HU_TAKES_RANKS,
	HU_TAKES_NODES,
	HU_TAKES_SLICES,
	HU_TAKES_INTEGERS
} hu_sum_takes;
typedef enum hu_sum_result {
	HU_RESULT_ACC,
	HU_RESULT_WIDER,
	HU_RESULT_PROMOTED,
	HU_RESULT_WIRE,
	HU_RESULT_UNIT
} hu_sum_result;

/* Tensor cores by architecture. rtxblackwell is compute capability 12. */
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
/* Instruction paths, as bits of a set. */
enum { HU_TC_MMA = 1, HU_TC_WGMMA = 2, HU_TC_TCGEN05 = 4, HU_TC_PATHS = 7 };

/* A summation model. acc is the accumulator's format, outer the format in which parts and lanes combine
   (HU_NO_FORMAT: acc, but fp32 for promote and for tc with promote=); of an all-reduce it is the wire's format, written
   wire=. mode rounds every accumulator operation; under SR each uses `bits` random bits (0: all 32).

   node is the ranks of a node of hier:N:G. in, in2 and out are the operands' and the output's formats of a unit
   (hu_sum_is_unit; HU_NO_FORMAT if not given). Units own the others, tc the architecture, the instruction path (0 if
   not given), and n, its promote=: the products after which a second accumulator takes the unit's sum (0: none does).
   acc means nothing before hu_sum_resolve. Where group > 0 the operands are block-scaled (in=mxfp8, in=nvfp4 …):
   along k, `group` of them share one scale of format `scale`, and in and in2 are the elements' formats. */
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
	int node;
} hu_sum;

/* "fma,acc=fp32", the default of every float32 accumulation. */
hu_sum hu_sum_default(void);
/* Reads a model. HU_EINVAL names the word that is wrong and the nearest known one. */
hu_status hu_sum_parse(const char *text, hu_sum *out);
/* Writes the canonical text, which hu_sum_parse reads back as the same model. out has 96 bytes or more. */
void hu_sum_print(hu_sum s, char *out, size_t size);
/* Returns 1 for the models of a processor's unit, which has formats of its own for operands and accumulator: tensor
   cores, and models whose result is UNIT (sums.def). */
int hu_sum_is_unit(hu_sum_id id);
/* Refuses operands of formats a and b that a unit does not take; fills in what a tc model leaves open, from them and
   the call's format acc: fp32 operands become tf32; the accumulator becomes fp16 where acc is and the unit has it, fp64
   for fp64 operands, else fp32. Afterwards in, in2, out and acc are settled, and a chain of fp64 is fma. HU_EINVAL
   where the architecture has no such instruction, or has two and no path is given. Other models stay as they are. */

hu_status hu_sum_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
/* Writes the name of the operands with elements of format f: the block format's, where they share scales. */
void hu_sum_operand(hu_sum s, hu_format_id f, char *to, size_t size);
const char *hu_tc_arch_name(hu_tc_arch arch);
const char *hu_tc_path_name(int path);
/* Returns 1 for the models of an all-reduce, whose n is a number of ranks. */
int hu_sum_collective(hu_sum_id id);
const char *hu_sum_name(hu_sum_id id);
hu_sum_takes hu_sum_takes_of(hu_sum_id id);
/* Appends the names of all models, with what follows them: fma, sequential, chunk:N, … */
void hu_sum_names(hu_str *to);
#endif
