/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/sizes.h"

#include "trainer/model/layer/loss.h"

size_t
hu_model_views(const hu_model_sizes *s)
{
	return hu_loss_find(s->loss)->views;
}
