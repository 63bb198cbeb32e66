/* SPDX-License-Identifier: Apache-2.0
   The rules of nvidia-modelopt 0.47's modelopt.onnx.quantization.quantize in its mode int8: quantize_static with
   symmetric codes of the operands of chosen nodes, weights with a scale for each channel, and then all other numbers in
   float16. */
#include "lib/import/tool/fp16.h"
#include "lib/import/tool/modelopt/modelopt.h"
#include "lib/import/tool/ort_static/ort_static.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static float
stored(float x)
{
	return hu_fp16_converted(&hu_fp16_modelopt, x);
}

/* Marks the operands of node N that become codes; bits of those. */
static uint64_t
mark(hu_ort_static *s, const hu_onnx_node *node)
{
	int version = (int)hu_onnx_version(s->x->from, "");
	uint64_t marked = 1;

	if (hu_rewriting_has("Conv ConvTranspose Gemm", node->op)) {
		int axis = strcmp(node->op, "Conv") &&
			   !(!strcmp(node->op, "Gemm") && hu_onnx_int(node, "transB", 0));
		hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
		hu_ort_static_mark_weight(s, node->in[1], axis);
		return 3;
	}
	if (!strcmp(node->op, "MatMul")) {
		for (size_t k = 0; k < 2; k++) {
			int v = hu_rewriting_find(s->x, node->in[k]);
			if (v >= 0 && s->x->value[v].init)
				hu_ort_static_mark_weight(s, node->in[k], 1);
			else
				hu_ort_static_mark(s, node->in[k], HU_MARK_ACTIVATION);
		}
		return 3;
	}
	if (!strcmp(node->op, "Clip") || (!strcmp(node->op, "MaxPool") && version < 12) ||
		(!strcmp(node->op, "Resize") && version < 11))
		return 0;
	if (hu_rewriting_has("MaxPool AveragePool Resize TopK BatchNormalization LayerNormalization LRN", node->op)) {
		hu_ort_static_mark(s, node->in[0], HU_MARK_ACTIVATION);
		return 1;
	}
	for (size_t k = 0; k < node->nin && k < 64; k++) {
		hu_ort_static_mark(s, node->in[k], HU_MARK_ACTIVATION);
		marked |= (uint64_t)1 << k;
	}
	return marked;
}

static int
is_coded(const hu_ort_static *s, int v)
{
	return v >= 0 && s->mark[v].kind != HU_MARK_NONE;
}

/* Operand K of node N is coded, and reads the codes. */
static int
reads_codes(const hu_ort_static *s, const uint64_t *raw, int n, size_t k)
{
	return is_coded(s, hu_rewriting_find(s->x, s->x->node[n].in[k])) && !(raw[n] >> k & 1);
}

/* The operands that were to stay as they are, and of an Add the other one too where it is such a value for others. */
static void
set_raw(const hu_ort_static *s, const hu_modelopt *m, uint64_t *raw)
{
	for (size_t i = 0; i < m->nplain; i++) {
		int n = m->plain[i].to, v = hu_modelopt_result(m, m->plain[i].from);
		for (size_t k = 0; is_coded(s, v) && k < s->x->node[n].nin && k < 64; k++)
			if (hu_modelopt_operand(m, n, k) == v && reads_codes(s, raw, n, k)) {
				raw[n] |= (uint64_t)1 << k;
				break;
			}
	}
	for (size_t i = 0; i < m->nplain; i++) {
		int n = m->plain[i].to;
		for (size_t k = 0; !strcmp(s->x->node[n].op, "Add") && k < 2; k++) {
			int p = hu_modelopt_maker(m, n, k), coded = 0, listed = 0;
			if (p < 0 || !reads_codes(s, raw, n, k))
				continue;
			for (size_t j = 0; j < s->x->node[p].nout; j++) {
				int v = hu_rewriting_find(s->x, s->x->node[p].out[j]);
				coded += is_coded(s, v);
				for (size_t e = 0; e < m->nplain; e++)
					listed |= v >= 0 && m->plain[e].value == v;
			}
			if (coded == 1 && listed)
				raw[n] |= (uint64_t)1 << k;
		}
	}
}

/* Values whose codes nobody reads have none. */
static void
unmark(hu_ort_static *s, const uint64_t *raw)
{
	char *read = hu_xcalloc(s->x->nvalue + 1, 1);

	for (size_t i = 0; i < s->x->n; i++)
		for (size_t k = 0; k < s->x->node[i].nin; k++) {
			int v = hu_rewriting_find(s->x, s->x->node[i].in[k]);
			if (v >= 0 && !(k < 64 && raw[i] >> k & 1))
				read[v] = 1;
		}
	for (size_t v = 0; v < s->x->nvalue; v++)
		if (!read[v] && !(s->x->value[v].is_out && !s->x->value[v].is_in))
			s->mark[v].kind = HU_MARK_NONE;
	free(read);
}

/* 1 where value V has codes for a chosen node. */
static int
is_read_by_chosen(const hu_modelopt *m, int v)
{
	for (size_t i = 0; v >= 0 && !m->x->value[v].init && i < m->readers[v].n; i++)
		if (m->chosen[m->readers[v].at[i]])
			return 1;
	return 0;
}

/* By value, the first value of those with the same range: operands and the result of a Concat that have codes, so that
   TensorRT need not change scales there. */
static int *
groups(const hu_modelopt *m)
{
	int *first = hu_xcalloc(m->x->nvalue + 1, sizeof *first);

	for (size_t v = 0; v < m->x->nvalue; v++)
		first[v] = (int)v;
	for (size_t i = 0; i < m->x->n; i++) {
		int out = strcmp(m->x->node[i].op, "Concat") ? -1 : hu_modelopt_result(m, (int)i);
		for (size_t k = 0; is_read_by_chosen(m, out) && k < m->x->node[i].nin; k++) {
			int v = hu_modelopt_operand(m, (int)i, k), from, to;
			if (!is_read_by_chosen(m, v) || first[v] == first[out])
				continue;
			from = first[v] > first[out] ? first[v] : first[out];
			to = first[v] > first[out] ? first[out] : first[v];
			for (size_t u = 0; u < m->x->nvalue; u++)
				first[u] = first[u] == from ? to : first[u];
		}
	}
	return first;
}

/* 1 where a later batch has larger values than the first one, in any of the values of group G. */
static int
grows(const hu_modelopt *m, const int *first, int g)
{
	double begin = 0, most = 0;

	for (size_t v = 0; v < m->x->nvalue; v++) {
		const hu_range *r = first[v] == g ? m->x->value[v].range : NULL;
		for (size_t i = 0; r && i < r->nbatch; i++) {
			begin = i ? begin : fmax(begin, r->batch[i]);
			most = fmax(most, r->batch[i]);
		}
	}
	return most > begin;
}

/* Ranges as the tool has them: by entropy, which is from the least to the largest value unless a later batch has larger
   ones than the first. */
static hu_status
set_ranges(const hu_modelopt *m)
{
	int *first = groups(m);
	hu_status st = HU_OK;

	for (size_t g = 0; g < m->x->nvalue && st == HU_OK; g++) {
		double low = 0, high = 0;
		size_t n = 0;
		for (size_t v = 0; v < m->x->nvalue; v++)
			if (first[v] == (int)g && first[g] == (int)g) {
				n++;
				low = fmin(low, m->x->value[v].low);
				high = fmax(high, m->x->value[v].high);
			}
		hu_tool_value *one = &m->x->value[g];
		int wider = !m->x->t->max && n && grows(m, first, (int)g);
		if (wider && n > 1)
			st = hu_fail(HU_EUNABLE,
				"%s: nvidia-modelopt counts the values of '%s' and of others beside it in a Concat "
				"together, batch by batch, which is not emulated; calibrate on one batch by --batch, "
				"or add the word max",
				m->x->from->path, hu_shown(one->name));
		else if (wider && one->range && one->range->grown.is_too_wide)
			st = hu_fail(HU_EUNABLE,
				"%s: a later batch of '%s' has values so much larger than the first one that "
				"nvidia-modelopt would count them in more than 16384 bins, which is not emulated; "
				"calibrate on one batch by --batch, or add the word max",
				m->x->from->path, hu_shown(one->name));
		else if (wider && one->range)
			hu_range_entropy(&one->range->grown, &one->low, &one->high);
		for (size_t v = 0; n > 1 && v < m->x->nvalue; v++)
			if (first[v] == (int)g) {
				m->x->value[v].low = low;
				m->x->value[v].high = high;
			}
	}
	free(first);
	return st;
}

/* The tool takes probabilities to be from 0 to 1, whatever was measured. */
static void
set_probabilities(hu_rewriting *x)
{
	for (size_t i = 0; i < x->n; i++) {
		int v = strcmp(x->node[i].op, "Softmax") ? -1 : hu_rewriting_find(x, x->node[i].out[0]);
		if (v < 0 || !x->value[v].seen)
			continue;
		x->value[v].low = 0;
		x->value[v].high = 1;
	}
}

static hu_status
write(hu_rewriting *x, const hu_modelopt *m)
{
	hu_ort_static s = { .x = x, .stored = x->t->float32 ? NULL : stored };
	uint64_t *raw = hu_xcalloc(x->n + 1, sizeof *raw), *own = hu_xcalloc(x->n + 1, sizeof *own);

	s.mark = hu_xcalloc(x->nvalue + 1, sizeof *s.mark);
	s.calibrated = hu_xcalloc(x->nvalue + 1, 1);
	for (size_t v = 0; v < x->nvalue; v++) {
		s.mark[v] = (hu_mark){ HU_MARK_NONE, -1, -1, 0 };
		s.calibrated[v] = (char)x->value[v].seen;
	}
	for (size_t i = 0; i < x->n; i++)
		if (m->chosen[i])
			own[i] = mark(&s, &x->node[i]);
	/* The tool gives each reader of a constant its own copy. */
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->node[i].nin && k < 64; k++) {
			int v = hu_modelopt_operand(m, (int)i, k);
			if (v >= 0 && x->value[v].init && !(own[i] >> k & 1))
				raw[i] |= (uint64_t)1 << k;
		}
	set_raw(&s, m, raw);
	unmark(&s, raw);
	s.raw = raw;
	hu_status st = hu_ort_static_write(&s);
	free(s.mark);
	free(s.calibrated);
	free(raw);
	free(own);
	return st;
}

hu_status
hu_tool_modelopt_int8(hu_rewriting *x)
{
	const hu_tool *given = x->t;
	hu_tool as_static = *given;
	hu_modelopt m;

	as_static.per_channel = as_static.symmetric = 1;
	x->t = &as_static;
	hu_modelopt_begin(&m, x);
	hu_modelopt_choose(&m);
	hu_status st = set_ranges(&m);
	set_probabilities(x);
	if (st == HU_OK)
		st = write(x, &m);
	hu_modelopt_release(&m);
	x->t = given;
	if (st != HU_OK || given->float32)
		return st;
	HU_TRY(hu_rewriting_again(x));
	return hu_fp16_write(x, &hu_fp16_modelopt);
}
