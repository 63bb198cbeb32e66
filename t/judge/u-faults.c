/* SPDX-License-Identifier: Apache-2.0
   200 faults of one ulp in the recorded outputs of a traced step. `verify --trace`
   must name all; replay must name each that leaves its call's bound and no other.
   They are put into the trace in batches in which no faulty call reads another
   fault: else a call could make its own fault from its faulty input. */
#include "lib/judge/judge.h"
#include "lib/base/mem.h"
#include "lib/number/philox.h"
#include "lib/number/round.h"
#include "lib/store/run.h"
#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { FAULTS = 200 };

typedef struct fault { int tensor; size_t element; double was, is; int leaves, batch; } fault;

static int
halfulp(const char *line)
{
	const char *program = getenv("HALFULP");
	char *command = hu_xprintf("'%s' %s", program ? program : "./halfulp", line);
	int status = system(command);

	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Outputs named in tensor ID of the step, all elements judged; marks whether ELEMENT is among them. */
static size_t
named(const hu_run *r, hu_tensor *t, int id, size_t element, int *it)
{
	const hu_call *c = &r->train->c[r->train->t[id].producer];
	const hu_engine *engine;
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	hu_judged *j;
	size_t n, over = 0;
	int k = 0;

	for (int i = 0; i < c->nin; i++)
		in[i] = &t[c->in[i]];
	while (c->out[k] != id)
		k++;
	hu_engine_find("mpfr", &engine);
	size_t *all = hu_sample(1, "x", 0, t[id].n, 0, &n);
	if (hu_judge(engine, c, in, k, &t[id], all, n, 0, &j) != HU_OK)
		bail_out("%s", hu_reason());
	for (size_t i = 0; i < n; i++)
		over += (size_t)j->over[i];
	*it = element < n && j->over[element];
	hu_judged_free(j);
	free(in);
	return over;
}

/* The definition, apart from the judge: |is - exact| > bound. */
static int
leaves(const hu_run *r, hu_tensor *t, const fault *f)
{
	const hu_call *c = &r->train->c[r->train->t[f->tensor].producer];
	hu_tensor **in = hu_xmalloc(((size_t)c->nin + 1) * sizeof *in);
	mpfr_t exact[1];
	double bound = 0;
	int k = 0;

	for (int i = 0; i < c->nin; i++)
		in[i] = &t[c->in[i]];
	while (c->out[k] != f->tensor)
		k++;
	mpfr_init2(exact[0], 2000);
	if (HU_COLUMN(c->op, reference)(c, in, k, &f->element, 1, exact) != HU_OK ||
		(HU_COLUMN(c->op, bound) && HU_COLUMN(c->op, bound)(c, in, k, &f->element, 1, &bound) != HU_OK))
		bail_out("%s", hu_reason());
	mpfr_sub_d(exact[0], exact[0], f->is, MPFR_RNDN);
	mpfr_abs(exact[0], exact[0], MPFR_RNDN);
	int over = mpfr_cmp_d(exact[0], bound) > 0;
	mpfr_clear(exact[0]);
	free(in);
	return over;
}

static int
taken(const fault *f, int n, int tensor, size_t element)
{
	for (int i = 0; i < n; i++)
		if (f[i].tensor == tensor && f[i].element == element)
			return 1;
	return 0;
}

/* Random elements of random outputs, one ulp up or down in magnitude. */
static void
choose(fault *f, const hu_run *r, const hu_tensor *t)
{
	const hu_program *p = r->train;

	for (uint64_t n = 0, tries = 0; n < FAULTS; tries++) {
		hu_random x = hu_random_at(11, 3, 0, tries);
		int id = (int)(x.w[0] % (uint32_t)p->nt);
		if (p->t[id].producer < 0 || !t[id].data || !t[id].n)
			continue;
		size_t e = x.w[1] % t[id].n;
		hu_format format = hu_format_of(t[id].format);
		double was = hu_get(&t[id], e), unit = hu_pow2(hu_ulp_exponent(hu_isfinite(was) ? was : 0, format));
		double is = was == 0 || x.w[2] & 1 ? was + (was < 0 ? -unit : unit) : was - (was < 0 ? -unit : unit);
		if (!hu_isfinite(was) || !(is <= format.max && is >= -format.max) ||
			hu_round(is, format, HU_RNE, 0, 0) != is || taken(f, (int)n, id, e))
			continue;
		f[n++] = (fault){ id, e, was, is, 0, -1 };
	}
}

static int
reads(const hu_program *p, int call, int tensor)
{
	for (int k = 0; k < p->c[call].nin; k++)
		if (p->c[call].in[k] == tensor)
			return 1;
	return 0;
}

/* Does the call read a fault of the batch? */
static int
reads_faults(const hu_program *p, const fault *f, int batch, int call)
{
	for (int i = 0; i < FAULTS; i++)
		if (f[i].batch == batch && reads(p, call, f[i].tensor))
			return 1;
	return 0;
}

/* The first batch in which it neither reads nor is read by a fault. */
static int
assign(fault *f, const hu_program *p)
{
	int batches = 0;

	for (int i = 0; i < FAULTS; i++)
		f[i].batch = -1;
	for (int i = 0; i < FAULTS; i++) {
		int b = 0, clash = 1;
		for (; clash; b++) {
			clash = reads_faults(p, f, b, p->t[f[i].tensor].producer);
			for (int k = 0; k < FAULTS; k++)
				clash |= f[k].batch == b && reads(p, p->t[f[k].tensor].producer, f[i].tensor);
		}
		f[i].batch = b - 1;
		batches = b > batches ? b : batches;
	}
	return batches;
}

/* Is (tensor, element) in the list? */
typedef int stands(const void *list, const char *tensor, size_t element);

static int
in_table(const void *list, const char *tensor, size_t element)
{
	const hu_table *t = list;

	for (int k = 0; k < t->rows; k++)
		if (!strcmp(hu_table_cell(t, k, hu_table_column(t, "tensor")), tensor) &&
			hu_table_real(t, k, hu_table_column(t, "element")) == (double)element)
			return 1;
	return 0;
}

static int
in_json(const void *list, const char *tensor, size_t element)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)(size_t)list, i,
		one) if (!strcmp(json_string_value(json_object_get(one, "tensor")), tensor) &&
			 json_integer_value(json_object_get(one, "element")) == (json_int_t)element) return 1;
	return 0;
}

/* How many of the batch stand in the list where they should, and only there: all, or those that leave their bound. */
static int
agree(const hu_run *r, const fault *f, int batch, stands *in, const void *list, int only_leaving)
{
	int n = 0;

	for (int i = 0; i < FAULTS; i++)
		if (f[i].batch == batch)
			n += in(list, r->train->t[f[i].tensor].name, f[i].element) == (!only_leaving || f[i].leaves);
	return n;
}

/* Rows of faults.tsv that are neither a fault nor come of a faulty input. */
static int
strangers(const hu_run *r, const fault *f, int batch, const hu_table *t)
{
	int n = 0;

	for (int k = 0; k < t->rows; k++) {
		int id = hu_program_find(r->train, hu_table_cell(t, k, hu_table_column(t, "tensor")));
		size_t e = (size_t)hu_table_real(t, k, hu_table_column(t, "element"));
		n += !taken(f, FAULTS, id, e) && !reads_faults(r->train, f, batch, r->train->t[id].producer);
	}
	return n;
}

static void
write_batch(const hu_run *r, const char *path, hu_tensor *t, const fault *f, int batch)
{
	json_t *manifest = json_deep_copy(r->manifest);

	for (int i = 0; i < FAULTS; i++)
		hu_put(&t[f[i].tensor], f[i].element, f[i].was);
	for (int i = 0; i < FAULTS; i++)
		if (f[i].batch == batch)
			hu_put(&t[f[i].tensor], f[i].element, f[i].is);
	if (hu_run_write_trace(path, 1, r->train, t, NULL) != HU_OK ||
		hu_run_add_file(path, "trace/step-000001.safetensors", json_object_get(manifest, "files")) != HU_OK ||
		hu_run_write_json(path, "manifest.json", manifest) != HU_OK)
		bail_out("%s", hu_reason());
	json_decref(manifest);
}

static int verified, replayed, strange, exits;

static void
one_batch(const char *dir, const hu_run *r, const char *path, hu_tensor *t, const fault *f, int batch)
{
	char *verify = hu_xprintf("verify --trace --json %s >%s/verify.json", path, dir),
	     *analyze = hu_xprintf("analyze --only replay --no-propagate --sample all %s >%s/out 2>&1", path, dir);
	char *json = hu_path(dir, "verify.json"), *table = hu_path(path, "analysis/faults.tsv");
	json_error_t why;
	hu_table rows;

	write_batch(r, path, t, f, batch);
	exits += halfulp(verify) == 1;
	json_t *j = json_load_file(json, 0, &why);
	verified += agree(r, f, batch, in_json, json_object_get(j, "differences"), 0);
	json_decref(j);
	int code = halfulp(analyze);
	if (hu_table_read(&rows, table) != HU_OK)
		bail_out("%s", hu_reason());
	exits += code == (rows.rows > 0);
	replayed += agree(r, f, batch, in_table, &rows, 1);
	strange += strangers(r, f, batch, &rows);
	hu_table_release(&rows);
	free(verify);
	free(analyze);
	free(json);
	free(table);
}

int
main(void)
{
	const char *dir = test_dir();
	char *path = hu_path(dir, "run"),
	     *line = hu_xprintf("train --model mlp:width=0.0625 --data size=8,train=64 --data eval=8 --batch 8 "
				"--steps 2 "
				"--trace steps=1 --policy mixed_float16 --quiet %s",
		     path);
	hu_run r;
	hu_tensor *t;
	fault f[FAULTS];
	int it, clean = 0, right = 0, leave = 0, others = 0;

	if (halfulp(line) || hu_run_open(&r, path) != HU_OK || hu_run_load_trace(&r, 1, &t) != HU_OK)
		bail_out("a traced run could not be made: %s", hu_reason());
	for (int i = 0; i < r.train->nt; i++)
		if (r.train->t[i].producer >= 0 && t[i].data)
			clean += named(&r, t, i, 0, &it) != 0;
	is_int(clean, 0, "before: no output leaves its bound");
	choose(f, &r, t);
	for (int i = 0; i < FAULTS; i++) {
		f[i].leaves = leaves(&r, t, &f[i]);
		hu_put(&t[f[i].tensor], f[i].element, f[i].is);
		size_t n = named(&r, t, f[i].tensor, f[i].element, &it);
		right += it == f[i].leaves;
		leave += f[i].leaves;
		others += n != (size_t)it;
		hu_put(&t[f[i].tensor], f[i].element, f[i].was);
	}
	is_int(right, FAULTS, "one at a time: named if and only if it leaves the bound (%d do)", leave);
	is_int(others, 0, "and nothing else is named");
	ok(leave > FAULTS / 4 && leave < FAULTS, "the faults are of both kinds");

	int batches = assign(f, r.train);
	for (int b = 0; b < batches; b++)
		one_batch(dir, &r, path, t, f, b);
	is_int(verified, FAULTS, "verify --trace names every fault, in %d batches", batches);
	is_int(replayed, FAULTS, "analyze names each that leaves its bound and none that does not");
	is_int(strange, 0, "and no output that is sound");
	is_int(exits, 2 * batches, "exit 1 where something was found");
	free(line);
	free(path);
	hu_run_free_trace(&r, t);
	hu_run_release(&r);
	return done_testing();
}
