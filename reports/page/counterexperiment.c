/* SPDX-License-Identifier: Apache-2.0
   The test of a verdict's cause: the same training with one option changed. */
#include "lib/base/show.h"
#include "reports/page/page_parts.h"

#include "lib/base/mem.h"
#include "reports/human.h"
#include "reports/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct remedy {
	const char *cause, *option, *value, *words;
} remedy;

static const remedy remedies[] = {
#define REMEDY(cause, option, value, words) { cause, option, value, words },
#include "reports/page/remedies.def"
#undef REMEDY
};

static const remedy *
remedy_of(const hu_report_run *r)
{
	const char *cause = hu_json_text(r->summary, "cause");

	for (size_t i = 0; cause && i < sizeof remedies / sizeof *remedies; i++)
		if (!strcmp(cause, remedies[i].cause))
			return &remedies[i];
	return NULL;
}

static const char *
word(const json_t *command, size_t i)
{
	const char *s = json_string_value(json_array_get(command, i));

	return s ? s : "";
}

/* Is this word of a run's command the directory that it wrote? */
static int
is_directory(const hu_report_run *r, const char *w)
{
	const char *a = strrchr(w, '/'), *b = strrchr(r->dir, '/');

	return !strcmp(a ? a + 1 : w, b ? b + 1 : r->dir);
}

/* Is "key=value" among the parts of an option's value? */
static int
says(const char *value, const char *part)
{
	size_t n = strlen(part);

	for (const char *at = value; (at = strstr(at, part)); at += n)
		if ((at == value || at[-1] == ':' || at[-1] == ',') && (!at[n] || at[n] == ','))
			return 1;
	return 0;
}

/* Appends each word of a training's command but the run directory, with the option's value exchanged or the option
   added, whose last value counts where it is a key; with NULL changes nothing. */
static void
changed_command(hu_str *b, const hu_report_run *r, const remedy *with)
{
	const json_t *command = hu_json_at(r->manifest, "command");
	size_t n = json_array_size(command), same = with ? strlen(with->option) : 0;
	int given = !with, is_key = with && strchr(with->value, '=');

	for (size_t i = 0; i < n; i++) {
		const char *w = word(command, i);
		if (i > 1 && is_directory(r, w))
			continue;
		hu_str_add(b, i ? " " : "");
		if (!with || is_key) {
			hu_show_word(b, w);
			given |= is_key && !strncmp(w, with->option, same) && w[same] == '=' &&
				 says(w + same + 1, with->value);
			continue;
		}
		if (!strncmp(w, with->option, same) && w[same] == '=') {
			hu_str_addf(b, "%s=%s", with->option, with->value);
			given = 1;
		} else if (!strcmp(w, with->option) && i + 1 < n) {
			hu_str_addf(b, "%s=%s", with->option, with->value);
			given = 1;
			i++;
		} else {
			hu_show_word(b, w);
		}
	}
	if (!given)
		hu_str_addf(b, " %s=%s", with->option, with->value);
}

/* Words of both, in any order and of any number, are the same: `--optimizer eps=1e-4` may stand anywhere. */
static int
same_words(const char *a, const char *b)
{
	char *x = hu_xstrdup(a), *save = NULL;
	int same = strlen(a) == strlen(b);

	for (char *w = strtok_r(x, " ", &save); w && same; w = strtok_r(NULL, " ", &save)) {
		const char *at = b;
		size_t n = strlen(w);
		for (; (at = strstr(at, w)); at += n)
			if ((at == b || at[-1] == ' ') && (!at[n] || at[n] == ' '))
				break;
		same = at != NULL;
	}
	free(x);
	return same;
}

static void
ended(hu_str *b, const hu_report_run *r)
{
	char *loss = hu_human(hu_metrics_last(r, "loss"), HU_UNIT_REAL),
	     *accuracy = hu_human(hu_metrics_last(r, "eval_accuracy"), HU_UNIT_SHARE);

	hu_html_text(b, r->label);
	if (hu_metrics_diverged(r, "loss")) {
		hu_str_add(b, " ended with a loss that is not finite");
	} else {
		hu_str_add(b, " ended at a loss of ");
		hu_html_number(b, loss);
	}
	if (!isnan(hu_metrics_last(r, "eval_accuracy"))) {
		hu_str_add(b, " and read ");
		hu_html_number(b, accuracy);
		hu_str_add(b, " of the unseen samples");
	}
	free(loss);
	free(accuracy);
}

void
hu_page_counterexperiment(hu_str *b, const hu_report_runs *runs, const hu_report_run *r)
{
	const remedy *with = remedy_of(r);
	hu_str wanted, own;

	if (!with || json_array_size(hu_json_at(r->manifest, "command")) < 3)
		return;
	hu_str_init(&wanted);
	changed_command(&wanted, r, with);
	hu_str_init(&own);
	changed_command(&own, r, NULL);
	int already = same_words(wanted.s, own.s);
	hu_str_release(&own);
	if (already) {
		hu_str_release(&wanted);
		return;
	}
	const hu_report_run *made = NULL;
	for (int i = 0; i < runs->n && !made; i++) {
		hu_str have;
		hu_str_init(&have);
		changed_command(&have, &runs->at[i], NULL);
		if (same_words(wanted.s, have.s))
			made = &runs->at[i];
		hu_str_release(&have);
	}
	hu_str_addf(b, "<p class=\"test\"><strong>Test it.</strong> %s ", with->words);
	if (made) {
		hu_str_add(b, "Here it is: ");
		ended(b, r);
		hu_str_add(b, "; ");
		ended(b, made);
		hu_str_addf(b, " (<code>%s=%s</code>).", with->option, with->value);
	} else {
		hu_str_add(b, "<code>");
		hu_html_text(b, wanted.s);
		hu_str_add(b, "</code>");
	}
	hu_str_add(b, "</p>\n");
	hu_str_release(&wanted);
}
