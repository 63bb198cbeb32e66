/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/ranks_out.h"

#include "lib/base/table/fields.h"

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
	if (hu_args_given(a, "ranks:wire"))
		HU_TRY(hu_format_find(hu_args_text(a, "ranks:wire"), &r->wire));
	if (hu_args_given(a, "ranks:measured"))
		HU_TRY(hu_ranks_measured_read(&r->measured, hu_args_text(a, "ranks:measured")));
	return hu_args_given(a, "ranks:network") ? hu_rank_network_find(hu_args_text(a, "ranks:network"), &r->network)
						 : HU_OK;
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
	return hu_fail(HU_EFILE, "--ranks measured=%s: its model has %zu parameters, and this one has %zu",
		r->measured.run, r->measured.parameters, parameters);
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
				      hu_fields_measured(1e3 * t), "efficiency",
				      hu_fields_measured(efficiency(compute_s, t))));
	}
	return json_pack("{s:I s:s? s:s? s:f s:s? s:o s:o}", "ranks", (json_int_t)r->n, "wire",
		r->wire == HU_NO_FORMAT ? NULL : hu_format_name(r->wire), "network", r->network.name, "gb_s",
		r->network.gb_s, "source", r->network.source, "stages", rows, "measured",
		hu_rank_ask_measured(r, policy) ? hu_ranks_measured_json(&r->measured) : json_null());
}

typedef struct line {
	int stage;
	double weights, masters, gradients, optimizer_state, rest, all, sent, ms;
	const char *efficiency;
} line;

#define AT(member) .offset = offsetof(line, member)
static const hu_table_field field[] = {
	{ .name = "stage", .heading = "ZeRO stage", .kind = HU_FIELD_INT, AT(stage), .means = "the stage of ZeRO" },
	{ .name = "weights", .kind = HU_FIELD_BYTES, AT(weights), .rank = 4, .means = "what products read" },
	{ .name = "masters", .kind = HU_FIELD_BYTES, AT(masters), .rank = 6, .means = "the variables behind them" },
	{ .name = "gradients",
		.kind = HU_FIELD_BYTES,
		AT(gradients),
		.rank = 3,
		.means = "gradients that the update is given" },
	{ .name = "optimizer_state",
		.heading = "optimizer state",
		.kind = HU_FIELD_BYTES,
		AT(optimizer_state),
		.rank = 2,
		.means = "what the optimizer keeps" },
	{ .name = "rest", .kind = HU_FIELD_BYTES, AT(rest), .rank = 5, .means = "activations and all other gradients" },
	{ .name = "all", .heading = "a rank", .kind = HU_FIELD_BYTES, AT(all), .means = "the sum of these" },
	{ .name = "sent",
		.heading = "sent a step",
		.kind = HU_FIELD_BYTES,
		AT(sent),
		.means = "what a rank sends in a step" },
	{ .name = "ms_sending",
		.heading = "ms at least",
		.kind = HU_FIELD_MEASURED,
		AT(ms),
		.digits = 4,
		.means = "the least time that sending takes" },
	{ .name = "efficiency",
		.kind = HU_FIELD_TEXT,
		AT(efficiency),
		.rank = 1,
		.means = "computing over the longer of computing and sending" },
};
static const hu_fields table = HU_FIELDS(field, line);

void
hu_rank_stages_print(const hu_rank_ask *r, const hu_rank_sizes *s, const char *policy, double compute_s)
{
	line l[HU_ZERO_STAGES];
	char most[HU_ZERO_STAGES][24];

	printf("\n%s on %zu rank%s, a batch each", policy, r->n, r->n == 1 ? "" : "s");
	if (r->network.name)
		printf("; each sends at most %.4g GB/s (%s)", r->network.gb_s, r->network.source);
	putchar('\n');
	for (int i = 0; i < HU_ZERO_STAGES; i++) {
		hu_rank_share x = hu_rank_share_of(s, i, r->n);
		double t = sending(r, &x), e = efficiency(compute_s, t);
		l[i] = (line){ i, x.weights, x.masters, x.gradients, x.optimizer_state, x.rest, x.all, x.sent, 1e3 * t,
			isnan(e) ? "" : most[i] };
		snprintf(most[i], sizeof most[i], "<= %.3g", e);
	}
	hu_fields_print(&table, l, HU_ZERO_STAGES, "--json has all");
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
