/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/layer_dropout.h"

#include "lib/base/hash.h"

static const char clock_name[] = "dropout.clock";

int
hu_layer_dropout(hu_program *p, const hu_model_sizes *s, int eval, const char *layer, int x)
{
	char stream[HU_NAME];
	int in[2] = { x, hu_program_find(p, clock_name) };

	if (eval || !(s->dropout > 0))
		return x;
	if (in[1] < 0)
		in[1] = hu_program_tensor(p, clock_name, HU_FP64, hu_shape1(2), HU_OTHER);
	snprintf(stream, sizeof stream, "dropout/%.90s", layer);
	hu_attr attr[] = { { "p", s->dropout, "" }, { "stream", hu_fnv1a32(stream), "" } };
	return hu_layer_activation(p, "dropout", layer, "drop", in, 2, attr, 2);
}

void
hu_dropout_begin(hu_program *p)
{
	int clock = hu_program_find(p, clock_name);

	if (clock >= 0)
		p->t[clock].state = 1;
}

void
hu_dropout_end(hu_program *p)
{
	int in[2] = { hu_program_find(p, clock_name), 0 }, next;

	if (in[0] < 0)
		return;
	in[1] = hu_program_tensor(p, "dropout.tick", HU_FP64, hu_shape1(2), HU_OTHER);
	p->t[in[1]].state = 1;
	next = hu_program_tensor(p, "dropout.clock_next", HU_FP64, hu_shape1(2), HU_OTHER);
	p->t[in[0]].next = next;
	hu_program_call(p, "add", HU_UPDATE, "dropout", in, 2, &next, 1);
}
