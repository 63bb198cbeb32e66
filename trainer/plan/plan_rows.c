/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/plan_rows.h"

#include "lib/base/mem.h"
#include "lib/base/table/fields.h"
#include "trainer/run/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double
bound_of(const hu_program *p, const hu_call *c)
{
	hu_shape *in, *out;
	double b = NAN;

	if (!HU_COLUMN(c->op, unit_bound))
		return b;
	in = hu_xcalloc((size_t)c->nin + 1, sizeof *in);
	out = hu_xcalloc((size_t)c->nout + 1, sizeof *out);
	hu_call_shapes(p, c, in, out);
	b = HU_COLUMN(c->op, unit_bound)(c, in);
	free(in);
	free(out);
	return b;
}

static void
add(hu_plan_row *r, const hu_program *p, const hu_call *c)
{
	hu_cost k = hu_call_cost(p, c);
	double b = bound_of(p, c);

	r->calls++;
	r->casts += c->op->role == HU_ROLE_CAST;
	r->macs += k.macs;
	r->flops += k.flops;
	r->bytes += k.bytes_in + k.bytes_out;
	if (isnan(r->bound) || b > r->bound)
		r->bound = b;
}

/* Makes the rows in the order of their first call in the program; the last one is the sum. */
hu_plan_row *
hu_plan_rows(const hu_program *p, int by_call, int *n)
{
	hu_plan_row *rows = hu_xcalloc((size_t)p->nc + 1, sizeof *rows);

	*n = 0;
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		int k = by_call ? *n : 0;
		while (k < *n && strcmp(rows[k].layer, c->layer))
			k++;
		if (k == *n)
			rows[(*n)++] = (hu_plan_row){ .layer = c->layer, .call = by_call ? c : NULL, .bound = NAN };
		add(&rows[k], p, c);
	}
	rows[*n] = (hu_plan_row){ .layer = "all", .bound = NAN };
	for (int i = 0; i < p->nc; i++)
		add(&rows[*n], p, &p->c[i]);
	(*n)++;
	return rows;
}

enum { BY_LAYER = 1, BY_CALL = 2 };

/* A row's values; those of a call are missing in the sum of all. */
typedef struct line {
	const char *op, *phase, *layer, *tensor, *format;
	long long call;
	int calls, casts;
	double macs, flops, bytes, intensity, bound;
} line;

#define AT(member) .offset = offsetof(line, member)
static const hu_table_field field[] = {
	{ .name = "call",
		.kind = HU_FIELD_COUNT,
		AT(call),
		.only = BY_CALL,
		.place = HU_FIELD_SHOWN,
		.rank = 3,
		.means = "the number of the call in the step" },
	{ .name = "op",
		.kind = HU_FIELD_TEXT,
		AT(op),
		.only = BY_CALL,
		.place = HU_FIELD_SHOWN,
		.means = "its operator" },
	{ .name = "phase",
		.kind = HU_FIELD_TEXT,
		AT(phase),
		.only = BY_CALL,
		.place = HU_FIELD_SHOWN,
		.rank = 5,
		.means = "forward, backward or update" },
	{ .name = "layer", .kind = HU_FIELD_TEXT, AT(layer), .means = "the layer; all: the whole step" },
	{ .name = "output",
		.kind = HU_FIELD_TEXT,
		AT(tensor),
		.only = BY_CALL,
		.place = HU_FIELD_SHOWN,
		.rank = 4,
		.means = "the tensor that it makes" },
	{ .name = "fmt",
		.kind = HU_FIELD_TEXT,
		AT(format),
		.only = BY_CALL,
		.place = HU_FIELD_SHOWN,
		.means = "the format of that tensor" },
	{ .name = "calls",
		.kind = HU_FIELD_INT,
		AT(calls),
		.only = BY_LAYER,
		.place = HU_FIELD_SHOWN,
		.rank = 6,
		.means = "how many calls it has" },
	{ .name = "calls",
		.kind = HU_FIELD_INT,
		AT(calls),
		.place = HU_FIELD_WRITTEN,
		.means = "how many calls it has" },
	{ .name = "casts", .kind = HU_FIELD_INT, AT(casts), .rank = 7, .means = "how many of them are casts" },
	{ .name = "macs",
		.heading = "multiply-adds",
		.kind = HU_FIELD_REAL,
		AT(macs),
		.digits = HU_FIELD_WHOLE,
		.rank = 2,
		.means = "multiplications with an addition" },
	{ .name = "flops",
		.heading = "operations",
		.kind = HU_FIELD_REAL,
		AT(flops),
		.digits = HU_FIELD_WHOLE,
		.means = "floating-point operations" },
	{ .name = "bytes", .kind = HU_FIELD_BYTES, AT(bytes), .means = "what is read and written" },
	{ .name = "intensity",
		.heading = "ops a byte",
		.kind = HU_FIELD_REAL,
		AT(intensity),
		.digits = -2,
		.place = HU_FIELD_SHOWN,
		.rank = 1,
		.means = "operations over bytes" },
	{ .name = "bound",
		.kind = HU_FIELD_MEASURED,
		AT(bound),
		.digits = 3,
		.means = "the largest error of an output over the sum of the magnitudes that it was made from" },
	{ .name = "call",
		.kind = HU_FIELD_COUNT,
		AT(call),
		.only = BY_CALL,
		.place = HU_FIELD_WRITTEN,
		.means = "the number of the call in the step" },
	{ .name = "op",
		.kind = HU_FIELD_TEXT,
		AT(op),
		.only = BY_CALL,
		.place = HU_FIELD_WRITTEN,
		.means = "its operator" },
	{ .name = "phase",
		.kind = HU_FIELD_TEXT,
		AT(phase),
		.only = BY_CALL,
		.place = HU_FIELD_WRITTEN,
		.means = "forward, backward or update" },
	{ .name = "tensor",
		.kind = HU_FIELD_TEXT,
		AT(tensor),
		.only = BY_CALL,
		.place = HU_FIELD_WRITTEN,
		.means = "the tensor that it makes" },
	{ .name = "format",
		.kind = HU_FIELD_TEXT,
		AT(format),
		.only = BY_CALL,
		.place = HU_FIELD_WRITTEN,
		.means = "the format of that tensor" },
};

static hu_fields
table(int by_call)
{
	hu_fields t = HU_FIELDS(field, line);

	t.with = by_call ? BY_CALL : BY_LAYER;
	return t;
}

void
hu_plan_rows_help(void)
{
	hu_fields t = table(1);

	hu_fields_help(&t);
}

static line
line_of(const hu_program *p, const hu_plan_row *r)
{
	const hu_info *o = r->call ? &p->t[r->call->out[0]] : NULL;

	return (line){ .op = o ? r->call->op->name : NULL,
		.phase = o ? hu_phase_name(r->call->phase) : NULL,
		.layer = r->layer,
		.tensor = o ? o->name : NULL,
		.format = o ? hu_format_name(o->format) : NULL,
		.call = o ? r->call->id : -1,
		.calls = r->calls,
		.casts = r->casts,
		.macs = r->macs,
		.flops = r->flops,
		.bytes = r->bytes,
		.intensity = r->flops / r->bytes,
		.bound = r->bound };
}

void
hu_plan_rows_print(const hu_program *p, const hu_plan_row *rows, int n, int by_call)
{
	hu_fields t = table(by_call);
	line *l = hu_xcalloc((size_t)n + 1, sizeof *l);

	for (int i = 0; i < n; i++)
		l[i] = line_of(p, &rows[i]);
	hu_fields_print(&t, l, (size_t)n, "--json has all");
	free(l);
}

json_t *
hu_plan_row_json(const hu_program *p, const hu_plan_row *r, int by_call)
{
	hu_fields t = table(by_call);
	line l = line_of(p, r);

	return hu_fields_object(&t, &l);
}

#undef AT
typedef struct need {
	const char *policy;
	double weights, masters, activations, gradients, optimizer_state, all, allocated;
} need;

#define AT(member) .offset = offsetof(need, member)
static const hu_table_field need_field[] = {
	{ .name = "policy", .heading = "memory", .kind = HU_FIELD_TEXT, AT(policy), .means = "the policy" },
	{ .name = "weights", .kind = HU_FIELD_BYTES, AT(weights), .rank = 1, .means = "what products read" },
	{ .name = "masters", .kind = HU_FIELD_BYTES, AT(masters), .rank = 5, .means = "the variables behind them" },
	{ .name = "activations", .kind = HU_FIELD_BYTES, AT(activations), .rank = 2, .means = "what layers hand on" },
	{ .name = "gradients", .kind = HU_FIELD_BYTES, AT(gradients), .rank = 3, .means = "all gradients" },
	{ .name = "optimizer_state",
		.heading = "optimizer state",
		.kind = HU_FIELD_BYTES,
		AT(optimizer_state),
		.rank = 4,
		.means = "what the optimizer keeps" },
	{ .name = "all", .kind = HU_FIELD_BYTES, AT(all), .means = "their sum" },
	{ .name = "allocated", .kind = HU_FIELD_BYTES, AT(allocated), .means = "what a device allocates" },
};
#undef AT
static const hu_fields needs = HU_FIELDS(need_field, need);

void
hu_plan_memory_print(const char *const *name, const hu_memory *memory, const double *allocated, int n)
{
	need *l = hu_xcalloc((size_t)n + 1, sizeof *l);

	for (int i = 0; i < n; i++) {
		const hu_memory *m = &memory[i];
		l[i] = (need){ name[i], m->weights, m->masters, m->activations, m->gradients, m->optimizer_state,
			hu_memory_total(m), allocated[i] };
	}
	hu_fields_print(&needs, l, (size_t)n, "--json has all");
	free(l);
}

typedef struct least {
	const char *policy;
	double total, ratio, arithmetic, memory, launch, odd;
	int calls;
} least;

#define AT(member) .offset = offsetof(least, member)
static const hu_table_field least_field[] = {
	{ .name = "policy", .heading = "ms at least a step", .kind = HU_FIELD_TEXT, AT(policy), .means = "the policy" },
	{ .name = "predicted", .kind = HU_FIELD_REAL, AT(total), .digits = -3, .means = "the least time of a step" },
	{ .name = "ratio", .kind = HU_FIELD_REAL, AT(ratio), .digits = -2, .means = "to the first policy" },
	{ .name = "arithmetic",
		.kind = HU_FIELD_REAL,
		AT(arithmetic),
		.digits = -3,
		.rank = 1,
		.means = "of calls that arithmetic limits" },
	{ .name = "memory",
		.kind = HU_FIELD_REAL,
		AT(memory),
		.digits = -3,
		.rank = 1,
		.means = "of calls that memory limits" },
	{ .name = "launch",
		.kind = HU_FIELD_REAL,
		AT(launch),
		.digits = -3,
		.rank = 1,
		.means = "of calls that their launch limits" },
	{ .name = "odd",
		.heading = "odd extents",
		.kind = HU_FIELD_REAL,
		AT(odd),
		.digits = -3,
		.rank = 3,
		.means = "of calls that extents keep from the matrix units" },
	{ .name = "odd_calls",
		.heading = "in calls",
		.kind = HU_FIELD_INT,
		AT(calls),
		.rank = 2,
		.means = "how many those are" },
};
#undef AT
static const hu_fields leasts = HU_FIELDS(least_field, least);

void
hu_plan_timings_print(const char *const *name, const hu_timing *timing, int n)
{
	least *l = hu_xcalloc((size_t)n + 1, sizeof *l);

	for (int i = 0; i < n; i++) {
		const hu_timing *t = &timing[i];
		l[i] = (least){ name[i], 1e3 * t->total, t->total / timing[0].total, 1e3 * t->by_limit[0],
			1e3 * t->by_limit[1], 1e3 * t->by_limit[2], 1e3 * t->odd_time, t->odd };
	}
	hu_fields_print(&leasts, l, (size_t)n, "--json has all");
	free(l);
}
