/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/device/steptime.h"

#include "lib/base/mem.h"
#include "lib/base/progress.h"
#include "trainer/memory.h"

#include <stdlib.h>
#include <string.h>

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, ascending);
	return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* Step I, with the seconds of each call in row I of CALLS where there is one. */
static hu_status
one(hu_session *s, size_t i, double *calls, double *seconds, uint64_t *digest)
{
	double start = hu_now();

	if (calls)
		s->backend->profile(s->train, calls);
	HU_TRY(hu_session_step(s, i));
	HU_TRY(hu_session_commit(s, digest));
	*seconds = hu_now() - start;
	return HU_OK;
}

static void
summarise(hu_steptime *t, const hu_session *s, double *seconds, double *calls, size_t steps)
{
	double *one_call = hu_xmalloc(steps * sizeof *one_call);
	hu_memory m = hu_memory_of(s->programs.train);

	t->peak_bytes = hu_memory_total(&m);
	t->ms = 1e3 * median(seconds, steps);
	t->fastest_ms = 1e3 * seconds[0];
	t->samples_per_s = 1e3 * (double)s->config->batch / t->ms;
	t->calls = (size_t)s->programs.train->nc;
	t->call = calls ? hu_xcalloc(t->calls + 1, sizeof *t->call) : NULL;
	for (size_t c = 0; calls && c < t->calls; c++) {
		for (size_t i = 0; i < steps; i++)
			one_call[i] = calls[i * t->calls + c];
		t->call[c] = median(one_call, steps);
	}
	free(one_call);
}

static hu_status
run(hu_steptime *t, hu_session *s, size_t warm, size_t steps, hu_energy *energy)
{
	size_t nc = (size_t)s->programs.train->nc;
	double *seconds = hu_xcalloc(steps, sizeof *seconds), *calls = s->backend->profile ? hu_xcalloc(steps * nc + 1, sizeof *calls) : NULL, start = 0, untimed;
	hu_status st = hu_session_start(s);

	for (size_t i = 0; i < warm + steps && st == HU_OK; i++) {
		if (i == warm) {
			start = hu_energy_read(energy);
			hu_energy_utilisation(energy);
		}
		st = one(s, i % s->steps, i < warm || !calls ? NULL : calls + (i - warm) * nc, i < warm ? &untimed : &seconds[i - warm], &t->digest);
	}
	double end = hu_energy_read(energy);
	t->joules = end >= 0 && start >= 0 ? (end - start) / (double)steps : -1;
	t->utilisation = hu_energy_utilisation(energy);
	if (st == HU_OK)
		summarise(t, s, seconds, calls, steps);
	free(seconds);
	free(calls);
	return st;
}

hu_status
hu_steptime_measure(hu_steptime *t, const hu_config *c, size_t warm, size_t steps, hu_energy *energy)
{
	hu_dataset data;
	hu_session s;

	memset(t, 0, sizeof *t);
	HU_TRY(hu_config_dataset(c, 0, &data));
	hu_status st = hu_session_open(&s, c, &data);
	if (st == HU_OK)
		st = run(t, &s, warm, steps, energy);
	hu_session_close(&s);
	return st;
}
