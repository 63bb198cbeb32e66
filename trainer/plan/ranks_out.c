/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/ranks_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

hu_status
hu_rank_ask_parse(hu_rank_ask *r, const hu_args *a)
{
	long long n;

	memset(r, 0, sizeof *r);
	r->wire = HU_NO_FORMAT;
	if (!hu_args_given(a, "ranks"))
		return HU_OK;
	HU_TRY(hu_args_int(a, "ranks", 1, 10000000, &n));
	r->n = (size_t)n;
	if (hu_args_given(a, "wire"))
		HU_TRY(hu_format_find(hu_args_text(a, "wire"), &r->wire));
	if (hu_args_given(a, "measured"))
		HU_TRY(hu_ranks_measured_read(&r->measured, hu_args_text(a, "measured")));
	return hu_args_given(a, "network") ? hu_rank_network_find(hu_args_text(a, "network"), &r->network) : HU_OK;
}

int
hu_rank_ask_measured(const hu_rank_ask *r, const char *policy)
{
	return r->measured.run && !strcmp(r->measured.policy, policy);
}

hu_status
hu_rank_ask_fits(const hu_rank_ask *r, const char *policy, size_t parameters)
{
	if (!hu_rank_ask_measured(r, policy) || r->measured.parameters == parameters)
		return HU_OK;
	return hu_fail(HU_EFILE, "--measured %s: its model has %zu parameters, and this one has %zu", r->measured.run,
		r->measured.parameters, parameters);
}

/* Returns the least time of sending in seconds; NaN where no network is named. */
static double
sending(const hu_rank_ask *r, const hu_rank_share *x)
{
	return r->network.name ? x->sent / (1e9 * r->network.gb_s) : NAN;
}

static double
efficiency(double compute_s, double sending_s)
{
	return isnan(sending_s) ? NAN : compute_s / fmax(compute_s, sending_s);
}

static json_t *
real(double x)
{
	return isnan(x) ? json_null() : json_real(x);
}

json_t *
hu_rank_stages_json(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s)
{
	json_t *rows = json_array();

	for (int i = 0; i < HU_ZERO_STAGES; i++) {
		hu_rank_share x = hu_rank_share_of(s, i, r->n);
		double t = sending(r, &x);
		json_array_append_new(
			rows, json_pack("{s:i s:f s:f s:f s:f s:f s:f s:f s:o s:o}", "stage", i, "weights", x.weights,
				      "masters", x.masters, "gradients", x.gradients, "optimizer_state",
				      x.optimizer_state, "rest", x.rest, "all", x.all, "sent", x.sent, "ms_sending",
				      real(1e3 * t), "efficiency", real(efficiency(compute_s, t))));
	}
	return json_pack("{s:I s:s? s:s? s:f s:s? s:o s:o*}", "ranks", (json_int_t)r->n, "wire",
		r->wire == HU_NO_FORMAT ? NULL : hu_format_name(r->wire), "network", r->network.name, "gb_s",
		r->network.gb_s, "source", r->network.source, "stages", rows, "measured",
		hu_rank_ask_measured(r, policy) ? hu_ranks_measured_json(&r->measured) : NULL);
}

void
hu_rank_stages_print(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s)
{
	printf("\n%s on %zu rank%s, a batch each", policy, r->n, r->n == 1 ? "" : "s");
	if (r->network.name)
		printf("; each sends at most %.4g GB/s (%s)", r->network.gb_s, r->network.source);
	printf("\n%-10s %10s %10s %10s %16s %10s %10s %14s %12s %11s\n", "ZeRO stage", "weights", "masters",
		"gradients", "optimizer state", "rest", "a rank", "sent a step", "ms at least", "efficiency");
	for (int i = 0; i < HU_ZERO_STAGES; i++) {
		hu_rank_share x = hu_rank_share_of(s, i, r->n);
		double t = sending(r, &x), e = efficiency(compute_s, t);
		char b[7][16], ms[24] = "-", most[24] = "-";
		if (!isnan(t))
			snprintf(ms, sizeof ms, "%.4g", 1e3 * t);
		if (!isnan(e))
			snprintf(most, sizeof most, "<= %.3g", e);
		printf("%-10d %10s %10s %10s %16s %10s %10s %14s %12s %11s\n", i, hu_bytes_text(x.weights, b[0], 16),
			hu_bytes_text(x.masters, b[1], 16), hu_bytes_text(x.gradients, b[2], 16),
			hu_bytes_text(x.optimizer_state, b[3], 16), hu_bytes_text(x.rest, b[4], 16),
			hu_bytes_text(x.all, b[5], 16), hu_bytes_text(x.sent, b[6], 16), ms, most);
	}
	if (hu_rank_ask_measured(r, policy))
		hu_ranks_measured_print(&r->measured);
	printf("gradients are those that the update is given; rest: activations and all other gradients, as if all "
	       "were "
	       "kept.\n");
	if (r->network.name && r->n > 1)
		printf("ms at least: what is sent at the network's full rate, without latency; efficiency: "
		       "computing, as --device predicts\nit, over the longer of computing and sending, as if the "
		       "two overlapped wholly.\n");
}
