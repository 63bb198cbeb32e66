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
hu_imported_load(const hu_imported *m, hu_exec *x)
{
	for (int i = 0; i < m->p->nt; i++) {
		const hu_tensor *from = &m->constant[i];
		int id = from->data ? hu_program_find(x->p, m->p->t[i].name) : -1;
		if (id < 0)
			continue;
		hu_tensor *to = &x->t[id];
		hu_format f = hu_format_of(to->format);
		if (from->format == HU_FP32 && !hu_is_wide(to->format))
			hu_bulk_round(to->data, from->data, to->n, to->format, HU_RNE, 0, NULL, 0);
		else
			for (size_t k = 0; k < to->n; k++)
				hu_put(to, k, hu_round(hu_get(from, k), f, HU_RNE, 0, 0));
	}
}
