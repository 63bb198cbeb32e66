/* SPDX-License-Identifier: Apache-2.0
   Adafactor (Shazeer and Stern 2018) as torch.optim.Adafactor has it. The second moment of a parameter with two or more
   axes is the product of one of its rows, w_row, and one of its columns, w_col, over the last two axes, divided by the
   mean of w_row; that of a vector is w_v. Both are averages with the weight t^-0.8 of step t. The update u = g /
   sqrt(second moment) is divided by max(1, rms(u)) and multiplied by max(1e-3, rms(w)) min(lr, 1 / sqrt(t)). The second
   moment is at least the square of the epsilon of the parameter's format. Scalars of a step are in float64, tensors in
   float32 or wider. Weight decay is decoupled, w lr decay. The last call is gradient descent by the step at the rate 1,
   whose swamped updates are counted. */
#include "trainer/optim/optim.h"

#include "lib/op/move/keys.h"

#include "lib/number/format.h"

#include <math.h>
#include <stdio.h>

/* torch.optim.Adafactor's beta2_decay and second epsilon; its d is 1. */
static const double DECAY = -0.8, LEAST_RMS = 1e-3;

typedef struct step {
	hu_program *p;
	const hu_optim_options *o;
	int found, weight, rate; /* the scalars t^-0.8 and min(lr, 1 / sqrt(t)) */
} step;

/* Appends a call that makes the scalar NAME in float64. */
static int
scalar(hu_program *p, const char *op, const char *name, const int *in, int nin)
{
	int out = hu_program_tensor(p, name, HU_FP64, hu_shape0(), HU_OTHER);

	hu_program_call(p, op, HU_UPDATE, "optim", in, nin, &out, 1);
	return out;
}

/* Sets an attribute of the last call, which made t, and returns t. */
static int
with(hu_program *p, int t, const char *key, double value)
{
	hu_attr_set(&p->c[p->nc - 1], key, value);
	return t;
}

/* Appends the scalars that all parameters share. The clock's largest element is t, or 1 before the first step, since
   powers of beta are not above 1. */
static void
begin(step *s)
{
	hu_program *p = s->p;
	int clock = hu_optim_clock(p, s->o, s->found), rate = hu_program_find(p, "optim.rate");
	int t = scalar(p, "reduce_max", "optim.t", &clock, 1), last = scalar(p, "log", "optim.log_t", &t, 1);

	last = with(p, scalar(p, "scale", "optim.log_weight", &last, 1), "factor", DECAY);
	s->weight = scalar(p, "exp", "optim.weight", &last, 1);
	last = scalar(p, "rsqrt", "optim.by_root", &t, 1);
	s->rate = rate < 0 ? with(p, scalar(p, "clip", "optim.relative", &last, 1), "high", s->o->lr)
			   : scalar(p, "min", "optim.relative", (int[]){ last, rate }, 2);
}

/* Appends a call that makes LAYER.ROLE_SUFFIX of parameter i, in float32 or wider and of this shape. */
static int
make(const step *s, int i, const char *op, const char *suffix, hu_shape shape, const int *in, int nin)
{
	char name[HU_NAME + 24];
	hu_format_id f = s->p->t[i].format == HU_FP64 ? HU_FP64 : HU_FP32;

	snprintf(name, sizeof name, "%s_%s", s->p->t[i].name, suffix);
	int out = hu_program_tensor(s->p, name, f, shape, HU_OTHER);
	hu_program_call(s->p, op, HU_UPDATE, s->p->t[i].layer, in, nin, &out, 1);
	return out;
}

/* Repeats x, whose axes behind the first `own` have one element, along the others of a shape. */
static int
spread(const step *s, int i, const char *suffix, int x, int own, hu_shape shape)
{
	int y = make(s, i, "move", suffix, shape, &x, 1);

	with(s->p, y, "rank", shape.rank);
	for (int j = 0; j < shape.rank; j++) {
		with(s->p, y, hu_move_key[j].d, (double)shape.d[j]);
		if (j < own)
			with(s->p, y, hu_move_key[j].from, j);
	}
	return y;
}

/* Appends the state LAYER.ROLE_NAME of x's shape, which goes to x by the step's weight, and returns its next value
   before the finite check decides. */
static int
average(const step *s, int i, const char *name, int x)
{
	hu_program *p = s->p;
	hu_format_id f = s->o->state ? (hu_format_id)(s->o->state - 1) : p->t[i].format;
	hu_shape shape = p->t[x].shape;
	char text[HU_NAME + 24], word[24];

	snprintf(text, sizeof text, "%s_%s", p->t[i].name, name);
	int state = hu_program_tensor(p, text, f, shape, HU_OTHER);
	p->t[state].state = 1;
	snprintf(word, sizeof word, "%s_weight", name);
	hu_format_id wide = p->t[i].format == HU_FP64 ? HU_FP64 : HU_FP32;
	int weight = spread(s, i, word, hu_program_cast(p, s->weight, wide, HU_UPDATE, "optim"), 0, shape);
	snprintf(word, sizeof word, "%s_moved", name);
	int moved = make(s, i, "lerp", word, shape, (int[]){ state, x, weight }, 3);
	hu_optim_keep(p, i, state, moved, s->found);
	return moved;
}

/* The mean of g's squares over axis `axis`, which keeps one element. */
static int
mean_square(const step *s, int i, const char *suffix, int axis)
{
	int g = s->p->t[i].grad;
	hu_shape shape = s->p->t[i].shape;
	double n = (double)shape.d[axis];
	char word[24];

	shape.d[axis] = 1;
	snprintf(word, sizeof word, "%s_squares", suffix);
	int sum = with(s->p, make(s, i, "reduce_squares", word, shape, &g, 1), "axis", axis);
	with(s->p, sum, "keep", 1);
	snprintf(word, sizeof word, "%s_mean", suffix);
	return with(s->p, make(s, i, "scale", word, shape, &sum, 1), "factor", 1 / n);
}

/* The estimate of the second moment. */
static int
second_moment(const step *s, int i, double eps)
{
	hu_program *p = s->p;
	hu_shape shape = p->t[i].shape, rows = shape, one = shape;
	int last = shape.rank - 1, g = p->t[i].grad;

	if (shape.rank < 2)
		return average(s, i, "v", make(s, i, "mul", "square", shape, (int[]){ g, g }, 2));
	rows.d[last] = one.d[last] = one.d[last - 1] = 1;
	int row = average(s, i, "row", mean_square(s, i, "row", last)),
	    col = average(s, i, "col", mean_square(s, i, "col", last - 1));
	int mean = with(p, make(s, i, "reduce_mean", "mean", one, &row, 1), "axis", last - 1);
	with(p, mean, "keep", 1);
	mean = with(p, make(s, i, "clip", "mean_least", one, &mean, 1), "low", eps);
	int share =
		make(s, i, "div", "row_share", rows, (int[]){ row, spread(s, i, "means", mean, last - 1, rows) }, 2);
	int v = make(s, i, "matmul", "estimate", shape, (int[]){ share, col }, 2);
	return last > 1 ? with(p, v, "batch", last - 1) : v;
}

/* The root mean square of x, at least `least`. */
static int
rms(const step *s, int i, const char *suffix, int x, double least)
{
	char word[24];

	snprintf(word, sizeof word, "%s_norm", suffix);
	int norm = make(s, i, "reduce_norm", word, hu_shape0(), &x, 1);
	snprintf(word, sizeof word, "%s_rms", suffix);
	norm = make(s, i, "scale", word, hu_shape0(), &norm, 1);
	with(s->p, norm, "factor", 1 / sqrt((double)hu_count(s->p->t[i].shape)));
	snprintf(word, sizeof word, "%s_least", suffix);
	return with(s->p, make(s, i, "clip", word, hu_shape0(), &norm, 1), "low", least);
}

static void
update(const step *s, int i)
{
	hu_program *p = s->p;
	hu_shape shape = p->t[i].shape;
	double eps = hu_pow2(1 - hu_format_of(p->t[i].format).p), decay = hu_optim_decay(s->o, p->t[i].name);
	int v = second_moment(s, i, eps);

	v = with(p, make(s, i, "clip", "v_least", shape, &v, 1), "low", eps * eps);
	v = make(s, i, "rsqrt", "by", shape, &v, 1);
	int u = make(s, i, "mul", "u", shape, (int[]){ v, p->t[i].grad }, 2);
	int by = make(s, i, "scale", "rate", hu_shape0(), (int[]){ rms(s, i, "w", i, LEAST_RMS), s->rate }, 2);
	by = make(s, i, "div", "by_rms", hu_shape0(), (int[]){ by, rms(s, i, "u", u, 1) }, 2);
	u = make(s, i, "scale", "step", shape, (int[]){ u, by }, 2);
	if (decay != 0) {
		int rate = hu_program_find(p, "optim.rate"),
		    lost = make(s, i, "scale", "decay", shape, (int[]){ i, rate }, rate < 0 ? 1 : 2);
		with(p, lost, "factor", rate < 0 ? s->o->lr * decay : decay);
		u = make(s, i, "add", "all", shape, (int[]){ u, lost }, 2);
	}
	int in[3] = { i, u, s->found }, out = hu_optim_next(p, i);
	hu_attr_set(hu_program_call(p, "sgd", HU_UPDATE, p->t[i].layer, in, 3, &out, 1), "lr", 1);
}

void
hu_optim_adafactor(hu_program *p, const hu_optim_options *o, int found)
{
	step s = { .p = p, .o = o, .found = found };

	begin(&s);
	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			update(&s, i);
}
