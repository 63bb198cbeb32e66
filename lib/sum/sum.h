/* SPDX-License-Identifier: Apache-2.0
   Which summation model a call uses: NAME[:N][,key=value…], e.g. "fma,acc=fp32",
   "chunk:64,acc=fp16". Parsing and printing; the arithmetic is in model.h. */
#ifndef HU_SUM_SUM_H
#define HU_SUM_SUM_H

#include "lib/number/format.h"

typedef enum hu_sum_id {
#define SUM(id, name, takes_n, summary) HU_SUM_##id,
#include "lib/sum/sums.def"
#undef SUM
	HU_SUMS
} hu_sum_id;

/* acc: the accumulator's format; outer: the format in which parts and lanes
   combine (HU_NO_FORMAT: as acc). mode: rounding of every accumulator operation. */
typedef struct hu_sum { hu_sum_id id; int n; hu_format_id acc, outer; hu_mode mode; } hu_sum;

/* "fma,acc=fp32", the default of every float32 accumulation. */
hu_sum hu_sum_default(void);
/* HU_EINVAL names the word that is wrong and the nearest known one. */
hu_status hu_sum_parse(const char *text, hu_sum *out);
/* The canonical text, which parses back to the same model. OUT: at least 96 bytes. */
void hu_sum_print(hu_sum s, char *out, size_t size);
const char *hu_sum_name(hu_sum_id id);
const char *hu_sum_summary(hu_sum_id id);
#endif
