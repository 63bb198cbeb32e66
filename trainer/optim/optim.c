/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/optim/optim.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

static const hu_optim rows[] = {
#define OPTIM(id, lr, momentum, wd, casts, reads, summary)                                                             \
	{ #id, summary, lr, momentum, wd, casts, reads, hu_optim_##id },
#include "trainer/optim/optims.def"
#undef OPTIM
};

enum { ROWS = sizeof rows / sizeof *rows };

const hu_optim *
hu_optim_at(int i)
{
	return i >= 0 && i < ROWS ? &rows[i] : NULL;
}

hu_status
hu_optim_find(const char *name, const hu_optim **out)
{
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name)) {
			*out = &rows[i];
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "unknown optimizer '%s'; there are"
#define OPTIM(id, lr, momentum, wd, casts, reads, summary) " " #id
#include "trainer/optim/optims.def"
#undef OPTIM
		,
		name);
}

int
hu_optim_state(hu_program *p, const hu_optim_options *o, int t, const char *suffix)
{
	char name[HU_NAME + 16];

	snprintf(name, sizeof name, "%s_%s", p->t[t].name, suffix);
	hu_format_id f = o->state ? (hu_format_id)(o->state - 1) : p->t[t].format;
	int id = hu_program_tensor(p, name, f, p->t[t].shape, HU_OTHER);
	p->t[id].state = 1;
	return id;
}

int
hu_optim_apply(
	hu_program *p, int i, const char *op, const char *suffix, hu_format_id f, int scalar, const int *in, int nin)
{
	char name[HU_NAME + 24];

	snprintf(name, sizeof name, "%s_%s", p->t[i].name, suffix);
	int out = hu_program_tensor(p, name, f, scalar ? hu_shape0() : p->t[i].shape, HU_OTHER);
	hu_program_call(p, op, HU_UPDATE, p->t[i].layer, in, nin, &out, 1);
	return out;
}

void
hu_optim_keep(hu_program *p, int i, int state, int to, int found)
{
	int in[3] = { state, to, found }, out = hu_optim_next(p, state);

	hu_program_call(p, "select", HU_UPDATE, p->t[i].layer, in, 3, &out, 1);
}

int
hu_optim_next(hu_program *p, int t)
{
	char name[HU_NAME + 16];

	snprintf(name, sizeof name, "%s_next", p->t[t].name);
	int id = hu_program_tensor(p, name, p->t[t].format, p->t[t].shape, p->t[t].cls);
	p->t[t].next = id;
	return id;
}

static int
append_norm(hu_program *p)
{
	int *in = hu_xmalloc(((size_t)p->nt + 1) * sizeof *in), n = 0, wide = 0;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0) {
			in[n++] = p->t[i].grad;
			wide |= p->t[p->t[i].grad].format == HU_FP64;
		}
	int out = hu_program_tensor(p, "optim.grad_norm", wide ? HU_FP64 : HU_FP32, hu_shape0(), HU_OTHER);
	hu_program_call(p, "grad_norm", HU_UPDATE, "optim", in, n, &out, 1);
	free(in);
	return out;
}

/* Appends a call that makes the scalar optim.NAME of x, with one attribute. */
static int
scalar(hu_program *p, const char *op, const char *name, int x, const char *key, double value)
{
	int out = hu_program_tensor(p, name, p->t[x].format, hu_shape0(), HU_OTHER);
	hu_call *c = hu_program_call(p, op, HU_UPDATE, "optim", &x, 1, &out, 1);

	if (key)
		hu_attr_set(c, key, value);
	return out;
}

/* Appends the call of op that makes LAYER.dROLE_clipped of parameter i's gradient, and of the tensor by unless it is
   -1; the parameter's gradient is that from now on. */
static hu_call *
append_clipped(hu_program *p, int i, const char *op, int by)
{
	int in[2] = { p->t[i].grad, by };
	char name[HU_NAME + 16];

	snprintf(name, sizeof name, "%s.d%s_clipped", p->t[i].layer, p->t[i].role);
	int out = hu_program_tensor(p, name, p->t[in[0]].format, p->t[i].shape, HU_WGRAD);
	p->t[i].grad = out;
	return hu_program_call(p, op, HU_UPDATE, p->t[i].layer, in, by < 0 ? 1 : 2, &out, 1);
}

static void
append_clip(hu_program *p, int norm, double most)
{
	int inverse = scalar(p, "reciprocal", "optim.inverse_norm", norm, NULL, 0),
	    share = scalar(p, "scale", "optim.share", inverse, "factor", most),
	    clip = scalar(p, "clip", "optim.clip", share, "high", 1);

	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0)
			append_clipped(p, i, "scale", clip);
}

static void
append_clip_value(hu_program *p, double most)
{
	for (int i = 0, n = p->nt; i < n; i++)
		if (p->t[i].trainable && p->t[i].grad >= 0) {
			hu_call *c = append_clipped(p, i, "clip", -1);
			hu_attr_set(c, "low", -most);
			hu_attr_set(c, "high", most);
		}
}

/* Returns 1 where the learning rate changes from step to step. */
static int
is_scheduled(const hu_lr_schedule *s)
{
	return s->rule != HU_SCHEDULE_constant || s->warmup > 0;
}

static void
append_rate(hu_program *p, const hu_lr_schedule *s)
{
	int step = hu_program_tensor(p, "optim.step", HU_FP64, hu_shape0(), HU_OTHER), out[2];

	p->t[step].state = 1;
	out[0] = hu_program_tensor(p, "optim.rate", HU_FP64, hu_shape0(), HU_OTHER);
	out[1] = hu_optim_next(p, step);
	hu_call *c = hu_program_call(p, "lr_schedule", HU_UPDATE, "optim", &step, 1, out, 2);
	hu_attr_set_text(c, "schedule", hu_schedule_at((int)s->rule)->name);
	hu_attr_set(c, "lr", s->lr);
	if (s->rule == HU_SCHEDULE_step)
		hu_attr_set(c, "decay_rate", s->decay_rate);
	else if (s->rule != HU_SCHEDULE_constant)
		hu_attr_set(c, "lr_end", s->lr_end);
	hu_attr_set(c, "warmup", s->warmup);
	hu_attr_set(c, "decay_steps", s->decay_steps);
}

hu_call *
hu_optim_update(hu_program *p, const hu_optim_options *o, const char *op, int *in, int nin, const int *out, int nout)
{
	int scheduled = is_scheduled(&o->schedule);

	if (scheduled)
		in[nin] = hu_program_cast(p, hu_program_find(p, "optim.rate"), o->constants, HU_UPDATE, "optim");
	hu_call *c = hu_program_call(p, op, HU_UPDATE, p->t[in[0]].layer, in, nin + scheduled, out, nout);
	if (scheduled)
		hu_attr_set(c, "scheduled", 1);
	else
		hu_attr_set(c, "lr", hu_optim_constant(o, o->lr));
	return c;
}

static void
append_averages(hu_program *p, const hu_optim_options *o)
{
	for (int i = 0, n = p->nt; i < n; i++) {
		if (!p->t[i].trainable || p->t[i].next < 0)
			continue;
		int in[2] = { hu_optim_state(p, o, i, HU_OPTIM_EMA), p->t[i].next }, out = hu_optim_next(p, in[0]);
		hu_attr_set(hu_program_call(p, "ema", HU_UPDATE, p->t[i].layer, in, 2, &out, 1), "decay", o->ema);
	}
}

/* Rounds weights, moments and averages of fewer than 24 bits in this mode where calls from `first` on make them,
   directly or for a select that keeps the old value after an overflow. Intermediate results, of which muon's are
   short, are rounded to nearest. */
static void
set_mode(hu_program *p, int first, hu_mode mode)
{
	char *kept = hu_xcalloc((size_t)p->nt + 1, 1);

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].next >= 0)
			kept[p->t[i].next] = 1;
	for (int i = first; i < p->nc; i++)
		if (!strcmp(p->c[i].op->name, "select") && kept[p->c[i].out[0]])
			kept[p->c[i].in[1]] = 1;
	for (int i = first; i < p->nc; i++)
		for (int k = 0; k < p->c[i].nout; k++) {
			int t = p->c[i].out[k];
			if (kept[t] && p->t[t].format != HU_NO_FORMAT && hu_format_of(p->t[t].format).p < 24)
				p->c[i].mode = mode;
		}
	free(kept);
}

void
hu_optim_append(hu_program *p, const hu_optim_options *given, int found)
{
	hu_optim_options own = *given, *o = &own;
	int norm = append_norm(p);

	if (!o->row->casts && o->casting != 2)
		own.constants = HU_FP64;
	hu_optim_cast(o);

	if (o->clip_norm > 0)
		append_clip(p, norm, o->clip_norm);
	if (o->clip_value > 0)
		append_clip_value(p, o->clip_value);
	if (is_scheduled(&o->schedule))
		append_rate(p, &o->schedule);
	int first = p->nc;
	o->row->append(p, o, found);
	if (o->kahan)
		hu_optim_kahan(p);
	if (o->ema > 0)
		append_averages(p, o);
	if (o->update != HU_RNE)
		set_mode(p, first, o->update);
}

double
hu_optim_decay(const hu_optim_options *o, const char *parameter)
{
	return o->no_decay && hu_match(o->no_decay, parameter) ? 0 : o->weight_decay;
}
