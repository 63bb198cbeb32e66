/* SPDX-License-Identifier: Apache-2.0
   A kernel that is given as a file: a model of ONNX, or a program's JSON. */
#include "analyzers/judge/kernel/judge_args.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
ends(const char *name, const char *ending)
{
	size_t n = strlen(name), k = strlen(ending);

	return n > k && !strcmp(name + n - k, ending);
}

int
hu_kernel_is_program(const char *name)
{
	return hu_onnx_is(name) || ends(name, ".json");
}

int
hu_kernel_value(const hu_kernel_job *j, const char *name, int operands)
{
	const hu_port *port = operands ? j->imported.in : j->imported.out;

	for (size_t i = 0; j->is_onnx > 1 && i < (operands ? j->imported.nin : j->imported.nout); i++)
		if (!strcmp(port[i].name, name) && port[i].tensor >= 0)
			return port[i].tensor;
	return hu_graph_value(&j->graph, name);
}

int
hu_kernel_is_passed_on(const hu_kernel_job *j, int id)
{
	int in = 0, out = 0;

	for (size_t i = 0; j->is_onnx > 1 && i < j->imported.nin; i++)
		in |= j->imported.in[i].tensor == id;
	for (size_t i = 0; j->is_onnx > 1 && i < j->imported.nout; i++)
		out |= j->imported.out[i].tensor == id;
	return in && out;
}

/* Moves the arrays of an archive whose names the graph knows to the list, all of them that can be. */
static hu_status
archive(hu_kernel_job *j, const char *path, int operands)
{
	hu_npz z;

	HU_TRY(hu_npz_read(&z, path));
	for (size_t i = 0; i < z.n; i++) {
		int id = hu_kernel_value(j, z.name[i], operands), *n = operands ? &j->nin : &j->ngot;
		hu_judge_array *to = operands ? j->in : j->got;
		int made = id >= 0 && j->program->t[id].producer >= 0;
		int computed = made || (id >= 0 && !operands && hu_kernel_is_passed_on(j, id));
		if (id < 0 || computed == operands || *n == (operands ? HU_JUDGE_ARRAYS : HU_GRAPH_OUT) ||
			z.array[i].rank > HU_BALLS_RANK || !z.array[i].count)
			continue;
		to += (*n)++;
		snprintf(to->name, sizeof to->name, "%s", z.name[i]);
		to->id = id;
		to->a = z.array[i];
		memset(&z.array[i], 0, sizeof z.array[i]);
	}
	hu_npz_release(&z);
	return HU_OK;
}

/* An input of G that neither DATA nor the file has a value of, NULL: none. */
static const char *
missing(const hu_onnx_graph *g, const hu_npz *data)
{
	for (size_t i = 0; i < g->nin; i++) {
		int has = 0;
		for (size_t k = 0; k < data->n; k++)
			has |= !strcmp(g->in[i].name, data->name[k]);
		for (size_t k = 0; k < g->ninit; k++)
			has |= !strcmp(g->in[i].name, g->init[k].name);
		if (!has)
			return g->in[i].name;
	}
	return NULL;
}

/* The shapes that the model leaves open are those of the arrays that its inputs name. Others, such as labels, are none
   of its business. */
static hu_status
import(hu_kernel_job *j, const char *path, const hu_npz *data)
{
	HU_TRY(hu_onnx_open(&j->onnx, path));
	j->is_onnx = 1;
	const hu_onnx_graph *g = j->onnx.graph;
	const char *without = missing(g, data);
	hu_given *given;
	size_t n = 0;

	if (without)
		return hu_fail(HU_EINVAL, "--data has no array '%s', which is an input of %s", hu_shown(without),
			hu_shown(path));
	given = hu_xcalloc(data->n + 1, sizeof *given);
	for (size_t i = 0; i < data->n; i++) {
		int is_input = 0;
		for (size_t k = 0; k < g->nin; k++)
			is_input |= !strcmp(g->in[k].name, data->name[i]);
		if (!is_input)
			continue;
		given[n].name = data->name[i];
		given[n].rank = data->array[i].rank;
		for (int d = 0; d < given[n].rank && d < HU_RANK; d++)
			given[n].d[d] = data->array[i].shape[d];
		n++;
	}
	hu_status st = hu_import(&j->imported, &j->onnx, given, n, HU_TYPING_TENSORS);
	free(given);
	HU_TRY(st);
	j->is_onnx = 2;
	j->program = j->imported.p;
	return HU_OK;
}

static hu_status
from_json(hu_kernel_job *j, const char *path)
{
	json_error_t e;
	json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &e);

	if (!o)
		return hu_fail(HU_EFILE, "%s: line %d: %s", hu_shown(path), e.line, e.text);
	hu_status st = hu_program_from_json(o, &j->owned);
	json_decref(o);
	j->program = j->owned;
	return st;
}

/* The graph's names: of a model's inputs and outputs its own, else the tensors'. */
static void
names(hu_kernel_job *j)
{
	const hu_program *p = j->program;

	j->graph.n = j->graph.cap = p->nt;
	j->graph.name = hu_xcalloc((size_t)p->nt + 1, sizeof *j->graph.name);
	for (int i = 0; i < p->nt; i++)
		j->graph.name[i] = hu_xstrdup(p->t[i].name);
	for (size_t i = 0; j->is_onnx && i < j->imported.nin + j->imported.nout; i++) {
		const hu_port *port = i < j->imported.nin ? &j->imported.in[i] : &j->imported.out[i - j->imported.nin];
		if (port->tensor < 0 || (i >= j->imported.nin && p->t[port->tensor].producer < 0))
			continue; /* an output that is an input or a constant as it stands keeps that one's name */
		free(j->graph.name[port->tensor]);
		j->graph.name[port->tensor] = hu_xstrdup(port->name);
	}
}

hu_status
hu_kernel_program(hu_kernel_job *j, const char *path, const hu_args *args)
{
	const char *data = hu_args_text(args, "data"), *s;
	hu_npz z = { .n = 0 };

	if (!data)
		return hu_fail(HU_EINVAL, "--data FILE.npz is missing: %s needs its inputs by name", hu_shown(path));
	HU_TRY(hu_npz_read(&z, data));
	hu_status st = hu_onnx_is(path) ? import(j, path, &z) : from_json(j, path);
	hu_npz_release(&z);
	HU_TRY(st);
	names(j);
	HU_TRY(archive(j, data, 1));
	for (int i = 0; (s = hu_args_nth(args, "got", i)); i++)
		if (hu_npz_is(s))
			HU_TRY(archive(j, s, 0));
	const char *out = NULL;
	for (int i = 0; i < j->program->nt; i++)
		if (j->program->t[i].producer >= 0)
			out = j->graph.name[i];
	for (size_t i = 0; j->is_onnx && i < j->imported.nout; i++)
		out = j->imported.out[0].name;
	if (!out)
		return hu_fail(HU_EFILE, "%s: no call computes anything", hu_shown(path));
	j->last = hu_xstrdup(out);
	j->results = j->last;
	return HU_OK;
}
