/* SPDX-License-Identifier: Apache-2.0
   The types that bulk.c shares with the loops, which are compiled once for each instruction set. */
#ifndef HU_NUMBER_BULK_TABLE_H
#define HU_NUMBER_BULK_TABLE_H

#include "lib/number/bulk/bulk.h"

/* How a format is handled in lanes of 32 or 64 bits. A lane holds a container: an fp32 or fp64 number. */
typedef enum hu_bulk_kind {
	HU_BULK_NONE,   /* not by the loops: element by element through round.h */
	HU_BULK_NARROW, /* the container's exponents reach far enough beyond the format's that adding a power of two
			   rounds */
	HU_BULK_WIDE,   /* emin is the container's, so subnormals are too, and all magnitudes drop the same bits */
	HU_BULK_SCALE,  /* powers of two without a sign (e8m0) */
	HU_BULK_HALF, /* fp16 to nearest even without flags, which processors convert to and from */
	HU_BULK_COPY, /* the format holds every value of the container: only NaN changes; mode is HU_RNE */
	HU_BULK_KINDS
} hu_bulk_kind;

/* How NaN, infinities, zeros and magnitudes beyond the largest value are treated. The first three have loops of
   their own, for formats without flags but HU_SATURATE: to nearest even, and for floats also stochastically. A wide
   format has the first or the last. */
typedef enum hu_bulk_ends {
	HU_ENDS_IEEE, /* beyond the largest: an infinity of the same sign, or NaN; NaN and -0 stay */
	HU_ENDS_ONE,  /* beyond the largest: NaN, or the largest of the same sign; NaN becomes one pattern; zeros
			 keep or lose their sign */
	HU_ENDS_INFINITE, /* beyond the largest: an infinity of the same sign; NaN stays, -0 becomes 0 */
	HU_ENDS_ANY /* anything else; also SR with k < 32 random bits, or where a wide format drops more bits than a
		       piece has */
} hu_bulk_ends;

/* A format as the loops see it. Words are bit patterns of the container, in the low 32 bits where that is fp32. */
typedef struct hu_bulk_plan {
	hu_bulk_kind kind;
	int stream;            /* write past the caches, because the result is too large for them */
	hu_bulk_ends ends;
	int drop;              /* how many bits of the container's significand are dropped, for normal numbers */
	int mant;              /* the container's trailing significand bits: 23 or 52 */
	uint64_t from, beyond; /* 2^emin and 2^(emax + 1) */
	uint64_t lowest; /* below `from`, the format's spacing is that of numbers at this power of two */
	uint64_t smallest;     /* smallest positive value */
	uint64_t max;          /* largest finite value */
	uint64_t over[2], inf[2]; /* by sign: what a rounded magnitude beyond max becomes, and an infinity */
	uint64_t flip; /* RD is RU of the opposite sign: the sign bit to flip, else 0; over and inf go by the flipped
			  sign */
	uint32_t random_mask;  /* which bits of a draw count */
	uint64_t nan, minus_zero; /* what NaN and -0 become */
	uint64_t nan_above; /* larger magnitudes are NaN: infinity, or the word below it where infinity becomes NaN */
	uint64_t ftz, daz;     /* magnitudes below become zero: after rounding, before rounding */
} hu_bulk_plan;

/* A format's codes, of at most 16 bits, as lanes of 32 bits see them. */
typedef struct hu_bulk_codes {
	hu_bulk_kind kind;
	int full;              /* NaN's code or -0 is not where IEEE formats and e4m3 have it */
	int drop, sign_shift;  /* sign_shift: code bits - 1 */
	uint32_t from;         /* the fp32 bits of 2^emin */
	float smallest;        /* the smallest subnormal */
	uint32_t inf_code, nan_code; /* nan_code where there is no infinity */
	uint32_t top;          /* infinity's code without sign; above all codes where there is none */
	uint32_t nan_from;     /* the smallest code without sign that is NaN; above all codes where there is none */
	uint32_t nan_only;     /* the one NaN, its sign moved to bit 31; all ones where there is no such NaN */
	uint32_t minus_zero;   /* the bits of -0's code: the sign bit, or none */
	uint32_t max, over[2]; /* for rounding: the largest value's code; by sign, the code of what lies beyond. 0
				  without rounding */
} hu_bulk_codes;

typedef void hu_bulk_round32(
	float *dst, const float *src, size_t n, const hu_bulk_plan *p, const hu_stream *random, uint64_t index0);
/* Rounds floats and packs them. An element of codes has 1 or 2 bytes. */
typedef void hu_bulk_encoder(void *dst, size_t bytes, const float *src, size_t n, const hu_bulk_plan *p,
	const hu_bulk_codes *codes, const hu_stream *random, uint64_t index0);

typedef void hu_bulk_round64(
	double *dst, const double *src, size_t n, const hu_bulk_plan *p, const hu_stream *random, uint64_t index0);

/* hu_bulk_kernels' `pieces` measures the cost of random bits without rounding. It makes the n pieces from index0 on,
   a multiple of 8, and throws them away; it returns the exclusive or of every HU_BULK_SOME-th. n is a multiple of
   HU_BULK_SOME, and all indices are below 2^35. */
enum { HU_BULK_SOME = 256 };

typedef struct hu_bulk_kernels {
	hu_bulk_round32 *round32[HU_MODES];
	hu_bulk_round64 *round64[HU_MODES];
	/* These serve plans whose ends are not HU_ENDS_ANY, and SR and SRE of scales and of codes that pack
	   (hu_bulk_packs). A mode whose function is NULL goes through a buffer, as all other plans and codes do. */
	hu_bulk_encoder *
		encode[HU_MODES];
	void (*pack8)(uint8_t *dst, const float *src, size_t n, const hu_bulk_codes *p);
	void (*pack16)(uint16_t *dst, const float *src, size_t n, const hu_bulk_codes *p);
	void (*unpack8)(float *dst, const uint8_t *src, size_t n, const hu_bulk_codes *p);
	void (*unpack16)(float *dst, const uint16_t *src, size_t n, const hu_bulk_codes *p);
	void (*narrow)(float *dst, const double *src, size_t n);  /* to nearest even; every NaN becomes one */
	void (*widen)(double *dst, const float *src, size_t n);   /* every NaN becomes one */
	uint32_t (*pieces)(const hu_stream *random, size_t n, uint64_t index0);
} hu_bulk_kernels;

extern const hu_bulk_kernels hu_bulk_scalar, hu_bulk_neon, hu_bulk_avx2, hu_bulk_avx512;

/* The loops of an instruction set that hu_simd_has. */
const hu_bulk_kernels *hu_bulk_kernels_of(hu_simd level);

/* The plan for lanes of `width` (32 or 64) bits. kind is HU_BULK_NONE where the loops do not serve the format. */
hu_bulk_plan hu_bulk_plan_of(hu_format f, hu_mode mode, int flags, int width);
/* A plan of kind HU_BULK_COPY. */
hu_bulk_plan hu_bulk_plan_copy(int width);
hu_bulk_codes hu_bulk_codes_of(hu_format f);
/* Sets c's max and over for a rounding. */
void hu_bulk_codes_round(hu_bulk_codes *c, hu_format f, hu_mode mode, int flags);
/* Returns 1 where rounding by plan p and packing can be one step: then the codes after the largest value's, up to
   NaN's, are just what values beyond it become. */
int hu_bulk_packs(const hu_bulk_plan *p, const hu_bulk_codes *c);

/* Data that passes through a buffer does so in parts of this many elements, which stay in the first-level cache. */
enum { HU_BULK_PART = 1024 };

/* Results of this many bytes or more are written past the caches. Behind a second-level cache of 2 MB that is faster
   from 4 MB on, but smaller results may be read again from the third level. */
enum { HU_BULK_STREAM_FROM = 1 << 24 };
static inline int hu_bulk_streams(size_t n, size_t size) { return n >= HU_BULK_STREAM_FROM / size; }

/* One call on an array. The array may be cut anywhere, because element i draws as number index0 + i. */
typedef struct hu_bulk_job {
	const hu_bulk_kernels *kernels;
	hu_bulk_plan plan, plan64; /* plan64 is for doubles, and for floats where plan is HU_BULK_NONE */
	hu_bulk_codes codes;       /* for calls that pack */
	hu_format f;
	hu_mode mode;
	int flags;
	hu_stream random;
} hu_bulk_job;

/* A job of no loops yet: all kinds are HU_BULK_NONE. */
hu_bulk_job hu_bulk_job_new(hu_simd level, hu_format_id id);
/* Makes a job; width is that of the elements to be rounded. codes.kind is HU_BULK_NONE. random may be NULL. */
hu_bulk_job hu_bulk_job_of(hu_simd level, hu_format_id id, hu_mode mode, int flags, const hu_stream *random, int width);

/* Does n elements of a job, the first of which has number index. */
typedef void hu_bulk_stretch(const hu_bulk_job *j, void *dst, const void *src, size_t n, uint64_t index);
hu_bulk_stretch hu_bulk_round_part;   /* floats to floats */
hu_bulk_stretch hu_bulk_round_part64; /* doubles to doubles */

/* Runs f over all n elements, in one piece or in one piece a thread. dst_bytes and src_bytes are the bytes of an
   element. */
void hu_bulk_run(hu_bulk_stretch *f, const hu_bulk_job *j, void *dst, size_t dst_bytes, const void *src,
	size_t src_bytes, size_t n, uint64_t index0);
#endif
