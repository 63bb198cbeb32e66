/* SPDX-License-Identifier: Apache-2.0
   Whether the differences of two versions of a tensor have one direction, as where one was made by truncation: the
   statistic of lib/judge/verdict/bias.h over all elements. Sums are of whole numbers, so that threads may add in any
   order. */
#include "analyzers/drift/files/files.h"
#include "analyzers/drift/files/pair_chunk.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 1 << 15, PIECE = 1 << 24 /* elements of a thread at once; bytes that are read at once */ };

static const unsigned char *
at_element(const hu_item *t, const unsigned char *codes, size_t i)
{
	return codes + i * (size_t)t->bits / 8;
}

/* Adds elements first to first + n of the tensor, whose codes begin at A and B. */
static void
chunk(hu_bias_sum *b, const hu_files_row *r, const unsigned char *a, const unsigned char *c, size_t first, size_t n)
{
	double x[HU_PAIR_PART], y[HU_PAIR_PART];

	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < HU_PAIR_PART ? n - at : HU_PAIR_PART;
		hu_pair_reals(x, r->old, at_element(r->old, a, at), some);
		hu_pair_reals(y, r->new, at_element(r->new, c, at), some);
		hu_bias_sum_versions(b, first + at, x, y, some);
	}
}

static void
piece(hu_bias_sum *all, const hu_files_row *r, const unsigned char *a, const unsigned char *c, size_t first, size_t n)
{
	size_t chunks = (n + CHUNK - 1) / CHUNK;

#pragma omp parallel for schedule(dynamic, 1) num_threads(hu_threads()) if (chunks > 1)
	for (size_t k = 0; k < chunks; k++) {
		hu_bias_sum *part = hu_xmalloc(sizeof *part);
		size_t at = k * CHUNK;
		hu_bias_sum_begin(part, all->f, all->of);
		chunk(part, r, at_element(r->old, a, at), at_element(r->new, c, at), first + at,
			n - at < CHUNK ? n - at : CHUNK);
#pragma omp critical(hu_files_bias)
		hu_bias_sum_merge(all, part);
		free(part);
	}
}

static hu_status
row(const hu_files *g, hu_files_row *r)
{
	int bits = r->old->bits > r->new->bits ? r->old->bits : r->new->bits;
	size_t most = (size_t)PIECE * 8 / (size_t)bits / CHUNK * CHUNK, count = r->old->count;
	hu_bias_sum *b = hu_xmalloc(sizeof *b);
	const unsigned char *p, *q;
	hu_item_reader x, y;

	hu_bias_sum_begin(b, hu_format_of(r->ulps_of), count);
	hu_status st = hu_item_open(&x, &g->old, r->old, most * (size_t)r->old->bits / 8), last;
	hu_status su = hu_item_open(&y, &g->new, r->new, most * (size_t)r->new->bits / 8);
	st = st == HU_OK ? su : st;
	for (size_t at = 0, n; st == HU_OK && at < count; at += n) {
		n = count - at < most ? count - at : most;
		st = hu_item_next(&x, n * (size_t)r->old->bits / 8, &p);
		if (st == HU_OK)
			st = hu_item_next(&y, n * (size_t)r->new->bits / 8, &q);
		if (st == HU_OK)
			piece(b, r, p, q, at, n);
	}
	last = hu_item_close(&x);
	st = st == HU_OK ? last : st;
	last = hu_item_close(&y);
	st = st == HU_OK ? last : st;
	if (st == HU_OK)
		hu_bias_sum_end_versions(&r->bias, b);
	free(b);
	return st;
}

hu_status
hu_files_bias(hu_files *g)
{
	for (size_t i = 0; i < g->n; i++) {
		hu_files_row *r = &g->row[i];
		r->bias = (hu_bias_found){ NAN, NAN, NAN, NAN, 0 };
		if (!r->old || !r->new || r->state == HU_FILES_SHAPE || r->state == HU_FILES_IGNORED || !r->m.differ)
			continue;
		if (r->old->kind == HU_ITEM_FLOAT && r->new->kind == HU_ITEM_FLOAT && r->ulps_of != HU_NO_FORMAT)
			HU_TRY(row(g, r));
	}
	return HU_OK;
}
