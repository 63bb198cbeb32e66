/* SPDX-License-Identifier: Apache-2.0
   Emulates products by tensor cores. Operands are packed once into values and exponents, and rows of a tile run one at
   a time through the micro-kernels of lib/sum/tc/panel.h. Rows and columns that contain an infinity or a NaN are
   computed by the plain version. */
#include "lib/op/contract/contract.h"

#include "lib/base/mem.h"
#include "lib/op/performed.h"
#include "lib/sum/table/parts.h"
#include "lib/sum/tc/panel.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, KC = 128 };
#define ALL ((size_t)-1)

typedef struct product {
	const hu_contract *x;
	const hu_call *c;
	hu_tensor *y;
	const hu_env *env;
	hu_tc_plan plan;
	const hu_tc_panel *kernel;
	/* products of a part, number of parts, turns of the longest part, slots of k in all; with promote=N these are
	   slices of N products, of which each part of the call has so many */
	size_t part, parts, turns, kp, slices;
	size_t *order; /* the k that each slot holds; if it is all, the slot holds none and is +0 */
	float *b;      /* panels of B */
	int16_t *eb;
	unsigned char *kind; /* one for each panel */
	int failed;
} product;

enum { NEAR, FAR, SPECIAL }; /* a panel or row is within the near kernel's reach, finite, or not finite */

/* The working memory of one thread. */
typedef struct room {
	double *line;
	float *a, *sa, *sb, *sums;
	int32_t *ea, *split;
} room;

/* Assigns the slots of k: each part is filled up to whole turns, and the first set of halves comes before the
   second. */
static void
fill_order(product *p)
{
	size_t step = p->plan.step, slots = p->turns * step;

	for (size_t i = 0; i < p->kp; i++) {
		size_t in = i % slots, at = in % step, k;
		if (p->plan.t.kind == HU_TC_HALVES)
			at = at < step / 2 ? at / 2 * 4 + at % 2 : (at - step / 2) / 2 * 4 + 2 + at % 2;
		k = in / step * step + at;
		p->order[i] = k < p->part && i / slots * p->part + k < p->x->k ? i / slots * p->part + k : ALL;
	}
}

static unsigned char
kind_of(int near, int finite)
{
	return (unsigned char)(near ? NEAR : finite ? FAR : SPECIAL);
}

static void
pack_panel(product *p, size_t j)
{
	const hu_contract *x = p->x;
	size_t nr = p->kernel->nr, cols = x->n - j * nr < nr ? x->n - j * nr : nr;
	float *v = p->b + j * p->kp * nr;
	int16_t *e = p->eb + j * p->kp * nr;
	int near = 1, finite = 1;

	for (size_t i = 0; i < p->kp; i++, v += nr, e += nr) {
		size_t from = p->order[i] == ALL ? 0 : x->column(x, p->order[i]) + j * nr * x->column_stride;
		for (size_t l = 0; l < nr; l++) {
			v[l] = 0;
			e[l] = HU_TC_NONE;
			if (l < cols && p->order[i] != ALL)
				v[l] = hu_tc_operand(((const float *)x->b->data)[from + l * x->column_stride],
					p->plan.b, &e[l], &near, &finite);
		}
	}
	p->kind[j] = kind_of(near, finite);
}

static unsigned char
pack_row(const product *p, size_t m, size_t columns, double *line, float *v, int32_t *ee)
{
	int near = 1, finite = 1;

	hu_contract_row(p->x, m, line);
	hu_performed_macs(p->x->k * columns);
	for (size_t i = 0; i < p->kp; i++) {
		int16_t e = HU_TC_NONE;
		v[i] = p->order[i] == ALL ? 0 : hu_tc_operand((float)line[p->order[i]], p->plan.a, &e, &near, &finite);
		ee[i] = (int32_t)((uint32_t)(uint16_t)e * 0x10001u);
	}
	return kind_of(near, finite);
}

static float
without_exponent(float v, int e)
{
	return v == 0 ? 0 : (float)((double)v * hu_pow2(-e));
}

/* Runs all parts of one row and panel, in blocks of k that stay in the first cache. */
static void
run_row(const product *p, const room *r, size_t i, size_t panel, size_t part, size_t k0, size_t kc, int far, float *c)
{
	size_t nr = p->kernel->nr, at = part * p->turns * p->plan.step + k0, turns = kc / p->plan.step;
	const float *a = r->a + i * p->kp + at, *b = p->b + (panel * p->kp + at) * nr;
	const int16_t *eb = p->eb + (panel * p->kp + at) * nr;

	if (far)
		p->kernel->far(
			turns, a, r->ea + i * p->kp + at, r->sa + i * p->kp + at, b, eb, r->sb + at * nr, c, &p->plan);
	else
		p->kernel->near(turns, a, r->ea + i * p->kp + at, b, eb, c, &p->plan);
}

/* Returns the sum of one output from its slices' sums in x, which it overwrites: with promote=N each part's slices are
   added in ascending order, and then the parts as ever. */
static double
joined(const product *p, double *x)
{
	hu_draw none = { 0, 0, 0, 0, 0 };
	hu_format outer = hu_outer_format(p->c->sum);
	size_t parts = p->c->sum.n ? (p->parts + p->slices - 1) / p->slices : p->parts;

	for (size_t q = 0; p->c->sum.n && q < parts; q++) {
		double sum = 0;
		for (size_t i = q * p->slices; i < p->parts && i < (q + 1) * p->slices; i++)
			sum = hu_acc_add(sum, x[i], outer, HU_RNE, NULL, 0, 0);
		x[q] = sum;
	}
	return hu_parts_sum(x, parts, p->c->sum, &none);
}

/* Computes column n of a row by the plain version, because one of them is not all finite. The row's split integers are
   already in r->split, which has room for 4 k. */
static double
run_special(const product *p, const room *r, size_t n, double *sums)
{
	size_t k = p->x->k, at = 0;
	int32_t *am = r->split, *ae = am + k, *bm = ae + k, *be = bm + k;

	hu_contract_column(p->x, n, r->line);
	for (size_t i = 0; i < k; i++)
		hu_tc_split(r->line[i], p->plan.b, &bm[i], &be[i]);
	for (size_t i = 0; i < k; i += p->part)
		sums[at++] = hu_tc_sum(am + i, ae + i, bm + i, be + i, k - i < p->part ? k - i : p->part,
			p->plan.a.p + p->plan.b.p - 2, 0, p->plan.t, p->plan.out, NULL);
	return joined(p, sums);
}

static void
finish_row(const product *p, const room *r, size_t m, size_t i, size_t panel, int special, double *out, double *sums)
{
	size_t nr = p->kernel->nr, first = panel * nr, cols = p->x->n - first < nr ? p->x->n - first : nr;

	if (special) {
		hu_contract_row(p->x, m, r->line);
		for (size_t k = 0; k < p->x->k; k++)
			hu_tc_split(r->line[k], p->plan.a, &r->split[k], &r->split[p->x->k + k]);
	}
	if (p->parts == 1 && !p->c->sum.n && !special) {
		hu_contract_finish(p->x, p->c, p->y, hu_contract_at(p->x, m) + first, cols, r->sums + i * nr, p->env);
		return;
	}
	for (size_t j = 0; j < cols; j++) {
		if (special) {
			out[j] = run_special(p, r, first + j, sums);
			continue;
		}
		for (size_t q = 0; q < p->parts; q++)
			sums[q] = r->sums[(q * ROWS + i) * nr + j];
		out[j] = joined(p, sums);
	}
	hu_contract_store(p->c, p->y, hu_contract_at(p->x, m) + first, cols, out, p->x->scale, p->env);
}

/* Computes rows from m0 in panels p0 .. p1-1. */
static void
tile(const product *p, room *r, size_t m0, size_t p0, size_t p1, double *out, double *sums)
{
	size_t rows = p->x->m - m0 < ROWS ? p->x->m - m0 : ROWS, nr = p->kernel->nr, step = p->plan.step,
	       all = p->turns * step, kc = KC < step ? step : KC / step * step;
	size_t columns = (p->x->n < p1 * nr ? p->x->n : p1 * nr) - p0 * nr;
	unsigned char kind[ROWS], scaled[ROWS] = { 0 };

	for (size_t i = 0; i < rows; i++)
		kind[i] = pack_row(p, m0 + i, columns, r->line, r->a + i * p->kp, r->ea + i * p->kp);
	for (size_t j = p0; j < p1; j++) {
		int far = 0;
		for (size_t i = 0; i < rows; i++) {
			int here = kind[i] != SPECIAL && p->kind[j] != SPECIAL && (kind[i] == FAR || p->kind[j] == FAR);
			far |= here;
			for (size_t k = 0; here && !scaled[i] && k < p->kp; k++)
				r->sa[i * p->kp + k] =
					without_exponent(r->a[i * p->kp + k], (int16_t)r->ea[i * p->kp + k]);
			scaled[i] |= (unsigned char)here;
		}
		for (size_t k = 0; far && k < p->kp * nr; k++)
			r->sb[k] = without_exponent(p->b[j * p->kp * nr + k], p->eb[j * p->kp * nr + k]);
		memset(r->sums, 0, p->parts * ROWS * nr * sizeof *r->sums);
		for (size_t q = 0; q < p->parts; q++)
			for (size_t k = 0; k < all; k += kc)
				for (size_t i = 0; i < rows; i++)
					if (kind[i] != SPECIAL && p->kind[j] != SPECIAL)
						run_row(p, r, i, j, q, k, all - k < kc ? all - k : kc,
							kind[i] == FAR || p->kind[j] == FAR,
							r->sums + (q * ROWS + i) * nr);
		for (size_t i = 0; i < rows; i++)
			finish_row(p, r, m0 + i, i, j, kind[i] == SPECIAL || p->kind[j] == SPECIAL, out, sums);
	}
}

static int
room_init(room *r, const product *p)
{
	size_t k = p->x->k, nr = p->kernel->nr;

	*r = (room){ malloc(k * sizeof(double)), malloc(ROWS * p->kp * sizeof(float)),
		malloc(ROWS * p->kp * sizeof(float)), malloc(p->kp * nr * sizeof(float)),
		malloc(p->parts * ROWS * nr * sizeof(float)), malloc(ROWS * p->kp * sizeof(int32_t)),
		malloc(4 * k * sizeof(int32_t)) };
	return r->line && r->a && r->sa && r->sb && r->sums && r->ea && r->split;
}

static void
room_release(room *r)
{
	free(r->line);
	free(r->a);
	free(r->sa);
	free(r->sb);
	free(r->sums);
	free(r->ea);
	free(r->split);
}

static void
run(product *p)
{
	size_t nr = p->kernel->nr, panels = (p->x->n + nr - 1) / nr, wide = panels, rows = (p->x->m + ROWS - 1) / ROWS,
	       threads = (size_t)omp_get_max_threads();

	/* A tile packs its rows, so there are few tiles, but enough for every thread. */
	while (wide > 1 && rows * ((panels + wide - 1) / wide) < 2 * threads)
		wide = (wide + 1) / 2;
	size_t columns = (panels + wide - 1) / wide;
	int several = (double)p->x->m * (double)p->x->n * (double)p->x->k > 8192;

#pragma omp parallel if (several)
	{
		room r;
		double *out = malloc((nr + p->parts) * sizeof *out);
		if (!room_init(&r, p) || !out)
#pragma omp atomic write
			p->failed = 1;
#pragma omp for schedule(static)
		for (size_t j = 0; j < panels; j++)
			pack_panel(p, j);
#pragma omp for schedule(dynamic)
		for (size_t t = 0; t < rows * columns; t++)
			if (!p->failed) {
				size_t p0 = t % columns * wide;
				tile(p, &r, t / columns * ROWS, p0, p0 + wide < panels ? p0 + wide : panels, out,
					out + nr);
			}
		room_release(&r);
		free(out);
	}
}

int
hu_contract_has_tc(const hu_contract *x, const hu_call *c, size_t part)
{
	hu_tc_plan plan;
	size_t length = (size_t)c->sum.n;

	return hu_tc_plan_of(&plan, c->sum) && (!length || part >= x->k || part % length == 0);
}

hu_status
hu_contract_tc(const hu_contract *x, const hu_call *c, hu_tensor *y, size_t part, const hu_env *env)
{
	product p = { .x = x, .c = c, .y = y, .env = env, .kernel = hu_tc_panel_get(), .part = part };
	size_t panels = (x->n + p.kernel->nr - 1) / p.kernel->nr;

	if (!hu_contract_has_tc(x, c, part) || !hu_tc_plan_of(&p.plan, c->sum))
		return hu_fail(HU_EUNABLE, "summation model tc has no kernel for these operands");
	if (c->sum.n && (size_t)c->sum.n < part)
		p.part = (size_t)c->sum.n;
	p.parts = (x->k + p.part - 1) / p.part;
	p.slices = part < x->k ? part / p.part : p.parts;
	p.turns = (p.part + p.plan.step - 1) / p.plan.step;
	p.kp = p.parts * p.turns * p.plan.step;
	p.order = malloc(p.kp * sizeof *p.order);
	p.b = malloc(panels * p.kp * p.kernel->nr * sizeof *p.b);
	p.eb = malloc(panels * p.kp * p.kernel->nr * sizeof *p.eb);
	p.kind = malloc(panels);
	p.failed = !p.order || !p.b || !p.eb || !p.kind;
	if (!p.failed) {
		fill_order(&p);
		run(&p);
	}
	free(p.order);
	free(p.b);
	free(p.eb);
	free(p.kind);
	return p.failed ? hu_fail(HU_ENOMEM, "there is no memory for a product of %zu x %zu x %zu", x->m, x->n, x->k)
			: HU_OK;
}
