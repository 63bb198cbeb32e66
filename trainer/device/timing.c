/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/timing.h"

#include "lib/base/table/fields.h"
#include "lib/base/mem.h"
#include "trainer/run/memory.h"
#include "trainer/record/passes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* call is that of a row for one call or pass. covers has the calls' ids, ops their operators, each once. launches is -1
   where not known. */
typedef struct row {
	const char *layer, *phase;
	const hu_call *call;
	int calls;
	long launches;
	double macs, flops, bytes, arithmetic, memory, launch, total, limit[3], measured;
	char odd[48];
	hu_str covers, ops;
} row;

static void
add_roof(row *r, const row *x)
{
	double most = fmax(fmax(x->arithmetic, x->memory), x->launch);

	r->calls += x->calls;
	r->launches = r->launches < 0 || x->launches < 0 ? -1 : r->launches + x->launches;
	r->macs += x->macs;
	r->flops += x->flops;
	r->bytes += x->bytes;
	r->arithmetic += x->arithmetic;
	r->memory += x->memory;
	r->launch += x->launch;
	r->total += most;
	r->limit[most == x->launch   ? HU_LIMIT_LAUNCH
		 : most == x->memory ? HU_LIMIT_MEMORY
				     : HU_LIMIT_ARITHMETIC] += most;
	r->measured += x->measured;
	if (!*r->odd)
		memcpy(r->odd, x->odd, sizeof r->odd);
}

static void
add_call(row *r, const hu_peaks *d, const hu_program *p, const hu_call *c, int chain, const double *measured)
{
	hu_roof t = hu_roofline(d, p, c);
	hu_cost k = hu_call_cost(p, c);

	if (!r->calls++) {
		r->layer = c->layer;
		r->phase = hu_phase_name(c->phase);
		r->call = c;
	}
	if (!chain && strcmp(r->layer, c->layer))
		r->layer = "several";
	if (strcmp(r->phase, hu_phase_name(c->phase)))
		r->phase = "several";
	r->macs += k.macs;
	r->flops += k.flops;
	r->bytes += k.bytes_in + k.bytes_out;
	r->arithmetic += t.arithmetic;
	r->memory += t.memory;
	r->launch += t.launch;
	r->measured += measured ? measured[c->id] : 0;
	if (!*r->odd)
		memcpy(r->odd, t.odd, sizeof r->odd);
}

/* Replaces a row's bytes and launches by those of its pass, which are fewer than those of its calls executed one by
   one. */
static void
as_pass(row *r, const hu_peaks *d, const hu_pass *pass)
{
	r->launches = pass->launches;
	r->bytes = pass->bytes;
	r->memory = pass->bytes / hu_peaks_bandwidth(d, pass->bytes);
	r->launch = 1e-6 * d->launch_us * (double)(pass->launches > 0 ? pass->launches : 1);
}

/* Groups the calls that are computed together, in the order of their first calls, by whose ids they are indexed; the
   last entry is what a device reads back for the host. */
static row *
make_parts(const hu_peaks *d, const hu_program *p, const double *measured, const hu_pass *pass)
{
	row *x = hu_xcalloc((size_t)p->nc + 1, sizeof *x);

	for (int i = 0; i <= p->nc; i++)
		x[i].launches = -1;
	for (int i = 0; i < p->nc; i++)
		add_call(&x[pass ? pass[i].first : i], d, p, &p->c[i], pass && pass[i].chain, measured);
	for (int i = 0; pass && i <= p->nc; i++)
		if (x[i].calls || i == p->nc)
			as_pass(&x[i], d, &pass[i]);
	if (pass) {
		x[p->nc].layer = "statistics";
		x[p->nc].measured = measured ? measured[p->nc] : 0;
	}
	return x;
}

static row
row_like(const hu_program *p, const row *part, int by_call, const hu_pass *pass)
{
	row r = { .layer = part->layer, .phase = part->phase, .call = by_call ? part->call : NULL };

	hu_str_init(&r.covers);
	hu_str_init(&r.ops);
	if (r.call)
		hu_pass_words(p, pass, r.call->id, &r.covers, &r.ops);
	return r;
}

/* Makes the rows in the order of their first call; the last one is the sum. */
static row *
make_rows(const hu_peaks *d, const hu_program *p, int by_call, const double *measured, const hu_pass *pass, int *n)
{
	row *rows = hu_xcalloc((size_t)p->nc + 2, sizeof *rows), *x = make_parts(d, p, measured, pass),
	    all = { .layer = "all" };

	*n = 0;
	for (int i = 0; i <= p->nc; i++) {
		int k = by_call ? *n : 0;
		if (!x[i].layer)
			continue;
		while (k < *n && strcmp(rows[k].layer, x[i].layer))
			k++;
		if (k == *n)
			rows[(*n)++] = row_like(p, &x[i], by_call, pass);
		add_roof(&rows[k], &x[i]);
		add_roof(&all, &x[i]);
	}
	free(x);
	*all.odd = 0;
	hu_str_init(&all.covers);
	hu_str_init(&all.ops);
	rows[(*n)++] = all;
	return rows;
}

static void
free_rows(row *rows, int n)
{
	for (int i = 0; i < n; i++) {
		hu_str_release(&rows[i].covers);
		hu_str_release(&rows[i].ops);
	}
	free(rows);
}

static int
largest(const double *x)
{
	return x[0] >= x[1] && x[0] >= x[2] ? 0 : x[1] >= x[2] ? 1 : 2;
}

hu_timing
hu_timing_of(const hu_peaks *d, const hu_program *p)
{
	hu_timing t = { 0, { 0, 0, 0 }, 0, p->nc, 0 };

	for (int i = 0; i < p->nc; i++) {
		hu_roof r = hu_roofline(d, p, &p->c[i]);
		t.total += r.total;
		t.by_limit[r.limit] += r.total;
		t.odd += *r.odd != 0;
		t.odd_time += *r.odd ? r.total : 0;
	}
	return t;
}

enum { BY_LAYER = 1, BY_CALL = 2, MEASURED = 4 };

/* A row's values; those of a call are missing in the sum of all. */
typedef struct line {
	const char *op, *phase, *layer, *limit, *odd;
	long long call;
	int calls;
	double gflop, bytes, arithmetic, memory, launch, total, measured;
} line;

#define AT(member) .offset = offsetof(line, member)
static const hu_table_field field[] = {
	{ .name = "call",
		.kind = HU_FIELD_COUNT,
		AT(call),
		.only = BY_CALL,
		.rank = 4,
		.means = "the number of the call" },
	{ .name = "op", .kind = HU_FIELD_TEXT, AT(op), .only = BY_CALL, .means = "its operator" },
	{ .name = "phase",
		.kind = HU_FIELD_TEXT,
		AT(phase),
		.only = BY_CALL,
		.rank = 6,
		.means = "forward, backward or update" },
	{ .name = "layer", .kind = HU_FIELD_TEXT, AT(layer), .means = "the layer; all: the whole step" },
	{ .name = "calls",
		.kind = HU_FIELD_INT,
		AT(calls),
		.only = BY_LAYER,
		.rank = 7,
		.means = "how many calls it has" },
	{ .name = "Gflop",
		.kind = HU_FIELD_REAL,
		AT(gflop),
		.digits = -3,
		.rank = 3,
		.means = "floating-point operations in 10^9" },
	{ .name = "bytes", .kind = HU_FIELD_BYTES, AT(bytes), .rank = 5, .means = "what is read and written" },
	{ .name = "arithmetic",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		AT(arithmetic),
		.digits = -3,
		.rank = 2,
		.means = "at the peak rate" },
	{ .name = "memory",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		AT(memory),
		.digits = -3,
		.rank = 2,
		.means = "at full bandwidth" },
	{ .name = "launch",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		AT(launch),
		.digits = -3,
		.rank = 2,
		.means = "of the kernels' launches" },
	{ .name = "total",
		.heading = "at least",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		AT(total),
		.digits = -3,
		.means = "the longest of the three, call by call" },
	{ .name = "measured",
		.unit = "ms",
		.kind = HU_FIELD_REAL,
		AT(measured),
		.digits = -3,
		.only = MEASURED,
		.means = "what it took here" },
	{ .name = "limit", .kind = HU_FIELD_TEXT, AT(limit), .rank = 1, .means = "which of the three it is" },
	{ .name = "odd",
		.heading = "odd extents",
		.kind = HU_FIELD_PROSE,
		AT(odd),
		.rank = 8,
		.means = "extents that keep it from the matrix units" },
};

void
hu_timing_print(FILE *f, const hu_peaks *d, const hu_program *p, int by_call, const double *measured)
{
	hu_fields table = HU_FIELDS(field, line);
	int n;
	row *rows = make_rows(d, p, by_call, measured, NULL, &n);
	line *l = hu_xcalloc((size_t)n + 1, sizeof *l);

	table.with = (by_call ? BY_CALL : BY_LAYER) | (measured ? MEASURED : 0);
	for (int i = 0; i < n; i++) {
		const row *r = &rows[i];
		l[i] = (line){ .op = r->call ? r->call->op->name : NULL,
			.phase = r->call ? hu_phase_name(r->call->phase) : NULL,
			.layer = r->layer,
			.limit = hu_limit_name(largest(r->limit)),
			.odd = r->odd,
			.call = r->call ? r->call->id : -1,
			.calls = r->calls,
			.gflop = 1e-9 * r->flops,
			.bytes = r->bytes,
			.arithmetic = 1e3 * r->arithmetic,
			.memory = 1e3 * r->memory,
			.launch = 1e3 * r->launch,
			.total = 1e3 * r->total,
			.measured = 1e3 * r->measured };
	}
	hu_fields_print_to(f, &table, l, (size_t)n, "--json has all");
	free(l);
	free_rows(rows, n);
}

json_t *
hu_timing_to_json(const hu_peaks *d, const hu_program *p, int by_call, const double *measured, const hu_pass *pass)
{
	json_t *list = json_array();
	int n;
	row *rows = make_rows(d, p, by_call, measured, pass, &n);

	for (int i = 0; i < n; i++) {
		const row *r = &rows[i];
		json_t *j = json_pack("{s:s s:i s:f s:f s:f s:f s:f s:f s:f s:s s:s}", "layer", r->layer, "calls",
			r->calls, "macs", r->macs, "flops", r->flops, "bytes", r->bytes, "arithmetic_ms",
			1e3 * r->arithmetic, "memory_ms", 1e3 * r->memory, "launch_ms", 1e3 * r->launch, "predicted_ms",
			1e3 * r->total, "limit", hu_limit_name(largest(r->limit)), "odd", r->odd);
		if (by_call) {
			json_object_set_new(j, "call", r->call ? json_integer(r->call->id) : json_null());
			json_object_set_new(j, "op", r->call ? json_string(r->ops.s) : json_null());
			json_object_set_new(j, "phase", r->call ? json_string(r->phase) : json_null());
		}
		if (by_call && pass)
			json_object_set_new(j, "covers", r->call ? json_string(r->covers.s) : json_null());
		if (r->launches >= 0)
			json_object_set_new(j, "launches", json_integer(r->launches));
		if (measured)
			json_object_set_new(j, "measured_ms", json_real(1e3 * r->measured));
		json_array_append_new(list, j);
	}
	free_rows(rows, n);
	return list;
}
