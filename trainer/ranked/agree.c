/* SPDX-License-Identifier: Apache-2.0
   What has to be the same on all ranks before they train together: version, back end, options, data, program and first
   state. */
#include "lib/base/build.h"
#include "lib/base/console/spec.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/ranks/ranks.h"
#include "trainer/ranked/ranked.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t
json_hash(json_t *j)
{
	char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	uint64_t h = hu_fnv1a64(text);

	free(text);
	json_decref(j);
	return h;
}

static hu_status
same(const char *what, uint64_t hash)
{
	char text[24];

	snprintf(text, sizeof text, "0x%016llx", (unsigned long long)hash);
	return hu_ranks_same(what, text);
}

/* The configuration as the manifest records it. Each machine may have its own copy of a file: of options that name one
   there is only that they do, since the digests of data and first state tell whether the files hold the same. The back
   end is compared by itself. */
static json_t *
options(const hu_config *c)
{
	json_t *j = hu_config_to_json(c);
	size_t path = hu_dataset_path(c->data);

	json_object_del(j, "backend");
	if (path)
		json_object_set_new(j, "data", json_sprintf("%.*s", (int)path - 1, c->data));
	if (c->init)
		json_object_set_new(j, "init", json_string("a file"));
	if (c->word_pieces)
		json_object_set_new(j, "word-pieces", json_string("a file"));
	return j;
}

static void
show(char *out, size_t room, const json_t *v)
{
	if (json_is_string(v))
		snprintf(out, room, "%s", json_string_value(v));
	else if (v)
		snprintf(out, room, "%.15g", json_number_value(v));
	else
		snprintf(out, room, "not given");
}

/* Fails for the first option that only one of them has, or that has another value there. */
static hu_status
compare(json_t *own, json_t *zero)
{
	json_t *const both[] = { own, zero };

	for (int k = 0; k < 2; k++) {
		const char *name;
		json_t *v;
		json_object_foreach(both[k], name, v)
		{
			json_t *mine = json_object_get(own, name), *theirs = json_object_get(zero, name);
			char here[100], there[100];
			if (mine && theirs && json_equal(mine, theirs))
				continue;
			show(here, sizeof here, mine);
			show(there, sizeof there, theirs);
			hu_str row;
			hu_str_init(&row);
			hu_spec_say(&row, hu_config_option(name));
			hu_fail(HU_EFILE, "its %s is %s and that of rank 0 is %s: give all ranks the same options",
				row.s, here, there);
			hu_str_release(&row);
			return HU_EFILE;
		}
	}
	return HU_OK;
}

/* Ranks draw their own rows of the data, so that an option which changes these and neither data nor program would make
   a run that no process repeats. Rank 0's options go to all, so that the first difference can be named. */
static hu_status
same_options(const hu_config *c)
{
	json_t *own = options(c);
	char *text = json_dumps(own, JSON_COMPACT);
	size_t bytes = strlen(text) + 1;

	hu_ranks_broadcast(0, &bytes, sizeof bytes);
	text = hu_xrealloc(text, bytes); /* elsewhere it is overwritten */
	hu_ranks_broadcast(0, text, bytes);
	json_t *zero = json_loads(text, 0, NULL);
	hu_status st = compare(own, zero);
	json_decref(zero);
	json_decref(own);
	free(text);
	HU_TRY(hu_ranks_agree(st));
	HU_TRY(hu_ranks_same("policy", c->policy.name));
	return same("policy's digest", json_hash(hu_policy_to_json(&c->policy)));
}

hu_status
hu_ranked_agree(hu_session *s, hu_status st)
{
	uint64_t state = 0;

	if (hu_ranks_size() == 1)
		return st;
	/* Another version may fail for a reason of its own, so the versions are compared first. */
	HU_TRY(hu_ranks_same("version", hu_build_version()));
	HU_TRY(hu_ranks_agree(st));
	HU_TRY(hu_ranks_same("back end", s->backend->name));
	HU_TRY(same_options(s->config));
	HU_TRY(same("data's digest", hu_dataset_digest(&s->data)));
	HU_TRY(same("program's digest", json_hash(hu_program_to_json(s->programs.train))));
	HU_TRY(hu_ranks_agree(s->backend->digest(s->train, &state)));
	HU_TRY(same("first state's digest", state));
	return hu_ranked_join(s->train);
}
