/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/kernel_job.h"

#include "analyzers/value/rows.h"
#include "lib/base/table/fields.h"
#include "lib/base/show.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The facts that were assumed, each once, those of the kernel first; an empty one is the array's own. */
static int
is_last(const hu_facts *f, int i)
{
	for (int k = i + 1; k < f->n; k++)
		if (!strcmp(f->fact[k].key, f->fact[i].key))
			return 0;
	return *f->fact[i].value != 0;
}

static void
place(const hu_kernel_job *j, const hu_judge_result *r, char *text, size_t size)
{
	const hu_npy *a = NULL;
	size_t at = 0, rest = r->where ? r->where[r->v.worst] : r->v.worst, index[HU_BALLS_RANK];

	for (int i = 0; i < j->ngot; i++)
		if (!strcmp(j->got[i].name, r->name))
			a = &j->got[i].a;
	for (int d = a ? a->rank - 1 : -1; d >= 0; d--) {
		index[d] = rest % a->shape[d];
		rest /= a->shape[d];
	}
	*text = 0;
	for (int d = 0; a && d < a->rank && at < size; d++)
		at += (size_t)snprintf(text + at, size - at, d ? ",%zu" : "%zu", index[d]);
}

/* The absolute tolerance of KernelBench for results of this format. */
static double
benchmark_atol(const hu_judge_result *r)
{
	return r->f.p >= 24 ? 1e-4 : 1e-2;
}

static void
print_result(const hu_kernel_job *j, const hu_judge_result *r)
{
	const hu_kernel_verdict *v = &r->v;
	char at[160];

	if (r->decides) {
		printf("\n%-10s %s\n", r->name, hu_kernel_words(v->word));
		printf("decisions  %zu of %zu are wrong", r->decision.wrong, r->decision.rows);
		if (r->decision.wrong)
			printf(", the first in row %zu", r->decision.first_wrong);
		putchar('\n');
		printf("open       %zu of %zu: there the radii leave more than one choice\n", r->decision.open,
			r->decision.rows);
		return;
	}
	place(j, r, at, sizeof at);
	printf("\n%-10s %s\n", r->name, r->same_shape ? hu_kernel_words(v->word) : "the shape is WRONG");
	if (!r->same_shape)
		printf("shape      %s is WRONG, the result's is %s\n", r->shape, r->wanted);
	if (!v->n)
		return;
	if (*r->as_if)
		printf("culprit    %s\n", r->as_if);
	if (*r->right_if)
		printf("right if   %s\n", r->right_if);
	if (*r->narrower)
		printf("narrower   right with %s too, by a bound %.3g times narrower:\n"
		       "           declare it if the kernel does so\n",
			r->narrower, r->gain);
	printf("elements   %zu of %s, %zu differ from the exact value rounded once\n", v->n, hu_format_name(r->f.id),
		v->differ);
	if (j->sample)
		printf("sample     %zu of %zu elements, in %d tiles; the others were not looked at\n", v->n, r->of,
			j->tiles);
	printf("proven     %zu beyond the bound, which is %.4g half ulps on the mean\n", v->wrong, v->radius);
	if (v->unbounded)
		printf("           %zu have no bound\n", v->unbounded);
	printf("probable   %zu beyond the bound\n", v->improbable);
	if (j->has_stores > 1)
		printf("declared   %zu are not what the declared stores give\n", v->undeclared);
	printf("worst      [%s] is %.9g, exactly %.9g\n", at, v->got, v->exact);
	printf("           error %.4g of the proven bound %.4g; probable bound %.4g\n", v->ratio, v->bound,
		v->probable);
	printf("error      %.4g ulp at most, %+.4f on the mean; energy %.4g of its model\n", v->worst_ulps,
		v->mean_ulps, v->energy);
	printf("tolerance  the largest value is %.4g: allclose with atol above it accepts zeros%s\n", v->largest,
		v->largest <= 1e-2 ? ", as 1e-2 does" : "");
	printf("           that is %.4g times KernelBench's atol of %g%s\n", v->largest / benchmark_atol(r),
		benchmark_atol(r), v->largest <= benchmark_atol(r) ? ", which cannot tell it from zeros" : "");
	if (*r->order)
		printf("order      %s\n", r->order);
	printf("bias       %+.4f ulp, %s; T = %.3g, alarm at %.3g\n", v->bias.mean_ulps, v->bias.direction, v->bias.t,
		HU_BIAS_T);
}

/* The assumed facts, as many as fit in a line of 80 columns. */
static void
print_assumed(const hu_kernel_job *j)
{
	int column = printf("\nassumed   ");

	for (int i = 0; i < j->facts.n; i++) {
		char text[120];
		if (!is_last(&j->facts, i))
			continue;
		int n = snprintf(text, sizeof text, " %s=%s", j->facts.fact[i].key, hu_shown(j->facts.fact[i].value));
		if (column + n > 80)
			column = printf("\n          ") - 1;
		column += printf("%s", text);
	}
	putchar('\n');
}

void
hu_judge_report(const hu_kernel_job *j)
{
	printf("%s\n", hu_kernel_words(hu_kernel_job_word(j)));
	for (int i = 0; i < j->nresult; i++)
		print_result(j, &j->result[i]);
	print_assumed(j);
	printf("           the probable bound holds for all %selements with probability %.9g,\n"
	       "           if rounding errors are independent with mean zero\n",
		j->sample ? "sampled " : "", j->confidence);
}

static json_t *
result_json(const hu_kernel_job *j, const hu_judge_result *r)
{
	const hu_kernel_verdict *v = &r->v;
	char at[160];
	json_t *o = json_object(), *bias = json_object();

	place(j, r, at, sizeof at);
	json_object_set_new(o, "result", json_string(r->name));
	json_object_set_new(o, "verdict", json_string(r->same_shape ? hu_kernel_words(v->word) : "the shape is wrong"));
	json_object_set_new(o, "as_if", *r->as_if ? json_string(r->as_if) : json_null());
	json_object_set_new(o, "right_if", *r->right_if ? json_string(r->right_if) : json_null());
	json_object_set_new(o, "narrower", *r->narrower ? json_string(r->narrower) : json_null());
	json_object_set_new(o, "narrower_times", *r->narrower ? hu_fields_number(r->gain) : json_null());
	json_object_set_new(o, "decisions_open", r->decides ? json_integer((json_int_t)r->decision.open) : json_null());
	json_object_set_new(o, "format", json_string(hu_format_name(r->f.id)));
	json_object_set_new(o, "shape", json_string(r->shape));
	json_object_set_new(o, "shape_of_result", json_string(r->wanted));
	json_object_set_new(o, "elements", json_integer((json_int_t)v->n));
	json_object_set_new(o, "sample_of", j->sample ? json_integer((json_int_t)r->of) : json_null());
	json_object_set_new(o, "tiles", j->sample ? json_integer(j->tiles) : json_null());
	json_object_set_new(o, "differ", json_integer((json_int_t)v->differ));
	json_object_set_new(o, "beyond_proven", json_integer((json_int_t)v->wrong));
	json_object_set_new(o, "beyond_probable", json_integer((json_int_t)v->improbable));
	json_object_set_new(
		o, "beyond_declared", j->has_stores > 1 ? json_integer((json_int_t)v->undeclared) : json_null());
	json_object_set_new(o, "without_bound", json_integer((json_int_t)v->unbounded));
	json_object_set_new(o, "radius_half_ulps", hu_fields_number(v->radius));
	json_object_set_new(o, "worst_element", json_string(at));
	json_object_set_new(o, "worst_value", hu_fields_number(v->got));
	json_object_set_new(o, "worst_exact", hu_fields_number(v->exact));
	json_object_set_new(o, "worst_bound", hu_fields_number(v->bound));
	json_object_set_new(o, "worst_probable", hu_fields_number(v->probable));
	json_object_set_new(o, "bound_ratio_max", hu_fields_number(v->ratio));
	json_object_set_new(o, "probable_ratio_max", hu_fields_number(v->probable_ratio));
	json_object_set_new(o, "largest", hu_fields_number(v->largest));
	json_object_set_new(o, "kernelbench_atol", hu_fields_number(benchmark_atol(r)));
	json_object_set_new(o, "largest_over_atol", hu_fields_number(v->largest / benchmark_atol(r)));
	json_object_set_new(o, "ulp_max", hu_fields_number(v->worst_ulps));
	json_object_set_new(o, "ulp_mean", hu_fields_number(v->mean_ulps));
	json_object_set_new(o, "energy", hu_fields_number(v->energy));
	json_object_set_new(o, "energy_t", hu_fields_number(v->energy_t));
	json_object_set_new(bias, "direction", v->bias.direction ? json_string(v->bias.direction) : json_null());
	json_object_set_new(bias, "ulp_mean", hu_fields_number(v->bias.mean_ulps));
	json_object_set_new(bias, "T", hu_fields_number(v->bias.t));
	json_object_set_new(bias, "T_exact", hu_fields_number(v->bias.t_exact));
	json_object_set_new(bias, "T_declared", hu_fields_number(v->bias.t_declared));
	json_object_set_new(o, "bias", bias);
	json_object_set_new(o, "order", *r->order ? json_string(r->order) : json_null());
	return o;
}

void
hu_judge_report_json(const hu_kernel_job *j)
{
	json_t *o = json_object(), *results = json_array(), *assumed = json_object();

	json_object_set_new(o, "kernel", json_string(j->composite ? j->composite->name : "graph"));
	json_object_set_new(o, "verdict", json_string(hu_kernel_words(hu_kernel_job_word(j))));
	for (int i = 0; i < j->nresult; i++)
		json_array_append_new(results, result_json(j, &j->result[i]));
	json_object_set_new(o, "results", results);
	json_object_set_new(o, "confidence", hu_fields_number(j->confidence));
	for (int i = 0; i < j->facts.n; i++)
		if (is_last(&j->facts, i))
			json_object_set_new(
				assumed, j->facts.fact[i].key, json_string(hu_shown(j->facts.fact[i].value)));
	json_object_set_new(o, "assumed", assumed);
	hu_rows_print_json(o);
}
