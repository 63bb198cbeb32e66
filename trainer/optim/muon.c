/* SPDX-License-Identifier: Apache-2.0
   Muon (Jordan and others 2024) as torch.optim.Muon has it: b += (1 - momentum) (g - b), u = g + momentum (b - g), five
   Newton-Schulz iterations X = a X + (b A + c A A) X with A = X X', begun from u / max(||u||, 1e-7), and w -= lr
   sqrt(max(1, rows/columns)) X after w -= lr decay w. X and A are in the format of the key iterate, bfloat16 as
   published; products are summed in float32. Of a tall matrix A is X'X, which stands on X's other side, so that nothing
   is transposed. Parameters that are no matrices have AdamW's update. */
#include "trainer/optim/optim.h"

#include <math.h>
#include <stdio.h>

enum { ITERATIONS = 5 };

/* The coefficients of torch.optim.Muon. */
static const double A = 3.4445, B = -4.775, C = 2.0315;

/* Appends the product of two matrices in float32 or wider: LAYER.ROLE_SUFFIX. */
static int
product(hu_program *p, int i, const char *suffix, int k, int a, int b, int ta, int tb, hu_format_id f)
{
	char name[HU_NAME + 24];
	int in[2] = { a, b };
	hu_attr attr[2] = { { .key = "ta", .num = ta }, { .key = "tb", .num = tb } };

	snprintf(name, sizeof name, "%s_%s%d", p->t[i].name, suffix, k);
	return hu_program_apply(p, "matmul", HU_UPDATE, p->t[i].layer, in, 2, name, f, HU_OTHER, attr, 2);
}

/* Appends alpha a + beta b in format f. */
static int
blend(hu_program *p, int i, const char *suffix, int k, int a, double alpha, int b, double beta, hu_format_id f)
{
	char name[HU_NAME + 24];
	int in[2] = { a, b };
	hu_attr attr[2] = { { .key = "alpha", .num = alpha }, { .key = "beta", .num = beta } };

	snprintf(name, sizeof name, "%s_%s%d", p->t[i].name, suffix, k);
	return hu_program_apply(p, "axpby", HU_UPDATE, p->t[i].layer, in, 2, name, f, HU_OTHER, attr, 2);
}

/* Appends the iterations on u, and returns the last X. */
static int
orthogonal(hu_program *p, const hu_optim_options *o, int i, int u, hu_format_id wide)
{
	int tall = p->t[i].shape.d[0] > p->t[i].shape.d[1];
	hu_format_id f = o->iterate ? (hu_format_id)(o->iterate - 1) : HU_BF16;
	int x = hu_optim_apply(p, i, "cast", "x", f, 0, &u, 1);
	int norm = hu_optim_apply(p, i, "reduce_norm", "x_norm", wide, 1, &x, 1);
	int floor = hu_optim_apply(p, i, "clip", "x_floor", wide, 1, &norm, 1);

	hu_attr_set(&p->c[p->nc - 1], "low", 1e-7);
	int by = hu_optim_apply(p, i, "reciprocal", "x_by", wide, 1, &floor, 1), in[2] = { x, by };
	x = hu_optim_apply(p, i, "scale", "x0", f, 0, in, 2);
	for (int k = 1; k <= ITERATIONS; k++) {
		int gram = product(p, i, "gram", k, x, x, tall, !tall, f),
		    square = product(p, i, "square", k, gram, gram, 0, 0, wide),
		    step = blend(p, i, "poly", k, gram, B, square, C, f),
		    moved = tall ? product(p, i, "turn", k, x, step, 0, 0, wide)
				 : product(p, i, "turn", k, step, x, 0, 0, wide);
		x = blend(p, i, "x", k, x, A, moved, 1, f);
	}
	return x;
}

static void
matrix(hu_program *p, const hu_optim_options *o, int i, int found)
{
	hu_format_id wide = p->t[i].format == HU_FP64 ? HU_FP64 : HU_FP32;
	double rows = (double)p->t[i].shape.d[0], columns = (double)p->t[i].shape.d[1];
	int m = hu_optim_state(p, o, i, "m"), g = p->t[i].grad, in[4] = { m, g };
	int moved = hu_optim_apply(p, i, "lerp", "m_moved", p->t[m].format, 0, in, 2);

	hu_attr_set(&p->c[p->nc - 1], "factor", 1 - o->momentum);
	int u = hu_optim_apply(p, i, "lerp", "u", wide, 0, (int[]){ g, moved }, 2);
	hu_attr_set(&p->c[p->nc - 1], "factor", o->momentum);
	int x = orthogonal(p, o, i, u, wide), out;
	int step = hu_optim_apply(p, i, "scale", "step", wide, 0, &x, 1);
	hu_attr_set(&p->c[p->nc - 1], "factor", sqrt(fmax(1, rows / columns)));
	in[0] = i;
	in[1] = step;
	in[2] = found;
	out = hu_optim_next(p, i);
	hu_call *c = hu_optim_update(p, o, "sgd", in, 3, &out, 1);
	hu_attr_set(c, "weight_decay", hu_optim_decay(o, p->t[i].name));
	hu_optim_keep(p, i, m, moved, found);
}

static int
is_matrix(const hu_program *p, int i)
{
	return p->t[i].shape.rank == 2;
}

static void
decay(hu_call *c, const hu_optim_options *o, const char *parameter)
{
	hu_attr_set(c, "weight_decay", hu_optim_decay(o, parameter));
}

void
hu_optim_muon(hu_program *p, const hu_optim_options *o, int found)
{
	int clock = hu_optim_clock(p, o, found);

	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0 && is_matrix(p, i))
			matrix(p, o, i, found);
		else if (p->t[i].trainable && p->t[i].grad >= 0)
			hu_optim_moments_of(p, o, i, found, clock, "adamw", decay);
}
