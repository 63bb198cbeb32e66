/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/network/variants.h"

#include "lib/base/show.h"
#include "lib/base/console/show_json.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The policy that the name of a format stands for that is no scheme. */
static hu_status
of_format(hu_policy *to, const char *name, hu_format_id f)
{
	char text[160];
	int wide = hu_is_wide(f);

	snprintf(text, sizeof text, "compute=%s,variable=%s,list=%s", hu_format_name(f),
		wide ? hu_format_name(f) : "float32", wide ? "all" : "autocast");
	HU_TRY(hu_policy_parse(text, to));
	snprintf(to->name, sizeof to->name, "%s", name);
	return HU_OK;
}

static hu_status
of_policy(hu_policy *to, const char *text)
{
	hu_format_id f;
	const char *name = !strcmp(text, "fp8") ? "e4m3" : text;
	int preset = 0;

	for (int i = 0; hu_policy_name(i); i++)
		preset |= !strcmp(hu_policy_name(i), name);
	if (!preset && !strchr(name, '=') && !strchr(name, '/') && hu_format_find(name, &f) == HU_OK)
		return of_format(to, text, f);
	hu_status st = hu_policy_parse(text, to);
	if (st == HU_EINVAL && !strncmp(hu_reason(), "unknown policy", strlen("unknown policy")))
		return hu_fail(st,
			"unknown policy '%s'; it may be a format (halfulp formats), a scheme such as int8 "
			"(halfulp validate --help) or a policy (halfulp plan --list)",
			text);
	return st;
}

static hu_status
except(hu_variant *v, const char *node, int pattern, const char *scheme)
{
	HU_GROW(v->exception, v->n, v->cap);
	hu_exception *e = &v->exception[v->n];
	HU_TRY(hu_scheme_parse(&e->scheme, scheme));
	e->node = hu_xstrdup(node);
	e->pattern = pattern;
	v->n++;
	return HU_OK;
}

/* SCHEME[,layer:PATTERN=SCHEME]… */
static hu_status
of_scheme(hu_variant *v, char *text)
{
	char *save = NULL, *first = strtok_r(text, ",", &save);

	v->by_node = 1;
	HU_TRY(hu_scheme_parse(&v->rest, first));
	for (char *s = strtok_r(NULL, ",", &save); s; s = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(s, '=');
		if (strncmp(s, "layer:", 6) || !eq || eq == s + 6)
			return hu_fail(HU_EINVAL,
				"policy '%s': '%s' is not of the form layer:PATTERN=SCHEME, all that "
				"may follow a scheme",
				hu_shown(v->name), hu_shown(s));
		*eq = 0;
		HU_TRY(except(v, s + 6, 1, eq + 1));
	}
	return HU_OK;
}

static hu_status
of_json(hu_variant *v, const json_t *file, const char *path)
{
	json_t *j = (json_t *)(size_t)file, *nodes = json_object_get(j, "nodes"), *one;
	const char *key, *rest = json_string_value(json_object_get(j, "default"));

	v->by_node = 1;
	json_object_foreach(
		j, key, one) if (strcmp(key, "nodes") &&
				 (!json_is_string(one) ||
					 (strcmp(key, "name") && strcmp(key, "default")))) return hu_fail(HU_EFILE,
		"%s: key '%s' is unknown or no text; known: name, default, nodes", path, hu_shown(key));
	if (!json_is_object(nodes))
		return hu_fail(HU_EFILE, "%s: nodes must be an object from node names to schemes", path);
	if (hu_scheme_parse(&v->rest, rest ? rest : "float32") != HU_OK)
		return hu_fail(HU_EFILE, "%s: default: %s", path, hu_reason());
	json_object_foreach(nodes, key, one) if (!json_is_string(one) || except(v, key, 0, json_string_value(one)) !=
										 HU_OK) return hu_fail(HU_EFILE,
		"%s: node '%s': %s", path, hu_shown(key),
		json_is_string(one) ? hu_reason() : "its scheme must be a text");
	return HU_OK;
}

/* Reads the file if it gives schemes node by node; *is tells whether it does. */
static hu_status
of_file(hu_variant *v, const char *path, int *is)
{
	json_error_t e;
	char *text;
	size_t n;

	*is = 0;
	HU_TRY(hu_file_read(path, &text, &n));
	json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
	free(text);
	if (!j)
		return hu_fail(HU_EFILE, "%s:%d: %s", hu_shown(path), e.line, e.text);
	hu_status st = HU_OK;
	if ((*is = json_object_get(j, "nodes") != NULL))
		st = of_json(v, j, hu_shown(path));
	json_decref(j);
	return st;
}

static hu_status
one(hu_variants *list, const char *text)
{
	hu_status st = HU_OK;
	int done = 0;

	HU_GROW(list->v, list->n, list->cap);
	hu_variant *v = &list->v[list->n];
	memset(v, 0, sizeof *v);
	snprintf(v->name, sizeof v->name, "%s", text);
	char *first = hu_xstrdup(text);
	first[strcspn(first, ",")] = 0;
	if (hu_tool_is(text)) {
		v->tool = hu_xcalloc(1, sizeof *v->tool);
		st = hu_tool_parse(v->tool, text);
		done = 1;
	} else if (hu_scheme_is(first)) {
		char *all = hu_xstrdup(text);
		st = of_scheme(v, all);
		free(all);
		if (st == HU_OK && !v->n)
			snprintf(v->name, sizeof v->name, "%s", v->rest.name);
		done = 1;
	} else if (!strchr(text, '=') && (strchr(text, '/') || strchr(text, '.')) && hu_exists(text)) {
		st = of_file(v, text, &done);
	}
	free(first);
	if (st == HU_OK && !done) {
		st = of_policy(&v->policy, text);
		snprintf(v->name, sizeof v->name, "%s", v->policy.name);
	}
	list->n++;
	return st;
}

hu_status
hu_variants_add(hu_variants *list, const char *text)
{
	char *all = hu_xstrdup(text), *save = NULL, *whole = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(all, ",", &save); st == HU_OK && s; s = strtok_r(NULL, ",", &save)) {
		if (whole && strchr(s, '=') && strncmp(s, "compute=", 8) && !hu_tool_is(s)) {
			char *more = hu_xprintf("%s,%s", whole, s);
			free(whole);
			whole = more;
			continue;
		}
		if (whole)
			st = one(list, whole);
		free(whole);
		whole = hu_xstrdup(s);
	}
	if (st == HU_OK && whole)
		st = one(list, whole);
	free(whole);
	free(all);
	return st;
}

void
hu_variants_add_model(hu_variants *list, const char *name, const hu_imported *m)
{
	HU_GROW(list->v, list->n, list->cap);
	hu_variant *v = &list->v[list->n++];
	memset(v, 0, sizeof *v);
	snprintf(v->name, sizeof v->name, "%s", name);
	v->by_node = 1;
	v->as = m;
	v->rest = (hu_scheme){ .name = "float32", .kind = HU_SCHEME_FLOAT, .format = HU_FP32 };
}

void
hu_variants_add_file(hu_variants *list, const char *name, const hu_onnx *file, hu_typing typing)
{
	hu_variants_add_model(list, name, NULL);
	list->v[list->n - 1].file = file;
	list->v[list->n - 1].typing = typing;
}

void
hu_variants_once(hu_variants *list, const char *name)
{
	size_t n = 1;

	for (size_t i = 1; i < list->n; i++)
		if (strcmp(list->v[i].name, name))
			list->v[n++] = list->v[i];
		else
			hu_variant_release(&list->v[i]);
	list->n = n;
}

void
hu_variant_release(hu_variant *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->exception[i].node);
	free(v->exception);
	if (v->tool)
		hu_tool_release(v->tool);
	free(v->tool);
	memset(v, 0, sizeof *v);
}

void
hu_variants_release(hu_variants *list)
{
	for (size_t i = 0; i < list->n; i++)
		hu_variant_release(&list->v[i]);
	free(list->v);
	memset(list, 0, sizeof *list);
}
