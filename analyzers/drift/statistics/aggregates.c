/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/drift/statistics/aggregates.h"

#include "lib/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
hu_aggregate_kind_name(hu_aggregate_kind k)
{
	static const char *const names[] = { "loss", "norm", "error", "share", "exact", "start" };

	return names[k];
}

double
hu_aggregate_floor(const char *name, hu_aggregate_kind k, double mean, double evaluated, int paired)
{
	static const double floors[] = { 1e-4, 1e-3, 5e-3, 0.05, 0, 0 };

	if (strcmp(name, "eval_accuracy/last") || !(evaluated > 0))
		return floors[k];
	/* The derivative of ln((right + 1/2)/(wrong + 1/2)), of which right + 1/2 is the share p of EVALUATED + 1 */
	double p = 1 / (1 + exp(-mean)), variance = (evaluated + 1) * p * (1 - p);
	return (paired ? 1 : sqrt(variance)) / variance;
}

static void
add(hu_aggregates *s, const char *name, hu_aggregate_kind kind, int better, double value)
{
	HU_ASSERT(s->n < HU_AGGREGATES);
	s->a[s->n++] = (hu_aggregate){ name, kind, better, value };
}

static int
ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value that the share Q of N values is below, of an even number's middle two the lower; NaN of none. Sorts V. */
static double
quantile(double *v, int n, double q)
{
	if (!n)
		return NAN;
	qsort(v, (size_t)n, sizeof *v, ascending);
	return v[(int)(q * (n - 1))];
}

/* The mean (Q < 0) or a quantile of a column's finite cells in rows FROM to TO. */
static double
over(const hu_table *t, const char *column, int from, int to, double q)
{
	double *v = hu_xcalloc((size_t)(to - from) + 1, sizeof *v), sum = 0;
	int n = 0, c = hu_table_column(t, column);

	for (int i = from; i < to; i++) {
		double x = hu_table_real(t, i, c);
		if (isfinite(x)) {
			v[n++] = x;
			sum += x;
		}
	}
	double x = !n ? NAN : q < 0 ? sum / n : quantile(v, n, q);
	free(v);
	return x;
}

static hu_status
read_table(hu_table *t, const hu_run *r, const char *name)
{
	char *path = hu_path(r->dir, "%s", name);
	int sealed = !strncmp(name, "analysis/", 9);
	hu_status st = hu_exists(path)
			       ? sealed ? hu_table_read_sealed(t, path, "halfulp analyze") : hu_table_read(t, path)
			       : hu_fail(HU_EFILE, "%s is missing; run halfulp analyze %s first", path, r->dir);

	free(path);
	return st;
}

/* Rows with an evaluation: the first (LAST = 0) or the last. */
static int
evaluated(const hu_table *t, int last)
{
	int c = hu_table_column(t, "eval_loss"), found = -1;

	for (int i = 0; i < t->rows; i++)
		if (strcmp(hu_table_cell(t, i, c), "-")) {
			found = i;
			if (!last)
				break;
		}
	return found;
}

static double
number_of(const hu_run *r, const char *object, const char *key)
{
	const json_t *o = object ? json_object_get(r->manifest, object) : r->manifest;

	return json_number_value(json_object_get(o, key));
}

static hu_status
metrics(hu_aggregates *s, const hu_run *r)
{
	hu_table t;

	HU_TRY(read_table(&t, r, "metrics.tsv"));
	int n = t.rows, tenth = n / 10 > 1 ? n / 10 : 1, epoch = (int)number_of(r, NULL, "steps_per_epoch"),
	    first = evaluated(&t, 0), last = evaluated(&t, 1);
	double images = number_of(r, "dataset", "eval"), nonfinite = 0, skipped = 0;
	epoch = epoch < 1 ? 1 : epoch > n ? n : epoch;
	for (int i = 0; i < n; i++) {
		int skip = hu_table_real(&t, i, hu_table_column(&t, "skipped")) > 0;
		skipped += skip;
		nonfinite += !skip && !isfinite(hu_table_real(&t, i, hu_table_column(&t, "loss")));
	}
	s->evaluated = images;
	add(s, "start/loss", HU_AGGREGATE_START, 0, n ? hu_table_real(&t, 0, hu_table_column(&t, "loss")) : NAN);
	add(s, "exact/nonfinite_losses", HU_AGGREGATE_EXACT, -1, nonfinite);
	add(s, "exact/skipped_steps", HU_AGGREGATE_EXACT, 0, skipped);
	add(s, "exact/last_loss_scale", HU_AGGREGATE_EXACT, 0,
		n ? hu_table_real(&t, n - 1, hu_table_column(&t, "loss_scale")) : NAN);
	if (first >= 0) {
		double right = hu_table_real(&t, last, hu_table_column(&t, "eval_accuracy")) * images;
		add(s, "eval_loss/first", HU_AGGREGATE_LOSS, -1,
			log(hu_table_real(&t, first, hu_table_column(&t, "eval_loss"))));
		add(s, "eval_loss/last", HU_AGGREGATE_LOSS, -1,
			log(hu_table_real(&t, last, hu_table_column(&t, "eval_loss"))));
		add(s, "eval_accuracy/last", HU_AGGREGATE_LOSS, 1, log((right + 0.5) / (images - right + 0.5)));
	}
	add(s, "loss/first_tenth", HU_AGGREGATE_LOSS, -1, log(over(&t, "loss", 0, tenth, -1)));
	add(s, "loss/first_epoch", HU_AGGREGATE_LOSS, -1, log(over(&t, "loss", 0, epoch, -1)));
	add(s, "loss/last_epoch", HU_AGGREGATE_LOSS, -1, log(over(&t, "loss", n - epoch, n, -1)));
	add(s, "grad_norm/first", HU_AGGREGATE_NORM, 0, log(over(&t, "grad_norm", 0, tenth, 0.5)));
	add(s, "grad_norm/last", HU_AGGREGATE_NORM, 0, log(over(&t, "grad_norm", n - tenth, n, 0.5)));
	add(s, "grad_norm/spread", HU_AGGREGATE_NORM, 0,
		log(over(&t, "grad_norm", 0, n, 0.95) / over(&t, "grad_norm", 0, n, 0.5)));
	hu_table_release(&t);
	return HU_OK;
}

static hu_status
updates(hu_aggregates *s, const hu_run *r)
{
	hu_table t;
	double all = 0, swamped = 0;

	HU_TRY(read_table(&t, r, "updates.tsv"));
	for (int i = 0; i < t.rows; i++) {
		double u = hu_table_real(&t, i, hu_table_column(&t, "updates")),
		       w = hu_table_real(&t, i, hu_table_column(&t, "swamped"));
		all += isfinite(u) ? u : 0;
		swamped += isfinite(w) ? w : 0;
	}
	add(s, "updates/swamped", HU_AGGREGATE_SHARE, -1, all > 0 ? log((swamped + 0.5) / (all + 1)) : NAN);
	hu_table_release(&t);
	return HU_OK;
}

/* Groups of calls whose errors are one number, the root mean square over the elements that were judged, so that a bias
   of ten elements counts less than a matrix: products, casts, other arithmetic, and what the optimizer writes. */
enum { FORWARD, BACKWARD, CASTS, REST, WEIGHTS, MEAN, VARIANCE, GROUPS };

static int
group_of(const hu_table *t, int row, const hu_program *p)
{
	const char *op = hu_table_cell(t, row, hu_table_column(t, "op")),
		   *phase = hu_table_cell(t, row, hu_table_column(t, "phase"));
	const hu_op *o = hu_op_find(op);

	if (!strcmp(phase, "update")) {
		int tensor = hu_program_find(p, hu_table_cell(t, row, hu_table_column(t, "tensor"))),
		    moment = tensor < 0 ? 0 : hu_program_moment(p, tensor);
		const hu_call *c = tensor < 0 || p->t[tensor].producer < 0 ? NULL : &p->c[p->t[tensor].producer];
		return moment == 1                                      ? MEAN
		       : moment == 2                                    ? VARIANCE
		       : c && hu_is_update(p, c) && c->out[0] == tensor ? WEIGHTS
									: -1;
	}
	if (o && o->role == HU_ROLE_CAST)
		return CASTS;
	if (o && o->cls == HU_CLASS_GEMM)
		return strcmp(phase, "forward") ? BACKWARD : FORWARD;
	return REST;
}

static hu_status
errors(hu_aggregates *s, const hu_run *r)
{
	static const char *const names[GROUPS] = { "error/products_forward", "error/products_backward", "error/casts",
		"error/elementwise", "error/weights", "error/first_moment", "error/second_moment" };
	double sum[GROUPS] = { 0 }, count[GROUPS] = { 0 }, over_bound = 0, p = NAN, *ulps[2];
	int products[2] = { 0, 0 };
	hu_table t;

	HU_TRY(read_table(&t, r, "analysis/replay.tsv"));
	for (int g = FORWARD; g <= BACKWARD; g++)
		ulps[g] = hu_xcalloc((size_t)t.rows + 1, sizeof *ulps[g]);
	for (int i = 0; i < t.rows; i++) {
		int g = group_of(&t, i, r->train);
		double e = hu_table_real(&t, i, hu_table_column(&t, "backward_normwise")),
		       judged = hu_table_real(&t, i, hu_table_column(&t, "sampled"));
		over_bound += hu_table_real(&t, i, hu_table_column(&t, "over_bound")) > 0;
		if (!strcmp(hu_table_cell(&t, i, hu_table_column(&t, "tensor")), "loss.p"))
			p = hu_table_real(&t, i, hu_table_column(&t, "propagated_rel_normwise"));
		if (g < 0 || !(e > 0) || !isfinite(e) || !(judged > 0))
			continue;
		sum[g] += judged * e * e;
		count[g] += judged;
		double u = hu_table_real(&t, i, hu_table_column(&t, "ulp_p99"));
		if (g <= BACKWARD && u > 0 && isfinite(u))
			ulps[g][products[g]++] = u;
	}
	for (int g = 0; g < GROUPS; g++)
		add(s, names[g], HU_AGGREGATE_ERROR, -1, count[g] > 0 ? 0.5 * log(sum[g] / count[g]) : NAN);
	/* A narrower sum whose result is rounded to few bits adds little to the norm of the error, and much to its
	   tail: a correct rounding has 0.495 ulps there */
	for (int g = FORWARD; g <= BACKWARD; g++) {
		double tail = quantile(ulps[g], products[g], 0.5);
		add(s, g == FORWARD ? "error/products_forward_p99" : "error/products_backward_p99", HU_AGGREGATE_ERROR,
			-1, log(tail));
		free(ulps[g]);
	}
	add(s, "error/propagated_p", HU_AGGREGATE_ERROR, -1, p > 0 ? log(p) : NAN);
	add(s, "exact/outputs_over_bound", HU_AGGREGATE_EXACT, -1, over_bound);
	hu_table_release(&t);
	return HU_OK;
}

/* ln of the root mean square of the state tensors that are this moment of the gradients, or (0) of trainable ones. */
static double
rms(const hu_program *p, const hu_tensor *t, int moment, const char *layer)
{
	double sum = 0, n = 0;

	for (int i = 0; i < p->nt; i++) {
		int wanted = moment ? hu_program_moment(p, i) == moment : p->t[i].trainable;
		if (!p->t[i].state || !wanted || !t[i].data || (layer && strcmp(p->t[i].layer, layer)))
			continue;
		for (size_t k = 0; k < t[i].n; k++) {
			double x = hu_get(&t[i], k);
			sum += x * x;
		}
		n += (double)t[i].n;
	}
	return sum > 0 ? 0.5 * log(sum / n) : NAN;
}

static hu_status
state(hu_aggregates *s, const hu_run *r)
{
	const hu_program *p = r->train;
	const char *first = NULL, *last = NULL;
	hu_tensor *t;

	for (int i = 0; i < p->nt; i++)
		if (p->t[i].state && p->t[i].trainable) {
			first = first ? first : p->t[i].layer;
			last = p->t[i].layer;
		}
	HU_TRY(hu_run_read_state(r, p, -1, &t));
	add(s, "weights/all", HU_AGGREGATE_NORM, 0, rms(p, t, 0, NULL));
	add(s, "weights/first_layer", HU_AGGREGATE_NORM, 0, first ? rms(p, t, 0, first) : NAN);
	add(s, "weights/last_layer", HU_AGGREGATE_NORM, 0, last ? rms(p, t, 0, last) : NAN);
	add(s, "moments/first", HU_AGGREGATE_NORM, 0, rms(p, t, 1, NULL));
	add(s, "moments/second", HU_AGGREGATE_NORM, 0, rms(p, t, 2, NULL));
	hu_run_free_state(p, t);
	return HU_OK;
}

hu_status
hu_aggregates_collect(hu_aggregates *s, const hu_run *r)
{
	const char *sum = json_string_value(json_object_get(r->manifest, "accumulate"));

	memset(s, 0, sizeof *s);
	s->seed = (long long)number_of(r, NULL, "seed");
	snprintf(s->accumulate, sizeof s->accumulate, "%s", sum ? sum : "-");
	HU_TRY(metrics(s, r));
	HU_TRY(updates(s, r));
	HU_TRY(errors(s, r));
	return state(s, r);
}
