/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/judge/parts/packs.h"

void
hu_pack_harm(hu_pack *r, hu_harm *h)
{
	hu_pack_wide(r, &h->exact2);
	hu_pack_wide(r, &h->got2);
	hu_pack_wide(r, &h->lost2);
	hu_pack_wide(r, &h->dot);
	hu_pack_size(r, &h->nonfinite);
}

void
hu_pack_methods(hu_pack *r, hu_methods *l)
{
	hu_pack_size(r, &l->exact);
	hu_pack_size(r, &l->certified);
	hu_pack_size(r, &l->oracle);
	hu_pack_size(r, &l->again);
}

void
hu_pack_swamp(hu_pack *r, hu_swamp *s)
{
	hu_pack_count(r, &s->additions);
	hu_pack_count(r, &s->swamped);
	hu_pack_count(r, &s->outputs);
	hu_pack_count(r, &s->stagnated);
}

void
hu_pack_propagation(hu_pack *r, hu_propagation *p)
{
	hu_pack_size(r, &p->steps);
	hu_pack_size(r, &p->by_mpfr);
	hu_pack_size(r, &p->twice);
	hu_pack_size(r, &p->tensors);
	hu_pack_size(r, &p->escalated);
	hu_pack_size(r, &p->unreported);
	hu_pack_size(r, &p->left);
	hu_pack_size(r, &p->agreed);
	hu_pack_size(r, &p->judged);
	hu_pack_size(r, &p->disagreed);
	hu_pack_size(r, &p->vanished);
	hu_pack_real(r, &p->widest);
}

void
hu_pack_errors_step(hu_pack *r, hu_errors_step *m)
{
	hu_pack_int(r, &m->known);
	if (!m->known)
		return;
	hu_pack_real(r, &m->ulp_max);
	hu_pack_real(r, &m->ulp_mean);
	hu_pack_real(r, &m->rel_normwise);
}

static void
sum(hu_pack *r, hu_total *s)
{
	hu_pack_real(r, &s->h);
	hu_pack_real(r, &s->l);
	hu_pack_wide(r, &s->far);
}

void
hu_pack_errors_sum(hu_pack *r, hu_errors_sum *s)
{
	size_t n = s->n, of = s->of, keep, worst = s->m.worst + 1;   /* (size_t)-1, none, is written 0 */

	hu_errors_thin(s);
	keep = s->ntop;
	hu_pack_size(r, &n);
	hu_pack_size(r, &of);
	r->bad |= n != s->n || of != s->of;
	hu_pack_real(r, &s->m.ulp_max);
	hu_pack_real(r, &s->m.rel_max);
	hu_pack_real(r, &s->m.componentwise);
	hu_pack_real(r, &s->m.condition_max);
	hu_pack_real(r, &s->m.ratio_max);
	hu_pack_size(r, &s->m.over);
	hu_pack_size(r, &worst);
	s->m.worst = worst - 1;
	sum(r, &s->ulps);
	sum(r, &s->ulps2);
	sum(r, &s->error2);
	sum(r, &s->magnitude2);
	hu_pack_int(r, &s->infinite);
	hu_pack_size(r, &keep);
	r->bad |= keep > s->keep;
	if (!r->bad)
		hu_pack_reals(r, s->top, keep);
	s->ntop = r->bad ? 0 : keep;
}
