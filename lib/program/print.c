/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/str.h"
#include "lib/op/reduce/summed.h"
#include "lib/program/program.h"

#include <string.h>

static void
shape_text(hu_str *s, hu_shape d)
{
	for (int i = 0; i < d.rank; i++)
		hu_str_addf(s, "%s%zu", i ? "x" : "", d.d[i]);
	if (!d.rank)
		hu_str_add(s, "scalar");
}

static void
operands(hu_str *s, const hu_program *p, const int *ids, int n)
{
	enum { SHOWN = 6 };

	for (int i = 0; i < n && i < SHOWN; i++)
		hu_str_addf(s, "%s%s", i ? ", " : "", p->t[ids[i]].name);
	if (n > SHOWN)
		hu_str_addf(s, ", … (%d more)", n - SHOWN);
}

void
hu_program_print(const hu_program *p, FILE *f)
{
	hu_str out, in, attr;
	int phase = -1;

	hu_str_init(&out);
	hu_str_init(&in);
	hu_str_init(&attr);
	fprintf(f, "program %s: %d calls, %d tensors\n", p->name, p->nc, p->nt);
	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		char sum[96];
		if ((int)c->phase != phase)
			fprintf(f, "\n%s\n", hu_phase_name(c->phase));
		phase = (int)c->phase;
		out.len = in.len = attr.len = 0;
		out.s[0] = in.s[0] = attr.s[0] = 0;
		operands(&out, p, c->out, c->nout);
		operands(&in, p, c->in, c->nin);
		shape_text(&attr, p->t[c->out[0]].shape);
		hu_str_addf(&attr, " %s", hu_format_name(p->t[c->out[0]].format));
		if (c->mode != HU_RNE)
			hu_str_addf(&attr, " %s", hu_mode_name(c->mode));
		if (c->flags & HU_SATURATE)
			hu_str_add(&attr, " saturate");
		if (hu_summed_or_product(c)) {
			hu_sum_print(c->sum, sum, sizeof sum);
			hu_str_addf(&attr, " sum=%s", sum);
		}
		for (int k = 0; k < c->nattr; k++) {
			if (*c->attr[k].text)
				hu_str_addf(&attr, " %s=%s", c->attr[k].key, c->attr[k].text);
			else
				hu_str_addf(&attr, " %s=%g", c->attr[k].key, c->attr[k].num);
		}
		fprintf(f, "%4d  %-36s = %-16s (%s)  %s\n", c->id, out.s, c->op->name, in.s, attr.s);
	}
	hu_str_release(&out);
	hu_str_release(&in);
	hu_str_release(&attr);
}
