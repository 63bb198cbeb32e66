/* SPDX-License-Identifier: Apache-2.0
   Any text for the readers of expressions, rules and specifications (specs.h). The first byte of libFuzzer's input
   chooses the reader. Links libhalfulp.a. */
#include "t/fuzz/specs.h"

#include "analyzers/formats/targets.h"
#include "analyzers/inspect/inspect_rules.h"
#include "analyzers/judge/kernel/kernel_job.h"
#include "analyzers/network/given.h"
#include "analyzers/validate/effect/accept.h"
#include "lib/base/console/addition.h"
#include "lib/base/console/command.h"
#include "lib/base/guard/limit.h"
#include "lib/base/mem.h"
#include "lib/base/parts/parts.h"
#include "lib/import/tool/tool.h"
#include "lib/op/scaler.h"
#include "lib/op/schedule.h"
#include "lib/program/policy/recipe.h"
#include "lib/program/pass/pass.h"
#include "lib/program/quantise/scheme.h"
#include "t/fuzz/fuzz.h"
#include "trainer/data/augment.h"
#include "trainer/optim/optim.h"
#include "trainer/plan/compare.h"
#include "trainer/run/memory.h"
#include "trainer/plan/ranks.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 400 };

/* A policy's JSON reads as the same policy. Paths are other readers' work. */
static hu_status
policy(const char *text)
{
	hu_policy p, again;

	if (strchr(text, '/') || strstr(text, ".json"))
		return hu_fail(HU_EINVAL, "a path");
	HU_TRY(hu_policy_parse(text, &p));
	json_t *j = hu_policy_to_json(&p), *k;
	HU_ASSERT(hu_policy_from_json(j, &again) == HU_OK);
	k = hu_policy_to_json(&again);
	HU_ASSERT(json_equal(j, k));
	json_decref(j);
	json_decref(k);
	return HU_OK;
}

static hu_status
policies(const char *text)
{
	char **list;
	int n = hu_split_policies(text, &list);

	for (int i = 0; i < n; i++)
		free(list[i]);
	free(list);
	return n > 0 ? HU_OK : hu_fail(HU_EINVAL, "there is none");
}

static hu_status
optimizer(const char *text)
{
	const hu_optim *row;

	HU_TRY(hu_optim_find(text, &row));
	HU_ASSERT(row != NULL);
	return HU_OK;
}

static hu_status
block(const char *text)
{
	hu_block b;

	return hu_block_find(text, &b);
}

static hu_status
scheme(const char *text)
{
	hu_scheme s;

	HU_TRY(hu_scheme_parse(&s, text));
	HU_ASSERT(*s.name && !isnan(s.percent) && !isnan(s.margin));
	return HU_OK;
}

static hu_status
tool(const char *text)
{
	hu_tool t;
	const char *words, *summary;

	if (!hu_tool_is(text) || strchr(text, '@')) /* a list of a file's names is another reader's work */
		return hu_fail(HU_EINVAL, "no tool's name");
	HU_TRY(hu_tool_parse(&t, text));
	HU_ASSERT(hu_tool_row(t.row, &words, &summary));
	hu_tool_release(&t);
	return HU_OK;
}

static hu_status
graph(const char *text)
{
	hu_graph g = { 0 };
	hu_status st = hu_graph_parse(&g, text);

	for (int i = 0; st == HU_OK && i < g.nc; i++)
		for (int k = 0; k < g.call[i].nin; k++)
			HU_ASSERT(g.call[i].row && g.call[i].in[k] < g.n);
	hu_graph_release(&g);
	return st;
}

/* The facts of a kernel: what comes behind them, its arrays, is missing in each case. */
static hu_status
facts(const char *text)
{
	extern const hu_command hu_cmd_judge;
	char *argv[] = { "judge", "softmax", "--set", (char *)text };
	hu_args a;
	hu_kernel_job j;
	hu_status st = hu_args_parse(&a, hu_cmd_judge.opts, 4, argv);

	if (st == HU_OK) {
		st = hu_kernel_job_open(&j, &a);
		HU_ASSERT(st != HU_OK);
		st = strstr(hu_reason(), "--set") ? st : HU_OK;
		hu_kernel_job_close(&j);
	}
	hu_args_release(&a);
	return st;
}

static hu_status
recipe(const char *text)
{
	const hu_block_recipe *r;

	HU_TRY(hu_recipe_find(text, &r));
	HU_ASSERT(r && !strcasecmp(r->name, text));
	return HU_OK;
}

static hu_status
rule_of_scales(const char *text)
{
	hu_scaler s;

	HU_TRY(hu_scaler_find(text, &s));
	HU_ASSERT(*s.name);
	return HU_OK;
}

static hu_status
schedule(const char *text)
{
	hu_schedule_rule r;

	return hu_schedule_find(text, &r);
}

static hu_status
inspect_rule(const char *text)
{
	extern const hu_command hu_cmd_inspect;
	char *argv[] = { "inspect", "--fail-if", (char *)text };
	hu_args a;
	hu_inspect_rules r;
	hu_status st = hu_args_parse(&a, hu_cmd_inspect.opts, 3, argv);

	if (st == HU_OK) {
		st = hu_inspect_rules_parse(&r, &a, "fail-if");
		hu_inspect_rules_release(&r);
	}
	hu_args_release(&a);
	return st;
}

static hu_status
accept(const char *text)
{
	hu_accept a;

	HU_TRY(hu_accept_parse(&a, text));
	HU_ASSERT(!isnan(a.limit.value) && a.confidence >= 0 && a.confidence < 1);
	return HU_OK;
}

static hu_status
shape(const char *text)
{
	hu_given g = { 0 };
	char *own = hu_xstrdup(text);
	hu_status st = hu_given_parse(&g, own);

	for (int i = 0; st == HU_OK && i < g.rank; i++)
		HU_ASSERT(g.d[i] >= 1);
	free(own);
	return st;
}

static hu_status
targets(const char *text)
{
	hu_target t[40];
	int n = 0;

	HU_TRY(hu_target_list(text, t, 40, &n));
	HU_ASSERT(n >= 1 && n <= 40);
	for (int i = 0; i < n; i++)
		HU_ASSERT(*hu_target_name(&t[i]));
	return HU_OK;
}

static hu_status
formats(const char *text)
{
	hu_format_id f[40];
	int n = 0;

	HU_TRY(hu_format_list(text, f, 40, &n));
	HU_ASSERT(n >= 1 && n <= 40);
	return HU_OK;
}

static hu_status
all_reduce(const char *text)
{
	hu_all_reduce r;

	HU_TRY(hu_all_reduce_parse(text, 4, &r));
	HU_ASSERT(r.scale > 0 && isfinite(r.scale));
	return HU_OK;
}

static hu_status
augment(const char *text)
{
	hu_augment g;

	return hu_augment_parse(&g, text);
}

static hu_status
memory(const char *text)
{
	double bytes;

	HU_TRY(hu_limit_parse("--max-memory", text, &bytes));
	HU_ASSERT(bytes > 0);
	return HU_OK;
}

static hu_status
bytes(const char *text)
{
	double n;

	HU_TRY(hu_parse_bytes(text, &n));
	HU_ASSERT(n >= 0);
	return HU_OK;
}

static hu_status
shard(const char *text)
{
	hu_shard s;

	HU_TRY(hu_shard_parse(&s, text));
	HU_ASSERT(s.i >= 1 && s.i <= s.n);
	return HU_OK;
}

static hu_status
network(const char *text)
{
	hu_rank_network n;

	return hu_rank_network_find(text, &n);
}

/* A program that is taken is written as JSON that is taken, and is the same. */
static hu_status
program(const char *text)
{
	json_error_t why;
	json_t *j = json_loads(text, 0, &why), *k;
	hu_program *p = NULL, *again = NULL;
	hu_status st = j ? hu_program_from_json(j, &p) : hu_fail(HU_EFILE, "no JSON");

	json_decref(j);
	if (st != HU_OK)
		return st;
	j = hu_program_to_json(p);
	HU_ASSERT(hu_program_from_json(j, &again) == HU_OK);
	k = hu_program_to_json(again);
	HU_ASSERT(json_equal(j, k));
	json_decref(j);
	json_decref(k);
	hu_program_free(p);
	hu_program_free(again);
	return HU_OK;
}

static const struct {
	const char *name;
	hu_status (*read)(const char *text);
	int longest;
} rows[] = { { "expression", spec_expression, 120 }, { "sum", spec_sum, LONGEST },
	{ "calc --sum", spec_sum_of_calc, LONGEST }, { "policy", policy, LONGEST }, { "policies", policies, LONGEST },
	{ "optimizer", optimizer, LONGEST }, { "block", block, LONGEST }, { "scheme", scheme, LONGEST },
	{ "tool", tool, LONGEST }, { "graph", graph, LONGEST }, { "facts", facts, LONGEST },
	{ "inspect rule", inspect_rule, LONGEST }, { "accept", accept, LONGEST }, { "vary", spec_vary, LONGEST },
	{ "shape", shape, LONGEST }, { "targets", targets, LONGEST }, { "formats", formats, LONGEST },
	{ "all-reduce", all_reduce, LONGEST }, { "augment", augment, LONGEST }, { "memory", memory, LONGEST },
	{ "bytes", bytes, LONGEST }, { "shard", shard, LONGEST }, { "network", network, LONGEST },
	{ "train option", spec_train_option, LONGEST }, { "analyze option", spec_analyze_option, LONGEST },
	{ "validate option", spec_validate_option, LONGEST }, { "recipe", recipe, LONGEST },
	{ "loss scale", rule_of_scales, LONGEST }, { "schedule", schedule, LONGEST }, { "program", program, 100000 } };

enum { ROWS = sizeof rows / sizeof *rows };

const char *
spec_name(int row)
{
	return row < ROWS ? rows[row].name : NULL;
}

int
spec_try(int row, const char *text)
{
	if (strlen(text) > (size_t)rows[row].longest)
		return 0;
	hu_status st = rows[row].read(text);
	if (st == HU_OK)
		return 1;
	HU_ASSERT(st == HU_EINVAL || st == HU_EFILE || st == HU_EABSENT || st == HU_EUNABLE);
	HU_ASSERT(*hu_reason() && !strchr(hu_reason(), '\n'));
	return 0;
}

FUZZ_TARGET(specs)
{
	if (!size)
		return 0;
	char *text = fuzz_text(data + 1, size - 1);
	int taken = spec_try(data[0] % ROWS, text);
	free(text);
	return taken;
}
