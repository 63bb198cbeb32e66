/* SPDX-License-Identifier: Apache-2.0
   Sensitivity as a table, the most harmful node first, and as JSON. */
#include "analyzers/validate/sensitivity/sensitivity.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/table/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, MAP = 64 }; /* rows of the table; entries of a map of channels */

static double
amplification(const hu_node_damage *n)
{
	double own = hu_damage_rel(&n->local);

	return own > 0 ? hu_damage_rel(&n->low) / own : NAN;
}

/* A figure as the table has it: "-" for what there is none of. */
static const char *
figure(char *to, size_t size, double x)
{
	snprintf(to, size, x != x ? "-" : "%.3g", x);
	return to;
}

static double
share(size_t part, size_t all)
{
	return all ? 100.0 * (double)part / (double)all : NAN;
}

/* A node's row. */
typedef struct line {
	const char *node, *op;
	double low, local, amplified, high, amax, p999, zeroed, saturated;
	long long low_flips, high_flips, outliers;
} line;

#define AT(member) .offset = offsetof(line, member)
static const hu_table_field field[] = {
	{ .name = "node", .kind = HU_FIELD_TEXT, AT(node), .means = "the node's name" },
	{ .name = "operator", .kind = HU_FIELD_TEXT, AT(op), .rank = 3, .means = "what it computes" },
	{ .name = "low",
		.kind = HU_FIELD_REAL,
		AT(low),
		.digits = 3,
		.means = "the relative L2 error of the outputs where this node alone runs under the policy" },
	{ .name = "low_flips",
		.heading = "flips",
		.kind = HU_FIELD_COUNT,
		AT(low_flips),
		.rank = 2,
		.means = "how many decisions then change" },
	{ .name = "local",
		.kind = HU_FIELD_REAL,
		AT(local),
		.digits = 3,
		.rank = 4,
		.means = "the relative L2 error of its own results" },
	{ .name = "amplified",
		.kind = HU_FIELD_MEASURED,
		AT(amplified),
		.digits = 3,
		.rank = 5,
		.means = "low over local" },
	{ .name = "high",
		.kind = HU_FIELD_REAL,
		AT(high),
		.digits = 3,
		.rank = 1,
		.means = "the relative L2 error where all nodes but it run under the policy" },
	{ .name = "high_flips",
		.heading = "flips",
		.kind = HU_FIELD_COUNT,
		AT(high_flips),
		.rank = 7,
		.means = "how many decisions then change" },
	{ .name = "amax",
		.kind = HU_FIELD_REAL,
		AT(amax),
		.digits = 3,
		.rank = 6,
		.means = "the largest magnitude of its results in float32" },
	{ .name = "p99.9",
		.kind = HU_FIELD_REAL,
		AT(p999),
		.digits = 3,
		.rank = 9,
		.means = "the magnitude that 99.9 % of them do not exceed" },
	{ .name = "outliers",
		.kind = HU_FIELD_COUNT,
		AT(outliers),
		.rank = 8,
		.means = "how many lie far beyond the others" },
	{ .name = "zeroed",
		.unit = "%",
		.kind = HU_FIELD_MEASURED,
		AT(zeroed),
		.digits = 3,
		.rank = 6,
		.means = "the share of its operands' elements that became 0" },
	{ .name = "saturated",
		.unit = "%",
		.kind = HU_FIELD_MEASURED,
		AT(saturated),
		.digits = 3,
		.rank = 6,
		.means = "the share that became the largest value" },
};
static const hu_fields table = HU_FIELDS(field, line);

static void
print_nodes(const hu_sensitivity *r)
{
	size_t n = r->n < SHOWN ? r->n : SHOWN;
	line *l = hu_xcalloc(n + 1, sizeof *l);

	for (size_t i = 0; i < n; i++) {
		const hu_node_damage *d = &r->node[i];
		l[i] = (line){ .node = d->node,
			.op = d->op,
			.low = hu_damage_rel(&d->low),
			.local = hu_damage_rel(&d->local),
			.amplified = amplification(d),
			.high = hu_damage_rel(&d->high),
			.amax = d->range.amax,
			.p999 = d->p999,
			.zeroed = share(d->zeroed, d->operands),
			.saturated = share(d->saturated, d->operands),
			.low_flips = (long long)d->low.flips,
			.high_flips = (long long)d->high.flips,
			.outliers = (long long)d->outliers };
	}
	hu_fields_print(&table, l, n, "--json has all");
	free(l);
}

void
hu_sensitivity_print(const hu_sensitivity *r)
{
	double joint = hu_damage_rel(&r->joint), additive = hu_sensitivity_additive(r);

	printf("\n%s, node by node, on %zu input%s: low, the node alone; high, all but it; local, its own results\n",
		hu_shown(r->policy), r->inputs, r->inputs == 1 ? "" : "s");
	puts("amax, p99.9 and outliers are of the node's results in float32; zeroed and saturated of its operands that "
	     "are no "
	     "constants.");
	if (r->held)
		puts("Shapes and choices are held at those of float32, and so are boxes that a list is made of.");
	print_nodes(r);
	if (r->n > SHOWN)
		printf("%zu more nodes do less; --json lists all.\n", r->n - SHOWN);
	printf("The squares of the nodes' errors add up to (%.3g)^2; all of them together make %.3g, %s times as "
	       "much.\n",
		additive, joint, figure((char[32]){ 0 }, 32, additive > 0 ? joint / additive : NAN));
	if (r->first_nonfinite)
		printf("The first value that is not finite comes from layer %s.\n", hu_shown(r->first_nonfinite));
}

static void
set(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

/* The largest magnitudes of channels, or of as many neighbouring ones together as leave MAP of them or fewer. */
static json_t *
channel_map(const hu_node_damage *n)
{
	size_t group = (n->channels + MAP - 1) / MAP;
	json_t *map = json_array();

	for (size_t c = 0; c < n->channels; c += group) {
		double most = 0;
		for (size_t k = c; k < c + group && k < n->channels; k++)
			most = fmax(most, n->channel[k]);
		json_array_append_new(map, hu_fields_measured(most));
	}
	return map;
}

json_t *
hu_sensitivity_json(const hu_sensitivity *r)
{
	json_t *o = json_object(), *rows = json_array();

	set(o, "policy", json_string(r->policy));
	set(o, "inputs", json_integer((json_int_t)r->inputs));
	set(o, "joint_rel_l2", hu_fields_number(hu_damage_rel(&r->joint)));
	set(o, "joint_flips", json_integer((json_int_t)r->joint.flips));
	set(o, "additive_rel_l2", hu_fields_number(hu_sensitivity_additive(r)));
	set(o, "calls_run", json_integer((json_int_t)r->calls));
	set(o, "calls_of_complete_runs", json_integer((json_int_t)r->all_calls));
	set(o, "first_nonfinite", r->first_nonfinite ? json_string(r->first_nonfinite) : json_null());
	for (size_t i = 0; i < r->n; i++) {
		const hu_node_damage *n = &r->node[i];
		json_t *row = json_object();
		set(row, "node", json_string(n->node));
		set(row, "position", json_integer((json_int_t)n->position));
		set(row, "operator", json_string(n->op));
		set(row, "scheme", json_string(n->scheme));
		set(row, "low_rel_l2", hu_fields_number(hu_damage_rel(&n->low)));
		set(row, "low_flips", json_integer((json_int_t)n->low.flips));
		set(row, "high_rel_l2", hu_fields_number(hu_damage_rel(&n->high)));
		set(row, "high_flips", json_integer((json_int_t)n->high.flips));
		set(row, "local_rel_l2", hu_fields_number(hu_damage_rel(&n->local)));
		set(row, "joint_rel_l2", hu_fields_number(hu_damage_rel(&n->joint)));
		set(row, "amplification", hu_fields_measured(amplification(n)));
		set(row, "amax", hu_fields_measured(n->range.amax));
		set(row, "p99_9", hu_fields_measured(n->p999));
		set(row, "channels", json_integer((json_int_t)n->channels));
		set(row, "channel_amax", channel_map(n));
		set(row, "outlier_channels", json_integer((json_int_t)n->outliers));
		set(row, "operands", json_integer((json_int_t)n->operands));
		set(row, "zeroed", json_integer((json_int_t)n->zeroed));
		set(row, "saturated", json_integer((json_int_t)n->saturated));
		json_array_append_new(rows, row);
	}
	set(o, "nodes", rows);
	return o;
}
