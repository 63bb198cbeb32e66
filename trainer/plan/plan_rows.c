/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/plan_rows.h"

#include "lib/base/mem.h"
#include "trainer/plan/memory.h"

#include <math.h>
#include <stdio.h>
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

void
hu_plan_rows_print(const hu_program *p, const hu_plan_row *rows, int n, int by_call)
{
	char bytes[16], bound[24];
	int wide = by_call ? 8 : 10;

	for (int i = 0; i < n; i++)
		wide = (int)strlen(rows[i].layer) > wide ? (int)strlen(rows[i].layer) : wide;
	if (by_call)
		printf("%5s %-16s %-8s %-*s %-28s %-5s", "call", "op", "phase", wide, "layer", "output", "fmt");
	else
		printf("%-*s %5s", wide, "layer", "calls");
	printf(" %5s %12s %12s %9s %10s %10s\n", "casts", "multiply-adds", "operations", "bytes", "ops a byte",
		"bound");
	for (int i = 0; i < n; i++) {
		const hu_plan_row *r = &rows[i];
		const hu_info *o = r->call ? &p->t[r->call->out[0]] : NULL;
		if (by_call && o)
			printf("%5d %-16s %-8s %-*s %-28.28s %-5s", r->call->id, r->call->op->name,
				hu_phase_name(r->call->phase), wide, r->layer, o->name, hu_format_name(o->format));
		else if (by_call)
			printf("%-*s", 67 + wide, r->layer);
		else
			printf("%-*s %5d", wide, r->layer, r->calls);
		snprintf(bound, sizeof bound, isnan(r->bound) ? "-" : "%.3g", r->bound);
		printf(" %5d %12.0f %12.0f %9s %10.2f %10s\n", r->casts, r->macs, r->flops,
			hu_bytes_text(r->bytes, bytes, sizeof bytes), r->flops / r->bytes, bound);
	}
}

json_t *
hu_plan_row_json(const hu_program *p, const hu_plan_row *r)
{
	json_t *j = json_pack("{s:s s:i s:i s:f s:f s:f s:o}", "layer", r->layer, "calls", r->calls, "casts", r->casts,
		"macs", r->macs, "flops", r->flops, "bytes", r->bytes, "bound",
		isfinite(r->bound) ? json_real(r->bound) : json_null());

	if (r->call) {
		const hu_info *o = &p->t[r->call->out[0]];
		json_object_set_new(j, "call", json_integer(r->call->id));
		json_object_set_new(j, "op", json_string(r->call->op->name));
		json_object_set_new(j, "phase", json_string(hu_phase_name(r->call->phase)));
		json_object_set_new(j, "tensor", json_string(o->name));
		json_object_set_new(j, "format", json_string(hu_format_name(o->format)));
	}
	return j;
}
