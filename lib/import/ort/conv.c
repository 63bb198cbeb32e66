/* SPDX-License-Identifier: Apache-2.0
   Convolutions in the order of ONNX Runtime's CPU where weights are no constants, as behind DequantizeLinear, or no
   optimisation gives images another layout: windows become columns of a matrix whose rows are the taps of one channel
   after another, and products with it are those of product.c. Where a group has one channel and one filter these are
   products of one row, which a kernel of their own adds by fours, each product rounded. */
#include "lib/import/importing.h"

enum { BY_CHANNEL = 1, BY_FOURS = 2 };

/* 1 where the kernel covers whole rows of images of one channel, which are then a matrix that is transposed. */
static int
covers_rows(const hu_value *v, const hu_value *w, const hu_window *win)
{
	int plain = w->d[w->rank - 1] == v->d[v->rank - 1];

	for (int i = 0; i < win->n; i++)
		plain = plain && win->stride[i] == 1 && win->dilation[i] == 1 && !win->before[i] && !win->after[i];
	return plain;
}

static int
is_by_fours(const hu_value *w, size_t groups)
{
	return groups > 1 && w->d[1] == 1 && w->d[0] == groups && w->n > w->d[0];
}

void
hu_ort_conv_order(hu_importing *c, const hu_value *v, const hu_value *w, const hu_window *win, size_t groups)
{
	if (!c->m->ort || c->pairs || v->type != HU_ONNX_FLOAT)
		return;
	if (!is_by_fours(w, groups))
		hu_import_set(c, "order", BY_CHANNEL);
	else if (!covers_rows(v, w, win))
		hu_import_set(c, "order", BY_FOURS);
}

int
hu_ort_conv(hu_importing *c, int t, const hu_value *w, const hu_window *win, size_t groups)
{
	if (t < 0 || c->st != HU_OK || !c->m->ort)
		return t;
	hu_call *call = &c->p->c[c->p->nc - 1];
	if (!c->constant[t].data && call->op->cls == HU_CLASS_GEMM && c->p->t[call->out[0]].format == HU_FP32 &&
		hu_attr_num(call, "order", 0) == BY_FOURS)
		call->sum.id = HU_SUM_SEQUENTIAL;
	return hu_ort_product(c, t, w->d[0] / groups, win->out[0] * (win->n == 2 ? win->out[1] : 1), w->n / w->d[0]);
}
