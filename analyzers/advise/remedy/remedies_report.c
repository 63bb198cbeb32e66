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

static json_t *
effects(const hu_effect *e, int has, const char *const *key)
{
	json_t *o = json_object();

	for (int h = 0; h < 2; h++)
		json_object_set_new(o, key[h],
			has ? json_pack("{s:I s:I s:I s:o s:o}", "inputs", (json_int_t)e[h].inputs, "flips",
				      (json_int_t)e[h].flips, "nonfinite", (json_int_t)e[h].nonfinite, "rel_l2",
				      hu_fields_number(e[h].rel_l2), "sqnr_db", hu_fields_number(e[h].sqnr_db))
			    : json_null());
	return o;
}

json_t *
hu_remedies_json(const hu_remedies *r)
{
	static const char *const halves[] = { "searched", "held_apart" };
	json_t *all = json_array();

	for (size_t k = 0; k < r->n; k++) {
		const hu_remedied *one = &r->way[k];
		json_t *rows = json_array();
		for (size_t i = 0; i < one->n; i++) {
			const hu_remedy *x = &one->remedy[i];
			json_array_append_new(rows,
				json_pack("{s:s s:f s:s s:I s:I s:o s:o}", "remedy", x->name, "strength", x->strength,
					"places", x->places, "nonfinite_before", (json_int_t)x->nonfinite[0],
					"nonfinite_after", (json_int_t)x->nonfinite[1], "rel_l2_before",
					hu_fields_number(x->rel_l2[0]), "rel_l2_after",
					hu_fields_number(x->rel_l2[1])));
		}
		json_array_append_new(
			all, json_pack("{s:s s:b s:b s:s? s:o s:o s:o s:s? s:I}", "way", one->way, "needed",
				     one->needed, "keeps", one->needed ? one->keeps : one->tried, "first_nonfinite",
				     one->worst, "before", effects(one->before, one->has[0], halves), "after",
				     effects(one->effect, one->has[1], halves), "remedies", rows, "model",
				     one->has[1] ? one->path : NULL, "runs", (json_int_t)one->runs));
	}
	return all;
}
