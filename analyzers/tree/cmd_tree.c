/* SPDX-License-Identifier: Apache-2.0
   halfulp tree: prints the summation tree of every product and reduction of the build, revealed from results alone. */
#include "analyzers/tree/tree_box.h"
#include "analyzers/tree/tree_dot.h"
#include "analyzers/tree/tree_show.h"
#include "lib/base/console/show_json.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/terminal/progress.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hu_opt opts[] = { { "n", "N", "32", "terms of each sum, 2 to 16384" },
	{ "backend", "NAME", NULL, "cpu, cuda, shim or blas alone [all that this build and machine have]" },
	{ "library", "NAME", NULL,
		"sums of numpy, torch, onnxruntime (by python3, or $PYTHON), openblas, or a shared object with "
		"cblas_sgemm, in place of this build's" },
	{ "sum", "MODEL", NULL,
		"summation model of the products, such as fma, chunk:8 or tc:hopper,in=fp16; repeatable [one of each "
		"kind]" },
	{ "in", "FORMAT", NULL, "format of the factors [fp32; fp64 for acc=fp64; fp16 for a tensor core]" },
	{ "op", "NAME", NULL,
		"one operator alone, such as matmul or bias_db; an unknown NAME is answered with all names [all]" },
	{ "op:part", "P", "0",
		"cut the products' inner dimension into parts of P terms, whose sums are added in a fixed order" },
	{ "out", "FILE.dot", NULL,
		"write the trees as a drawing for Graphviz, each order once: dot -Tsvg FILE.dot draws it" },
	{ "full", NULL, NULL, "print the tree with every term, as in ((1 2) 3), instead of the folded text" },
	{ "json", NULL, NULL, "print an array with an object for each tree" }, { NULL, NULL, NULL, NULL } };

/* One model of each kind; lengths divide 32. */
static const char *const models[] = { "fma", "fma,acc=fp64", "fma,acc=fp16", "sequential", "chunk:8", "openblas:12",
	"pairwise", "kahan", "neumaier", "dot2", "fabsum:8", "splitk:4", "promote:8,acc=fp16", "tc:volta", "tc:turing",
	"tc:ampere", "tc:ampere,in=tf32", "tc:ada,in=e4m3", "tc:hopper", "tc:hopper,in=fp16,out=fp16",
	"tc:hopper,in=e4m3,path=wgmma", "tc:hopper,in=e4m3,path=mma", "tc:blackwell", NULL };

/* Estimates how many sums hu_reveal needs for the tree: on the way from a node's first term to it, each sibling counts
   again. */
static size_t
expected(const hu_order *o)
{
	size_t sums = o->leaves - 1;

	for (; o->n; o = o->child[0])
		for (int i = 1; i < o->n; i++)
			sums += expected(o->child[i]) + (o->n > 2);
	return sums;
}

/* A box whose sums are counted on a terminal by a progress bar, after the first second. */
typedef struct watched {
	hu_tree_box *box;
	hu_progress bar;
} watched;

static double
watch(void *to, const double *terms, size_t n)
{
	watched *w = to;
	double sum = w->box->sum(w->box, terms, n);

	if (w->bar.done + 1 < w->bar.total)
		hu_progress_step(&w->bar, 1);
	return sum;
}

/* Reveals one box's tree and prints it. documented is NULL where no tree is expected. */
static hu_status
reveal(hu_trees *t, hu_tree_box *box, const char *backend, const char *what, const hu_order *documented)
{
	hu_tree_found f = { .backend = backend, .what = what, .documented = documented };
	double big, unit;
	hu_order *o = NULL;
	hu_status st = hu_reveal_masks(box->term, box->products, box->acc, t->n, &big, &unit);

	if (st == HU_OK) {
		watched w = { .box = box };
		hu_progress_start(&w.bar, "tree", documented ? expected(documented) + 24 : t->n * 4);
		w.bar.shown = hu_now() + 1;
		hu_progress_note(&w.bar, "%.70s", what);
		st = hu_reveal(&o, watch, &w, t->n, big, unit, &f.sums);
		hu_progress_end(&w.bar);
		if (box->st != HU_OK)
			st = hu_fail(box->st, "%s", box->why);
		t->wrong += st == HU_EUNABLE && documented;
	}
	if (st != HU_OK && st != HU_EUNABLE)
		return st;
	f.o = o;
	f.why = hu_reason();
	hu_tree_show(t, &f);
	if (t->dot)
		hu_tree_dot_add(t->dot, &f);
	hu_order_free(o);
	return HU_OK;
}

static hu_format_id
factors(const hu_trees *t, const hu_sum *s)
{
	if (t->in != HU_NO_FORMAT)
		return t->in;
	if (hu_sum_is_unit(s->id))
		return s->in == HU_NO_FORMAT ? HU_FP16 : s->in;
	return s->acc == HU_FP64 ? HU_FP64 : HU_FP32;
}

/* One operator by one model on one back end. */
static hu_status
product(hu_trees *t, const hu_backend *b, const hu_op *op, const char *model)
{
	hu_sum s;
	hu_tree_box box;
	char what[192], name[96];
	hu_order *documented = NULL;

	HU_TRY(hu_sum_parse(model, &s));
	hu_format_id in = factors(t, &s);
	size_t part = t->part < t->n ? t->part : 0;
	hu_status st = hu_tree_box_open(&box, b, op, s, in, part, t->n);
	if (st == HU_OK) {
		t->opened++;
		hu_sum_print(box.program->c[0].sum, name, sizeof name);
		snprintf(what, sizeof what, "%s by %s, factors in %s", op->name, name, hu_format_name(in));
		if (part)
			snprintf(what + strlen(what), sizeof what - strlen(what), ", parts of %zu", part);
		documented = hu_order_of_model(box.program->c[0].sum, t->n, part);
		st = reveal(t, &box, b->name, what, documented);
	}
	hu_order_free(documented);
	hu_tree_box_close(&box);
	return st;
}

static hu_status
reduction(hu_trees *t, const hu_backend *b, const hu_op *op)
{
	hu_tree_box box;
	hu_format_id in = t->in == HU_NO_FORMAT ? HU_FP32 : t->in;
	hu_status st = hu_tree_box_open(&box, b, op, hu_sum_default(), in, 0, t->n);

	if (st == HU_OK) {
		hu_order *documented = box.call.by_model ? hu_order_of_model(box.program->c[0].sum, t->n, 0)
							 : hu_order_lanes(t->n, 32, 4096);
		char what[64];
		snprintf(what, sizeof what, "%s, values in %s", op->name, hu_format_name(in));
		st = reveal(t, &box, b->name, what, documented);
		hu_order_free(documented);
	}
	hu_tree_box_close(&box);
	return st;
}

/* Operator i of those whose sums can be revealed, of products or of values; NULL past the last. */
static const hu_op *
summing(int i, int products)
{
	const hu_op *op;
	hu_sum_call s;

	for (int k = 0; (op = hu_op_at(k)); k++) {
		if (!HU_COLUMN(op, sum_call))
			continue;
		HU_COLUMN(op, sum_call)(2, &s);
		if ((s.nin == 2) == products && i-- == 0)
			return op;
	}
	return NULL;
}

static hu_status
back_end(hu_trees *t, const hu_backend *b)
{
	const char *only = hu_args_text(t->args, "op"), *model;
	int given = hu_args_given(t->args, "sum");
	const hu_op *op;

	for (int i = 0; (op = summing(i, 1)); i++) {
		if (only && strcmp(only, op->name))
			continue;
		for (int k = 0; (model = given ? hu_args_nth(t->args, "sum", k) : models[k]); k++) {
			if (!given && !only && i && k)
				break; /* one model is enough to show a convolution's order, since its arithmetic is
					  matmul's */
			HU_TRY(product(t, b, op, model));
		}
	}
	for (int i = 0; !given && (op = summing(i, 0)); i++) {
		if (only && strcmp(only, op->name))
			continue;
		hu_status st = reduction(t, b, op);
		if (st == HU_EUNABLE && !only && t->opened) { /* a GPU lacks this operator alone */
			if (!t->rows)
				printf("%s: %s is not here: %s\n", b->name, op->name, hu_reason());
			st = HU_OK;
		}
		HU_TRY(st);
	}
	return HU_OK;
}

/* HU_EINVAL, with all names, if op is none of the operators that sum. */
static hu_status
check_op(const char *op)
{
	const hu_op *known;
	hu_str all;

	hu_str_init(&all);
	for (int products = 1; products >= 0; products--)
		for (int i = 0; (known = summing(i, products)); i++) {
			if (!strcmp(op, known->name)) {
				hu_str_release(&all);
				return HU_OK;
			}
			hu_str_addf(&all, "%s%s", all.len ? ", " : "", known->name);
		}
	hu_status st = hu_fail(HU_EINVAL, "--op '%s' sums nothing here; known: %s", op, all.s);
	hu_str_release(&all);
	return st;
}

static hu_status
blas(hu_trees *t, int asked)
{
	static const char *const names[] = { "cblas_sgemm", "cblas_dgemm", "cblas_sdot", "cblas_ddot", NULL };
	hu_status st = HU_OK;

	for (int i = 0; names[i] && st == HU_OK; i++) {
		hu_tree_box box;
		st = hu_tree_box_blas(&box, names[i], t->n);
		if (st == HU_OK)
			st = reveal(t, &box, "blas", names[i], NULL);
		else if (!asked)
			st = HU_OK;
		hu_tree_box_close(&box);
	}
	return st;
}

/* The sums of a library, each with a sentence on which summation model has its order. */
static hu_status
library(hu_trees *t, const char *name)
{
	hu_library l;
	hu_status st = hu_library_open(&l, name, t->n);

	t->sentence = 1;
	for (size_t i = 0; i < l.n && st == HU_OK; i++) {
		hu_tree_box box;
		st = hu_tree_box_library(&box, &l, i);
		if (st == HU_OK)
			st = reveal(t, &box, l.title, l.sum[i].what, NULL);
		hu_tree_box_close(&box);
	}
	hu_library_release(&l);
	return st;
}

static hu_status
all(hu_trees *t)
{
	const char *only = hu_args_text(t->args, "backend");
	const hu_backend *b;

	if (hu_args_given(t->args, "library"))
		return library(t, hu_args_text(t->args, "library"));
	if (only && strcmp(only, "blas") && hu_backend_find(only, &b) != HU_OK)
		return hu_fail(HU_EINVAL, "%s, and here blas", hu_reason());
	for (int i = 0; (b = hu_backend_at(i)); i++) {
		if (only && strcmp(only, b->name))
			continue;
		t->opened = 0;
		hu_status st = back_end(t, b);
		if (!only && i && !t->opened && (st == HU_EUNABLE || st == HU_EDEVICE)) {
			if (!t->rows)
				printf("%s: not here: %s\n", b->name, hu_reason());
			continue;
		}
		HU_TRY(st);
		if (t->alike)
			printf("%s: %d sum%s in the same order as on %s\n", b->name, t->alike, t->alike > 1 ? "s" : "",
				hu_backend_at(0)->name);
		t->alike = 0;
		t->backends++;
	}
	if (!hu_args_given(t->args, "sum") && !hu_args_given(t->args, "op") && (!only || !strcmp(only, "blas")))
		HU_TRY(blas(t, only != NULL));
	return HU_OK;
}

static hu_status
parse(const hu_args *args, hu_trees *t)
{
	const char *op = hu_args_text(args, "op");
	long long n, part;

	memset(t, 0, sizeof *t);
	t->args = args;
	t->in = HU_NO_FORMAT;
	HU_TRY(hu_args_int(args, "n", 2, 16384, &n));
	HU_TRY(hu_args_int(args, "op:part", 0, 16384, &part));
	t->n = (size_t)n;
	t->part = (size_t)part;
	t->full = hu_args_given(args, "full");
	if (hu_args_text(args, "in"))
		HU_TRY(hu_format_find(hu_args_text(args, "in"), &t->in));
	if (op)
		HU_TRY(check_op(op));
	if (args->nrest)
		return hu_fail(HU_EINVAL, "'%s': tree takes options alone", args->rest[0]);
	if (hu_args_given(args, "json"))
		t->rows = json_array();
	return HU_OK;
}

static int
run(const hu_args *args)
{
	hu_trees t;
	hu_tree_dot dot = { { 0 }, NULL, 0, 0 };
	const char *file = hu_args_text(args, "out");
	char *line = hu_args_line(args, "tree");
	hu_status st = parse(args, &t);

	t.dot = file ? &dot : NULL;
	if (st == HU_OK)
		st = all(&t);
	if (st == HU_OK && file)
		st = hu_tree_dot_write(&dot, file, line);
	hu_tree_dot_release(&dot);
	free(line);
	if (st == HU_OK && t.rows) {
		hu_json_write(t.rows, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	json_decref(t.rows);
	free(t.seen);
	if (st != HU_OK)
		return hu_complain(st);
	return t.wrong ? HU_EXIT_JUDGED : HU_EXIT_OK;
}

static int
not_blas(const void *of)
{
	const char *backend = hu_args_text(of, "backend");

	return !backend || strcmp(backend, "blas");
}

static int
sums_products(const void *of)
{
	const char *name = hu_args_text(of, "op");
	const hu_op *op;

	for (int i = 0; name && (op = summing(i, 0)); i++)
		if (!strcmp(name, op->name))
			return 0;
	return 1;
}

static int
of_this_build(const void *of)
{
	return !hu_args_given(of, "library");
}

static const hu_opt_need needs[] = { { "backend sum in op op:part", of_this_build,
					     "with --library, whose sums are its own" },
	{ "sum in op op:part", not_blas, "on a BLAS, whose products are its own" },
	{ "sum op:part", sums_products, "on a reduction, which sums no products" }, { NULL, NULL, NULL } };

const hu_command hu_cmd_tree = { "tree", "[OPTION...]",
	"reveal the order in which every product and reduction of this build sums",
	"Each sum is a black box: its input is M and -M at two places and small units elsewhere, and its result\n"
	"counts the units that are added after the two have met (FPRev, arXiv 2411.00442). Terms count from 1.\n"
	"  seq(a, b, c)     ((a + b) + c); 1..8 stands for terms 1 to 8; T x4 +8 for T and three more copies,\n"
	"                   each shifted by 8 terms; [1, 2] x3 +4 for terms 1, 2, 5, 6, 9, 10\n"
	"  pair(T, +s)      T plus the same tree s terms on; pairs(1..8): halves are summed recursively\n"
	"  fused(a, b, c)   one node that adds several terms; fused(1..16; x2 +16): a chain of two nodes, the\n"
	"                   second of which takes the first one's sum and the next 16 terms\n"
	"The hash identifies the tree, whatever the order of siblings. Exit 1 where a tree differs from its\n"
	"model's.\n"
	"For a BLAS the order is only reported, since it is not documented: finding no tree is not a failure.\n"
	"--library does the same with another product's sums, and says which summation model has their order; long\n"
	"sums show more: --library numpy --n 1024.",
	opts, run, needs, NULL };
