/* SPDX-License-Identifier: Apache-2.0
   halfulp engines A B: how far two engines that computed the same tokens are apart, from their files of logits. */
#include "analyzers/drift/contents/kind.h"
#include "analyzers/engines/mismatch_out.h"
#include "analyzers/engines/node_out.h"
#include "analyzers/engines/routing.h"
#include "analyzers/engines/variant.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const hu_opt opts[] = {
	{ "tokens", "FILE", NULL,
		"the tokens that were sampled, integers; a negative one is left out [A's greedy ones]" },
	{ "output", "NAME", NULL,
		"the logits: of files the array [logits, or the only one that has floats], of runs the tensor [what "
		"the loss reads]" },
	{ "tau", "X", "2", "count the tokens whose probabilities are a factor of more than X apart" },
	{ "step", "N", NULL, "of two runs: the traced step that is compared [the first that both have traced]" },
	{ "policy", "P", NULL,
		"of one run in float32: the other engine computes under this policy; of an option given twice the "
		"first value is A's" },
	{ "sum", "SUM", NULL, "of one run: the other engine adds all products by this summation model" },
	{ "reductions", "SUM", NULL, "of one run: the other engine adds all other sums but the loss's by this model" },
	{ "split", "N", NULL,
		"of one run: the other engine deals the sums of products with weights to N ranks, whose parts an "
		"all-reduce adds: N for ring:N, or tree:N, halving:N, hier:N:G with wire=FORMAT; a last key "
		"layers=PATTERNS, such as layers=*_output,*_down, names the layers of which they are" },
	{ "replay-routers", NULL, NULL,
		"of runs of a mixture of experts: B is computed again, and its routers choose the experts that A's "
		"chose" },
	{ "json", NULL, NULL, "print an object" }, { NULL, NULL, NULL, NULL }
};

static hu_status
check_shapes(const hu_logits *a, const hu_logits *b, const hu_logits *tokens, const char *const *path)
{
	if (a->sequences != b->sequences || a->positions != b->positions || a->classes != b->classes)
		return hu_fail(HU_EFILE,
			"%s has %zu sequences of %zu positions and %zu classes, %s %zu of %zu and %zu: both engines "
			"have to compute the same tokens",
			hu_shown(path[0]), a->sequences, a->positions, a->classes, hu_shown(path[1]), b->sequences,
			b->positions, b->classes);
	if (tokens->token && (tokens->sequences != a->sequences || tokens->positions != a->positions))
		return hu_fail(HU_EFILE, "--tokens has %zu sequences of %zu positions, the logits %zu of %zu",
			tokens->sequences, tokens->positions, a->sequences, a->positions);
	return HU_OK;
}

/* What is compared: files, or steps of runs and what they become; and how the two are called. */
typedef struct pair {
	const hu_forward *a, *b; /* NULL: files */
	const char *name[2];
} pair;

static hu_status
read_both(hu_logits *a, hu_logits *b, const pair *p, const char *name)
{
	if (!p->a) {
		HU_TRY(hu_logits_read(a, p->name[0], name));
		return hu_logits_read(b, p->name[1], name);
	}
	HU_TRY(hu_forward_logits(a, p->a, name));
	HU_TRY(hu_forward_logits(b, p->b, name));
	hu_forward_cut(a, b);
	return HU_OK;
}

static void
print(const hu_mismatches *m, const hu_logits *a, const pair *p, const hu_routing *r, const hu_node *node,
	const hu_args *args, double tau)
{
	int given = hu_args_given(args, "tokens");

	if (!hu_args_given(args, "json")) {
		hu_mismatch_print(m, a, given, tau);
		if (p->a) {
			hu_routing_print(r);
			hu_node_print(node, p->a, p->b);
		}
		return;
	}
	json_t *o = hu_mismatch_json(m, a, p->name, given, tau);
	json_object_set_new(o, "routers", hu_routing_json(r));
	hu_node_add_json(o, p->a ? node : NULL, p->a, p->b);
	hu_json_write(o, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(o);
}

static hu_status
compare(const hu_args *args, const pair *p)
{
	const char *name = hu_args_text(args, "output"), *file = hu_args_text(args, "tokens");
	hu_logits a = { .x = NULL }, b = { .x = NULL }, tokens = { .x = NULL };
	hu_mismatches m;
	hu_node node = { .found = 0 };
	hu_routing routing = { .routers = 0 };
	double tau;

	HU_TRY(hu_args_real(args, "tau", 1, 1e300, &tau));
	hu_status st = read_both(&a, &b, p, name);
	if (st == HU_OK && file)
		st = hu_logits_tokens(&tokens, file, NULL);
	if (st == HU_OK)
		st = check_shapes(&a, &b, &tokens, p->name);
	if (st == HU_OK && p->a)
		st = hu_node_find(&node, p->a, p->b);
	if (st == HU_OK && (st = hu_mismatch_measure(&m, &a, &b, file ? &tokens : NULL, tau)) == HU_OK) {
		if (p->a)
			hu_routing_measure(&routing, p->a, p->b);
		print(&m, &a, p, &routing, &node, args, tau);
		hu_routing_release(&routing);
		hu_mismatch_release(&m);
	}
	hu_node_release(&node);
	hu_logits_release(&a);
	hu_logits_release(&b);
	hu_logits_release(&tokens);
	return st;
}

static const char *const changes[] = { "policy", "sum", "reductions", "split", NULL };

/* What the options change for A (which 0) and B (1): of an option given once B alone has it. Appends it to `name`. */
static hu_variant_options
variant_of(const hu_args *args, int which, hu_str *name)
{
	const char *value[4];

	for (int i = 0; changes[i]; i++) {
		int n = hu_args_given(args, changes[i]);
		value[i] = which   ? n > 0 ? hu_args_nth(args, changes[i], n - 1) : NULL
			   : n > 1 ? hu_args_nth(args, changes[i], n - 2)
				   : NULL;
		if (value[i])
			hu_str_addf(name, " %s=%s", changes[i], value[i]);
	}
	return (hu_variant_options){ value[0], value[1], value[2], value[3], NULL };
}

/* One run, whose forward pass the options change. */
static hu_status
compare_variants(const hu_args *args, const char *path, long long step)
{
	hu_forward run, made[2];
	hu_variant_options v[2];
	hu_str name[2];
	int changed[2];
	hu_status st;

	HU_TRY(hu_forward_open(&run, 1, &path, step));
	memset(made, 0, sizeof made);
	pair p = { &run, &run, { path, path } };
	for (int i = 0; i < 2; i++) {
		hu_str_init(&name[i]);
		hu_str_add(&name[i], path);
		size_t len = name[i].len;
		v[i] = variant_of(args, i, &name[i]);
		changed[i] = name[i].len > len;
		p.name[i] = name[i].s;
	}
	int replay = hu_args_given(args, "replay-routers") > 0;
	st = changed[1] ? HU_OK
			: hu_fail(HU_EINVAL, "one run is named: say by --policy, --sum, --reductions or --split what "
					     "the other engine "
					     "does, or name another run");
	for (int i = 0; i < 2 && st == HU_OK; i++) {
		if (i && replay)
			v[1].routing = p.a;
		if (changed[i])
			st = hu_variant_make(&made[i], &run, &v[i]);
		if (!i && changed[0])
			p.a = &made[0];
	}
	p.b = &made[1];
	if (st == HU_OK)
		st = compare(args, &p);
	for (int i = 0; i < 2; i++) {
		hu_forward_release(&made[i]);
		hu_str_release(&name[i]);
	}
	hu_forward_release(&run);
	return st;
}

static hu_status
compare_named(const hu_args *args, const char *const *path)
{
	long long step = -1;
	hu_forward e[2];

	if (hu_args_given(args, "step"))
		HU_TRY(hu_args_int(args, "step", 0, 1ll << 40, &step));
	if (args->nrest == 1 && !hu_kind_is_folder(path[0]))
		return hu_fail(HU_EINVAL,
			"%s is no folder of a run: give two files of logits, two runs, or one run and "
			"what the other engine does otherwise",
			hu_shown(path[0]));
	if (args->nrest == 1)
		return compare_variants(args, path[0], step);
	int a = hu_kind_is_folder(path[0]), b = hu_kind_is_folder(path[1]);
	if (a != b)
		return hu_fail(HU_EINVAL, "%s is a folder and %s is none: two runs or two files are compared",
			hu_shown(path[!a]), hu_shown(path[a]));
	if (!a)
		return compare(args, &(pair){ NULL, NULL, { path[0], path[1] } });
	HU_TRY(hu_forward_open(e, 2, path, step));
	hu_forward again = { .t = NULL };
	int replay = hu_args_given(args, "replay-routers") > 0;
	hu_status st = replay ? hu_variant_make(&again, &e[1], &(hu_variant_options){ .routing = &e[0] }) : HU_OK;
	if (st == HU_OK)
		st = compare(args, &(pair){ &e[0], replay ? &again : &e[1], { path[0], path[1] } });
	hu_forward_release(&again);
	hu_forward_release(&e[0]);
	hu_forward_release(&e[1]);
	return st;
}

static int
run(const hu_args *args)
{
	if (args->nrest != 2 && args->nrest != 1)
		return hu_complain(hu_fail(HU_EINVAL,
			"%d files are named: two files of logits, two runs, or one run and what changes are needed",
			args->nrest));
	hu_status st = compare_named(args, (const char *const *)args->rest);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
of_runs(const void *of)
{
	const hu_args *a = of;

	return a->nrest != 2 || hu_kind_of(a->rest[0]) == HU_KIND_RUN || hu_kind_of(a->rest[0]) == HU_KIND_NONE;
}

static int
of_one(const void *of)
{
	const hu_args *a = of;

	return a->nrest != 2;
}

static const hu_opt_need needs[] = { { "step replay-routers", of_runs, "on files of logits, which have no steps" },
	{ "policy sum reductions split", of_one, "between two engines that are named" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_engines = { "engines", "A B | RUN [OPTION...]",
	"compare two engines that computed the same tokens: their probabilities, and the first node apart",
	"A and B are files of logits (npy, npz or safetensors), [positions, classes] or [sequences, positions, "
	"classes],\n"
	"or two runs. Where a training takes tokens that another engine sampled, A is the engine that sampled and B "
	"the\n"
	"one that trains. Of each token d = log pB - log pA is computed in long double. k1, k2 and k3 estimate\n"
	"KL(A || B) by -d, d^2/2 and exp(d) - 1 - d; KL(A || B) itself is over all classes. A greedy token is the "
	"first\n"
	"of the largest logits.\n"
	"Of two runs the forward passes of one traced step are compared, as far as their tensors have the same names; "
	"the\n"
	"logits are what the loss reads. The first node apart is the first tensor that differs though all that it is\n"
	"computed from is the same. The node is computed again with one aspect at a time taken from B: its formats "
	"with\n"
	"their casts, the order of its sums, its operators (fusion), its other attributes. The cause is the one that\n"
	"alone makes A's node B's. Of batches of different sizes the rows are compared that both have.\n"
	"Of one run B is its forward pass under another policy, with other sums, or divided among ranks, on the "
	"weights\n"
	"and inputs that the run has recorded.",
	opts, run, needs, NULL };
