/* SPDX-License-Identifier: Apache-2.0
   The table of policies as text, and the sentences below it. */
#include "analyzers/validate/outputs/outputs.h"

#include "analyzers/network/lost_constants.h"
#include "analyzers/validate/outputs/output_row.h"
#include "analyzers/validate/outputs/validation_table.h"

#include "lib/base/mem.h"
#include "lib/base/show.h"
#include "lib/base/table/fields.h"
#include "lib/judge/kernel/verdict.h"
#include "lib/judge/doubles/doubles.h"
#include "lib/judge/propagate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_exact(const hu_validation *v)
{
	const hu_exact_network *x = v->exact;
	size_t open = 0;

	for (size_t i = 0; i < v->s->n; i++)
		open += (size_t)x->undecided[i];
	printf("\nThe exact network, on %zu input%s: float32 is at most %.3g off, %.3g of the output's largest "
	       "magnitude.\n",
		x->n, x->n == 1 ? "" : "s", x->worst, x->relative);
	if (v->d.classes > 1)
		printf("float32 decides otherwise than it on %zu; on %zu float32's margin is no larger than its own "
		       "error.\n",
			x->changed, open);
	if (x->open)
		printf("Of %zu more input%s nothing is told, because the bounds on the exact values leave a decision "
		       "or a distance open.\n",
			x->open, x->open == 1 ? "" : "s");
	size_t pairs = x->agreed - x->doubles;
	if (pairs)
		printf("On %zu input%s running bounds were too wide somewhere, and bounds of 2^-%d of float32's own "
		       "error took their place.\n",
			pairs, pairs == 1 ? "" : "s", HU_BOUNDED_AGREE);
	if (x->doubles)
		printf("On %zu input%s it was computed in doubles, because the network is too deep for running bounds, "
		       "and has bounds of 2^-%d of float32's own error.\n",
			x->doubles, x->doubles == 1 ? "" : "s", HU_DOUBLES_AGREE);
}

/* The first changed decisions of each policy, with their margins. */
static void
print_changes(const hu_validation *v)
{
	enum { SHOWN = 4 };

	for (size_t i = 0; i < v->nrow; i++) {
		const hu_effect *r = &v->row[i].r;
		for (size_t k = 0; k < r->nchange && k < SHOWN; k++) {
			const hu_change *c = &r->change[k];
			if (v->d.kind == HU_DECISION_LISTS && v->lists->boxes < 0) {
				printf("%s%s%zu", k ? ", " : hu_shown(v->row[i].policy),
					k ? "" : " changes shapes or whole numbers of input ", c->input);
				continue;
			}
			if (v->d.kind == HU_DECISION_LISTS) {
				printf("%s%s%zu (%zu boxes lost, %zu new)", k ? "; " : hu_shown(v->row[i].policy),
					k ? "" : " changes the list of input ", c->input, c->was, c->is);
				continue;
			}
			if (k)
				printf("; ");
			else
				printf("%s changes input ", hu_shown(v->row[i].policy));
			printf("%zu from %zu to %zu (by %.3g, float32's margin %.3g)", c->input, c->was, c->is,
				c->margin, c->margin32);
		}
		if (r->nchange > SHOWN)
			printf("; %zu more, which --json lists", r->nchange - SHOWN);
		if (r->nchange)
			puts(".");
	}
}

/* What was quantised, and by which inputs' ranges. */
static void
print_schemes(const hu_validation *v)
{
	for (size_t i = 0; i < v->nrow; i++)
		if (v->row[i].quantised)
			printf("%s: %zu of %zu products of Conv, Gemm and MatMul nodes are quantised.\n",
				hu_shown(v->row[i].policy), v->row[i].quantised, v->row[i].products);
	if (v->calibrated && v->calibration)
		printf("Static scales were measured on %zu inputs of %s.\n", v->calibrated, hu_shown(v->calibration));
	else if (v->calibrated)
		printf("Static scales were measured on the first %zu inputs of the data themselves.\n", v->calibrated);
}

/* What a flip is of a model whose inputs have outputs of their own shape. */
static void
print_lists(const hu_validation *v)
{
	if (v->lists->boxes < 0) {
		puts("\nA flip is an input whose outputs have other shapes or other whole numbers than float32's.");
		return;
	}
	printf("\nA flip is an input of which a box of list '%s'", hu_shown(v->m->out[v->lists->boxes].name));
	if (v->d.threshold == v->d.threshold)
		printf(", of a score above %.6g,", v->d.threshold);
	printf(" is in one list alone, this policy's or float32's: a box\nis the same where it%s covers half of what "
	       "both cover together.\n",
		v->lists->labels >= 0 ? " has the same label and" : "");
	for (size_t i = 1; i < v->nrow; i++)
		printf("%s%s changes %zu boxes%s", i > 1 ? ", " : "", hu_shown(v->row[i].policy),
			v->row[i].r.decision_flips, i + 1 < v->nrow ? "" : ".\n");
}

/* What a flip is, and where inputs have several decisions how many of all of these differ. */
static void
print_decision(const hu_validation *v)
{
	const hu_deciding *d = &v->d;
	const hu_port *o = &v->m->out[d->output];
	const char *name = hu_shown(o->name);

	if (d->classes < 2) {
		puts(d->none ? "\nNothing is decided, as --decision none says: only distances are told."
			     : "\nNo output has two classes or more along its last axis: nothing is decided, only "
			       "distances are told.");
		return;
	}
	if (d->kind == HU_DECISION_THRESHOLD)
		printf("\nA flip is an input of which an element of output '%s' is above %.6g and float32's is not, or "
		       "the other way round.\n",
			name, d->threshold);
	else if (d->kind == HU_DECISION_BOXES)
		printf("\nA flip is an input of which a place of output '%s' has a box of another class than "
		       "float32's, or "
		       "one of the two has none: of %zu scores along axis %d the largest decides, if it is above "
		       "%.6g.\n",
			name, d->classes - 1, d->axis, d->threshold);
	else if (d->kind == HU_DECISION_CTC)
		printf("\nA flip is an input whose text, the largest of the %zu values along axis %d of output '%s' at "
		       "each step, without repeats and without class %zu, differs from float32's.\n",
			d->classes, d->axis, name, d->blank);
	else if (d->kind == HU_DECISION_LISTS)
		print_lists(v);
	else if (d->kind == HU_DECISION_INDEX)
		printf("\nA flip is an input whose decision, the index in output '%s', differs from float32's.\n",
			name);
	else if (d->axis == o->rank - 1)
		printf("\nA flip is an input whose decision, the largest of the %zu values along the last axis of "
		       "output "
		       "'%s', differs from float32's.\n",
			d->classes, name);
	else
		printf("\nA flip is an input whose decision, the largest of the %zu values along axis %d of output "
		       "'%s', "
		       "differs from float32's.\n",
			d->classes, d->axis, name);
	if (d->rows < 2)
		return;
	for (size_t i = 0; i < v->nrow && v->row[0].r.perplexity == v->row[0].r.perplexity; i++)
		printf("%s %s %.6g%s", i ? "," : "The perplexity of the labels, exp of their mean -log p, is",
			hu_shown(v->row[i].policy), v->row[i].r.perplexity, i + 1 < v->nrow ? "" : ".\n");
	printf("An input has %zu such decisions.", d->rows);
	for (size_t i = 1; i < v->nrow; i++)
		printf(" %s changes %zu of all %zu.", hu_shown(v->row[i].policy), v->row[i].r.decision_flips,
			v->s->n * d->rows);
	puts("");
}

/* The distances of each output by itself, where there are several. */
static void
print_outputs(const hu_validation *v)
{
	hu_output_row *row = hu_xcalloc(v->nrow * v->m->nout + 1, sizeof *row);
	size_t n = 0;

	for (size_t i = 1; i < v->nrow; i++)
		for (size_t k = 0; k < v->m->nout; k++)
			row[n++] = hu_output_row_of(v->row[i].policy, v->m->out[k].name, &v->row[i].r.out[k]);
	if (n && v->m->nout > 1) {
		putchar('\n');
		hu_fields_print(&hu_output_table, row, n, "--json has all");
		putchar('\n');
	}
	free(row);
}

/* Outputs whose errors have one direction; T as in replay.tsv (doc/analysis.md). */
static void
print_directions(const hu_validation *v)
{
	for (size_t i = 1; i < v->nrow; i++)
		for (size_t k = 0; k < v->m->nout; k++) {
			const hu_distance *d = &v->row[i].r.out[k];
			int outward = fabs(d->outward_share) > fabs(d->signed_share);
			double share = outward ? d->outward_share : d->signed_share;
			if (d->whole || !(d->bias_t > HU_BIAS_T))
				continue;
			printf("%s: the errors of output '%s' have one direction, %s", hu_shown(v->row[i].policy),
				hu_shown(v->m->out[k].name),
				outward     ? share > 0 ? "away from zero" : "toward zero"
				: share > 0 ? "up"
					    : "down");
			printf(": their mean is %.3g of their root mean square, T = %.3g.\n", fabs(share), d->bias_t);
		}
}

/* The axes of batches, where one is not the first. */
static void
print_axes(const hu_validation *v)
{
	const hu_samples *s = v->s;
	size_t n = s->narray + v->m->nout, others = 0, moved = 0, listed = 0, all = 0;

	for (size_t i = 0; i < s->narray; i++)
		if (s->shared[i]) {
			const char *name = hu_shown(s->input[i]->name);
			printf("Input '%s' is one array, the same for all inputs of the data.\n", name);
			if (s->array[i]->rank && s->array[i]->shape[0] == s->n)
				printf("Its first size is the number of inputs: if it has an input per row, say "
				       "--batch-axis %s=0.\n",
					name);
		}
	for (size_t i = 0; i < s->narray; i++) {
		moved += s->axis[i] > 0;
		all += !s->shared[i];
	}
	all += v->m->nout;
	for (size_t i = 0; i < n; i++)
		others += i < s->narray ? s->axis[i] > 0 : v->m->out[i - s->narray].axis > 0;
	if (v->alone || v->batch == 1 || !others)
		return;
	printf("The inputs of a batch lie along ");
	for (size_t i = 0; i < n; i++) {
		const hu_port *o = i < s->narray ? NULL : &v->m->out[i - s->narray];
		if (!o && s->shared[i])
			continue;
		printf("%saxis %d of '%s'",
			!listed             ? ""
			: listed + 1 == all ? " and "
					  : ", ",
			o ? o->axis : s->axis[i], hu_shown(o ? o->name : s->input[i]->name));
		listed++;
	}
	puts(".");
	if (moved)
		puts("Each row of an array of the data, along its first axis, is one input.");
}

/* How files run that run as they are. */
static void
print_runtime(const hu_validation *v)
{
	if (v->typed && !v->m->narrow)
		puts("'as typed' is the model's own file as that runtime runs it; float32 runs its nodes one by one.");
	else if (v->typed)
		puts("'as typed' is the model's own file with its float16 and bfloat16; float32 and the policies "
		     "compute "
		     "without these types.");
	if (v->runtime)
		printf("Runtime %s. float16 and bfloat16 of files: %s.\n", v->runtime,
			!strcmp(v->runtime, "strict") ? "the results of every node are rounded to their types"
						      : "most nodes compute in float32, and few results are rounded, "
							"as ONNX Runtime does on a CPU");
	if ((v->nagainst || v->typed) && v->runtime &&
		(strstr(v->runtime, ":extended") || strstr(v->runtime, ":all")))
		puts("Nodes between DequantizeLinear and QuantizeLinear run as the kernels of codes that ONNX "
		     "Runtime\nmakes of them at its levels extended and all, on an x86 processor.");
	else if (v->nagainst)
		puts("Files run node by node, as ONNX Runtime has them without its optimisations: kernels that it "
		     "fuses\n"
		     "quantised nodes to round ties and Softmax otherwise. Where a code differs by one, later nodes "
		     "may "
		     "amplify\nthat, and a decision with a small margin may be another one there.");
}

/* What a tool is known to do wrong to this model. */
static void
print_notes(const hu_validation *v)
{
	for (size_t i = 0; i < v->nrow; i++)
		for (const char *s = v->row[i].e.v.notes; s && *s; s += strcspn(s, "\n") + 1)
			printf("%s: %.*s\n", hu_shown(v->row[i].policy), (int)strcspn(s, "\n"), s);
}

/* The rules that policies break, with what the inputs show of shares. */
static void
print_fails(const hu_validation *v)
{
	for (size_t i = 0; i < v->nrow; i++)
		for (size_t k = 0; k < v->naccept; k++) {
			hu_str b;
			if (v->row[i].keeps[k])
				continue;
			hu_str_init(&b);
			(void)hu_accept_tell(&b, &v->accept[k], &v->row[i].r);
			char is[HU_ACCEPT_TEXT];
			hu_accept_figure(is, &v->accept[k], v->row[i].is[k]);
			printf("%s fails %s: it is %s%s%s%s.\n", hu_shown(v->row[i].policy),
				hu_shown(v->accept[k].text), is, *b.s ? " (" : "", b.s, *b.s ? ")" : "");
			hu_str_release(&b);
		}
}

void
hu_validation_print(const hu_validation *v)
{
	const hu_imported *m = v->m;

	printf("%s: %zu node%s, %d call%s, on %zu input%s in batches of %zu\n", hu_shown(v->path), m->nodes,
		m->nodes == 1 ? "" : "s", m->p->nc, m->p->nc == 1 ? "" : "s", v->s->n, v->s->n == 1 ? "" : "s",
		v->batch);
	if (v->alone)
		printf("Inputs run one by one: %s.\n", v->alone);
	print_axes(v);
	puts("");
	hu_validation_table(v);
	print_decision(v);
	print_outputs(v);
	print_directions(v);
	print_changes(v);
	print_schemes(v);
	print_runtime(v);
	print_notes(v);
	for (size_t i = 0; i < v->nrow; i++) {
		const hu_judgement *j = &v->row[i];
		if (j->e.first_call < 0)
			continue;
		printf("%s: the first value that is not finite comes from layer %s (%s).\n", hu_shown(j->policy),
			j->e.p->c[j->e.first_call].layer, j->e.p->c[j->e.first_call].op->name);
		hu_lost_constant lost[HU_LOST_CONSTANTS];
		size_t n = hu_lost_constants(lost, &j->e.v, j->e.first_call);
		for (size_t k = 0; k < n; k++)
			if (lost[k].lost == lost[k].of)
				printf("%s: on the way there the constant %.6g of layer %s is %s in %s.\n",
					hu_shown(j->policy), lost[k].was, lost[k].layer,
					lost[k].is == 0 ? "0" : "infinite", hu_format_name(lost[k].format));
			else
				printf("%s: on the way there %zu of %zu elements of a constant of layer %s are "
				       "infinite in "
				       "%s, of which the largest is %.6g.\n",
					hu_shown(j->policy), lost[k].lost, lost[k].of, lost[k].layer,
					hu_format_name(lost[k].format), lost[k].was);
	}
	if (v->exact)
		print_exact(v);
	else if (v->too_long > 0)
		printf("\nThe exact network was not run: an input takes %.2g operations; "
		       "--exact 1 runs it on one.\n",
			v->too_long);
	print_fails(v);
	for (size_t i = 0; i < v->nrow; i++)
		if (v->row[i].sensitivity)
			hu_sensitivity_print(v->row[i].sensitivity);
	for (size_t i = 0; i < v->nagainst; i++)
		hu_against_print(&v->against[i]);
	char *sentence = hu_validation_sentence(v);
	printf("\n%s\n", sentence);
	free(sentence);
}
