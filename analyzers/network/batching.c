/* SPDX-License-Identifier: Apache-2.0
   Along which axes of a model's inputs and outputs the inputs of a batch lie, found by what float32 gives. */
#include "analyzers/network/network.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* A model that has been imported for some inputs, and its float32 run of them. */
typedef struct trial {
	hu_imported m;
	hu_exec x;
} trial;

static void
trial_release(trial *t)
{
	if (t->x.p)
		hu_exec_release(&t->x);
	if (t->m.p)
		hu_imported_release(&t->m);
	memset(t, 0, sizeof *t);
}

/* Imports the model for BATCH inputs. */
static hu_status
trial_import(trial *t, hu_network *n, size_t batch)
{
	size_t is = batch;

	*t = (trial){ .m = { .p = NULL } };
	HU_TRY(hu_network_import(n, &t->m, &is));
	return is == batch ? HU_OK : hu_fail(HU_EFILE, "the model's batch is fixed");
}

/* Runs rows row[0] … row[batch - 1]. */
static hu_status
trial_run(trial *t, const hu_samples *s, size_t batch, const size_t *row)
{
	if (!t->x.p) {
		char *keep = hu_xcalloc((size_t)t->m.p->nt + 1, 1);
		for (size_t k = 0; k < t->m.nout; k++)
			keep[t->m.out[k].tensor] = 1;
		hu_status st = hu_exec_init_sharing(&t->x, t->m.p, keep, t->m.constant);
		free(keep);
		HU_TRY(st);
		hu_imported_load(&t->m, &t->x);
	}
	for (size_t i = 0; i < t->m.nin; i++)
		for (size_t r = 0; r < batch && t->m.in[i].tensor >= 0; r++)
			hu_samples_put(s, i, row[r], r, batch, &t->x.t[t->m.in[i].tensor]);
	return hu_exec_run(&t->x, &(hu_env){ 0, 0 });
}

/* Of each output the axis that BATCH inputs make so many times as long as one does, in `many`. 0 where there is none.
 */
static int
output_axes(const hu_network *n, hu_imported *many, const hu_imported *one, size_t batch, const char **wrong)
{
	for (size_t k = 0; k < many->nout; k++) {
		hu_port *o = &many->out[k];
		const hu_port *alone = &one->out[k];
		int axis = -1, said = hu_samples_axis_of(&n->said, o->name, -2), other = o->rank != alone->rank;
		for (int j = 0; j < o->rank && !other; j++) {
			if (o->d[j] == alone->d[j])
				continue;
			other |= axis >= 0 || o->d[j] != batch * alone->d[j];
			axis = j;
		}
		*wrong = o->name;
		if (other || axis < 0 || (said != -2 && said != axis))
			return 0;
		o->axis = axis;
	}
	return 1;
}

/* 1 where the values are equal, or none of them is a number. */
static int
equal(double a, double b)
{
	return a == b || (a != a && b != b);
}

/* 1 where input AT of the batch has the values of input 0 of a batch of one. */
static int
as_alone(const trial *many, const trial *one, size_t k, size_t batch, size_t at)
{
	const hu_port *o = &many->m.out[k];
	const hu_tensor *y = &many->x.t[o->tensor], *z = &one->x.t[one->m.out[k].tensor];
	hu_rows r = hu_rows_of(o->rank, o->d, o->axis, batch);

	for (size_t e = 0; e < r.each; e++)
		if (!equal(hu_get(y, hu_rows_at(&r, at, e)), hu_get(z, e)))
			return 0;
	return 1;
}

/* The first row that differs from row 0, in any input; 1 where none does. */
static size_t
another_row(const hu_samples *s)
{
	for (size_t r = 1; r < s->n; r++)
		for (size_t i = 0; i < s->narray; i++) {
			const hu_npy *a = s->array[i];
			size_t each = hu_samples_each(s, i) * a->width;
			if (!s->shared[i] && memcmp(a->data, (const char *)a->data + r * each, each) != 0)
				return r;
		}
	return 1;
}

/* Tries the axes that the samples have by runs of two inputs and of each alone. Returns NULL where they are right, else
   why not, which the caller frees. */
static char *
two_inputs(hu_network *n)
{
	trial two = { .m = { .p = NULL } }, one = two;
	size_t row[2] = { 0, another_row(&n->s) };
	const char *wrong = NULL;
	char *why = NULL;

	if (trial_import(&one, n, 1) != HU_OK || trial_import(&two, n, 2) != HU_OK)
		why = hu_xprintf("%s", hu_reason());
	else if (two.m.chooses)
		why = hu_xprintf("%s chooses by what the model computes", two.m.chooses);
	else if (!output_axes(n, &two.m, &one.m, 2, &wrong))
		why = hu_xprintf("output '%s' does not have its elements once for each input of a batch", wrong);
	else if (trial_run(&two, &n->s, 2, row) != HU_OK)
		why = hu_xprintf("%s", hu_reason());
	for (size_t r = 0; r < 2 && !why; r++) {
		if (trial_run(&one, &n->s, 1, &row[r]) != HU_OK)
			why = hu_xprintf("%s", hu_reason());
		for (size_t k = 0; k < two.m.nout && !why; k++)
			if (!as_alone(&two, &one, k, 2, r))
				why = hu_xprintf(
					"output '%s' of an input is another in a batch than alone", two.m.out[k].name);
	}
	trial_release(&one);
	trial_release(&two);
	return why;
}

/* The axis along which output K has the inputs of both runs: the second had ROW[i] of the first at place i. */
static int
moved_axis(const trial *a, const trial *b, size_t k, size_t batch, const size_t *row, int said)
{
	const hu_port *o = &a->m.out[k];
	const hu_tensor *y = &a->x.t[o->tensor], *z = &b->x.t[o->tensor];

	for (int axis = 0; axis < o->rank; axis++) {
		int same = o->d[axis] % batch == 0 && (said == -2 || said == axis);
		hu_rows r = hu_rows_of(o->rank, o->d, axis, same ? batch : 1);
		for (size_t i = 0; i < batch && same; i++)
			for (size_t e = 0; e < r.each && same; e++)
				same = equal(hu_get(z, hu_rows_at(&r, i, e)), hu_get(y, hu_rows_at(&r, row[i], e)));
		if (same)
			return axis;
	}
	return -1;
}

/* The axis of an output whose inputs depend on each other, as dynamic quantisation makes them, which takes one scale of
   the whole batch: the only one with an element an input. -1 where none or several have that many, and where the data
   do not fill their batches: inputs that only fill up would change what the others give. */
static int
only_axis(const hu_network *n, const hu_port *o)
{
	int found = -1;

	if (n->s.n % n->batch)
		return -1;
	for (int axis = 0; axis < o->rank; axis++)
		if (o->d[axis] == n->batch)
			found = found == -1 ? axis : -2;
	return found >= 0 ? found : -1;
}

/* An open axis of an input whose array was cut into rows along a fixed one, told as a cause; "" where there is none.
   The caller frees it. */
static char *
open_axis(const hu_samples *s)
{
	for (size_t i = 0; i < s->narray; i++)
		for (int j = 0; j < s->input[i]->rank; j++)
			if (s->input[i]->dim[j].n <= 0 && j != s->axis[i] && !s->shared[i])
				return hu_xprintf("; where they lie along the open axis %d of input '%.120s', give an "
						  "array with one input per row, along its first axis",
					j, hu_shown(s->input[i]->name));
	return hu_xstrdup("");
}

/* The outputs' axes of a model whose batch is fixed, in n->m, by two runs: in the second one the first input is
   missing, and the others have moved by a place. */
static hu_status
fixed_batch(hu_network *n)
{
	size_t inputs = n->batch < n->s.n ? n->batch : n->s.n, *row = hu_xcalloc(n->batch + 1, sizeof *row);
	trial a = { .m = n->m }, b = { .m = n->m };
	hu_status st = HU_OK;

	for (size_t i = 0; i < n->batch; i++)
		row[i] = i % inputs;
	st = trial_run(&a, &n->s, n->batch, row);
	for (size_t i = 0; i < n->batch; i++)
		row[i] = i + 1 < inputs ? i + 1 : inputs - 1;
	if (st == HU_OK)
		st = trial_run(&b, &n->s, n->batch, row);
	for (size_t k = 0; k < n->m.nout && st == HU_OK; k++) {
		hu_port *o = &n->m.out[k];
		int axis = moved_axis(&a, &b, k, n->batch, row, hu_samples_axis_of(&n->said, o->name, -2));
		if (axis < 0)
			axis = only_axis(n, o);
		if (axis < 0) {
			char *open = open_axis(&n->s);
			st = hu_fail(HU_EFILE,
				"%s: the model's batch is fixed at %zu inputs, and no axis of output '%.120s' has "
				"their outputs: each depends on the others; give whole batches of inputs, export the "
				"model with an open batch, or for one input%s",
				n->onnx.path, n->batch, hu_shown(o->name), open);
			free(open);
		}
		o->axis = axis;
	}
	if (a.x.p)
		hu_exec_release(&a.x);
	if (b.x.p)
		hu_exec_release(&b.x);
	free(row);
	return st;
}

/* Imports the model for n->batch inputs, once two inputs have shown that the samples' axes are right. */
static hu_status
import_many(hu_network *n)
{
	trial one;
	const char *wrong = NULL;

	hu_status st = trial_import(&one, n, 1);
	if (st == HU_OK && (st = hu_network_import(n, &n->m, &n->batch)) == HU_OK)
		if (n->batch > 1 && !output_axes(n, &n->m, &one.m, n->batch, &wrong)) {
			st = hu_fail(
				HU_EFILE, "output '%s' has other axes for %zu inputs than for two", wrong, n->batch);
			hu_imported_release(&n->m);
		}
	trial_release(&one);
	return st;
}

static hu_status
one_by_one(hu_network *n, char *why, int asked)
{
	size_t many = n->batch;

	(void)hu_samples_axes(&n->s, 0);
	n->alone = why;
	n->batch = 1;
	HU_TRY(hu_network_import(n, &n->m, &n->batch)); /* what fails so is not the batch's fault */
	if (!asked)
		return HU_OK;
	hu_imported_release(&n->m);
	return hu_fail(HU_EINVAL, "--batch %zu: %s; give --batch 1", many, why);
}

/* Imports the model by the axes that the samples have, and says why these are wrong, or NULL. */
static char *
try_axes(hu_network *n, hu_status *st)
{
	char *why = NULL;

	if (!hu_samples_fixed(&n->s)) {
		why = two_inputs(n);
		*st = why ? HU_OK : import_many(n);
		return why;
	}
	*st = hu_network_import(n, &n->m, &n->batch);
	if (*st == HU_OK && n->batch > 1 && (*st = fixed_batch(n)) != HU_OK)
		hu_imported_release(&n->m);
	return *st == HU_OK ? NULL : hu_xprintf("%s", hu_reason());
}

/* Sets the samples' axes to the next choice after *at that is not the first one again; 0 where there is none. */
static int
next_choice(hu_network *n, size_t *at, const int *first)
{
	while (hu_samples_axes(&n->s, ++*at))
		if (memcmp(first, n->s.axis, n->s.narray * sizeof *first) != 0)
			return 1;
	(void)hu_samples_axes(&n->s, 0);
	return 0;
}

/* Tries one choice after another. Where all are wrong, sets *why, which the caller frees, to why the first one is, and
   returns the failure that this was, if it was one. */
static hu_status
try_choices(hu_network *n, const int *first, char **why)
{
	size_t batch = n->batch, at = 0;
	hu_status st = HU_OK;

	*why = try_axes(n, &st);
	hu_status is = st;
	for (int more = *why != NULL; more && (more = next_choice(n, &at, first));) {
		n->batch = batch;
		char *now = try_axes(n, &st);
		if (!now) {
			free(*why);
			*why = NULL;
			return st;
		}
		free(now);
	}
	if (!*why)
		return st;
	n->batch = batch;
	return is;
}

hu_status
hu_network_batching(hu_network *n, int asked)
{
	int *first = hu_xcalloc(n->s.narray + 1, sizeof *first);
	size_t at = 0;
	char *why = NULL;

	memcpy(first, n->s.axis, n->s.narray * sizeof *first);
	int clear = n->s.n == 1 || (hu_samples_batch(&n->s, n->batch) == 1 && !next_choice(n, &at, first));
	(void)hu_samples_axes(&n->s, 0);
	hu_status st = clear ? hu_network_import(n, &n->m, &n->batch) : try_choices(n, first, &why);
	free(first);
	if (!why)
		return st;
	if (hu_samples_fixed(&n->s))
		st = hu_fail(st == HU_OK ? HU_EFILE : st, "%s", why);
	else if (n->batch > 1)
		return one_by_one(n, why, asked);
	else
		st = hu_network_import(n, &n->m, &n->batch);
	free(why);
	return st;
}
