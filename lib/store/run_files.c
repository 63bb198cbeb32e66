/* SPDX-License-Identifier: Apache-2.0
   Opens a program and the tensors of one of its steps as a run of one traced step, so that whoever has only these two
   files, from whatever recorder, can have them analyzed. Neither file is trusted before it is checked. */
#include "lib/store/run.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/store/run_trace.h"

#include <stdlib.h>
#include <string.h>

/* What of the program the step has: calls all of whose tensors are there, tensors that are not, the first of them. */
typedef struct have { int calls, absent, first; } have;

static have
look(const hu_program *p, const hu_tensor *t)
{
	have h = { .first = -1 };

	for (int i = p->nt - 1; i >= 0; i--)
		if (!t[i].data) {
			h.absent++;
			h.first = i;
		}
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		int whole = 1;
		for (int k = 0; k < c->nin; k++)
			whole &= t[c->in[k]].data != NULL;
		for (int k = 0; k < c->nout; k++)
			whole &= t[c->out[k]].data != NULL;
		h.calls += whole;
	}
	return h;
}

static int
is_random(const hu_call *c)
{
	return hu_mode_draws(c->mode) || hu_mode_draws(c->sum.mode);
}

static hu_status
check_tensors(const hu_run *r, hu_str *lacks)
{
	const hu_program *p = r->train;
	hu_run_trace m;

	HU_TRY(hu_run_map_trace(r, 0, HU_RUN_TRACE_IN_MEMORY, &m));
	have h = look(p, m.t);
	hu_run_unmap_trace(&m);
	if (!h.calls)
		return hu_fail(HU_EFILE,
			"%s: of none of the program's %d calls all operands and results are there, so nothing can be "
			"judged",
			r->tensors, p->nc);
	hu_str_add(lacks, "There is no manifest and there are no metrics: seed, losses and other steps are unknown");
	if (h.absent)
		hu_str_addf(lacks,
			"; %d of %d tensors are not in %s (the first is %s), so %d of %d calls are judged whole",
			h.absent, p->nt, hu_shown(r->tensors), p->t[h.first].name, h.calls, p->nc);
	for (int i = 0; i < p->nc; i++)
		if (is_random(&p->c[i])) {
			hu_str_add(lacks, "; stochastic rounding is repeated with seed 0");
			break;
		}
	hu_str_add(lacks, ".");
	return HU_OK;
}

/* The first half of the hash is the program's, the second the tensors'. */
static hu_status
checksum(hu_run *r, const char *program)
{
	double bytes;
	char hex[17];

	HU_TRY(hu_run_checksum(program, &bytes, r->xxh3));
	HU_TRY(hu_run_checksum(r->tensors, &bytes, hex));
	memcpy(r->xxh3 + 8, hex + 8, 8);
	return HU_OK;
}

static hu_status
open_parts(hu_run *r, const char *program, hu_str *lacks)
{
	HU_TRY(hu_run_read_program(program, &r->train));
	r->step = hu_xcalloc(1, sizeof *r->step);
	r->nstep = 1;
	HU_TRY(checksum(r, program));
	HU_TRY(check_tensors(r, lacks));
	return hu_make_dirs(r->dir);
}

hu_status
hu_run_open_files(hu_run *r, const char *program, const char *tensors, const char *dir, hu_str *lacks)
{
	memset(r, 0, sizeof *r);
	r->dir = hu_xstrdup(dir);
	r->tensors = hu_xstrdup(tensors);
	r->manifest = json_object();
	hu_status st = open_parts(r, program, lacks);
	if (st != HU_OK)
		hu_run_release(r);
	return st;
}
