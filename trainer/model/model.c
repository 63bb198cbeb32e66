/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/model.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/str.h"
#include "trainer/model/layer/layer_attention.h"
#include "trainer/model/loss/loss.h"
#include "trainer/model/models.h"

#include <string.h>

static const hu_model rows[] = {
#define MODEL(id, optimizer, lr, batch, inputs, options, summary)                                                     \
	{ #id, summary, optimizer, inputs, options, lr, batch, hu_model_##id },
#include "trainer/model/models.def"
#undef MODEL
};

enum { ROWS = sizeof rows / sizeof *rows };

const hu_model *
hu_model_at(int i)
{
	return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

hu_status
hu_model_find(const char *name, const hu_model **out)
{
	const char *names[ROWS];

	for (int i = 0; i < ROWS; i++) {
		names[i] = rows[i].name;
		if (!strcmp(rows[i].name, name)) {
			*out = &rows[i];
			return HU_OK;
		}
	}
	const char *near = hu_nearest(name, names, ROWS);
	return near ? hu_fail(HU_EINVAL, "unknown model '%s'; did you mean %s", name, near)
		    : hu_fail(HU_EINVAL, "unknown model '%s'; there are"
#define MODEL(id, optimizer, lr, batch, inputs, options, summary) " " #id
#include "trainer/model/models.def"
#undef MODEL
			      , name);
}

hu_status
hu_model_check(const hu_model *m, const hu_model_sizes *s)
{
	if (hu_word_in(m->options, "levels"))
		HU_TRY(hu_unet_check(s));
	if (hu_word_in(m->options, "heads"))
		HU_TRY(hu_transformer_check(s));
	return HU_OK;
}

hu_program *
hu_model_program(const hu_model *m, const hu_model_sizes *s, int eval)
{
	hu_program *p = hu_program_new(eval ? "eval" : "train");
	hu_model_sizes sizes = *s;

	sizes.batch *= hu_loss_views(s);
	m->build(p, &sizes, eval);
	return p;
}
