/* SPDX-License-Identifier: Apache-2.0
   halfulp inspect FILE: what each format would do to a file's tensors. */
#include "analyzers/flush.h"
#include "analyzers/foreign.h"

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
	{ "to", "FORMATS", "fp16,bf16,e4m3", "formats to cast to, RNE, without scaling" },
	{ "json", NULL, NULL, "print an array of rows" },
	{ NULL, NULL, NULL, NULL }
};

typedef struct row { const hu_array *a; hu_format_id to; hu_flush u; double amax, smallest; const char *verdict; } row;

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

/* X became GOT. A second moment counts by the step of a weight whose gradient is as large as the moment says: one that became zero leaves epsilon alone to divide. */
static void
add(hu_flush *u, double x, double got, hu_format f, int moment)
{
	static const double eps = 1e-8; /* PyTorch's */

	if (!moment || !hu_isfinite(x)) {
		hu_flush_add(u, x, got, f);
		return;
	}
	hu_underflow_count(&u->count, x, got, f);
	u->overflow += !hu_isfinite(got);
	if (x > 0)
		hu_harm_add(&u->harm, sqrt(x) / (sqrt(got) + eps), sqrt(x) / (sqrt(x) + eps), got == 0);
}

static void
part(const hu_array *a, size_t at, size_t n, hu_format f, int moment, hu_flush *u, double *amax, double *smallest)
{
	memset(u, 0, sizeof *u);
	*amax = 0;
	*smallest = INFINITY;
	for (size_t i = at; i < at + n; i++) {
		double x = hu_array_get(a, i), m = fabs(x);
		add(u, x, hu_round(x, f, HU_RNE, 0, 0), f, moment);
		if (m > *amax && hu_isfinite(m))
			*amax = m;
		if (m > 0 && m < *smallest)
			*smallest = m;
	}
}

static row
judge(const hu_array *a, hu_format_id to)
{
	size_t chunks = a->n / CHUNK + 1;
	int moment = second_moments(a);
	hu_flush *u = hu_xcalloc(chunks, sizeof *u);
	double *amax = hu_xcalloc(chunks, sizeof *amax), *smallest = hu_xcalloc(chunks, sizeof *smallest);
	row r = { a, to, { .overflow = 0 }, 0, INFINITY, "-" };

#pragma omp parallel for schedule(dynamic, 1)
	for (size_t k = 0; k < chunks; k++)
		part(a, k * CHUNK, k + 1 < chunks ? CHUNK : a->n - k * CHUNK, hu_format_of(to), moment, &u[k], &amax[k], &smallest[k]);
	for (size_t k = 0; k < chunks; k++) {
		hu_flush_join(&r.u, &u[k]);
		r.amax = amax[k] > r.amax ? amax[k] : r.amax;
		r.smallest = smallest[k] < r.smallest ? smallest[k] : r.smallest;
	}
	r.verdict = r.u.overflow ? "overflow" : hu_verdict(hu_harm_share(&r.u.harm), hu_harm_cosine(&r.u.harm));
	free(u);
	free(amax);
	free(smallest);
	return r;
}

static json_t *
number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *
to_json(const row *r, const char *note)
{
	const hu_underflow *c = &r->u.count;

	return json_pack("{s:s s:s s:s s:I s:I s:I s:I s:I s:I s:I s:o s:o s:o s:o s:o s:s s:s}", "tensor", r->a->name, "dtype", r->a->dtype, "to", hu_format_name(r->to), "elements", (json_int_t)r->a->n, "nonzeros", (json_int_t)c->nonzeros, "became_zero", (json_int_t)c->zeroed, "became_subnormal", (json_int_t)c->subnormal, "lost_bits", (json_int_t)c->lost, "ftz", (json_int_t)c->flushed, "overflow", (json_int_t)r->u.overflow, "amax", number(r->amax), "smallest_nonzero", number(r->smallest), "share_nonzeros", number(hu_flush_share(&r->u)), "l2_share_lost", number(hu_harm_share(&r->u.harm)), "cosine", number(hu_harm_cosine(&r->u.harm)), "verdict", r->verdict, "note", note);
}

static void
print(const row *r, int width)
{
	const hu_underflow *c = &r->u.count;
	char small[32] = "-", cosine[32] = "-";

	if (isfinite(r->smallest))
		snprintf(small, sizeof small, "%.3g", r->smallest);
	if (!isnan(hu_harm_cosine(&r->u.harm)))
		snprintf(cosine, sizeof cosine, "%.6f", hu_harm_cosine(&r->u.harm));
	printf("%-*s %-8s %-5s %10zu %10zu %8zu %9zu %8zu %8zu %8zu %9.3g %9s %9s  %s\n", width, r->a->name, r->a->dtype, hu_format_name(r->to), r->a->n, (size_t)c->nonzeros, (size_t)c->zeroed, (size_t)c->subnormal, (size_t)c->lost, (size_t)c->flushed, r->u.overflow, r->amax, small, cosine, r->verdict);
}

static void
inspect(const hu_foreign *s, const hu_format_id *to, int nto, json_t *list, const char *note)
{
	int width = 6;
	size_t skipped = 0;

	for (size_t i = 0; i < s->n; i++)
		width = (int)strlen(s->array[i].name) > width ? (int)strlen(s->array[i].name) : width;
	if (!list)
		printf("%-*s %-8s %-5s %10s %10s %8s %9s %8s %8s %8s %9s %9s %9s  %s\n", width, "tensor", "dtype", "to", "elements", "nonzeros", "zeroed", "subnormal", "lostbits", "ftz", "overflow", "amax", "smallest", "cosine", "verdict");
	for (size_t i = 0; i < s->n; i++) {
		if (s->array[i].format == HU_NO_FORMAT) {
			skipped++;
			continue;
		}
		for (int k = 0; k < nto; k++) {
			row r = judge(&s->array[i], to[k]);
			if (list)
				json_array_append_new(list, to_json(&r, note));
			else
				print(&r, width);
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
	hu_format_id to[HU_FORMATS];
	int nto, json = hu_args_given(a, "json");
	hu_foreign s;
	hu_status st = hu_format_list(hu_args_text(a, "to"), to, HU_FORMATS, &nto);

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
	"moments (NAME_v, NAME.exp_avg_sq, ...) those of the steps sqrt(v) / (sqrt(v cast) + 1e-8) are taken.",
	opts, run
};
