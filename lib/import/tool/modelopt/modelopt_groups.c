/* SPDX-License-Identifier: Apache-2.0
   Groups of nodes that nvidia-modelopt expects TensorRT to fuse: a linear node with what follows it. */
#include "lib/import/tool/modelopt/modelopt.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

const char hu_modelopt_linear[] = "Conv ConvTranspose Gemm MatMul";

int
hu_modelopt_is_pointwise(const hu_onnx_node *node)
{
	return hu_rewriting_has("Neg Sqrt Abs Log Exp Not Cast Floor Ceil Round Erf Gelu Sin Cos Atan Sign IsNaN IsInf "
				"LeakyRelu Elu Tanh Sigmoid Softmax Softplus InstanceNormalization CumSum",
		       node->op) ||
	       hu_rewriting_has("Add Sub Mul Pow Div Min Max Greater GreaterOrEqual Less LessOrEqual Equal BitwiseOr "
				"BitwiseAnd BitwiseXor BitShift",
		       node->op);
}

/* Which operand of an Add of two values is the last of a convolution's chain, and not what was added around it. */
static int
residual(const hu_modelopt *m, int n)
{
	int made[2] = { hu_modelopt_maker(m, n, 0), hu_modelopt_maker(m, n, 1) }, far[2];

	if (hu_modelopt_reads_constant(m, n) || made[0] < 0 || made[1] < 0)
		return -1;
	int one = hu_modelopt_backbone(m, made[0]), other = hu_modelopt_backbone(m, made[1]),
	    common = hu_modelopt_ancestor(m, made[0], made[1], far);
	if (one >= 0 && other >= 0)
		return one == other ? -1 : hu_modelopt_operand(m, n, far[0] > far[1] ? 0 : 1);
	if (one >= 0)
		return common == one ? -1 : hu_modelopt_operand(m, n, 0);
	if (other >= 0)
		return common == other ? -1 : hu_modelopt_operand(m, n, 1);
	return -1;
}

/* A Mul of two values that a group does not go on with: by a sigmoid that no convolution or Add made. */
static int
ends_at_mul(const hu_modelopt *m, int n)
{
	size_t variable = 0;

	for (size_t k = 0; k < m->x->node[n].nin; k++) {
		int v = hu_modelopt_operand(m, n, k), p = v < 0 ? -1 : m->producer[v];
		variable += v >= 0 && !m->x->value[v].init && (p < 0 || strcmp(m->x->node[p].op, "Constant"));
	}
	if (variable <= 1 || hu_modelopt_path(m, n, "Mul Sigmoid Conv", 0, "", NULL) ||
		hu_modelopt_path(m, n, "Mul Sigmoid BatchNormalization Conv", 0, "", NULL) ||
		hu_modelopt_path(m, n, "Mul Sigmoid Add", 0, "", NULL))
		return 0;
	return hu_modelopt_path(m, n, "Mul Sigmoid", 0, "", NULL) ||
	       hu_modelopt_path(m, n, "Mul HardSigmoid", 0, "", NULL);
}

/* 1 where one of the nodes of GROUP makes value V. */
static int
makes(const hu_modelopt *m, const hu_modelopt_list *group, int v)
{
	return v >= 0 && m->producer[v] >= 0 && hu_modelopt_has(group, m->producer[v]);
}

static int
reads_group_alone(const hu_modelopt *m, const hu_modelopt_list *group, int n)
{
	for (size_t k = 0; k < m->x->node[n].nin; k++) {
		int v = hu_modelopt_operand(m, n, k);
		if (!makes(m, group, v) && !hu_modelopt_is_constant(m, v))
			return 0;
	}
	return 1;
}

static void
extend(hu_modelopt *m, hu_modelopt_list *group, int n)
{
	const hu_onnx_node *node = &m->x->node[n];

	if (!strcmp(node->op, "Mul") && ends_at_mul(m, n))
		return;
	hu_modelopt_add(group, n);
	m->grouped[n] = 1;
	if (!strcmp(node->op, "Add") && m->residual[n] >= 0)
		return;
	hu_modelopt_list before = { NULL, 0, 0 }; /* the group as it is now, whatever the first readers add to it */
	for (size_t i = 0; i < group->n; i++)
		hu_modelopt_add(&before, group->at[i]);
	for (size_t k = 0; k < node->nout; k++) {
		int v = hu_rewriting_find(m->x, node->out[k]);
		for (size_t i = 0; v >= 0 && i < m->readers[v].n; i++) {
			int r = m->readers[v].at[i];
			const hu_onnx_node *reader = &m->x->node[r];
			if (m->grouped[r])
				continue;
			if (((hu_rewriting_has(hu_modelopt_moves, reader->op) || hu_modelopt_is_pointwise(reader)) &&
				    reads_group_alone(m, &before, r)) ||
				(hu_rewriting_has("BatchNormalization Relu MaxPool", reader->op) &&
					hu_modelopt_backbone(m, r) >= 0) ||
				(!strcmp(reader->op, "Add") && m->residual[r] >= 0 &&
					m->residual[r] == hu_modelopt_result(m, n)))
				extend(m, group, r);
		}
	}
	free(before.at);
}

static int
begins(const hu_modelopt *m, int n, int linear)
{
	const hu_onnx_node *node = &m->x->node[n];

	return !m->grouped[n] && !*node->domain &&
	       (linear ? hu_rewriting_has(hu_modelopt_linear, node->op) : hu_modelopt_is_pointwise(node));
}

static void
loose(hu_modelopt *m, hu_modelopt_list group)
{
	HU_GROW(m->loose, m->nloose, m->loosecap);
	m->loose[m->nloose++] = group;
}

/* Nodes that no group may have: parts of GELU, of a norm, and of attention with a mask. */
static void
withhold(hu_modelopt *m)
{
	static const char norm[] = "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add",
			  part[] = "ReduceMean Sub Pow ReduceMean Add Sqrt Div";

	for (size_t i = 0; i < m->x->n; i++) {
		const char *op = m->x->node[i].op;
		hu_modelopt_list found = { NULL, 0, 0 };
		int is = !strcmp(op, "LayerNormalization");
		if (is)
			hu_modelopt_add(&found, (int)i);
		is = is || hu_modelopt_path(m, (int)i, "Div Erf Add Mul Mul", 1, "", &found) ||
		     (!strcmp(op, "ReduceMean") && (hu_modelopt_path(m, (int)i, norm, 1, "Cast", &found) ||
							   hu_modelopt_path(m, (int)i, part, 1, "Cast", &found))) ||
		     (!strcmp(op, "MatMul") &&
			     hu_modelopt_path(m, (int)i, "MatMul NonBiasAdd Softmax MatMul", 1, "", &found));
		for (size_t k = 0; is && k < found.n; k++)
			m->grouped[found.at[k]] = 1;
		free(found.at);
	}
	for (size_t i = 0; i < m->x->n; i++)
		m->grouped[i] |= m->excluded[i];
}

void
hu_modelopt_groups(hu_modelopt *m)
{
	for (size_t i = 0; i < m->x->n; i++)
		if (!strcmp(m->x->node[i].op, "Add"))
			m->residual[i] = residual(m, (int)i);
	withhold(m);
	for (int linear = 1; linear >= 0; linear--)
		for (size_t i = 0; i < m->order.n; i++) {
			hu_modelopt_list group = { NULL, 0, 0 };
			if (!begins(m, m->order.at[i], linear))
				continue;
			extend(m, &group, m->order.at[i]);
			if (!group.n)
				continue;
			if (!linear) {
				loose(m, group);
				continue;
			}
			HU_GROW(m->group, m->ngroup, m->groupcap);
			m->group[m->ngroup++] = group;
		}
	for (size_t i = 0; i < m->order.n; i++) {
		int n = m->order.at[i], p = hu_modelopt_maker(m, n, 0);
		if (!hu_rewriting_has("Resize Upsample", m->x->node[n].op) || p < 0)
			continue;
		for (size_t g = 0; g < m->ngroup; g++)
			if (m->group[g].at[m->group[g].n - 1] == p &&
				hu_modelopt_result(m, p) == hu_modelopt_operand(m, n, 0)) {
				hu_modelopt_list one = { NULL, 0, 0 };
				hu_modelopt_add(&one, n);
				loose(m, one);
				break;
			}
	}
}
