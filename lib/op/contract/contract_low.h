/* SPDX-License-Identifier: Apache-2.0
   Products of operands that are certified values themselves (sink.h). */
#ifndef HU_OP_CONTRACT_LOW_H
#define HU_OP_CONTRACT_LOW_H

#include "lib/op/contract/contract.h"
#include "lib/op/sink.h"

/* Every output of X to SINK, whose LOW has the operands' low parts and errors; no bounds, no magnitudes. An error
   is about |a|2 |eb|2 + |ea|2 |b|2 of a row and a column, beside 2^-105 of what they add up: the choice of bounds
   that cost no product. An operand that is not finite leaves its rows or columns unknown. */
void hu_contract_enclose_low(const hu_contract *x, hu_sink *sink);
#endif
