/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/ranks_measured.h"

#include "lib/base/console/show_json.h"
#include "lib/base/show.h"
#include "lib/base/file.h"
#include "lib/base/tsv.h"
#include "trainer/run/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hu_status
read_manifest(hu_ranks_measured *m)
{
	char *path = hu_path(m->run, "manifest.json");
	json_t *j;
	hu_status st = hu_json_read(path, &j);
	const char *policy = json_string_value(json_object_get(json_object_get(j, "policy"), "name"));
	json_int_t parameters = json_integer_value(json_object_get(j, "parameters"));

	if (st != HU_OK)
		;
	else if (!policy || strlen(policy) >= sizeof m->policy || parameters <= 0)
		st = hu_fail(HU_EFILE, "%s: it does not say policy and parameters: is it a run of halfulp's?", path);
	else {
		strcpy(m->policy, policy);
		m->parameters = (size_t)parameters;
	}
	json_decref(j);
	free(path);
	return st;
}

static hu_status
read_rows(hu_ranks_measured *m, const hu_table *t, const char *path)
{
	static const char *const names[] = { "ms", "ms_messages", "bytes_sent", "memory" };
	int at[4];

	for (int k = 0; k < 4; k++)
		if ((at[k] = hu_table_column(t, names[k])) < 0)
			return hu_fail(HU_EFILE, "%s: it has no column %s", path, names[k]);
	if (!t->rows)
		return hu_fail(HU_EFILE, "%s: it has no rows", path);
	m->ranks = (size_t)t->rows;
	for (int i = 0; i < t->rows; i++) {
		double v[4];
		for (int k = 0; k < 4; k++)
			if (!((v[k] = hu_table_real(t, i, at[k])) >= 0))
				return hu_fail(HU_EFILE, "%s: row %d has no %s", path, i + 1, names[k]);
		m->ms = fmax(m->ms, v[0]);
		m->ms_messages += v[1] / t->rows;
		m->sent = fmax(m->sent, v[2]);
		m->memory = fmax(m->memory, v[3]);
	}
	return HU_OK;
}

hu_status
hu_ranks_measured_read(hu_ranks_measured *m, const char *run)
{
	char *path = hu_path(run, "ranks.tsv");
	hu_table t;

	*m = (hu_ranks_measured){ .run = run };
	hu_status st = read_manifest(m);
	if (st == HU_OK && !hu_exists(path))
		st = hu_fail(HU_EFILE, "%s: there is no such file: one process made this run", path);
	if (st == HU_OK && (st = hu_table_read(&t, path)) == HU_OK) {
		st = read_rows(m, &t, path);
		hu_table_release(&t);
	}
	free(path);
	return st;
}

json_t *
hu_ranks_measured_json(const hu_ranks_measured *m)
{
	return json_pack("{s:s s:I s:f s:f s:f s:f}", "run", m->run, "ranks", (json_int_t)m->ranks, "ms", m->ms,
		"ms_messages", m->ms_messages, "sent", m->sent, "memory", m->memory);
}

void
hu_ranks_measured_print(const hu_ranks_measured *m)
{
	char sent[16], memory[16];

	printf("measured, %zu rank%s of %s: %.4g ms a step of the slowest, %.4g ms of them in messages on average; %s "
	       "sent a step and %s held by the rank with most\n",
		m->ranks, m->ranks == 1 ? "" : "s", hu_shown(m->run), m->ms, m->ms_messages,
		hu_bytes_text(m->sent, sent, sizeof sent), hu_bytes_text(m->memory, memory, sizeof memory));
}
