/* SPDX-License-Identifier: Apache-2.0
   Error feedback of gradients that are sent in a short format (Seide, Fu, Droppo, Li and Yu, 1-bit stochastic gradient
   descent, Interspeech 2014; Karimireddy, Rebjock, Stich and Jaggi, Error feedback fixes SignSGD, ICML 2019): what the
   cast to the wire loses of a rank's gradient is a state of that rank, and added to its next gradient. Roundings of the
   sums on their way from rank to rank are fed back to nobody. */
#include "lib/program/pass/feedback.h"

#include "lib/op/contract/contract.h"

#include <stdio.h>
#include <string.h>

int
hu_feedback_helps(const hu_program *p, int term, const hu_all_reduce *r)
{
	return r->feedback && !hu_contract_holds(hu_format_of(r->sum.outer), hu_format_of(p->t[term].format));
}

/* Adds the tensor LAYER.ROLE_WORDRANK[@FORMAT] of gradient g, whose numbers belong to the rank that owns `own`. It is
   no gradient, of which anybody should ask for a loss scale. */
static int
tensor(hu_program *p, const char *g, const char *word, int rank, hu_format_id f, hu_shape s, int own)
{
	int base = (int)strcspn(g, "@");
	char name[HU_NAME + 48];

	snprintf(name, sizeof name, "%.*s_%s%d%s", base, g, word, rank, g + base);
	int id = hu_program_tensor(p, name, f, s, HU_OTHER);
	p->t[id].own = own;
	p->t[id].reused = 1;
	return id;
}

/* Appends y = op(x, by) or, where by is -1, op(x), and returns y. */
static int
call(hu_program *p, const char *op, hu_phase phase, int x, int by, int y)
{
	int in[2] = { x, by };

	hu_program_call(p, op, phase, p->t[y].layer, in, by < 0 ? 1 : 2, &y, 1);
	return y;
}

int
hu_feedback_send(hu_program *p, int term, const char *gradient, int rank, int last, const hu_all_reduce *r)
{
	hu_format_id f = hu_is_wide(p->t[term].format) ? p->t[term].format : HU_FP32;
	hu_shape s = p->t[term].shape;
	int error = tensor(p, gradient, "error", rank, f, s, last + 1), add = error;
	char name[HU_NAME + 48];

	p->t[error].state = 1;
	p->t[error].reused = rank > 0; /* of a rank that is a process there is one */
	if (r->rescaled) {
		add = tensor(p, gradient, "error_scaled", rank, f, s, last + 1);
		call(p, "scale", HU_BACKWARD, error, hu_program_find(p, "scaler.scale"), add);
	}
	int y = call(p, "add", HU_BACKWARD, term, add, tensor(p, gradient, "corrected", rank, f, s, 0));
	snprintf(name, sizeof name, "%.*s@%s", (int)strcspn(p->t[y].name, "@"), p->t[y].name,
		hu_format_name(r->sum.outer));
	int q = hu_program_tensor(p, name, r->sum.outer, s, HU_OTHER);
	p->t[q].reused = 1;
	call(p, "cast", HU_BACKWARD, y, -1, q);
	p->c[p->nc - 1].mode = r->sum.mode;
	return q;
}

static const hu_call *
producer(const hu_program *p, int t, const char *op)
{
	const hu_call *c = p->t[t].producer >= 0 ? &p->c[p->t[t].producer] : NULL;

	return c && !strcmp(c->op->name, op) ? c : NULL;
}

int
hu_feedback_of(const hu_program *p, int sent, hu_feedback *out)
{
	const hu_call *cast = producer(p, sent, "cast"), *add = cast ? producer(p, cast->in[0], "add") : NULL,
		      *scale = add ? producer(p, add->in[1], "scale") : NULL;

	if (!add)
		return 0;
	*out = (hu_feedback){ add->in[0], scale ? scale->in[0] : add->in[1], cast->in[0] };
	return p->t[out->error].state;
}

/* Adds the tensor NAME_WORD that belongs to the same rank as the error `of`, whose name it takes. */
static int
beside(hu_program *p, int of, const char *word)
{
	hu_info e = p->t[of];
	char name[HU_NAME + 16];

	snprintf(name, sizeof name, "%s_%s", e.name, word);
	int id = hu_program_tensor(p, name, e.format, e.shape, HU_OTHER);
	p->t[id].own = e.own;
	p->t[id].reused = 1;
	return id;
}

/* Appends the calls that make an error's next value. inverse is that of the loss scale, -1 where that stays the
   same. */
static void
settle(hu_program *p, const hu_feedback *k, int sent, int inverse, int found)
{
	int e = k->error, lost = call(p, "sub", HU_UPDATE, k->corrected, sent, beside(p, e, "lost"));

	if (inverse >= 0)
		lost = call(p, "scale", HU_UPDATE, lost, inverse, beside(p, e, "unscaled"));
	int in[3] = { e, lost, found }, next = beside(p, e, "next");
	hu_program_call(p, "select", HU_UPDATE, p->t[e].layer, in, 3, &next, 1);
	p->t[e].next = next;
}

/* Appends the call that makes the loss scale's inverse. */
static int
invert_scale(hu_program *p)
{
	return call(p, "reciprocal", HU_UPDATE, hu_program_find(p, "scaler.scale"), -1,
		hu_program_tensor(p, "scaler.inverse", HU_FP32, hu_shape0(), HU_OTHER));
}

hu_status
hu_pass_feedback(hu_program *p, const hu_all_reduce *r, int found)
{
	int n = 0, inverse = -1;

	if (!r->feedback)
		return HU_OK;
	for (int i = 0, calls = p->nc; i < calls; i++)
		for (int k = 0; k < p->c[i].nin && p->c[i].op->role == HU_ROLE_ALL_REDUCE; k++) {
			hu_feedback f;
			int sent = p->c[i].in[k];
			if (!hu_feedback_of(p, sent, &f))
				continue;
			if (!n++ && r->rescaled)
				inverse = invert_scale(p);
			settle(p, &f, sent, inverse, found);
		}
	return n ? HU_OK
		 : hu_fail(HU_EINVAL,
			   "feedback keeps what the cast to the wire loses, and wire=%s holds every number that is "
			   "sent: name a shorter format, or leave feedback out",
			   hu_format_name(r->sum.outer));
}
