/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's composed operators against MPFR: attention, its backward pass, rotary embedding,
   convolutions, what pools, chooses and gathers, optimizers' steps, and the backward passes of norms as the graphs that
   composites.def has. Every operand is a ball, the true operand any number of it; each result that MPFR computes of
   those must lie in the ball that the graph returns. HALFULP_RADII_DRAWS says how many elements each gets. */
#include "t/judge/kernels/radii.h"

#include "analyzers/judge/kernel/composite.h"

enum { OPERANDS = 5, MOST = 24, INSIDE = 4 };
enum { N = 3, M = 4, D = 3, W = 2, L = 5 }; /* rows, keys, head size, value size, a norm's length */

/* Rounds y to the nearest bf16; the other says how far that may be where a tie is within its error. */
static void
round_bf16_mpfr(mpfr_ptr y)
{
	mpfr_t z;

	mpfr_init2(z, 8);
	if (mpfr_regular_p(y) && mpfr_get_exp(y) < -125) { /* a multiple of the smallest, 2^-133 */
		mpfr_mul_2si(y, y, 133, R);
		mpfr_rint_roundeven(y, y, R);
		mpfr_div_2si(y, y, 133, R);
	} else {
		mpfr_set(z, y, MPFR_RNDN);
		mpfr_set(y, z, R);
	}
	mpfr_clear(z);
}

static long double
nearest_bf16(long double x)
{
	int e;

	if (!(fabsl(x) < EXTENDED_HUGE))
		return x;
	frexpl(x, &e);
	long double ulp = ldexpl(1, e < -125 ? -133 : e - 8);
	return rintl(x / ulp) * ulp;
}

static void
round_bf16_extended(extended_ptr y)
{
	long double low = nearest_bf16(y->x - y->e), high = nearest_bf16(y->x + y->e);

	extended_put(y, (low + high) / 2, (high - low) / 2);
}

#include "t/judge/kernels/as_extended.inc"
#include "t/judge/kernels/exact_composed.inc"
#include "t/judge/kernels/exact_indexed.inc"
#include "t/judge/kernels/as_mpfr.inc"
#include "t/judge/kernels/exact_composed.inc"
#include "t/judge/kernels/exact_indexed.inc"

/* A graph, or a composite by name, whose operands have the shapes; + marks one that is not negative, %N one of whole
   numbers below N. */
static const struct composed {
	const char *name, *graph, *operands, *results;
	void (*exact)(vector_mpfr *x, vector_mpfr *y, int variant);
	void (*quick)(vector_extended *x, vector_extended *y, int variant);
	int variant;
} cases[] = {
#define BOTH(name) exact_##name##_mpfr, exact_##name##_extended
	{ "attention", "o, l = attention(q, k, v, scale=0.5, block=1)", "q:3x3 k:4x3 v:4x2", "o l", BOTH(attention),
		0 },
	{ "attention, causal", "o, l = attention(q, k, v, scale=0.5, causal=1)", "q:3x3 k:4x3 v:4x2", "o l",
		BOTH(attention), 1 },
	{ "attention, softcap", "o, l = attention(q, k, v, scale=0.5, softcap=5)", "q:3x3 k:4x3 v:4x2", "o l",
		BOTH(attention), 2 },
	{ "attention, stored", "o, l = attention(q, k, v, scale=0.5, pv=bf16)", "q:3x3 k:4x3 v:4x2", "o l",
		BOTH(attention), 3 },
	{ "attention_dx", "a, b, c = attention_dx(q, k, v, do, scale=0.5)", "q:3x3 k:3x3 v:3x3 do:3x3", "a b c",
		BOTH(attention_dx), 0 },
	{ "attention_dx, causal", "a, b, c = attention_dx(q, k, v, do, scale=0.5, causal=1)",
		"q:3x3 k:3x3 v:3x3 do:3x3", "a b c", BOTH(attention_dx), 1 },
	{ "rmsnorm_dx", NULL, "x:3x5 dy:3x5 w:5", "dx dw", BOTH(norm_dx), 0 },
	{ "layernorm_dx", NULL, "x:3x5 dy:3x5 w:5", "dx dw db", BOTH(norm_dx), 1 },
	{ "rope", "y = rope(x, c, s, interleaved=0)", "x:2x4 c:2x2 s:2x2", "y", BOTH(rope), 0 },
	{ "rope, interleaved", "y = rope(x, c, s, interleaved=1)", "x:2x4 c:2x2 s:2x2", "y", BOTH(rope), 1 },
	{ "conv", "y = conv(x, w, b, stride=2, padding=1)", "x:1x2x6 w:2x2x3 b:2", "y", BOTH(conv), 0 },
	{ "conv_transpose", "y = conv_transpose(x, w, b, stride=2, padding=1, output_padding=1)", "x:1x2x4 w:2x2x3 b:2",
		"y", BOTH(conv_transpose), 0 },
	{ "adamw",
		"w1, m1, v1 = adamw(w, g, m, v, lr=2^-10, beta1=0.875, beta2=0.984375, eps=2^-20, decay=2^-5, step=3)",
		"w:8 g:8 m:8 v:8+", "w1 m1 v1", BOTH(adamw), 0 },
	{ "adam",
		"w1, m1, v1 = adamw(w, g, m, v, lr=2^-10, beta1=0.875, beta2=0.984375, eps=2^-20, decay=2^-5, step=3, "
		"coupled=1)",
		"w:8 g:8 m:8 v:8+", "w1 m1 v1", BOTH(adamw), 1 },
	{ "lion", "w1, m1 = lion(w, g, m, lr=2^-10, beta1=0.875, beta2=0.984375, decay=2^-5)", "w:8 g:8 m:8", "w1 m1",
		BOTH(lion), 0 },
	{ "sgd", "w1, m1 = sgd(w, g, m, lr=2^-4, momentum=0.875, decay=2^-5)", "w:8 g:8 m:8", "w1 m1", BOTH(sgd), 0 },
	{ "sgd, nesterov", "w1, m1 = sgd(w, g, m, lr=2^-4, momentum=0.875, decay=2^-5, nesterov=1)", "w:8 g:8 m:8",
		"w1 m1", BOTH(sgd), 1 },
	{ "muon", "w1, m1, u = muon(w, g, m, o, lr=2^-5, momentum=0.875, decay=2^-4, scale=1)", "w:8 g:8 m:8 o:8",
		"w1 m1 u", BOTH(muon), 1 },
	{ "clip", "y = clip(x, low=-1, high=2)", "x:8", "y", BOTH(clip), 0 },
	{ "where", "y = where(m, a, b)", "m:8%2 a:8 b:8", "y", BOTH(where), 0 },
	{ "less", "y = less(a, b)", "a:8 b:8", "y", BOTH(less), 0 },
	{ "maxpool", "y = maxpool(x, window=3, stride=2, padding=1)", "x:1x2x6", "y", BOTH(pool), 0 },
	{ "avgpool", "y = avgpool(x, window=3, stride=2, padding=1)", "x:1x2x6", "y", BOTH(pool), 1 },
	{ "embedding_dw", "y = embedding_dw(d, i, rows=3)", "d:4x3 i:4%3", "y", BOTH(embedding_dw), 0 },
	{ "grouped_matmul", "y = grouped_matmul(x, w, i)", "x:3x4 w:2x4x2 i:3%2", "y", BOTH(grouped_matmul), 0 },
	{ "dequantise", "y = dequantise(q, s, z, group=2)", "q:2x4 s:2x2 z:2x2", "y", BOTH(dequantise), 0 },
	{ "minus_target", "y = minus_target(p, i)", "p:3x4 i:3%4", "y", BOTH(minus_target), 0 },
	{ "affine", "y = affine(x, w, b)", "x:2x3x2 w:3 b:3", "y", BOTH(affine), 0 },
	{ "pick", "y = pick(x, i)", "x:3x4 i:3%4", "y", BOTH(pick), 0 },
};

/* Operands of all sizes, or of ordinary ones; radii of all sizes, or small ones, or none. */
static void
fill(hu_ball *b, size_t n, int positive, int wild)
{
	double rel = ldexp(1, -(int)draw(30) - 2);

	for (size_t i = 0; i < n; i++) {
		double x = wild ? operand() : 4 * uniform() - 2;
		x = positive ? fabs(x) : i && !draw(5) ? b[draw((unsigned)i)].x : x;
		double r = wild && !draw(3) ? radius(x) : draw(4) ? fabs(x) * rel : 0;
		b[i] = (hu_ball){ x, positive && r > x ? x : r, 0, 0 };
	}
}

/* Makes the operand that "name:3x4" says, or with + behind it one that is not negative, or with %3 one of 0, 1, 2. */
static int
make(const hu_graph *g, hu_balls *value, const char *text, int wild)
{
	char name[16];
	size_t d[4];
	int rank = 0, n = (int)strcspn(text, ":");

	snprintf(name, sizeof name, "%.*s", n, text);
	const char *s = text + n + 1;
	do {
		char *end;
		d[rank++] = strtoul(s, &end, 10);
		s = end;
	} while (*s == 'x' && s++);
	int id = hu_graph_value(g, name);
	if (id < 0 || hu_balls_make(&value[id], rank, d, "operand") != HU_OK)
		bail_out("no operand %s", name);
	fill(value[id].b, value[id].n, *s == '+', wild);
	for (size_t i = 0; *s == '%' && i < value[id].n; i++)
		value[id].b[i] = hu_ball_of(draw((unsigned)strtoul(s + 1, NULL, 10)));
	return id;
}

/* The balls of a graph's results "a b". */
static int
results_of(const hu_graph *g, hu_balls *value, const char *results, const hu_balls **y)
{
	int k = 0;

	for (const char *s = results; *s; s += strcspn(s, " "), s += *s == ' ') {
		char name[16];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(s, " "), s);
		y[k++] = &value[hu_graph_value(g, name)];
	}
	return k;
}

/* Whether MPFR has to decide of one of N arrays of results. */
static int
is_open(found *f, int n, const hu_balls **ball, vector_extended *about)
{
	int open = 0;

	for (int k = 0; k < n; k++)
		for (size_t i = 0; i < ball[k]->n; i++)
			open |= !is_boundless(f, ball[k]->b[i]) && !is_settled(ball[k]->b[i], about[k][i]);
	return open;
}

static void
hold_case(found *f, const struct composed *c, const hu_graph *g, const hu_facts *facts, vector_mpfr *x, vector_mpfr *y)
{
	hu_balls *value = hu_xcalloc((size_t)g->n, sizeof *value), *none = hu_xcalloc((size_t)g->n, sizeof *none);
	char *text = hu_xstrdup(c->operands), *save = NULL;
	int in[OPERANDS], nin = 0, wild = draw(2) != 0;
	static vector_extended s[OPERANDS], about[3];
	const hu_balls *ball[3];

	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		in[nin++] = make(g, value, w, wild);
	if (hu_graph_run(g, facts, HU_STORES_ADD, value, NULL, none) != HU_OK)
		bail_out("%s does not run: %s", c->name, hu_reason());
	int n = results_of(g, value, c->results, ball);
	for (int t = 0; t < INSIDE; t++) {
		for (int k = 0; k < nin; k++)
			for (size_t i = 0; i < value[in[k]].n; i++)
				inside(s[k][i], value[in[k]].b[i]);
		extended_open = 0;
		c->quick(s, about, c->variant);
		if (!is_open(f, n, ball, about))
			continue;
		for (int k = 0; k < nin; k++)
			for (size_t i = 0; i < value[in[k]].n; i++)
				mpfr_set_ld(x[k][i], s[k][i]->x, R);
		c->exact(x, y, c->variant);
		for (int k = 0; k < n; k++)
			for (size_t i = 0; i < ball[k]->n; i++)
				if (ball[k]->b[i].r < INFINITY && !isnan(ball[k]->b[i].x)) {
					mpfr_set(scratch_mpfr[0], y[k][i], R);
					hold(f, ball[k]->b[i], scratch_mpfr[0], about[k][i], value[in[0]].b[0],
						hu_ball_of(k));
				}
	}
	for (int i = 0; i < g->n; i++)
		hu_balls_release(&value[i]);
	free(value);
	free(none);
	free(text);
}

int
main(void)
{
	size_t draws = draws_of(8000);
	static vector_mpfr x[OPERANDS], y[3];
	static const char *const set[][2] = { { "compute", "fp64" }, { "acc", "fp64" }, { "exp", "2^-52" },
		{ "fn", "2^-52" }, { "tiny", "0" }, { "stats", "none" } };

	for (int i = 0; i < 4; i++)
		mpfr_init2(scratch_mpfr[i], BITS);
	for (int i = 0; i < MOST; i++) {
		mpfr_inits2(BITS, share_mpfr[i], row_mpfr[i], y[0][i], y[1][i], y[2][i], (mpfr_ptr)0);
		for (int k = 0; k < OPERANDS; k++)
			mpfr_init2(x[k][i], BITS);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct composed *c = &cases[i];
		const hu_composite *known = NULL;
		found f = { 0 };
		hu_graph g;
		hu_facts facts;
		if (!is_wanted(c->name))
			continue;
		hu_facts_init(&facts);
		for (size_t k = 0; k < sizeof set / sizeof *set; k++)
			hu_facts_set(&facts, set[k][0], set[k][1]);
		hu_facts_set(&facts, "eps", c->variant ? "1e-5" : "1e-6");
		if (!c->graph && hu_composite_find(c->name, &known) != HU_OK)
			bail_out("no kernel %s", c->name);
		if (hu_graph_parse(&g, c->graph ? c->graph : known->graph) != HU_OK)
			bail_out("%s: %s", c->name, hu_reason());
		while (f.n < draws)
			hold_case(&f, c, &g, &facts, x, y);
		tell(&f, c->name, "");
		hu_graph_release(&g);
		hu_facts_release(&facts);
	}
	for (int i = 0; i < MOST; i++) {
		mpfr_clears(share_mpfr[i], row_mpfr[i], y[0][i], y[1][i], y[2][i], (mpfr_ptr)0);
		for (int k = 0; k < OPERANDS; k++)
			mpfr_clear(x[k][i]);
	}
	for (int i = 0; i < 4; i++)
		mpfr_clear(scratch_mpfr[i]);
	mpfr_free_cache();
	return done_testing();
}
