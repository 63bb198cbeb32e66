/* SPDX-License-Identifier: Apache-2.0
   Tensors that share memory: a program gives the same bits as with memory for each, every call's output can be read
   after it, kept tensors stay, and less memory is taken. Values that are not finite are counted in either width. */
#include "lib/program/exec.h"
#include "lib/base/mem.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, DEPTH = 12 };

static int
apply(hu_program *p, const char *op, int a, int b, const char *name)
{
	int in[] = { a, b };

	return hu_program_apply(p, op, HU_FORWARD, "l", in, b < 0 ? 1 : 2, name, HU_FP32, HU_ACTIVATION, NULL, 0);
}

/* A chain in which early tensors are read late. */
static hu_program *
chain(int *early)
{
	hu_program *p = hu_program_new("chain");
	int x = hu_program_tensor(p, "x.y", HU_FP32, hu_shape2(N, N), HU_ACTIVATION);
	int w = hu_program_tensor(p, "w.y", HU_FP32, hu_shape2(N, N), HU_WEIGHT), first = -1;
	char name[32];

	for (int i = 0; i < DEPTH; i++) {
		snprintf(name, sizeof name, "product.%d", i);
		int y = apply(p, "matmul", x, w, name);
		snprintf(name, sizeof name, "act.%d", i);
		y = apply(p, "tanh", y, -1, name);
		first = first < 0 ? y : first;
		snprintf(name, sizeof name, "sum.%d", i);
		x = apply(p, "add", y, i % 4 == 3 ? first : x, name);
		if (i == 2)
			*early = x;
	}
	return p;
}

static void
fill(hu_exec *x)
{
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < x->t[i].n; k++)
			((float *)x->t[i].data)[k] = (float)((int)(k * 37 + 11 * (size_t)i) % 64 - 32) / 128;
}

static size_t
differences(const hu_tensor *a, const hu_tensor *b)
{
	return a->n != b->n || memcmp(a->data, b->data, a->n * sizeof(float)) != 0;
}

typedef struct seen {
	const hu_exec *own;
	size_t calls, wrong;
} seen;

static void
after(void *with, const hu_exec *x, int i)
{
	seen *s = with;
	int id = x->p->c[i].out[0];

	s->calls++;
	s->wrong += differences(&x->t[id], &s->own->t[id]);
}

static void
count_nonfinite(void)
{
	float f[5] = { 1, INFINITY, NAN, 0x1.fffffep127f, -INFINITY };
	double d[4] = { 0x1.fffffffffffffp1023, NAN, -INFINITY, 0 };
	hu_tensor a = { .format = HU_FP32, .shape = hu_shape1(5), .n = 5, .data = f },
		  b = { .format = HU_FP64, .shape = hu_shape1(4), .n = 4, .data = d };

	ok(hu_tensor_nonfinite(&a) == 3 && hu_tensor_nonfinite(&b) == 2, "infinities and NaN are counted");
}

int
main(void)
{
	int early = -1;
	hu_program *p = chain(&early);
	char *keep = hu_xcalloc((size_t)p->nt + 1, 1);
	hu_exec own, shared;

	keep[p->nt - 1] = keep[early] = 1;
	if (hu_exec_init(&own, p) || hu_exec_init_sharing(&shared, p, keep, NULL))
		bail_out("%s", hu_reason());
	fill(&own);
	seen s = { &own, 0, 0 };
	shared.after = after;
	shared.with = &s;
	for (int run = 0; run < 2; run++) { /* the second run finds memory as the first one left it */
		fill(&shared);
		if (hu_exec_run(&own, &(hu_env){ 0, 0 }) || hu_exec_run(&shared, &(hu_env){ 0, 0 }))
			bail_out("%s", hu_reason());
	}
	ok(s.calls == 2 * (size_t)p->nc && !s.wrong, "%zu calls have the same bits", s.calls);
	ok(!differences(&own.t[p->nt - 1], &shared.t[p->nt - 1]) && !differences(&own.t[early], &shared.t[early]),
		"tensors that are kept have their values after the run");
	ok(shared.nroom < 10 && (size_t)p->nt > 30, "%d tensors lie in %zu pieces of memory", p->nt, shared.nroom);
	hu_exec_release(&shared);
	if (hu_exec_init_sharing(&shared, p, keep, own.t))
		bail_out("%s", hu_reason());
	size_t lent = 0, others = 0;
	for (int i = 0; i < p->nt; i++) {
		lent += p->t[i].producer < 0 && shared.t[i].data == own.t[i].data;
		others += p->t[i].producer < 0 && shared.t[i].data != own.t[i].data && p->t[i].format == HU_FP32;
	}
	ok(lent > 0 && !others && !hu_exec_run(&shared, &(hu_env){ 0, 0 }) &&
			!differences(&own.t[p->nt - 1], &shared.t[p->nt - 1]),
		"%zu tensors are read where they are, with the same results", lent);
	hu_exec_release(&shared);
	hu_exec_release(&own);
	hu_program_free(p);
	free(keep);
	count_nonfinite();
	return done_testing();
}
