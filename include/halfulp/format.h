/* SPDX-License-Identifier: Apache-2.0
   Number formats and rounding to them. A value of any format is a double here, which holds it exactly. */
#ifndef HALFULP_FORMAT_H
#define HALFULP_FORMAT_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* A format. It never changes and lives as long as the process; equal formats are one pointer. */
typedef struct halfulp_format halfulp_format;

typedef enum halfulp_mode {
	HALFULP_RNE = 0, /* to nearest, ties to even */
	HALFULP_RNA = 1, /* to nearest, ties away from zero */
	HALFULP_RNZ = 2, /* to nearest, ties toward zero */
	HALFULP_RZ = 3,  /* toward zero */
	HALFULP_RU = 4,  /* toward +infinity */
	HALFULP_RD = 5,  /* toward -infinity */
	HALFULP_RO = 6,  /* to odd: inexact results get an odd last bit */
	HALFULP_SR = 7,  /* stochastic: up with probability proportional to the distance */
	HALFULP_SRE = 8  /* stochastic: up or down with probability 1/2 each */
} halfulp_mode;

/* Flags of a rounding, as in hardware. */
enum {
	HALFULP_SATURATE = 1, /* overflow, and an infinity, give the largest finite value */
	HALFULP_FTZ = 2,      /* a subnormal result becomes a zero of its sign */
	HALFULP_DAZ = 4       /* an operand below the smallest normal number counts as zero */
};

/* Finds a format by the names that the command `halfulp formats` prints, in any case: "fp16", "bfloat16", "e4m3", or
   by a description such as "e6m9" or "binary8p3". HALFULP_EINVAL names the nearest known name. */
halfulp_status halfulp_format_find(const halfulp_format **format, const char *name);
/* Format number i of the table, counted from 0; HALFULP_EINVAL past the last. */
halfulp_status halfulp_format_at(const halfulp_format **format, size_t i);
/* Finds a rounding mode by its name, such as "RNE" or "stochastic". */
halfulp_status halfulp_mode_find(halfulp_mode *mode, const char *name);

/* The name; the bits of a code; the bits of a significand, the leading one included (p); the exponents of the smallest
   and of the largest normal number, as powers of two. */
const char *halfulp_format_name(const halfulp_format *format);
int halfulp_format_bits(const halfulp_format *format);
int halfulp_format_precision(const halfulp_format *format);
int halfulp_format_emin(const halfulp_format *format);
int halfulp_format_emax(const halfulp_format *format);
/* The largest finite value, the smallest positive normal one and the smallest positive one; and the unit roundoff
   2^-p, which bounds the relative error of a rounding to nearest whose result is normal. */
double halfulp_format_max(const halfulp_format *format);
double halfulp_format_smallest_normal(const halfulp_format *format);
double halfulp_format_smallest(const halfulp_format *format);
double halfulp_format_unit_roundoff(const halfulp_format *format);

/* Rounds n doubles once each: y[i] is x[i] rounded to the format. y may be x. A NaN becomes a quiet one, or the largest
   value where the format has no NaN. Under the two stochastic modes element i takes the random bits of (seed,
   first + i), so that pieces of an array give what the whole gives; other modes read neither. */
halfulp_status halfulp_round(double *y, const double *x, size_t n, const halfulp_format *format, halfulp_mode mode,
	int flags, uint64_t seed, uint64_t first);
/* The same, as codes (bit patterns) in the low bits of each word. */
halfulp_status halfulp_encode(uint64_t *code, const double *x, size_t n, const halfulp_format *format,
	halfulp_mode mode, int flags, uint64_t seed, uint64_t first);
/* The values of n codes, exactly. HALFULP_EINVAL names the first that is wider than the format. */
halfulp_status halfulp_decode(double *x, const uint64_t *code, size_t n, const halfulp_format *format);
/* ulps[i] = |got[i] - exact[i]| / 2^(max(floor(log2|exact[i]|), emin) - p + 1), whose difference is taken in double:
   its relative error is at most 2^-53. Equal infinities and two NaN have error 0, any other pair with one has
   +infinity. */
halfulp_status halfulp_ulps(
	double *ulps, const double *got, const double *exact, size_t n, const halfulp_format *format);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
