/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/run_compare.h"

#include "lib/base/console/spec.h"
#include "lib/program/differ/describe.h"

#include <stdlib.h>
#include <string.h>

/* A run's settings outside of its configuration. */
static const char *const environment[] = { "halfulp_version", "compiler", "device", "simd", "accumulate", "policy",
	"loss_scaling", "loss_weight", "dataset", NULL };

static char *
text_of(const json_t *v)
{
	return v ? json_dumps(v, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
}

static void
setting(hu_run_comparison *c, const char *name, const json_t *x, const json_t *y)
{
	char *a, *b;
	const char *key;
	json_t *v;

	if (!x && !y)
		return;
	if (json_is_object(x) && json_is_object(y)) { /* what of it differs */
		json_object_foreach((json_t *)(size_t)x, key, v) setting(c, key, v, json_object_get(y, key));
		json_object_foreach((json_t *)(size_t)y, key, v) if (!json_object_get(x, key)) setting(c, key, NULL, v);
		return;
	}
	a = text_of(x);
	b = text_of(y);
	if (!a || !b || strcmp(a, b)) {
		hu_str_addf(&c->settings, "%s: %s and %s\n", name, a ? a : "nothing", b ? b : "nothing");
		c->nsettings++;
	}
	free(a);
	free(b);
}

/* Whether an option of the training is compared: how much was traced changes no number, and of what the manifest also
   has as it was used (the sum that an absent --accumulate stands for) that is reported, once. */
static int
is_compared(const char *option)
{
	int twice = !strncmp(option, "trace", 5);

	for (int i = 0; environment[i]; i++)
		twice |= !strcmp(option, environment[i]);
	return !twice;
}

/* Options of the training, and what it ran on. */
static void
settings(hu_run_comparison *c, const hu_run *a, const hu_run *b)
{
	const json_t *x = json_object_get(a->manifest, "config"), *y = json_object_get(b->manifest, "config");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(size_t)x, key, v) if (is_compared(key))
		setting(c, hu_spec_setting(key), v, json_object_get(y, key));
	json_object_foreach((json_t *)(size_t)y, key, v) if (is_compared(key) && !json_object_get(x, key))
		setting(c, hu_spec_setting(key), NULL, v);
	for (int i = 0; environment[i]; i++)
		setting(c, environment[i], json_object_get(a->manifest, environment[i]),
			json_object_get(b->manifest, environment[i]));
}

static void
programs(hu_run_comparison *c, const char *name, const hu_program *was, const hu_program *is)
{
	hu_str lines;

	if (!was || !is)
		return;
	hu_str_init(&lines);
	c->nprogram += hu_program_compare(&lines, was, is);
	for (const char *at = lines.s; *at; at += strcspn(at, "\n") + 1)
		hu_str_addf(&c->program, "%s: %.*s\n", name, (int)strcspn(at, "\n"), at);
	hu_str_release(&lines);
}

static hu_status
read_metrics(hu_table *t, const hu_run *r)
{
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_status st = hu_table_read(t, path);

	free(path);
	return st;
}

static hu_status
evaluations(hu_run_comparison *c, const hu_run *a, const hu_run *b)
{
	static const char *const columns[] = { "eval_loss", "eval_accuracy", "eval_precision", "eval_recall" };
	hu_table x, y;

	HU_TRY(read_metrics(&x, a));
	hu_status st = read_metrics(&y, b);
	for (int row = 0; st == HU_OK && row < x.rows && row < y.rows && c->evaluation < 0; row++)
		for (size_t k = 0; k < sizeof columns / sizeof *columns && c->evaluation < 0; k++) {
			int p = hu_table_column(&x, columns[k]), q = hu_table_column(&y, columns[k]);
			const char *was = hu_table_cell(&x, row, p), *is = hu_table_cell(&y, row, q);
			if (!strcmp(was, is) || !strcmp(was, "-") || !strcmp(is, "-"))
				continue;
			c->evaluation = (long long)hu_table_real(&x, row, hu_table_column(&x, "step"));
			snprintf(c->column, sizeof c->column, "%s", columns[k]);
			c->a = hu_table_real(&x, row, p);
			c->b = hu_table_real(&y, row, q);
		}
	hu_table_release(&x);
	if (st == HU_OK)
		hu_table_release(&y);
	return st;
}

static const char *
model_of(const hu_run *r)
{
	const char *model = json_string_value(json_object_get(r->manifest, "model"));

	return model ? model : "none";
}

/* Runs of two models, or of one in two sizes, have no tensors to compare. */
static hu_status
comparable(const hu_run *a, const hu_run *b)
{
	if (strcmp(model_of(a), model_of(b)))
		return hu_fail(HU_EFILE,
			"%s trains the model %s and %s the model %s: two models have no calls in common; compare two "
			"runs of "
			"one model",
			a->dir, model_of(a), b->dir, model_of(b));
	for (int i = 0; i < a->train->nt; i++) {
		const hu_info *t = &a->train->t[i];
		int k = t->trainable ? hu_program_find(b->train, t->name) : -1;
		if (k < 0 || hu_same_shape(t->shape, b->train->t[k].shape))
			continue;
		return hu_fail(HU_EFILE,
			"%s and %s train %s in two sizes: %s has %zu weights in the one and %zu in the other; compare "
			"two "
			"runs of one size",
			a->dir, b->dir, model_of(a), t->name, hu_count(t->shape), hu_count(b->train->t[k].shape));
	}
	return HU_OK;
}

static void
traced(hu_run_comparison *c, const hu_run *a, const hu_run *b)
{
	for (int i = 0; i < a->nstep && c->traced < 0; i++) {
		int there = 0;
		for (int k = 0; k < b->nstep; k++)
			there |= a->step[i] == b->step[k];
		if (!there)
			c->traced = (long long)a->step[i];
	}
}

hu_status
hu_run_compare(hu_run_comparison *c, const hu_run *a, const hu_run *b)
{
	memset(c, 0, sizeof *c);
	hu_str_init(&c->settings);
	hu_str_init(&c->program);
	c->evaluation = c->traced = -1;
	hu_status st = comparable(a, b);
	if (st == HU_OK)
		st = evaluations(c, a, b);
	if (st == HU_OK) {
		settings(c, a, b);
		programs(c, "train", a->train, b->train);
		programs(c, "eval", a->eval, b->eval);
		traced(c, a, b);
	} else {
		hu_run_comparison_release(c);
	}
	return st;
}

void
hu_run_comparison_release(hu_run_comparison *c)
{
	hu_str_release(&c->settings);
	hu_str_release(&c->program);
}
