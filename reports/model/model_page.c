/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/model/model_page.h"

#include "lib/base/show.h"
#include "lib/base/console/show_json.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/model/model_parts.h"
#include "reports/model/model_value.h"
#include "reports/page/page_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
hu_model_page_is(const char *dir)
{
	return hu_exists_in(dir, "validation.json") || hu_exists_in(dir, "advice.json");
}

/* Reads an object that has the array `rows` of objects; *o is NULL where there is no such file. */
static hu_status
read_object(json_t **o, const char *dir, const char *name, const char *rows)
{
	char *path = hu_path(dir, "%s", name);
	hu_status st = HU_OK;
	json_t *row;
	size_t i;

	*o = NULL;
	if (hu_exists_in(dir, name)) {
		st = hu_json_read(path, o);
		if (st == HU_OK && !json_is_array(json_object_get(*o, rows)))
			st = hu_fail(HU_EFILE, "%s: it has no array '%s': make it again", path, rows);
		json_array_foreach(json_object_get(*o, rows), i, row) if (st == HU_OK && !json_is_object(row)) st =
			hu_fail(HU_EFILE, "%s: entry %zu of '%s' is no object: make it again", path, i, rows);
	}
	free(path);
	return st;
}

/* The file's name without its folders. */
static const char *
base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void
heading(hu_str *b, const json_t *v, const char *model)
{
	hu_str_add(b, "<header>\n<p class=\"kicker\">halfulp report</p>\n<h1>");
	hu_html_text(b, model);
	hu_str_add(b, "</h1>\n<p class=\"sub\">");
	if (v) {
		hu_model_figure(b, "%.0f nodes", hu_model_number(v, "nodes"));
		hu_model_figure(b, ", on %.0f inputs of ",
			hu_model_number(json_array_get(json_object_get(v, "policies"), 0), "inputs"));
		hu_html_text(b, base(hu_model_text(v, "data")));
	}
	hu_str_add(b, "</p>\n</header>\n");
}

/* What the float32 outputs are worth, and where scales were measured. */
static void
grounds(hu_str *b, const json_t *v)
{
	const json_t *x = json_object_get(v, "exact"), *c = json_object_get(v, "calibration");

	if (json_is_object(x)) {
		hu_str_add(b, "<p class=\"note\">");
		hu_model_figure(b, "The exact network was run on %.0f inputs: float32 is off by at most ",
			hu_model_number(x, "inputs"));
		hu_model_figure(b, "%.3g, ", hu_model_number(x, "max_error"));
		hu_model_figure(b, "%.3g of the output’s largest magnitude, and decides otherwise on ",
			hu_model_number(x, "relative"));
		hu_model_figure(b, "%.0f of them.", hu_model_number(x, "changed"));
		hu_str_add(b, "</p>\n");
	}
	if (json_is_object(c)) {
		hu_str_add(b, "<p class=\"note\">");
		hu_model_figure(b, "Static scales were measured on %.0f inputs of ", hu_model_number(c, "inputs"));
		hu_html_text(b, base(hu_model_text(c, "data")));
		hu_str_add(b, ".</p>\n");
	}
}

/* Appends a command whose words are not broken at their hyphens. */
static void
add_line(hu_str *b, const char *command)
{
	for (const char *p = command; *p;) {
		size_t n = strcspn(p, " "), blanks = strspn(p + n, " ");
		char *word = hu_xprintf("%.*s", (int)n, p);
		hu_str_add(b, "<span>");
		hu_html_text(b, word);
		hu_str_add(b, "</span>");
		hu_str_addn(b, p + n, blanks);
		free(word);
		p += n + blanks;
	}
}

/* The whole line that made the object O. Files of older versions have the model and the DATA alone. */
static void
made_by(hu_str *b, const json_t *o, const char *command, const char *data)
{
	const char *whole = hu_model_text(o, "command");

	if (*whole) {
		add_line(b, whole);
	} else {
		hu_str_addf(b, "halfulp %s ", command);
		hu_html_text(b, hu_model_text(o, "model"));
		if (data) {
			hu_str_add(b, " --data ");
			hu_html_text(b, hu_model_text(o, data));
		}
		hu_str_add(b, " …");
	}
	hu_str_add(b, "\n");
}

static void
provenance(hu_str *b, const json_t *v, const json_t *a, const char *command)
{
	hu_str_add(b, "<section>\n<h2>Where this comes from</h2>\n");
	if (v)
		grounds(b, v);
	hu_str_add(b, "<pre>");
	if (v)
		made_by(b, v, "validate", "data");
	if (a)
		made_by(b, a, "advise", NULL);
	add_line(b, command);
	hu_str_add(b, "</pre>\n</section>\n");
}

static hu_status
sections(hu_str *page, const json_t *v, const json_t *a, const char *command)
{
	const char *model = base(hu_model_text(v ? v : a, "model"));

	HU_TRY(hu_page_open(page, model, "model/model.css"));
	heading(page, v, model);
	if (v)
		hu_model_decision(page, v);
	if (a) {
		hu_model_plan(page, a);
		hu_model_remedies(page, a);
	}
	if (v)
		HU_TRY(hu_model_graph(page, v, a));
	if (v)
		hu_model_nodes(page, v);
	if (v)
		hu_model_against(page, v);
	provenance(page, v, a, command);
	return hu_page_close(page);
}

/* Both objects of DIR, each NULL where there is no such file. */
static hu_status
read_both(json_t **v, json_t **a, const char *dir)
{
	*a = NULL;
	HU_TRY(read_object(v, dir, "validation.json", "policies"));
	return read_object(a, dir, "advice.json", "nodes");
}

hu_status
hu_model_page(hu_str *page, const char *dir, const char *command)
{
	json_t *v, *a;
	hu_status st = read_both(&v, &a, dir);

	hu_str_init(page);
	if (st == HU_OK)
		st = sections(page, v, a, command);
	json_decref(v);
	json_decref(a);
	return st;
}

hu_status
hu_model_markdown(hu_str *card, const char *dir, const char *command)
{
	json_t *v, *a;
	hu_status st = read_both(&v, &a, dir);

	hu_str_init(card);
	if (st == HU_OK)
		hu_model_card(card, v, a, command);
	json_decref(v);
	json_decref(a);
	return st;
}
