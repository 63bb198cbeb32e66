/* SPDX-License-Identifier: Apache-2.0
   Initial weights: Glorot's limits, the same under every policy, rounded once; and weights
   that PyTorch and Keras wrote, in their names and orders. Besides: where the trainer's tables end. */
#include "cuda/device/roofline.h"
#include "lib/number/code.h"
#include "lib/number/round.h"
#include "lib/store/safetensors.h"
#include "t/tool/tap.h"
#include "trainer/bench/published.h"
#include "trainer/energy/energy.h"
#include "trainer/run/build.h"
#include "trainer/run/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static hu_config
config(const char *model, const char *policy)
{
	hu_config c = { .width = 0.1, .loss_weight = 1, .batch = 4, .seed = 5 };

	if (hu_model_find(model, &c.row) || hu_policy_parse(policy, &c.policy) ||
		hu_scaler_find("pytorch", &c.scaling.rule) || hu_optim_find("adamw", &c.optim.row))
		bail_out("%s", hu_reason());
	c.scaling.loss_weight = 1;
	return c;
}

static hu_programs
programs(const hu_config *c)
{
	int signals = !strcmp(c->row->name, "resnet1d");
	hu_dataset_options o = { .size = signals ? 0 : 8, .dimensions_only = 1 };
	hu_dataset d;
	hu_programs p;
	hu_model_sizes s = { .batch = 4, .data = &d, .multiplier = c->width, .depth = (char[]){ "10" } };

	if (hu_dataset_open(&d, signals ? "signals" : "digits", &o) || hu_build(&p, c, &s))
		bail_out("%s", hu_reason());
	hu_dataset_release(&d);
	return p;
}

static hu_tensor
state(const hu_program *p, const char *name, const hu_config *c)
{
	int i = hu_program_find(p, name);
	hu_tensor t = { 0 };

	if (i < 0)
		bail_out("no tensor %s", name);
	t.format = p->t[i].format;
	t.shape = p->t[i].shape;
	t.n = hu_count(t.shape);
	t.data = calloc(t.n, hu_element_size(t.format));
	hu_start_state(&t, p, i, c);
	return t;
}

static void
test_glorot(void)
{
	hu_config c = config("convnet", "mixed_float16"), d = config("convnet", "float16");
	hu_programs p = programs(&c), q = programs(&d);
	hu_tensor a = state(p.train, "conv2.w", &c), b = state(q.train, "conv2.w", &d),
		  g = state(p.train, "bn1.gamma", &c), s = state(p.train, "scaler.scale", &c),
		  v = state(p.train, "conv2.w_v", &c);
	double limit = sqrt(6.0 / (49.0 * (double)(a.shape.d[2] + a.shape.d[3]))), most = 0, sum = 0;
	int rounded = 1;

	for (size_t k = 0; k < a.n; k++) {
		most = fmax(most, fabs(hu_get(&a, k)));
		sum += hu_get(&a, k);
		rounded &=
			fabs(hu_get(&b, k) - hu_get(&a, k)) <= 0x1p-11 * fabs(hu_get(&a, k)) * (1 + 0x1p-12) + 0x1p-25;
	}
	ok(most <= limit * (1 + 0x1p-24) && most > 0.95 * limit,
		"conv2.w stays inside Glorot's limit %g and fills it (%g)", limit, most);
	/* The mean of n uniforms on [-l, l] has deviation l/sqrt(3n); six of them leave 2e-9. */
	ok(fabs(sum / (double)a.n) < 6 * limit / sqrt(3.0 * (double)a.n), "and centres on 0");
	ok(rounded, "float16 variables start at the same numbers, rounded once");
	ok(hu_get(&g, 0) == 1 && hu_get(&s, 0) == 65536 && hu_get(&v, 0) == 0,
		"gamma 1, the first loss scale, moments 0");
	free(a.data);
	free(b.data);
	free(g.data);
	free(s.data);
	free(v.data);
	hu_programs_release(&p);
	hu_programs_release(&q);
}

/* Element K of tensor I: as fp32 has it, or a number that every format with 8 significant bits holds. */
static float
element(int i, size_t k, const char *dtype)
{
	return strcmp(dtype, "F32") ? (float)((100 * (size_t)i + k) % 97) : (float)(100 * i) + (float)k;
}

/* X as DTYPE, which is little-endian as the machine. */
static void *
as_dtype(const float *x, size_t n, const char *dtype)
{
	hu_format f = hu_format_of(!strcmp(dtype, "F64")    ? HU_FP64
				   : !strcmp(dtype, "F16")  ? HU_FP16
				   : !strcmp(dtype, "BF16") ? HU_BF16
							    : HU_FP32);
	size_t width = (size_t)f.bits / 8;
	char *raw = calloc(n, width);

	for (size_t i = 0; i < n; i++) {
		uint64_t code = hu_encode((double)x[i], f);
		memcpy(raw + i * width, &code, width);
	}
	return raw;
}

/* Whether T is a parameter, or a batch normalisation's running mean or variance. */
static int
loaded(const hu_info *t)
{
	return t->trainable || (t->state && (!strcmp(t->role, "rm") || !strcmp(t->role, "rv")));
}

/* Writes every parameter and running statistic of P as DTYPE, in our own order or TORCH's: 1, or 2 where convolutions
   of signals have three dimensions, or 3 where other convolutions have two. */
static void
write_file(const char *path, const hu_program *p, int torch, const char *dtype)
{
	hu_safetensors_writer w;
	void *keep[256];
	int n = 0;

	hu_safetensors_begin(&w);
	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		hu_shape s = t->shape, to = s;
		size_t count = hu_count(s);
		char name[2 * HU_NAME];
		if (!loaded(t))
			continue;
		int norm = !strcmp(t->role, "gamma") || !strcmp(t->role, "beta");
		const char *role = !strcmp(t->role, "w")    ? (torch ? "weight" : "kernel")
				   : !strcmp(t->role, "b")  ? "bias"
				   : !strcmp(t->role, "rm") ? (torch ? "running_mean" : "moving_mean")
				   : !strcmp(t->role, "rv") ? (torch ? "running_var" : "moving_variance")
				   : torch && norm         ? (!strcmp(t->role, "gamma") ? "weight" : "bias")
							   : t->role;
		snprintf(name, sizeof name, torch ? "%s.%s" : "%s/%s", t->layer, role);
		for (size_t k = 0; torch && k < strlen(t->layer); k++) /* torchvision: layer1.0.conv1.weight */
			name[k] = name[k] == '_' ? '.' : name[k];
		if (!torch && norm && t->trainable)
			snprintf(name, sizeof name, "%s", t->name);
		float *x = calloc(count, sizeof *x);
		for (size_t k = 0; k < count; k++)
			x[k] = element(i, k, dtype);
		if (torch && s.rank == 2) {
			to = hu_shape2(s.d[1], s.d[0]);
			for (size_t a = 0; a < s.d[0]; a++)
				for (size_t b = 0; b < s.d[1]; b++)
					x[b * s.d[0] + a] = element(i, a * s.d[1] + b, dtype);
		} else if (torch && s.rank == 4) {
			to = torch == 3   ? hu_shape2(s.d[3], s.d[2] * s.d[0] * s.d[1])
			     : torch == 2 ? hu_shape3(s.d[3], s.d[2], s.d[1])
					  : hu_shape4(s.d[3], s.d[2], s.d[0], s.d[1]);
			size_t k = 0;
			for (size_t r = 0; r < s.d[0]; r++)
				for (size_t c = 0; c < s.d[1]; c++)
					for (size_t in = 0; in < s.d[2]; in++)
						for (size_t out = 0; out < s.d[3]; out++, k++)
							x[((out * s.d[2] + in) * s.d[0] + r) * s.d[1] + c] =
								element(i, k, dtype);
		}
		keep[n++] = as_dtype(x, count, dtype);
		free(x);
		if (hu_safetensors_add(&w, name, dtype, to.rank, to.d, keep[n - 1]))
			bail_out("%s", hu_reason());
	}
	if (hu_safetensors_commit(&w, path))
		bail_out("%s", hu_reason());
	for (int i = 0; i < n; i++)
		free(keep[i]);
}

static void
test_load(const char *model, int torch, const char *dtype)
{
	hu_config c = config(model, "float32");
	hu_programs p = programs(&c);
	hu_tensor *t = calloc((size_t)p.train->nt, sizeof *t);
	char path[4096];
	int same = 1, statistics = 0;

	for (int i = 0; i < p.train->nt; i++)
		if (p.train->t[i].state)
			t[i] = state(p.train, p.train->t[i].name, &c);
	snprintf(path, sizeof path, "%s/%s%d%s.safetensors", test_dir(), model, torch, dtype);
	write_file(path, p.train, torch, dtype);
	hu_status st = hu_start_load(t, p.train, path);
	ok(st == HU_OK, "%s weights of %s are read%s%s", torch ? "PyTorch's" : "Keras's", dtype, st ? ": " : "",
		st ? hu_reason() : "");
	for (int i = 0; i < p.train->nt; i++) {
		statistics += loaded(&p.train->t[i]) && !p.train->t[i].trainable;
		for (size_t k = 0; loaded(&p.train->t[i]) && k < t[i].n; k++)
			same &= hu_get(&t[i], k) == (double)element(i, k, dtype);
	}
	ok(same && statistics, "each element in its place, and of %d running statistics", statistics);
	for (int i = 0; i < p.train->nt; i++)
		free(t[i].data);
	free(t);
	hu_programs_release(&p);
}

/* A file of weights of another width is refused with the shapes that it has and that are needed; where only vectors
   differ, and in Keras's files, there is no other order of features to tell. Integers are no weights. */
static void
test_misfit(const char *model, int torch, const char *dtype, int vectors, const char *reason)
{
	hu_config c = config(model, "float32"), wide = c;
	char path[4096];

	wide.width = strcmp(dtype, "I32") ? 0.2 : c.width;
	hu_programs p = programs(&c), q = programs(&wide);
	hu_tensor *t = calloc((size_t)p.train->nt, sizeof *t);
	for (int i = 0; i < p.train->nt; i++)
		if (p.train->t[i].state)
			t[i] = state(p.train, p.train->t[i].name, &c);
	for (int i = 0; i < p.train->nt && vectors; i++)
		if (p.train->t[i].shape.rank > 1)
			q.train->t[i].shape = p.train->t[i].shape;
	snprintf(path, sizeof path, "%s/misfit.safetensors", test_dir());
	write_file(path, q.train, torch, dtype);
	is_int(hu_start_load(t, p.train, path), HU_EFILE, "weights of another width or kind are refused");
	is_text(hu_reason() + strlen(path), reason, "and why");
	for (int i = 0; i < p.train->nt; i++)
		free(t[i].data);
	free(t);
	hu_programs_release(&p);
	hu_programs_release(&q);
}

/* A moving average is a state whose name is its parameter's and _ema: nothing else that ends in so many characters,
   or is called so without being a state. */
static void
test_averaged(void)
{
	static const struct { const char *name; int trainable, state, of; } t[] = {
		{ "a.w", 1, 1, -1 },
		{ "a.w_abc", 0, 1, -1 },
		{ "a.w_ema", 0, 1, 0 },
		{ "a.c", 0, 1, -1 },
		{ "b.w", 1, 1, -1 },
		{ "b.w_ema", 0, 0, -1 },
		{ "a.c_ema", 0, 1, -1 },
	};
	hu_program *p = hu_program_new("train");
	int right = 0, n = (int)(sizeof t / sizeof *t);

	for (int i = 0; i < n; i++) {
		hu_program_tensor(p, t[i].name, HU_FP32, hu_shape1(2), HU_OTHER);
		p->t[i].trainable = t[i].trainable;
		p->t[i].state = t[i].state;
	}
	for (int i = 0; i < n; i++)
		right += hu_start_averaged(p, i) == t[i].of;
	is_int(right, n, "moving averages are told from other states");
	hu_program_free(p);
}

/* Every table has a first row and ends behind its last one. */
static void
test_tables(void)
{
	int models = 0, optims = 0, devices = 0, meters = 0;
	size_t rows = 0, names = 0;

	while (hu_model_at(models))
		models++;
	while (hu_optim_at(optims))
		optims++;
	while (hu_peaks_at(devices))
		devices++;
	while (hu_meter_at(meters))
		meters++;
	while (hu_published_at(rows))
		rows++;
	while (hu_dataset_name(names))
		names++;
	ok(!hu_model_at(-1) && !hu_optim_at(-1) && !hu_peaks_at(-1), "there is no row before the first");
	int last = models > 0 && optims > 0 && devices > 0 && meters > 0 && rows > 0 && names > 0;
	ok(last && !strcmp(hu_model_at(models - 1)->name, "gpt") &&
			!strcmp(hu_optim_at(optims - 1)->name, "adam4bit") &&
			!strcmp(hu_meter_at(meters - 1)->name, "nvml") && !strcmp(hu_dataset_name(names - 1), "npz"),
		"%d models, %d optimizers, %d devices, %d meters, %zu published times, %zu data sets", models, optims,
		devices, meters, rows, names);
}

int
main(void)
{
	test_glorot();
	test_load("convnet", 0, "F32");
	test_load("convnet", 1, "F32");
	test_load("convnet", 0, "F64");
	test_load("convnet", 1, "F64");
	test_load("convnet", 1, "F16");
	test_load("convnet", 1, "BF16");
	test_load("resnet", 1, "F32");
	test_load("resnet1d", 1, "F32");
	test_load("resnet1d", 2, "F32");
	test_averaged();
	test_tables();
	test_misfit("convnet", 1, "F32", 0,
		": tensor conv1.weight has the shape [6, 1, 5, 5] and [3, 1, 5, 5] is needed, output features first, "
		"which is this model's conv1.w");
	test_misfit("convnet", 3, "F32", 0,
		": tensor conv1.weight has the shape [6, 25] and [3, 1, 5, 5] is needed, output features first, which "
		"is this model's conv1.w");
	test_misfit("convnet", 0, "F32", 0,
		": tensor conv1/kernel has the shape [5, 5, 1, 6] and [5, 5, 1, 3] is needed, which is this model's "
		"conv1.w");
	test_misfit("convnet", 1, "F32", 1,
		": tensor conv1.bias has the shape [6] and [3] is needed, which is this model's conv1.b");
	test_misfit("resnet1d", 2, "F32", 0,
		": tensor layer1.conv1.weight has the shape [13, 2, 9] and [6, 2, 9] is needed, output features "
		"first, which is this model's layer1_conv1.w");
	test_misfit("resnet1d", 1, "F32", 0,
		": tensor layer1.conv1.weight has the shape [13, 2, 1, 9] and [6, 2, 1, 9] is needed, output features "
		"first, which is this model's layer1_conv1.w");
	test_misfit("convnet", 2, "F32", 0,
		": tensor conv1.weight has the shape [6, 1, 5] and [3, 1, 5, 5] is needed, output features first, "
		"which is this model's conv1.w");
	test_misfit("convnet", 1, "I32", 0,
		": tensor conv1.weight is of dtype I32, and weights are needed as F64, F32, F16, BF16, F8_E4M3 or "
		"F8_E5M2");
	return done_testing();
}
