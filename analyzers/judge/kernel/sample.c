/* SPDX-License-Identifier: Apache-2.0
   A kernel's results judged in tiles, so that memory does not grow with the arrays: all tiles, whose verdict is that of
   the whole, or with --sample some of them, so that time does not grow either. Those are disjoint; the first and the
   last of all are among them, the others are drawn. */
#include "analyzers/judge/kernel/culprit.h"
#include "analyzers/judge/kernel/tiles.h"

#include "lib/base/mem.h"
#include "lib/judge/kernel/verdict_sums.h"
#include "lib/number/philox.h"

#include <stdlib.h>
#include <string.h>

enum { TILES = 16 };
/* What a tile's run may take, and from where on whole results are judged in tiles. */
#define TILE_BYTES 192e6
#define WHOLE_BYTES 512e6

typedef struct sample {
	hu_tiles t;
	size_t tiles, *tile; /* how many are judged; which, NULL where it is all of them in order */
	hu_kernel_sums *sum[HU_GRAPH_OUT];
} sample;

/* Numbers of tiles, each once: the first, the last, and drawn ones. */
static void
draw(sample *s, size_t wanted, uint64_t seed)
{
	size_t blocks = hu_tiles_count(&s->t), elements = hu_tiles_elements(&s->t);
	size_t n = (wanted + elements - 1) / elements;

	s->tiles = n < blocks ? n : blocks;
	s->tile = hu_xcalloc(s->tiles + 1, sizeof *s->tile);
	for (size_t t = 0, at = 0; t < s->tiles;) {
		size_t b = t == 0 ? 0 : t == 1 ? blocks - 1 : hu_random_at(seed, 71, 0, at++).w[0];
		int had = 0;
		if (t > 1)
			b = (size_t)((double)b * 0x1p-32 * (double)blocks);
		for (size_t i = 0; i < t; i++)
			had |= s->tile[i] == b;
		if (had && s->tiles == blocks) /* all of them: in order */
			for (b = 0, had = 1; had; b += had)
				for (size_t i = had = 0; i < t; i++)
					had |= s->tile[i] == b;
		if (!had)
			s->tile[t++] = b;
	}
}

static hu_status
fits(const hu_kernel_job *j, int i, const hu_balls *x)
{
	size_t n = hu_tiles_stretch(&j->got[i]);

	if (x->n == n && x->rank == j->got[i].a.rank)
		return HU_OK;
	return hu_fail(HU_EFILE, "--sample: a tile of %s has %zu elements, where the kernel's has %zu",
		j->result[i].name, n, x->n);
}

/* Judges the t-th tile. WITH_COMPUTE: beside the radii of the computation without stores. */
static hu_status
judge(sample *s, size_t t, int with_compute)
{
	hu_kernel_job *j = s->t.j;
	hu_balls *x = NULL, *declared = NULL, *compute = NULL;

	hu_tiles_cut(&s->t, s->tile ? s->tile[t] : t);
	hu_status st = hu_kernel_job_values(j, &j->facts, HU_STORES_ADD, &x);
	if (st == HU_OK && j->has_stores > 1)
		st = hu_kernel_job_values(j, &j->facts, HU_STORES_DECIDE, &declared);
	if (st == HU_OK && j->has_stores && with_compute)
		st = hu_kernel_job_values(j, &j->facts, HU_STORES_NONE, &compute);
	for (int i = 0; i < j->ngot && st == HU_OK; i++) {
		const hu_judge_array *got = &j->got[i];
		hu_judge_result *r = &j->result[i];
		const hu_balls *y = &x[got->id], *d = declared ? &declared[got->id] : y;
		const hu_balls *c = compute ? &compute[got->id] : with_compute || !j->has_stores ? y : NULL;
		size_t n = y->n;
		st = fits(j, i, y);
		if (st != HU_OK)
			break;
		size_t width = hu_balls_dim(y, -1);
		if (!s->sum[i] && s->tile) /* a sample has rows of its own, those of its tiles */
			s->sum[i] = hu_kernel_sums_begin(n * s->tiles, width, r->f, j->confidence);
		if (!r->where && s->tile)
			r->where = hu_xmalloc((n * s->tiles + 1) * sizeof *r->where);
		for (size_t e = 0; e < n; e++) {
			size_t at = hu_judge_array_at(got, e);
			double value = hu_kernel_job_element(j, &got->a, at, r->f);
			if (r->where)
				r->where[t * n + e] = at;
			hu_kernel_sums_add(s->sum[i], s->tile ? t * n + e : at, value, y->b[e], d->b[e],
				c ? c->b[e] : hu_ball_of(0));
		}
	}
	hu_kernel_values_free(j, x);
	hu_kernel_values_free(j, declared);
	hu_kernel_values_free(j, compute);
	return st;
}

/* What the tile with the worst element looks like. */
static hu_status
culprit(sample *s, int i)
{
	hu_kernel_job *j = s->t.j;
	hu_judge_result *r = &j->result[i], part = *r;
	hu_judge_array *got = &j->got[i];
	size_t worst = r->where ? r->where[r->v.worst] : r->v.worst, n = 0, at = 0;
	hu_balls *v = NULL;

	for (size_t t = 0, found = 0; t < s->tiles && !found; t++) {
		hu_tiles_cut(&s->t, s->tile ? s->tile[t] : t);
		n = hu_tiles_stretch(got);
		for (at = 0; at < n && hu_judge_array_at(got, at) != worst; at++)
			;
		found = at < n;
	}
	part.v.worst = at;
	part.v.n = n;
	part.got = hu_xmalloc((n + 1) * sizeof *part.got);
	for (size_t e = 0; e < n; e++)
		part.got[e] = hu_kernel_job_element(j, &got->a, hu_judge_array_at(got, e), r->f);
	hu_status st = hu_kernel_job_values(j, &j->facts, HU_STORES_ADD, &v);
	if (st == HU_OK) {
		st = hu_kernel_culprit(j, &part, &v[got->id]);
		memcpy(r->as_if, part.as_if, sizeof r->as_if);
		memcpy(r->right_if, part.right_if, sizeof r->right_if);
	}
	hu_kernel_values_free(j, v);
	free(part.got);
	return st;
}

static hu_status
results(hu_kernel_job *j)
{
	j->nresult = j->ngot;
	for (int i = 0; i < j->ngot; i++) {
		hu_judge_result *r = &j->result[i];
		hu_balls whole = { .rank = j->got[i].a.rank };
		r->name = j->got[i].name;
		r->id = j->got[i].id;
		r->same_shape = 1;
		r->of = j->got[i].a.count;
		memcpy(whole.d, j->got[i].a.shape, (size_t)whole.rank * sizeof *whole.d);
		hu_balls_shape(&whole, r->shape);
		hu_balls_shape(&whole, r->wanted);
		HU_TRY(hu_kernel_job_result_format(j, &j->got[i], &r->f));
		if (r->f.id == HU_NO_FORMAT)
			return hu_fail(HU_EINVAL, "--got %s holds integers: say their format, --set out=…, and --bits",
				r->name);
	}
	return HU_OK;
}

/* All tiles, once. *biased: whether a result seems so. */
static hu_status
pass(sample *s, int with_compute, int *biased)
{
	hu_kernel_job *j = s->t.j;

	for (int i = 0; i < j->ngot && !s->tile; i++) {
		const hu_npy *a = &j->got[i].a;
		s->sum[i] = hu_kernel_sums_begin(
			a->count, a->rank ? a->shape[a->rank - 1] : 1, j->result[i].f, j->confidence);
	}
	for (size_t t = 0; t < s->tiles; t++)
		HU_TRY(judge(s, t, with_compute));
	*biased = 0;
	for (int i = 0; i < j->ngot; i++) {
		hu_kernel_sums_end(&j->result[i].v, s->sum[i]);
		s->sum[i] = NULL;
		*biased |= j->result[i].v.bias.t > HU_BIAS_T;
	}
	return HU_OK;
}

static hu_status
run(sample *s, int with_compute)
{
	hu_kernel_job *j = s->t.j;
	int biased;

	HU_TRY(pass(s, with_compute, &biased));
	if (biased && j->has_stores && !with_compute) /* less what the computation itself may err */
		HU_TRY(pass(s, 1, &biased));
	for (int i = 0; i < j->ngot; i++)
		if (j->culprit && j->result[i].v.word != HU_KERNEL_RIGHT)
			HU_TRY(culprit(s, i));
	return HU_OK;
}

static void
end(sample *s)
{
	hu_kernel_verdict unused;

	for (int i = 0; i < HU_GRAPH_OUT; i++)
		if (s->sum[i])
			hu_kernel_sums_end(&unused, s->sum[i]);
	hu_tiles_close(&s->t);
	free(s->tile);
}

hu_status
hu_kernel_sample(hu_kernel_job *j)
{
	sample s = { .tiles = 0 };

	HU_TRY(hu_kernel_job_settle(j));
	hu_status st = hu_tiles_open(&s.t, j);
	if (st == HU_OK)
		st = results(j);
	if (st == HU_OK) {
		hu_tiles_grow_to_elements(&s.t, j->sample / TILES);
		draw(&s, j->sample, j->seed);
		j->tiles = (int)s.tiles;
		st = run(&s, 1);
	}
	end(&s);
	return st;
}

/* Whether tiles are what the job asks for and can be: of a large result whose values nobody wants as a whole. */
static int
is_large(sample *s, hu_kernel_job *j)
{
	if (!j->composite || j->ngiven || j->exact || j->bound || j->whole || j->ngot < 1)
		return 0;
	return hu_tiles_open(&s->t, j) == HU_OK && hu_tiles_bytes(&s->t, 1) > WHOLE_BYTES;
}

hu_status
hu_kernel_tiles(hu_kernel_job *j, int *done)
{
	sample s = { .t = { .j = j } };
	hu_status st = HU_OK;

	*done = 0;
	if (is_large(&s, j)) {
		st = hu_kernel_job_settle(j);
		if (st == HU_OK)
			st = results(j);
		s.t.whole = 1;
		hu_tiles_grow_to_bytes(&s.t, TILE_BYTES);
		s.tiles = hu_tiles_count(&s.t);
		if (st == HU_OK)
			st = run(&s, 0);
		*done = st != HU_EFILE; /* a result of another shape: the judge of the whole says so */
	}
	end(&s);
	return *done ? st : HU_OK;
}
