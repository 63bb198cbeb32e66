/* SPDX-License-Identifier: Apache-2.0
   What a run of compare is configured as, and what all of them follow from, as one line that processes have in common
   only if they make the same runs. */
#include "lib/base/build.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/store/run.h"
#include "trainer/plan/compare_units.h"

#include <stdlib.h>
#include <string.h>

int
hu_compare_has_rates(const hu_args *a)
{
	const char *rates = hu_args_text(a, "optimizer:lr");

	return rates && strchr(rates, ',');
}

/* Makes a configuration by the line, without a list of learning rates, which train knows none of. */
static hu_status
from_args(hu_config *c, const hu_args *a, const char *policy)
{
	hu_args one = *a;
	size_t n = 0;

	while (a->opts[n].name)
		n++;
	one.value = hu_xmalloc((n + 1) * sizeof *one.value);
	memcpy(one.value, a->value, (n + 1) * sizeof *one.value);
	for (size_t i = 0; i < n && hu_compare_has_rates(a); i++)
		if (!strcmp(a->opts[i].name, "optimizer:lr"))
			one.value[i] = NULL;
	hu_status st = hu_config_from_args(c, &one, policy);
	free(one.value);
	return st;
}

hu_status
hu_compare_config(hu_config *c, const hu_args *a, const char *policy)
{
	HU_TRY(from_args(c, a, policy));
	if (!hu_args_given(a, "analyze") && !hu_args_given(a, "trace:steps")) {
		free(c->trace_steps);
		c->trace_steps = hu_xstrdup("none");
	}
	return HU_OK;
}

const char *
hu_compare_policy(const hu_comparison *c, int p)
{
	return c->text ? c->text[p] : c->policy[p];
}

/* Stands in the line before a hash of what files hold. */
static const char on[] = ", files ";

/* Adds the digest of the data set, unless it is drawn, which follows from the options alone. One that cannot be opened
   is no failure here: train says why, run for run. */
static void
add_data(hu_str *s, const hu_config *c)
{
	hu_dataset data;

	if (!hu_dataset_is_file(c->data))
		return;
	if (hu_config_dataset(c, 0, &data) != HU_OK) {
		hu_str_addf(s, "no data ");
		return;
	}
	hu_str_addf(s, "%016llx ", (unsigned long long)hu_dataset_digest(&data));
	hu_dataset_release(&data);
}

static void
add_file(hu_str *s, const char *path)
{
	char hash[17] = "-";
	double bytes;

	if (path && hu_run_checksum(path, &bytes, hash) != HU_OK)
		strcpy(hash, "none");
	hu_str_addf(s, "%s ", hash);
}

/* A policy's file counts as what it says: its text may be laid out in other ways. */
static void
add_policy(hu_str *s, const hu_policy *p)
{
	json_t *j = hu_policy_to_json(p);
	char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);

	hu_str_addf(s, "%s ", text);
	free(text);
	json_decref(j);
}

/* A hash of what the files hold that the options name, of which each machine may have a copy of its own. */
static uint64_t
files(const hu_compare_job *j)
{
	hu_config c;
	hu_str s;

	hu_str_init(&s);
	for (int p = 0; p < j->c->policies; p++) {
		if (hu_compare_config(&c, j->args, hu_compare_policy(j->c, p)) != HU_OK)
			continue;
		add_policy(&s, &c.policy);
		if (!p) {
			add_data(&s, &c);
			add_file(&s, c.init);
			add_file(&s, c.word_pieces);
		}
		hu_config_release(&c);
	}
	uint64_t hash = hu_fnv1a64(s.s);
	hu_str_release(&s);
	return hash;
}

/* Options in whichever order they were given; what they are stands in clear, so that a refusal can show it. */
char *
hu_compare_text(const hu_compare_job *j)
{
	const hu_parts *offered = hu_parts_offered();
	const char *theirs = offered ? strstr(offered->work, on) : NULL;
	unsigned long long hash = theirs ? strtoull(theirs + strlen(on), NULL, 16) : files(j);
	const hu_comparison *c = j->c;
	char *options;
	hu_str s;

	hu_parts_options(
		&options, j->args, "policy seeds shard shard:part resume threads simd json", NULL); /* cannot fail */
	hu_str_init(&s);
	hu_str_addf(&s, "by halfulp %s, policies", hu_build_version());
	for (int p = 0; p < c->policies; p++)
		hu_str_addf(&s, " %s", hu_compare_policy(c, p));
	hu_str_add(&s, ", seeds");
	for (int i = 0; i < c->seeds; i++)
		hu_str_addf(&s, " %lld", c->seed[i]);
	hu_str_add(&s, c->rate ? ", learning rates" : "");
	for (int i = 0; c->rate && i < c->rates; i++)
		hu_str_addf(&s, " %s", c->rate[i]);
	hu_str_addf(&s, ", options %s%s%016llx", *options ? options : "none", on, hash);
	free(options);
	return s.s;
}
