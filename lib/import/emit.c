/* SPDX-License-Identifier: Apache-2.0
   The calls that nodes become. A call on constants is computed at once; what no output needs is dropped at the end. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"
#include "lib/base/memory/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* A constant may become this many times larger by being computed beforehand, or reach HU_IMPORT_FOLDED
	   elements; else weights that are repeated would fill memory. */
	GROWTH = 1
};

int
hu_import_fail(hu_importing *c, hu_status st, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (c->st != HU_OK)
		return -1;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->st = c->node ? hu_fail(st, "%s: node '%.120s' (%.60s): %s", c->m->path, c->node->name, c->node->op, text)
			: hu_fail(st, "%s: %s", c->m->path, text);
	return -1;
}

/* Adds BYTES to *SUM, which may be one PART of the memory. Returns 0, or -1 and a failure. */
static int
within(hu_importing *c, double *sum, double bytes, int part, const char *what)
{
	double most = (double)hu_memory_limit() / part;

	if ((*sum += bytes) > most)
		return hu_import_fail(c, HU_ENOMEM,
			"%s take %.0f MB and may take %.0f MB: let it take more memory (--max-memory)", what,
			*sum / 1e6, most / 1e6);
	return c->st == HU_OK ? 0 : -1;
}

int
hu_import_shaped(hu_importing *c, double bytes)
{
	return within(c, &c->shaped, bytes, 16, "the calls and sequences that nodes become");
}

void
hu_import_set(hu_importing *c, const char *key, double x)
{
	HU_ASSERT(c->nattr < HU_MAX_ATTR);
	hu_attr *a = &c->attr[c->nattr++];
	*a = (hu_attr){ .num = x };
	snprintf(a->key, sizeof a->key, "%s", key);
}

void
hu_import_set_text(hu_importing *c, const char *key, const char *text)
{
	hu_import_set(c, key, 0);
	snprintf(c->attr[c->nattr - 1].text, sizeof c->attr->text, "%s", text);
}

/* Letters, digits and a few signs that mean nothing in patterns and policies. */
static void
clean(char *to, size_t size, const char *from)
{
	size_t n = strlen(from), at = 0;

	if (n >= size)
		from += n - (size - 1);
	for (; *from && at + 1 < size; from++)
		to[at++] = (*from >= '0' && *from <= '9') || (*from >= 'A' && *from <= 'Z') ||
					   (*from >= 'a' && *from <= 'z') || *from == '/' || *from == '-' ||
					   *from == ':'
				   ? *from
				   : '_';
	to[at] = 0;
}

/* STEM.ROLE, or with a number where that is taken. */
static int
add(hu_importing *c, const char *stem, const char *role, hu_format_id f, hu_shape s, hu_tclass cls)
{
	char name[140];

	snprintf(name, sizeof name, "%.96s.%s", stem, role);
	if (hu_program_find(c->p, name) >= 0) {
		/* A loop's body has the same constants at each of thousands of steps. */
		char *first = hu_xstrdup(name);
		int i = (int)json_integer_value(json_object_get(c->namesakes, first));
		for (i = i ? i : 2; hu_program_find(c->p, name) >= 0; i++)
			snprintf(name, sizeof name, "%.84s_%d.%s", stem, i, role);
		json_object_set_new_nocheck(c->namesakes, first, json_integer(i));
		free(first);
	}
	return hu_program_tensor(c->p, name, f, s, cls);
}

int
hu_import_tensor(hu_importing *c, const char *name, hu_format_id f, hu_shape s, hu_tclass cls, int constant)
{
	char stem[90], role[16] = "w";
	int id;

	if (!constant || !name)
		snprintf(stem, sizeof stem, "%.80s", *c->layer ? c->layer : "constant");
	else
		clean(stem, sizeof stem, name);
	if (!constant || !name)
		snprintf(role, sizeof role, constant ? "k%d" : "y%d", ++c->calls);
	id = add(c, stem, role, f, s, cls);
	while (c->nconstant <= (size_t)id) {
		HU_GROW(c->constant, c->nconstant, c->constantcap);
		c->constant[c->nconstant++] = (hu_tensor){ .data = NULL };
	}
	hu_tensor *t = &c->constant[id];
	*t = (hu_tensor){ .format = f, .shape = s, .n = hu_count(s) };
	if (constant && !(t->data = hu_alloc(t->n * hu_element_size(f) + 1)))
		return hu_import_fail(c, HU_ENOMEM, "no memory for a constant of %zu elements", t->n);
	c->p->t[id].state = constant && cls == HU_WEIGHT;
	return id;
}

/* 1 where tensor ID, the result of a call on constants, may be held beside them. */
static int
is_allowed(hu_importing *c, const hu_call *call, int id, int varies)
{
	const hu_tensor *to = &c->constant[id];
	size_t all = 0;

	for (int i = 0; i < call->nin; i++) {
		int k = 0;
		while (call->in[k] != call->in[i])
			k++;
		all += k == i ? c->constant[call->in[i]].n : 0; /* each counts once: it may be joined to itself */
	}
	if (to->n > HU_IMPORT_FOLDED && to->n > all &&
		(to->n > HU_IMPORT_COMPUTED || (c->grown += to->n) > HU_IMPORT_COMPUTED)) {
		hu_import_fail(c, HU_EUNABLE, "%zu computed constants are too many",
			to->n > HU_IMPORT_COMPUTED ? to->n : c->grown);
		return 0;
	}
	double bytes = (double)to->n * (double)hu_element_size(to->format);
	return !varies || !within(c, &c->held, bytes, 2, "values computed for one input");
}

/* Computes the last call of the program, whose inputs are constants, and takes it away. VARIES: for the input at hand
   alone. */
static void
fold(hu_importing *c, int id, int varies)
{
	hu_call *call = &c->p->c[c->p->nc - 1];
	hu_tensor **in = hu_xcalloc((size_t)call->nin + 1, sizeof *in), *to = &c->constant[id];
	hu_info *t = &c->p->t[id];

	for (int i = 0; i < call->nin; i++)
		in[i] = &c->constant[call->in[i]];
	int fits = is_allowed(c, call, id, varies);
	to->data = fits ? hu_alloc(to->n * hu_element_size(to->format) + 1) : NULL;
	if (!to->data)
		hu_import_fail(c, HU_ENOMEM, "no memory for a constant of %zu elements", to->n);
	else if (to->n && HU_COLUMN(call->op, emulate)(call, in, &to, &(hu_env){ 0, 0 }) != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_import_fail(c, HU_EFILE, "%s", why);
		free(why);
	}
	int half = !strcmp(call->op->name, "move");
	for (int i = 0; i < call->nin; i++)
		half &= hu_import_is_half(c, call->in[i]);
	if (half && call->nin)
		hu_import_mark_half(c, id);
	free(in);
	free(call->in);
	free(call->out);
	c->p->nc--;
	c->nmade--;
	t->producer = -1;
	t->cls = t->cls == HU_OTHER ? HU_OTHER : HU_WEIGHT;
	t->state = t->cls == HU_WEIGHT;
}

/* 1 where the call can be computed beforehand, 2 where for the input at hand alone. */
static int
foldable(const hu_importing *c, const int *in, int nin, size_t n)
{
	size_t all = 0;
	int varies = 0;

	for (int i = 0; i < nin; i++) {
		if (!c->constant[in[i]].data)
			return 0;
		varies |= hu_asking_varies(c, in[i]);
		all += c->constant[in[i]].n;
	}
	int small = n <= HU_IMPORT_FOLDED || n <= GROWTH * all;
	return varies || (!small && c->asking && c->asking->fill) ? 2 : small;
}

int
hu_import_nothing(hu_importing *c, hu_format_id f, hu_shape s)
{
	return hu_import_tensor(c, NULL, f, s, HU_OTHER, 1);
}

/* The output of PROBE, of whose inputs some have no elements: axes of it are that long as with both of two stand-ins
   for 0, or else have the length 0. */
static int
call_on_nothing(hu_importing *c, const hu_call *probe, const hu_shape *shape, hu_format_id f)
{
	static const size_t stands[2] = { 7, 11 };
	hu_shape *in = hu_xcalloc((size_t)probe->nin + 1, sizeof *in), out[2][4] = { { { 0, { 0 } } } };
	hu_status st = HU_OK;

	for (int s = 0; s < 2 && st == HU_OK; s++) {
		for (int i = 0; i < probe->nin; i++) {
			in[i] = shape[i];
			for (int j = 0; j < in[i].rank; j++)
				in[i].d[j] = in[i].d[j] ? in[i].d[j] : stands[s];
		}
		st = hu_op_shape(probe, in, out[s]);
	}
	free(in);
	c->nattr = 0;
	for (int j = 0; j < out[0]->rank; j++)
		out[0]->d[j] = out[0]->d[j] == out[1]->d[j] ? out[0]->d[j] : 0;
	if (st == HU_OK && !hu_count(out[0][0]))
		return hu_import_nothing(c, f, out[0][0]);
	return hu_import_fail(c, HU_EUNABLE, "it computes something of a value without elements");
}

int
hu_import_call(hu_importing *c, const char *op, hu_format_id f, const int *in, int nin)
{
	hu_shape *shape, out[4] = { { 0, { 0 } } };
	hu_call probe = { .op = hu_op_find(op), .nin = nin, .nout = 1, .nattr = c->nattr };
	int other = 1, nothing = 0;

	for (int i = 0; i < nin; i++)
		if (in[i] < 0 || c->st != HU_OK) {
			c->nattr = 0;
			return -1;
		}
	if (!probe.op)
		hu_bug(__FILE__, __LINE__, "no operator named %s", op);
	memcpy(probe.attr, c->attr, sizeof probe.attr);
	shape = hu_xcalloc((size_t)nin + 1, sizeof *shape);
	for (int i = 0; i < nin; i++) {
		shape[i] = c->p->t[in[i]].shape;
		other &= c->p->t[in[i]].cls == HU_OTHER;
		nothing |= !hu_count(shape[i]);
	}
	f = f == HU_NO_FORMAT ? c->p->t[in[0]].format : f;
	if (nothing) {
		int id = call_on_nothing(c, &probe, shape, f);
		free(shape);
		return id;
	}
	hu_status st = hu_op_shape(&probe, shape, out);
	free(shape);
	if (st != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		hu_import_fail(c, st == HU_EINVAL ? HU_EFILE : st, "%s", why);
		free(why);
		c->nattr = 0;
		return -1;
	}
	if (hu_import_shaped(c, sizeof(hu_call) + sizeof(hu_info) + (double)nin * sizeof *in)) {
		c->nattr = 0;
		return -1;
	}
	int id = hu_import_tensor(c, NULL, f, out[0], other ? HU_OTHER : HU_ACTIVATION, 0);
	hu_call *call = hu_program_call(c->p, op, HU_FORWARD, c->layer, in, nin, &id, 1);
	call->nattr = c->nattr;
	memcpy(call->attr, c->attr, sizeof call->attr);
	c->nattr = 0;
	HU_GROW(c->made, c->nmade, c->madecap);
	c->made[c->nmade++] = c->own;
	int folds = c->unfolded ? 0 : foldable(c, in, nin, hu_count(out[0]));
	if (folds)
		fold(c, id, folds == 2);
	if (folds == 2)
		hu_asking_mark(c, id);
	return c->st == HU_OK ? id : -1;
}

int
hu_import_call1(hu_importing *c, const char *op, int a)
{
	return hu_import_call(c, op, HU_NO_FORMAT, &a, 1);
}

int
hu_import_call2(hu_importing *c, const char *op, int a, int b)
{
	return hu_import_call(c, op, HU_NO_FORMAT, (int[]){ a, b }, 2);
}

/* For each tensor its new id, -1 where no output needs it. */
static int *
needed(hu_importing *c, const hu_imported *m)
{
	hu_program *p = c->p;
	int *map = hu_xcalloc((size_t)p->nt + 1, sizeof *map), n = 0;

	for (size_t i = 0; i < m->nout; i++)
		map[m->out[i].tensor] = 1;
	for (int i = p->nc - 1; i >= 0; i--)
		for (int k = 0; k < p->c[i].nin && map[p->c[i].out[0]]; k++)
			map[p->c[i].in[k]] = 1;
	for (int i = 0; i < p->nt; i++)
		map[i] = map[i] ? n++ : -1;
	return map;
}

void
hu_import_prune(hu_importing *c, hu_imported *m)
{
	hu_program *p = c->p;
	int *map = needed(c, m), nt = 0, nc = 0;

	m->half = hu_xcalloc((size_t)p->nt + 1, 1);
	for (int i = 0; i < p->nc; i++) {
		hu_call *call = &p->c[i];
		if (map[call->out[0]] < 0) {
			free(call->in);
			free(call->out);
			continue;
		}
		for (int k = 0; k < call->nin; k++)
			call->in[k] = map[call->in[k]];
		call->out[0] = map[call->out[0]];
		call->id = nc;
		c->made[nc] = c->made[i];
		p->c[nc++] = *call;
	}
	p->nc = nc;
	for (int i = 0; i < p->nt; i++) {
		if (map[i] < 0) {
			free(c->constant[i].data);
			continue;
		}
		m->half[nt] = (char)hu_import_is_half(c, i);
		c->constant[nt] = c->constant[i];
		p->t[nt++] = p->t[i];
	}
	p->nt = nt;
	hu_program_index(p);
	c->nconstant = (size_t)nt;
	for (int i = 0; i < nc; i++)
		p->t[p->c[i].out[0]].producer = i;
	for (size_t i = 0; i < m->nin; i++)
		m->in[i].tensor = map[m->in[i].tensor];
	for (size_t i = 0; i < m->nout; i++)
		m->out[i].tensor = map[m->out[i].tensor];
	for (size_t i = 0; i < m->nvalue; i++)
		m->value[i].tensor = m->value[i].tensor < 0 ? -1 : map[m->value[i].tensor];
	free(map);
}
