/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/bench/sweep.h"

#include "lib/base/mem.h"
#include "lib/base/console/spec.h"
#include "lib/base/str.h"
#include "lib/number/simd.h"
#include "lib/program/spread/backend.h"
#include "trainer/plan/compare.h"
#include "trainer/run/idle.h"

#include <stdlib.h>
#include <string.h>

static const char *const option[HU_SWEEPS] = { "batch", "model:width", "optimizer:lr", "seeds", "backend:gemm",
	"backend:simd", "policy" };

static void
add(hu_bench_sweep *s, int k, const char *word)
{
	s->word[k] = hu_xrealloc(s->word[k], (size_t)(s->n[k] + 1) * sizeof *s->word[k]);
	s->word[k][s->n[k]++] = word ? hu_xstrdup(word) : NULL;
}

static hu_status
split(hu_bench_sweep *s, int k, const char *text)
{
	char *all = text ? hu_xstrdup(text) : NULL, *save = NULL;

	for (char *w = all ? strtok_r(all, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save))
		add(s, k, w);
	free(all);
	if (text && !s->n[k]) {
		hu_str row;
		hu_str_init(&row);
		hu_spec_say(&row, option[k]);
		hu_fail(HU_EINVAL, "%s: a list is needed", row.s);
		hu_str_release(&row);
		return HU_EINVAL;
	}
	if (!text)
		add(s, k, NULL);
	return HU_OK;
}

static hu_status
split_simd(hu_bench_sweep *s, const char *text)
{
	if (!text || strcmp(text, "all")) {
		HU_TRY(split(s, HU_SWEEP_SIMD, text));
		hu_simd now = hu_simd_level();
		hu_status st = HU_OK;
		for (int i = 0; i < s->n[HU_SWEEP_SIMD] && st == HU_OK && s->word[HU_SWEEP_SIMD][i]; i++)
			st = hu_simd_set(s->word[HU_SWEEP_SIMD][i]) == HU_EINVAL ? HU_EINVAL : HU_OK;
		if (st != HU_OK)
			return st;
		return hu_simd_set(hu_simd_name_of(now));
	}
	for (int i = 0; i < HU_SIMDS; i++)
		if (hu_simd_has((hu_simd)i))
			add(s, HU_SWEEP_SIMD, hu_simd_name_of((hu_simd)i));
	return HU_OK;
}

static hu_status
split_policies(hu_bench_sweep *s, const char *text)
{
	s->n[HU_SWEEP_POLICY] = hu_split_policies(text, &s->word[HU_SWEEP_POLICY]);
	if (!s->n[HU_SWEEP_POLICY])
		return hu_fail(HU_EINVAL, "--policy: a list of policies is needed");
	char **w = s->word[HU_SWEEP_POLICY];
	for (int i = 1; i < s->n[HU_SWEEP_POLICY]; i++)
		if (!strcmp(w[i], "float32")) {
			char *first = w[i];
			memmove(w + 1, w, (size_t)i * sizeof *w);
			w[0] = first;
			break;
		}
	return HU_OK;
}

hu_status
hu_sweep_init(hu_bench_sweep *s, const hu_args *a)
{
	hu_status st = HU_OK;

	memset(s, 0, sizeof *s);
	s->a = a;
	for (int k = 0; k < HU_SWEEPS && st == HU_OK; k++)
		st = k == HU_SWEEP_SIMD     ? split_simd(s, hu_args_text(a, "backend:simd"))
		     : k == HU_SWEEP_POLICY ? split_policies(s, hu_args_text(a, "policy"))
					    : split(s, k, hu_args_text(a, option[k]));
	if (st != HU_OK)
		hu_sweep_release(s);
	return st;
}

void
hu_sweep_release(hu_bench_sweep *s)
{
	for (int k = 0; k < HU_SWEEPS; k++) {
		for (int i = 0; i < s->n[k]; i++)
			free(s->word[k][i]);
		free(s->word[k]);
	}
	memset(s, 0, sizeof *s);
}

int
hu_sweep_cells(const hu_bench_sweep *s)
{
	int n = 1;

	for (int k = 0; k < HU_SWEEPS; k++)
		n *= s->n[k];
	return n;
}

hu_bench_cell
hu_sweep_cell(const hu_bench_sweep *s, int i)
{
	hu_bench_cell c;

	for (int k = HU_SWEEPS - 1; k >= 0; k--) {
		c.at[k] = i % s->n[k];
		c.word[k] = s->word[k][c.at[k]];
		i /= s->n[k];
	}
	return c;
}

/* Makes a configuration from the line's options, with this cell's words in place of the lists. */
static hu_status
from_args(hu_config *c, const hu_bench_sweep *s, const hu_bench_cell *cell)
{
	hu_args one = *s->a;
	size_t n = 0;

	while (s->a->opts[n].name)
		n++;
	one.value = hu_xmalloc((n + 1) * sizeof *one.value);
	memcpy(one.value, s->a->value, (n + 1) * sizeof *one.value);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < HU_SWEEPS; k++)
			if (!strcmp(option[k], one.opts[i].name) && cell->word[k])
				one.value[i] = (char *)(size_t)cell->word[k];
	hu_status st = hu_config_from_args(c, &one, NULL);
	free(one.value);
	return st;
}

static void
take(char **to, const char *word)
{
	free(*to);
	*to = word ? hu_xstrdup(word) : NULL;
}

static hu_status
finish(hu_config *c, const hu_bench_cell *cell, const char *backend, size_t steps)
{
	const hu_backend *found;
	hu_gemm_way way;
	char *end;

	HU_TRY(hu_backend_find(backend, &found));
	HU_TRY(hu_gemm_find(cell->word[HU_SWEEP_GEMM], &way));
	take(&c->backend, backend);
	take(&c->gemm, cell->word[HU_SWEEP_GEMM]);
	c->epochs = 1;
	c->steps = steps;
	c->seed = 1;
	if (cell->word[HU_SWEEP_SEED]) {
		c->seed = strtoull(cell->word[HU_SWEEP_SEED], &end, 10);
		if (*end || c->seed > 1ull << 53)
			return hu_fail(HU_EINVAL, "--seeds %s: whole numbers separated by commas are needed",
				cell->word[HU_SWEEP_SEED]);
	} else if (hu_dataset_takes(c->data, "train") && hu_dataset_takes(c->data, "eval")) {
		c->train = c->train ? c->train : c->batch * (steps < 8 ? steps : 8);
		c->eval = c->eval ? c->eval : 1;
	}
	return hu_config_set_policy(c, cell->word[HU_SWEEP_POLICY]);
}

hu_status
hu_sweep_config(hu_config *c, const hu_bench_sweep *s, const hu_bench_cell *cell, const char *backend, size_t steps)
{
	HU_TRY(from_args(c, s, cell));
	hu_status st = finish(c, cell, backend, steps);
	if (st == HU_OK && cell->word[HU_SWEEP_SIMD])
		st = hu_simd_set(cell->word[HU_SWEEP_SIMD]);
	if (st != HU_OK)
		hu_config_release(c);
	return st;
}

hu_status
hu_sweep_work(const hu_bench_sweep *s, hu_bench_work *w, const char *backend, size_t steps, int moves)
{
	hu_status st = HU_OK;
	hu_idle idle;
	int n = hu_sweep_cells(s);

	w->cost = hu_xcalloc((size_t)n + 1, sizeof *w->cost);
	w->steps = moves ? hu_xcalloc((size_t)n + 1, sizeof *w->steps) : NULL;
	hu_idle_init(&idle, s->a);
	for (int i = 0; i < n && st == HU_OK; i++) {
		hu_bench_cell c = hu_sweep_cell(s, i);
		hu_config config;
		c.word[HU_SWEEP_SIMD] = NULL;
		if ((st = hu_sweep_config(&config, s, &c, backend, steps)) != HU_OK)
			break;
		w->cost[i] = 1e-4 * (double)(config.batch * steps);
		if (moves)
			w->steps[i] = config.batch * steps;
		hu_idle_add(&idle, &config);
		hu_config_release(&config);
	}
	hu_status idled = hu_idle_end(&idle);
	w->n = n;
	return st != HU_OK ? st : idled;
}

char *
hu_sweep_name(const hu_bench_sweep *s, int i)
{
	hu_bench_cell c = hu_sweep_cell(s, i);
	hu_str name;

	hu_str_init(&name);
	for (int k = HU_SWEEPS - 1; k >= 0; k--)
		if (c.word[k]) {
			const char *key = strchr(option[k], ':');
			hu_str_addf(&name, "%s%s=%s", name.len ? " " : "", key ? key + 1 : option[k], c.word[k]);
		}
	return name.s;
}
