/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/model/layer/layer.h"

typedef struct name { char s[HU_NAME]; } name;

static name
of(const char *layer, const char *role)
{
	name n;

	snprintf(n.s, sizeof n.s, "%.95s.%.15s", layer, role);
	return n;
}

static name
numbered(const char *kind, int number)
{
	name n;

	snprintf(n.s, sizeof n.s, "%.12s%d", kind, number);
	return n;
}

hu_layer_name
hu_layer_named(const char *prefix, const char *word)
{
	hu_layer_name n;

	snprintf(n.s, sizeof n.s, "%.40s%s%.20s", prefix, *prefix ? "_" : "", word);
	return n;
}

int
hu_layer_parameter(hu_program *p, const char *layer, const char *role, hu_shape s)
{
	int id = hu_program_tensor(p, of(layer, role).s, HU_FP32, s, HU_WEIGHT);

	p->t[id].state = p->t[id].trainable = 1;
	return id;
}

int
hu_layer_activation(hu_program *p, const char *op, const char *layer, const char *role, const int *in, int nin,
	const hu_attr *attr, int nattr)
{
	return hu_program_apply(
		p, op, HU_FORWARD, layer, in, nin, of(layer, role).s, HU_FP32, HU_ACTIVATION, attr, nattr);
}

int
hu_layer_bias(hu_program *p, const char *layer, int xw)
{
	int in[2] = { xw, hu_layer_parameter(p, layer, "b", hu_shape1(hu_last(p->t[xw].shape))) };

	return hu_layer_activation(p, "bias", layer, "y", in, 2, NULL, 0);
}

/* Returns the input tensor that the data set's array feeds. */
static int
input(hu_program *p, const hu_model_sizes *s, const char *array, hu_tclass cls)
{
	const hu_data_array *a = hu_dataset_find(s->data, array);
	hu_shape shape = { .rank = 1, .d = { s->batch, 1, 1, 1 } };

	HU_ASSERT(a && a->shape.rank < HU_RANK);
	for (int k = 0; k < a->shape.rank; k++)
		shape.d[shape.rank++] = a->shape.d[k];
	return hu_program_tensor(p, of("input", array).s, HU_FP32, shape, cls);
}

int
hu_layer_input(hu_program *p, const hu_model_sizes *s, const char *array)
{
	return input(p, s, array, HU_ACTIVATION);
}

int
hu_layer_indices(hu_program *p, const hu_model_sizes *s, const char *array)
{
	return input(p, s, array, HU_OTHER);
}

size_t
hu_layer_classes(const hu_model_sizes *s, const char *array)
{
	const hu_data_array *a = hu_dataset_find(s->data, array);

	HU_ASSERT(a);
	return a->classes;
}

int
hu_layer_linear(hu_program *p, const char *layer, int x, size_t out)
{
	size_t features = hu_count(p->t[x].shape) / p->t[x].shape.d[0];
	int in[2] = { x, hu_layer_parameter(p, layer, "w", hu_shape2(features, out)) };

	return hu_layer_bias(p, layer, hu_layer_activation(p, "matmul", layer, "xw", in, 2, NULL, 0));
}

int
hu_layer_dense(hu_program *p, int number, int x, size_t out)
{
	return hu_layer_linear(p, numbered("dense", number).s, x, out);
}

int
hu_layer_conv(hu_program *p, int number, int x, size_t kernel, size_t stride, size_t filters)
{
	name layer = numbered("conv", number);
	hu_attr attr = { "stride", (double)stride, "" };
	hu_shape w = hu_shape4(kernel, kernel, hu_last(p->t[x].shape), filters);
	int in[2] = { x, hu_layer_parameter(p, layer.s, "w", w) };

	return hu_layer_bias(p, layer.s, hu_layer_activation(p, "conv2d", layer.s, "xw", in, 2, &attr, 1));
}

static int
statistic(hu_program *p, const char *layer, const char *role, hu_shape s, int state)
{
	int id = hu_program_tensor(p, of(layer, role).s, HU_FP32, s, HU_OTHER);

	p->t[id].state = state;
	return id;
}

int
hu_layer_normalise(hu_program *p, const char *layer, int x, double eps, double momentum, int eval)
{
	hu_shape s = hu_shape1(hu_last(p->t[x].shape));
	hu_attr epsilon = { "eps", eps, "" };
	int in[5], out[5];

	in[0] = x;
	in[1] = hu_layer_parameter(p, layer, "gamma", s);
	in[2] = hu_layer_parameter(p, layer, "beta", s);
	in[3] = statistic(p, layer, "rm", s, 1);
	in[4] = statistic(p, layer, "rv", s, 1);
	if (eval)
		return hu_layer_activation(p, "batchnorm_eval", layer, "y", in, 5, &epsilon, 1);
	out[0] = hu_program_tensor(p, of(layer, "y").s, HU_FP32, p->t[x].shape, HU_ACTIVATION);
	out[1] = statistic(p, layer, "mean", s, 0);
	out[2] = statistic(p, layer, "rstd", s, 0);
	out[3] = statistic(p, layer, "rm_next", s, 0);
	out[4] = statistic(p, layer, "rv_next", s, 0);
	p->t[in[3]].next = out[3];
	p->t[in[4]].next = out[4];
	hu_call *c = hu_program_call(p, "batchnorm", HU_FORWARD, layer, in, 5, out, 5);
	hu_attr_set(c, "eps", eps);
	hu_attr_set(c, "momentum", momentum);
	return out[0];
}

int
hu_layer_batchnorm(hu_program *p, int number, int x, int eval)
{
	return hu_layer_normalise(p, numbered("bn", number).s, x, 1e-3, 0.99, eval);
}

int
hu_layer_relu(hu_program *p, int number, int x)
{
	return hu_layer_activation(p, "relu", numbered("relu", number).s, "y", &x, 1, NULL, 0);
}

int
hu_layer_pool(hu_program *p, int x)
{
	return hu_layer_activation(p, "avgpool", "gap", "y", &x, 1, NULL, 0);
}
