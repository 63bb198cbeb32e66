/* SPDX-License-Identifier: Apache-2.0
   The plan's counts against what the emulated loops count while they run (lib/op/performed.h): multiply-adds and other
   operations of every operator over the cases of op-cases.def, and multiply-adds of convolutions and their gradients
   over strides 1 to 4, kernels smaller than the stride, even sizes, paddings, dilations and groups, by every kind of
   summation model. */
#include "lib/base/thread.h"
#include "lib/number/philox.h"
#include "lib/op/performed.h"
#include "t/op/op-case.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_env env = { 20240229, 7 };

/* What the plan says, and what one emulation of the case performs. */
static hu_status
both(op_case *k, hu_cost *cost, hu_performed *p)
{
	hu_shape in[16], out[8];

	for (int i = 0; i < k->c.nin; i++)
		in[i] = k->in[i].shape;
	for (int i = 0; i < k->c.nout; i++)
		out[i] = k->out[i].shape;
	*cost = (hu_cost){ .reads = k->c.nin };
	*p = (hu_performed){ 0, 0 };
	HU_COLUMN(k->c.op, cost)(&k->c, in, out, cost);
	hu_performed_set(p);
	hu_status st = op_case_emulate(k, &env);
	hu_performed_set(NULL);
	return st;
}

/* Rules of a few scalars that branch on what they find: the plan names their longest way. */
static int
is_scalar_rule(const char *op)
{
	return !strcmp(op, "scale_update") || !strcmp(op, "adam_clock") || !strcmp(op, "lr_schedule");
}

static void
of_table(const op_row *row)
{
	static const struct {
		hu_format_id in, compute;
	} formats[] = { { HU_FP32, HU_FP32 }, { HU_FP16, HU_FP32 }, { HU_BF16, HU_BF16 }, { HU_FP64, HU_FP64 } };
	int skipped = strstr(row->in, " N") != NULL; /* the plan is of a step that is not */

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		op_case k;
		hu_cost cost;
		hu_performed p;
		hu_status st = op_case_init(&k, row, formats[i].in, formats[i].compute, formats[i].in, LEVEL_MILD, 1);
		if (st == HU_OK)
			st = both(&k, &cost, &p);
		double others = cost.flops - 2 * cost.macs;
		int good = st == HU_OK && cost.macs == (double)p.macs &&
			   (others == (double)p.operations || (skipped && !p.operations) ||
				   (is_scalar_rule(row->op) && others <= 4));
		ok(good && (cost.macs > 0) == (k.c.op->cls == HU_CLASS_GEMM),
			"%s (%s) %s in %s: %.0f multiply-adds planned, %llu performed; %.0f other operations, %llu",
			row->op, row->attrs, hu_format_name(formats[i].in), hu_format_name(formats[i].compute),
			cost.macs, (unsigned long long)p.macs, others, (unsigned long long)p.operations);
		op_case_release(&k);
	}
}

static uint64_t counter;

static size_t
draw(size_t least, size_t most)
{
	return least + hu_random_at(5, 3, 0, counter++).w[0] % (most - least + 1);
}

/* An image's elements that some window of the convolution covers, by setting each to NaN in turn and looking at every
   output. */
static double
depended_on(op_case *k)
{
	double needed = 0;

	for (size_t i = 0; i < k->in[0].n; i++) {
		double keep = hu_get(&k->in[0], i);
		int found = 0;
		hu_put(&k->in[0], i, hu_nan());
		if (op_case_emulate(k, &env) != HU_OK)
			bail_out("%s", hu_reason());
		for (size_t o = 0; o < k->out[0].n && !found; o++)
			found = hu_get(&k->out[0], o) != hu_get(&k->out[0], o);
		hu_put(&k->in[0], i, keep);
		needed += found;
	}
	return needed;
}

static void
test_unread(void)
{
	static const op_row rows[] = {
		{ "conv2d", "stride=2", "x:2x7x6x2 x:1x1x2x3", "x" },
		{ "conv2d", "stride=3 padding=0", "x:1x8x9x2 x:2x2x2x3", "x" },
		{ "conv2d", "stride=4 dilation=2 padding=1", "x:1x9x9x2 x:2x3x2x2", "x" },
		{ "conv2d", "padding=0 groups=2", "x:1x5x5x4 x:3x3x2x2", "x" },
		{ "conv2d_dw", "stride=2 kh=1 kw=1", "x:2x7x6x2 x:2x4x3x3", "x" },
		{ "conv2d_dw", "stride=3 padding=0 kh=2 kw=2", "x:1x8x9x2 x:1x3x3x3", "x" },
		{ "conv2d_dx", "stride=2 height=7 width=6", "x:1x4x3x2 x:1x1x3x2", "x" },
		{ "matmul", "", "x:5x7 x:7x3", "x" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		op_case k;
		hu_cost cost;
		hu_performed p;
		if (op_case_init(&k, &rows[i], HU_FP32, HU_FP32, HU_FP32, LEVEL_MILD, 3) != HU_OK ||
			both(&k, &cost, &p) != HU_OK)
			bail_out("%s", hu_reason());
		double needed = depended_on(&k);
		ok(cost.unread == (double)k.in[0].n - needed,
			"%s (%s): of %zu elements %.0f are not read, %.0f by the plan", rows[i].op, rows[i].attrs,
			k.in[0].n, (double)k.in[0].n - needed, cost.unread);
		op_case_release(&k);
	}
}

typedef struct geometry {
	size_t n, h, w, ci, co, kh, kw, sh, sw, dh, dw, groups, pad[4];
	int own;
	size_t ho, wo;
} geometry;

static size_t
outputs(size_t n, size_t k, size_t s, size_t d, int own, size_t before, size_t after)
{
	size_t reach = (k - 1) * d + 1;

	return !own ? (n + s - 1) / s : n + before + after < reach ? 0 : (n + before + after - reach) / s + 1;
}

/* The products of the data gradient, pixel by pixel and tap by tap: those that the stride does not skip. */
static double
gradient_terms(const geometry *g)
{
	long total_h = (long)((g->ho - 1) * g->sh + (g->kh - 1) * g->dh + 1) - (long)g->h,
	     total_w = (long)((g->wo - 1) * g->sw + (g->kw - 1) * g->dw + 1) - (long)g->w;
	long top = g->own        ? (long)g->pad[0]
		   : total_h > 0 ? total_h / 2
				 : 0,
	     left = g->own        ? (long)g->pad[2]
		    : total_w > 0 ? total_w / 2
				  : 0;
	double terms = 0;

	for (long y = 0; y < (long)g->h; y++)
		for (long x = 0; x < (long)g->w; x++)
			for (size_t p = 0; p < g->kh; p++)
				for (size_t q = 0; q < g->kw; q++)
					terms += (y + top - (long)(p * g->dh)) % (long)g->sh == 0 &&
						 (x + left - (long)(q * g->dw)) % (long)g->sw == 0;
	return terms * (double)(g->n * g->ci * g->groups * g->co);
}

static geometry
any_geometry(void)
{
	geometry g = { draw(1, 2), draw(1, 10), draw(1, 10), draw(1, 5), draw(1, 5), draw(1, 5), draw(1, 5), draw(1, 4),
		draw(1, 4), draw(1, 3), draw(1, 3), draw(1, 3), { draw(0, 3), draw(0, 3), draw(0, 3), draw(0, 3) },
		draw(0, 2) != 0, 0, 0 };

	g.ho = outputs(g.h, g.kh, g.sh, g.dh, g.own, g.pad[0], g.pad[1]);
	g.wo = outputs(g.w, g.kw, g.sw, g.dw, g.own, g.pad[2], g.pad[3]);
	return g;
}

/* Convolutions and gradients of G by MODEL; returns how many counts are wrong. */
static int
wrong(const geometry *g, const char *model, char *what, size_t size)
{
	char attrs[256], image[64], kernel[64], result[64], in[200];
	int bad = 0, used = snprintf(attrs, sizeof attrs,
			     "stride_h=%zu stride_w=%zu dilation_h=%zu dilation_w=%zu groups=%zu height=%zu width=%zu "
			     "kh=%zu kw=%zu",
			     g->sh, g->sw, g->dh, g->dw, g->groups, g->h, g->w, g->kh, g->kw);
	static const char *const ops[] = { "conv2d", "conv2d_dx", "conv2d_dw" };

	if (g->own)
		snprintf(attrs + used, sizeof attrs - (size_t)used,
			" padding_top=%zu padding_bottom=%zu padding_left=%zu padding_right=%zu", g->pad[0], g->pad[1],
			g->pad[2], g->pad[3]);
	snprintf(image, sizeof image, "x:%zux%zux%zux%zu", g->n, g->h, g->w, g->ci * g->groups);
	snprintf(kernel, sizeof kernel, "x:%zux%zux%zux%zu", g->kh, g->kw, g->ci, g->co * g->groups);
	snprintf(result, sizeof result, "x:%zux%zux%zux%zu", g->n, g->ho, g->wo, g->co * g->groups);
	double pixels = (double)(g->n * g->ho * g->wo * g->kh * g->kw * g->ci * g->co * g->groups);
	for (int o = 0; o < 3; o++) {
		snprintf(in, sizeof in, "%s %s", o == 1 ? result : image, o == 2 ? result : kernel);
		op_row row = { ops[o], attrs, in, "x" };
		op_case k;
		hu_cost cost = { .macs = -1 };
		hu_performed p = { 0, 0 };
		hu_status st = op_case_init(&k, &row, HU_FP16, HU_FP32, HU_FP32, LEVEL_MILD, 1);
		if (st == HU_OK)
			st = hu_sum_parse(model, &k.c.sum);
		if (st == HU_OK)
			st = both(&k, &cost, &p);
		double want = o == 1 ? gradient_terms(g) : pixels;
		if (st != HU_OK || cost.macs != (double)p.macs || cost.macs != want) {
			snprintf(what, size,
				"%.24s of %.60s (%.160s): %.0f planned, %llu performed, %.0f by definition; %.60s",
				ops[o], in, attrs, cost.macs, (unsigned long long)p.macs, want,
				st == HU_OK ? "" : hu_reason());
			bad++;
		}
		op_case_release(&k);
	}
	return bad;
}

int
main(void)
{
	static const char *const models[] = { "fma,acc=fp32", "fma,acc=fp64", "fma,acc=bf16", "chunk:5,acc=fp32",
		"sequential,acc=fp32", "kahan,acc=fp32", "pairwise,acc=fp16", "tc:ampere",
		"sequential,acc=bf16,mode=SR" };

	for (int i = 0; hu_op_at(i); i++)
		ok(HU_COLUMN(hu_op_at(i), cost) != NULL, "%s says what it costs", hu_op_at(i)->name);
	for (int r = 0; op_row_at(r); r++)
		of_table(op_row_at(r));
	test_unread();
	for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
		int bad = 0, all = 0;
		char what[512] = "";
		hu_threads_set(1 + (int)m % 2);
		for (int i = 0; i < 150; i++) {
			geometry g = any_geometry();
			if (g.ho && g.wo) {
				bad += wrong(&g, models[m], what, sizeof what);
				all += 3;
			}
		}
		if (!ok(!bad && all > 200, "%s: multiply-adds of %d convolutions and gradients, %d wrong", models[m],
			    all, bad))
			diag("%s", what);
	}
	return done_testing();
}
