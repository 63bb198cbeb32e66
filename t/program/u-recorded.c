/* SPDX-License-Identifier: Apache-2.0
   What only recordings have: opaque calls, whose names and reasons pass through JSON and copies, and the links of each
   step, which differ between steps. What says less than it has to is refused by name. */
#include "lib/base/mem.h"
#include "lib/program/exec.h"
#include "lib/program/links.h"
#include "lib/program/opaque.h"
#include "t/tool/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A weight w whose next value another call makes in each of the steps 3 and 5: an opaque one, and a sum. */
static const char text[] =
	"{\"version\": 1, \"name\": \"train\", \"tensors\": ["
	"{\"id\": 0, \"name\": \"a.w\", \"format\": \"bf16\", \"shape\": [4], \"class\": \"weight\", \"state\": true, "
	"\"trainable\": true, \"next\": 4, \"grad\": 3},"
	"{\"id\": 1, \"name\": \"a.dw1\", \"format\": \"fp32\", \"shape\": [4], \"class\": \"wgrad\"},"
	"{\"id\": 2, \"name\": \"a.w_next1\", \"format\": \"bf16\", \"shape\": [4], \"class\": \"weight\"},"
	"{\"id\": 3, \"name\": \"a.dw2\", \"format\": \"fp32\", \"shape\": [4], \"class\": \"wgrad\"},"
	"{\"id\": 4, \"name\": \"a.w_next2\", \"format\": \"bf16\", \"shape\": [4], \"class\": \"weight\"},"
	"{\"id\": 5, \"name\": \"a.count\", \"format\": \"fp32\", \"shape\": [], \"class\": \"other\"}],"
	"\"calls\": ["
	"{\"id\": 0, \"op\": \"opaque\", \"phase\": \"update\", \"layer\": \"a\", \"in\": [0, 1], \"out\": [2, 5], "
	"\"attr\": {}, \"opaque\": {\"name\": \"Adafactor.step\", \"reason\": \"its inside is not known\"}, "
	"\"fmt\": {\"in\": \"bf16\", \"compute\": \"fp32\", \"acc\": \"fp32\", \"out\": \"bf16\"}, \"mode\": \"RNE\", "
	"\"sum\": \"fma,acc=fp32\", \"seed_name\": \"one\"},"
	"{\"id\": 1, \"op\": \"add\", \"phase\": \"update\", \"layer\": \"a\", \"in\": [0, 3], \"out\": [4], "
	"\"attr\": {}, \"fmt\": {\"in\": \"bf16\", \"compute\": \"fp32\", \"acc\": \"fp32\", \"out\": \"bf16\"}, "
	"\"mode\": \"RNE\", \"sum\": \"fma,acc=fp32\", \"seed_name\": \"two\"}],"
	"\"steps\": [{\"step\": 3, \"next\": {\"0\": 2}, \"grad\": {\"0\": 1}}, {\"step\": 5, \"next\": {\"0\": 4}}]}";

static hu_program *
made(void)
{
	json_t *j = json_loads(text, 0, NULL);
	hu_program *p = NULL;

	if (hu_program_from_json(j, &p) != HU_OK)
		bail_out("%s", hu_reason());
	json_decref(j);
	return p;
}

static void
test_links(const hu_program *p, const char *what)
{
	is_int(hu_program_next(p, 3, 0), 2, "%s: step 3 ends with its own next value", what);
	is_int(hu_program_next(p, 5, 0), 4, "%s: and step 5 with another", what);
	is_int(hu_program_next(p, 4, 0), 4, "%s: a step without an entry has the tensor's own", what);
	is_int(hu_program_grad(p, 3, 0), 1, "%s: step 3 has its own gradient", what);
	is_int(hu_program_grad(p, 5, 0), -1, "%s: step 5 is listed and has none", what);
	is_int(hu_program_grad(p, 9, 0), 3, "%s: step 9 is not listed", what);
	ok(hu_program_becomes(p, 0, 2) && hu_program_becomes(p, 0, 4) && !hu_program_becomes(p, 0, 5) &&
			!hu_program_becomes(p, 1, -1),
		"%s: it becomes either", what);
	ok(hu_is_update(p, &p->c[0]) && hu_is_update(p, &p->c[1]), "%s: both calls update it", what);
}

/* Seven states in the steps 2s, s from 0 to 9: one lists the states i where i + s is not 1 modulo 3, and s = 4 lists
   none. What is listed has the next value 100s + i and the gradient 50s + i. */
static void
test_many(void)
{
	hu_program *p = hu_program_new("train");
	int wrong = 0, becomes = 0;

	for (int i = 0; i < 7; i++) {
		char name[8];
		snprintf(name, sizeof name, "w.%d", i);
		int t = hu_program_tensor(p, name, HU_FP32, hu_shape1(4), HU_WEIGHT);
		p->t[t].next = 5000 + i;
		p->t[t].grad = 6000 + i;
	}
	p->links = hu_xcalloc(1, sizeof *p->links);
	for (int s = 0; s < 10; s++) {
		HU_GROW(p->links->s, p->links->n, p->links->cap);
		hu_step_links *l = &p->links->s[p->links->n++];
		*l = (hu_step_links){ .step = (size_t)s * 2 };
		for (int i = 0; i < 7 && s != 4; i++)
			if ((i + s) % 3 != 1) {
				HU_GROW(l->l, l->n, l->cap);
				l->l[l->n++] = (hu_link){ i, 100 * s + i, 50 * s + i };
			}
	}
	for (int step = 0; step < 21; step++)
		for (int i = 0; i < 7; i++) {
			int s = step / 2, listed = s != 4 && (i + s) % 3 != 1, known = step % 2 == 0 && s < 10;
			int next = !known ? 5000 + i : listed ? 100 * s + i : -1;
			int grad = !known ? 6000 + i : listed ? 50 * s + i : -1;
			wrong += hu_program_next(p, (size_t)step, i) != next;
			wrong += hu_program_grad(p, (size_t)step, i) != grad;
			becomes += hu_program_becomes(p, i, 100 * s + i) != (listed && s < 10);
		}
	is_int(wrong, 0, "each state of each step has its own links, -1 where the step does not list it");
	is_int(becomes, 0, "and becomes what some step says, number 0 among it");
	hu_program_free(p);
}

static void
test_scales(void)
{
	hu_program *p = hu_program_new("train");
	int one = hu_program_tensor(p, "a.one", HU_FP16, hu_shape1(1), HU_OTHER);
	int two = hu_program_tensor(p, "a.two", HU_FP16, hu_shape1(2), HU_OTHER);
	int of_weight = hu_program_tensor(p, "a.dw", HU_FP16, hu_shape1(1), HU_WGRAD);
	int plain = hu_program_tensor(p, "a.plain", HU_FP16, hu_shape1(2), HU_WGRAD);

	p->t[one].loss_scaled = p->t[two].loss_scaled = p->t[of_weight].loss_scaled = 1;
	ok(!hu_program_scales(p, one), "the loss's own gradient, a single number, is the scale itself");
	ok(hu_program_scales(p, two) && hu_program_scales(p, of_weight), "other scaled gradients can be saved by it");
	ok(!hu_program_scales(p, plain), "and none that is not scaled");
	hu_program_free(p);
}

static void
test_opaque(const hu_program *p, const char *what)
{
	const hu_opaque *o = hu_program_opaque(p, &p->c[0]);

	ok(o && p->c[0].op->role == HU_ROLE_OPAQUE && p->c[0].nout == 2, "%s: the first call is opaque", what);
	is_text(o ? o->name : "", "Adafactor.step", "%s: by name", what);
	is_text(o ? o->reason : "", "its inside is not known", "%s: and with its reason", what);
	ok(!hu_program_opaque(p, &p->c[1]), "%s: the second is not", what);
	is_int((long long)hu_call_cost(p, &p->c[0]).flops, 0, "%s: nothing of it is counted", what);
}

static void
test_run(const hu_program *p)
{
	hu_exec x;
	hu_env env = { 1, 0 };

	HU_ASSERT(hu_exec_init(&x, p) == HU_OK);
	hu_status st = hu_exec_run(&x, &env);
	ok(st == HU_EUNABLE && strstr(hu_reason(), "unknown"), "nothing computes it: %s", hu_reason());
	hu_exec_release(&x);
}

static void
test_broken(void)
{
	static const struct {
		const char *from, *to;
	} broken[] = {
		{ ", \"opaque\": {\"name\": \"Adafactor.step\", \"reason\": \"its inside is not known\"}", "" },
		{ "\"name\": \"Adafactor.step\", ", "" },
		{ "\"name\": \"Adafactor.step\"", "\"name\": \"\"" },
		{ "\"op\": \"opaque\"", "\"op\": \"add\"" },
		{ "\"step\": 5", "\"step\": 3" },
		{ "\"step\": 5", "\"step\": -5" },
		{ "\"step\": 5, ", "" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"0\": 1}" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"0\": 5}" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"1\": 3}" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"0\": 6}" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"6\": 2}" },
		{ "\"next\": {\"0\": 2}", "\"next\": {\"x\": 2}" },
		{ "\"next\": {\"0\": 2}", "\"next\": [2]" },
		{ "\"grad\": {\"0\": 1}", "\"grad\": {\"0\": 5}" },
		{ "\"grad\": {\"0\": 1}", "\"grad\": {\"0\": \"1\"}" },
		{ "\"steps\": [", "\"steps\": 7, \"more\": [" },
	};

	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		const char *at = strstr(text, broken[i].from);
		HU_ASSERT(at);
		char *other = hu_xprintf("%.*s%s%s", (int)(at - text), text, broken[i].to, at + strlen(broken[i].from));
		json_t *j = json_loads(other, 0, NULL);
		hu_program *p = NULL;
		HU_ASSERT(j);
		hu_status st = hu_program_from_json(j, &p);
		ok(st == HU_EFILE, "%s instead of %s is refused: %s", *broken[i].to ? broken[i].to : "nothing",
			broken[i].from, st == HU_OK ? "" : hu_reason());
		hu_program_free(p);
		json_decref(j);
		free(other);
	}
}

int
main(void)
{
	hu_program *p = made(), *copy = hu_program_copy(p), *back = NULL;
	json_t *j = hu_program_to_json(p), *same = json_loads(text, 0, NULL);

	test_links(p, "read");
	test_opaque(p, "read");
	HU_ASSERT(hu_program_from_json(j, &back) == HU_OK);
	test_links(back, "written and read");
	test_opaque(back, "written and read");
	ok(json_equal(
		   json_array_get(json_object_get(j, "calls"), 0), json_array_get(json_object_get(same, "calls"), 0)),
		"the opaque call is written as it was read");
	hu_program_free(p);
	test_links(copy, "copied");
	test_opaque(copy, "copied");
	test_run(copy);
	test_broken();
	test_many();
	test_scales();
	json_decref(j);
	json_decref(same);
	hu_program_free(copy);
	hu_program_free(back);
	return done_testing();
}
