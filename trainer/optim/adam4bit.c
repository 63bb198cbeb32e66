/* SPDX-License-Identifier: Apache-2.0
   Adam with moments in 4 bits (torchao's AdamW4bit): as adam8bit, in blocks of 128 elements, the first moment by the
   dynamic map of 4 bits and the second by sixteenths, of which none is 0. */
#include "trainer/optim/optim.h"

void
hu_optim_adam4bit(hu_program *p, const hu_optim_options *o, int found)
{
	hu_optim_mapped(p, o, found, "dynamic4", "linear4u", 128);
}
