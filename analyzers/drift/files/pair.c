/* SPDX-License-Identifier: Apache-2.0
   One pass over two tensors in pieces; a piece is cut into chunks, which threads take and which are joined in order. */
#include "analyzers/drift/files/pair.h"

#include "analyzers/drift/files/pair_chunk.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/ulp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK = 1 << 15, /* elements a thread takes at once */
	PIECE = 1 << 24  /* bytes of a tensor that are looked at together */
};

/* Bytes of N elements. */
static size_t
bytes_of(const hu_item *t, size_t n)
{
	return n * (size_t)t->bits / 8;
}

/* Of all chunks so far, in the order of the elements. */
static void
join(hu_pair_part *all, const hu_pair_part *p, size_t first)
{
	if (p->nonfinite && !all->nonfinite) {
		all->at = first + p->at;
		all->x = p->x;
		all->y = p->y;
	} else if (!all->nonfinite && p->s.d > all->s.d) {
		all->at = first + p->at;
		all->x = p->x;
		all->y = p->y;
	}
	all->nonfinite += p->nonfinite;
	all->s.differ += p->s.differ;
	all->s.aa += p->s.aa;
	all->s.bb += p->s.bb;
	all->s.ab += p->s.ab;
	all->s.dd += p->s.dd;
	all->s.a = fmax(all->s.a, p->s.a);
	all->s.b = fmax(all->s.b, p->s.b);
	all->s.d = fmax(all->s.d, p->s.d);
	for (int k = 0; k < HU_PAIR_FORMATS; k++)
		all->ulps[k] = fmax(all->ulps[k], p->ulps[k]);
}

/* COUNT elements that lie at A and B, from the FIRST on. */
static void
piece(hu_pair_part *all, const hu_pair_job *j, const unsigned char *a, const unsigned char *b, size_t first,
	size_t count, hu_pair_part *part)
{
	size_t chunks = (count + CHUNK - 1) / CHUNK;

#pragma omp parallel for schedule(dynamic, 1) num_threads(hu_threads()) if (chunks > 1)
	for (size_t k = 0; k < chunks; k++) {
		size_t at = k * CHUNK, n = count - at < CHUNK ? count - at : CHUNK;
		hu_pair_chunk(&part[k], j, a + bytes_of(j->old, at), b + bytes_of(j->new, at), n);
	}
	for (size_t k = 0; k < chunks; k++)
		join(all, &part[k], first + k * CHUNK);
}

/* Elements of a piece: a multiple of a chunk, so that the chunks of a tensor are always the same. */
static size_t
elements(const hu_pair_job *j)
{
	int bits = j->old->bits > j->new->bits ? j->old->bits : j->new->bits;

	return (size_t)PIECE * 8 / (size_t)bits / CHUNK * CHUNK;
}

static hu_status
pass(hu_pair_part *all, const hu_pair_job *j, const hu_contents *old_file, const hu_contents *new_file)
{
	size_t most = elements(j), count = j->old->count;
	hu_pair_part *part = hu_xcalloc(most / CHUNK, sizeof *part);
	hu_item_reader a, b;
	const unsigned char *p, *q;

	memset(all, 0, sizeof *all);
	hu_status st = hu_item_open(&a, old_file, j->old, bytes_of(j->old, most)), last;
	hu_status su = hu_item_open(&b, new_file, j->new, bytes_of(j->new, most));
	st = st == HU_OK ? su : st;
	for (size_t at = 0, n; st == HU_OK && at < count; at += n) {
		n = count - at < most ? count - at : most;
		st = hu_item_next(&a, bytes_of(j->old, n), &p);
		if (st == HU_OK)
			st = hu_item_next(&b, bytes_of(j->new, n), &q);
		if (st == HU_OK)
			piece(all, j, p, q, at, n, part);
	}
	last = hu_item_close(&a);
	st = st == HU_OK ? last : st;
	last = hu_item_close(&b);
	free(part);
	return st == HU_OK ? last : st;
}

/* Whether two mapped tensors are the same bytes: most are, and that takes no arithmetic. */
static int
same_bytes(const hu_pair_job *j, const hu_contents *old_file, const hu_contents *new_file)
{
	size_t bytes = j->old->bytes;
	int same = j->old->data && j->new->data && !strcmp(j->old->dtype, j->new->dtype);
	hu_item_reader a, b;
	const unsigned char *p, *q;

	if (!same)
		return 0;
	if (hu_item_open(&a, old_file, j->old, PIECE) != HU_OK || hu_item_open(&b, new_file, j->new, PIECE) != HU_OK)
		return 0;
	for (size_t at = 0, n; same && at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		if (hu_item_next(&a, n, &p) != HU_OK || hu_item_next(&b, n, &q) != HU_OK)
			return 0;
		size_t step = 8 * CHUNK, chunks = (n + step - 1) / step;
#pragma omp parallel for schedule(dynamic, 1) num_threads(hu_threads()) if (chunks > 1) reduction(&& : same)
		for (size_t k = 0; k < chunks; k++)
			same = same && !memcmp(p + k * step, q + k * step, k + 1 < chunks ? step : n - k * step);
	}
	hu_item_close(&a);
	hu_item_close(&b);
	return same;
}

static double
ratio(double x, double y)
{
	return x == 0 ? 0 : x / y;
}

static void
conclude(hu_measures *m, const hu_pair_part *p, const hu_pair_job *j, size_t count)
{
	const hu_pair_sums *s = &p->s;
	double a = sqrt(s->aa), b = sqrt(s->bb), d = sqrt(s->dd);

	memset(m, 0, sizeof *m);
	m->count = count;
	m->differ = s->differ;
	m->nonfinite = p->nonfinite;
	m->abs = s->d;
	m->largest = s->a;
	/* Both halved: a difference of two doubles may be beyond the largest one, and its ratio is not */
	m->rel = isinf(s->d) ? 0.5 * fabs(0.5 * p->y - 0.5 * p->x) / (0.25 * s->a) : ratio(s->d, s->a);
	m->l2 = ratio(d, a);
	m->cosine = a == 0 && b == 0 ? 1 : a == 0 || b == 0 ? 0 : s->ab / a / b;
	m->cosine = s->differ || m->cosine == 0 ? fmin(fmax(m->cosine, -1), 1) : 1;
	m->sqnr = d == 0 ? INFINITY : 20 * log10(a / d);
	for (int k = 0; k < j->formats; k++)
		m->ulps[k] = p->ulps[k];
	m->at = p->at;
	m->a = p->x;
	m->b = p->y;
}

/* A power of two that keeps squares of what is at most LARGEST within double's range, or 1. */
static double
scale_for(double largest)
{
	int e;

	if (!(largest > 0) || (largest < 0x1p480 && largest > 0x1p-450))
		return 1;
	frexp(largest, &e);
	return hu_pow2(e < -960 ? 960 : e > 1000 ? -1000 : -e);
}

static void
same(hu_measures *m, size_t count)
{
	memset(m, 0, sizeof *m);
	m->count = count;
	m->cosine = 1;
	m->sqnr = INFINITY;
	m->largest = NAN; /* nobody looked */
}

hu_status
hu_pair_measure(hu_measures *m, const hu_contents *old_file, const hu_item *old, const hu_contents *new_file,
	const hu_item *new, const hu_format_id *format, int n)
{
	hu_pair_job j = { .old = old, .new = new, .format = format, .formats = n, .scale = 1 };
	hu_pair_part all;

	HU_ASSERT(old->count == new->count &&n <= HU_PAIR_FORMATS);
	hu_pair_loops_choose(&j);
	if (same_bytes(&j, old_file, new_file)) {
		same(m, old->count);
		return HU_OK;
	}
	HU_TRY(pass(&all, &j, old_file, new_file));
	j.scale = scale_for(fmax(all.s.a, all.s.b));
	if (j.scale != 1)
		HU_TRY(pass(&all, &j, old_file, new_file));
	conclude(m, &all, &j, old->count);
	return HU_OK;
}

void
hu_pair_measure_reals(hu_measures *m, const double *a, const double *b, size_t count, const hu_format_id *format, int n)
{
	hu_item x = { .dtype = "F64",
		.kind = HU_ITEM_FLOAT,
		.format = HU_FP64,
		.bits = 64,
		.count = count,
		.bytes = 8 * count,
		.data = (const unsigned char *)(count ? a : (const double *)"") },
		y = x;
	hu_contents none = { .path = NULL };

	y.data = (const unsigned char *)(count ? b : (const double *)"");
	HU_ASSERT(hu_pair_measure(m, &none, &x, &none, &y, format, n) == HU_OK);
}
