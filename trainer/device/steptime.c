/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/steptime.h"

#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/memory/resident.h"
#include "lib/base/memory/room.h"
#include "trainer/run/memory.h"
#include "trainer/ranked/ranked.h"
#include "trainer/run/idle.h"
#include "trainer/run/need.h"
#include "trainer/record/passes.h"
#include "trainer/ranked/session_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
hu_quantile(const double *x, size_t n, double q)
{
	double at = q * (double)(n - 1), below = floor(at);
	size_t i = (size_t)below;

	return i + 1 < n ? x[i] + (at - below) * (x[i + 1] - x[i]) : x[n - 1];
}

static double
median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, ascending);
	return hu_quantile(x, n, 0.5);
}

/* Executes step i; row i of calls, where there is one, gets the seconds of each call. Reading the loss waits until
   everything is done. */
static hu_status
one(hu_session *s, size_t i, double *calls, double *seconds, double *loss)
{
	double start = hu_now();

	if (s->backend->profile)
		s->backend->profile(s->train, calls);
	HU_TRY(hu_session_step(s, i));
	HU_TRY(s->backend->commit(s->train));
	HU_TRY(hu_session_scalar(s, s->id.loss, loss));
	*seconds = hu_now() - start;
	return HU_OK;
}

static void
summarise(hu_steptime *t, const hu_session *s, double *seconds, double *calls, size_t steps)
{
	double *one_call = hu_xmalloc(steps * sizeof *one_call);

	t->ms = 1e3 * median(seconds, steps);
	t->fastest_ms = 1e3 * seconds[0];
	t->spread_ms = 1e3 * (hu_quantile(seconds, steps, 0.75) - hu_quantile(seconds, steps, 0.25));
	t->samples_per_s = 1e3 * (double)s->config->batch / t->ms;
	t->calls = (size_t)s->programs.train->nc;
	t->call = calls ? hu_xcalloc(t->calls + 1, sizeof *t->call) : NULL;
	t->pass = calls ? hu_passes_of(s) : NULL;
	for (size_t c = 0; calls && c <= t->calls; c++) {
		for (size_t i = 0; i < steps; i++)
			one_call[i] = calls[i * (t->calls + 1) + c];
		t->call[c] = median(one_call, steps);
	}
	free(one_call);
}

/* Reads the meter over further steps, from step `from` on, because it says nothing of less than its period. */
static hu_status
meter(hu_steptime *t, hu_session *s, hu_energy *e, size_t from)
{
	double untimed, loss, start = hu_energy_read(e), began = hu_now();
	size_t n = 0;

	hu_energy_mark(e);
	while (n == 0 || hu_now() - began < hu_energy_period(e))
		HU_TRY(one(s, from + n++, NULL, &untimed, &loss));
	double end = hu_energy_read(e);
	t->joules = end >= 0 && start >= 0 ? (end - start) / (double)n : -1;
	t->utilisation = hu_energy_utilisation(e);
	return HU_OK;
}

/* On a device the timed steps are whole; its calls are timed in as many further steps. */
static hu_status
run(hu_steptime *t, hu_session *s, const hu_steptime_ask *ask, hu_resident *memory)
{
	size_t row = (size_t)s->programs.train->nc + 1, more;
	double *seconds = hu_xcalloc(ask->steps, sizeof *seconds),
	       *calls = ask->calls && s->backend->profile ? hu_xcalloc(ask->steps * row, sizeof *calls) : NULL,
	       start = 0, untimed, loss;
	double *with = calls && !s->backend->pass ? calls : NULL;
	hu_status st = HU_OK;

	for (size_t i = 0; i < ask->warm + ask->steps && st == HU_OK; i++) {
		size_t k = i - ask->warm;
		if (i == ask->warm) {
			start = hu_energy_read(ask->energy);
			hu_energy_mark(ask->energy);
			s->waited = 0;
		}
		st = one(s, i, i < ask->warm || !with ? NULL : with + k * row, i < ask->warm ? &untimed : &seconds[k],
			&t->loss);
		if (!i) /* every step takes the memory of the first */
			hu_resident_pause(memory);
		if (ask->bar)
			hu_progress_step(ask->bar, s->config->batch);
	}
	double end = hu_energy_read(ask->energy);
	t->joules = end >= 0 && start >= 0 ? (end - start) / (double)ask->steps : -1;
	t->utilisation = hu_energy_utilisation(ask->energy);
	t->wait_ms = 1e3 * s->waited / (double)ask->steps;
	if (st == HU_OK)
		st = s->backend->digest(s->train, &t->digest);
	hu_resident_resume(memory);
	if (st == HU_OK && ask->evaluate)
		st = hu_session_evaluate(s, &t->eval);
	more = calls && !with ? ask->steps : 0;
	if (st == HU_OK && hu_energy_period(ask->energy) > 0 && hu_ranks_size() == 1)
		st = meter(t, s, ask->energy, ask->warm + ask->steps + more);
	for (size_t i = 0; i < more && st == HU_OK; i++)
		st = one(s, ask->warm + ask->steps + i, calls + i * row, &untimed, &loss);
	if (st == HU_OK)
		summarise(t, s, seconds, calls, ask->steps);
	free(seconds);
	free(calls);
	return st;
}

/* Runs the steps, of a session that has started if st says so; of several ranks the others follow rank 0, which
   measures. A meter is of one machine: of several ranks' energy it knows a part, which is not told. */
static hu_status
share(hu_steptime *t, hu_session *s, const hu_steptime_ask *ask, hu_resident *memory, hu_status st)
{
	st = hu_ranked_agree(s, st);
	if (st == HU_OK)
		st = hu_ranks_rank() ? hu_ranked_follow(s) : run(t, s, ask, memory);
	if (st == HU_OK && !hu_ranks_rank())
		st = hu_ranked_end(s, NULL);
	if (hu_ranks_size() > 1)
		t->joules = t->utilisation = -1;
	return st;
}

/* Sets the measured memory: of several ranks the most that one took. */
static void
measure_peak(hu_steptime *t, double own)
{
	double *all = hu_xcalloc((size_t)hu_ranks_size(), sizeof *all);

	hu_ranks_gather(0, &own, sizeof own, all);
	t->peak_bytes = own;
	for (int r = 0; r < hu_ranks_size() && !hu_ranks_rank(); r++)
		t->peak_bytes = all[r] > t->peak_bytes ? all[r] : t->peak_bytes;
	free(all);
}

/* Computes the memory that the training takes and decides whether it may be tried. This is done before anything is
   allocated, since a machine that overcommits its memory would kill the process instead of refusing. A device refuses
   by itself. */
static hu_status
check_room(hu_steptime *t, const hu_config *c, const hu_dataset *data, double allowed)
{
	double ram = (double)hu_memory_limit();
	int host = !strcmp(c->backend, "cpu");
	char need[16], have[16];

	HU_TRY(hu_need(c, data, c->backend, &t->computed_bytes));
	if (allowed > 0 && t->computed_bytes > allowed)
		return hu_fail(HU_ENOMEM,
			"steps of %zu images need %s%s of the %s allowed: use a smaller batch or width", c->batch,
			hu_bytes_text(t->computed_bytes, need, sizeof need), host ? ", emulated," : "",
			hu_bytes_text(allowed, have, sizeof have));
	if (host && t->computed_bytes > ram)
		return hu_fail(HU_ENOMEM,
			"steps of %zu images need %s, emulated, and this machine has %s: use a smaller batch or width",
			c->batch, hu_bytes_text(t->computed_bytes, need, sizeof need),
			hu_bytes_text(ram, have, sizeof have));
	return HU_OK;
}

/* Everything that may fail on one rank alone, before the ranks work together. */
static hu_status
prepare(hu_steptime *t, const hu_config *c, const hu_steptime_ask *ask, const hu_backend **backend)
{
	hu_dataset data;

	HU_TRY(hu_ranked_possible(c));
	HU_TRY(hu_backend_find(c->backend, backend));
	HU_TRY(hu_config_dataset(c, 1, &data));
	hu_status st = check_room(t, c, &data, ask->memory);
	hu_dataset_release(&data);
	return st;
}

hu_status
hu_steptime_measure(hu_steptime *t, const hu_config *c, const hu_steptime_ask *ask)
{
	const hu_backend *backend;
	hu_dataset data;
	hu_session s;

	memset(t, 0, sizeof *t);
	HU_TRY(hu_ranks_agree(prepare(t, c, ask, &backend)));
	hu_resident before = hu_resident_begin();
	if (backend->peak)
		backend->peak(1);
	HU_TRY(hu_ranks_agree(hu_config_dataset(c, 0, &data)));
	hu_status st = hu_session_open(&s, c, &data);
	int opened = st == HU_OK;
	st = hu_ranks_agree(st);
	if (st != HU_OK) {
		if (opened)
			hu_session_close(&s);
		return st;
	}
	st = hu_idle_patterns(c, s.programs.train);
	st = share(t, &s, ask, &before, st == HU_OK ? hu_session_start(&s) : st);
	measure_peak(t, backend->peak ? (double)backend->peak(0) : hu_resident_growth(&before));
	hu_session_close(&s);
	return st;
}
