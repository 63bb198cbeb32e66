/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/sizes.h"

#include <string.h>

size_t
hu_model_views(const hu_model_sizes *s)
{
	return s->loss && !strcmp(s->loss, "nt-xent") ? 2 : 1;
}
