/* SPDX-License-Identifier: Apache-2.0
   What a specification says of AMD's matrix cores, which take operands of several formats: in= and in2=. */
#ifndef HU_SUM_CDNA_UNITS_H
#define HU_SUM_CDNA_UNITS_H

#include "lib/sum/sum_unit.h"

/* The members of hu_sum_unit. A row's `many` lists the formats, up to HU_NO_FORMAT. fp32 and fp64 operands are a chain
   of fused multiply-adds, so that resolving makes the model fma; fp32 operands are xf32 where in=tf32 says so. The two
   operands' formats may differ where both have 8 bits. The accumulator is fp32. */
hu_status hu_cdna_key(hu_sum *s, const char *key, const char *word);
/* The same for a model with keys of its own, which it has looked at before: ", NAME" for each. */
hu_status hu_cdna_key_beside(hu_sum *s, const char *key, const char *word, const char *own);
hu_status hu_cdna_check(const hu_sum *s);
hu_status hu_cdna_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
void hu_cdna_print(hu_sum s, const char *outer, char *out, size_t size);
void hu_cdna_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to);

#define HU_CDNA_UNIT(many_, key_, variants_)                                                                           \
	&(const hu_sum_unit)                                                                                           \
	{                                                                                                              \
		.in = HU_NO_FORMAT, .acc = HU_FP32, .many = many_, .key = key_, .check = hu_cdna_check,                \
		.resolve = hu_cdna_resolve, .print = hu_cdna_print, .variants = variants_                              \
	}
#endif
