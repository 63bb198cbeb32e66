/* SPDX-License-Identifier: Apache-2.0
   What a step leaves for the host, made on the device: chosen tensors in one block, counts of
   elements (lib/number/count.h), and the state's digest. Counts are integers, so their order does not show. */
#include "cuda/many.cuh"
#include "cuda/scalar.cuh"
#include "cuda/side.h"

extern "C" {
#include "lib/base/hash.h"
}

enum { PARTS = 64, KINDS = 8 };

struct parts { int n; hu_look_part part[PARTS]; };

/* Parts lie on 16 bytes and are whole numbers of 1, 2, 4 or 8. */
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

/* Tensors of several formats; name: their hashes, for the digest alone. */
struct several {
	hu_many t;
	const void *x[HU_MANY];
	uint64_t name[HU_MANY];
	uint8_t kind_of[HU_MANY];
	hu_operand kinds[KINDS];
	hu_format format[KINDS];
};

/* As many of tensors AT to N as a launch takes; returns the first that is left. */
static int
gather(several *s, const hu_slot *const *t, const uint64_t *name, int at, int n)
{
	int kinds = 0, k;

	memset(s, 0, sizeof *s);
	hu_many_begin(&s->t, 4 * HU_MANY_THREADS);
	for (; at < n && s->t.count < HU_MANY; at++) {
		for (k = 0; k < kinds && s->format[k].id != t[at]->format; k++)
			;
		if (k == KINDS)
			break;
		if (k == kinds) {
			s->kinds[k] = hu_operand_of(t[at], HU_AT_EACH);
			s->format[kinds++] = hu_format_of(t[at]->format);
		}
		s->x[s->t.count] = t[at]->data;
		s->name[s->t.count] = name ? name[at] : 0;
		s->kind_of[s->t.count] = (uint8_t)k;
		hu_many_add(&s->t, t[at]->n);
	}
	return at;
}

HU_KERNEL
tally_kernel(HU_PARAM several s, hu_tally *tally)
{
	for (uint32_t chunk = blockIdx.x; chunk < s.t.first[s.t.count]; chunk += gridDim.x) {
		hu_piece p = hu_many_piece(&s.t, chunk);
		hu_operand x = hu_many_operand(&s.kinds[s.kind_of[p.tensor]], s.x[p.tensor]);
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

	if (n)
		HU_TRY(HU_LAUNCH(hu_zero_kernel, 1, 128, 0, queue, (uint64_t *)to, (size_t)n * sizeof *to / 8));
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
		hu_operand x = hu_many_operand(&s.kinds[k], s.x[p.tensor]);
		uint64_t mine = 0;
		for (uint32_t j = threadIdx.x; j < p.n; j += blockDim.x) {
			uint32_t i = p.from + j;
			uint64_t code = x.kind == HU_KIND_CODE16 ? ((const uint16_t *)x.data)[i] : x.kind == HU_KIND_CODE8 ? ((const uint8_t *)x.data)[i] : hu_encode(hu_load_f64(&x, i), s.format[k]);
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

/* A block's bins in shared memory, then added to those of all. */
HU_KERNEL
exponents_kernel(HU_PARAM hu_operand x, uint32_t n, uint64_t *bins)
{
	HU_SHARED(uint32_t, mine, HU_BINS);

	for (uint32_t i = threadIdx.x; i < HU_BINS; i += blockDim.x)
		mine[i] = 0;
	HU_SYNC();
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		hu_atomic_add(&mine[hu_exponent_bin(hu_load_f64(&x, i))], 1);
	HU_SYNC();
	for (uint32_t i = threadIdx.x; i < HU_BINS; i += blockDim.x)
		if (mine[i])
			hu_atomic_add(&bins[i], (uint64_t)mine[i]);
}

static hu_status
exponents(void *queue, const hu_slot *t, uint64_t *bins)
{
	return HU_LAUNCH(exponents_kernel, hu_blocks_for(t->n, 2048, 1024), 256, 0, queue, hu_operand_of(t, HU_AT_EACH), (uint32_t)t->n, bins);
}

HU_KERNEL
underflow_kernel(HU_PARAM hu_operand before, HU_PARAM hu_operand after, hu_format f, uint32_t n, hu_underflow *count)
{
	hu_underflow c = { 0, 0, 0, 0, 0, 0 };

	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		hu_underflow_count(&c, hu_load_f64(&before, i), hu_load_f64(&after, i), f);
	hu_count_in(&count->elements, c.elements);
	hu_count_in(&count->nonzeros, c.nonzeros);
	hu_count_in(&count->zeroed, c.zeroed);
	hu_count_in(&count->subnormal, c.subnormal);
	hu_count_in(&count->lost, c.lost);
	hu_count_in(&count->flushed, c.flushed);
}

static hu_status
underflow(void *queue, const hu_slot *before, const hu_slot *after, hu_underflow *count)
{
	return HU_LAUNCH(underflow_kernel, hu_blocks_for(after->n, 2048, 1024), 256, 0, queue, hu_operand_of(before, HU_AT_EACH), hu_operand_of(after, HU_AT_EACH), hu_format_of(after->format), (uint32_t)after->n, count);
}

extern "C" const hu_look_calls HU_SIDE(look);
extern "C" const hu_look_calls HU_SIDE(look) = { pack, tally, digest, exponents, underflow };
