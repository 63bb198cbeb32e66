/* SPDX-License-Identifier: Apache-2.0
   Converts arrays of values to codes and back. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/bulk/bulk_table.h"
#include "lib/number/code.h"

#include <string.h>

size_t
hu_bulk_element(hu_format_id f)
{
	int bits = hu_format_of(f).bits;

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static size_t
element(const hu_bulk_job *j)
{
	return hu_bulk_element(j->f.id);
}

/* Stores element i of codes of at most 16 bits. */
static void
put(void *dst, size_t i, size_t bytes, uint64_t code)
{
	uint8_t *b = dst;
	uint16_t *h = dst;

	if (bytes == 1)
		b[i] = (uint8_t)code;
	else
		h[i] = (uint16_t)code;
}

static uint64_t
get(const void *src, size_t i, size_t bytes)
{
	const uint8_t *b = src;
	const uint16_t *h = src;

	return bytes == 1 ? b[i] : h[i];
}

static void
copy(const hu_bulk_job *j, float *dst, const float *src, size_t n)
{
	hu_bulk_plan p = hu_bulk_plan_copy(32);

	p.stream = hu_bulk_streams(n, sizeof *dst);
	j->kernels->round32[HU_RNE](dst, src, n, &p, &j->random, 0);
}

static void
pack_f32(const hu_bulk_job *j, void *dst, const void *from, size_t n, uint64_t index)
{
	const float *src = from;

	(void)index;
	switch (element(j)) {
	case 8: j->kernels->widen(dst, src, n); return;
	case 4: copy(j, dst, src, n); return;
	default: break; /* codes of one or two bytes */
	}
	if (j->codes.kind == HU_BULK_NONE)
		for (size_t i = 0; i < n; i++)
			put(dst, i, element(j), hu_encode((double)src[i], j->f));
	else if (element(j) == 1)
		j->kernels->pack8(dst, src, n, &j->codes);
	else
		j->kernels->pack16(dst, src, n, &j->codes);
}

static void
unpack_f32(const hu_bulk_job *j, void *to, const void *src, size_t n, uint64_t index)
{
	float *dst = to;

	(void)index;
	switch (element(j)) {
	case 8: j->kernels->narrow(dst, src, n); return;
	case 4: copy(j, dst, src, n); return;
	default: break; /* codes of one or two bytes */
	}
	if (j->codes.kind == HU_BULK_NONE)
		for (size_t i = 0; i < n; i++) {
			double x = hu_decode(get(src, i, element(j)), j->f);
			dst[i] = hu_from_bits32(hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x));
		}
	else if (element(j) == 1)
		j->kernels->unpack8(dst, src, n, &j->codes);
	else
		j->kernels->unpack16(dst, src, n, &j->codes);
}

/* Where floats hold all of the format's values, doubles become floats on their way to codes and back. */
static void
pack_f64(const hu_bulk_job *j, void *to, const void *from, size_t n, uint64_t index)
{
	char *dst = to;
	const double *src = from;
	double *d = to;
	float part[HU_BULK_PART];
	size_t bytes = element(j);

	if (bytes == 8)
		for (size_t i = 0; i < n; i++)
			d[i] = hu_isnan(src[i]) ? hu_nan() : src[i];
	else if (bytes < 4 && j->codes.kind == HU_BULK_NONE)
		for (size_t i = 0; i < n; i++)
			put(dst, i, bytes, hu_encode(src[i], j->f));
	else
		for (size_t at = 0, m; at < n; at += m) {
			m = n - at < HU_BULK_PART ? n - at : HU_BULK_PART;
			j->kernels->narrow(part, src + at, m);
			pack_f32(j, dst + at * bytes, part, m, index);
		}
}

static void
unpack_f64(const hu_bulk_job *j, void *to, const void *from, size_t n, uint64_t index)
{
	double *dst = to;
	const double *d = from;
	const char *src = from;
	float part[HU_BULK_PART];
	size_t bytes = element(j);

	if (bytes == 8)
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_isnan(d[i]) ? hu_nan() : d[i];
	else if (bytes < 4 && j->codes.kind == HU_BULK_NONE)
		for (size_t i = 0; i < n; i++)
			dst[i] = hu_decode(get(src, i, bytes), j->f);
	else
		for (size_t at = 0, m; at < n; at += m) {
			m = n - at < HU_BULK_PART ? n - at : HU_BULK_PART;
			unpack_f32(j, part, src + at * bytes, m, index);
			j->kernels->widen(dst + at, part, m);
		}
}

/* Returns 1 where one loop rounds and packs. */
static int
encodes(const hu_bulk_job *j)
{
	return j->plan.kind != HU_BULK_NONE && j->plan.ends != HU_ENDS_ANY && j->codes.kind != HU_BULK_NONE &&
	       j->kernels->encode[j->mode] &&
	       (j->mode == HU_RNE || j->plan.kind == HU_BULK_SCALE || hu_bulk_packs(&j->plan, &j->codes));
}

static void
encode(const hu_bulk_job *j, void *to, const void *from, size_t n, uint64_t index)
{
	char *dst = to;
	const float *src = from;
	float part[HU_BULK_PART];
	double d[HU_BULK_PART];

	if (encodes(j)) {
		j->kernels->encode[j->mode](dst, element(j), src, n, &j->plan, &j->codes, &j->random, index);
		return;
	}
	for (size_t at = 0, m; at < n; at += m) {
		m = n - at < HU_BULK_PART ? n - at : HU_BULK_PART;
		if (j->plan.kind != HU_BULK_NONE) {
			hu_bulk_round_part(j, part, src + at, m, index + at);
			pack_f32(j, dst + at * element(j), part, m, 0);
		} else { /* a float may round to a number that is no float */
			j->kernels->widen(d, src + at, m);
			hu_bulk_round_part64(j, d, d, m, index + at);
			pack_f64(j, dst + at * element(j), d, m, 0);
		}
	}
}

static hu_bulk_job
packing(hu_format_id f)
{
	hu_bulk_job j = hu_bulk_job_new(hu_simd_level(), f);

	j.codes = hu_bulk_codes_of(j.f);
	return j;
}

/* For values of the format, rounding to nearest and packing in one loop gives the codes, and that loop is faster.
   Only an infinity of a format that saturates needs the packing loop, because rounding would change it. */
static hu_bulk_job
packing_floats(hu_format_id f)
{
	hu_bulk_job j = packing(f);

	if (!(j.f.flags & HU_SATURATE) || !hu_has_inf(j.f))
		j.plan = hu_bulk_plan_of(j.f, HU_RNE, 0, 32);
	if (j.codes.kind != HU_BULK_NONE)
		hu_bulk_codes_round(&j.codes, j.f, HU_RNE, 0);
	return j;
}

void
hu_bulk_pack(void *dst, const float *src, size_t n, hu_format_id f)
{
	hu_bulk_job j = packing_floats(f);

	hu_bulk_run(encodes(&j) ? encode : pack_f32, &j, dst, element(&j), src, sizeof *src, n, 0);
}

void
hu_bulk_unpack(float *dst, const void *src, size_t n, hu_format_id f)
{
	hu_bulk_job j = packing(f);

	hu_bulk_run(unpack_f32, &j, dst, sizeof *dst, src, element(&j), n, 0);
}

void
hu_bulk_pack_f64(void *dst, const double *src, size_t n, hu_format_id f)
{
	hu_bulk_job j = packing(f);

	hu_bulk_run(pack_f64, &j, dst, element(&j), src, sizeof *src, n, 0);
}

void
hu_bulk_unpack_f64(double *dst, const void *src, size_t n, hu_format_id f)
{
	hu_bulk_job j = packing(f);

	hu_bulk_run(unpack_f64, &j, dst, sizeof *dst, src, element(&j), n, 0);
}

void
hu_bulk_encode(void *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random,
	uint64_t index0)
{
	hu_bulk_job j = hu_bulk_job_of(hu_simd_level(), f, mode, flags, random, 32);

	j.codes = hu_bulk_codes_of(j.f);
	if (j.codes.kind != HU_BULK_NONE)
		hu_bulk_codes_round(&j.codes, j.f, mode, flags);
	hu_bulk_run(encode, &j, dst, element(&j), src, sizeof *src, n, index0);
}
