/* SPDX-License-Identifier: Apache-2.0
   One table of fields serves both the command line and the manifest. */
#include "trainer/run/config.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/console/spec.h"
#include "lib/base/str.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { TEXT, WHOLE, REAL } kind;

/* A command's option table has some of these fields, by the option's or key's name; the manifest has them all, by
   name. Bounds hold for numbers. */
static const struct field {
	const char *option, *name;
	kind kind;
	size_t at;
	double min, max;
} fields[] = {
#define OPTION(kind, member, name, min, max, argument, def, help)                                                      \
	{ name, name, kind, offsetof(hu_config, member), min, max },
#define KEY(kind, member, option, name, min, max, argument, def, help)                                                 \
	{ option, name, kind, offsetof(hu_config, member), min, max },
#include "trainer/run/options_model.def"
#define OPTION(kind, member, name, min, max, argument, def, help)                                                      \
	{ name, name, kind, offsetof(hu_config, member), min, max },
#define KEY(kind, member, option, name, min, max, argument, def, help)                                                 \
	{ option, name, kind, offsetof(hu_config, member), min, max },
#include "trainer/run/options_run.def"
	{ "seed", "seed", WHOLE, offsetof(hu_config, seed), 0, 0x1p53 },
};

enum { FIELDS = sizeof fields / sizeof *fields };

static char **
text_at(hu_config *c, const struct field *f)
{
	return (char **)((char *)c + f->at);
}
static double *
real_at(hu_config *c, const struct field *f)
{
	return (double *)((char *)c + f->at);
}
static size_t *
whole_at(hu_config *c, const struct field *f)
{
	return (size_t *)((char *)c + f->at);
}

static const struct preset {
	const char *name, *model, *options;
} presets[] = {
#define PRESET(name, model, options, summary) { name, model, options },
#include "trainer/model/presets.def"
#undef PRESET
};

static void
nothing_said(hu_config *c)
{
	memset(c, 0, sizeof *c);
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].kind == REAL)
			*real_at(c, &fields[i]) = NAN;
}

void
hu_config_release(hu_config *c)
{
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].kind == TEXT)
			free(*text_at(c, &fields[i]));
	free(c->policy_text);
	memset(c, 0, sizeof *c);
}

static hu_status
find_preset(const hu_args *a, const struct preset **out)
{
	const char *name = hu_args_has(a, "model:preset") ? hu_args_text(a, "model:preset") : NULL,
		   *names[sizeof presets / sizeof *presets];

	*out = NULL;
	for (size_t i = 0; name && i < sizeof presets / sizeof *presets; i++) {
		names[i] = presets[i].name;
		if (!strcmp(name, presets[i].name))
			*out = &presets[i];
	}
	if (name && !*out) {
		const char *near = hu_nearest(name, names, sizeof presets / sizeof *presets);
		return near ? hu_fail(HU_EINVAL, "unknown preset '%s'; did you mean %s", name, near)
			    : hu_fail(HU_EINVAL, "unknown preset '%s'; there are"
#define PRESET(name, model, options, summary) " " name
#include "trainer/model/presets.def"
#undef PRESET
				      ,
				      name);
	}
	if (*out && hu_args_given(a, "model") && strcmp(hu_args_text(a, "model"), (*out)->model))
		return hu_fail(HU_EINVAL, "--model preset=%s is of the model %s, not of %s", name, (*out)->model,
			hu_args_text(a, "model"));
	return HU_OK;
}

/* Fills the fields that the line does not give and the preset does. */
static void
take_preset(hu_config *c, const hu_args *a, const struct preset *p)
{
	char *words = hu_xprintf("model=%s %s", p->model, p->options), *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		int k = 0;
		*value++ = 0;
		while (k < FIELDS && strcmp(fields[k].name, w))
			k++;
		HU_ASSERT(k < FIELDS);
		if (!hu_args_has(a, fields[k].option) || hu_args_given(a, fields[k].option))
			continue;
		if (fields[k].kind == TEXT) {
			free(*text_at(c, &fields[k]));
			*text_at(c, &fields[k]) = hu_xstrdup(value);
		} else if (fields[k].kind == REAL)
			*real_at(c, &fields[k]) = strtod(value, NULL);
		else
			*whole_at(c, &fields[k]) = strtoull(value, NULL, 10);
	}
	free(words);
}

static hu_status
read_args(hu_config *c, const hu_args *a)
{
	const struct preset *preset;

	HU_TRY(find_preset(a, &preset));
	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		long long n;
		const char *s = hu_args_has(a, f->option) ? hu_args_text(a, f->option) : NULL;
		if (!s)
			continue;
		if (f->kind == TEXT)
			*text_at(c, f) = hu_xstrdup(s);
		else if (f->kind == REAL)
			HU_TRY(hu_args_real(a, f->option, f->min, f->max, real_at(c, f)));
		else {
			HU_TRY(hu_args_int(a, f->option, (long long)f->min, (long long)f->max, &n));
			*whole_at(c, f) = (size_t)n;
		}
	}
	if (preset)
		take_preset(c, a, preset);
	return HU_OK;
}

/* Refuses texts that the manifest could not hold because they cannot be printed: better before a training than after
   it. */
static hu_status
printable(hu_config *c)
{
	for (int i = 0; i < FIELDS; i++)
		if (fields[i].kind == TEXT && *text_at(c, &fields[i]) && !hu_plain(*text_at(c, &fields[i]))) {
			hu_str row;
			hu_str_init(&row);
			hu_spec_say(&row, fields[i].option);
			hu_fail(HU_EINVAL,
				"%s%s%s: a run cannot record characters that are not printed: rename the file or a "
				"folder above it",
				row.s, strchr(row.s, '=') ? "" : " ", *text_at(c, &fields[i]));
			hu_str_release(&row);
			return HU_EINVAL;
		}
	return HU_OK;
}

hu_status
hu_config_from_args(hu_config *c, const hu_args *a, const char *policy)
{
	nothing_said(c);
	hu_status st = read_args(c, a);
	if (st == HU_OK && policy) {
		c->policy_text = hu_xstrdup(policy);
		st = hu_policy_parse(c->policy_text, &c->policy);
	}
	if (st == HU_OK)
		st = hu_config_settle(c);
	if (st == HU_OK)
		st = printable(c);
	if (st != HU_OK)
		hu_config_release(c);
	return st;
}

static hu_status
read_json(hu_config *c, const json_t *manifest)
{
	const json_t *j = json_object_get(manifest, "config");

	if (!json_is_object(j))
		return hu_fail(HU_EFILE, "manifest.json: no \"config\"");
	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		const json_t *v = json_object_get(j, f->name);
		if (!v)
			continue;
		double x = json_number_value(v);
		if (f->kind == TEXT ? !json_is_string(v) : !json_is_number(v) || !(x >= f->min && x <= f->max))
			return hu_fail(
				HU_EFILE, "manifest.json: config: %s is of the wrong type or out of range", f->name);
		if (f->kind == TEXT)
			*text_at(c, f) = hu_xstrdup(json_string_value(v));
		else if (f->kind == REAL)
			*real_at(c, f) = x;
		else
			*whole_at(c, f) = (size_t)json_integer_value(v);
	}
	if (!c->model || !c->data || !c->backend || !c->trace || !c->trace_steps || isnan(c->width) ||
		isnan(c->loss_weight) || isnan(c->trace_cap))
		return hu_fail(HU_EFILE, "manifest.json: config: a key is missing");
	HU_TRY(hu_policy_from_json(json_object_get(manifest, "policy"), &c->policy));
	c->policy_text = hu_xstrdup(c->policy.name);
	if (hu_config_settle(c) == HU_OK)
		return HU_OK;
	char *why = hu_xstrdup(hu_reason());
	hu_fail(HU_EFILE, "manifest.json: config: %s", why);
	free(why);
	return HU_EFILE;
}

hu_status
hu_config_from_json(hu_config *c, const json_t *manifest)
{
	nothing_said(c);
	hu_status st = read_json(c, manifest);
	if (st != HU_OK)
		hu_config_release(c);
	return st;
}

hu_status
hu_config_resumed(hu_config *c, const json_t *manifest, const hu_args *a)
{
	HU_TRY(hu_config_from_json(c, manifest));
	if (hu_args_given(a, "backend")) {
		free(c->backend);
		c->backend = hu_xstrdup(hu_args_text(a, "backend"));
	}
	return HU_OK;
}

json_t *
hu_config_to_json(const hu_config *config)
{
	hu_config *c = (hu_config *)(size_t)config;
	json_t *j = json_object();

	for (int i = 0; i < FIELDS; i++) {
		const struct field *f = &fields[i];
		if (f->kind == TEXT && *text_at(c, f))
			json_object_set_new(j, f->name, json_string(*text_at(c, f)));
		else if (f->kind == REAL && isfinite(*real_at(c, f)))
			json_object_set_new(j, f->name, json_real(*real_at(c, f)));
		else if (f->kind == WHOLE && (*whole_at(c, f) || f->min == 0))
			json_object_set_new(j, f->name, json_integer((json_int_t)*whole_at(c, f)));
	}
	return j;
}

const char *
hu_config_option(const char *name)
{
	for (int i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return fields[i].option;
	return name;
}

const char *
hu_config_given(const hu_args *a)
{
	for (int i = 0; i < FIELDS; i++)
		if (hu_args_has(a, fields[i].option) && hu_args_given(a, fields[i].option) &&
			fields[i].at != offsetof(hu_config, backend))
			return fields[i].option;
	return hu_args_given(a, "policy") ? "policy" : NULL;
}

hu_status
hu_config_dataset(const hu_config *c, int dimensions_only, hu_dataset *ds)
{
	hu_dataset_options o = { .size = c->size,
		.channels = c->channels,
		.classes = c->classes,
		.length = c->length,
		.word_pieces = c->word_pieces,
		.users = c->users,
		.items = c->items,
		.train = c->train,
		.eval = c->eval,
		.split = c->split,
		.seed = c->data_seed,
		.reads = c->row->inputs,
		.dimensions_only = dimensions_only };

	HU_TRY(hu_dataset_open(ds, c->data, &o));
	hu_status st = hu_input_check(c->row->name, c->row->inputs, ds);
	if (st == HU_OK)
		st = hu_augment_check(&c->augmentation, ds);
	if (st != HU_OK)
		hu_dataset_release(ds);
	return st;
}

size_t
hu_config_steps(const hu_config *c, const hu_dataset *ds)
{
	return c->steps ? c->steps : (c->epochs ? c->epochs : 1) * (ds->n_train / c->batch);
}

int
hu_config_is_masked(const hu_config *c)
{
	return hu_input_named(c->row->inputs, "mask") && !hu_input_named(c->row->inputs, "labels");
}

hu_model_sizes
hu_config_sizes(const hu_config *c, const hu_dataset *ds)
{
	return (hu_model_sizes){
		.batch = c->batch,
		.data = ds,
		.multiplier = c->width,
#define KEY(kind, member, option, name, min, max, argument, def, help) .member = c->member,
#include "trainer/model/layer/sizes.def"
#undef KEY
	};
}
