/* SPDX-License-Identifier: Apache-2.0
   The loss scalers, step for step against models written here from the frameworks'
   documented behaviour: PyTorch's GradScaler, Keras 3, Apex, DeepSpeed. The operator
   scale_update is run as a training step runs it, tensors in, tensors out. */
#include "lib/number/philox.h"
#include "lib/op/op.h"
#include "lib/op/scaler.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100000 };

typedef struct model {
	double scale;
	long good, hysteresis, iteration, last;
} model;

/* scale *= backoff and a count from zero on overflow; growth after INTERVAL good steps in a row, unless that is
   infinite. */
static void
pytorch(model *m, const hu_scaler *k, int found)
{
	if (found) {
		m->scale = (double)(float)(m->scale * k->backoff);
		m->good = 0;
		return;
	}
	if (m->good + 1 < k->interval) {
		m->good++;
		return;
	}
	float grown = (float)(m->scale * k->growth);
	if (!isinf(grown))
		m->scale = (double)grown;
	m->good = 0;
}

/* No floor, no cap, no check of what it grows to. */
static void
keras(model *m, const hu_scaler *k, int found)
{
	if (found) {
		m->good = 0;
		m->scale = (double)(float)(m->scale * k->backoff);
	} else if (m->good == k->interval - 1) {
		m->good = 0;
		m->scale = (double)(float)(m->scale * k->growth);
	} else {
		m->good++;
	}
}

static void
apex(model *m, const hu_scaler *k, int found)
{
	if (found) {
		m->scale *= k->backoff;
		if (k->floor > 0)
			m->scale = fmax(k->floor, m->scale);
		m->good = 0;
	} else {
		m->good++;
	}
	if (m->good == k->interval) {
		m->scale = k->cap > 0 ? fmin(k->cap, m->scale * k->growth) : m->scale * k->growth;
		m->good = 0;
	}
}

/* The first hysteresis - 1 overflows are forgiven; growth every INTERVAL steps since the last overflow, which
   restores the hysteresis. At the floor the framework raises an error: counted. */
static void
deepspeed(model *m, const hu_scaler *k, int found)
{
	if (found) {
		m->good += m->scale == k->floor && (k->hysteresis == 1 || m->hysteresis == 1);
		if (k->hysteresis == 1 || m->hysteresis == 1)
			m->scale = fmax(m->scale * k->backoff, k->floor);
		else
			m->hysteresis--;
		m->last = m->iteration;
	} else if ((m->iteration - m->last) % k->interval == 0) {
		m->hysteresis = k->hysteresis;
		m->scale *= k->growth;
	}
	m->iteration++;
}

typedef void rule(model *m, const hu_scaler *k, int found);

/* scale is held as the framework holds it: in scale32, or in scale64 where the rule is wide. */
typedef struct state { int wide; double scale64[2]; float scale32[2], tracker[2][4], found; } state;

static double scale_of(const state *s) { return s->wide ? s->scale64[0] : (double)s->scale32[0]; }

static state
state_of(const hu_scaler *k, double scale)
{
	state s;

	memset(&s, 0, sizeof s);
	s.wide = k->wide;
	s.scale64[0] = scale;
	s.scale32[0] = (float)scale;
	return s;
}

static hu_status
op_step(const hu_call *c, state *s)
{
	hu_format_id held = s->wide ? HU_FP64 : HU_FP32;
	void *scale[2] = { s->wide ? (void *)&s->scale64[0] : &s->scale32[0],
		s->wide ? (void *)&s->scale64[1] : &s->scale32[1] };
	hu_tensor in[3] = { { .format = held, .shape = hu_shape0(), .n = 1, .data = scale[0] },
		{ .format = HU_FP32, .shape = hu_shape1(4), .n = 4, .data = s->tracker[0] },
		{ .format = HU_FP32, .shape = hu_shape0(), .n = 1, .data = &s->found } };
	hu_tensor out[2] = { { .format = held, .shape = hu_shape0(), .n = 1, .data = scale[1] },
		{ .format = HU_FP32, .shape = hu_shape1(4), .n = 4, .data = s->tracker[1] } };
	hu_tensor *to[2] = { &out[0], &out[1] }, *from[3] = { &in[0], &in[1], &in[2] };
	hu_env env = { 1, 0 };
	hu_status st = HU_COLUMN(c->op, emulate)(c, from, to, &env);

	s->scale64[0] = s->scale64[1];
	s->scale32[0] = s->scale32[1];
	memcpy(s->tracker[0], s->tracker[1], sizeof s->tracker[0]);
	return st;
}

static hu_call
call_of(const hu_scaler *k)
{
	hu_call c;

	memset(&c, 0, sizeof c);
	c.op = hu_op_find("scale_update");
	c.nin = 3;
	c.nout = 2;
	c.fmt.compute = c.fmt.acc = c.fmt.out = c.fmt.in = HU_FP32;
	hu_attr_set_text(&c, "rule", k->name);
	hu_attr_set(&c, "growth", k->growth);
	hu_attr_set(&c, "backoff", k->backoff);
	hu_attr_set(&c, "interval", k->interval);
	hu_attr_set(&c, "floor", k->floor);
	hu_attr_set(&c, "cap", k->cap);
	hu_attr_set(&c, "hysteresis", k->hysteresis);
	return c;
}

/* Patterns: overflow above a threshold as gradients make it, a coin on top of it, quiet and stormy stretches in turn.
 */
static int
overflows(double scale, uint64_t seed, int pattern, uint32_t i)
{
	hu_random r = hu_random_at(seed, 1, 0, i);
	double u = hu_uniform(r), threshold = ldexp(1, 10 + (int)(r.w[2] % 12));

	switch (pattern) {
	case 0: return scale > threshold;
	case 1: return scale > threshold || u < 0.003;
	case 2: return scale > 0x1p100 || (i / 512 % 2 && scale > 0x1p-20 && u < 0.2);
	default: return scale > 0x1p60 || (scale > 0x1p-100 && u < 0.05);
	}
}

static void
follow(const char *name, rule *next, int interval, int pattern, int hysteresis, double floor, double growth)
{
	hu_scaler k;
	long first = -1, changes = 0;

	if (hu_scaler_find(name, &k) != HU_OK)
		bail_out("no loss scaler named %s", name);
	if (interval)
		k.interval = interval;
	if (hysteresis)
		k.hysteresis = hysteresis;
	if (floor >= 0)
		k.floor = floor;
	if (growth > 0) { /* factors that are no powers of two, where float32 and double part */
		k.growth = growth;
		k.backoff = 1 / growth;
	}
	model m = { k.init, 0, k.hysteresis, 0, -1 };
	state s = state_of(&k, k.init);
	hu_call c = call_of(&k);
	for (uint32_t i = 0; i < STEPS && first < 0; i++) {
		double before = m.scale;
		int found = overflows(m.scale, 0x5ca1e + (uint64_t)interval, pattern, i);
		next(&m, &k, found);
		s.found = (float)found;
		if (op_step(&c, &s) != HU_OK || !(scale_of(&s) == m.scale) ||
			!((double)s.tracker[0][0] == (double)m.good))
			first = (long)i;
		changes += m.scale != before;
	}
	if (!ok(first < 0 && changes > 4,
		    "%s: interval %d, pattern %d, hysteresis %d, floor %g, growth %g: %d steps as the framework's, "
		    "%ld changes",
		    name, k.interval, pattern, k.hysteresis, k.floor, k.growth, STEPS, changes))
		diag("first difference at step %ld: %a, model %a", first, scale_of(&s), m.scale);
}

/* Without overflows: PyTorch stops before infinity, Keras does not, Apex stops at its cap. */
static void
test_ends(void)
{
	static const char *const names[] = { "pytorch", "keras", "apex", "static" };
	static const double last[] = { 0x1p127, INFINITY, 0x1p24, 1024 };

	for (int r = 0; r < 4; r++) {
		hu_scaler k;
		if (hu_scaler_find(names[r], &k) != HU_OK)
			bail_out("no loss scaler named %s", names[r]);
		k.interval = 1;
		state s = state_of(&k, 1024);
		hu_call c = call_of(&k);
		for (int i = 0; i < 200; i++)
			op_step(&c, &s);
		ok(scale_of(&s) == last[r], "%s ends at %g when nothing overflows (%g)", names[r], last[r],
			scale_of(&s));
	}
}

static void
test_names(void)
{
	hu_scaler k;

	ok(hu_scaler_find("pytroch", &k) == HU_EINVAL && strstr(hu_reason(), "pytorch"),
		"an unknown rule is refused and the nearest named");
	for (int i = 0; hu_scaler_at(i); i++) {
		const char *name = hu_scaler_at(i)->name;
		ok(hu_scaler_find(name, &k) == HU_OK && !strcmp(k.name, name), "row %d is found by its name, %s", i,
			name);
	}
	hu_scaler_find("pytorch", &k);
	ok(k.init == 65536 && k.interval == 2000 && k.growth == 2 && k.backoff == 0.5, "PyTorch's defaults");
	hu_scaler_find("keras", &k);
	ok(k.init == 32768 && k.interval == 2000, "Keras's defaults");
	hu_scaler_find("apex", &k);
	ok(k.init == 65536 && k.interval == 2000 && k.cap == 16777216, "Apex's defaults");
	hu_scaler_find("deepspeed", &k);
	ok(k.init == 65536 && k.interval == 1000 && k.hysteresis == 2 && k.floor == 1, "DeepSpeed's defaults");
}

/* Every step of scale_update under PyTorch's rule, for t-torch.py to hold against torch itself: found, scale, tracker.
 */
static int
trajectory(int interval, int pattern)
{
	hu_scaler k;

	hu_scaler_find("pytorch", &k);
	k.interval = interval;
	state s = state_of(&k, k.init);
	hu_call c = call_of(&k);
	for (uint32_t i = 0; i < STEPS; i++) {
		int found = overflows(scale_of(&s), 0x5ca1e + (uint64_t)interval, pattern, i);
		s.found = (float)found;
		if (op_step(&c, &s) != HU_OK)
			return 1;
		printf("%d %a %d\n", found, scale_of(&s), (int)s.tracker[0][0]);
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "trajectory"))
		return trajectory(atoi(argv[2]), atoi(argv[3]));
	static const struct {
		const char *name;
		rule *next;
	} rules[] = { { "pytorch", pytorch }, { "keras", keras }, { "apex", apex }, { "deepspeed", deepspeed } };
	static const int intervals[] = { 0, 7, 100 };

	test_names();
	for (int r = 0; r < 4; r++)
		for (int i = 0; i < 3; i++)
			for (int pattern = 0; pattern < 4; pattern++)
				follow(rules[r].name, rules[r].next, intervals[i], pattern, 0, -1, 0);
	follow("deepspeed", deepspeed, 50, 1, 1, -1, 0);
	follow("deepspeed", deepspeed, 50, 1, 5, -1, 0);
	follow("apex", apex, 50, 3, 0, 0x1p-3, 0);
	for (int r = 0; r < 4; r++)
		for (int pattern = 0; pattern < 4; pattern++)
			follow(rules[r].name, rules[r].next, 7, pattern, 0, -1, 1.1);
	test_ends();
	return done_testing();
}
