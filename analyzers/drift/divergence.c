/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/divergence.h"

#include "lib/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Compares one checkpoint of both; trainable tensors first, since moments follow from them. */
static hu_status
compare(hu_divergence *found, const hu_run *r, const hu_run *s, size_t step)
{
	const hu_program *p = r->train, *q = s->train;
	hu_tensor *x, *y = NULL;

	HU_TRY(hu_run_read_state(r, p, (long)step, &x));
	hu_status st = hu_run_read_state(s, q, (long)step, &y);
	for (int trainable = 1; trainable >= 0 && st == HU_OK && !found->apart.differ; trainable--)
		for (int i = 0; i < p->nt && !found->apart.differ; i++) {
			int k = x[i].data && p->t[i].trainable == trainable ? hu_program_find(q, p->t[i].name) : -1;
			if (k >= 0 && y[k].data && y[k].n == x[i].n)
				*found = (hu_divergence){ step, i, 1, hu_apart_of(&x[i], &y[k]) };
		}
	hu_run_free_state(p, x);
	if (y)
		hu_run_free_state(q, y);
	return st;
}

hu_status
hu_divergence_of_states(hu_divergence *found, const hu_run *r, const hu_run *s)
{
	size_t *a, *b;
	int na, nb;
	hu_status st = hu_run_list_steps(r->dir, "checkpoint", &a, &na),
		  other = hu_run_list_steps(s->dir, "checkpoint", &b, &nb);

	st = st == HU_OK ? other : st;
	for (int i = 0; i < na && st == HU_OK && !found->apart.differ; i++)
		for (int k = 0; k < nb && st == HU_OK; k++)
			if (a[i] == b[k])
				st = compare(found, r, s, a[i]);
	free(a);
	free(b);
	return st;
}

/* Whether the settings that differ have NAME among them. */
static const char *
setting(const hu_run_comparison *c, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = c->settings.s; *at; at += strcspn(at, "\n") + 1)
		if (!strncmp(at, name, n) && at[n] == ':')
			return at;
	return NULL;
}

static int
is_of_machine(const char *line)
{
	static const char *const machine[] = { "halfulp_version", "compiler", "device", "simd", "backend" };

	for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
		if (!strncmp(line, machine[i], strlen(machine[i])))
			return 1;
	return 0;
}

static void
add_cause(hu_str *s, const hu_divergence *p, const hu_run_comparison *c, const hu_run *r)
{
	const char *data = setting(c, "digest"), *seed = setting(c, "seed"), *option = NULL, *machine = NULL;
	const hu_info *t = p->apart.differ ? &r->train->t[p->tensor] : NULL;

	for (const char *line = c->settings.s; *line; line += strcspn(line, "\n") + 1) {
		const char **to = is_of_machine(line) ? &machine : &option;
		*to = *to ? *to : line;
	}
	option = data ? data : seed ? seed : option;
	if (option)
		hu_str_addf(s, "%s: %.*s",
			option == data   ? "other data"
			: option == seed ? "another seed"
				       : "another setting",
			(int)strcspn(option, "\n"), option);
	if (c->nprogram)
		hu_str_addf(s, "%s%.*s", option ? ", which makes another program: " : "another program: ",
			(int)strcspn(c->program.s, "\n"), c->program.s);
	if (option || c->nprogram)
		return;
	if (machine)
		hu_str_addf(s, "another version or machine: %.*s", (int)strcspn(machine, "\n"), machine);
	else if (t && !p->checkpoint && t->producer < 0)
		hu_str_addf(s, t->state ? "other weights to begin with, since settings and programs are the same"
					: "other input data, since settings and programs are the same");
	else if (t && !p->checkpoint)
		hu_str_addf(s,
			"the arithmetic of call %d, since settings, programs and all tensors recorded before it "
			"are the same",
			t->producer);
	else
		hu_str_add(s,
			"the arithmetic of a call, or other weights to begin with, since settings and programs are "
			"the same; traces of one step in both runs would say which");
}

char *
hu_divergence_text(const hu_divergence *p, const hu_run_comparison *c, const hu_run *r, long long step, int rows)
{
	hu_str s;

	hu_str_init(&s);
	if (p->apart.differ) {
		const hu_info *t = &r->train->t[p->tensor];
		const hu_call *call = t->producer >= 0 ? &r->train->c[t->producer] : NULL;
		hu_str_addf(&s, p->checkpoint ? "checkpoint before step %zu, " : "step %zu, ", p->step);
		if (call)
			hu_str_addf(&s, "call %d (%s, layer %s), ", call->id, call->op->name, call->layer);
		hu_str_addf(&s, "tensor %s: ", t->name);
		hu_apart_text(&s, &p->apart);
	}
	if (step >= 0)
		hu_str_addf(&s, "%sstep %lld is the first of %d whose state differs", s.len ? "; " : "", step, rows);
	else if (!s.len && c->evaluation >= 0)
		hu_str_addf(&s, "the states are the same, and the evaluation behind step %lld differs: %s %.9g -> %.9g",
			c->evaluation, c->column, c->a, c->b);
	else if (!s.len)
		hu_str_addf(&s, "the states of all %d common steps are the same", rows);
	hu_str_add(&s, ". Most likely cause: ");
	add_cause(&s, p, c, r);
	return s.s;
}
