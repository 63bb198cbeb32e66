/* SPDX-License-Identifier: Apache-2.0
   Losses: cross-entropy as one call, soft Dice, mean squares and NT-Xent as several, all of the layer "loss" and marked
   as parts of a loss, which a policy leaves in float32 or wider. */
#include "trainer/model/layer/layer_loss.h"

#include "lib/base/console/opt.h"
#include "trainer/model/layer/layer_image.h"

#include <string.h>

/* Appends a call of the layer on labels, weights and the like, which no policy casts. */
static int
other(hu_program *p, const char *op, const char *role, const int *in, int nin, const hu_attr *attr, int nattr)
{
	char name[32];

	snprintf(name, sizeof name, "loss.%.20s", role);
	return hu_program_apply(p, op, HU_FORWARD, "loss", in, nin, name, HU_FP32, HU_OTHER, attr, nattr);
}

static int
call(hu_program *p, const char *op, const char *role, int a, int b)
{
	int in[2] = { a, b };

	return hu_layer_activation(p, op, "loss", role, in, b < 0 ? 1 : 2, NULL, 0);
}

static const char *const length[HU_RANK] = { "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7" },
			 *const from[HU_RANK] = { "from0", "from1", "from2", "from3", "from4", "from5", "from6",
				 "from7" },
			 *const start[HU_RANK] = { "start0", "start1", "start2", "start3", "start4", "start5", "start6",
				 "start7" };

static void
set(hu_attr *a, int *n, const char *key, double value)
{
	a[*n] = (hu_attr){ .num = value };
	snprintf(a[(*n)++].key, sizeof a->key, "%s", key);
}

/* Appends a tensor of x's shape that is value everywhere: a move whose coordinates all lie outside x. */
static int
constant(hu_program *p, const char *role, int x, double value)
{
	hu_shape s = p->t[x].shape;
	hu_attr attr[HU_MAX_ATTR];
	int n = 0;

	set(attr, &n, "rank", s.rank);
	for (int j = 0; j < s.rank; j++) {
		set(attr, &n, length[j], (double)s.d[j]);
		set(attr, &n, from[j], j);
		set(attr, &n, start[j], (double)s.d[j]);
	}
	set(attr, &n, "fill", value);
	return other(p, "move", role, &x, 1, attr, n);
}

/* Writes the attributes of the move that repeats each element of a tensor of shape s along one more axis; returns how
   many there are. */
static int
repeat(hu_attr *attr, hu_shape s, size_t times)
{
	int n = 0;

	set(attr, &n, "rank", s.rank + 1);
	for (int j = 0; j < s.rank; j++) {
		set(attr, &n, length[j], (double)s.d[j]);
		set(attr, &n, from[j], j);
	}
	set(attr, &n, length[s.rank], (double)times);
	return n;
}

/* Appends labels, weights or the like with each element repeated along one more axis. */
static int
repeated(hu_program *p, const char *role, int x, size_t times)
{
	hu_attr attr[HU_MAX_ATTR];

	return other(p, "move", role, &x, 1, attr, repeat(attr, p->t[x].shape, times));
}

/* Gives the labels to ignore the weight 0 and, since they need not be classes, the label 0. */
static void
ignore(hu_program *p, double index, int *labels, int *weight)
{
	int is[2] = { *labels, constant(p, "index", *labels, index) };
	int ignored = other(p, "equal", "ignored", is, 2, NULL, 0);
	int l[2] = { ignored, *labels }, w[2] = { ignored, *weight };

	*labels = other(p, "mask_out", "labels", l, 2, NULL, 0);
	*weight = other(p, "mask_out", "weight", w, 2, NULL, 0);
}

/* Sums over all but the last axis. */
static int
over_rows(hu_program *p, const char *role, int x)
{
	hu_attr attr[2] = { { "axis", 0, "" }, { "axes", p->t[x].shape.rank - 1, "" } };

	return hu_layer_activation(p, "reduce_sum", "loss", role, &x, 1, attr, 2);
}

/* What dice and squares begin with: loss.p, the softmax of x; the labels one-hot; and the weights of all classes. x has
   the labels' shape and an axis of classes behind. */
typedef struct target {
	int p, hot, weight;
} target;

static target
targets(hu_program *p, int x, int labels, int weight)
{
	size_t classes = hu_last(p->t[x].shape);
	hu_attr attr = { "classes", (double)classes, "" };

	return (target){ call(p, "softmax", "p", x, -1), other(p, "onehot", "onehot", &labels, 1, &attr, 1),
		repeated(p, "weights", weight, classes) };
}

/* The mean over the classes of 1 - (2 I + s) / (P + T + s), where over all rows of the batch I sums the probabilities
   of the labels' classes, P all probabilities and T the labels: MONAI's DiceLoss with softmax=True, to_onehot_y=True,
   batch=True and its smoothing s. */
static void
dice(hu_program *p, target t)
{
	static const double smooth = 1e-5;
	int hot = call(p, "mul", "hot", t.hot, t.weight), some = call(p, "mul", "some", t.p, t.weight);
	int both = over_rows(p, "both", call(p, "mul", "hits", t.p, hot)), likely = over_rows(p, "likely", some),
	    label = over_rows(p, "label", hot), s = constant(p, "smooth", label, smooth),
	    one = constant(p, "one", label, 1);
	int twice = call(p, "add", "above", call(p, "add", "twice", both, both), s),
	    all = call(p, "add", "below", call(p, "add", "sum", likely, label), s);

	call(p, "reduce_mean", "y", call(p, "sub", "missed", one, call(p, "div", "dice", twice, all)), -1);
}

/* The weighted mean over rows and classes of the squares of the probabilities' distances to the labels one-hot. */
static void
squares(hu_program *p, target t)
{
	int far = call(p, "sub", "far", t.p, t.hot), square = call(p, "mul", "square", far, far);
	int sum = call(p, "reduce_sum", "sum", call(p, "mul", "weighted", square, t.weight), -1),
	    weights = other(p, "reduce_sum", "all", &t.weight, 1, NULL, 0);

	call(p, "div", "y", sum, weights);
}

static void
entropy(hu_program *p, const hu_model_sizes *s, const char *op, int x, int labels, int weight)
{
	int in[3] = { x, labels, weight }, out[2] = { hu_program_tensor(p, "loss.y", HU_FP32, hu_shape0(), HU_OTHER),
		hu_program_tensor(p, "loss.p", HU_FP32, p->t[x].shape, HU_ACTIVATION) };
	hu_call *c = hu_program_call(p, op, HU_FORWARD, "loss", in, 3, out, 2);

	if (s->label_smoothing > 0 && hu_op_takes(c->op, "label_smoothing"))
		hu_attr_set(c, "label_smoothing", s->label_smoothing);
}

/* Returns the rows of z divided by their norms, or by 1e-12 where that is larger, as torch's normalize does. */
static int
normalised(hu_program *p, int z)
{
	hu_attr last = { "axis", 1, "" }, attr[HU_MAX_ATTR];
	int norm = hu_layer_activation(p, "reduce_norm", "loss", "norm", &z, 1, &last, 1),
	    least = call(p, "max", "length", norm, constant(p, "least", norm, 1e-12)),
	    n = repeat(attr, p->t[least].shape, hu_last(p->t[z].shape)),
	    lengths = hu_layer_activation(p, "move", "loss", "lengths", &least, 1, attr, n);

	return call(p, "div", "unit", z, lengths);
}

/* Returns the matrix that is 1 where row i, a view, is to be told from view j: where j is neither i nor a row that only
   fills the batch. The labels are each view's partner, and partners are neighbours: a view's own number is its
   neighbour's label. */
static int
others(hu_program *p, int labels, int weight)
{
	size_t n = hu_count(p->t[labels].shape);
	hu_attr flat[HU_MAX_ATTR] = { { "flat", 1, "" }, { "rank", 2, "" }, { "d0", (double)(n / 2), "" },
		{ "d1", 2, "" } },
		swap[] = { { "rank", 2, "" }, { "d0", (double)(n / 2), "" }, { "from0", 0, "" }, { "d1", 2, "" },
			{ "from1", 1, "" }, { "start1", 1, "" }, { "step1", -1, "" } },
		line[] = { { "flat", 1, "" }, { "rank", 1, "" }, { "d0", (double)n, "" } },
		classes = { "classes", (double)n, "" },
		rows[] = { { "rank", 2, "" }, { "d0", (double)n, "" }, { "d1", (double)n, "" }, { "from1", 0, "" } };
	int pairs = other(p, "move", "pairs", &labels, 1, flat, 4),
	    swapped = other(p, "move", "swapped", &pairs, 1, swap, 7),
	    own = other(p, "move", "own", &swapped, 1, line, 3);
	int in[2] = { other(p, "onehot", "self", &own, 1, &classes, 1),
		other(p, "move", "columns", &weight, 1, rows, 4) };

	return other(p, "mask_out", "others", in, 2, NULL, 0);
}

/* NT-Xent (Chen and others, A simple framework for contrastive learning of visual representations, 2020): the
   cross-entropy of each view's similarities to all others, the cosines over the temperature, whose label is its
   partner. Similarities that have no share are -10000, whose exponential is 0. */
static void
contrast(hu_program *p, const hu_model_sizes *s, int z, int labels, int weight)
{
	int unit = normalised(p, z), in[2] = { unit, unit };
	hu_attr transposed = { "tb", 1, "" },
		mask[2] = { { "factor", 1 / (s->temperature > 0 ? s->temperature : 0.5), "" }, { "fill", -10000, "" } };
	int keys[2] = { hu_layer_activation(p, "matmul", "loss", "cosine", in, 2, &transposed, 1),
		others(p, labels, weight) };

	entropy(p, s, "softmax_xent", hu_layer_activation(p, "mask_keys", "loss", "logits", keys, 2, mask, 2), labels,
		weight);
}

size_t
hu_layer_outputs(const hu_model_sizes *s, const char *labels)
{
	return hu_model_views(s) > 1 ? hu_layer_scaled(s, 128) : hu_layer_classes(s, labels);
}

void
hu_layer_loss(hu_program *p, const hu_model_sizes *s, int x, const char *array)
{
	int labels = hu_layer_indices(p, s, array),
	    weight = hu_program_tensor(p, "input.weight", HU_FP32, p->t[labels].shape, HU_OTHER);
	int first = p->nc;
	double index;

	if (s->ignore_index && hu_parse_real(s->ignore_index, &index))
		ignore(p, index, &labels, &weight);
	if (!s->loss || !strcmp(s->loss, "cross-entropy"))
		entropy(p, s, "softmax_xent", x, labels, weight);
	else if (hu_model_views(s) > 1)
		contrast(p, s, x, labels, weight);
	else if (!strcmp(s->loss, "dice"))
		dice(p, targets(p, x, labels, weight));
	else
		squares(p, targets(p, x, labels, weight));
	hu_program_mark_loss(p, first);
}

void
hu_layer_binary_loss(hu_program *p, const hu_model_sizes *s, int x, const char *array)
{
	int labels = hu_layer_indices(p, s, array), first = p->nc;

	entropy(p, s, "sigmoid_xent", x, labels,
		hu_program_tensor(p, "input.weight", HU_FP32, p->t[labels].shape, HU_OTHER));
	hu_program_mark_loss(p, first);
}
