/* SPDX-License-Identifier: Apache-2.0
   The keys that every optimizer has, behind its name. */
#include "trainer/optim/optim.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/number/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* States are held exactly in the smallest formats too, but a format of blocks is none. */
static hu_status
set_format(const char *key, const char *value, int *to)
{
	hu_format_id f;

	if (hu_format_find(value, &f) == HU_OK) {
		*to = 1 + (int)f;
		return HU_OK;
	}
	char *why = hu_xstrdup(hu_reason());
	hu_fail(HU_EINVAL, "--optimizer: %s: %s", key, why);
	free(why);
	return HU_EINVAL;
}

static hu_status
set(hu_optim_options *o, const char *key, const char *value)
{
	if (!strcmp(key, "state"))
		return set_format(key, value, &o->state);
	if (!strcmp(key, "iterate") && !strcmp(o->row->name, "muon"))
		return set_format(key, value, &o->iterate);
	if (!strcmp(key, "iterate"))
		return hu_fail(HU_EINVAL, "--optimizer %s: iterate is a key of muon alone", o->row->name);
	if (!strcmp(key, "update")) {
		o->update = !strcasecmp(value, "sr") ? HU_SR : HU_RNE;
		o->kahan = !strcasecmp(value, "kahan");
		return o->update == HU_SR || o->kahan || !strcasecmp(value, "rne")
			       ? HU_OK
			       : hu_fail(HU_EINVAL, "--optimizer: update=%s: rne, sr or kahan is needed", value);
	}
	if (!strcmp(key, "constants")) {
		o->casting = !strcmp(value, "variable") ? 2 : 1;
		if (o->casting == 1 && strcmp(value, "double"))
			return hu_fail(HU_EINVAL, "--optimizer: constants=%s: double or variable is needed", value);
		return HU_OK;
	}
	return hu_fail(HU_EINVAL, "--optimizer: unknown key '%s'; known: update, state, constants, iterate", key);
}

hu_status
hu_optim_parse(const char *text, hu_optim_options *o)
{
	char *all = hu_xstrdup(text), *keys = strchr(all, ':'), *save = NULL;

	o->state = o->iterate = o->casting = o->kahan = 0;
	o->update = HU_RNE;
	if (keys)
		*keys++ = 0;
	hu_status st = hu_optim_find(all, &o->row);
	if (st == HU_OK && keys && !*keys)
		st = hu_fail(HU_EINVAL, "--optimizer %s: a key is needed behind the colon, such as update=sr", text);
	for (char *s = keys ? strtok_r(keys, ",", &save) : NULL; s && st == HU_OK; s = strtok_r(NULL, ",", &save)) {
		char *eq = strchr(s, '=');
		if (!eq) {
			st = hu_fail(HU_EINVAL, "--optimizer %s: '%s' is not of the form key=value", text, s);
			break;
		}
		*eq = 0;
		st = set(o, s, eq + 1);
	}
	free(all);
	return st;
}
