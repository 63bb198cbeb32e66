/* SPDX-License-Identifier: Apache-2.0
   A variant's schemes by call: which node each exception means, and which calls are products that can be quantised. */
#include "analyzers/network/variants.h"

#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

#include <stdlib.h>
#include <string.h>

char *
hu_schemes_quantisable(const hu_imported *m)
{
	char *is = hu_xcalloc((size_t)m->p->nc + 1, 1);

	for (int i = 0; i < m->p->nc; i++) {
		const hu_call *c = &m->p->c[i];
		int node = !strcmp(m->op[i], "Conv") || !strcmp(m->op[i], "Gemm") || !strcmp(m->op[i], "MatMul"),
		    product = (!strcmp(c->op->name, "matmul") || !strcmp(c->op->name, "conv2d")) && c->nin == 2;
		is[i] = node && product && m->p->t[c->in[0]].format == HU_FP32 && m->p->t[c->in[1]].format == HU_FP32 &&
			m->p->t[c->out[0]].format == HU_FP32 && !m->constant[c->in[0]].data;
	}
	return is;
}

char *
hu_schemes_kept(const hu_imported *m)
{
	char *is = hu_xcalloc((size_t)m->p->nt + 1, 1);

	for (size_t k = 0; k < m->nout; k++)
		is[m->out[k].tensor] = 1;
	return is;
}

static int
fits(const hu_exception *e, const hu_imported *m, int call)
{
	if (e->pattern)
		return hu_match(e->node, m->p->c[call].layer);
	return !strcmp(e->node, m->node[call]) || !strcmp(e->node, m->p->c[call].layer);
}

hu_status
hu_variant_unmet(const hu_variant *v, size_t k)
{
	const hu_exception *e = &v->exception[k];

	return hu_fail(HU_EINVAL, "policy '%s': no node of the model %s '%s' (--list --json lists the names)",
		hu_shown(v->name), e->pattern ? "fits" : "is called", hu_shown(e->node));
}

void
hu_variant_meets(char *met, const hu_variant *v, const hu_imported *m)
{
	for (size_t k = 0; k < v->n; k++)
		for (int i = 0; i < m->p->nc && !met[k]; i++)
			met[k] = (char)fits(&v->exception[k], m, i);
}

hu_status
hu_variant_schemes(const hu_variant *v, const hu_imported *m, const hu_scheme ***scheme)
{
	const hu_scheme **s = hu_xcalloc((size_t)m->p->nc + 1, sizeof *s);
	char *quantisable = hu_schemes_quantisable(m);
	hu_status st = HU_OK;

	for (int i = 0; i < m->p->nc; i++)
		s[i] = &v->rest;
	for (size_t k = 0; k < v->n && st == HU_OK; k++) {
		const hu_exception *e = &v->exception[k];
		int found = 0, product = 0;
		for (int i = 0; i < m->p->nc; i++) {
			if (!fits(e, m, i))
				continue;
			found = 1;
			product |= quantisable[i];
			s[i] = &e->scheme;
		}
		if (!found && v->some)
			continue;
		if (!found)
			st = hu_variant_unmet(v, k);
		else if (!product && e->scheme.kind != HU_SCHEME_FLOAT && !e->pattern)
			st = hu_fail(HU_EINVAL,
				"policy '%s': node '%s' has no product that %s could quantise; give it a float "
				"format",
				hu_shown(v->name), hu_shown(e->node), e->scheme.name);
	}
	for (int i = 0; i < m->p->nc; i++)
		if (s[i]->kind == HU_SCHEME_FLOAT && s[i]->format == HU_FP32)
			s[i] = NULL;
	free(quantisable);
	if (st != HU_OK) {
		free(s);
		s = NULL;
	}
	*scheme = s;
	return st;
}

hu_status
hu_variant_version(hu_version *to, const hu_variant *v, const hu_imported *m, const hu_range *range, size_t *products,
	size_t *quantised)
{
	const hu_scheme **scheme = NULL;

	m = v->as ? v->as : m;
	char *quantisable = hu_schemes_quantisable(m), *kept = hu_schemes_kept(m);
	hu_status st = v->by_node ? hu_variant_schemes(v, m, &scheme) : HU_OK;

	for (int i = 0; i < m->p->nc && st == HU_OK && products; i++) {
		*products += (size_t)quantisable[i];
		*quantised += quantisable[i] && scheme && scheme[i] && scheme[i]->kind != HU_SCHEME_FLOAT;
	}
	hu_scheme_plan plan = { m->p, m->constant, scheme, quantisable, kept, range };
	if (st == HU_OK)
		st = v->by_node ? hu_version_of_schemes(to, &plan)
				: hu_version_of_policy(to, m->p, m->constant, &v->policy);
	for (int i = 0; i < m->p->nt && v->as && st == HU_OK; i++) /* which has its constants as the file stores them */
		if (m->half[i] && to->map[i] >= 0)
			to->bits[to->map[i]] = 16 * (double)m->constant[i].n;
	free(quantisable);
	free(kept);
	free(scheme);
	return st;
}
