/* SPDX-License-Identifier: Apache-2.0
   What one call has of another one. */
#include "lib/op/call.h"

#include <string.h>

void
hu_call_copy_settings(hu_call *to, const hu_call *from)
{
	to->nattr = from->nattr;
	memcpy(to->attr, from->attr, sizeof to->attr);
	to->fmt = from->fmt;
	to->mode = from->mode;
	to->flags = from->flags;
	to->loss = from->loss;
	to->sum = from->sum;
}
