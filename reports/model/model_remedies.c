/* SPDX-License-Identifier: Apache-2.0
   The section on changes of the graph that advise found to help where a whole model in a narrow format breaks the
   budget. */
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"

#include <string.h>

static void
cell(hu_str *b, const char *format, double x)
{
	hu_str_add(b, "<td>");
	hu_model_figure(b, format, x);
	hu_str_add(b, "</td>");
}

static void
row(hu_str *b, const char *when, const json_t *halves)
{
	static const char *const half[][2] = { { "searched", "searched on" }, { "held_apart", "held apart" } };

	for (size_t h = 0; h < 2; h++) {
		const json_t *e = json_object_get(halves, half[h][0]);
		if (!json_is_object(e))
			continue;
		hu_str_addf(b, "<tr><th scope=\"row\">%s, %s</th>", when, half[h][1]);
		cell(b, "%.0f", hu_model_number(e, "inputs"));
		cell(b, "%.0f", hu_model_number(e, "flips"));
		cell(b, "%.0f", hu_model_number(e, "nonfinite"));
		cell(b, "%.3g", hu_model_number(e, "rel_l2"));
		hu_str_add(b, "</tr>\n");
	}
}

/* The places of one change, a line each in the text. */
static void
places(hu_str *b, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		hu_str line;
		hu_str_init(&line);
		hu_str_addf(&line, "%.*s", (int)n, text);
		hu_str_add(b, "<li>");
		hu_html_text(b, line.s);
		hu_str_add(b, "</li>\n");
		hu_str_release(&line);
		text += n + (text[n] != 0);
	}
}

static void
way(hu_str *b, const json_t *w)
{
	const json_t *remedies = json_object_get(w, "remedies"), *one;
	size_t i;

	hu_str_add(b, "<h3>The whole model under ");
	hu_html_text(b, hu_model_text(w, "way"));
	hu_str_add(b, "</h3>\n<p>As it is, it breaks the budget");
	if (*hu_model_text(w, "first_nonfinite")) {
		hu_str_add(b, ", and its first result that is not finite is that of node ");
		hu_html_text(b, hu_model_text(w, "first_nonfinite"));
	}
	if (!json_array_size(remedies)) {
		hu_str_add(b, ". No change of the graph that is known here helps.</p>\n");
	} else {
		hu_str_addf(b, ". With these changes it %s the budget; ",
			json_is_true(json_object_get(w, "keeps")) ? "keeps" : "still breaks");
		hu_html_text(b, hu_model_text(w, "model"));
		hu_str_add(b, " is the float32 model with them.</p>\n<ul>\n");
		json_array_foreach((json_t *)(size_t)remedies, i, one) places(b, hu_model_text(one, "places"));
		hu_str_add(b, "</ul>\n");
	}
	hu_str_add(b,
		"<div class=\"scroll\"><table class=\"remedied\">\n<thead><tr><th>inputs</th><th>number</th>"
		"<th>decisions changed</th><th>values not finite</th><th>relative L2</th></tr></thead>\n<tbody>\n");
	row(b, "before", json_object_get(w, "before"));
	row(b, "after", json_object_get(w, "after"));
	hu_str_add(b, "</tbody>\n</table></div>\n");
}

void
hu_model_remedies(hu_str *b, const json_t *a)
{
	const json_t *all = json_object_get(a, "remedies"), *w;
	size_t i, n = 0;

	json_array_foreach((json_t *)(size_t)all, i, w)
	{
		if (!json_is_true(json_object_get(w, "needed")))
			continue;
		if (!n++)
			hu_str_add(b, "<section class=\"remedies\">\n<h2>Changes of the graph</h2>\n");
		way(b, w);
	}
	hu_str_add(b, n ? "</section>\n" : "");
}
