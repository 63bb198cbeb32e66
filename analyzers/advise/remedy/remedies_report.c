/* SPDX-License-Identifier: Apache-2.0
   What is told of remedies: sentences, and JSON. */
#include "analyzers/advise/remedy/remedies.h"

#include "lib/base/table/fields.h"
#include "lib/base/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
print_effect(const hu_effect *e, int decides)
{
	for (int h = 0; h < 2; h++) {
		printf("%s%s ", h ? ", and " : "", h ? "held apart" : "searched");
		if (decides)
			printf("%zu of %zu inputs flip, ", e[h].flips, e[h].inputs);
		if (e[h].nonfinite)
			printf("%zu values are not finite", e[h].nonfinite);
		else
			printf("rel_l2 is %.3g", e[h].rel_l2);
	}
	puts(".");
}

static void
print_remedy(const hu_remedy *r)
{
	printf("  %s: %s;", r->name, r->summary);
	if (r->nonfinite[0])
		printf(" values that are not finite: %zu before, %zu after", r->nonfinite[0], r->nonfinite[1]);
	if (!r->nonfinite[1])
		printf("%s rel_l2: %.3g before, %.3g after", r->nonfinite[0] ? ";" : "", r->rel_l2[0], r->rel_l2[1]);
	puts("");
	for (const char *s = r->places; *s; s += strcspn(s, "\n") + (s[strcspn(s, "\n")] != 0)) {
		char line[600];
		snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
		printf("    %s\n", hu_shown(line));
	}
}

void
hu_remedies_print(const hu_remedies *r)
{
	for (size_t k = 0; k < r->n; k++) {
		const hu_remedied *one = &r->way[k];
		if (!one->needed)
			continue;
		printf("The whole model under %s breaks the budget: ", one->way);
		print_effect(one->before, r->decides);
		if (one->worst && *one->worst)
			printf("  Its first result that is not finite is that of node '%s'.\n", hu_shown(one->worst));
		if (!one->n)
			puts("  No change of the graph that is known here helps.");
		for (size_t i = 0; i < one->n; i++)
			print_remedy(&one->remedy[i]);
		if (!one->has[1])
			continue;
		printf("  With %s %s %s the budget: ", one->n == 1 ? "this change" : "these changes", one->way,
			one->keeps ? "keeps" : "still breaks");
		print_effect(one->effect, r->decides);
		printf("  %s is the float32 model with %s.\n", hu_shown(one->path), one->n == 1 ? "it" : "them");
	}
}

/* What half of the inputs showed. */
typedef struct half_row {
	long long inputs, flips, nonfinite;
	double rel_l2, sqnr_db;
} half_row;

#define HALF(name, kind, member, means) HU_FIELD_OF(half_row, name, kind, member, WRITTEN, means)
static const hu_table_field half_field[] = {
	HALF("inputs", COUNT, inputs, "how many inputs were run"),
	HALF("flips", COUNT, flips, "inputs whose decision is not float32's"),
	HALF("nonfinite", COUNT, nonfinite, "how many values are not finite"),
	HALF("rel_l2", REAL, rel_l2, "the error's L2 norm over that of float32's outputs"),
	HALF("sqnr_db", REAL, sqnr_db, "the same in dB"),
};
static const hu_fields half_table = HU_FIELDS(half_field, half_row);

/* Both halves, as `searched` and `held_apart`, which are null where nothing was measured. */
static json_t *
effects(const hu_effect *e, int has)
{
	static const char *const key[] = { "searched", "held_apart" };
	json_t *o = json_object();

	for (int h = 0; h < 2; h++) {
		half_row row = { (long long)e[h].inputs, (long long)e[h].flips, (long long)e[h].nonfinite, e[h].rel_l2,
			e[h].sqnr_db };
		json_object_set_new(o, key[h], has ? hu_fields_object(&half_table, &row) : json_null());
	}
	return o;
}

/* A remedy that was kept. */
typedef struct remedy_row {
	const char *name, *places;
	double strength, before, after;
	long long nonfinite_before, nonfinite_after;
} remedy_row;

#define REMEDY(name, kind, member, means) HU_FIELD_OF(remedy_row, name, kind, member, WRITTEN, means)
static const hu_table_field remedy_field[] = {
	REMEDY("remedy", TEXT, name, "the remedy"),
	REMEDY("strength", REAL, strength, "how strong it is"),
	REMEDY("places", TEXT, places, "where it was made, a line for each place"),
	REMEDY("nonfinite_before", COUNT, nonfinite_before, "how many values were not finite before it"),
	REMEDY("nonfinite_after", COUNT, nonfinite_after, "how many are not with it"),
	REMEDY("rel_l2_before", REAL, before, "the outputs' error before it"),
	REMEDY("rel_l2_after", REAL, after, "the same with it"),
};
static const hu_fields remedy_table = HU_FIELDS(remedy_field, remedy_row);

/* A way to deploy. */
typedef struct way_row {
	const char *way, *model;
	hu_field_cell worst; /* a node may have no name, which is not the same as no node */
	int needed, keeps;
	long long runs;
	json_t *before, *after, *remedies;
} way_row;

#define WAY(name, kind, member, means) HU_FIELD_OF(way_row, name, kind, member, WRITTEN, means)
static const hu_table_field way_field[] = {
	WAY("way", TEXT, way, "the scheme or tool"),
	WAY("needed", FLAG, needed, "whether the model as it is breaks the budget"),
	WAY("keeps", FLAG, keeps, "whether the budget is kept in the end"),
	WAY("first_nonfinite", CELL, worst, "the node of the first result that is not finite"),
	WAY("before", JSON, before, "what the inputs showed of the model as it is"),
	WAY("after", JSON, after, "what they showed of it with all remedies"),
	WAY("remedies", JSON, remedies, "the remedies that were kept"),
	WAY("model", TEXT, model, "the file of the float32 model with them"),
	WAY("runs", COUNT, runs, "how many models were run"),
};
static const hu_fields way_table = HU_FIELDS(way_field, way_row);

json_t *
hu_remedies_json(const hu_remedies *r)
{
	json_t *all = json_array();

	for (size_t k = 0; k < r->n; k++) {
		const hu_remedied *one = &r->way[k];
		way_row row = { .way = one->way,
			.worst = { NAN, one->worst },
			.model = one->has[1] ? one->path : NULL,
			.needed = one->needed,
			.keeps = one->needed ? one->keeps : one->tried,
			.runs = (long long)one->runs,
			.before = effects(one->before, one->has[0]),
			.after = effects(one->effect, one->has[1]),
			.remedies = json_array() };
		for (size_t i = 0; i < one->n; i++) {
			const hu_remedy *x = &one->remedy[i];
			remedy_row kept = { x->name, x->places, x->strength, x->rel_l2[0], x->rel_l2[1],
				(long long)x->nonfinite[0], (long long)x->nonfinite[1] };
			json_array_append_new(row.remedies, hu_fields_object(&remedy_table, &kept));
		}
		json_array_append_new(all, hu_fields_object(&way_table, &row));
	}
	return all;
}
