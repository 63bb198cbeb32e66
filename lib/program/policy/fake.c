/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/policy/fake.h"

#include <stdio.h>
#include <string.h>

/* Appends a call of one input whose output is STEM@int8_WORD. */
static int
apply(hu_program *p, const char *op, int in, const char *layer, const char *stem, const char *word, const hu_attr *attr,
	int nattr)
{
	char name[240];

	snprintf(name, sizeof name, "%.200s@int8_%s", stem, word);
	return hu_program_apply(p, op, HU_FORWARD, layer, &in, 1, name, HU_FP32, HU_OTHER, attr, nattr);
}

/* The scales of t's channels. */
static int
scales(hu_program *p, int t, int per_channel, const char *layer, const char *stem)
{
	hu_shape s = p->t[t].shape;
	const hu_attr rows[2] = { { .key = "axis", .num = 0 }, { .key = "axes", .num = s.rank - 1 } },
		      /* 0/0 would be NaN: what is nothing but zeros has a scale as well */
		some = { .key = "low", .num = 0x1p-100 }, step = { .key = "factor", .num = 1.0 / 127 },
		      wide[2] = { { .key = "rank", .num = 1 }, { .key = "d0", .num = (double)s.d[s.rank - 1] } };
	int x = apply(p, "abs", t, layer, stem, "abs", NULL, 0);

	if (!per_channel || s.rank > 1)
		x = apply(p, "reduce_max", x, layer, stem, "amax", rows, per_channel ? 2 : 0);
	x = apply(p, "clip", x, layer, stem, "some", &some, 1);
	x = apply(p, "scale", x, layer, stem, "scale", &step, 1);
	return per_channel ? x : apply(p, "move", x, layer, stem, "scales", wide, 2);
}

int
hu_fake_quantise(hu_program *p, int t, int per_channel, const char *layer)
{
	char stem[200], name[240];
	int in[2] = { t, -1 };

	snprintf(stem, sizeof stem, "%.*s", (int)strcspn(p->t[t].name, "@"), p->t[t].name);
	snprintf(name, sizeof name, "%s@int8", stem);
	if ((in[1] = hu_program_find(p, name)) >= 0)
		return in[1];
	/* One channel is the whole tensor. */
	in[1] = scales(p, t, per_channel || hu_last(p->t[t].shape) == 1, layer, stem);
	return hu_program_apply(p, "fake_quantise", HU_FORWARD, layer, in, 2, name, HU_FP32, p->t[t].cls, NULL, 0);
}
