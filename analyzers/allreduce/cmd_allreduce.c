/* SPDX-License-Identifier: Apache-2.0
   halfulp allreduce: what the sum of recorded gradients over simulated ranks loses, by order, wire format and number
   of ranks. */
#include "analyzers/allreduce/series.h"
#include "analyzers/value/rows.h"
#include "lib/base/build.h"
#include "lib/base/console/opt_need.h"
#include "lib/base/console/opt.h"
#include "lib/base/console/spec.h"
#include "lib/base/show.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDERS = 16, MAX_RANKS = 100000 };

static const hu_opt opts[] = { { "ranks", "A..B", "2..4096",
				       "numbers of ranks: A, 2A, 4A, ... and B, and between two of these where it "
				       "breaks; or one number" },
	{ "ranks:from", "HOW", "cycle",
		"gradients of rank r: cycle: record r modulo their number; normal: drawn with the records' mean and "
		"standard deviation" },
	{ "all-reduce", "LIST", "ring,tree", "orders of the sum, separated by commas: ring, tree, halving, hier:G" },
	{ "all-reduce:wire", "LIST", "fp32,bf16,fp16", "formats that ranks send" },
	{ "all-reduce:acc", "FORMAT", "wire", "format in which a rank adds; wire: the one that it sends" },
	{ "all-reduce:divide", "WHEN", "after",
		"when gradients become a mean: after the sum, before it, or split: by a power of two near sqrt(N) "
		"before, by the rest after" },
	{ "all-reduce:scale", "K", "1",
		"power of two that gradients are multiplied by before the cast, such as a loss scale; auto: "
		"a large one for which no sum can overflow" },
	{ "all-reduce:feedback", NULL, NULL,
		"error feedback: each rank keeps what the cast to the wire lost and adds it to its next gradient" },
	{ "steps", "T", "1",
		"so many all-reduces one after another, in each of which rank r has the next record; figures are of "
		"the sum of their results" },
	{ "sample", "N", "256", "elements that are reduced, chosen at random; all: every one" },
	{ "seed", "K", "1", "seed of that choice, and of drawn gradients" },
	{ "tolerance", "X", "0.1", "relative L2 error above which a number of ranks counts as broken" },
	{ "threads", "N", "0", "threads; 0: one a core" }, { "table", NULL, NULL, "print tab-separated rows" },
	{ "json", NULL, NULL, "print an array with an object for each row" }, { NULL, NULL, NULL, NULL } };

typedef struct options {
	hu_format_id wire[HU_FORMATS], acc; /* acc: HU_NO_FORMAT where it is the wire's */
	int wires, orders, automatic, normal;
	char *order[MAX_ORDERS], *list;
	long long first, last, sample, seed, scale, steps;
	int feedback;
	hu_divide divide;
	double tolerance;
} options;

static hu_status
parse_word(const hu_args *a, const char *name, const char *const *words, int *to)
{
	const char *text = hu_args_text(a, name);
	hu_str known;

	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*to = i;
			return HU_OK;
		}
	hu_str_init(&known);
	for (int i = 0; words[i]; i++)
		hu_str_addf(&known, "%s%s", i ? ", " : "", words[i]);
	hu_str row;
	hu_str_init(&row);
	hu_spec_say(&row, name);
	hu_status st = hu_fail(HU_EINVAL, "%s%s: known are %s", row.s, text, known.s);
	hu_str_release(&row);
	hu_str_release(&known);
	return st;
}

static hu_status
parse_ranks(const hu_args *a, options *o)
{
	const char *text = hu_args_text(a, "ranks"), *dots = strstr(text, "..");
	char *end, *last;

	o->first = o->last = strtoll(text, &end, 10);
	if (dots && end == dots)
		o->last = strtoll(dots + 2, &last, 10);
	if (end == text || (dots ? end != dots || last == dots + 2 || *last : *end) || o->first < 2 ||
		o->last < o->first || o->last > MAX_RANKS)
		return hu_fail(HU_EINVAL,
			"--ranks %s: a number of ranks or a range A..B is needed, with 2 <= A <= B <= %d, as in "
			"2..4096",
			text, MAX_RANKS);
	return HU_OK;
}

/* Reads a power of two, or auto. */
static hu_status
parse_scale(const hu_args *a, options *o)
{
	double x;
	int e;

	o->automatic = !strcmp(hu_args_text(a, "all-reduce:scale"), "auto");
	if (o->automatic)
		return HU_OK;
	HU_TRY(hu_args_real(a, "all-reduce:scale", 0x1p-64, 0x1p64, &x));
	if (frexp(x, &e) != 0.5)
		return hu_fail(HU_EINVAL,
			"--all-reduce scale=%s: a power of two is needed, such as 1024 or 2^-8, or auto",
			hu_args_text(a, "all-reduce:scale"));
	o->scale = e - 1;
	return HU_OK;
}

/* Makes the summation model of order `order` over n ranks: hier:G becomes hier:n:G. */
static hu_status
model(hu_sum *s, const options *o, const char *order, hu_format_id wire, long long n)
{
	const char *colon = strchr(order, ':');
	size_t name = colon ? (size_t)(colon - order) : strlen(order);
	long g = colon ? strtol(colon + 1, NULL, 10) : 0;
	char text[160];

	snprintf(text, sizeof text, "%.*s:%lld", (int)(name < 32 ? name : 32), order, n);
	if (colon && g > n) /* a node holds all ranks then */
		snprintf(text + strlen(text), sizeof text - strlen(text), ":%lld", n);
	else if (colon)
		snprintf(text + strlen(text), sizeof text - strlen(text), ":%.32s", colon + 1);
	hu_status st = hu_sum_parse(text, s);
	if (st == HU_OK && !hu_sum_collective(s->id))
		st = hu_fail(HU_EINVAL, "it is no order of an all-reduce");
	if (st != HU_OK) {
		char *why = hu_xstrdup(hu_reason());
		st = hu_fail(HU_EINVAL, "--all-reduce %s: orders are ring, tree, halving and hier:G (%s)", order, why);
		free(why);
		return st;
	}
	snprintf(text + strlen(text), sizeof text - strlen(text), ",acc=%s,wire=%s",
		hu_format_name(o->acc == HU_NO_FORMAT ? wire : o->acc), hu_format_name(wire));
	return hu_sum_parse(text, s);
}

static hu_status
parse(const hu_args *a, options *o)
{
	static const char *const from[] = { "cycle", "normal", NULL };
	char *save = NULL;
	long long threads;
	int divide;
	hu_sum s;

	memset(o, 0, sizeof *o);
	HU_TRY(parse_ranks(a, o));
	HU_TRY(hu_format_list(hu_args_text(a, "all-reduce:wire"), o->wire, HU_FORMATS, &o->wires));
	o->acc = HU_NO_FORMAT;
	if (strcmp(hu_args_text(a, "all-reduce:acc"), "wire"))
		HU_TRY(hu_format_find(hu_args_text(a, "all-reduce:acc"), &o->acc));
	HU_TRY(parse_word(a, "all-reduce:divide", hu_reduce_divides, &divide));
	o->divide = (hu_divide)divide;
	HU_TRY(parse_word(a, "ranks:from", from, &o->normal));
	HU_TRY(parse_scale(a, o));
	if (strcmp(hu_args_text(a, "sample"), "all"))
		HU_TRY(hu_args_int(a, "sample", 1, 1LL << 40, &o->sample));
	HU_TRY(hu_args_int(a, "seed", 0, 0x7fffffffffffffffLL, &o->seed));
	HU_TRY(hu_args_real(a, "tolerance", 0, 1e300, &o->tolerance));
	HU_TRY(hu_args_int(a, "steps", 1, 100000, &o->steps));
	o->feedback = hu_args_given(a, "all-reduce:feedback");
	HU_TRY(hu_args_int(a, "threads", 0, 4096, &threads));
	hu_threads_set((int)threads);
	o->list = hu_xstrdup(hu_args_text(a, "all-reduce"));
	for (char *w = strtok_r(o->list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (o->orders == MAX_ORDERS)
			return hu_fail(HU_EINVAL, "--all-reduce: more than %d orders", MAX_ORDERS);
		o->order[o->orders++] = w;
	}
	if (!o->orders)
		return hu_fail(HU_EINVAL, "--all-reduce: an order is needed, such as ring");
	for (int i = 0; i < o->orders; i++) /* checked before anything is read or printed */
		for (int k = 0; k < o->wires; k++)
			HU_TRY(model(&s, o, o->order[i], o->wire[k], o->last));
	return a->nrest ? HU_OK
			: hu_fail(HU_EINVAL, "recorded gradients are needed: halfulp allreduce RUN... | "
					     "FILE.safetensors..., each traced "
					     "step or file standing for a rank");
}

/* Returns the power of two by which PyTorch's FSDP divides before the sum: the least f with n / f <= f, or less where
   it does not divide n. */
static double
split_of(long long n)
{
	long long f = 1;

	while (n % f == 0 && n / f > f)
		f *= 2;
	return (double)f;
}

/* Returns how many powers of two there are between x and half of what is the most in two formats. */
static double
reach(hu_format_id a, hu_format_id b, double x)
{
	return floor(log2(fmin(hu_format_of(a).max, hu_format_of(b).max) / 2)) - ceil(log2(x));
}

static void
prepare(hu_reduce_row *w, const options *o, const hu_records *r, const char *order, hu_format_id wire, long long n)
{
	w->order = order;
	w->divide = o->divide;
	if (model(&w->how.sum, o, order, wire, n) != HU_OK)
		hu_bug(__FILE__, __LINE__, "%s", hu_reason()); /* parse() has tried it */
	w->how.before = o->divide == HU_DIVIDE_AFTER ? 1 : o->divide == HU_DIVIDE_BEFORE ? (double)n : split_of(n);
	w->how.after = (double)n / w->how.before;
	w->how.scale = (int)o->scale;
	w->how.steps = (int)o->steps;
	w->how.feedback = o->feedback;
	if (!o->automatic || !(r->amax > 0))
		return;
	/* Roundings to nearest are monotone, so no sum exceeds that of N equal powers of two above amax, which is exact
	   up to the next power of two above N: half of the range is enough for both. That is the range of the wire and
	   of the accumulator; what is scaled, before the cast, is fp32's. 2^-149 is the least that fp32 has. */
	w->how.scale = (int)fmax(
		-149, fmin(64, fmin(reach(w->how.sum.outer, w->how.sum.acc, r->amax * (double)n / w->how.before),
				       reach(HU_FP32, HU_FP32, r->amax / w->how.before))));
}

/* What the rows of one order and wire format have in common. */
typedef struct series {
	const options *o;
	const hu_records *r;
	const char *order;
	hu_format_id wire;
} series;

static hu_status
attempt(hu_reduce_row *w, long long ranks, const void *of)
{
	const series *s = of;

	prepare(w, s->o, s->r, s->order, s->wire, ranks);
	HU_TRY(hu_reduce_run(&w->got, &w->how, s->r));
	w->broken = w->got.overflowed > 0 || w->got.nonfinite > 0 || w->got.rel_l2 > s->o->tolerance;
	return HU_OK;
}

static void
heading(const hu_args *args, const options *o, const hu_records *r, hu_tsv *t, hu_fitted *shown, int tabs)
{
	if (tabs) {
		hu_tsv_note(t, "table", "allreduce");
		hu_tsv_note(t, "halfulp", "%s", hu_build_version());
		char *line = hu_args_line(args, "allreduce");
		hu_tsv_note(t, "command", "%s", line);
		free(line);
		hu_tsv_note(t, "records", "%zu of %zu elements each, %zu of them reduced, seed %lld", r->n, r->of,
			r->elements, o->seed);
		if (o->steps > 1)
			hu_tsv_note(t, "steps", "%lld%s", o->steps, o->feedback ? ", with error feedback" : "");
		hu_reduce_tsv_header(t);
		return;
	}
	printf("%zu recorded gradient%s of %zu elements, %zu of them reduced; divided %s the sum\n", r->n,
		r->n > 1 ? "s" : "", r->of, r->elements,
		o->divide == HU_DIVIDE_AFTER    ? "after"
		: o->divide == HU_DIVIDE_BEFORE ? "before"
						: "before and after");
	if (o->steps > 1)
		printf("figures of the sum over %lld steps, %s error feedback\n", o->steps,
			o->feedback ? "with" : "without");
	hu_reduce_begin(shown);
}

static hu_status
all(const hu_args *args, const options *o, const hu_records *r)
{
	int json = hu_args_given(args, "json"), tabs = hu_args_given(args, "table") && !json, n = 0;
	json_t *list = json ? json_array() : NULL;
	hu_reduce_row *w = NULL;
	hu_status st = HU_OK;
	hu_fitted shown = { 0 };
	hu_tsv t;

	hu_tsv_init(&t);
	if (!json)
		heading(args, o, r, &t, &shown, tabs);
	for (int f = 0; f < o->wires; f++)
		for (int i = 0; i < o->orders && st == HU_OK; i++) {
			series s = { o, r, o->order[i], o->wire[f] };
			int from = n;
			st = hu_series_add(&w, &n, o->first, o->last, attempt, &s);
			for (; from < n && st == HU_OK; from++)
				if (json)
					json_array_append_new(list, hu_reduce_json(&w[from], r));
				else if (tabs)
					hu_reduce_tsv(&t, &w[from], r);
				else
					hu_reduce_print(&shown, &w[from], r);
		}
	if (st == HU_OK && tabs)
		fputs(t.text.s, stdout);
	if (st == HU_OK && !json && !tabs) {
		hu_fitted_left_out(&shown, "--json and --table have all");
		hu_reduce_conclude(w, n);
		hu_reduce_note(w, n, r);
	}
	if (st == HU_OK && json)
		hu_rows_print_json(list);
	else
		json_decref(list);
	hu_tsv_release(&t);
	hu_fitted_release(&shown);
	free(w);
	return st;
}

static int
run(const hu_args *args)
{
	options *o = hu_xcalloc(1, sizeof *o);
	hu_records r;
	hu_status st = parse(args, o);

	if (st == HU_OK)
		st = hu_records_init(&r, (const char *const *)args->rest, args->nrest, (size_t)o->sample,
			(uint64_t)o->seed, o->normal);
	if (st == HU_OK) {
		st = all(args, o, &r);
		hu_records_release(&r);
	}
	free(o->list);
	free(o);
	return st == HU_OK ? HU_EXIT_OK : hu_complain(st);
}

/* Condition: something is drawn. */
static int
draws(const void *of)
{
	return strcmp(hu_args_text(of, "sample"), "all") || !strcmp(hu_args_text(of, "ranks:from"), "normal");
}

/* Condition: there is a next step. */
static int
goes_on(const void *of)
{
	return strcmp(hu_args_text(of, "steps"), "1") != 0;
}

static const hu_opt_need needs[] = { { "all-reduce:feedback", goes_on,
					     "in one step: what a cast loses is added in the next one; give --steps" },
	{ "seed", draws,
		"where nothing is random: --sample all takes every element, and "
		"--ranks from=cycle draws none" },
	{ NULL, NULL, NULL } };

static void
say_columns(void)
{
	hu_reduce_help();
}

const hu_command hu_cmd_allreduce = { "allreduce", "[OPTION...] RUN...|FILE...",
	"simulate the all-reduce of recorded gradients over many ranks, beside the exact mean",
	"Each traced step of a run (the gradients handed to its update) and each .safetensors, .npz or .npy file\n"
	"stands for one rank's gradients. Of a run trained with --all-reduce each traced step stands for those of\n"
	"all its ranks. Further ranks repeat them in turn, or are drawn (--ranks from=normal). Every rank\n"
	"multiplies by scale= and divides (divide=) in fp32, casts to the wire's format, and the ranks add what\n"
	"they receive to what they hold, a rounding a hop: ring, one rank after the other, in every chunk from\n"
	"another rank on; tree, recursive doubling; halving, recursive halving; hier:G, a ring within nodes of G\n"
	"ranks and recursive doubling over nodes. All ranks receive the same bits.\n"
	"rel. L2 is |result - exact mean|2 / |exact mean|2 over the elements, bound what it can be at most (inf\n"
	"where overflow cannot be excluded). underflowed is the share of nonzero contributions that the cast made\n"
	"0; swamped the share of additions that left one operand as it was; overflowed counts elements that became\n"
	"infinite or NaN. Loud ranks sent something infinite or NaN, such as what left the wire's range in the cast:\n"
	"where each rank looks for overflow before the all-reduce, they alone skip the step, and weights diverge;\n"
	"looked for after it, all ranks agree. A number of ranks is broken where the error exceeds --tolerance, some\n"
	"element overflowed or some gradient is not finite; where fewer hold, numbers between are tried until\n"
	"neighbours are left, one that holds and one that breaks. Over several --steps each step has another record:\n"
	"gradients of a training whose weights have not moved yet, or what a run's own ranks had in its traced\n"
	"steps, in their order. With --all-reduce feedback only the last step's casts are lost for good, as in a\n"
	"training by halfulp train --all-reduce ring:8,wire=e4m3,feedback.\n"
	"For the errors' growth see doc/analysis.md.",
	opts, run, needs, say_columns };
