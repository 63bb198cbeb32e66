/* SPDX-License-Identifier: Apache-2.0
   What bulk.c and the loops compiled once for each instruction set agree on. */
#ifndef HU_NUMBER_BULK_TABLE_H
#define HU_NUMBER_BULK_TABLE_H

#include "lib/number/bulk/bulk.h"

/* How a format lies in lanes of 32 or 64 bits, which hold a carrier: fp32 or fp64. */
typedef enum hu_bulk_kind {
	HU_BULK_NONE,   /* not served: element by element through round.h */
	HU_BULK_NARROW, /* the carrier's exponents reach far enough beyond the format's for a sum to do the rounding */
	HU_BULK_WIDE,   /* emin is the carrier's: subnormals are the carrier's too, and bits round alike everywhere */
	HU_BULK_SCALE,  /* powers of two without sign (e8m0) */
	HU_BULK_HALF, /* as HU_BULK_NARROW, but fp16 to nearest even without flags, which processors convert to and from
		       */
	HU_BULK_COPY, /* the format holds every value of the carrier, and no flag changes one: only NaN does; mode is
			 HU_RNE */
	HU_BULK_KINDS
} hu_bulk_kind;

/* What becomes of NaN, infinities, zeros and what lies beyond the largest value: the short ways that loops have to
   nearest even and, of floats, stochastically, of formats without flags but to saturate. A wide format has the first or
   the last. */
typedef enum hu_bulk_ends {
	HU_ENDS_IEEE, /* beyond the largest an infinity of the sign, or NaN; NaN stays, and -0 */
	HU_ENDS_ONE,  /* beyond the largest NaN, or the largest of the sign; NaN becomes one pattern, and zero keeps its
			 sign or loses it */
	HU_ENDS_INFINITE, /* beyond the largest an infinity of the sign; NaN stays, and -0 is 0 */
	HU_ENDS_ANY /* all else; and k random bits of 32, and SR where a wide format drops more bits than a piece has */
} hu_bulk_ends;

/* A format as the loops see it; words of the carrier's bits, in the low 32 where that is fp32. */
typedef struct hu_bulk_plan {
	hu_bulk_kind kind;
	int stream;            /* write past the caches, which the result is too large for */
	hu_bulk_ends ends;
	int drop;              /* bits of the carrier's significand that normals lose */
	int mant;              /* the carrier's trailing significand bits: 23 or 52 */
	uint64_t from, beyond; /* 2^emin and 2^(emax + 1) */
	uint64_t lowest; /* the power of two whose last place in the format is the place of what lies below from */
	uint64_t smallest;     /* smallest positive value */
	uint64_t max;          /* largest finite value */
	uint64_t over[2], inf[2]; /* what a rounded magnitude beyond it becomes, and an infinity, by sign */
	uint64_t flip; /* RD is RU of what has the other sign: that sign. over and inf are by the flipped sign then */
	uint32_t random_mask;  /* of a draw, the bits that count */
	uint64_t nan, minus_zero; /* what NaN and -0 become */
	uint64_t nan_above; /* magnitudes above are NaN: the infinity, or what lies below it where that becomes NaN */
	uint64_t ftz, daz;     /* magnitudes below become zero, after and before rounding */
} hu_bulk_plan;

/* A format's codes of at most 16 bits as lanes of 32 bits see them. */
typedef struct hu_bulk_codes {
	hu_bulk_kind kind;
	int full;              /* NaN's code or -0 is not where IEEE formats and e4m3 have it */
	int drop, sign_shift;  /* code bits - 1 */
	uint32_t from;         /* 2^emin's fp32 bits */
	float smallest;        /* smallest subnormal */
	uint32_t inf_code, nan_code; /* nan_code where there is no infinity */
	uint32_t top;          /* infinity's code without sign; past every code where there is none */
	uint32_t nan_from;     /* the smallest code without sign that is NaN; past every code where there is none */
	uint32_t nan_only;     /* the one NaN, its sign moved to bit 31; all ones where there is no such */
	uint32_t minus_zero;   /* the bits that -0 leaves in a code: its sign's, or none */
	uint32_t max, over[2]; /* of a rounding: the largest value's code, and what lies beyond it by sign; 0 where
				  nothing is rounded */
} hu_bulk_codes;

typedef void hu_bulk_round32(
	float *dst, const float *src, size_t n, const hu_bulk_plan *p, const hu_stream *random, uint64_t index0);
/* Floats rounded and packed; an element of codes is BYTES long, 1 or 2. */
typedef void hu_bulk_encoder(void *dst, size_t bytes, const float *src, size_t n, const hu_bulk_plan *p,
	const hu_bulk_codes *codes, const hu_stream *random, uint64_t index0);

typedef void hu_bulk_round64(
	double *dst, const double *src, size_t n, const hu_bulk_plan *p, const hu_stream *random, uint64_t index0);

/* What a draw costs without the rounding that uses it: the N pieces from INDEX0, a multiple of 8, on are made, in
   batches, and thrown away, but for the exclusive or of those HU_BULK_SOME apart. N: a multiple of that. None of them
   beyond index 2^35. */
enum { HU_BULK_SOME = 256 };

typedef struct hu_bulk_kernels {
	hu_bulk_round32 *round32[HU_MODES];
	hu_bulk_round64 *round64[HU_MODES];
	hu_bulk_encoder *
		encode[HU_MODES]; /* of plans whose ends are not HU_ENDS_ANY, SR's and SRE's of scales and of codes that
				     pack; NULL for modes that go, as all other plans and codes do, through a buffer */
	void (*pack8)(uint8_t *dst, const float *src, size_t n, const hu_bulk_codes *p);
	void (*pack16)(uint16_t *dst, const float *src, size_t n, const hu_bulk_codes *p);
	void (*unpack8)(float *dst, const uint8_t *src, size_t n, const hu_bulk_codes *p);
	void (*unpack16)(float *dst, const uint16_t *src, size_t n, const hu_bulk_codes *p);
	void (*narrow)(float *dst, const double *src, size_t n);  /* every NaN to one; to nearest even */
	void (*widen)(double *dst, const float *src, size_t n);   /* every NaN to one */
	uint32_t (*pieces)(const hu_stream *random, size_t n, uint64_t index0);
} hu_bulk_kernels;

extern const hu_bulk_kernels hu_bulk_scalar, hu_bulk_neon, hu_bulk_avx2, hu_bulk_avx512;

/* The loops of an instruction set that hu_simd_has. */
const hu_bulk_kernels *hu_bulk_kernels_of(hu_simd level);

/* Plans for lanes of WIDTH (32 or 64) bits; kind is HU_BULK_NONE where the loops do not serve the format. */
hu_bulk_plan hu_bulk_plan_of(hu_format f, hu_mode mode, int flags, int width);
/* Kind HU_BULK_COPY. */
hu_bulk_plan hu_bulk_plan_copy(int width);
hu_bulk_codes hu_bulk_codes_of(hu_format f);
/* What lies beyond the largest value, for a rounding. */
void hu_bulk_codes_round(hu_bulk_codes *c, hu_format f, hu_mode mode, int flags);
/* Of a plan for floats and the codes of its rounding: whether the codes after the largest value's, NaN's at most, stand
   for what is beyond. */
int hu_bulk_packs(const hu_bulk_plan *p, const hu_bulk_codes *c);

/* What passes through a buffer does so in parts of this many elements, which stay in the first cache. */
enum { HU_BULK_PART = 1024 };

/* Bytes of results from which they are written past the caches. Behind a second-level cache of 2 MB that is
   faster from 4 MB on; but smaller ones may still be read again from the third level. */
enum { HU_BULK_STREAM_FROM = 1 << 24 };

/* A call on an array, which may be cut anywhere: element i is drawn for as number index0 + i. */
typedef struct hu_bulk_job {
	const hu_bulk_kernels *kernels;
	hu_bulk_plan plan, plan64; /* plan64 where the elements are doubles or plan is HU_BULK_NONE */
	hu_bulk_codes codes;       /* for the packing calls */
	hu_format f;
	hu_mode mode;
	int flags;
	hu_stream random;
} hu_bulk_job;

/* WIDTH: of the elements to be rounded. Leaves codes.kind HU_BULK_NONE. RANDOM may be NULL. */
hu_bulk_job hu_bulk_job_of(hu_simd level, hu_format_id id, hu_mode mode, int flags, const hu_stream *random, int width);

/* N elements of a job, INDEX the first one's number. */
typedef void hu_bulk_stretch(const hu_bulk_job *j, void *dst, const void *src, size_t n, uint64_t index);
hu_bulk_stretch hu_bulk_round_part;   /* floats to floats */
hu_bulk_stretch hu_bulk_round_part64; /* doubles to doubles */

/* F over all N elements of DST_BYTES and SRC_BYTES, in one piece or one a thread. */
void hu_bulk_run(hu_bulk_stretch *f, const hu_bulk_job *j, void *dst, size_t dst_bytes, const void *src,
	size_t src_bytes, size_t n, uint64_t index0);
#endif
