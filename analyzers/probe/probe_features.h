/* SPDX-License-Identifier: Apache-2.0
   Features that the general probes do not find: exact products and carry bits (Fasi et al. 2021) of every kind of unit,
   and all features of chains (fp64) and of operands below 8 bits, which have few values. */
#ifndef HU_ANALYZERS_PROBE_FEATURES_H
#define HU_ANALYZERS_PROBE_FEATURES_H

#include "lib/sum/table/model.h"

#include <jansson.h>

/* Returns 1 where s's operands are too narrow for products from 2^10 down to 2^-18. */
int hu_probe_is_narrow(hu_sum s);

/* Adds the members "products exact" and "carry bits, at least" for the resolved model s. The latter is the number of
   bits that the sum of a block, length products and C, needs above its largest term. */
void hu_probe_products(json_t *o, hu_sum s, int length);

/* Adds all features: of a chain of fused multiply-adds; of operands below 8 bits, by products of 1/4 to 16 and a C far
   above or below them. */
void hu_probe_chain(json_t *o, hu_sum s);
void hu_probe_narrow(json_t *o, hu_sum s);

/* Probes P11, P20 and P22 with such operands: how many products are added in one block; the last bit of C that survives
   a cancelled pair (for scaled groups only below the scales); how many fraction bits the output has. */
int hu_probe_narrow_length(hu_sum s);
int hu_probe_narrow_depth(hu_sum s);
int hu_probe_narrow_kept(hu_sum s);
#endif
