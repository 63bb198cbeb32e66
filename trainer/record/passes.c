/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/record/passes.h"

#include "lib/base/build.h"
#include "lib/base/mem.h"
#include "lib/base/tsv.h"

#include <stdlib.h>
#include <string.h>

/* Returns 1 where word is one of list's words, which are separated by "+". */
static int
named(const hu_str *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list->len ? list->s : ""; *s; s += strcspn(s, "+"), s += *s == '+')
		if (strcspn(s, "+") == n && !strncmp(s, word, n))
			return 1;
	return 0;
}

void
hu_pass_words(const hu_program *p, const hu_pass *pass, int first, hu_str *covers, hu_str *ops)
{
	for (int i = first, last; i < p->nc; i = last + 1) {
		for (last = i; last < p->nc && (pass ? pass[last].first : last) == first; last++) {
			if (!named(ops, p->c[last].op->name))
				hu_str_addf(ops, "%s%s", ops->len ? "+" : "", p->c[last].op->name);
		}
		if (last > i)
			hu_str_addf(covers, last > i + 1 ? "%s%d-%d" : "%s%d", covers->len ? "," : "", i, last - 1);
	}
}

hu_pass *
hu_passes_of(const hu_session *s)
{
	int nc = s->programs.train->nc;
	hu_pass *pass = s->backend->pass ? hu_xcalloc((size_t)nc + 1, sizeof *pass) : NULL;

	for (int i = 0; pass && i <= nc; i++)
		pass[i] = s->backend->pass(s->train, i);
	return pass;
}

/* Returns what both have in common, or a word that says that they differ. */
static const char *
common(const char *a, const char *b)
{
	return !a || !strcmp(a, b) ? b : "several";
}

/* Adds the row of a pass. call is its first call; the number of calls stands for what is read back for the host. */
static void
add_pass(hu_tsv *t, const hu_session *s, const hu_pass *pass, int call)
{
	const hu_program *p = s->programs.train;
	const char *layer = NULL, *phase = NULL, *ran = NULL;
	hu_str covers, ops;
	int calls = 0;

	hu_str_init(&covers);
	hu_str_init(&ops);
	hu_pass_words(p, pass, call, &covers, &ops);
	for (int i = 0; i < p->nc; i++) {
		if (pass[i].first != call)
			continue;
		calls++;
		layer = layer && pass[i].chain ? layer : common(layer, p->c[i].layer);
		phase = common(phase, hu_phase_name(p->c[i].phase));
		if (s->backend->ran && s->backend->ran(s->train, i))
			ran = s->backend->ran(s->train, i);
	}
	if (calls)
		hu_tsv_int(t, call);
	else
		hu_tsv_none(t);
	hu_tsv_text(t, calls ? layer : "statistics");
	hu_tsv_text(t, calls ? phase : "-");
	hu_tsv_text(t, calls ? ops.s : "-");
	hu_tsv_int(t, calls);
	hu_tsv_text(t, calls ? covers.s : "-");
	hu_tsv_text(t, pass[call].name ? pass[call].name : "-");
	hu_tsv_int(t, pass[call].launches);
	hu_tsv_int(t, (long long)pass[call].bytes);
	hu_tsv_text(t, ran ? ran : "-");
	hu_str_release(&covers);
	hu_str_release(&ops);
}

hu_status
hu_passes_write(const hu_session *s, const char *dir)
{
	const hu_program *p = s->programs.train;
	hu_pass *pass = hu_passes_of(s);
	long launches = 0;
	double bytes = 0;
	hu_tsv t;

	if (!pass)
		return HU_OK;
	hu_tsv_init(&t);
	hu_tsv_note(&t, "table", "kernels");
	hu_tsv_note(&t, "halfulp", "%s", hu_build_version());
	hu_tsv_note(&t, "model", "%s", s->config->model);
	hu_tsv_note(&t, "policy", "%s", s->config->policy.name);
	hu_tsv_note(&t, "backend", "%s", s->backend->name);
	hu_tsv_header(&t, "call layer phase op calls covers pass launches bytes ran");
	for (int i = 0; i <= p->nc; i++)
		if (i == p->nc || pass[i].first == i) {
			add_pass(&t, s, pass, i);
			launches += pass[i].launches;
			bytes += pass[i].bytes;
		}
	hu_tsv_none(&t);
	hu_tsv_text(&t, "all");
	hu_tsv_none(&t);
	hu_tsv_none(&t);
	hu_tsv_int(&t, p->nc);
	hu_tsv_none(&t);
	hu_tsv_none(&t);
	hu_tsv_int(&t, launches);
	hu_tsv_int(&t, (long long)bytes);
	hu_tsv_none(&t);
	free(pass);
	char *path = hu_path(dir, "kernels.tsv");
	hu_status st = hu_file_write(path, t.text.s, t.text.len);
	free(path);
	hu_tsv_release(&t);
	return st;
}
