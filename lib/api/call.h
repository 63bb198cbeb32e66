/* SPDX-License-Identifier: Apache-2.0
   A call of the library (include/halfulp/call.h), and the same as the operators' columns take it. */
#ifndef HU_API_CALL_H
#define HU_API_CALL_H

#include "lib/op/op.h"

#include "include/halfulp/call.h"

enum { HU_CALL_INPUTS = 16, HU_CALL_OUTPUTS = 16 };

/* Formats that are HU_NO_FORMAT were not set. */
struct halfulp_call {
	hu_call call;
	hu_format_id out, compute, acc;
	hu_sum sum;
	int has_sum; /* a summation model was set */
	uint64_t seed;
	hu_tensor operand[HU_CALL_INPUTS];
};

/* A call with everything settled: what was not set has its default, and results have their shapes and formats. */
typedef struct hu_call_settled {
	hu_call call;
	hu_tensor *in[HU_CALL_INPUTS];
	hu_shape shape[HU_CALL_OUTPUTS];
	hu_format_id format[HU_CALL_OUTPUTS];
} hu_call_settled;

/* HU_EINVAL says which operand is missing or does not fit, or that there is no result k. */
hu_status hu_call_settle(hu_call_settled *s, const halfulp_call *call, int k, const char *function);
#endif
