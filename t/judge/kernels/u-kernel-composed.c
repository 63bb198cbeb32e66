/* SPDX-License-Identifier: Apache-2.0
   Radii of the kernel judge's composed operators against MPFR: attention, its backward pass, rotary embedding,
   convolutions, optimizers' steps, and the backward passes of norms as the graphs that composites.def has. Every
   operand is a ball, the true operand any number of it; each result that MPFR computes of those must lie in the ball
   that the graph returns. HALFULP_RADII_DRAWS says how many elements each gets. */
#include "t/judge/kernels/radii.h"

#include "analyzers/judge/composite.h"

enum { OPERANDS = 5, MOST = 24, INSIDE = 4 };
enum { N = 3, M = 4, D = 3, W = 2, L = 5 }; /* rows, keys, head size, value size, a norm's length */
static mpfr_t A, B, C, X;

typedef mpfr_t vector[MOST];

/* Sets y to the sum of a[i s] b[i t] over n terms. */
static void
dot(mpfr_t y, mpfr_t *a, int s, mpfr_t *b, int t, int n)
{
	mpfr_set_zero(y, 1);
	for (int i = 0; i < n; i++)
		mpfr_fma(y, a[i * s], b[i * t], y, R);
}

#define CASE(name) static void exact_##name(vector *x, vector *y, int variant)

/* Weights of one query row, and the log of their sum. */
static void
shares(mpfr_t *p, mpfr_t lse, mpfr_t *q, mpfr_t *k, int keys, int depth, double scale, double cap)
{
	for (int j = 0; j < keys; j++) {
		dot(p[j], q, 1, k + j * depth, 1, depth);
		mpfr_mul_d(p[j], p[j], scale, R);
		if (cap > 0) {
			mpfr_div_d(p[j], p[j], cap, R);
			mpfr_tanh(p[j], p[j], R);
			mpfr_mul_d(p[j], p[j], cap, R);
		}
	}
	mpfr_set(B, p[0], R);
	for (int j = 1; j < keys; j++)
		mpfr_max(B, B, p[j], R);
	mpfr_set_zero(lse, 1);
	for (int j = 0; j < keys; j++) {
		mpfr_sub(p[j], p[j], B, R);
		mpfr_exp(p[j], p[j], R);
		mpfr_add(lse, lse, p[j], R);
	}
	for (int j = 0; j < keys; j++)
		mpfr_div(p[j], p[j], lse, R);
	mpfr_log(lse, lse, R);
	mpfr_add(lse, lse, B, R);
}

static mpfr_t share[MOST], row[MOST];

/* Variants: 0 plain, 1 causal, 2 with a softcap of 5. */
CASE(attention)
{
	for (int i = 0; i < N; i++) {
		int keys = variant == 1 ? i + 1 : M;
		shares(share, y[1][i], x[0] + i * D, x[1], keys, D, 0.5, variant == 2 ? 5 : 0);
		for (int d = 0; d < W; d++)
			dot(y[0][i * W + d], share, 1, x[2] + d, W, keys);
	}
}

CASE(attention_dx)
{
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < MOST; i++)
			mpfr_set_zero(y[k][i], 1);
	for (int i = 0; i < N; i++) {
		int keys = variant == 1 ? i + 1 : N;
		mpfr_t *go = x[3] + i * D;
		shares(share, A, x[0] + i * D, x[1], keys, D, 0.5, 0);
		for (int j = 0; j < keys; j++)
			dot(row[j], go, 1, x[2] + j * D, 1, D);
		dot(C, share, 1, row, 1, keys);
		for (int j = 0; j < keys; j++) {
			mpfr_sub(row[j], row[j], C, R);
			mpfr_mul(row[j], row[j], share[j], R);
			mpfr_mul_d(row[j], row[j], 0.5, R);
			for (int d = 0; d < D; d++) {
				mpfr_fma(y[0][i * D + d], row[j], x[1][j * D + d], y[0][i * D + d], R);
				mpfr_fma(y[1][j * D + d], row[j], x[0][i * D + d], y[1][j * D + d], R);
				mpfr_fma(y[2][j * D + d], share[j], go[d], y[2][j * D + d], R);
			}
		}
	}
}

/* Both norms' gradients; variant 1 is layernorm's, with a third result. */
CASE(norm_dx)
{
	for (int j = 0; j < L; j++)
		for (int k = 1; k < 3; k++)
			mpfr_set_zero(y[k][j], 1);
	for (int i = 0; i < N; i++) {
		mpfr_t *u = x[0] + i * L, *dy = x[1] + i * L, *n = share;
		mpfr_set_zero(A, 1);
		for (int j = 0; j < L && variant; j++)
			mpfr_add(A, A, u[j], R);
		mpfr_div_si(A, A, L, R);
		for (int j = 0; j < L; j++)
			mpfr_sub(n[j], u[j], A, R);
		dot(B, n, 1, n, 1, L);
		mpfr_div_si(B, B, L, R);
		mpfr_add_d(B, B, variant ? 1e-5 : 1e-6, R);
		mpfr_rec_sqrt(B, B, R);
		mpfr_set_zero(A, 1);
		for (int j = 0; j < L; j++) {
			mpfr_mul(n[j], n[j], B, R);
			mpfr_fma(y[1][j], dy[j], n[j], y[1][j], R);
			mpfr_add(y[2][j], y[2][j], dy[j], R);
			mpfr_mul(row[j], dy[j], x[2][j], R);
			mpfr_add(A, A, row[j], R);
		}
		dot(C, row, 1, n, 1, L);
		mpfr_div_si(C, C, L, R);
		mpfr_div_si(A, A, L, R);
		for (int j = 0; j < L; j++) {
			mpfr_mul(X, n[j], C, R);
			mpfr_sub(X, row[j], X, R);
			if (variant)
				mpfr_sub(X, X, A, R);
			mpfr_mul(y[0][i * L + j], X, B, R);
		}
	}
}

/* x [2, 4], cos and sin [2, 2]. */
CASE(rope)
{
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			int a = i * 4 + (variant ? 2 * j : j), b = variant ? a + 1 : a + 2;
			mpfr_fmms(y[0][a], x[0][a], x[1][i * 2 + j], x[0][b], x[2][i * 2 + j], R);
			mpfr_fmma(y[0][b], x[0][b], x[1][i * 2 + j], x[0][a], x[2][i * 2 + j], R);
		}
}

/* x [1, 2, 6], w [2, 2, 3], b [2]: stride 2, padding 1. */
CASE(conv)
{
	(void)variant;
	for (int f = 0; f < 2; f++)
		for (int o = 0; o < 3; o++) {
			mpfr_set(A, x[2][f], R);
			for (int c = 0; c < 2; c++)
				for (int k = 0; k < 3; k++) {
					int place = 2 * o + k - 1;
					if (place >= 0 && place < 6)
						mpfr_fma(A, x[0][c * 6 + place], x[1][(f * 2 + c) * 3 + k], A, R);
				}
			mpfr_set(y[0][f * 3 + o], A, R);
		}
}

/* x [1, 2, 4], w [2, 2, 3], b [2]: stride 2, padding 1, output padding 1; 8 outputs a filter. */
CASE(conv_transpose)
{
	(void)variant;
	for (int f = 0; f < 2; f++)
		for (int o = 0; o < 8; o++)
			mpfr_set(y[0][f * 8 + o], x[2][f], R);
	for (int f = 0; f < 2; f++)
		for (int c = 0; c < 2; c++)
			for (int i = 0; i < 4; i++)
				for (int k = 0; k < 3; k++) {
					int place = 2 * i + k - 1;
					if (place >= 0 && place < 8)
						mpfr_fma(y[0][f * 8 + place], x[0][c * 4 + i],
							x[1][(c * 2 + f) * 3 + k], y[0][f * 8 + place], R);
				}
}

/* Sets y to a s + b t. */
static void
blend(mpfr_t y, mpfr_t a, double s, mpfr_t b, double t)
{
	mpfr_mul_d(A, a, s, R);
	mpfr_mul_d(B, b, t, R);
	mpfr_add(y, A, B, R);
}

/* Step 3; 1 - 0.01 lr and the like are doubles there and here, 1 - beta^3 is exact here. */
CASE(adamw)
{
	double b1 = 0.875, b2 = 0.984375, lr = 0x1p-10, decay = 0x1p-5;

	for (int i = 0; i < 8; i++) {
		if (variant) {
			mpfr_mul_d(X, x[0][i], decay, R);
			mpfr_add(X, X, x[1][i], R);
		} else {
			mpfr_set(X, x[1][i], R);
		}
		blend(y[1][i], x[2][i], b1, X, 1 - b1);
		mpfr_sqr(C, X, R);
		blend(y[2][i], x[3][i], b2, C, 1 - b2);
		mpfr_div_d(C, y[2][i], 1 - b2 * b2 * b2, R);
		mpfr_sqrt(C, C, R);
		mpfr_add_d(C, C, 0x1p-20, R);
		mpfr_div_d(X, y[1][i], 1 - b1 * b1 * b1, R);
		mpfr_div(X, X, C, R);
		mpfr_mul_d(X, X, lr, R);
		mpfr_mul_d(C, x[0][i], variant ? 1 : 1 - lr * decay, R);
		mpfr_sub(y[0][i], C, X, R);
	}
}

CASE(lion)
{
	(void)variant;
	for (int i = 0; i < 8; i++) {
		blend(C, x[2][i], 0.875, x[1][i], 0.125);
		mpfr_mul_d(y[0][i], x[0][i], 1 - 0x1p-15, R);
		mpfr_sub_d(y[0][i], y[0][i], 0x1p-10 * mpfr_sgn(C), R);
		blend(y[1][i], x[2][i], 0.984375, x[1][i], 0.015625);
	}
}

CASE(sgd)
{
	for (int i = 0; i < 8; i++) {
		mpfr_mul_d(C, x[0][i], 0x1p-5, R);
		mpfr_add(C, C, x[1][i], R);
		mpfr_mul_d(X, x[2][i], 0.875, R);
		mpfr_add(y[1][i], X, C, R);
		mpfr_set(X, y[1][i], R);
		if (variant) {
			mpfr_mul_d(X, X, 0.875, R);
			mpfr_add(X, X, C, R);
		}
		mpfr_mul_d(X, X, 0x1p-4, R);
		mpfr_sub(y[0][i], x[0][i], X, R);
	}
}

CASE(muon)
{
	for (int i = 0; i < 8; i++) {
		blend(y[1][i], x[2][i], 0.875, x[1][i], 0.125);
		if (variant)
			blend(y[2][i], y[1][i], 0.875, x[1][i], 0.125);
		else
			mpfr_set(y[2][i], y[1][i], R);
		mpfr_mul_d(X, x[3][i], 0x1p-5, R);
		mpfr_mul_d(C, x[0][i], 1 - 0x1p-9, R);
		mpfr_sub(y[0][i], C, X, R);
	}
}

/* A graph, or a composite by name, whose operands have the shapes; + marks one that is not negative. */
static const struct composed {
	const char *name, *graph, *operands, *results;
	void (*exact)(vector *x, vector *y, int variant);
	int variant;
} cases[] = {
	{ "attention", "o, l = attention(q, k, v, scale=0.5, block=1)", "q:3x3 k:4x3 v:4x2", "o l", exact_attention,
		0 },
	{ "attention, causal", "o, l = attention(q, k, v, scale=0.5, causal=1)", "q:3x3 k:4x3 v:4x2", "o l",
		exact_attention, 1 },
	{ "attention, softcap", "o, l = attention(q, k, v, scale=0.5, softcap=5)", "q:3x3 k:4x3 v:4x2", "o l",
		exact_attention, 2 },
	{ "attention_dx", "a, b, c = attention_dx(q, k, v, do, scale=0.5)", "q:3x3 k:3x3 v:3x3 do:3x3", "a b c",
		exact_attention_dx, 0 },
	{ "attention_dx, causal", "a, b, c = attention_dx(q, k, v, do, scale=0.5, causal=1)",
		"q:3x3 k:3x3 v:3x3 do:3x3", "a b c", exact_attention_dx, 1 },
	{ "rmsnorm_dx", NULL, "x:3x5 dy:3x5 w:5", "dx dw", exact_norm_dx, 0 },
	{ "layernorm_dx", NULL, "x:3x5 dy:3x5 w:5", "dx dw db", exact_norm_dx, 1 },
	{ "rope", "y = rope(x, c, s, interleaved=0)", "x:2x4 c:2x2 s:2x2", "y", exact_rope, 0 },
	{ "rope, interleaved", "y = rope(x, c, s, interleaved=1)", "x:2x4 c:2x2 s:2x2", "y", exact_rope, 1 },
	{ "conv", "y = conv(x, w, b, stride=2, padding=1)", "x:1x2x6 w:2x2x3 b:2", "y", exact_conv, 0 },
	{ "conv_transpose", "y = conv_transpose(x, w, b, stride=2, padding=1, output_padding=1)", "x:1x2x4 w:2x2x3 b:2",
		"y", exact_conv_transpose, 0 },
	{ "adamw",
		"w1, m1, v1 = adamw(w, g, m, v, lr=2^-10, beta1=0.875, beta2=0.984375, eps=2^-20, decay=2^-5, step=3)",
		"w:8 g:8 m:8 v:8+", "w1 m1 v1", exact_adamw, 0 },
	{ "adam",
		"w1, m1, v1 = adamw(w, g, m, v, lr=2^-10, beta1=0.875, beta2=0.984375, eps=2^-20, decay=2^-5, step=3, "
		"coupled=1)",
		"w:8 g:8 m:8 v:8+", "w1 m1 v1", exact_adamw, 1 },
	{ "lion", "w1, m1 = lion(w, g, m, lr=2^-10, beta1=0.875, beta2=0.984375, decay=2^-5)", "w:8 g:8 m:8", "w1 m1",
		exact_lion, 0 },
	{ "sgd", "w1, m1 = sgd(w, g, m, lr=2^-4, momentum=0.875, decay=2^-5)", "w:8 g:8 m:8", "w1 m1", exact_sgd, 0 },
	{ "sgd, nesterov", "w1, m1 = sgd(w, g, m, lr=2^-4, momentum=0.875, decay=2^-5, nesterov=1)", "w:8 g:8 m:8",
		"w1 m1", exact_sgd, 1 },
	{ "muon", "w1, m1, u = muon(w, g, m, o, lr=2^-5, momentum=0.875, decay=2^-4, scale=1)", "w:8 g:8 m:8 o:8",
		"w1 m1 u", exact_muon, 1 },
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

/* Makes the operand that "name:3x4" says, or with + behind it one that is not negative. */
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
	return id;
}

static void
hold_case(found *f, const struct composed *c, const hu_graph *g, const hu_facts *facts, vector *x, vector *y)
{
	hu_balls *value = hu_xcalloc((size_t)g->n, sizeof *value), *none = hu_xcalloc((size_t)g->n, sizeof *none);
	char *text = hu_xstrdup(c->operands), *save = NULL;
	int in[OPERANDS], nin = 0, wild = draw(2) != 0;

	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
		in[nin++] = make(g, value, w, wild);
	if (hu_graph_run(g, facts, HU_STORES_ADD, value, NULL, none) != HU_OK)
		bail_out("%s does not run: %s", c->name, hu_reason());
	for (int t = 0; t < INSIDE; t++) {
		for (int k = 0; k < nin; k++)
			for (size_t i = 0; i < value[in[k]].n; i++)
				inside(x[k][i], value[in[k]].b[i]);
		c->exact(x, y, c->variant);
		int k = 0;
		for (const char *s = c->results; *s; s += strcspn(s, " "), s += *s == ' ', k++) {
			char name[16];
			snprintf(name, sizeof name, "%.*s", (int)strcspn(s, " "), s);
			const hu_balls *b = &value[hu_graph_value(g, name)];
			for (size_t i = 0; i < b->n; i++) {
				mpfr_set(A, y[k][i], R);
				hold(f, b->b[i], A, value[in[0]].b[0], hu_ball_of(k));
			}
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
	const char *s = getenv("HALFULP_RADII_DRAWS");
	size_t draws = s ? strtoul(s, NULL, 10) : 8000;
	static vector x[OPERANDS], y[3];
	static const char *const set[][2] = { { "compute", "fp64" }, { "acc", "fp64" }, { "exp", "2^-52" },
		{ "fn", "2^-52" }, { "tiny", "0" }, { "stats", "none" } };

	mpfr_inits2(BITS, A, B, C, X, (mpfr_ptr)0);
	for (int i = 0; i < MOST; i++) {
		mpfr_inits2(BITS, share[i], row[i], y[0][i], y[1][i], y[2][i], (mpfr_ptr)0);
		for (int k = 0; k < OPERANDS; k++)
			mpfr_init2(x[k][i], BITS);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct composed *c = &cases[i];
		const hu_composite *known = NULL;
		found f = { 0 };
		hu_graph g;
		hu_facts facts;
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
		mpfr_clears(share[i], row[i], y[0][i], y[1][i], y[2][i], (mpfr_ptr)0);
		for (int k = 0; k < OPERANDS; k++)
			mpfr_clear(x[k][i]);
	}
	mpfr_clears(A, B, C, X, (mpfr_ptr)0);
	mpfr_free_cache();
	return done_testing();
}
