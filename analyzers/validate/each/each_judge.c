/* SPDX-License-Identifier: Apache-2.0
   All policies of a model whose inputs have a program each: float32 first, whose values the others begin with. */
#include "analyzers/validate/each/each.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

hu_status
hu_each_refuse(const hu_args *a)
{
	long long exact = 0, batch = 1;

	if (hu_args_has(a, "exact") && hu_args_given(a, "exact"))
		HU_TRY(hu_args_int(a, "exact", 0, 1 << 30, &exact));
	if (exact)
		return hu_refuse("exact", "where shapes follow from the values of each input");
	if (hu_args_given(a, "batch"))
		HU_TRY(hu_args_int(a, "batch", 1, 1 << 20, &batch));
	if (batch > 1)
		return hu_refuse("batch", "where shapes follow from the values of each input");
	if (hu_args_given(a, "shard") > 0)
		return hu_refuse("shard", "where shapes follow from the values of each input");
	if (hu_ranks_size() > 1)
		return hu_fail(HU_EUNABLE,
			"the model's shapes follow from the values of each input, and ranks cannot share such runs: "
			"start halfulp without mpirun");
	return HU_OK;
}

hu_status
hu_each_judge(hu_each_job *j, hu_validation *v, hu_network *net, const hu_variants *policies,
	const hu_evaluate_sums *sums, size_t surveyed, hu_progress *bar)
{
	j->run = hu_xcalloc(policies->n + 1, sizeof *j->run);
	j->n = policies->n;
	v->lists = &j->lists;
	for (size_t i = 0; i < policies->n; i++) {
		hu_judgement *row = &v->row[i];
		HU_TRY(hu_each_run(
			&j->run[i], row, net, &policies->v[i], i ? j->run[0].answers : NULL, i ? sums : NULL, bar));
		if (!i) {
			HU_TRY(hu_each_deciding(&j->lists, &v->d, &j->run[0], net));
			HU_TRY(hu_each_calibrate(net, policies, j->run[0].answers, bar));
		}
		hu_each_effect(&row->r, &j->run[i], &j->run[0], &j->lists, &v->d, &net->m, &net->s);
		v->nrow = i + 1;
		if (!i || !surveyed || !policies->v[i].by_node || policies->v[i].file)
			continue;
		row->sensitivity = hu_xcalloc(1, sizeof *row->sensitivity);
		HU_TRY(hu_each_sensitivity(row->sensitivity, net, &policies->v[i], j->run[0].answers, sums, &v->d,
			surveyed < net->s.n ? surveyed : net->s.n, bar));
	}
	return HU_OK;
}

void
hu_each_job_release(hu_each_job *j)
{
	for (size_t i = 0; i < j->n; i++)
		hu_each_release(&j->run[i]);
	free(j->run);
}

/* 1 where output K of every input has rows of one shape, or no axes. */
static int
one_row_shape(const hu_each *e, size_t k)
{
	const hu_each_value *first = &e->value[k];

	for (size_t i = 1; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + k];
		if (v->rank != first->rank ||
			(v->rank && memcmp(v->d + 1, first->d + 1, (size_t)(v->rank - 1) * sizeof *v->d) != 0))
			return 0;
	}
	return 1;
}

/* Output K of all inputs in *ROOM, and in *INPUT which input each row of it is of: each element where rows have several
   shapes. */
static void
join(hu_validation_array *a, hu_validation_array *of, const hu_each *e, size_t k, double **room, double **input)
{
	const hu_each_value *first = &e->value[k];
	int rows_are = one_row_shape(e, k);
	size_t n = 0, rows = 0;

	for (size_t i = 0; i < e->n; i++)
		n += e->value[i * e->nout + k].n;
	for (size_t i = 0; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + k];
		rows += !rows_are ? v->n : v->rank ? v->d[0] : 1;
	}
	*room = hu_xmalloc((n + 1) * sizeof **room);
	*input = hu_xmalloc((rows + 1) * sizeof **input);
	n = rows = 0;
	for (size_t i = 0; i < e->n; i++) {
		const hu_each_value *v = &e->value[i * e->nout + k];
		memcpy(*room + n, v->x, v->n * sizeof *v->x);
		n += v->n;
		for (size_t r = 0; r < (!rows_are ? v->n : v->rank ? v->d[0] : 1); r++)
			(*input)[rows++] = (double)i;
	}
	a->rank = rows_are && first->rank ? first->rank : 1;
	for (int i = 1; i < a->rank; i++)
		a->shape[i] = first->d[i];
	a->shape[0] = rows;
	a->value = *room;
	of->rank = 1;
	of->shape[0] = rows;
	of->value = *input;
}

hu_status
hu_each_write_all(const hu_each_job *j, const hu_validation *v, const char *dir)
{
	size_t nout = v->m->nout;
	hu_validation_array *a = hu_xcalloc(2 * nout + 1, sizeof *a);
	double **room = hu_xcalloc(2 * nout + 1, sizeof *room);
	char **name = hu_xcalloc(nout + 1, sizeof *name);
	hu_status st = hu_make_dirs(dir);

	for (size_t i = 0; i < v->nrow && st == HU_OK; i++) {
		for (size_t k = 0; k < nout; k++) {
			name[k] = hu_xprintf("%s.input", v->m->out[k].name);
			a[2 * k] = (hu_validation_array){ .name = v->m->out[k].name, .dtype = "f4" };
			if (v->m->p->t[v->m->out[k].tensor].format == HU_FP64)
				a[2 * k].dtype = "f8";
			a[2 * k + 1] = (hu_validation_array){ .name = name[k], .dtype = "f8" };
			join(&a[2 * k], &a[2 * k + 1], &j->run[i], k, &room[2 * k], &room[2 * k + 1]);
		}
		st = hu_validation_arrays(dir, v->row[i].policy, a, 2 * nout);
		for (size_t k = 0; k < nout; k++) {
			free(room[2 * k]);
			free(room[2 * k + 1]);
			free(name[k]);
		}
	}
	free(a);
	free(room);
	free(name);
	return st;
}
