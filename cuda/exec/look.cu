/* SPDX-License-Identifier: Apache-2.0
   What a step sends to the host, collected on the device: chosen tensors in one block, counts of elements
   (lib/number/count.h), and the state's digest. Counts are integers, so their order does not show. */
#include "cuda/element/many.cuh"
#include "cuda/element/scalar.cuh"
#include "cuda/fuse/side.h"

extern "C" {
#include "lib/base/hash.h"
}

enum { PARTS = 64, MOST_KINDS = 8 };

struct parts { int n; hu_look_part part[PARTS]; };

/* Parts start at multiples of 16 bytes, and their lengths are multiples of 1, 2, 4 or 8. */
HU_KERNEL
pack_kernel(HU_PARAM parts p, unsigned char *block)
{
	const hu_look_part *k = &p.part[blockIdx.x];
	const unsigned char *from = (const unsigned char *)k->from;

	for (uint32_t i = threadIdx.x; i < k->bytes; i += blockDim.x)
		block[k->at + i] = from[i];
}

static hu_status
pack(void *queue, void *block, const hu_look_part *part, int n)
{
	for (int at = 0; at < n; at += PARTS) {
		parts p;
		memset(&p, 0, sizeof p);
		p.n = n - at < PARTS ? n - at : PARTS;
		memcpy(p.part, part + at, (size_t)p.n * sizeof *part);
		HU_TRY(HU_LAUNCH(pack_kernel, (unsigned)p.n, 256, 0, queue, p, (unsigned char *)block));
	}
	return HU_OK;
}

/* Tensors of several formats. name holds the hashes of their names, for the digest alone. */
struct several {
	hu_many t;
	const void *x[HU_MANY];
	uint64_t name[HU_MANY];
	uint8_t kind_of[HU_MANY];
	hu_store_operand kinds[MOST_KINDS];
	hu_format format[MOST_KINDS];
};

/* Collects as many of the tensors at to n as a launch takes; returns the first that is left. */
static int
gather(several *s, const hu_slot *const *t, const uint64_t *name, int at, int n)
{
	int kinds = 0, k;

	memset(s, 0, sizeof *s);
	hu_many_begin(&s->t, 4 * HU_MANY_THREADS);
	for (; at < n && s->t.count < HU_MANY; at++) {
		for (k = 0; k < kinds && s->format[k].id != t[at]->format; k++)
			;
		if (k == MOST_KINDS)
			break;
		if (k == kinds) {
			s->kinds[k] = hu_operand_of(t[at], HU_AT_EACH);
			s->format[kinds++] = hu_format_of(t[at]->format);
		}
		s->x[s->t.count] = t[at]->data;
		s->name[s->t.count] = name ? name[at] : 0;
		s->kind_of[s->t.count] = (uint8_t)k;
		hu_many_add(&s->t, t[at]->n, t[at]->data);
	}
	return at;
}

HU_KERNEL
tally_kernel(HU_PARAM several s, hu_tally *tally)
{
	for (uint32_t chunk = blockIdx.x; chunk < s.t.first[s.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&s.t, chunk);
		hu_store_operand x = hu_operand_at(&s.kinds[s.kind_of[p.tensor]], s.x[p.tensor]);
		hu_tally c = { 0, 0, 0, 0 };
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x)
			hu_tally_count(&c, hu_load_f64(&x, p.from + j));
		hu_largest_in(&tally[p.tensor].amax, c.amax);
		hu_count_in(&tally[p.tensor].nonzeros, c.nonzeros);
		hu_count_in(&tally[p.tensor].zeros, c.zeros);
		hu_count_in(&tally[p.tensor].nonfinite, c.nonfinite);
	}
}

static hu_status
tally(void *queue, const hu_slot *const *t, int n, hu_tally *to)
{
	several s;

	for (int at = 0, first; at < n;) {
		first = at;
		at = gather(&s, t, NULL, at, n);
		if (hu_many_chunks(&s.t))
			HU_TRY(HU_LAUNCH(tally_kernel, hu_many_grid(&s.t), HU_MANY_THREADS, 0, queue, s, to + first));
	}
	return HU_OK;
}

HU_KERNEL
digest_kernel(HU_PARAM several s, uint64_t *sum)
{
	for (uint32_t chunk = blockIdx.x; chunk < s.t.first[s.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&s.t, chunk);
		uint32_t k = s.kind_of[p.tensor];
		hu_store_operand x = hu_operand_at(&s.kinds[k], s.x[p.tensor]);
		uint64_t mine = 0;
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x) {
			uint32_t i = p.from + j;
			uint64_t code = x.kind == HU_KIND_CODE16  ? ((const uint16_t *)x.data)[i]
					: x.kind == HU_KIND_CODE8 ? ((const uint8_t *)x.data)[i]
								  : hu_encode(hu_load_f64(&x, i), s.format[k]);
			mine += hu_digest_term(s.name[p.tensor], i, code);
		}
		hu_count_in(sum, mine);
	}
}

static hu_status
digest(void *queue, const hu_slot *const *t, const uint64_t *name, int n, uint64_t *sum)
{
	several s;

	for (int at = 0; at < n;) {
		at = gather(&s, t, name, at, n);
		if (hu_many_chunks(&s.t))
			HU_TRY(HU_LAUNCH(digest_kernel, hu_many_grid(&s.t), HU_MANY_THREADS, 0, queue, s, sum));
	}
	return HU_OK;
}

/* Tensors, the tensors they were cast from, and the scales these were multiplied by; NULL: not cast, not scaled. */
struct survey {
	hu_many t;
	const void *x[HU_MANY], *before[HU_MANY], *scale[HU_MANY];
	uint8_t kind_of[3][HU_MANY];
	hu_store_operand kinds[MOST_KINDS];
	hu_format format[MOST_KINDS];
	hu_census *to[HU_MANY];
};

/* Counts exponents of a block's chunk in shared memory and then adds them to the totals. */
HU_KERNEL
census_kernel(HU_PARAM survey s)
{
	HU_SHARED(uint32_t, bins, HU_BINS);

	for (uint32_t i = threadIdx.x; i < HU_BINS; i += blockDim.x)
		bins[i] = 0;
	HU_SYNC();
	for (uint32_t chunk = blockIdx.x; chunk < s.t.first[s.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&s.t, chunk);
		uint32_t kind = s.kind_of[0][p.tensor];
		hu_store_operand x = hu_operand_at(&s.kinds[kind], s.x[p.tensor]),
				 y = hu_operand_at(&s.kinds[s.kind_of[1][p.tensor]], s.before[p.tensor]),
				 z = hu_operand_at(&s.kinds[s.kind_of[2][p.tensor]], s.scale[p.tensor]);
		double scale = z.data ? hu_load_f64(&z, 0) : 1;
		hu_underflow lost = { 0, 0, 0, 0, 0, 0 };
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x) {
			double v = hu_load_f64(&x, p.from + j);
			hu_atomic_add(&bins[hu_exponent_bin(v)], 1);
			if (y.data)
				hu_underflow_count(&lost, hu_load_f64(&y, p.from + j) * scale, v, s.format[kind]);
		}
		hu_census *to = s.to[p.tensor];
		if (y.data) {
			hu_count_in(&to->lost.elements, lost.elements);
			hu_count_in(&to->lost.nonzeros, lost.nonzeros);
			hu_count_in(&to->lost.zeroed, lost.zeroed);
			hu_count_in(&to->lost.subnormal, lost.subnormal);
			hu_count_in(&to->lost.lost, lost.lost);
			hu_count_in(&to->lost.flushed, lost.flushed);
		}
		HU_SYNC();
		for (uint32_t i = threadIdx.x; i < HU_BINS; i += blockDim.x) {
			if (bins[i])
				hu_atomic_add(&to->bins[i], (uint64_t)bins[i]);
			bins[i] = 0;
		}
		HU_SYNC();
	}
}

/* The index of tensor t's kind among those of s, of which there are *kinds so far; -1 if there is no room for
   another. */
static int
kind_of(survey *s, int *kinds, const hu_slot *t)
{
	int k = 0;

	while (k < *kinds && s->format[k].id != t->format)
		k++;
	if (k == MOST_KINDS)
		return -1;
	if (k == *kinds) {
		s->kinds[k] = hu_operand_of(t, HU_AT_EACH);
		s->format[(*kinds)++] = hu_format_of(t->format);
	}
	return k;
}

/* Collects as many of the tensors at to n as a launch takes; returns the first that is left. */
static int
gather_survey(survey *s, const hu_slot *const *t, const hu_slot *const *before, const hu_slot *const *scale, int at,
	int n, hu_census *to)
{
	int kinds = 0;

	memset(s, 0, sizeof *s);
	hu_many_begin(&s->t, 16 * HU_MANY_THREADS);
	for (; at < n && s->t.count < HU_MANY; at++) {
		const hu_slot *each[3] = { t[at], before[at], before[at] ? scale[at] : NULL };
		uint32_t k = s->t.count;
		int kind[3] = { 0, 0, 0 };
		for (int i = 0; i < 3 && kind[0] >= 0 && kind[1] >= 0; i++)
			kind[i] = each[i] ? kind_of(s, &kinds, each[i]) : 0;
		if (kind[0] < 0 || kind[1] < 0 || kind[2] < 0)
			break;
		for (int i = 0; i < 3; i++)
			s->kind_of[i][k] = (uint8_t)kind[i];
		s->x[k] = each[0]->data;
		s->before[k] = each[1] ? each[1]->data : NULL;
		s->scale[k] = each[2] ? each[2]->data : NULL;
		s->to[k] = to + at;
		hu_many_add(&s->t, t[at]->n, t[at]->data);
	}
	return at;
}

static hu_status
census(void *queue, const hu_slot *const *t, const hu_slot *const *before, const hu_slot *const *scale, int n,
	hu_census *to)
{
	survey s;

	for (int at = 0; at < n;) {
		at = gather_survey(&s, t, before, scale, at, n, to);
		if (hu_many_chunks(&s.t))
			HU_TRY(HU_LAUNCH(census_kernel, hu_many_grid(&s.t), HU_MANY_THREADS, 0, queue, s));
	}
	return HU_OK;
}

extern "C" const hu_look_calls HU_SIDE(look);
extern "C" const hu_look_calls HU_SIDE(look) = { pack, tally, digest, census };
