/* SPDX-License-Identifier: Apache-2.0
   Programs as JSON, in the layout of doc/formats.md. */
#include "lib/base/mem.h"
#include "lib/op/reduce/summed.h"
#include "lib/program/links.h"
#include "lib/program/opaque.h"

#include <stdlib.h>
#include <string.h>

static json_t *
ids(const int *v, int n)
{
	json_t *a = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(a, json_integer(v[i]));
	return a;
}

static const char *const read_names[] = { "", "number", "search" };

static json_t *
tensor_to_json(const hu_info *t, int id)
{
	json_t *shape = json_array(), *j;

	for (int i = 0; i < t->shape.rank; i++)
		json_array_append_new(shape, json_integer((json_int_t)t->shape.d[i]));
	j = json_pack("{s:i s:s s:s s:o s:s}", "id", id, "name", t->name, "format", hu_format_name(t->format), "shape",
		shape, "class", hu_tclass_name(t->cls));
	if (t->state)
		json_object_set_new(j, "state", json_true());
	if (t->trainable)
		json_object_set_new(j, "trainable", json_true());
	if (t->loss_scaled)
		json_object_set_new(j, "loss_scaled", json_true());
	if (t->choice)
		json_object_set_new(j, "choice", json_true());
	if (t->read)
		json_object_set_new(j, "read", json_string(read_names[t->read]));
	if (t->next >= 0)
		json_object_set_new(j, "next", json_integer(t->next));
	if (t->scale >= 0)
		json_object_set_new(j, "scale", json_integer(t->scale));
	if (t->grad >= 0)
		json_object_set_new(j, "grad", json_integer(t->grad));
	return j;
}

static json_t *
call_to_json(const hu_program *p, const hu_call *c)
{
	json_t *attr = json_object();
	char sum[96];

	for (int i = 0; i < c->nattr; i++) {
		const hu_attr *a = &c->attr[i];
		int whole = a->num >= -1e15 && a->num <= 1e15 && a->num == (double)(json_int_t)a->num;
		json_object_set_new(attr, a->key,
			*a->text ? json_string(a->text)
			: whole  ? json_integer((json_int_t)a->num)
				 : json_real(a->num));
	}
	if (c->flags & HU_SATURATE)
		json_object_set_new(attr, "saturate", json_true());
	hu_sum_print(c->sum, sum, sizeof sum);
	json_t *j = json_pack("{s:i s:s s:s s:s s:o s:o s:o s:{s:s s:s s:s s:s} s:s s:s s:s}", "id", c->id, "op",
		c->op->name, "phase", hu_phase_name(c->phase), "layer", c->layer, "in", ids(c->in, c->nin), "out",
		ids(c->out, c->nout), "attr", attr, "fmt", "in", hu_format_name(c->fmt.in), "compute",
		hu_format_name(c->fmt.compute), "acc", hu_format_name(c->fmt.acc), "out", hu_format_name(c->fmt.out),
		"mode", hu_mode_name(c->mode), "sum", sum, "seed_name", c->seed_name);
	if (c->loss)
		json_object_set_new(j, "loss", json_true());
	hu_opaque_to_json(p, c, j);
	return j;
}

json_t *
hu_program_to_json(const hu_program *p)
{
	json_t *tensors = json_array(), *calls = json_array();

	for (int i = 0; i < p->nt; i++)
		json_array_append_new(tensors, tensor_to_json(&p->t[i], i));
	for (int i = 0; i < p->nc; i++)
		json_array_append_new(calls, call_to_json(p, &p->c[i]));
	json_t *j = json_pack("{s:i s:s s:o s:o}", "version", 1, "name", p->name, "tensors", tensors, "calls", calls);
	hu_links_to_json(p, j);
	return j;
}

static hu_status
bad(const char *what, size_t i, const char *why)
{
	return hu_fail(HU_EFILE, "program: %s %zu: %s", what, i, why);
}

static hu_status
tensor_from_json(hu_program *p, size_t i, json_t *j, json_t *all)
{
	const char *name, *format, *cls, *read = "";
	json_t *shape;
	int id, state = 0, trainable = 0, scaled = 0, choice = 0, next = -1, scale = -1, grad = -1, c, r;
	int n = (int)json_array_size(all);
	hu_shape s = hu_shape0();
	hu_format_id f;

	if (json_unpack(j, "{s:i s:s s:s s:o s:s s?b s?b s?b s?b s?s s?i s?i s?i}", "id", &id, "name", &name, "format",
		    &format, "shape", &shape, "class", &cls, "state", &state, "trainable", &trainable, "loss_scaled",
		    &scaled, "choice", &choice, "read", &read, "next", &next, "scale", &scale, "grad", &grad))
		return bad("tensor", i, "a key is missing or of the wrong type");
	if (id != (int)i || next >= n || scale >= n || grad >= n || !json_is_array(shape) ||
		json_array_size(shape) > HU_RANK)
		return bad("tensor", i, "its id, a reference or its shape is out of range");
	if (!strchr(name, '.') || strlen(name) >= sizeof p->t->name || hu_program_find(p, name) >= 0)
		return bad("tensor", i, "its name is no new LAYER.ROLE");
	if (hu_format_find(format, &f) != HU_OK)
		return bad("tensor", i, "unknown format");
	for (c = 0; c < HU_TCLASSES && strcmp(cls, hu_tclass_name((hu_tclass)c)); c++)
		;
	if (c == HU_TCLASSES)
		return bad("tensor", i, "unknown class");
	for (r = HU_PROGRAM_READ_NONE; r <= HU_PROGRAM_READ_SEARCH && strcmp(read, read_names[r]); r++)
		;
	if (r > HU_PROGRAM_READ_SEARCH)
		return bad("tensor", i, "its key read is neither number nor search");
	s.rank = (int)json_array_size(shape);
	double elements = 1;
	for (int k = 0; k < s.rank; k++) {
		json_int_t d = json_integer_value(json_array_get(shape, (size_t)k));
		if (d < 1 || d > 1 << 30 || (elements *= (double)d) > 1e13)
			return bad("tensor", i, "a dimension is out of range");
		s.d[k] = (size_t)d;
	}
	int made = hu_program_tensor(p, name, f, s, (hu_tclass)c); /* this may move the array */
	hu_info *t = &p->t[made];
	t->state = state;
	t->trainable = trainable;
	t->loss_scaled = scaled;
	t->choice = choice;
	t->read = (hu_program_read)r;
	t->next = next;
	t->scale = scale;
	t->grad = grad;
	return HU_OK;
}

static int
read_ids(json_t *a, int limit, int *out, int max)
{
	int n = (int)json_array_size(a);

	if (!json_is_array(a) || n > max)
		return -1;
	for (int i = 0; i < n; i++) {
		json_t *v = json_array_get(a, (size_t)i);
		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= limit)
			return -1;
		out[i] = (int)json_integer_value(v);
	}
	return n;
}

static hu_status
attrs_from_json(hu_call *c, size_t i, json_t *attr)
{
	const char *key;
	json_t *v;

	json_object_foreach(attr, key, v)
	{
		if (!strcmp(key, "saturate")) {
			c->flags |= json_is_true(v) ? HU_SATURATE : 0;
			continue;
		}
		if (c->nattr == HU_MAX_ATTR || strlen(key) >= sizeof c->attr->key)
			return bad("call", i, "too many attributes, or one with a long name");
		if (json_is_string(v) ? !*json_string_value(v) : !json_is_number(v))
			return bad("call", i, "an attribute is neither a number nor a word");
		if (json_is_string(v))
			hu_attr_set_text(c, key, json_string_value(v));
		else
			hu_attr_set(c, key, json_number_value(v));
	}
	return HU_OK;
}

static hu_status
call_from_json(hu_program *p, size_t i, json_t *j)
{
	const char *op, *phase, *layer, *fin, *fcompute, *facc, *fout, *mode, *sum, *seed;
	json_t *in, *out, *attr;
	int id, nin = 0, nout = 0, loss = 0, ph, max = p->nt + 1, *buf = hu_xmalloc(2 * (size_t)max * sizeof *buf);
	hu_status st = HU_OK;

	if (json_unpack(j, "{s:i s:s s:s s:s s:o s:o s:o s:{s:s s:s s:s s:s} s:s s:s s:s s?b}", "id", &id, "op", &op,
		    "phase", &phase, "layer", &layer, "in", &in, "out", &out, "attr", &attr, "fmt", "in", &fin,
		    "compute", &fcompute, "acc", &facc, "out", &fout, "mode", &mode, "sum", &sum, "seed_name", &seed,
		    "loss", &loss))
		st = bad("call", i, "a key is missing or of the wrong type");
	else if (id != (int)i || (nin = read_ids(in, p->nt, buf, max)) < 0 ||
		 (nout = read_ids(out, p->nt, buf + max, max)) < 1)
		st = bad("call", i, "its id, inputs or outputs are out of range");
	else if (!hu_op_find(op))
		st = bad("call", i, "unknown operator");
	for (int k = 0; k < nout && st == HU_OK; k++)
		if (p->t[buf[max + k]].producer >= 0)
			st = bad("call", i, "an output is written twice");
	for (ph = 0; st == HU_OK && strcmp(phase, hu_phase_name((hu_phase)ph)); ph++)
		if (ph == HU_UPDATE)
			st = bad("call", i, "unknown phase");
	if (st == HU_OK) {
		hu_call *c = hu_program_call(p, op, (hu_phase)ph, layer, buf, nin, buf + max, nout);
		snprintf(c->seed_name, sizeof c->seed_name, "%s", seed);
		c->loss = loss;
		if (hu_format_find(fin, &c->fmt.in) || hu_format_find(fcompute, &c->fmt.compute) ||
			hu_format_find(facc, &c->fmt.acc) || hu_format_find(fout, &c->fmt.out) ||
			hu_mode_find(mode, &c->mode) || hu_sum_parse(sum, &c->sum))
			st = bad("call", i, "unknown format, rounding mode or summation model");
		else
			st = attrs_from_json(c, i, attr);
		if (st == HU_OK && ((hu_summed_by(c) && (st = hu_summed_set(c, c->sum)) != HU_OK) ||
					   (st = hu_opaque_from_json(p, c, j)) != HU_OK)) {
			char *why = hu_xstrdup(hu_reason());
			bad("call", i, why);
			free(why);
		}
	}
	free(buf);
	return st;
}

/* Programs of runs from before calls were marked: their losses are the forward calls of the layer "loss". */
static void
mark_unmarked(hu_program *p)
{
	for (int i = 0; i < p->nc; i++)
		if (p->c[i].loss)
			return;
	for (int i = 0; i < p->nc; i++)
		p->c[i].loss = p->c[i].phase == HU_FORWARD && !strcmp(p->c[i].layer, "loss");
}

hu_status
hu_program_from_json(const json_t *j, hu_program **out)
{
	json_t *root = (json_t *)(size_t)j, *tensors, *calls, *v;
	const char *name;
	int version;
	size_t i;
	hu_status st = HU_OK;

	if (json_unpack(root, "{s:i s:s s:o s:o}", "version", &version, "name", &name, "tensors", &tensors, "calls",
		    &calls) ||
		!json_is_array(tensors) || !json_is_array(calls))
		return hu_fail(HU_EFILE, "program: version, name, tensors or calls are missing");
	if (version > 1)
		return hu_fail(HU_EFILE,
			"program: version %d is newer than this program reads (1): use a newer halfulp", version);
	hu_program *p = hu_program_new(name);
	json_array_foreach(tensors, i, v) if (st == HU_OK) st = tensor_from_json(p, i, v, tensors);
	json_array_foreach(calls, i, v) if (st == HU_OK) st = call_from_json(p, i, v);
	if (st == HU_OK)
		st = hu_links_from_json(p, root);
	if (st == HU_OK && hu_program_validate(p) != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		st = hu_fail(HU_EFILE, "program: %s", why);
		free(why);
	}
	if (st == HU_OK) {
		mark_unmarked(p);
		*out = p;
	} else
		hu_program_free(p);
	return st;
}
