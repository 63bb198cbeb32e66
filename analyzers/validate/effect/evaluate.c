/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/validate/effect/evaluate.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/ranks/united.h"
#include "lib/op/reduce/summed.h"

#include <stdlib.h>
#include <string.h>

/* What a tensor takes in deployment. */
static double
tensor_bytes(const hu_version *v, int t)
{
	return v->bits[t] < 0 ? 0 : v->bits[t] > 0 ? v->bits[t] / 8 : hu_info_bytes(&v->p->t[t]);
}

/* What a parameter takes where it is read: as its cast, where only casts read it. */
static double
parameter_bytes(const hu_version *v, int t)
{
	const hu_program *p = v->p;
	double most = 0;
	int plain = 0;

	for (int i = 0; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nin; k++) {
			if (p->c[i].in[k] != t)
				continue;
			if (p->c[i].op->role != HU_ROLE_CAST) {
				plain = 1;
				continue;
			}
			double bytes = hu_info_bytes(&p->t[p->c[i].out[0]]);
			most = bytes > most ? bytes : most;
		}
	return plain ? tensor_bytes(v, t) : most;
}

double
hu_evaluate_weight_bytes(const hu_version *v)
{
	double bytes = v->weight_bytes;

	for (int i = 0; i < v->p->nt && !(v->weight_bytes > 0); i++)
		if (v->p->t[i].producer < 0 && v->p->t[i].state)
			bytes += parameter_bytes(v, i);
	return bytes;
}

/* A cast that the emulation needs and deployment does not: of a parameter, which is stored as its cast, or to a tensor
   that a version of schemes has said the bytes of, since it is its operand in another format. */
static int
is_free(const hu_version *v, const hu_call *c)
{
	const hu_info *in = &v->p->t[c->in[0]];

	return c->op->role == HU_ROLE_CAST && ((in->producer < 0 && in->state) || v->bits[c->out[0]] > 0);
}

static void
count_bytes(hu_evaluated *e, size_t batch)
{
	const hu_program *p = e->p;

	e->weight_bytes = hu_evaluate_weight_bytes(&e->v);
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		hu_cost k = hu_call_cost(p, c);
		if (is_free(&e->v, c))
			continue;
		double bytes = k.bytes_in + k.bytes_out;
		for (int j = 0; j < k.reads; j++)
			bytes -= hu_info_bytes(&p->t[c->in[j]]) - tensor_bytes(&e->v, c->in[j]);
		for (int j = 0; j < c->nout; j++)
			bytes -= hu_info_bytes(&p->t[c->out[j]]) - tensor_bytes(&e->v, c->out[j]);
		e->traffic_bytes += bytes / (double)batch;
	}
}

/* Looks for values that are not finite: bad by tensor, and the first call that makes such of finite ones, or -1. */
typedef struct watch {
	char *bad;
	int first;
} watch;

static void
after_call(void *with, const hu_exec *x, int i)
{
	const hu_call *c = &x->p->c[i];
	watch *w = with;
	int before = 0;

	for (int k = 0; k < c->nin; k++)
		before |= w->bad[c->in[k]];
	w->bad[c->out[0]] = hu_tensor_nonfinite(&x->t[c->out[0]]) > 0;
	if (w->first < 0 && !before && w->bad[c->out[0]])
		w->first = i;
}

/* Before the calls. */
static void
watch_inputs(watch *w, const hu_exec *x)
{
	w->first = -1;
	for (int i = 0; i < x->p->nt; i++)
		w->bad[i] = x->p->t[i].producer < 0 && hu_tensor_nonfinite(&x->t[i]) > 0;
}

static void
keep(hu_evaluated *e, const hu_imported *m, const hu_exec *x, size_t first, size_t batch)
{
	for (size_t k = 0; k < m->nout; k++) {
		int id = e->v.map[m->out[k].tensor];
		size_t each = e->each[k], rows = first + batch <= e->n ? batch : e->n - first;
		hu_rows in = hu_rows_of(m->out[k].rank, m->out[k].d, m->out[k].axis, batch);
		for (size_t r = 0; r < rows; r++)
			for (size_t i = 0; i < each; i++) {
				double v = hu_get(&x->t[id], hu_rows_at(&in, r, i));
				e->out[k][(first + r) * each + i] = v;
				e->nonfinite += !hu_isfinite(v);
			}
	}
}

void
hu_evaluate_end(hu_evaluated *e)
{
	if (e->x)
		hu_exec_release(e->x);
	free(e->x);
	free(e->bad);
	e->x = NULL;
	e->bad = NULL;
}

static hu_status
ready(hu_evaluated *e, const hu_imported *m)
{
	char *outputs = hu_xcalloc((size_t)e->p->nt + 1, 1);

	if (!e->x) {
		for (size_t k = 0; k < m->nout; k++)
			outputs[e->v.map[m->out[k].tensor]] = 1;
		e->x = hu_xcalloc(1, sizeof *e->x);
		e->bad = hu_xcalloc((size_t)e->p->nt + 1, 1);
		hu_status st = hu_exec_init_sharing(e->x, e->p, outputs, e->v.constant);
		if (st != HU_OK) {
			free(e->x);
			e->x = NULL;
			free(outputs);
			return st;
		}
		hu_version_load(&e->v, e->x->t);
	}
	free(outputs);
	return HU_OK;
}

hu_status
hu_evaluate_rows(hu_evaluated *e, const hu_imported *m, const hu_samples *s, size_t batch, size_t first, size_t last,
	hu_progress *bar)
{
	HU_TRY(ready(e, m));
	watch w = { e->bad, -1 };
	hu_exec *x = e->x;

	x->after = after_call;
	x->with = &w;
	for (; first < last; first += batch) {
		for (size_t i = 0; i < m->nin; i++) {
			int id = m->in[i].tensor < 0 ? -1 : e->v.map[m->in[i].tensor];
			if (id >= 0)
				hu_samples_fill(s, i, first, batch, &x->t[id]);
		}
		watch_inputs(&w, x);
		HU_TRY(hu_exec_run(x, &(hu_env){ 0, 0 }));
		keep(e, m, x, first, batch);
		if (w.first >= 0 && (e->first_call < 0 || w.first < e->first_call))
			e->first_call = w.first;
		hu_progress_step(bar, 1);
	}
	return HU_OK;
}

/* As hu_pass_reductions does. */
static hu_status
reduce_by(hu_program *p, hu_call *c, hu_sum sum)
{
	if (!hu_summed_takes(c->op) || hu_program_is_loss(c) || p->t[c->out[0]].cls == HU_OTHER)
		return HU_OK;
	return hu_summed_set(c, sum);
}

hu_status
hu_evaluate_accumulate(hu_program *p, const hu_evaluate_sums *sums, const char *layer, int inverse)
{
	for (int i = 0; i < p->nc; i++) {
		hu_call *c = &p->c[i];
		int exact = c->fmt.acc == HU_FP64 && c->fmt.in == HU_FP32;
		if (exact || (layer && !strcmp(c->layer, layer)) == inverse)
			continue;
		if (sums->reductions)
			HU_TRY(reduce_by(p, c, *sums->reductions));
		if (!sums->products || c->op->cls != HU_CLASS_GEMM)
			continue;
		c->sum = *sums->products;
		c->fmt.acc = sums->products->acc;
	}
	return HU_OK;
}

hu_status
hu_evaluate_begin(hu_evaluated *e, const hu_imported *m, hu_version v, const char *model,
	const hu_evaluate_sums *sums, size_t n, size_t batch)
{
	hu_status st = HU_OK;
	hu_sum own;

	*e = (hu_evaluated){ .v = v, .p = v.p, .n = n, .first_call = -1 };
	e->each = hu_xcalloc(m->nout + 1, sizeof *e->each);
	e->out = hu_xcalloc(m->nout + 1, sizeof *e->out);
	e->nout = m->nout;
	for (size_t k = 0; k < m->nout && st == HU_OK; k++) {
		size_t all = hu_count(m->p->t[m->out[k].tensor].shape);
		HU_ASSERT(all % batch == 0); /* hu_network_batching has seen to it */
		e->each[k] = all / batch;
		e->out[k] = hu_xcalloc(e->each[k] * n + 1, sizeof **e->out);
	}
	if (st == HU_OK && *model && (st = hu_sum_parse(model, &own)) == HU_OK)
		st = hu_evaluate_accumulate(v.p, &(hu_evaluate_sums){ .products = &own }, NULL, 1);
	if (st == HU_OK && sums)
		st = hu_evaluate_accumulate(v.p, sums, NULL, 1);
	if (st == HU_OK)
		count_bytes(e, batch);
	else
		hu_evaluated_release(e);
	return st;
}

/* Has united ranks tell each other their inputs' outputs, and what they met. */
static void
assemble(hu_evaluated *e, size_t batch)
{
	typedef struct met {
		size_t nonfinite;
		int first_call;
	} met;
	size_t ranks = (size_t)hu_ranks_united();
	met *each = hu_xcalloc(ranks, sizeof *each), own = { e->nonfinite, e->first_call };

	for (size_t k = 0; k < e->nout; k++)
		hu_ranks_assemble(e->out[k], e->n, batch, e->each[k] * sizeof **e->out);
	each[ranks > 1 ? hu_ranks_rank() : 0] = own;
	hu_ranks_assemble(each, ranks, 1, sizeof *each);
	e->nonfinite = 0;
	for (size_t r = 0; r < ranks; r++) {
		e->nonfinite += each[r].nonfinite;
		if (each[r].first_call >= 0 && (e->first_call < 0 || each[r].first_call < e->first_call))
			e->first_call = each[r].first_call;
	}
	free(each);
}

hu_status
hu_evaluate(hu_evaluated *e, const hu_imported *m, hu_version v, const char *model,
	const hu_evaluate_sums *sums, const hu_samples *s, size_t batch, hu_progress *bar)
{
	size_t first, last;

	HU_TRY(hu_evaluate_begin(e, m, v, model, sums, s->n, batch));
	hu_ranks_slice(s->n, batch, &first, &last);
	hu_status st = hu_evaluate_rows(e, m, s, batch, first, last, bar);
	if (st == HU_OK)
		assemble(e, batch);
	hu_evaluate_end(e);
	if (st != HU_OK)
		hu_evaluated_release(e);
	return st;
}

void
hu_evaluated_release(hu_evaluated *e)
{
	hu_evaluate_end(e);
	for (size_t k = 0; k < e->nout; k++)
		free(e->out[k]);
	free(e->out);
	free(e->each);
	hu_version_release(&e->v);
	memset(e, 0, sizeof *e);
}
