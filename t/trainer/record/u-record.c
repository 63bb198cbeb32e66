/* SPDX-License-Identifier: Apache-2.0
   What a record keeps of the back ends that a run was trained on, when it goes on, on the same one or another. */
#include "trainer/record/record.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>

/* Goes on from MANIFEST, which it consumes, on the back end NAME. Returns the new manifest. */
static json_t *
went_on(json_t *manifest, const char *name)
{
	hu_backend b = { .name = name };
	hu_session s = { .backend = &b };
	hu_record r = { 0 };

	hu_record_continue(&r, manifest, &s);
	json_t *now = json_incref(r.manifest);
	hu_record_release(&r);
	json_decref(manifest);
	return now;
}

/* Whether M says these back ends: the present one, as an option too, and those before it, joined by commas. */
static int
says(const json_t *m, const char *now, const char *before)
{
	const json_t *list = json_object_get(m, "backends_before"), *config = json_object_get(m, "config");
	char text[200] = "";
	size_t i;
	const json_t *v;

	json_array_foreach(list, i, v) {
		strcat(text, i ? "," : "");
		strcat(text, json_string_value(v));
	}
	return !strcmp(json_string_value(json_object_get(m, "backend")), now) &&
	       !strcmp(json_string_value(json_object_get(config, "backend")), now) && !strcmp(text, before) &&
	       (list != NULL) == (*before != 0) && json_integer_value(json_object_get(m, "seed")) == 7;
}

int
main(void)
{
	json_t *m = json_pack("{s:s s:i s:{s:s}}", "backend", "one", "seed", 7, "config", "backend", "one");

	m = went_on(m, "one");
	ok(says(m, "one", ""), "on the same back end nothing is told of another");
	m = went_on(m, "two");
	ok(says(m, "two", "one"), "on another the first is told, and the option is the present one");
	m = went_on(m, "two");
	ok(says(m, "two", "one"), "and once");
	m = went_on(m, "one");
	ok(says(m, "one", "one,two"), "back on the first both are told, in order");
	json_decref(m);
	m = json_pack("{s:i}", "seed", 7);
	json_t *old = went_on(m, "one");
	ok(json_object_size(old) == 1, "a manifest that names no back end stays as it is");
	json_decref(old);
	return done_testing();
}
