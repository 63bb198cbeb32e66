/* SPDX-License-Identifier: Apache-2.0
   Repeats a whole run. */
#include "trainer/verify/verify.h"

#include "lib/base/terminal/progress.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/program/differ/describe.h"
#include "trainer/record/manifest.h"
#include "trainer/ranked/ranked.h"
#include "trainer/run/session.h"
#include "trainer/ranked/session_open.h"

#include <stdlib.h>
#include <string.h>

static hu_status
check_data(const hu_session *s, const hu_run *r)
{
	const char *want = json_string_value(json_object_get(json_object_get(r->manifest, "dataset"), "digest"));
	char have[24];

	snprintf(have, sizeof have, "0x%016llx", (unsigned long long)hu_dataset_digest(&s->data));
	if (want && !strcmp(want, have))
		return HU_OK;
	return hu_fail(HU_EFILE, "%s: its data had digest %s, %s now has %s: give it the same files back", r->dir,
		want ? want : "-", s->data.name, have);
}

/* Compares the programs that this version would run with the recorded ones. */
static void
compare_programs(hu_verified *v, const hu_session *s, const hu_run *r)
{
	const hu_program *was[] = { r->train, r->eval }, *is[] = { s->programs.train, s->programs.eval };
	hu_str all, lines;

	hu_str_init(&all);
	for (int i = 0; i < 2; i++) {
		if (!was[i])
			continue;
		hu_str_init(&lines);
		v->program += hu_program_compare(&lines, was[i], is[i]);
		for (const char *at = lines.s; *at; at += strcspn(at, "\n") + 1)
			hu_str_addf(&all, "%s: %.*s\n", i ? "eval" : "train", (int)strcspn(at, "\n"), at);
		hu_str_release(&lines);
	}
	v->why = v->program ? all.s : NULL;
	if (!v->program)
		hu_str_release(&all);
	v->differs = v->program > 0;
}

/* Repeats the evaluation after a step where metrics.tsv has one, and compares. */
static hu_status
compare_evaluation(hu_verified *v, hu_session *s, const hu_table *t, size_t step)
{
	static const char *const columns[] = { "eval_loss", "eval_accuracy", "eval_precision", "eval_recall",
		"eval_hit_rate", "eval_ndcg" };
	hu_evaluation e;

	if (!strcmp(hu_table_cell(t, (int)step, hu_table_column(t, columns[0])), "-"))
		return HU_OK;
	HU_TRY(hu_session_evaluate(s, &e));
	const double got[] = { e.loss, e.accuracy, e.precision, e.recall, e.hit_rate, e.ndcg };
	v->evaluations++;
	for (size_t k = 0; k < sizeof got / sizeof *got && !v->column; k++) {
		int column = hu_table_column(t, columns[k]);
		double want = hu_table_real(t, (int)step, column);
		if (column < 0 || got[k] == want || (got[k] != got[k] && want != want))
			continue;
		v->column = columns[k];
		v->evaluated = got[k];
		v->want = want;
		v->differs = 1;
	}
	return HU_OK;
}

/* Where the step parts from the recorded one, from its trace, which is compared before the state moves on. Of no use
   where the digests turn out to be equal. */
static hu_status
keep_where(hu_verified *v, hu_session *s, const hu_run *r, size_t step)
{
	hu_str where;

	hu_str_init(&where);
	hu_status st = hu_verify_where(&where, s, r, step);
	free(v->where);
	v->where = st == HU_OK && where.len ? where.s : NULL;
	if (!v->where)
		hu_str_release(&where);
	return st;
}

/* The step's digest differs: what its state shows, where no trace does, or else a traced call of another step. */
static hu_status
keep_where_else(hu_verified *v, hu_session *s, const hu_run *r, size_t step)
{
	hu_str where;

	if (v->where)
		return HU_OK;
	hu_str_init(&where);
	hu_status st = hu_verify_where_state(&where, s, r, step);
	if (st == HU_OK && !where.len)
		st = hu_verify_where_call(&where, r, step);
	v->where = st == HU_OK && where.len ? where.s : NULL;
	if (!v->where)
		hu_str_release(&where);
	return st;
}

static hu_status
compare(hu_verified *v, hu_session *s, const hu_run *r, const hu_table *t, size_t steps)
{
	int digest = hu_table_column(t, "digest"), step_column = hu_table_column(t, "step");
	int differs = 0;
	hu_progress bar;
	hu_status st = HU_OK;

	if (digest < 0)
		return hu_fail(HU_EFILE, "metrics.tsv: no column digest");
	hu_progress_start(&bar, "verify", steps);
	for (size_t step = 0; step < steps && st == HU_OK && !differs; step++) {
		uint64_t got;
		if (hu_table_real(t, (int)step, step_column) != (double)step)
			st = hu_fail(HU_EFILE, "metrics.tsv: row %zu is not step %zu", step, step);
		if (st == HU_OK && (st = hu_session_step(s, step)) == HU_OK &&
			(st = keep_where(v, s, r, step)) == HU_OK)
			st = hu_session_commit(s, &got);
		if (st != HU_OK)
			break;
		snprintf(v->got, sizeof v->got, "0x%016llx", (unsigned long long)got);
		snprintf(v->recorded, sizeof v->recorded, "%s", hu_table_cell(t, (int)step, digest));
		v->steps++;
		v->step = step;
		differs = strcmp(v->got, v->recorded) != 0;
		st = differs ? keep_where_else(v, s, r, step) : compare_evaluation(v, s, t, step);
		differs |= v->column != NULL;
		v->differs |= differs;
		hu_progress_step(&bar, 1);
	}
	hu_progress_end(&bar);
	return st;
}

static hu_status
run_again(hu_verified *v, const hu_run *r, hu_config *c, size_t steps)
{
	hu_dataset data;
	hu_session s;
	hu_table t;

	HU_TRY(hu_config_dataset(c, 0, &data));
	HU_TRY(hu_session_open(&s, c, &data));
	char *path = hu_path(r->dir, "metrics.tsv");
	hu_status st = check_data(&s, r);
	if (st == HU_OK)
		compare_programs(v, &s, r);
	if (st == HU_OK)
		st = hu_session_start(&s);
	if (st == HU_OK && (st = hu_table_read(&t, path)) == HU_OK) {
		size_t have = (size_t)t.rows;
		if (!steps || steps >= have)
			st = hu_ranked_check_read(&s, r->manifest, r->dir, have);
		if (st == HU_OK)
			st = have ? compare(v, &s, r, &t, steps && steps < have ? steps : have)
				  : hu_fail(HU_EFILE, "%s: no step to verify", path);
		hu_table_release(&t);
	}
	free(path);
	hu_session_close(&s);
	return st;
}

static hu_status
settle_backend(hu_config *c, const char *backend, const char *gemm)
{
	int other = backend && strcmp(backend, c->backend);

	if (c->over_ranks.library)
		return hu_fail(HU_EUNABLE,
			"NCCL added the run's gradients among %d processes, and promises a bound and no bits: say "
			"--trace, which executes every other traced call again, and analyze, which judges NCCL's sums",
			c->over_ranks.ranks);
	if (gemm && !strcmp(other ? backend : c->backend, "cpu"))
		return hu_refuse("backend:gemm", "on the CPU, which has one way, the call's summation model");
	if (other && !gemm && c->gemm && !strcmp(c->gemm, "cublas"))
		return hu_fail(HU_EUNABLE,
			"the run's products were cuBLAS's, whose bits no other back end has: verify it on %s, or say "
			"--backend gemm=",
			c->backend);
	if (gemm || other) {
		free(c->gemm);
		c->gemm = gemm ? hu_xstrdup(gemm) : NULL;
	}
	if (other) {
		free(c->backend);
		c->backend = hu_xstrdup(backend);
	}
	return HU_OK;
}

hu_status
hu_verify_run(hu_verified *v, const hu_run *r, const char *backend, const char *gemm, size_t steps)
{
	hu_config c;

	memset(v, 0, sizeof *v);
	HU_TRY(hu_config_from_json(&c, r->manifest));
	hu_status st = gemm ? HU_OK : hu_manifest_recall(r->manifest);
	if (st == HU_OK)
		st = settle_backend(&c, backend, gemm);
	if (st == HU_OK)
		st = run_again(v, r, &c, steps);
	hu_config_release(&c);
	return st;
}

void
hu_verified_release(hu_verified *v)
{
	free(v->why);
	free(v->where);
	v->why = v->where = NULL;
}
