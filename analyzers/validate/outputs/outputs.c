/* SPDX-License-Identifier: Apache-2.0
   The verdict of a policy, and TAP. */
#include "analyzers/validate/outputs/outputs.h"

#include "lib/base/show.h"

#include <stdio.h>
#include <stdlib.h>

const char *
hu_validation_verdict(const hu_validation *v, const hu_judgement *j)
{
	for (size_t i = 0; i < v->naccept; i++)
		if (!j->keeps[i])
			return "fail";
	return v->naccept ? "pass" : "-";
}

void
hu_validation_tap(const hu_validation *v)
{
	size_t n = 0;

	printf("1..%zu\n", v->nrow * v->naccept);
	for (size_t i = 0; i < v->nrow; i++) {
		const hu_judgement *j = &v->row[i];
		for (size_t k = 0; k < v->naccept; k++) {
			hu_str b;
			hu_str_init(&b);
			(void)hu_accept_tell(&b, &v->accept[k], &j->r);
			char is[HU_ACCEPT_TEXT];
			hu_accept_figure(is, &v->accept[k], j->is[k]);
			printf("%sok %zu - %s: %s, it is %s%s%s\n", j->keeps[k] ? "" : "not ", ++n,
				hu_shown(j->policy), hu_shown(v->accept[k].text), is, *b.s ? "; " : "", b.s);
			hu_str_release(&b);
		}
	}
}

void
hu_judgement_release(hu_judgement *j)
{
	hu_evaluated_release(&j->e);
	hu_effect_release(&j->r);
	if (j->sensitivity)
		hu_sensitivity_release(j->sensitivity);
	free(j->sensitivity);
	free(j->keeps);
	free(j->is);
}
