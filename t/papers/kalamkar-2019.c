/* SPDX-License-Identifier: Apache-2.0
   D. Kalamkar, D. Mudigere, N. Mellempudi, D. Das, K. Banerjee, S. Avancha, et al., A study of BFLOAT16 for deep
   learning training, arXiv:1905.12322, 2019: bfloat16 needs no loss scaling, for no gradient is lost.
   Reproduced on the desk model of micikevicius-2018.c, |g| = 2^N(-22,5): the share that bf16 turns into zero is 0
   (settled value), where fp16 loses 27.43 %; that none becomes subnormal either; and how far the model would have
   to move down, its mean from 2^-22 to 2^-118, before one in a thousand gradients vanished in bf16. */
#include "t/papers/gradients.h"

int
main(void)
{
	json_t *row = inspect(-22, 5, 0, "bf16");

	is_int(json_integer_value(json_object_get(row, "became_zero")), 0, "bf16: no gradient becomes zero");
	is_int(json_integer_value(json_object_get(row, "became_subnormal")), 0, "none becomes subnormal");
	is_int(json_integer_value(json_object_get(row, "overflow")), 0, "none overflows");
	ok(json_real_value(json_object_get(row, "rel_l2")) < 0x1p-8,
		"without a loss scale bf16 changes no gradient by more than its unit roundoff");
	ok(json_real_value(json_object_get(row, "cosine")) > 1 - 0x1p-16,
		"the cosine to the exact gradient is 1 within u^2");
	json_decref(row);
	row = inspect(-22, 5, 0, "fp16");
	is_near(share(row, "became_zero"), 0.2743, 0.0001, "fp16 loses 27.43 %%");
	json_decref(row);
	/* Phi((-134 - mean) / 5) = 1/1000 where the mean is -134 + 5 * 3.0902 */
	row = inspect(-134 + 5 * 3.0902, 5, 0, "bf16");
	is_near(share(row, "became_zero"), 0.001, 1.0 / GRADIENTS,
		"bf16 loses one in a thousand of gradients about 2^-118.5");
	json_decref(row);
	return done_testing();
}
