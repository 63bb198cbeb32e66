/* SPDX-License-Identifier: Apache-2.0
   Fused passes and recorded steps change no bit: every policy, both models, both optimizers, several orders of threads,
   against single calls launched one by one; and they save launches and bytes, which are counted. */
#include "cuda/exec/backend.h"
#include "cuda/exec/machine.h"
#include "cuda/fuse/plan.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"
#include "trainer/run/session.h"
#include "trainer/ranked/session_open.h"

#include <stdlib.h>
#include <string.h>

#ifdef HU_HAVE_SHIM
enum { STEPS = 5 };

typedef struct kind { const char *model, *optimizer; double width, momentum; size_t size, batch; } kind;

static const kind kinds[] = { { "mlp", "adamw", 0.25, 0, 8, 16 }, { "convnet", "sgd", 0.04, 0.9, 8, 3 },
	{ "mlp", "sgd", 0.1, 0, 8, 8 } };

static void
open_session(hu_session *s, hu_config *c, const kind *k, const char *policy, char *backend, char *fuse, char *graph)
{
	hu_dataset_options o = { .size = k->size, .train = 64, .eval = 8, .seed = 3 };
	hu_dataset d;

	memset(c, 0, sizeof *c);
	c->width = k->width;
	c->loss_weight = 1;
	c->batch = k->batch;
	c->epochs = 2;
	c->seed = 5;
	c->backend = backend;
	c->fuse = fuse;
	c->graph = graph;
	c->optim = (hu_optim_options){
		.lr = 0.01, .momentum = k->momentum, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-3
	};
	if (hu_model_find(k->model, &c->row) || hu_policy_parse(policy, &c->policy) ||
		hu_scaler_find(c->policy.dynamic ? "pytorch" : "none", &c->scaling.rule) ||
		hu_optim_find(k->optimizer, &c->optim.row))
		bail_out("%s", hu_reason());
	c->scaling.loss_weight = 1;
	if (hu_dataset_open(&d, "digits", &o) || hu_session_open(s, c, &d) || hu_session_start(s))
		bail_out("%s", hu_reason());
}

/* What a step leaves behind: its state's digest, and what is read and counted before the commit. */
typedef struct trail { uint64_t digest[STEPS], seen[STEPS]; } trail;

static void
mix(uint64_t *sum, double x)
{
	*sum = (*sum ^ hu_bits64(x)) * 0x100000001b3u;
}

/* Through the session as the loop does; a device counts by itself. */
static void
look(hu_session *s, uint64_t *sum)
{
	const hu_program *p = s->programs.train;
	const int each[] = { s->id.loss, s->id.scale, s->id.norm, s->id.found, s->id.where, s->id.p,
		p->t[s->id.scale].next };
	hu_tensor t;

	for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
		if (each[k] >= 0 && hu_session_read(s, each[k], &t))
			bail_out("%s", hu_reason());
		for (size_t i = 0; each[k] >= 0 && i < t.n; i++)
			mix(sum, hu_get(&t, i));
	}
	for (int k = 0; k < p->nt; k++) {
		hu_tally c = { 0, 0, 0, 0 };
		hu_status st = HU_OK;
		if (!p->t[k].trainable || p->t[k].grad < 0)
			continue;
		if (!s->backend->tally) {
			if ((st = hu_session_read(s, p->t[k].grad, &t)) == HU_OK)
				for (size_t i = 0; i < t.n; i++)
					hu_tally_count(&c, hu_get(&t, i));
		} else if (!s->backend->tally(s->train, p->t[k].grad, &c, &st))
			bail_out("%s was not counted", p->t[p->t[k].grad].name);
		if (st != HU_OK)
			bail_out("%s", hu_reason());
		*sum = ((((*sum ^ c.amax) * 31 + c.nonzeros) * 31 + c.zeros) * 31 + c.nonfinite) * 0x100000001b3u;
	}
}

/* Updates and how many of them were swamped, of every parameter; a device counts by itself. */
static void
look_at_updates(hu_session *s, uint64_t *sum, uint64_t *swamped)
{
	const hu_program *p = s->programs.train;

	for (int i = 0; i < p->nc; i++) {
		const hu_call *c = &p->c[i];
		hu_update_tally n = { 0, 0 };
		hu_tensor *in[16], now[16];
		hu_status st = HU_OK;
		if (!hu_is_update(p, c))
			continue;
		for (int k = 0; k < c->nin && s->backend->peek; k++) {
			now[k] = *s->backend->peek(s->train, c->in[k]);
			in[k] = &now[k];
		}
		if (s->backend->peek)
			HU_COLUMN(c->op, updates)(c, in, s->backend->peek(s->train, c->out[0]), &n);
		else if (!s->backend->updates(s->train, i, &n, &st) || st != HU_OK)
			bail_out("the updates of call %d were not counted", i);
		*sum = ((*sum ^ n.updates) * 31 + n.swamped) * 0x100000001b3u;
		*swamped += n.swamped;
	}
}

/* What the passes say that they launch, each once. */
static long
launches_of_passes(const hu_session *s)
{
	int nc = s->programs.train->nc;
	long sum = s->backend->pass(s->train, nc).launches;

	for (int i = 0; i < nc; i++) {
		hu_pass pass = s->backend->pass(s->train, i);
		sum += pass.first == i ? pass.launches : 0;
		if (pass.launches < 1 || pass.bytes <= 0 || pass.first > i)
			bail_out("call %d: %ld launches and %g bytes in the pass of call %d", i, pass.launches,
				pass.bytes, pass.first);
	}
	return sum;
}

/* Every pass took time by the device's clock, which stands with its first call; so did what is left for the host. */
static void
check_seconds(const hu_session *s, const double *seconds)
{
	int nc = s->programs.train->nc;

	for (int i = 0; i <= nc; i++)
		if ((seconds[i] > 0) != (i == nc || s->backend->pass(s->train, i).first == i))
			bail_out("call %d: %g s, its pass begins with call %d", i, seconds[i],
				s->backend->pass(s->train, i).first);
}

/* STEPS steps; the third is timed call by call; before the last one the state of the first is written back, which the
   weights' copies must follow. */
static void
train(const kind *k, const char *policy, char *backend, char *fuse, char *graph, trail *r, long *launches,
	uint64_t *swamped)
{
	hu_tensor *first = NULL;
	hu_session s;
	hu_config c;

	memset(r, 0, sizeof *r);
	open_session(&s, &c, k, policy, backend, fuse, graph);
	for (size_t i = 0; i < STEPS; i++) {
		long before = hu_shim_side.queues->launches();
		double *seconds = i == 2 && s.backend->pass
					  ? hu_xcalloc((size_t)s.programs.train->nc + 1, sizeof *seconds)
					  : NULL;
		if (seconds)
			s.backend->profile(s.train, seconds);
		if (hu_session_step(&s, i))
			bail_out("%s", hu_reason());
		if (seconds) {
			s.backend->profile(s.train, NULL);
			check_seconds(&s, seconds);
			free(seconds);
		}
		if (i == 1)
			*launches = hu_shim_side.queues->launches() - before;
		if (i == 1 && s.backend->pass && *launches != launches_of_passes(&s))
			bail_out("%ld launches a step, %ld of its passes", *launches, launches_of_passes(&s));
		look(&s, &r->seen[i]);
		look_at_updates(&s, &r->seen[i], swamped);
		if (hu_session_commit(&s, &r->digest[i]) || (i == 0 && hu_session_copy(&s, NULL, &first)) ||
			(i == STEPS - 2 && hu_session_restore(&s, first)))
			bail_out("%s", hu_reason());
	}
	hu_session_free_tensors(&s, first);
	hu_session_close(&s);
}

/* ALL: each of the two alone as well. */
static void
test_kind(const kind *k, const char *policy, int all)
{
	static char on[] = "on", off[] = "off", shim[] = "shim", cpu[] = "cpu";
	trail want, got;
	long single = 0, fused = 0, some;
	uint64_t swamped = 0, again = 0;
	int same = 1;

	train(k, policy, cpu, on, on, &want, &some, &swamped);
	hu_shim_seed(1);
	train(k, policy, shim, off, off, &got, &single, &again);
	same = !memcmp(&want, &got, sizeof want);
	for (int i = 0; i < (all ? 3 : 1); i++) {
		hu_shim_seed((uint64_t)i + 2);
		train(k, policy, shim, i == 1 ? off : on, i == 2 ? off : on, &got, i == 1 ? &some : &fused, &again);
		same &= !memcmp(&want, &got, sizeof want);
	}
	ok(same && fused < single,
		"%s, %s, %s: fused and recorded%s: one digest, the same numbers and counts; %ld launches a step, alone "
		"%ld; %llu updates swamped",
		policy, k->model, k->optimizer, all ? ", both, each, neither" : "", fused, single,
		(unsigned long long)swamped);
}

/* The calls are launched alone from the third step on, by kernels that no step launched before. They come first in this
   process, where none of them is loaded, and a device loads none while it records. */
static void
test_change_of_passes(const kind *k, const char *policy)
{
	static char on[] = "on", shim[] = "shim";
	uint64_t digest;
	hu_session s;
	hu_config c;
	int steps = 0;

	open_session(&s, &c, k, policy, shim, on, on);
	for (; steps < STEPS; steps++) {
		if (steps == 2)
			s.backend->tune(s.train, 0, 1);
		if (hu_session_step(&s, (size_t)steps) || hu_session_commit(&s, &digest))
			break;
	}
	is_int(steps, STEPS, "passes may change between recorded steps%s%s", steps < STEPS ? ": " : "",
		steps < STEPS ? hu_reason() : "");
	hu_session_close(&s);
}

/* What the step's passes read and write at least, in bytes. */
static double
bytes(const hu_program *p, const hu_plan *plan, const hu_slot *t)
{
	double sum = 0;

	for (int i = 0; i < plan->nstage; i++)
		sum += plan->stage[i].ahead ? 0 : hu_plan_bytes(plan, p, t, i);
	return sum;
}

/* The plan's own promises: each call once, after what it reads. */
static void
test_plan(const kind *k, const char *policy)
{
	static char on[] = "on", shim[] = "shim";
	hu_session s;
	hu_config c;
	int good = 1;

	open_session(&s, &c, k, policy, shim, on, on);
	const hu_program *p = s.programs.train;
	hu_slot *t = hu_xcalloc((size_t)p->nt + 1, sizeof *t);
	char *done = hu_xcalloc((size_t)p->nc + 1, 1);
	for (int i = 0; i < p->nt; i++)
		t[i] = (hu_slot){ NULL, p->t[i].format, p->t[i].shape, hu_count(p->t[i].shape) };
	hu_plan plan[2];
	for (int f = 0; f < 2; f++)
		hu_plan_init(&plan[f], p, &hu_shim_side, t, f);
	for (int i = 0; i < p->nc; i++) {
		const hu_call *x = &p->c[plan[1].call[i]];
		good &= !done[x->id]++;
		for (int j = 0; j < x->nin; j++)
			good &= p->t[x->in[j]].producer < 0 || done[p->t[x->in[j]].producer];
	}
	ok(good && bytes(p, &plan[1], t) < bytes(p, &plan[0], t) && plan[0].nstage == p->nc && plan[0].fused == 0 &&
			plan[1].fused > 0,
		"%s, %s: %d calls in %d stages, %d of them in passes of several; %.0f bytes instead of %.0f", policy,
		k->model, p->nc, plan[1].nstage, plan[1].fused, bytes(p, &plan[1], t), bytes(p, &plan[0], t));
	for (int f = 0; f < 2; f++)
		hu_plan_release(&plan[f]);
	free(t);
	free(done);
	hu_session_close(&s);
}

/* Plans of a step in stretches, as a rank has it that leaves every seventh call to others. */
static void
test_stretches(const kind *k, const char *policy)
{
	char on[] = "on", shim[] = "shim";
	enum { STRETCHES = 5 };
	hu_session s;
	hu_config c;
	hu_plan plan;

	open_session(&s, &c, k, policy, shim, on, on);
	const hu_program *p = s.programs.train;
	hu_slot *t = hu_xcalloc((size_t)p->nt + 1, sizeof *t);
	int *stretch = hu_xcalloc((size_t)p->nc + 1, sizeof *stretch), own = 0, planned = 0, good = 1, last = 0;
	for (int i = 0; i < p->nt; i++)
		t[i] = (hu_slot){ NULL, p->t[i].format, p->t[i].shape, hu_count(p->t[i].shape) };
	for (int i = 0; i < p->nc; i++) {
		stretch[i] = i % 7 == 3 ? -1 : i * STRETCHES / p->nc;
		own += stretch[i] >= 0;
	}
	hu_plan_init_stretches(&plan, p, &hu_shim_side, t, 1, stretch);
	for (int i = 0; i < plan.nstage; i++) {
		int at = stretch[plan.call[plan.stage[i].first]];
		good &= at >= last;
		last = at;
		for (int j = 0; j < plan.stage[i].n; j++)
			good &= stretch[plan.call[plan.stage[i].first + j]] == at;
		planned += plan.stage[i].n;
	}
	ok(good && planned == own && plan.fused > 0,
		"%s, %s in %d stretches: one after another, each of its own stages; %d of %d calls are fused", policy,
		k->model, STRETCHES, plan.fused, own);
	hu_plan_release(&plan);
	free(stretch);
	free(t);
	hu_session_close(&s);
}
#endif

int
main(void)
{
#ifdef HU_HAVE_SHIM
	static const char *const policies[] = {
#define POLICY(name, ...) name,
#include "lib/program/policy/policies.def"
#undef POLICY
	};

	hu_backend_register(&hu_backend_shim);
	test_change_of_passes(&kinds[0], "mixed_float16");
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
		for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
			if (i % 3 == k) {
				test_plan(&kinds[k], policies[i]);
				test_stretches(&kinds[k], policies[i]);
			}
			if (k == 2 ? i % 4 == 0 : i % 2 == k) /* t-cuda-train has the rest, fused, against the CPU */
				test_kind(&kinds[k], policies[i], i % 5 == 3);
		}
	is_int((long long)hu_shim_allocated(), 0, "nothing was left allocated");
#else
	skip(1, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
	return done_testing();
}
