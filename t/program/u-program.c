/* SPDX-License-Identifier: Apache-2.0
   lib/program: building, validation, JSON, the passes, and the emulating interpreter,
   on a two-layer perceptron made here by hand. */
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/program/exec.h"
#include "lib/program/pass/pass.h"
#include "lib/program/policy/pass_policy.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 6, IN = 9, HIDDEN = 7, OUT = 3 };

static int
weight(hu_program *p, const char *name, hu_shape s)
{
	int id = hu_program_tensor(p, name, HU_FP32, s, HU_WEIGHT);

	p->t[id].state = p->t[id].trainable = 1;
	return id;
}

static int
dense(hu_program *p, const char *layer, int x, size_t in, size_t out)
{
	char w[32], b[32], xw[32], y[32];

	snprintf(w, sizeof w, "%s.w", layer);
	snprintf(b, sizeof b, "%s.b", layer);
	snprintf(xw, sizeof xw, "%s.xw", layer);
	snprintf(y, sizeof y, "%s.y", layer);
	int a[2] = { x, weight(p, w, hu_shape2(in, out)) };
	int c[2] = { hu_program_apply(p, "matmul", HU_FORWARD, layer, a, 2, xw, HU_FP32, HU_ACTIVATION, NULL, 0),
		weight(p, b, hu_shape1(out)) };
	return hu_program_apply(p, "bias", HU_FORWARD, layer, c, 2, y, HU_FP32, HU_ACTIVATION, NULL, 0);
}

static hu_program *
forward(int *loss)
{
	hu_program *p = hu_program_new("train");
	int x = hu_program_tensor(p, "input.x", HU_FP32, hu_shape2(BATCH, IN), HU_ACTIVATION);
	int labels = hu_program_tensor(p, "input.labels", HU_FP32, hu_shape1(BATCH), HU_OTHER);
	int rows = hu_program_tensor(p, "input.weight", HU_FP32, hu_shape1(BATCH), HU_OTHER);
	int h = dense(p, "dense1", x, IN, HIDDEN);
	int r = hu_program_apply(p, "relu", HU_FORWARD, "relu1", &h, 1, "relu1.y", HU_FP32, HU_ACTIVATION, NULL, 0);
	int in[3] = { dense(p, "dense2", r, HIDDEN, OUT), labels, rows };
	int out[2] = { hu_program_tensor(p, "loss.loss", HU_FP32, hu_shape0(), HU_OTHER),
		hu_program_tensor(p, "loss.p", HU_FP32, hu_shape2(BATCH, OUT), HU_ACTIVATION) };

	int first = p->nc;
	hu_program_call(p, "softmax_xent", HU_FORWARD, "loss", in, 3, out, 2);
	hu_program_mark_loss(p, first);
	*loss = out[0];
	return p;
}

/* Everything up to a plain SGD update. */
static hu_program *
training(const char *policy_text, double loss_weight, const char *scaler)
{
	hu_policy policy;
	hu_scaling scaling = { .loss_weight = loss_weight };
	hu_program *f, *p = NULL;
	int loss, found;

	HU_ASSERT(hu_policy_parse(policy_text, &policy) == HU_OK);
	if (strcmp(scaler, "none"))
		HU_ASSERT(hu_scaler_find(scaler, &scaling.rule) == HU_OK);
	else
		scaling.rule.name = "none";
	f = forward(&loss);
	if (hu_pass_policy(f, &policy, &p) != HU_OK)
		bail_out("policy pass: %s", hu_reason());
	loss = hu_program_find(p, "loss.loss");
	int seed = hu_pass_loss_seed(p, &scaling);
	if (hu_pass_differentiate(p, loss, seed) != HU_OK || hu_pass_loss_scaling(p, &scaling, &found) != HU_OK)
		bail_out("passes: %s", hu_reason());
	for (int i = 0, n = p->nt; i < n; i++) {
		char name[HU_NAME + 8];
		if (!p->t[i].trainable)
			continue;
		snprintf(name, sizeof name, "%s_next", p->t[i].name);
		int in[3] = { i, p->t[i].grad, found },
		    out = hu_program_tensor(p, name, p->t[i].format, p->t[i].shape, HU_WEIGHT);
		hu_attr_set(hu_program_call(p, "sgd", HU_UPDATE, p->t[i].layer, in, 3, &out, 1), "lr", 0.125);
		p->t[i].next = out;
	}
	hu_program_free(f);
	return p;
}

static hu_format_id
format(const hu_program *p, const char *name)
{
	int i = hu_program_find(p, name);

	return i < 0 ? HU_NO_FORMAT : p->t[i].format;
}

static void
fill(hu_exec *x)
{
	for (int i = 0; i < x->p->nt; i++) {
		const hu_info *t = &x->p->t[i];
		hu_tensor *v = &x->t[i];
		if (t->producer >= 0)
			continue;
		for (size_t k = 0; k < v->n; k++) {
			double u = hu_uniform(hu_random_at(7, hu_fnv1a32(t->name), 0, k));
			double value = !strcmp(t->role, "labels")                                  ? (double)(k % OUT)
				       : !strcmp(t->role, "weight") || !strcmp(t->layer, "scaler") ? 1.0
												   : 2 * u - 1;
			hu_put(v, k, hu_round(value, hu_format_of(v->format), HU_RNE, 0, 0));
		}
	}
}

static uint64_t
digest_after(const hu_program *p, int steps)
{
	hu_exec x;
	hu_env env = { 1, 0 };

	HU_ASSERT(hu_exec_init(&x, p) == HU_OK);
	fill(&x);
	for (int i = 0; i < steps; i++) {
		env.step = (uint32_t)i;
		if (hu_exec_run(&x, &env) != HU_OK)
			bail_out("run: %s", hu_reason());
		hu_exec_commit(&x);
	}
	uint64_t d = hu_exec_digest(&x);
	hu_exec_release(&x);
	return d;
}

static void
test_policy(void)
{
	hu_program *p = training("mixed_float16", 1, "none");

	ok(hu_program_validate(p) == HU_OK, "a differentiated mixed_float16 program is valid: %s", hu_reason());
	is_int(format(p, "dense1.w"), HU_FP32, "mixed_float16 keeps float32 variables");
	is_int(format(p, "dense1.w@fp16"), HU_FP16, "and casts the weight for the product");
	is_int(format(p, "input.x@fp16"), HU_FP16, "inputs are cast to compute");
	is_int(format(p, "dense1.y"), HU_FP16, "a layer's output is in compute");
	is_int(format(p, "dense2.y@fp32"), HU_FP32, "logits are cast up before the loss");
	is_int(format(p, "dense1.dw@fp16"), HU_FP16, "the weight gradient comes out in compute");
	is_int(format(p, "dense1.dw"), HU_FP32, "and is cast to the variable's format");
	is_int(format(p, "input.dx"), HU_NO_FORMAT, "no gradient is computed for the data");
	is_int(format(p, "loss.p"), HU_FP32, "softmax is float32");
	hu_program_free(p);

	p = training("mixed_e4m3", 1, "none");
	is_int(format(p, "dense2.w@e4m3"), HU_E4M3, "mixed_e4m3 multiplies e4m3 weights");
	is_int(format(p, "dense2.dy@e5m2"), HU_E5M2, "by e5m2 gradients");
	is_int(format(p, "dense2.xw"), HU_BF16, "into bf16");
	ok(p->t[hu_program_find(p, "dense2.w@e4m3")].scale >= 0, "with a scale of its own");
	hu_program_free(p);

	p = training("mixed_float16,layer:dense2=float32", 1, "none");
	is_int(format(p, "dense2.w@fp16"), HU_NO_FORMAT, "an override keeps a layer in float32");
	is_int(format(p, "relu1.y@fp32"), HU_FP32, "and casts its input up");
	hu_program_free(p);

	p = training("float16", 1, "none");
	is_int(format(p, "dense1.w"), HU_FP16, "float16 has float16 variables");
	is_int(format(p, "dense1.w_next"), HU_FP16, "updated in float16");
	hu_program_free(p);
}

static void
test_all_policies(void)
{
	for (int i = 0; hu_policy_name(i); i++) {
		hu_program *p = training(hu_policy_name(i), 1, "pytorch");
		hu_policy a, b;
		json_t *j;
		ok(hu_program_validate(p) == HU_OK && digest_after(p, 2) == digest_after(p, 2),
			"%s: valid, and two runs agree", hu_policy_name(i));
		hu_policy_parse(hu_policy_name(i), &a);
		j = hu_policy_to_json(&a);
		ok(hu_policy_from_json(j, &b) == HU_OK && a.compute == b.compute && a.variable == b.variable &&
				a.list == b.list && a.dynamic == b.dynamic && a.grad == b.grad,
			"%s: JSON and back", hu_policy_name(i));
		json_decref(j);
		hu_program_free(p);
	}
}

static void
test_json(void)
{
	hu_program *p = training("mixed_float16", 1, "pytorch"), *q = NULL;
	json_t *j = hu_program_to_json(p), *k;
	hu_status st = hu_program_from_json(j, &q);

	ok(st == HU_OK, "a program reads back from JSON: %s", st ? hu_reason() : "");
	k = hu_program_to_json(q);
	ok(json_equal(j, k), "and is the same");
	is_bits64(digest_after(q, 3), digest_after(p, 3), "and computes the same bits");
	json_decref(k);
	hu_program_free(q);

	static const struct {
		const char *at, *key;
		const char *value;
	} broken[] = {
		{ "calls", "op", "\"matmull\"" },
		{ "calls", "in", "[99999]" },
		{ "calls", "mode", "\"sideways\"" },
		{ "calls", "sum", "\"fma,acc=fp7\"" },
		{ "calls", "attr", "{\"colour\": 3}" },
		{ "calls", "id", "5" },
		{ "tensors", "format", "\"fp17\"" },
		{ "tensors", "shape", "[0]" },
		{ "tensors", "name", "\"nodot\"" },
		{ "tensors", "next", "99999" },
		{ "tensors", "class", "\"mammal\"" },
	};
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		json_t *copy = json_deep_copy(j), *value = json_loads(broken[i].value, JSON_DECODE_ANY, NULL);
		json_object_set_new(json_array_get(json_object_get(copy, broken[i].at), 3), broken[i].key, value);
		ok(hu_program_from_json(copy, &q) == HU_EFILE, "%s.%s = %s is refused: %s", broken[i].at, broken[i].key,
			broken[i].value, hu_reason());
		json_decref(copy);
	}
	json_object_set_new(j, "version", json_integer(2));
	ok(hu_program_from_json(j, &q) == HU_EFILE && strstr(hu_reason(), "newer"), "a newer version is refused: %s",
		hu_reason());
	json_decref(j);
	hu_program_free(p);
}

static void
test_loss_weight(void)
{
	hu_program *a = training("float32", 1, "static"), *b = training("float32", 0x1p-20, "static");

	is_bits64(digest_after(b, 5), digest_after(a, 5),
		"float32: a loss weight of 2^-20 is divided out without a trace");
	hu_program_free(a);
	hu_program_free(b);
}

static void
test_overflow_is_named(void)
{
	hu_program *p = training("mixed_float16", 0x1p30, "pytorch");
	hu_exec x;
	hu_env env = { 1, 0 };

	HU_ASSERT(hu_exec_init(&x, p) == HU_OK);
	fill(&x);
	float before = ((float *)x.t[hu_program_find(p, "dense1.w")].data)[0];
	ok(hu_exec_run(&x, &env) == HU_OK, "a step that overflows runs");
	is_int((long long)hu_get(&x.t[hu_program_find(p, "scaler.found_inf")], 0), 1, "the finite check sees it");
	const hu_call *check = &p->c[p->t[hu_program_find(p, "scaler.where")].producer];
	int where = (int)hu_get(&x.t[hu_program_find(p, "scaler.where")], 0);
	is_text(where < 0 ? "none" : p->t[check->in[where]].name, "dense2.dy",
		"and names the tensor that overflowed first");
	hu_exec_commit(&x);
	is_bits32(bits_of_float(((float *)x.t[hu_program_find(p, "dense1.w")].data)[0]), bits_of_float(before),
		"the step is skipped");
	ok(hu_get(&x.t[hu_program_find(p, "scaler.scale")], 0) == 0.5, "and the scale halves");
	hu_exec_release(&x);
	hu_program_free(p);
}

/* Of the rules of a product those are taken that its transposes ask for. */
static void
test_transposed(void)
{
	hu_program *p = hu_program_new("train");
	int in[2] = { hu_program_tensor(p, "input.x", HU_FP32, hu_shape2(4, 5), HU_ACTIVATION),
		weight(p, "dense1.w", hu_shape2(3, 5)) };
	hu_attr tb = { "tb", 1, "" };
	int y = hu_program_apply(p, "matmul", HU_FORWARD, "dense1", in, 2, "dense1.y", HU_FP32, HU_ACTIVATION, &tb, 1);

	ok(hu_pass_differentiate(p, y, y) == HU_OK && p->nc == 2 &&
			hu_same_shape(p->t[p->c[1].out[0]].shape, p->t[in[1]].shape) &&
			hu_attr_num(&p->c[1], "ta", 0) == 1 && hu_attr_num(&p->c[1], "tb", 1) == 0 &&
			p->c[1].in[0] == y && p->c[1].in[1] == in[0],
		"the weights' gradient of y = x times the transposed weights is the transposed gradient times x");
	hu_program_free(p);
}

static void
test_casts(void)
{
	hu_program *p = hu_program_new("train");
	int x = hu_program_tensor(p, "a.x", HU_FP32, hu_shape1(4), HU_ACTIVATION), from = -9, scale = -9;
	int plain = hu_program_tensor(p, "a.x@fp16", HU_FP16, hu_shape1(4), HU_ACTIVATION);
	int code[2] = { hu_program_tensor(p, "a.x@e4m3", HU_E4M3, hu_shape1(4), HU_ACTIVATION),
		hu_program_tensor(p, "a.scale", HU_FP32, hu_shape0(), HU_OTHER) };

	hu_program_call(p, "cast", HU_FORWARD, "a", &x, 1, &plain, 1);
	hu_program_call(p, "cast", HU_FORWARD, "a", &x, 1, code, 2);
	int wide = hu_program_apply(p, "cast", HU_FORWARD, "a", &plain, 1, "a.w", HU_FP32, HU_ACTIVATION, NULL, 0);
	int same = hu_program_apply(p, "cast", HU_FORWARD, "a", &plain, 1, "a.s", HU_FP16, HU_ACTIVATION, NULL, 0);
	int y = hu_program_apply(p, "neg", HU_FORWARD, "a", &x, 1, "a.y", HU_FP32, HU_ACTIVATION, NULL, 0);
	ok(hu_is_cast(p, plain, &from, &scale) && from == x && scale == -1, "a cast: of what, and without a scale");
	ok(hu_is_cast(p, code[0], &from, &scale) && from == x && scale == code[1], "a cast that scales, and its scale");
	ok(!hu_is_cast(p, code[1], &from, &scale) && !hu_is_cast(p, y, &from, &scale) &&
			!hu_is_cast(p, x, &from, &scale) && !hu_is_cast(p, wide, &from, &scale) &&
			!hu_is_cast(p, same, &from, &scale),
		"neither its scale, nor what another call makes, nor what none does, nor one that loses nothing");
	hu_program_free(p);
}

/* A convolution's padding, stride, dilation and groups: its gradients' calls have them too, and so has a program read
   back. */
static void
test_convolution(void)
{
	static const hu_attr set[] = { { "stride_w", 2, "" }, { "padding_top", 1, "" }, { "padding_right", 3, "" },
		{ "dilation", 2, "" }, { "groups", 2, "" } };
	hu_program *p = hu_program_new("train"), *q = NULL;
	int in[2] = { hu_program_tensor(p, "input.x", HU_FP32, hu_shape4(2, 9, 8, 4), HU_ACTIVATION),
		weight(p, "conv2.w", hu_shape4(3, 2, 2, 6)) };
	int first[2] = { in[0], weight(p, "conv1.w", hu_shape4(1, 1, 4, 4)) };
	int seed = -1, missing = 0, gradients = 0;

	in[0] = hu_program_apply(
		p, "conv2d", HU_FORWARD, "conv1", first, 2, "conv1.y", HU_FP32, HU_ACTIVATION, NULL, 0);
	int y = hu_program_apply(p, "conv2d", HU_FORWARD, "conv2", in, 2, "conv2.y", HU_FP32, HU_ACTIVATION, set,
		sizeof set / sizeof *set);
	seed = hu_program_tensor(p, "conv2.dy", HU_FP32, p->t[y].shape, HU_GRADIENT);
	is_int((long long)(p->t[y].shape.d[1] * 100 + p->t[y].shape.d[2]), 605,
		"its output is floor((n + padding - dilation (k - 1) - 1) / stride) + 1");
	ok(hu_pass_differentiate(p, y, seed) == HU_OK && hu_program_validate(p) == HU_OK,
		"a convolution with all of its attributes is differentiated: %s", hu_reason());
	json_t *j = hu_program_to_json(p);
	hu_status st = hu_program_from_json(j, &q);
	json_decref(j);
	for (int i = 0; st == HU_OK && i < q->nc; i++)
		if (!strcmp(q->c[i].layer, "conv2")) {
			gradients += q->c[i].phase == HU_BACKWARD;
			for (size_t k = 0; k < sizeof set / sizeof *set; k++)
				missing += hu_attr_num(&q->c[i], set[k].key, -1) != set[k].num;
		}
	ok(st == HU_OK && gradients == 2 && !missing, "both gradients have them, from JSON too: %s", hu_reason());
	hu_program_free(q);
	hu_program_free(p);
}

/* A layer that a user has named "loss" is cast like any other; what the builder of a loss has marked is not, and
   programs from before marks were written mean what they meant. */
static void
test_marked_loss(void)
{
	for (int marked = 0; marked < 2; marked++) {
		hu_program *p = hu_program_new("eval"), *q = NULL, *back = NULL;
		hu_policy policy;
		int x = hu_program_tensor(p, "input.x", HU_FP32, hu_shape2(BATCH, IN), HU_ACTIVATION), first = p->nc;
		hu_program_apply(p, "relu", HU_FORWARD, "loss", &x, 1, "loss.y", HU_FP32, HU_ACTIVATION, NULL, 0);
		if (marked)
			hu_program_mark_loss(p, first);
		HU_ASSERT(hu_policy_parse("float16", &policy) == HU_OK && hu_pass_policy(p, &policy, &q) == HU_OK);
		is_int(format(q, "loss.y"), marked ? HU_FP32 : HU_FP16, "a layer \"loss\" %s",
			marked ? "marked" : "as such");
		json_t *j = hu_program_to_json(q), *calls = json_object_get(j, "calls"), *c;
		size_t i, n = 0;
		json_array_foreach(calls, i, c)
			n += json_is_true(json_object_get(c, "loss"));
		is_int((int)n, marked ? q->nc : 0, "as many calls of its JSON have the mark");
		json_array_foreach(calls, i, c)
			json_object_del(c, "loss");
		HU_ASSERT(hu_program_from_json(j, &back) == HU_OK);
		for (int k = n = 0; k < back->nc; k++)
			n += (size_t)back->c[k].loss;
		is_int((int)n, back->nc, "a program without marks is read as its layer's name says");
		json_decref(j);
		hu_program_free(back);
		hu_program_free(q);
		hu_program_free(p);
	}
}

int
main(void)
{
	test_policy();
	test_transposed();
	test_casts();
	test_convolution();
	test_marked_loss();
	test_all_policies();
	test_json();
	test_loss_weight();
	test_overflow_is_named();
	return done_testing();
}
