/* SPDX-License-Identifier: Apache-2.0
   What validate finds of a policy's nodes, as units (validate_units.h). A sum over inputs is one of sums of batches,
   whoever computed those. */
#include "analyzers/validate/validate_units.h"

#include "lib/base/mem.h"
#include "lib/base/parts/pack.h"

#include <stdlib.h>
#include <string.h>

static void
pack_damage(hu_pack *r, hu_damage *d)
{
	hu_pack_real(r, &d->error);
	hu_pack_real(r, &d->all);
	hu_pack_size(r, &d->flips);
}

static void
pack_survey(hu_pack *r, hu_sensitivity *s)
{
	hu_str first;

	hu_str_init(&first);
	hu_str_add(&first, s->first_nonfinite ? s->first_nonfinite : "");
	pack_damage(r, &s->joint);
	if (r->reading)
		first.len = 0;
	hu_pack_text(r, &first);
	if (r->reading && first.len)
		s->first_nonfinite = hu_xstrdup(first.s);
	hu_str_release(&first);
	for (size_t k = 0; k < s->n; k++) {
		hu_node_damage *n = &s->node[k];
		pack_damage(r, &n->joint);
		hu_pack_real(r, &n->range.amax);
		hu_pack_real(r, &n->p999);
		hu_pack_size(r, &n->outliers);
		n->channels = hu_pack_length(r, n->channels);
		if (r->reading)
			n->channel = hu_xcalloc(n->channels + 1, sizeof *n->channel);
		for (size_t c = 0; c < n->channels; c++)
			hu_pack_real(r, &n->channel[c]);
	}
}

static void
pack_alone(hu_pack *r, hu_sensitivity *s, const hu_validate_unit *u)
{
	hu_pack_size(r, &s->calls);
	hu_pack_size(r, &s->all_calls);
	for (size_t k = u->first; k < u->last; k++) {
		hu_node_damage *n = &s->node[k];
		pack_damage(r, &n->low);
		pack_damage(r, &n->high);
		pack_damage(r, &n->local);
		hu_pack_size(r, &n->operands);
		hu_pack_size(r, &n->zeroed);
		hu_pack_size(r, &n->saturated);
	}
}

/* Opens what the runs of policy p share, unless the unit before was of that policy too. */
static hu_status
sense(hu_validate_job *j, size_t p)
{
	if (j->sensing && j->sensed == p)
		return HU_OK;
	hu_sensitivity_run_close(j->sensing);
	j->sensed = p;
	hu_progress_note(&j->work.bar, "nodes of %.60s", j->policies->v[p].name);
	return hu_sensitivity_run_open(&j->sensing, &j->policies->v[p], &j->net->m, j->net->ranges.range, &j->net->s,
		j->d, j->sums, j->surveyed, j->net->batch, 0);
}

hu_status
hu_validate_nodes_compute(hu_validate_job *j, const hu_validate_unit *u, hu_str *found)
{
	hu_sensitivity own;
	hu_pack r;

	HU_TRY(sense(j, u->policy));
	HU_TRY(hu_sensitivity_list(&own, &j->policies->v[u->policy], &j->net->m));
	int alone = u->kind == HU_VALIDATE_ALONE;
	hu_status st = alone ? hu_sensitivity_run_alone(j->sensing, &own, u->batch, u->first, u->last)
			     : hu_sensitivity_run_survey(j->sensing, &own);
	hu_pack_write(&r);
	if (st == HU_OK && alone)
		pack_alone(&r, &own, u);
	else if (st == HU_OK)
		pack_survey(&r, &own);
	hu_str_add(found, r.text.s);
	hu_pack_release(&r);
	hu_sensitivity_release(&own);
	return st;
}

static void
add(hu_damage *d, const hu_damage *more)
{
	d->error += more->error;
	d->all += more->all;
	d->flips += more->flips;
}

/* Adds a batch's sums. */
static void
join_alone(hu_sensitivity *s, const hu_sensitivity *own, const hu_validate_unit *u)
{
	s->calls += own->calls;
	s->all_calls += own->all_calls;
	for (size_t k = u->first; k < u->last; k++) {
		hu_node_damage *to = &s->node[k];
		const hu_node_damage *n = &own->node[k];
		add(&to->low, &n->low);
		add(&to->high, &n->high);
		add(&to->local, &n->local);
		to->operands += n->operands;
		to->zeroed += n->zeroed;
		to->saturated += n->saturated;
	}
}

/* Merges a unit; nodes are in the program's order until the policy's last one. */
hu_status
hu_validate_nodes_merge(hu_validate_job *j, const hu_validate_unit *u, const char *found)
{
	hu_sensitivity *s = j->row[u->policy].sensitivity, own;
	int alone = u->kind == HU_VALIDATE_ALONE;
	hu_pack r;

	HU_TRY(hu_sensitivity_list(&own, &j->policies->v[u->policy], &j->net->m));
	hu_pack_read(&r, found);
	if (alone)
		pack_alone(&r, &own, u);
	else
		pack_survey(&r, s);
	hu_status st = hu_pack_end(&r, s->policy);
	hu_pack_release(&r);
	if (st == HU_OK && alone)
		join_alone(s, &own, u);
	hu_sensitivity_release(&own);
	const hu_validate_unit *next = u + 1;
	if (next == j->unit + j->work.n || next->policy != u->policy)
		hu_sensitivity_sort(s);
	return st;
}
