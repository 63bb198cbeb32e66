/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/judge/kernel/kernel_job.h"

#include "lib/base/show.h"

#include <stdio.h>
#include <string.h>

int
hu_judge_assumed(const hu_facts *f, int i)
{
	for (int k = i + 1; k < f->n; k++)
		if (!strcmp(f->fact[k].key, f->fact[i].key))
			return 0;
	return *f->fact[i].value != 0;
}

void
hu_judge_place(const hu_kernel_job *j, const hu_judge_result *r, char *text, size_t size)
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

double
hu_judge_atol(const hu_judge_result *r)
{
	return r->f.p >= 24 ? 1e-4 : 1e-2;
}

static void
print_result(const hu_kernel_job *j, const hu_judge_result *r)
{
	const hu_kernel_verdict *v = &r->v;
	char at[HU_JUDGE_PLACE];

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
	hu_judge_place(j, r, at, sizeof at);
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
	printf("           that is %.4g times KernelBench's atol of %g%s\n", v->largest / hu_judge_atol(r),
		hu_judge_atol(r), v->largest <= hu_judge_atol(r) ? ", which cannot tell it from zeros" : "");
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
		if (!hu_judge_assumed(&j->facts, i))
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
