/* SPDX-License-Identifier: Apache-2.0
   halfulp inspect FILE: what each format would do to a file's tensors. */
#include "analyzers/flush.h"
#include "analyzers/inspect_blocks.h"
#include "analyzers/targets.h"

#include "lib/base/mem.h"
#include "lib/base/opt.h"
#include "lib/base/progress.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };   /* elements a task; sums of chunks are joined in order, so threads change nothing */

static const hu_opt opts[] = {
	{ "to", "FORMATS", "fp16,bf16,e4m3", "formats to cast to, RNE, without scaling; block formats with theirs" },
	{ "json", NULL, NULL, "print an array of rows" },
	{ NULL, NULL, NULL, NULL }
};

typedef struct row { const hu_array *a; const hu_target *to; hu_flush u; size_t saturated; double amax, smallest; const char *verdict; } row;

/* What one task found. BLOCKED: the tensor after the cast to a block format; NULL: to a format. */
typedef struct task { const hu_array *a; const hu_target *to; const hu_blocked *blocked; int moment; hu_flush u; size_t saturated; double amax, smallest; } task;

/* Adam's second moments: named as PyTorch's, Keras's and this program's checkpoints name them, and nothing negative. */
static int
second_moments(const hu_array *a)
{
	static const char *const ends[] = { "_v", "_v_next", "exp_avg_sq", "square_avg", "/v", "_v:0", "/velocity", "_velocity" };
	size_t len = strlen(a->name), named = 0;

	for (size_t i = 0; i < sizeof ends / sizeof *ends && !named; i++)
		named = len >= strlen(ends[i]) && !strcmp(a->name + len - strlen(ends[i]), ends[i]);
	for (size_t i = 0; i < a->n && named; i++)
		named = !(hu_array_get(a, i) < 0);
	return named != 0;
}

/* X became GOT, both finite. A second moment counts by the step of a weight whose gradient is as large as the moment says: one that became zero leaves epsilon alone to divide. */
static void
add_harm(hu_flush *u, double x, double got, int moment)
{
	static const double eps = 1e-8; /* PyTorch's */

	if (!moment || !hu_isfinite(x))
		hu_harm_add(&u->harm, got, x, got == 0 && x != 0);
	else if (x > 0)
		hu_harm_add(&u->harm, sqrt(x) / (sqrt(got) + eps), sqrt(x) / (sqrt(x) + eps), got == 0);
}

/* The counts of a block format, whose smallest normal number moves with the scale. */
static void
count_marked(task *t, double x, double got, int mark)
{
	hu_underflow *c = &t->u.count;
	int nonzero = hu_isfinite(x) && x != 0;

	c->elements++;
	c->nonzeros += (uint64_t)nonzero;
	c->zeroed += (uint64_t)(nonzero && got == 0);
	c->subnormal += (uint64_t)(nonzero && mark & HU_MARK_SUBNORMAL);
	c->lost += (uint64_t)(nonzero && mark & HU_MARK_LOST);
	t->saturated += (mark & HU_MARK_SATURATED) != 0;
}

static void
part(task *t, size_t at, size_t n)
{
	hu_format f = hu_format_of(t->to->format);

	for (size_t i = at; i < at + n; i++) {
		double x = hu_array_get(t->a, i), m = fabs(x), got;
		if (t->blocked) {
			got = (double)t->blocked->value[i];
			count_marked(t, x, got, t->blocked->mark[i]);
		} else {
			got = hu_round(x, f, HU_RNE, 0, 0);
			hu_underflow_count(&t->u.count, x, got, f);
		}
		t->u.overflow += hu_isfinite(x) && !hu_isfinite(got);
		add_harm(&t->u, x, got, t->moment);
		if (m > t->amax && hu_isfinite(m))
			t->amax = m;
		if (m > 0 && m < t->smallest)
			t->smallest = m;
	}
}

/* A block format: scales, saturation, and none of FTZ. */
static int
has_blocks(const hu_target *t)
{
	return t->format == HU_NO_FORMAT;
}

static int
has_subnormals(const hu_target *t)
{
	return !has_blocks(t) || t->block.element != HU_NO_FORMAT;
}

static row
judge(const hu_array *a, const hu_target *to)
{
	size_t chunks = a->n / CHUNK + 1;
	int moment = second_moments(a);
	task *t = hu_xcalloc(chunks, sizeof *t);
	row r = { a, to, { .overflow = 0 }, 0, 0, INFINITY, "-" };
	hu_blocked blocked = { NULL, NULL };

	if (has_blocks(to))
		hu_blocked_init(&blocked, a, &to->block);
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = 0; k < chunks; k++) {
		t[k] = (task){ .a = a, .to = to, .blocked = blocked.value ? &blocked : NULL, .moment = moment, .smallest = INFINITY };
		part(&t[k], k * CHUNK, k + 1 < chunks ? CHUNK : a->n - k * CHUNK);
	}
	for (size_t k = 0; k < chunks; k++) {
		hu_flush_join(&r.u, &t[k].u);
		r.saturated += t[k].saturated;
		r.amax = t[k].amax > r.amax ? t[k].amax : r.amax;
		r.smallest = t[k].smallest < r.smallest ? t[k].smallest : r.smallest;
	}
	r.verdict = r.u.overflow ? has_blocks(to) ? "fatal" : "overflow" : hu_verdict(hu_harm_share(&r.u.harm), hu_harm_cosine(&r.u.harm));
	hu_blocked_release(&blocked);
	free(t);
	return r;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *
count(size_t n, int applies)
{
	return applies ? json_integer((json_int_t)n) : json_null();
}

static json_t *
to_json(const row *r, const char *note)
{
	const hu_underflow *c = &r->u.count;
	int sub = has_subnormals(r->to), blocks = has_blocks(r->to);

	return json_pack("{s:s s:s s:s s:I s:I s:I s:o s:o s:o s:I s:o s:o s:o s:o s:o s:o s:s s:s}", "tensor", r->a->name, "dtype", r->a->dtype, "to", hu_target_name(r->to), "elements", (json_int_t)r->a->n, "nonzeros", (json_int_t)c->nonzeros, "became_zero", (json_int_t)c->zeroed, "became_subnormal", count(c->subnormal, sub), "lost_bits", count(c->lost, sub), "ftz", count(c->flushed, !blocks), "overflow", (json_int_t)r->u.overflow, "saturated", count(r->saturated, blocks), "amax", number(r->amax), "smallest_nonzero", number(r->smallest), "share_nonzeros", number(hu_flush_share(&r->u)), "l2_share_lost", number(hu_harm_share(&r->u.harm)), "cosine", number(hu_harm_cosine(&r->u.harm)), "verdict", r->verdict, "note", note);
}

/* Widths of the columns whose cells are names. */
typedef struct widths { int tensor, to; } widths;

static void
widen(int *width, const char *name)
{
	*width = (int)strlen(name) > *width ? (int)strlen(name) : *width;
}

static const char *
cell(char *text, size_t room, size_t n, int applies)
{
	snprintf(text, room, applies ? "%zu" : "-", n);
	return text;
}

static void
print(const row *r, widths w)
{
	const hu_underflow *c = &r->u.count;
	char small[32] = "-", cosine[32] = "-", subnormal[24], lost[24], ftz[24], saturated[24];
	int sub = has_subnormals(r->to), blocks = has_blocks(r->to);

	if (isfinite(r->smallest))
		snprintf(small, sizeof small, "%.3g", r->smallest);
	if (!isnan(hu_harm_cosine(&r->u.harm)))
		snprintf(cosine, sizeof cosine, "%.6f", hu_harm_cosine(&r->u.harm));
	cell(subnormal, sizeof subnormal, c->subnormal, sub);
	cell(lost, sizeof lost, c->lost, sub);
	cell(ftz, sizeof ftz, c->flushed, !blocks);
	cell(saturated, sizeof saturated, r->saturated, blocks);
	printf("%-*s %-8s %-*s %10zu %10zu %8zu %9s %8s %8s %8zu %9s %9.3g %9s %9s  %s\n", w.tensor, r->a->name, r->a->dtype, w.to, hu_target_name(r->to), r->a->n, (size_t)c->nonzeros, (size_t)c->zeroed, subnormal, lost, ftz, r->u.overflow, saturated, r->amax, small, cosine, r->verdict);
}

static void
inspect(const hu_foreign *s, const hu_target *to, int nto, json_t *list, const char *note)
{
	widths w = { 6, 5 };
	size_t skipped = 0;

	for (size_t i = 0; i < s->n; i++)
		widen(&w.tensor, s->array[i].name);
	for (int k = 0; k < nto; k++)
		widen(&w.to, hu_target_name(&to[k]));
	if (!list)
		printf("%-*s %-8s %-*s %10s %10s %8s %9s %8s %8s %8s %9s %9s %9s %9s  %s\n", w.tensor, "tensor", "dtype", w.to, "to", "elements", "nonzeros", "zeroed", "subnormal", "lostbits", "ftz", "overflow", "saturated", "amax", "smallest", "cosine", "verdict");
	for (size_t i = 0; i < s->n; i++) {
		if (s->array[i].format == HU_NO_FORMAT) {
			skipped++;
			continue;
		}
		for (int k = 0; k < nto; k++) {
			row r = judge(&s->array[i], &to[k]);
			if (list)
				json_array_append_new(list, to_json(&r, note));
			else
				print(&r, w);
		}
	}
	if (list)
		return;
	if (skipped)
		printf("%zu tensors are not floating-point and were left out\n", skipped);
	printf("%s\n", note);
}

static int
run(const hu_args *a)
{
	hu_target to[HU_FORMATS];
	int nto, json = hu_args_given(a, "json");
	hu_foreign s;
	hu_status st = hu_target_list(hu_args_text(a, "to"), to, HU_FORMATS, &nto);

	if (st == HU_OK && a->nrest != 1)
		st = hu_fail(HU_EINVAL, "one file is needed: halfulp inspect FILE.safetensors|FILE.npy|FILE.npz");
	if (st != HU_OK || (st = hu_foreign_open(&s, a->rest[0])) != HU_OK)
		return hu_complain(st);
	json_t *list = json ? json_array() : NULL;
	inspect(&s, to, nto, list, s.activations ? "a trace: weights, activations and gradients of one step" : "weights only: activations not judged");
	if (list) {
		json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
		putchar('\n');
		json_decref(list);
	}
	hu_foreign_release(&s);
	return HU_EXIT_OK;
}

const hu_command hu_cmd_inspect = {
	"inspect", "[OPTION...] FILE.safetensors|FILE.npy|FILE.npz", "say what each format would do to a file's tensors",
	"Casts every floating-point tensor to each format (RNE, no scaling) and counts what became zero or\n"
	"subnormal, lost bits by it, would be flushed by FTZ hardware, or overflowed; smallest is the smallest\n"
	"nonzero magnitude, and the verdict rests on the cosine and the lost share of the L2 norm; of Adam's second\n"
	"moments (NAME_v, NAME.exp_avg_sq, ...) those of the steps sqrt(v) / (sqrt(v cast) + 1e-8) are taken.\n"
	"A block format (mxfp8, mxfp4, nvfp4, int8, int4x128, ...) takes a tensor in fp32, scales blocks along its last\n"
	"axis (the last of a row may be short; int8 and its like: the whole tensor), and saturates: those are counted,\n"
	"and subnormal and lost bits are the elements' under their scale, - where elements are integers. A NaN or an\n"
	"infinity makes its block NaN: the finite values in it stand under overflow, and the verdict is fatal.",
	opts, run, NULL
};
