/* SPDX-License-Identifier: Apache-2.0
   What the row of a processor's unit says of its specification, and that of units whose operands and accumulator have
   one format each. */
#ifndef HU_SUM_SUM_UNIT_H
#define HU_SUM_SUM_UNIT_H

#include "lib/sum/sum.h"

/* What a processor's unit takes and what its specification says. in is the format of both operands and acc that of the
   accumulator, where a model has one of each (below); a unit of several has HU_NO_FORMAT. */
typedef struct hu_sum_unit {
	hu_format_id in, acc;
	/* The formats of operands, up to HU_NO_FORMAT, where a unit of one accumulator takes several; else NULL. */
	const hu_format_id *many;
	/* Sets the value of a key other than outer=; HU_EINVAL says which keys there are. */
	hu_status (*key)(hu_sum *s, const char *key, const char *word);
	/* Refuses formats that no instruction has. */
	hu_status (*check)(const hu_sum *s);
	/* As hu_sum_resolve. */
	hu_status (*resolve)(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
	/* Writes the canonical text; `outer` comes last. */
	void (*print)(hu_sum s, const char *outer, char *out, size_t size);
	/* Hands out every unresolved model of the row that sums of up to `longest` products may have. */
	void (*variants)(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to);
	/* Returns 1 where x can be an element of operand a (0) or b (1), or a start value (2); NULL where every value
	   of the operands' format can. */
	int (*holds)(const hu_sum *s, int which, double x);
} hu_sum_unit;

/* Refuses element i of `what`, operand `which` of s, where the unit does not hold its value x. */
hu_status hu_sum_unit_takes(const hu_sum *s, int which, double x, const char *what, size_t i);
/* The same for n elements. */
hu_status hu_sum_unit_takes_all(const hu_sum *s, int which, const double *x, size_t n, const char *what);

/* Sets the formats of s that its row names; other models, and units of several formats, stay as they are. */
void hu_sum_unit_formats(hu_sum *s);

/* The members of hu_sum_unit for such a row. */
hu_status hu_sum_unit_key(hu_sum *s, const char *key, const char *word);
hu_status hu_sum_unit_check(const hu_sum *s);
hu_status hu_sum_unit_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
void hu_sum_unit_print(hu_sum s, const char *outer, char *out, size_t size);
void hu_sum_unit_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to);

/* The unit of operands of one format and an accumulator of another one; CHECK refuses what else is said of it. */
#define HU_SUM_UNIT_OF(in_, acc_, check_, variants_)                                                                   \
	&(const hu_sum_unit)                                                                                           \
	{                                                                                                              \
		.in = in_, .acc = acc_, .key = hu_sum_unit_key, .check = check_, .resolve = hu_sum_unit_resolve,       \
		.print = hu_sum_unit_print, .variants = variants_                                                      \
	}
#define HU_SUM_UNIT(in_, acc_) HU_SUM_UNIT_OF(in_, acc_, hu_sum_unit_check, hu_sum_unit_variants)
#endif
