/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/program/policy/policy.h"

#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"
#include "lib/base/str.h"
#include "lib/program/policy/recipe.h"
#include "lib/sum/sum.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct row {
	const char *name, *summary;
	hu_format_id compute, variable;
	hu_cast_list list;
	int dynamic;
	hu_fake fake;
	int casts;
} row;

/* The words of the column constants. */
enum { DOUBLE, VARIABLE };

static const row rows[] = {
#define POLICY(name, compute, variable, list, dynamic, fake, constants, summary)                                       \
	{ name, summary, HU_##compute, HU_##variable, HU_LIST_##list, dynamic, HU_FAKE_##fake, constants },
#include "lib/program/policy/policies.def"
#undef POLICY
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *const lists[] = { "keras", "autocast", "apex", "all" };
static const char *const constants[] = { "double", "variable" };
static const char *const fakes[] = { "none", "int8:channel", "int8:tensor" };

/* Recipes of block formats come after the presets. */
const char *
hu_policy_name(int i)
{
	if (i < ROWS)
		return i >= 0 ? rows[i].name : NULL;
	return hu_recipe_row(i - ROWS) ? hu_recipe_row(i - ROWS)->name : NULL;
}

const char *
hu_policy_summary(int i)
{
	if (i < ROWS)
		return i >= 0 ? rows[i].summary : NULL;
	return hu_recipe_row(i - ROWS) ? hu_recipe_row(i - ROWS)->summary : NULL;
}

const char *
hu_dtype_name(hu_format_id f)
{
	switch (f) {
	case HU_FP64: return "float64";
	case HU_FP32: return "float32";
	case HU_FP16: return "float16";
	case HU_BF16: return "bfloat16";
	default: /* PyTorch and Keras have no name for another. */ return hu_format_name(f);
	}
}

static void
fill(hu_policy *p, const char *name, hu_format_id compute, hu_format_id variable, hu_cast_list list)
{
	memset(p, 0, sizeof *p);
	snprintf(p->name, sizeof p->name, "%s", name);
	p->compute = compute;
	p->variable = variable;
	p->list = list;
	p->dynamic = compute == HU_FP16 && variable == HU_FP32;
}

/* Gradients enter 8-bit products in e5m2, which has the wider range of the two 8-bit formats (arXiv 2209.05433). */
static void
settle(hu_policy *p)
{
	if (hu_format_of(p->compute).bits <= 8)
		p->grad = HU_E5M2;
	else
		p->grad = p->compute;
}

static hu_status
set_list(hu_policy *p, const char *value)
{
	for (int i = 0; i < 4; i++)
		if (!strcasecmp(lists[i], value)) {
			p->list = (hu_cast_list)i;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "policy: list=%s is unknown; known: keras, autocast, apex, all", value);
}

static hu_status
set_fake(hu_policy *p, const char *value)
{
	for (int i = 0; i < 3; i++)
		if (!strcasecmp(fakes[i], value)) {
			p->fake = (hu_fake)i;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "policy: fake=%s is unknown; known: none, int8:channel, int8:tensor", value);
}

static hu_status
set_constants(hu_policy *p, const char *value)
{
	for (int i = 0; i < 2; i++)
		if (!strcasecmp(constants[i], value)) {
			p->casts_constants = i;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "policy: constants=%s is unknown; known: double, variable", value);
}

static hu_status
set_recipe(hu_policy *p, const char *value)
{
	const hu_block_recipe *r = NULL;

	if (strcasecmp(value, "none"))
		HU_TRY(hu_recipe_find(value, &r));
	snprintf(p->recipe, sizeof p->recipe, "%s", r ? r->name : "");
	return HU_OK;
}

static hu_status
add_override(hu_policy *p, const char *pattern, const char *format)
{
	if (p->noverride == HU_MAX_OVERRIDES || strlen(pattern) >= sizeof p->override->pattern)
		return hu_fail(HU_EINVAL, "policy: there are more than %d layer overrides, or a pattern is too long",
			HU_MAX_OVERRIDES);
	snprintf(p->override[p->noverride].pattern, sizeof p->override->pattern, "%s", pattern);
	return hu_format_find(format, &p->override[p->noverride++].compute);
}

static hu_status
set_key(hu_policy *p, const char *key, const char *value, int *dynamic_given)
{
	hu_sum sum;

	if (!strcmp(key, "compute"))
		return hu_format_find(value, &p->compute);
	if (!strcmp(key, "variable"))
		return hu_format_find(value, &p->variable);
	if (!strcmp(key, "list"))
		return set_list(p, value);
	if (!strcmp(key, "fake"))
		return set_fake(p, value);
	if (!strcmp(key, "constants"))
		return set_constants(p, value);
	if (!strcmp(key, "recipe"))
		return set_recipe(p, value);
	if (!strcmp(key, "scaling")) {
		*dynamic_given = 1;
		p->dynamic = !strcmp(value, "dynamic");
		return p->dynamic || !strcmp(value, "none")
			       ? HU_OK
			       : hu_fail(HU_EINVAL, "policy: scaling=%s must be dynamic or none", value);
	}
	if (!strcmp(key, "accumulate")) {
		HU_TRY(hu_sum_parse(value, &sum));
		hu_sum_print(sum, p->accumulate, sizeof p->accumulate);
		return HU_OK;
	}
	if (!strncmp(key, "layer:", 6) && key[6])
		return add_override(p, key + 6, value);
	if (hu_recipe_is_key(key))
		return hu_recipe_set(p, key, value);
	return hu_fail(HU_EINVAL,
		"policy: unknown key '%s'; known: compute, variable, list, fake, recipe and its keys (doc/formats.md), "
		"constants, scaling, accumulate, layer:PATTERN",
		key);
}

static hu_status
check_quantised(const hu_policy *p)
{
	if (*p->recipe && (p->fake || hu_format_of(p->compute).bits < 16))
		return hu_fail(HU_EINVAL,
			"policy: recipe=%s quantises what is computed in 16 bits or more: leave out fake, and compute "
			"in bfloat16, float16 or float32",
			p->recipe);
	HU_TRY(hu_recipe_check(p));
	int other = p->compute != HU_FP32 || p->variable != HU_FP32;

	for (int i = 0; i < p->noverride; i++)
		other |= p->override[i].compute != HU_FP32;
	return p->fake && other ? hu_fail(HU_EINVAL,
					  "policy: fake=%s quantises what is computed in float32: leave out "
					  "other formats",
					  fakes[p->fake])
				: HU_OK;
}

/* Returns 1 where a piece before `at` in text has the key that ends at the equals sign of the one that begins there. */
static int
is_there_before(const char *text, size_t at)
{
	size_t n = strcspn(text + at, "=") + 1;

	for (const char *s = text; s && s < text + at; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (!strncmp(s, text + at, n))
			return 1;
	return 0;
}

/* Parses pieces that are a preset's name or "key=value". A preset as the first piece is changed by the other pieces. */
static hu_status
parse_free(const char *text, hu_policy *out)
{
	char *all = hu_xstrdup(text), *save = NULL;
	int given = 0, first = 1;
	hu_status st = HU_OK;

	fill(out, text, HU_FP32, HU_FP32, HU_LIST_AUTOCAST);
	for (char *s = strtok_r(all, ",", &save); s && st == HU_OK; s = strtok_r(NULL, ",", &save), first = 0) {
		char *eq = strchr(s, '=');
		if (!eq && first)
			st = hu_policy_parse(s, out), given = 1;
		else if (!eq)
			st = hu_fail(HU_EINVAL, "policy: '%s' is not of the form key=value", s);
		else if (is_there_before(text, (size_t)(s - all)))
			st = hu_fail(HU_EINVAL, "policy: %.*s= is there twice; leave out one", (int)(eq - s), s);
		else {
			*eq = 0;
			st = set_key(out, s, eq + 1, &given);
		}
	}
	free(all);
	snprintf(out->name, sizeof out->name, "%s", text);
	if (!given)
		out->dynamic = out->compute == HU_FP16 && out->variable == HU_FP32;
	settle(out);
	return st == HU_OK ? check_quantised(out) : st;
}

static hu_status
parse_file(const char *path, hu_policy *out)
{
	json_error_t e;
	char *text;
	size_t n;

	HU_TRY(hu_file_read(path, &text, &n));
	json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	free(text);
	if (!j)
		return hu_fail(HU_EFILE, "%s:%d: %s", path, e.line, e.text);
	hu_status st = json_is_object(j) && !json_object_size(j)
			       ? hu_fail(HU_EFILE, "%s: no key is there, such as \"compute\": \"float16\"", path)
			       : hu_json_plain(j, path);
	if (st == HU_OK)
		st = hu_policy_from_json(j, out);
	json_decref(j);
	return st;
}

hu_status
hu_policy_parse(const char *text, hu_policy *out)
{
	const char *names[ROWS];

	if (!hu_plain(text))
		return hu_fail(HU_EINVAL, "policy '%s' has characters that cannot be printed", text);
	for (int i = 0; i < ROWS; i++) {
		names[i] = rows[i].name;
		if (strcasecmp(rows[i].name, text))
			continue;
		fill(out, rows[i].name, rows[i].compute, rows[i].variable, rows[i].list);
		out->dynamic = rows[i].dynamic;
		out->fake = rows[i].fake;
		out->casts_constants = rows[i].casts;
		settle(out);
		return HU_OK;
	}
	for (int i = 0; hu_recipe_row(i); i++)
		if (!strcasecmp(hu_recipe_row(i)->name, text)) {
			fill(out, hu_recipe_row(i)->name, HU_BF16, HU_FP32, HU_LIST_AUTOCAST);
			settle(out);
			return set_recipe(out, text);
		}
	if (strchr(text, '='))
		return parse_free(text, out);
	if (strchr(text, '/') || strchr(text, '.') || hu_exists(text))
		return parse_file(text, out);
	hu_format_id f;
	for (int i = 0; hu_format_find(text, &f) == HU_OK && i < ROWS; i++)
		if (rows[i].compute == f && rows[i].variable == HU_FP32 && f != HU_FP32)
			return hu_fail(HU_EINVAL,
				"'%s' is a format, not a policy; did you mean %s, which computes in it and keeps "
				"float32 variables? (halfulp plan --list lists them all)",
				text, rows[i].name);
	const char *near = hu_nearest(text, names, ROWS);
	return hu_fail(HU_EINVAL,
		"unknown policy '%s'; %s%s%s policy is a preset (halfulp plan --list lists them), a list of key=value "
		"or a JSON file",
		text, near ? "did you mean " : "", near ? near : "", near ? "? A" : "a");
}

json_t *
hu_policy_to_json(const hu_policy *p)
{
	json_t *layers = json_object(), *j;

	for (int i = 0; i < p->noverride; i++)
		json_object_set_new(
			layers, p->override[i].pattern, json_string(hu_format_name(p->override[i].compute)));
	j = json_pack("{s:s s:s s:s s:s s:s s:s s:s s:o}", "name", p->name, "compute", hu_dtype_name(p->compute),
		"variable", hu_dtype_name(p->variable), "list", lists[p->list], "scaling",
		p->dynamic ? "dynamic" : "none", "grad", hu_format_name(p->grad), "constants",
		constants[p->casts_constants], "layers", layers);
	if (p->fake)
		json_object_set_new(j, "fake", json_string(fakes[p->fake]));
	if (*p->recipe)
		json_object_set_new(j, "recipe", json_string(p->recipe));
	hu_recipe_to_json(p, j);
	if (*p->accumulate)
		json_object_set_new(j, "accumulate", json_string(p->accumulate));
	return j;
}

/* The keys of a policy's JSON, except those that hold no text. */
static int
known(const char *key)
{
	static const char *const keys[] = { "name", "compute", "variable", "list", "fake", "recipe", "constants",
		"scaling", "accumulate" };
	int is = (!strncmp(key, "layer:", 6) && key[6]) || hu_recipe_is_key(key);

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		is |= !strcmp(keys[i], key);
	return is;
}

hu_status
hu_policy_from_json(const json_t *jc, hu_policy *out)
{
	json_t *j = (json_t *)(size_t)jc, *v, *layers = json_object_get(j, "layers");
	const char *key;
	int given = 0;

	if (!json_is_object(j))
		return hu_fail(HU_EFILE, "policy: the file must hold a JSON object");
	if (layers && !json_is_object(layers))
		return hu_fail(HU_EFILE, "policy: layers must be an object, a pattern of names to a format's name");
	fill(out, "custom", HU_FP32, HU_FP32, HU_LIST_AUTOCAST);
	json_object_foreach(j, key, v)
	{
		if (!strcmp(key, "layers") || !strcmp(key, "grad"))
			continue;
		if (!known(key))
			return hu_fail(HU_EFILE,
				"policy: unknown key '%s'; known: name, compute, variable, list, fake, recipe and its "
				"keys (doc/formats.md), constants, scaling, accumulate, layers",
				key);
		if (!json_is_string(v))
			return hu_fail(HU_EFILE, "policy: %s must be a string", key);
		if (!strcmp(key, "name"))
			snprintf(out->name, sizeof out->name, "%s", json_string_value(v));
		else if (set_key(out, key, json_string_value(v), &given) != HU_OK)
			return HU_EFILE;
	}
	json_object_foreach(layers, key, v) if (!json_is_string(v) || add_override(out, key, json_string_value(v)) !=
									      HU_OK) return hu_fail(HU_EFILE,
		"policy: layers: the value of %s must be a format's name", key);
	if (!given)
		out->dynamic = out->compute == HU_FP16 && out->variable == HU_FP32;
	settle(out);
	return check_quantised(out) == HU_OK ? HU_OK : HU_EFILE;
}

hu_format_id
hu_policy_compute(const hu_policy *p, const char *layer)
{
	for (int i = p->noverride - 1; i >= 0; i--)
		if (hu_match(p->override[i].pattern, layer))
			return p->override[i].compute;
	return p->compute;
}
