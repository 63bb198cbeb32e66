/* SPDX-License-Identifier: Apache-2.0
   Rounding of arrays (bulk.h). */
#include "lib/number/bulk/bulk.h"

#include "lib/number/bulk/bulk_table.h"
#include "lib/number/draw.h"

#include <string.h>

static const hu_stream none;

hu_bulk_job
hu_bulk_job_new(hu_simd level, hu_format_id id)
{
	hu_bulk_job j;

	memset(&j, 0, sizeof j);
	j.kernels = hu_bulk_kernels_of(level);
	j.f = hu_format_of(id);
	j.plan.kind = j.plan64.kind = j.codes.kind = HU_BULK_NONE;
	return j;
}

hu_bulk_job
hu_bulk_job_of(hu_simd level, hu_format_id id, hu_mode mode, int flags, const hu_stream *random, int width)
{
	hu_bulk_job j;
	int holds, as_is;

	j = hu_bulk_job_new(level, id);
	j.mode = mode;
	j.flags = flags;
	j.random = random ? *random : none;
	holds = j.f.special == HU_SPECIAL_IEEE &&
		(width == 64 ? j.f.emax >= 1023 && j.f.emin - j.f.p + 1 <= -1074 && j.f.p >= 53
			     : j.f.emax >= 127 && j.f.emin - j.f.p + 1 <= -149 && j.f.p >= 24);
	as_is = holds && !((flags | j.f.flags) & (HU_SATURATE | HU_FTZ | HU_DAZ | HU_NOSUB));
	if (as_is) {
		j.mode = HU_RNE; /* all modes give the same */
		*(width == 64 ? &j.plan64 : &j.plan) = hu_bulk_plan_copy(width);
		return j;
	}
	if (width == 32)
		j.plan = hu_bulk_plan_of(j.f, mode, flags, 32);
	if (width == 64 || j.plan.kind == HU_BULK_NONE)
		j.plan64 = hu_bulk_plan_of(j.f, mode, flags, 64);
	return j;
}

void
hu_bulk_round_part64(const hu_bulk_job *j, void *to, const void *from, size_t n, uint64_t index)
{
	double *dst = to;
	const double *src = from;

	if (j->plan64.kind != HU_BULK_NONE) {
		j->kernels->round64[j->mode](dst, src, n, &j->plan64, &j->random, index);
		return;
	}
	for (size_t i = 0; i < n; i++)
		dst[i] = hu_round_drawn(src[i], j->f, j->mode, j->flags, j->random, index + i);
}

void
hu_bulk_round_part(const hu_bulk_job *j, void *to, const void *from, size_t n, uint64_t index)
{
	float *dst = to;
	const float *src = from;
	double d[HU_BULK_PART];

	if (j->plan.kind != HU_BULK_NONE) {
		j->kernels->round32[j->mode](dst, src, n, &j->plan, &j->random, index);
	} else {
		for (size_t at = 0, m; at < n; at += m) {
			m = n - at < HU_BULK_PART ? n - at : HU_BULK_PART;
			j->kernels->widen(d, src + at, m);
			hu_bulk_round_part64(j, d, d, m, index + at);
			j->kernels->narrow(dst + at, d, m);
		}
	}
}

/* Returns the job for rounding few floats: the thread's last one where it serves, because rows of a product come one
   after another in one format, and to make a job takes longer than to round a row. It holds until the thread's next
   call. */
static const hu_bulk_job *
recent(hu_simd level, hu_format_id f, hu_mode mode, int flags, const hu_stream *random)
{
	static _Thread_local struct {
		hu_simd level;
		hu_format_id f;
		hu_mode mode;
		int flags;
		hu_bulk_job job; /* kernels is NULL before the first call */
	} last;

	if (!last.job.kernels || last.level != level || last.f != f || last.mode != mode || last.flags != flags) {
		last.level = level;
		last.f = f;
		last.mode = mode;
		last.flags = flags;
		last.job = hu_bulk_job_of(level, f, mode, flags, NULL, 32);
	}
	last.job.random = random ? *random : none;
	return &last.job;
}

void
hu_bulk_round(float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags, const hu_stream *random,
	uint64_t index0)
{
	hu_bulk_round_at(hu_simd_level(), dst, src, n, f, mode, flags, random, index0);
}

void
hu_bulk_round_at(hu_simd level, float *dst, const float *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0)
{
	if (f == HU_FP32 && !flags && n <= HU_BULK_PART) { /* a row of a product, for which a job takes longer */
		hu_bulk_plan copy = hu_bulk_plan_copy(32);
		hu_bulk_kernels_of(level)->round32[HU_RNE](dst, src, n, &copy, &none, index0);
		return;
	}
	if (n <= HU_BULK_PART) {
		hu_bulk_round_part(recent(level, f, mode, flags, random), dst, src, n, index0);
		return;
	}
	hu_bulk_job j = hu_bulk_job_of(level, f, mode, flags, random, 32);

	j.plan.stream = hu_bulk_streams(n, sizeof *dst);
	hu_bulk_run(hu_bulk_round_part, &j, dst, sizeof *dst, src, sizeof *src, n, index0);
}

void
hu_bulk_round_f64(double *dst, const double *src, size_t n, hu_format_id f, hu_mode mode, int flags,
	const hu_stream *random, uint64_t index0)
{
	hu_bulk_job j = hu_bulk_job_of(hu_simd_level(), f, mode, flags, random, 64);

	j.plan64.stream = hu_bulk_streams(n, sizeof *dst);
	hu_bulk_run(hu_bulk_round_part64, &j, dst, sizeof *dst, src, sizeof *src, n, index0);
}
