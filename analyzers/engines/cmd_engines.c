/* SPDX-License-Identifier: Apache-2.0
   halfulp engines A B: how far two engines that computed the same tokens are apart, from their files of logits. */
#include "analyzers/drift/contents/kind.h"
#include "analyzers/engines/mismatch_out.h"
#include "analyzers/engines/node_out.h"

#include "lib/base/console/opt_need.h"
#include "lib/base/show.h"
#include "lib/base/console/show_json.h"

#include <math.h>
#include <stdio.h>

static const hu_opt opts[] = {
	{ "tokens", "FILE", NULL,
		"the tokens that were sampled, integers; a negative one is left out [A's greedy ones]" },
	{ "name", "NAME", NULL,
		"the logits: of files the array [logits, or the only one that has floats], of runs the tensor [what "
		"the loss reads]" },
	{ "tau", "X", "2", "count the tokens whose probabilities are a factor of more than X apart" },
	{ "step", "N", NULL, "of two runs: the traced step that is compared [the first that both have traced]" },
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

/* What of the comparison is A and B: files, or runs whose step `e` has. */
static hu_status
read_both(hu_logits *a, hu_logits *b, hu_forward *e, const char *const *path, const char *name)
{
	if (!e[0].p) {
		HU_TRY(hu_logits_read(a, path[0], name));
		return hu_logits_read(b, path[1], name);
	}
	HU_TRY(hu_forward_logits(a, &e[0], name));
	HU_TRY(hu_forward_logits(b, &e[1], name));
	hu_forward_cut(a, b);
	return HU_OK;
}

static void
print(const hu_mismatches *m, const hu_logits *a, const hu_forward *e, const hu_node *node, const hu_args *args,
	double tau)
{
	const char *const path[2] = { args->rest[0], args->rest[1] };
	int given = hu_args_given(args, "tokens");

	if (!hu_args_given(args, "json")) {
		hu_mismatch_print(m, a, given, tau);
		if (e->p)
			hu_node_print(node, &e[0], &e[1]);
		return;
	}
	json_t *o = hu_mismatch_json(m, a, path, given, tau);
	hu_node_add_json(o, e->p ? node : NULL, &e[0], &e[1]);
	hu_json_write(o, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(o);
}

static hu_status
compare(const hu_args *args, hu_forward *e, const char *const *path)
{
	const char *name = hu_args_text(args, "name"), *file = hu_args_text(args, "tokens");
	hu_logits a = { .x = NULL }, b = { .x = NULL }, tokens = { .x = NULL };
	hu_mismatches m;
	hu_node node = { .found = 0 };
	double tau;

	HU_TRY(hu_args_real(args, "tau", 1, 1e300, &tau));
	hu_status st = read_both(&a, &b, e, path, name);
	if (st == HU_OK && file)
		st = hu_logits_tokens(&tokens, file, NULL);
	if (st == HU_OK)
		st = check_shapes(&a, &b, &tokens, path);
	if (st == HU_OK && e->p)
		st = hu_node_find(&node, &e[0], &e[1]);
	if (st == HU_OK && (st = hu_mismatch_measure(&m, &a, &b, file ? &tokens : NULL, tau)) == HU_OK) {
		print(&m, &a, e, &node, args, tau);
		hu_mismatch_release(&m);
	}
	hu_node_release(&node);
	hu_logits_release(&a);
	hu_logits_release(&b);
	hu_logits_release(&tokens);
	return st;
}

static hu_status
compare_runs(const hu_args *args, const char *const *path)
{
	long long step = -1;
	hu_forward e[2] = { { .p = NULL }, { .p = NULL } };
	int a = hu_kind_is_folder(path[0]), b = hu_kind_is_folder(path[1]);

	if (hu_args_given(args, "step"))
		HU_TRY(hu_args_int(args, "step", 0, 1ll << 40, &step));
	if (a != b)
		return hu_fail(HU_EINVAL, "%s is a folder and %s is none: two runs or two files are compared",
			hu_shown(path[!a]), hu_shown(path[a]));
	if (!a)
		return compare(args, e, path);
	HU_TRY(hu_forward_open_both(e, path, step));
	hu_status st = compare(args, e, path);
	hu_forward_release(&e[0]);
	hu_forward_release(&e[1]);
	return st;
}

static int
run(const hu_args *args)
{
	if (args->nrest != 2)
		return hu_complain(hu_fail(HU_EINVAL,
			"%d files are named: two files of logits, or two runs, are needed, A and B", args->nrest));
	hu_status st = compare_runs(args, (const char *const *)args->rest);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

static int
of_runs(const void *of)
{
	const hu_args *a = of;

	return a->nrest != 2 || hu_kind_of(a->rest[0]) == HU_KIND_RUN || hu_kind_of(a->rest[0]) == HU_KIND_NONE;
}

static const hu_opt_need needs[] = { { "step", of_runs, "on files of logits, which have no steps" },
	{ NULL, NULL, NULL } };

const hu_command hu_cmd_engines = { "engines", "A B [OPTION...]",
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
	"alone makes A's node B's. Of batches of different sizes the rows are compared that both have.",
	opts, run, needs, NULL };
