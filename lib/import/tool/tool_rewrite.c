/* SPDX-License-Identifier: Apache-2.0
   A model as a tool sees it, read from a file and from calibration, and its new graph, completed. */
#include "lib/import/tool/rewriting.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/number/simd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The float32 sum of N numbers X, of which every second one counts, in NumPy's order: fewer than eight one after
   another, up to 128 in eight lanes, and more in two halves. */
static float
numpy_sum(const double *x, size_t n)
{
	float lane[8] = { 0 }, sum;
	size_t i = 0, half = n / 2 - n / 2 % 8;

	if (n > 128)
		return numpy_sum(x, half) + numpy_sum(x + 2 * half, n - half);
	for (; n >= 8 && i < n / 8 * 8; i++)
		lane[i % 8] += (float)x[2 * i];
	sum = lane[0] + lane[1] + (lane[2] + lane[3]) + (lane[4] + lane[5] + (lane[6] + lane[7]));
	for (; i < n; i++)
		sum += (float)x[2 * i];
	return sum;
}

/* The mean of the batches' ends, as moving_average has it. */
static void
mean(hu_tool_value *v, const hu_range *r)
{
	v->low = (double)(numpy_sum(r->ends, r->nbatch) / (float)r->nbatch);
	v->high = (double)(numpy_sum(r->ends + 1, r->nbatch) / (float)r->nbatch);
}

/* 1 where nothing needs the elements of V, which a node makes: its shape alone is read. Any range of it will do. */
static int
is_idle(const hu_imported *m, const hu_imported_value *v)
{
	if (v->constant || v->type != HU_ONNX_FLOAT)
		return 0;
	for (size_t i = 0; i < m->nin; i++)
		if (m->in[i].tensor == v->tensor || !strcmp(m->in[i].name, v->name))
			return 0;
	for (int i = 0; i < m->p->nc; i++)
		for (int k = 0; k < m->p->c[i].nout; k++)
			if (m->p->c[i].out[k] == v->tensor)
				return 0;
	return 1;
}

/* Types, and the ranges of calibration. */
static void
measure_values(hu_rewriting *x, const hu_imported *m, const hu_range *range)
{
	for (size_t i = 0; i < m->nvalue; i++) {
		const hu_imported_value *from = &m->value[i];
		int id = hu_rewriting_find(x, from->name);
		if (id < 0)
			continue;
		hu_tool_value *v = &x->value[id];
		v->type = from->type;
		v->rank = from->rank;
		memcpy(v->d, from->d, sizeof v->d);
		v->seen = from->constant || (range && from->tensor >= 0 && range[from->tensor].n > 0);
		if (range && !v->seen && is_idle(m, from)) {
			v->seen = 1;
			v->high = 1;
			continue;
		}
		if (from->constant || !v->seen) {
			v->low = from->infinite[0] ? -INFINITY : from->low;
			v->high = from->infinite[1] ? INFINITY : from->high;
			continue;
		}
		const hu_range *r = v->range = &range[from->tensor];
		v->infinite = r->nonfinite > 0;
		v->low = r->low;
		v->high = r->high;
		if (x->t->moving_average)
			mean(v, r);
		if (x->t->percent > 0) {
			hu_range_percentile(&r->magnitude, x->t->percent, &v->low, &v->high);
		} else {
			v->low = r->infinite[0] ? -INFINITY : v->low;
			v->high = r->infinite[1] ? INFINITY : v->high;
		}
	}
}

/* The tools' rules are known of float32 models. */
static hu_status
is_float32(const hu_onnx *m)
{
	for (size_t i = 0; i < m->graph->ninit; i++) {
		const hu_stensor *t = &m->graph->init[i];
		if (!strcmp(t->dtype, "F16") || !strcmp(t->dtype, "BF16"))
			return hu_fail(HU_EUNABLE,
				"%s: constant '%s' is of 16 bits already; give the float32 model that a tool would "
				"start from",
				m->path, hu_shown(t->name));
	}
	return HU_OK;
}

hu_status
hu_tool_fuse(hu_onnx *to, const hu_onnx *from, int kernels)
{
	hu_rewriting x = { .from = from };

	hu_onnx_rewrite_begin(&x.w, to, from);
	for (size_t i = 0; i < from->graph->nnode; i++) {
		hu_onnx_node *node = hu_onnx_rewrite_copy(&x.w, &from->graph->node[i]);
		const char **out = hu_onnx_rewrite_room(&x.w, node->nout + 1, sizeof *out),
			   **in = hu_onnx_rewrite_room(&x.w, node->nin + 1, sizeof *in);
		memcpy(out, node->out, node->nout * sizeof *out);
		memcpy(in, node->in, node->nin * sizeof *in);
		node->out = out;
		node->in = in;
	}
	for (size_t i = 0; i < from->graph->ninit; i++)
		hu_onnx_rewrite_keep(&x.w, &from->graph->init[i]);
	if (kernels)
		hu_ort_fuse(&x.w);
	else
		hu_affine_pairs(&x.w);
	hu_rewriting_clean(&x);
	hu_status st = hu_onnx_rewrite_end(&x.w);
	if (st != HU_OK)
		hu_onnx_release(to);
	return st;
}

static hu_tool_code *const codes[] = {
#define TOOL(name, code, calibrates, runs, words, summary) hu_tool_##code,
#include "lib/import/tool/tools.def"
#undef TOOL
};

/* What a processor without VNNI makes of products of bytes, where the new graph has such. */
static void
note_pairs(hu_rewriting *x)
{
	static const char products[] = "MatMulInteger QLinearMatMul QLinearConv QGemm MatMulIntegerToFloat "
				       "DynamicQuantizeMatMul DynamicQuantizeLSTM";
	const hu_onnx_graph *g = x->w.to->graph;

	if (x->t->pairs16 || x->t->weight_type != HU_ONNX_INT8 || !hu_simd_lacks_vnni() ||
		(x->t->qoperator && x->t->activation_type == HU_ONNX_INT8)) /* signed bytes alone add up in 32 bits */
		return;
	for (size_t i = 0; i < g->nnode; i++)
		if (hu_rewriting_has(products, g->node[i].op)) {
			hu_str_addf(&x->notes,
				"This processor has no VNNI, and onnxruntime's products of codes may saturate here: "
				"the word pairs16 predicts that.\n");
			return;
		}
}

hu_status
hu_tool_rewrite(
	hu_onnx *to, char **notes, const hu_tool *t, const hu_onnx *from, const hu_imported *m, const hu_range *range)
{
	hu_rewriting x = { .t = t, .from = from };

	*notes = NULL;
	HU_TRY(is_float32(from));
	hu_str_init(&x.notes);
	hu_onnx_rewrite_begin(&x.w, to, from);
	x.ids = json_object();
	hu_rewriting_nodes(&x);
	hu_rewriting_list(&x);
	measure_values(&x, m, range);
	int to_codes = codes[t->row] == hu_tool_ort_static || codes[t->row] == hu_tool_ort_dynamic;
	hu_status st = to_codes ? hu_rewriting_newer(&x) : HU_OK;
	if (st == HU_OK)
		st = codes[t->row](&x);
	if (st == HU_OK) {
		hu_rewriting_close(&x);
		note_pairs(&x);
		st = hu_onnx_rewrite_end(&x.w);
		to->ort = hu_tool_runs_on_ort(t);
		to->pairs16 = t->pairs16;
	}
	if (st != HU_OK)
		hu_onnx_release(to);
	else if (x.notes.len)
		*notes = hu_xstrdup(x.notes.s);
	hu_str_release(&x.notes);
	json_decref(x.ids);
	free(x.value);
	free(x.node);
	free(x.dropped);
	return st;
}
