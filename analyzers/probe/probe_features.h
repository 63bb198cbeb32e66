/* SPDX-License-Identifier: Apache-2.0
   Features of a unit that its operands' few values limit, or that every kind of unit has: exact products and
   carry bits (Fasi et al. 2021) of all, all features of chains (fp64) and of operands below 8 bits. */
#ifndef HU_ANALYZERS_PROBE_FEATURES_H
#define HU_ANALYZERS_PROBE_FEATURES_H

#include "lib/sum/model.h"

#include <jansson.h>

/* Whether s's operands are too narrow for products of 2^10 down to 2^-18. */
int hu_probe_is_narrow(hu_sum s);

/* Rows "products exact" and "carry bits, at least" of s, resolved: the latter counts what a block's sum, of length
   products and C, needs above the largest. */
void hu_probe_products(json_t *o, hu_sum s, int length);

/* All features of a chain of fused multiply-adds; of operands below 8 bits, with products of 1/4 to 16 and C far above
   or below them. */
void hu_probe_chain(json_t *o, hu_sum s);
void hu_probe_narrow(json_t *o, hu_sum s);

/* P11, P20 and P22 with such operands: products that meet in one block, the last bit of C that survives a cancelled
   pair (of GROUPS: below the scales alone), the output's fraction bits. */
int hu_probe_narrow_length(hu_sum s);
int hu_probe_narrow_depth(hu_sum s);
int hu_probe_narrow_kept(hu_sum s);
#endif
