/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/timing.h"

#include "lib/base/mem.h"
#include "trainer/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct row { const char *layer; const hu_call *call; int calls; double macs, flops, bytes, arithmetic, memory, launch, total, limit[3], measured; char odd[48]; } row;

static void
add(row *r, const hu_peaks *d, const hu_program *p, const hu_call *c, const double *measured)
{
	hu_roof t = hu_roofline(d, p, c);
	hu_cost k = hu_call_cost(p, c);

	r->calls++;
	r->macs += k.macs;
	r->flops += k.flops;
	r->bytes += k.bytes_in + k.bytes_out;
	r->arithmetic += t.arithmetic;
	r->memory += t.memory;
	r->launch += t.launch;
	r->total += t.total;
	r->limit[t.limit] += t.total;
	r->measured += measured ? measured[c->id] : 0;
	if (!*r->odd)
		memcpy(r->odd, t.odd, sizeof r->odd);
}

/* Rows in the order of their first call; the last is the sum. */
static row *
make_rows(const hu_peaks *d, const hu_program *p, int by_call, const double *measured, int *n)
{
	row *rows = hu_xcalloc((size_t)p->nc + 1, sizeof *rows), all = { .layer = "all" };

	*n = 0;
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		int k = by_call ? *n : 0;
		while (k < *n && strcmp(rows[k].layer, c->layer))
			k++;
		if (k == *n)
			rows[(*n)++] = (row){ .layer = c->layer, .call = by_call ? c : NULL };
		add(&rows[k], d, p, c, measured);
		add(&all, d, p, c, measured);
	}
	*all.odd = 0;
	rows[(*n)++] = all;
	return rows;
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

void
hu_timing_print(FILE *f, const hu_peaks *d, const hu_program *p, int by_call, const double *measured)
{
	char bytes[16];
	int n;
	row *rows = make_rows(d, p, by_call, measured, &n);

	if (by_call)
		fprintf(f, "%5s %-16s %-8s %-8s", "call", "op", "phase", "layer");
	else
		fprintf(f, "%-10s %5s", "layer", "calls");
	fprintf(f, " %9s %9s %10s %9s %9s %9s", "Gflop", "bytes", "arithmetic", "memory", "launch", "at least");
	fprintf(f, measured ? " %9s %-10s\n" : "%.0s %-10s\n", "measured", "limit");
	for (int i = 0; i < n; i++) {
		const row *r = &rows[i];
		if (r->call)
			fprintf(f, "%5d %-16s %-8s %-8s", r->call->id, r->call->op->name, hu_phase_name(r->call->phase), r->layer);
		else if (by_call)
			fprintf(f, "%-40s", r->layer);
		else
			fprintf(f, "%-10s %5d", r->layer, r->calls);
		fprintf(f, " %9.3f %9s %10.3f %9.3f %9.3f %9.3f", 1e-9 * r->flops, hu_bytes_text(r->bytes, bytes, sizeof bytes), 1e3 * r->arithmetic, 1e3 * r->memory, 1e3 * r->launch, 1e3 * r->total);
		if (measured)
			fprintf(f, " %9.3f", 1e3 * r->measured);
		fprintf(f, " %s%s%s\n", hu_limit_name(largest(r->limit)), *r->odd ? "; " : "", r->odd);
	}
	free(rows);
}

json_t *
hu_timing_to_json(const hu_peaks *d, const hu_program *p, int by_call, const double *measured)
{
	json_t *list = json_array();
	int n;
	row *rows = make_rows(d, p, by_call, measured, &n);

	for (int i = 0; i < n; i++) {
		const row *r = &rows[i];
		json_t *j = json_pack("{s:s s:i s:f s:f s:f s:f s:f s:f s:f s:s s:s}", "layer", r->layer, "calls", r->calls, "macs", r->macs, "flops", r->flops, "bytes", r->bytes, "arithmetic_ms", 1e3 * r->arithmetic, "memory_ms", 1e3 * r->memory, "launch_ms", 1e3 * r->launch, "predicted_ms", 1e3 * r->total, "limit", hu_limit_name(largest(r->limit)), "odd", r->odd);
		if (r->call) {
			json_object_set_new(j, "call", json_integer(r->call->id));
			json_object_set_new(j, "op", json_string(r->call->op->name));
			json_object_set_new(j, "phase", json_string(hu_phase_name(r->call->phase)));
		}
		if (measured)
			json_object_set_new(j, "measured_ms", json_real(1e3 * r->measured));
		json_array_append_new(list, j);
	}
	free(rows);
	return list;
}
