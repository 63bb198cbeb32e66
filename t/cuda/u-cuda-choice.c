/* SPDX-License-Identifier: Apache-2.0
   Which kernel computes each product of every model at the sizes that were published, held to a table: every launch is
   one that a device takes, no large product falls to the plain kernel, and the way mma is refused for the reason there
   is. Nothing is computed: a dry run of a launcher says what it would launch. */
#include "cuda/device/device.h"
#include "cuda/exec/machine.h"
#include "cuda/fuse/side.h"
#include "cuda/fuse/plan.h"
#include "lib/base/mem.h"
#include "lib/program/gemm.h"
#include "t/tool/tap.h"
#include "trainer/run/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HU_HAVE_SHIM
/* The training program of a model at images of SIDE x SIDE, or, where it reads other arrays, of generated data. */
static hu_program *
program_of(const char *model, const char *policy, const char *sum, size_t side, size_t channels, size_t batch)
{
	hu_dataset data = { .narray = 2,
		.array = { { .name = "x", .kind = HU_ARRAY_PIXELS, .shape = { 3, { side, side, channels } } },
			{ .name = "labels", .kind = HU_ARRAY_BYTES, .classes = 10 } } };
	hu_model_sizes s = { .batch = batch, .data = &data, .multiplier = 1 };
	hu_dataset_options o = { .size = side, .dimensions_only = 1 };
	hu_programs p;
	hu_config c;

	memset(&c, 0, sizeof c);
	c.width = c.loss_weight = c.scaling.loss_weight = 1;
	c.batch = batch;
	c.accumulate = (char *)(size_t)sum;
	if (hu_model_find(model, &c.row) || hu_policy_parse(policy, &c.policy) ||
		hu_scaler_find("pytorch", &c.scaling.rule) || hu_optim_find("sgd", &c.optim.row))
		bail_out("%s", hu_reason());
	data.name = (char *)(size_t)"images"; /* only read, and set to NULL before it could be freed */
	hu_status st = hu_input_check(model, o.reads = c.row->inputs, &data);
	data.name = NULL;
	if ((st != HU_OK && hu_dataset_open(&data, hu_input_default(o.reads), &o)) || hu_build(&p, &c, &s))
		bail_out("%s", hu_reason());
	hu_program_free(p.eval);
	hu_dataset_release(&data);
	return p.train;
}

/* What would compute call C on matrix units ARCH (-1: any). */
static hu_status
choose(const hu_program *p, const hu_call *c, hu_gemm_way way, int arch, char *ran)
{
	hu_slot *t = hu_xcalloc((size_t)p->nt + 1, sizeof *t);
	const hu_slot **all = hu_xcalloc((size_t)c->nin + 1, sizeof *all);
	hu_work w;

	for (int i = 0; i < p->nt; i++)
		t[i] = (hu_slot){ HU_NOWHERE, p->t[i].format, p->t[i].shape, hu_count(p->t[i].shape) };
	hu_plan_work(&w, c, t, all);
	w.arch = arch;
	w.gemm = way;
	w.dry = 1;
	w.scratch = HU_NOWHERE;
	w.ran = ran;
	*ran = 0;
	hu_status st = hu_machine_kernel(&hu_shim_side, c->op)->launch(&w);
	free(t);
	free(all);
	return st;
}

/* Multiply-adds of a product: outputs times the terms of each, where taps that lie outside count too. */
static double
multiply_adds(const hu_program *p, const hu_call *c)
{
	const hu_shape *a = &p->t[c->in[0]].shape, *b = &p->t[c->in[1]].shape, *y = &p->t[c->out[0]].shape;
	double n = (double)hu_count(*y);

	if (!strcmp(c->op->name, "conv2d"))
		return n * (double)(b->d[0] * b->d[1] * b->d[2]);
	if (!strcmp(c->op->name, "conv2d_dx"))
		return n * (double)(b->d[0] * b->d[1] * b->d[3]);
	if (!strcmp(c->op->name, "conv2d_dw"))
		return n * (double)(b->d[0] * b->d[1] * b->d[2]);
	return sqrt((double)hu_count(*a) * (double)hu_count(*b) * n); /* sqrt(mk kn mn) = mkn */
}

/* The kernels of a model's products in the order of its calls, under a policy and a summation model (NULL: the
   policy's). ARCH -1: the shim's, which are all. */
typedef struct row {
	const char *model, *policy, *sum;
	int arch;
	const char *kernel[12];
} row;

static const row rows[] = {
#include "t/cuda/choices.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct published_size {
	const char *model;
	size_t side, channels, batch[6];
} published_size;
static const published_size sizes[] = {
#define SIZE(model, side, channels, ...) { model, side, channels, { __VA_ARGS__ } },
#include "t/cuda/choices.def"
#undef SIZE
};

/* Compares the kernels of a model's products with a row of the table. Without a row (r->kernel is empty) each must be
   launched, and none that is large may fall to the plain kernel. */
static void
hold(const row *r, const published_size *s, size_t batch)
{
	hu_program *p = program_of(r->model, r->policy, r->sum, s->side, s->channels, batch);
	char ran[HU_RAN];
	int at = 0, good = 1, listed = r->kernel[0] != NULL;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		if (c->op->cls != HU_CLASS_GEMM)
			continue;
		hu_status st = choose(p, c, HU_GEMM_AUTO, r->arch, ran);
		const char *want = !listed ? ran : at < 12 ? r->kernel[at] : NULL;
		double work = multiply_adds(p, c);
		int plain = !strncmp(ran, "simt plain", 10) && work > 1e6;
		if (st != HU_OK || !want || strcmp(ran, want) || (plain && !(listed && strstr(want, "plain")))) {
			diag("%s %s %s: product %d (%s of %s, %.3g multiply-adds): %s, not %s", r->model, r->policy,
				r->sum ? r->sum : "-", at, c->op->name, c->layer, work, st == HU_OK ? ran : hu_reason(),
				want ? want : "one more product than the table has");
			good = 0;
		}
		at++;
	}
	ok(good && at > 0 && (!listed || at == 12 || !r->kernel[at]),
		"%s at %zux%zux%zu, batch %zu, %s, %s%s: %d products by %s", r->model, s->side, s->side, s->channels,
		batch, r->policy, r->sum ? r->sum : "its own sums", r->arch < 0 ? "" : ", on its units", at,
		listed ? "the kernels of the table" : "a kernel each");
	hu_program_free(p);
}

/* A model without rows in the table, at images of 32 x 32 x 3 and its own batch. */
static void
by_rule(const hu_model *model)
{
	published_size s = { model->name, 32, 3, { model->batch } };
	row r[] = { { model->name, "float32", NULL, -1, { NULL } },
		{ model->name, "mixed_float16", "tc:hopper", HU_TC_HOPPER, { NULL } } };

	for (size_t i = 0; i < sizeof r / sizeof *r; i++)
		hold(&r[i], &s, s.batch[0]);
}

/* The models that were published with times are held to the table, all others to the rule. */
static void
all_models(void)
{
	for (size_t k = 0; k < ROWS; k++) {
		size_t s = 0;
		while (s < sizeof sizes / sizeof *sizes && strcmp(sizes[s].model, rows[k].model))
			s++;
		if (s == sizeof sizes / sizeof *sizes)
			bail_out("%s has rows in t/cuda/choices.def and no row SIZE", rows[k].model);
		for (size_t b = 0; b < 6 && sizes[s].batch[b]; b++)
			hold(&rows[k], &sizes[s], sizes[s].batch[b]);
	}
	for (int i = 0; hu_model_at(i); i++) {
		int held = 0;
		for (size_t k = 0; k < ROWS; k++)
			held |= !strcmp(rows[k].model, hu_model_at(i)->name);
		if (strncmp(hu_model_at(i)->inputs, "x[", 2)) /* the sizes are those of images */
			continue;
		if (!held || i == 0) /* the first one too, so that the rule itself is tried */
			by_rule(hu_model_at(i));
	}
}

/* A program of one product, whose sum is cut into parts of PART terms. */
static hu_program *
product_of(size_t m, size_t n, size_t k, size_t part, hu_format_id format, const char *sum)
{
	hu_program *p = hu_program_new("product");
	int a = hu_program_tensor(p, "gemm.a", format, hu_shape2(m, k), HU_ACTIVATION),
	    b = hu_program_tensor(p, "gemm.b", format, hu_shape2(k, n), HU_WEIGHT),
	    y = hu_program_tensor(p, "gemm.y", HU_FP32, hu_shape2(m, n), HU_ACTIVATION);
	hu_call *c = hu_program_call(p, "matmul", HU_FORWARD, "gemm", (int[]){ a, b }, 2, &y, 1);

	hu_attr_set(c, "part", (double)part);
	if (hu_sum_parse(sum, &c->sum) != HU_OK)
		bail_out("%s", hu_reason());
	return p;
}

/* Extents at the far ends: nothing is refused by the grid, and nothing large is left to the plain kernel. */
static void
far_ends(void)
{
	static const struct {
		size_t m, n, k, part;
		const char *sum, *kernel;
	} end[] = {
		{ 200000000, 10, 16, 0, "fma,acc=fp32", "simt fp32, 64x64" },
		{ 10, 200000000, 16, 0, "fma,acc=fp32", "simt fp32, 64x64" },
		{ 30000000, 64, 16, 0, "fma,acc=fp32", "simt fp32, 128x128" },
		{ 64, 30000000, 16, 0, "fma,acc=fp32", "simt fp32, 128x128" },
		{ 30000000, 64, 16, 0, "tc:hopper", "wgmma fp16 to fp32, 128x256" },
		{ 64, 30000000, 16, 0, "tc:hopper", "wgmma fp16 to fp32, 128x256" },
		{ 64, 30000000, 16, 0, "tc:ampere", "mma.sync fp16 to fp32, 128x128" },
		{ 10, 200000000, 16, 0, "tc:ampere", "mma.sync fp16 to fp32, 64x64" },
		{ 8, 8, 200000000, 4096, "fma,acc=fp32", "simt fp32, 64x64" },
		{ 8, 8, 200000000, 4096, "tc:ampere", "mma.sync fp16 to fp32, 64x64" },
	};

	for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
		hu_program *p = product_of(end[i].m, end[i].n, end[i].k, end[i].part, HU_FP16, end[i].sum);
		char ran[HU_RAN];
		hu_status st = choose(p, &p->c[0], HU_GEMM_AUTO, -1, ran);
		ok(st == HU_OK && !strcmp(ran, end[i].kernel), "%zu x %zu x %zu in parts of %zu by %s: %s", end[i].m,
			end[i].n, end[i].k, end[i].part, end[i].sum, st == HU_OK ? ran : hu_reason());
		hu_program_free(p);
	}
}

/* Adds to `kernels`, a line each, what computes the products of a convolutional model under each kind of sum. */
static void
kernels_of(char *kernels, size_t size, const char *model, size_t batch)
{
	static const struct { const char *policy, *sum; int arch; } kind[] = {
		{ "float32", NULL, -1 },
		{ "float64", NULL, -1 },
		{ "mixed_float16", NULL, -1 },
		{ "tf32", "tc:hopper", HU_TC_HOPPER },
		{ "tf32", "tc:ampere", HU_TC_AMPERE },
		{ "mixed_float16", "tc:ampere", HU_TC_AMPERE },
		{ "mixed_bfloat16", "tc:hopper,path=mma", HU_TC_HOPPER },
		{ "mixed_float16", "tc:hopper,path=wgmma", HU_TC_HOPPER },
		{ "mixed_bfloat16", "tc:hopper,path=wgmma", HU_TC_HOPPER },
		{ "mixed_e5m2", "tc:hopper,path=mma", HU_TC_HOPPER },
	};
	char ran[HU_RAN + 16];

	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
		hu_program *p = program_of(model, kind[k].policy, kind[k].sum, 28, 1, batch);
		for (int i = 0; i < p->nc; i++) {
			if (p->c[i].op->cls != HU_CLASS_GEMM)
				continue;
			if (choose(p, &p->c[i], HU_GEMM_AUTO, kind[k].arch, ran + 1) != HU_OK)
				bail_out("%s at batch %zu: %s", model, batch, hu_reason());
			ran[0] = '\n';
			strcat(ran, "\n");
			if (!strstr(kernels, ran) && strlen(kernels) + strlen(ran) < size)
				strcat(kernels, ran + 1);
		}
		hu_program_free(p);
	}
}

/* bench/gpu-trainings.sh trains convolutional models with batches of 8 for the digests that a GPU is held to: every
   kernel that batches of 32 reach is among theirs. */
static void
small_batches(void)
{
	char at8[4096] = "\n", at32[4096] = "\n";
	int n = 0;

	for (int i = 0; hu_model_at(i); i++) {
		const hu_model *m = hu_model_at(i);
		if (strncmp(m->inputs, "x[n,height,width,", 17) && strncmp(m->inputs, "x[n,1,samples,", 14))
			continue;
		kernels_of(at8, sizeof at8, m->name, 8);
		kernels_of(at32, sizeof at32, m->name, 32);
	}
	for (char *line = strtok(at32, "\n"); line; line = strtok(NULL, "\n"), n++) {
		char whole[HU_RAN + 16];
		snprintf(whole, sizeof whole, "\n%s\n", line);
		ok(strstr(at8, whole) != NULL, "batches of 8 reach %s", line);
	}
	ok(n >= 10, "%d kernels", n);
}

/* gemm=mma names the reason that there is. */
static void
refusals(void)
{
	static const struct {
		size_t k, part;
		hu_format_id format;
		const char *sum;
		int arch;
		const char *words;
	} no[] = {
		{ 64, 0, HU_FP16, "tc:hopper", HU_TC_AMPERE, "of this device, tc:ampere, computes tc:hopper" },
		{ 64, 0, HU_FP16, "tc:hopper,path=wgmma", HU_TC_AMPERE, "no matrix unit of this device, tc:ampere" },
		{ 60, 0, HU_E4M3, "tc:hopper,path=wgmma", HU_TC_HOPPER, "16 bytes side by side" },
		{ 70000, 1, HU_FP16, "tc:hopper", HU_TC_HOPPER, "adds 70000 partial sums of 1 terms" },
		{ 64, 0, HU_FP16, "kahan,acc=fp32", HU_TC_HOPPER, "computes kahan" },
	};

	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		hu_program *p = product_of(64, 64, no[i].k, no[i].part, no[i].format, no[i].sum);
		char ran[HU_RAN];
		hu_status st = choose(p, &p->c[0], HU_GEMM_MMA, no[i].arch, ran);
		ok(st == HU_EUNABLE && strstr(hu_reason(), no[i].words), "refused: %s",
			st == HU_OK ? ran : hu_reason());
		hu_program_free(p);
	}
}
#endif

int
main(void)
{
#ifdef HU_HAVE_SHIM
	all_models();
	far_ends();
	small_batches();
	refusals();
#else
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
	return done_testing();
}
