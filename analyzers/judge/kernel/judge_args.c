/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/judge_args.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hu_status
hu_judge_words(const char *text, hu_status (*each)(void *of, const char *word), void *of)
{
	char *copy = hu_xstrdup(text), *save = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(copy, " \t\n", &save); s && st == HU_OK; s = strtok_r(NULL, " \t\n", &save))
		st = each(of, s);
	free(copy);
	return st;
}

/* Declares a preset of a composite, KEY= or KEY=VALUE. */
static hu_status
preset(void *of, const char *word)
{
	hu_kernel_job *j = of;
	char key[64];
	const char *eq = strchr(word, '=');

	snprintf(key, sizeof key, "%.*s", (int)(eq - word), word);
	hu_facts_set(&j->facts, key, eq + 1);
	return HU_OK;
}

/* A kernel with several results may have other formats for each: out.NAME. */
static void
open_formats(hu_kernel_job *j)
{
	const char *at = j->results;

	for (size_t n; *at && strchr(j->results, ' '); at += n, at += strspn(at, "? ")) {
		char key[64];
		n = strcspn(at, " ?");
		snprintf(key, sizeof key, "out.%.*s", (int)n, at);
		hu_facts_set(&j->facts, key, "");
	}
}

/* Gives $NAME of a text's graph an empty value, so that it may be declared. */
static void
open_facts(hu_kernel_job *j)
{
	for (int i = 0; i < j->graph.nc; i++)
		for (int k = 0; k < j->graph.call[i].nkey; k++) {
			const char *v = j->graph.call[i].key[k].value;
			if (*v == '$' && !hu_facts_text(&j->facts, v + 1))
				hu_facts_set(&j->facts, v + 1, "");
		}
}

static hu_status
unknown_fact(const hu_kernel_job *j, const char *word, const char *key)
{
	const char *names[64], *near;
	size_t n = 0;
	hu_str all;

	hu_str_init(&all);
	for (int i = 0; i < j->facts.n && n < 64; i++) {
		const char *name = j->facts.fact[i].key;
		int twice = 0;
		for (size_t k = 0; k < n; k++)
			twice |= !strcmp(names[k], name);
		if (twice)
			continue;
		names[n++] = name;
		hu_str_addf(&all, " %s", name);
	}
	near = hu_nearest(key, names, n);
	hu_status st = hu_fail(HU_EINVAL, "--set %s: %s has no fact '%s'%s%s; it has:%s", hu_shown(word), j->name,
		hu_shown(key), near ? "; did you mean " : "", near ? near : "", all.s);
	hu_str_release(&all);
	return st;
}

hu_status
hu_judge_declare(void *job, const char *word)
{
	hu_kernel_job *j = job;
	const char *eq = strchr(word, '=');
	char key[64];

	if (!eq || eq == word || eq - word > 60)
		return hu_fail(HU_EINVAL, "--set %s: KEY=VALUE is needed, such as p=bf16", hu_shown(word));
	snprintf(key, sizeof key, "%.*s", (int)(eq - word - (eq[-1] == '>')), word);
	if (!hu_facts_text(&j->facts, key))
		return unknown_fact(j, word, key);
	if (!eq[1])
		return hu_fail(HU_EINVAL, "--set %s: a value is needed after the =", hu_shown(word));
	hu_facts_set(&j->facts, key, eq + 1);
	return HU_OK;
}

/* Whether NAME is one of a list of names, each with a question mark or without. 2: it may be left out. */
static int
listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = list; s && *s; s += strcspn(s, " "), s += *s == ' ')
		if (!strncmp(s, name, n) && (!s[n] || s[n] == ' ' || s[n] == '?' || s[n] == ':'))
			return s[n] == '?' ? 2 : 1;
	return 0;
}

static int
is_result(const hu_kernel_job *j, int id)
{
	if (j->program)
		return j->program->t[id].producer >= 0;
	for (int i = 0; i < j->graph.nc; i++)
		for (int k = 0; k < j->graph.call[i].nout; k++)
			if (j->graph.call[i].out[k] == id)
				return 1;
	return 0;
}

/* NAME=FILE names no value of the graph, and is no file either. */
static hu_status
no_value(const hu_kernel_job *j, const char *option, const char *spec, const char *name)
{
	enum { MOST = 24 }; /* a program may have thousands */
	hu_str all;
	int n = 0;

	hu_str_init(&all);
	for (int i = 0; i < j->graph.n && n < MOST; i++)
		if (is_result(j, i) && n++ < MOST)
			hu_str_addf(&all, " %s", hu_shown(j->graph.name[i]));
	hu_status st = hu_fail(HU_EINVAL, "--%s %s: %s computes no '%s'; it computes:%s%s", option, hu_shown(spec),
		j->name, hu_shown(name), all.s, n < MOST ? "" : " and more");
	hu_str_release(&all);
	return st;
}

/* Reads NAME=FILE, or FILE for the first of the list. */
static hu_status
array(hu_kernel_job *j, const char *option, const char *spec, int operands, hu_judge_array *to,
	const hu_judge_array *had, int nhad)
{
	const char *eq = strchr(spec, '='),
		   *list = operands ? j->composite ? j->composite->operands : NULL : j->results;
	const char *path = spec;

	if (eq && eq - spec < (ptrdiff_t)sizeof to->name) {
		snprintf(to->name, sizeof to->name, "%.*s", (int)(eq - spec), spec);
		to->id = hu_kernel_value(j, to->name, operands);
		if (to->id >= 0)
			path = eq + 1;
	} else {
		eq = NULL;
	}
	if (path == spec && !operands && eq && access(spec, F_OK))
		return no_value(j, option, spec, to->name);
	if (path == spec && !operands) {
		snprintf(to->name, sizeof to->name, "%.*s", (int)strcspn(list, " ?"), list);
		to->id = hu_kernel_value(j, to->name, operands);
	}
	if (path == spec && operands)
		return hu_fail(HU_EINVAL, "--%s %s: %s=FILE is needed, where %s is one of: %s", option, hu_shown(spec),
			"NAME", "NAME", list ? list : "the graph's operands");
	if (operands ? is_result(j, to->id) : !is_result(j, to->id) && !hu_kernel_is_passed_on(j, to->id))
		return hu_fail(HU_EINVAL, "--%s %s: the graph %s '%s'", option, hu_shown(spec),
			operands ? "computes" : "does not compute", to->name);
	for (int i = 0; i < nhad; i++)
		if (had[i].id == to->id)
			return hu_fail(HU_EINVAL, "--%s %s: '%s' is there twice", option, hu_shown(spec), to->name);
	HU_TRY(j->sample && !hu_npz_is(path) && !strchr(path, ':') ? hu_npy_map(&to->a, path)
								   : hu_npz_pick(&to->a, path));
	if (to->a.rank <= HU_BALLS_RANK && to->a.count)
		return HU_OK;
	hu_status st = hu_fail(HU_EFILE,
		"--%s %s: the array has %d axes and %zu elements: up to %d axes and one element or "
		"more are needed",
		option, hu_shown(spec), to->a.rank, to->a.count, HU_BALLS_RANK);
	hu_npy_release(&to->a);
	return st;
}

static hu_status
arrays(hu_kernel_job *j, const hu_args *args)
{
	const char *s;

	for (int i = 0; (s = hu_args_nth(args, "in", i)); i++) {
		if (j->nin == HU_JUDGE_ARRAYS)
			return hu_fail(HU_EINVAL, "--in %s: too many arrays", hu_shown(s));
		HU_TRY(array(j, "in", s, 1, &j->in[j->nin], j->in, j->nin));
		j->nin++;
	}
	for (int i = 0; (s = hu_args_nth(args, "got", i)); i++) {
		if (j->program && hu_npz_is(s)) /* hu_kernel_program has read it */
			continue;
		if (j->ngot == HU_GRAPH_OUT)
			return hu_fail(HU_EINVAL, "--got %s: too many arrays", hu_shown(s));
		HU_TRY(array(j, "got", s, 0, &j->got[j->ngot], j->got, j->ngot));
		j->ngot++;
	}
	for (int i = 0; (s = hu_args_nth(args, "given", i)); i++) {
		if (j->ngiven == HU_JUDGE_ARRAYS)
			return hu_fail(HU_EINVAL, "--given %s: too many arrays", hu_shown(s));
		HU_TRY(array(j, "given", s, 0, &j->given[j->ngiven], j->given, j->ngiven));
		j->ngiven++;
	}
	if (!j->ngot)
		return hu_fail(HU_EINVAL, "--got FILE is missing: the kernel's result is needed");
	for (int i = 0; i < j->graph.n && !j->program; i++) {
		int have = is_result(j, i);
		for (int k = 0; k < j->nin && !have; k++)
			have = j->in[k].id == i;
		if (!have && !(j->composite && listed(j->composite->operands, j->graph.name[i]) == 2))
			return hu_fail(HU_EINVAL, "--in %s=FILE is missing: the graph reads it", j->graph.name[i]);
	}
	return HU_OK;
}

hu_status
hu_kernel_job_open(hu_kernel_job *j, const hu_args *args)
{
	const char *s;

	memset(j, 0, sizeof *j);
	hu_facts_init(&j->facts);
	if (args->nrest != 1)
		return hu_fail(HU_EINVAL, "one kernel is needed, by name or as a graph such as 'y = softmax(x)'");
	j->name = args->rest[0];
	if (hu_args_text(args, "sample")) {
		long long n, seed;
		HU_TRY(hu_args_int(args, "sample", 1, 1LL << 40, &n));
		HU_TRY(hu_args_int(args, "seed", 0, LLONG_MAX, &seed));
		j->sample = (size_t)n;
		j->seed = (uint64_t)seed;
	}
	if (hu_kernel_is_program(j->name)) {
		HU_TRY(hu_kernel_program(j, j->name, args));
	} else if (strchr(j->name, '=')) {
		HU_TRY(hu_graph_parse(&j->graph, j->name));
		const hu_ball_call *c = &j->graph.call[j->graph.nc - 1];
		j->last = hu_xstrdup(j->graph.name[c->out[0]]);
		j->results = j->last;
		j->name = "the graph";
		open_facts(j);
	} else {
		HU_TRY(hu_composite_find(j->name, &j->composite));
		HU_TRY(hu_graph_parse(&j->graph, j->composite->graph));
		HU_TRY(hu_judge_words(j->composite->facts, preset, j));
		j->results = j->composite->results;
		open_formats(j);
	}
	for (int i = 0; (s = hu_args_nth(args, "set", i)); i++)
		HU_TRY(hu_judge_words(s, hu_judge_declare, j));
	j->culprit = !hu_args_given(args, "no-culprit");
	j->exact = hu_args_text(args, "exact");
	j->bound = hu_args_text(args, "bound");
	j->bits = hu_args_given(args, "bits");
	HU_TRY(hu_args_real(args, "confidence", 0, 1, &j->confidence));
	if (!(j->confidence > 0 && j->confidence < 1))
		return hu_fail(HU_EINVAL, "--confidence %s: a probability between 0 and 1 is needed, such as 0.999999",
			hu_args_text(args, "confidence"));
	return arrays(j, args);
}
