/* SPDX-License-Identifier: Apache-2.0
   Executes traced calls again, each alone on its recorded inputs. */
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/table/fields.h"
#include "lib/base/terminal/progress.h"
#include "lib/number/code.h"
#include "lib/op/attr.h"
#include "lib/program/exec.h"
#include "trainer/verify/verify.h"

#include <stdlib.h>
#include <string.h>

typedef struct step {
	const hu_run *r;
	size_t number;
	hu_tensor *t;
	char *bad;
	hu_env env;
} step;

void
hu_differences_release(hu_differences *d)
{
	free(d->list);
	memset(d, 0, sizeof *d);
}

static int
recorded(const step *s, const hu_call *c)
{
	for (int i = 0; i < c->nin; i++)
		if (!s->t[c->in[i]].data)
			return 0;
	for (int i = 0; i < c->nout; i++)
		if (!s->t[c->out[i]].data)
			return 0;
	return 1;
}

static void
compare(hu_differences *d, step *s, const hu_call *c, int id, const hu_tensor *was, const hu_tensor *now, int inherited)
{
	hu_format f = hu_format_of(was->format);

	d->elements += was->n;
	for (size_t k = 0; k < was->n; k++) {
		double a = hu_get(was, k), b = hu_get(now, k);
		if (hu_bits64(a) == hu_bits64(b))
			continue;
		HU_GROW(d->list, d->n, d->cap);
		d->list[d->n++] =
			(hu_difference){ s->number, k, c->id, id, a, b, hu_encode(a, f), hu_encode(b, f), inherited };
		s->bad[id] = 1;
	}
}

/* Runs call c into separate memory, so that the recorded outputs stay available to the calls after it. */
static hu_status
again(hu_differences *d, step *s, const hu_call *c, hu_tensor *t)
{
	hu_status st = HU_OK;
	int inherited = 0;

	for (int i = 0; i < c->nin; i++)
		inherited |= s->bad[c->in[i]];
	for (int i = 0; i < c->nout; i++) {
		hu_tensor *o = &t[c->out[i]];
		o->data = hu_alloc(o->n * hu_element_size(o->format));
		if (!o->data)
			st = hu_fail(HU_ENOMEM, "no memory to execute call %d again", c->id);
	}
	if (st == HU_OK)
		st = hu_exec_call(s->r->train, c->id, t, &s->env);
	for (int i = 0; i < c->nout; i++) {
		if (st == HU_OK)
			compare(d, s, c, c->out[i], &s->t[c->out[i]], &t[c->out[i]], inherited);
		free(t[c->out[i]].data);
		t[c->out[i]].data = s->t[c->out[i]].data;
	}
	d->calls++;
	return st;
}

static hu_status
verify_step(hu_differences *d, const hu_run *r, size_t number, hu_progress *bar)
{
	const hu_program *p = r->train;
	step s = { .r = r,
		.number = number,
		.env = { (uint64_t)json_integer_value(json_object_get(r->manifest, "seed")), (uint32_t)number } };

	HU_TRY(hu_run_load_trace(r, number, &s.t));
	hu_tensor *t = hu_xmalloc((size_t)p->nt * sizeof *t);
	memcpy(t, s.t, (size_t)p->nt * sizeof *t);
	s.bad = hu_xcalloc((size_t)p->nt, 1);
	hu_status st = HU_OK;
	for (int i = 0; i < p->nc && st == HU_OK; i++) {
		if (hu_attr_library(&p->c[i]) > 0)
			d->libraries++;
		else if (p->c[i].op->role == HU_ROLE_OPAQUE)
			d->opaque++;
		else if (recorded(&s, &p->c[i]))
			st = again(d, &s, &p->c[i], t);
		else
			d->skipped++;
		hu_progress_step(bar, 1);
	}
	free(s.bad);
	free(t);
	hu_run_free_trace(r, s.t);
	return st;
}

hu_status
hu_verify_trace(hu_differences *d, const hu_run *r)
{
	hu_progress bar;
	hu_status st = HU_OK;

	memset(d, 0, sizeof *d);
	if (!r->nstep)
		return hu_fail(HU_EABSENT, "%s: no step was traced; train with --trace steps=", r->dir);
	hu_progress_start(&bar, "verify", (size_t)r->nstep * (size_t)r->train->nc);
	for (int i = 0; i < r->nstep && st == HU_OK; i++)
		st = verify_step(d, r, r->step[i], &bar);
	hu_progress_end(&bar);
	return st;
}

/* A difference as it is printed. */
typedef struct row {
	long long step, element;
	int call, inherited;
	const char *op, *tensor;
	double recorded, got;
	char recorded_bits[20], got_bits[20];
	const char *recorded_code, *got_code; /* the two texts */
} row;

#define FIELD(name, kind, member, means, ...) HU_FIELD_OF(row, name, kind, member, ANYWHERE, means, __VA_ARGS__)
static const hu_table_field field[] = {
	FIELD("step", COUNT, step, "the traced step"),
	FIELD("call", INT, call, "the call, as program.json numbers it"),
	FIELD("op", TEXT, op, "its operator"),
	FIELD("tensor", TEXT, tensor, "the tensor that it writes"),
	FIELD("element", COUNT, element, "the element, from 0"),
	FIELD("recorded", REAL, recorded, "its recorded value", .digits = 9, .rank = 1),
	FIELD("got", REAL, got, "what the call computes from the recorded inputs", .digits = 9, .rank = 1),
	FIELD("recorded_bits", TEXT, recorded_code, "the code of the recorded value", .heading = "recorded bits"),
	FIELD("got_bits", TEXT, got_code, "the code of what the call computes", .heading = "got bits"),
	FIELD("inherited", FLAG, inherited, "whether an input of the call already differs from what its own call "
					    "computes again"),
};
static const hu_fields table = HU_FIELDS(field, row);

/* Returns the d->n rows, which the caller frees. */
static row *
rows_of(const hu_differences *d, const hu_run *r)
{
	row *rows = hu_xcalloc(d->n + !d->n, sizeof *rows);

	for (size_t i = 0; i < d->n; i++) {
		const hu_difference *x = &d->list[i];
		row *to = &rows[i];
		*to = (row){ .step = (long long)x->step,
			.element = (long long)x->element,
			.call = x->call,
			.inherited = x->inherited,
			.op = r->train->c[x->call].op->name,
			.tensor = r->train->t[x->tensor].name,
			.recorded = x->recorded,
			.got = x->got,
			.recorded_code = to->recorded_bits,
			.got_code = to->got_bits };
		snprintf(to->recorded_bits, sizeof to->recorded_bits, "0x%llx", (unsigned long long)x->recorded_bits);
		snprintf(to->got_bits, sizeof to->got_bits, "0x%llx", (unsigned long long)x->got_bits);
	}
	return rows;
}

json_t *
hu_differences_to_json(const hu_differences *d, const hu_run *r)
{
	row *rows = rows_of(d, r);
	json_t *list = hu_fields_array(&table, rows, d->n);

	free(rows);
	return json_pack("{s:s s:I s:I s:I s:I s:I s:o}", "run", hu_shown(r->dir), "calls", (json_int_t)d->calls,
		"skipped_calls", (json_int_t)d->skipped, "library_calls", (json_int_t)d->libraries, "opaque_calls",
		(json_int_t)d->opaque, "elements", (json_int_t)d->elements, "differences", list);
}

void
hu_differences_print(const hu_differences *d, const hu_run *r, FILE *f)
{
	row *rows = rows_of(d, r);

	if (d->n)
		hu_fields_print_to(f, &table, rows, d->n, "--json has all");
	free(rows);
	fprintf(f, "%s: %zu calls of %d steps executed again, %zu elements compared, %zu differ", hu_shown(r->dir),
		d->calls, r->nstep, d->elements, d->n);
	if (d->skipped)
		fprintf(f, "; %zu calls were not recorded whole", d->skipped);
	if (d->libraries)
		fprintf(f, "; %zu calls were computed by a library, whose bits nobody promises", d->libraries);
	if (d->opaque)
		fprintf(f, "; %zu calls are opaque, and nothing computes them", d->opaque);
	fputc('\n', f);
}
