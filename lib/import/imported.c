/* SPDX-License-Identifier: Apache-2.0
   A model that has been imported: its constants in a program that runs, and its release. */
#include "lib/import/import.h"

#include "lib/number/bulk/bulk.h"
#include "lib/number/round.h"

#include <stdlib.h>
#include <string.h>

void
hu_imported_release(hu_imported *m)
{
	for (int i = 0; m->p && i < m->p->nt; i++)
		free(m->constant[i].data);
	for (int i = 0; m->p && i < m->p->nc; i++)
		free(m->node[i]);
	for (size_t i = 0; i < m->nin; i++)
		free(m->in[i].name);
	for (size_t i = 0; i < m->nout; i++)
		free(m->out[i].name);
	for (size_t i = 0; i < m->nvalue; i++)
		free(m->value[i].name);
	free(m->value);
	free(m->in);
	free(m->out);
	free(m->constant);
	free(m->node);
	free(m->op);
	free(m->chooses);
	free(m->half);
	hu_program_free(m->p);
	memset(m, 0, sizeof *m);
}

void
hu_imported_asked_release(hu_imported *m)
{
	for (; m->asked; m->asked--)
		free(m->out[--m->nout].name);
}

void
hu_imported_load(const hu_imported *m, hu_exec *x)
{
	for (int i = 0; i < m->p->nt; i++) {
		const hu_tensor *from = &m->constant[i];
		int id = from->data ? hu_program_find(x->p, m->p->t[i].name) : -1;
		if (id < 0)
			continue;
		hu_tensor *to = &x->t[id];
		if (to->data == from->data)
			continue;
		hu_format f = hu_format_of(to->format);
		if (from->format == HU_FP32 && !hu_is_wide(to->format))
			hu_bulk_round(to->data, from->data, to->n, to->format, HU_RNE, 0, NULL, 0);
		else
			for (size_t k = 0; k < to->n; k++)
				hu_put(to, k, hu_round(hu_get(from, k), f, HU_RNE, 0, 0));
	}
}

void
hu_imported_bytes(hu_imported *m, const hu_onnx_graph *g)
{
	static const struct {
		const char *dtype;
		int is_float;
	} wide[] = { { "F32", 1 }, { "F64", 1 }, { "F16", 1 }, { "BF16", 1 }, { "I16", 0 }, { "U16", 0 }, { "I32", 0 },
		{ "U32", 0 }, { "I64", -1 }, { "U64", -1 }, { "BOOL", -1 } };
	int codes = 0;

	for (size_t i = 0; i < g->ninit; i++) {
		size_t k = 0;
		while (k < sizeof wide / sizeof *wide && strcmp(wide[k].dtype, g->init[i].dtype))
			k++;
		int is_code = k == sizeof wide / sizeof *wide, is_float = !is_code && wide[k].is_float;
		codes |= is_code;
		if (is_code || !is_float)
			m->code_bytes += (double)g->init[i].bytes;
		else if (is_float > 0)
			m->float_bytes += (double)g->init[i].bytes;
	}
	if (!codes)
		m->code_bytes = 0;
}
