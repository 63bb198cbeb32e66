/* SPDX-License-Identifier: Apache-2.0
   Adam with moments in 8 bits (Dettmers and others, 8-bit optimizers via block-wise quantization, 2022; bitsandbytes):
   the step is AdamW's, in float32, of moments that are then rounded to bitsandbytes' dynamic maps in blocks of 256
   elements. Parameters of fewer than 4096 elements have moments in float32, as there. */
#include "trainer/optim/optim.h"

void
hu_optim_adam8bit(hu_program *p, const hu_optim_options *o, int found)
{
	hu_optim_mapped(p, o, found, "dynamic8", "dynamic8u", 256);
}
