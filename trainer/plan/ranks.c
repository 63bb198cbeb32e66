/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/plan/ranks.h"

#include "lib/base/console/opt.h"
#include "lib/base/str.h"
#include "lib/op/ranks/over_ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const hu_rank_network networks[] = {
#define NETWORK(id, gb_s, source) { #id, gb_s, source },
#include "trainer/plan/networks.def"
#undef NETWORK
};

enum { NETWORKS = sizeof networks / sizeof *networks };

/* Returns 1 where tensor i is a state that belongs to a parameter, whichever call computes its next value: LAYER.w_m
   belongs to LAYER.w. */
static int
is_moment(const hu_program *p, int i)
{
	const hu_info *t = &p->t[i];
	const char *end = strrchr(t->name, '_');
	char of[HU_NAME];

	if (!t->state || t->trainable || t->next < 0 || !end)
		return 0;
	snprintf(of, sizeof of, "%.*s", (int)(end - t->name), t->name);
	int parameter = hu_program_find(p, of);
	return parameter >= 0 && p->t[parameter].trainable;
}

/* Returns the bytes of the optimizer's states that belong to parameters: moments, and averages of the weights. */
static double
moments(const hu_program *p)
{
	double bytes = 0;

	for (int i = 0; i < p->nt; i++)
		bytes += is_moment(p, i) ? hu_info_bytes(&p->t[i]) : 0;
	return bytes;
}

/* Returns what the gradients that all-reduce calls of the program send take in the formats that these send; 0 where
   there are none. */
static double
on_the_wire(const hu_program *p)
{
	double bytes = 0;

	for (int i = 0; i < p->nc; i++) {
		if (p->c[i].op->role != HU_ROLE_ALL_REDUCE)
			continue;
		hu_info sent = p->t[p->c[i].out[0]];
		sent.format = hu_over_ranks_wire(&p->c[i]);
		bytes += hu_info_bytes(&sent);
	}
	return bytes;
}

hu_rank_sizes
hu_rank_sizes_of(const hu_program *p, hu_format_id wire)
{
	hu_memory m = hu_memory_of(p);
	hu_rank_sizes s = { .parameters = (double)hu_parameters(p), .masters = m.masters, .moments = moments(p) };
	double reduced = wire == HU_NO_FORMAT ? on_the_wire(p) : 0;

	for (int i = 0; i < p->nt; i++) {
		const hu_info *t = &p->t[i];
		if (!strcmp(t->role, "rm") || !strcmp(t->role, "rv"))
			s.statistics += t->state ? hu_info_bytes(t) : 0;
		if (!t->trainable || t->grad < 0)
			continue;
		hu_info sent = p->t[t->grad];
		s.gradients += hu_info_bytes(&sent);
		if (wire != HU_NO_FORMAT)
			sent.format = wire;
		s.wire += hu_info_bytes(&sent);
	}
	if (reduced > 0)
		s.wire = reduced;
	s.weights = m.weights - s.statistics;
	s.scalars = m.optimizer_state - s.moments;
	s.rest = m.activations + m.gradients - s.gradients;
	return s;
}

/* Returns what the `part` numbers that one rank holds take of bytes that belong to all parameters; all where whole. */
static double
held(const hu_rank_sizes *s, double bytes, double part, int whole)
{
	return whole || !(s->parameters > 0) ? bytes : bytes * part / s->parameters;
}

hu_rank_share
hu_rank_share_of(const hu_rank_sizes *s, int stage, size_t n)
{
	double part = ceil(s->parameters / (double)n), sent = s->wire + (stage == 0          ? s->wire
										: stage == 3 ? 2 * s->weights
											     : s->weights);
	hu_rank_share r = {
		.weights = held(s, s->weights, part, stage < 3) + s->statistics,
		.masters = held(s, s->masters, part, stage < 1),
		.gradients = held(s, s->gradients, part, stage < 2),
		.optimizer_state = held(s, s->moments, part, stage < 1) + s->scalars,
		.rest = s->rest,
		.sent = ((double)n - 1) * held(s, sent, part, 0),
	};

	r.all = r.weights + r.masters + r.gradients + r.optimizer_state + r.rest;
	return r;
}

hu_status
hu_rank_network_find(const char *text, hu_rank_network *out)
{
	hu_str known;
	double gb_s;

	for (int i = 0; i < NETWORKS; i++)
		if (!strcmp(networks[i].name, text)) {
			*out = networks[i];
			return HU_OK;
		}
	if (hu_parse_real(text, &gb_s) && gb_s > 0 && gb_s < INFINITY) {
		*out = (hu_rank_network){ text, gb_s, "the command line" };
		return HU_OK;
	}
	hu_str_init(&known);
	for (int i = 0; i < NETWORKS; i++)
		hu_str_addf(&known, "%s%s", i ? ", " : "", networks[i].name);
	hu_status st =
		hu_fail(HU_EINVAL, "--ranks network=%s: a number of GB/s is needed, or one of %s", text, known.s);
	hu_str_release(&known);
	return st;
}
