/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/baseline/baseline_program.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/program/differ/describe.h"
#include "lib/store/run.h"

#include <stdlib.h>
#include <string.h>

static void
add_program(hu_baseline *b, const hu_program *p)
{
	size_t n;
	hu_program_part *part = hu_program_describe(p, &n);

	for (size_t i = 0; i < n; i++) {
		char *key = hu_xprintf("program/%s/%s", p->name, part[i].key);
		hu_baseline_add(b, key, part[i].text, HU_SIDE_BOTH, HU_FP64);
		b->q[b->n - 1].call = part[i].call; /* not in the text: a call in front of it would change it */
		free(key);
	}
	hu_program_parts_free(part, n);
}

void
hu_baseline_collect_programs(hu_baseline *b, const hu_run *r)
{
	add_program(b, r->train);
	if (r->eval)
		add_program(b, r->eval);
}

int
hu_is_program_row(const char *key)
{
	return !strncmp(key, "program/", 8);
}

const hu_baseline_quantity *
hu_program_row_of(const hu_baseline *b, const char *tensor)
{
	char *word = hu_xprintf(" %s=", tensor);
	const hu_baseline_quantity *row = NULL;

	/* Rows are named after the first thing that a call makes */
	for (size_t i = 0; i < b->n && !row; i++)
		if (!strncmp(b->q[i].key, "program/train/", 14) && strstr(b->q[i].text, word))
			row = &b->q[i];
	free(word);
	return row;
}

hu_format_id
hu_program_row_format(const hu_baseline *b, const char *tensor)
{
	const hu_baseline_quantity *row = hu_program_row_of(b, tensor);
	const char *at = NULL;
	char *word = hu_xprintf(" %s=", tensor);
	hu_format_id f = HU_NO_FORMAT;

	if (row && (at = strstr(row->text, word)) != NULL) {
		char *name = hu_xprintf("%.*s", (int)strcspn(at + strlen(word), "["), at + strlen(word));
		if (hu_format_find(name, &f) != HU_OK)
			f = HU_NO_FORMAT;
		free(name);
	}
	free(word);
	return f;
}

char *
hu_program_row_change(const hu_finding *f)
{
	const hu_baseline_quantity *q = f->got ? f->got : f->want;
	size_t n = strcspn(q->text, " ");
	hu_str s;

	n += q->text[n] ? 1 + strcspn(q->text + n + 1, " ") : 0;
	hu_str_init(&s);
	hu_str_addf(&s, "%.*s ", (int)strcspn(q->key + 8, "/"), q->key + 8);
	if (f->got && f->got->call >= 0)
		hu_str_addf(&s, "call %d ", f->got->call);
	hu_str_addn(&s, q->text, n);
	hu_str_add(&s, !f->want ? " is new" : !f->got ? " is gone" : ": ");
	if (f->want && f->got)
		hu_describe_change(&s, f->want->text, f->got->text);
	return s.s;
}

/* The step in a key of a table of traced steps, NULL in any other; *n: its digits. */
static const char *
step_in(const char *key, size_t *n)
{
	const char *slash = strchr(key, '/');

	if (!slash || hu_is_program_row(key) || !strncmp(key, "metrics/", 8) || !strncmp(key, "exercise/", 9))
		return NULL;
	*n = strspn(slash + 1, "0123456789");
	return *n && slash[1 + *n] == '/' ? slash + 1 : NULL;
}

static int
has_step(const hu_baseline *b, const char *step, size_t n)
{
	size_t m;

	for (size_t i = 0; i < b->n; i++) {
		const char *s = step_in(b->q[i].key, &m);
		if (s && m == n && !strncmp(s, step, n))
			return 1;
	}
	return 0;
}

static int
has(const hu_baseline *b, const char *table)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strncmp(b->q[i].key, table, strlen(table)))
			return 1;
	return 0;
}

/* Returns 1 where the folder RUN has a trace of the step. */
static int
traced(const char *run, const char *step)
{
	size_t *steps = NULL, at = strtoull(step, NULL, 10);
	int n = 0, found = 0;

	if (run && hu_run_list_steps(run, "trace", &steps, &n) != HU_OK)
		n = 0; /* the sentence that asks goes on without a hint */
	for (int i = 0; i < n; i++)
		found |= steps[i] == at;
	free(steps);
	return found;
}

void
hu_missing_steps(hu_str *s, const hu_baseline *want, const hu_baseline *got, const char *run)
{
	const char *last = NULL;
	size_t n, before = 0;

	for (size_t i = 0; i < want->n; i++) {
		const char *step = step_in(want->q[i].key, &n);
		if (!step || (last && n == before && !strncmp(step, last, n)))
			continue;
		last = step;
		before = n;
		if (has_step(got, step, n))
			continue;
		int width = (int)n;
		char *line = traced(run, step)
				     ? hu_xprintf("step %.*s was analyzed in the baseline and not in this run, which "
						  "traced it: halfulp analyze %s\n",
					       width, step, hu_shown(run))
				     : hu_xprintf("step %.*s was traced in the baseline and not in this run: train "
						  "with --trace steps=%.*s\n",
					       width, step, width, step);
		if (!strstr(s->s, line))
			hu_str_add(s, line);
		free(line);
	}
	if (has(want, "exercise/") && !has(got, "exercise/"))
		hu_str_add(s, "the baseline has an exercise and this run has none: train with --exercise\n");
}
