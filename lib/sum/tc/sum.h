/* SPDX-License-Identifier: Apache-2.0
   The part of a specification that tensor cores alone have: the architecture, its path and its operands' formats. */
#ifndef HU_SUM_SUM_TC_H
#define HU_SUM_SUM_TC_H

#include "lib/sum/sum.h"

/* Sets the architecture that stands behind "tc:"; HU_EINVAL names the known ones. word may be NULL where none
   is given. */
hu_status hu_sum_tc_arch(hu_sum *s, const char *word);
/* Sets the value of a key: in, in2, out, path or promote. HU_EINVAL says which keys or values there are. */
hu_status hu_sum_tc_key(hu_sum *s, const char *key, const char *word);
/* Refuses what tc.def has no instruction for, with HU_EINVAL. Keys that are not given may be anything. */
hu_status hu_sum_tc_check(const hu_sum *s);
/* As hu_sum_resolve, of a tc model. */
hu_status hu_sum_tc_resolve(hu_sum *s, hu_format_id a, hu_format_id b, hu_format_id acc);
/* Hands out every architecture and path, each also with promote= of the powers of two from 16 to 1024. */
void hu_sum_tc_variants(hu_sum s, size_t longest, void (*take)(void *to, hu_sum s), void *to);
/* Writes the model's canonical text into out; `outer` is the text of the second accumulator, which comes last. */
void hu_sum_tc_print(hu_sum s, const char *outer, char *out, size_t size);
#endif
