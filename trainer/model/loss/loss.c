/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/loss/loss.h"

#include <string.h>

static const hu_loss_row rows[] = {
#define LOSS(name, id, views, reads, summary) { name, hu_loss_##id, views, reads },
#include "trainer/model/loss/losses.def"
#undef LOSS
};

const hu_loss_row *
hu_loss_at(int i)
{
	return i >= 0 && (size_t)i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

const hu_loss_row *
hu_loss_find(const char *name)
{
	const hu_loss_row *r = NULL;

	for (int i = 0; (r = hu_loss_at(i)) && name && strcmp(r->name, name); i++)
		;
	return r;
}

size_t
hu_loss_views(const hu_model_sizes *s)
{
	return hu_loss_find(s->loss)->views;
}
