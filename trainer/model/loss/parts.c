/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/loss/parts.h"

#include "lib/op/move/keys.h"

#include <string.h>

int
hu_loss_other(hu_program *p, const char *op, const char *role, const int *in, int nin, const hu_attr *attr, int nattr)
{
	char name[32];

	snprintf(name, sizeof name, "loss.%.20s", role);
	return hu_program_apply(p, op, HU_FORWARD, "loss", in, nin, name, HU_FP32, HU_OTHER, attr, nattr);
}

int
hu_loss_call(hu_program *p, const char *op, const char *role, int a, int b)
{
	int in[2] = { a, b };

	return hu_layer_activation(p, op, "loss", role, in, b < 0 ? 1 : 2, NULL, 0);
}

static void
set(hu_attr *a, int *n, const char *key, double value)
{
	a[*n] = (hu_attr){ .num = value };
	snprintf(a[(*n)++].key, sizeof a->key, "%s", key);
}

int
hu_loss_constant(hu_program *p, const char *role, int x, double value)
{
	hu_shape s = p->t[x].shape;
	hu_attr attr[HU_MAX_ATTR];
	int n = 0;

	set(attr, &n, "rank", s.rank);
	for (int j = 0; j < s.rank; j++) {
		set(attr, &n, hu_move_key[j].d, (double)s.d[j]);
		set(attr, &n, hu_move_key[j].from, j);
		set(attr, &n, hu_move_key[j].start, (double)s.d[j]);
	}
	set(attr, &n, "fill", value);
	return hu_loss_other(p, "move", role, &x, 1, attr, n);
}

int
hu_loss_repeat(hu_attr *attr, hu_shape s, size_t times)
{
	int n = 0;

	set(attr, &n, "rank", s.rank + 1);
	for (int j = 0; j < s.rank; j++) {
		set(attr, &n, hu_move_key[j].d, (double)s.d[j]);
		set(attr, &n, hu_move_key[j].from, j);
	}
	set(attr, &n, hu_move_key[s.rank].d, (double)times);
	return n;
}

/* Appends that move of labels, weights or the like. */
static int
repeated(hu_program *p, const char *role, int x, size_t times)
{
	hu_attr attr[HU_MAX_ATTR];

	return hu_loss_other(p, "move", role, &x, 1, attr, hu_loss_repeat(attr, p->t[x].shape, times));
}

hu_loss_target
hu_loss_targets(hu_program *p, int x, int labels, int weight)
{
	size_t classes = hu_last(p->t[x].shape);
	hu_attr attr = { "classes", (double)classes, "" };

	return (hu_loss_target){ hu_loss_call(p, "softmax", "p", x, -1),
		hu_loss_other(p, "onehot", "onehot", &labels, 1, &attr, 1),
		repeated(p, "weights", weight, classes) };
}

void
hu_loss_entropy(hu_program *p, const hu_model_sizes *s, const char *op, int x, int labels, int weight)
{
	int in[3] = { x, labels, weight }, out[2] = { hu_program_tensor(p, "loss.y", HU_FP32, hu_shape0(), HU_OTHER),
		hu_program_tensor(p, "loss.p", HU_FP32, p->t[x].shape, HU_ACTIVATION) };
	hu_call *c = hu_program_call(p, op, HU_FORWARD, "loss", in, 3, out, 2);

	if (s->label_smoothing > 0 && hu_op_takes(c->op, "label_smoothing"))
		hu_attr_set(c, "label_smoothing", s->label_smoothing);
}
