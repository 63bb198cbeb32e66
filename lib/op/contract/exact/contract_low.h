/* SPDX-License-Identifier: Apache-2.0
   Products of operands that are themselves certified values (sink.h). */
#ifndef HU_OP_CONTRACT_LOW_H
#define HU_OP_CONTRACT_LOW_H

#include "lib/op/contract/contract.h"
#include "lib/op/sink.h"

/* Hands every output of x to sink, whose low holds the operands' trailing parts and errors; it gives no bounds and no
   magnitudes. The error of an output is about |a|2 |eb|2 + |ea|2 |b|2, from the 2-norms of its row and column and of
   their errors, plus 2^-105 of the sum of magnitudes; bounding by norms needs no second product. An operand that is not
   finite makes its rows or columns unknown. */
void hu_contract_enclose_low(const hu_contract *x, hu_sink *sink);

/* Hands listed outputs of all products of x (all of them if element is NULL) to sink. All are computed, and the list
   selects some. */
hu_status hu_contract_enclose_certified(const hu_contract *x, const hu_call *c, hu_tensor *const *in,
	const size_t *element, size_t n, hu_sink *sink);
#endif
