/* SPDX-License-Identifier: Apache-2.0
   The library's formats, and rounding to them. */
#include "lib/api/format.h"

#include "lib/api/enter.h"
#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/number/bulk/bulk.h"
#include "lib/number/code.h"
#include "lib/number/draw.h"
#include "lib/number/ulp.h"

#include <pthread.h>
#include <stdlib.h>

/* The library's numbers of modes and flags are the program's. A row that is put before others in modes.def breaks what
   callers were compiled with, and so it does not build. */
_Static_assert((int)HALFULP_RNE == HU_RNE && (int)HALFULP_RNA == HU_RNA && (int)HALFULP_RNZ == HU_RNZ, "modes");
_Static_assert((int)HALFULP_RZ == HU_RZ && (int)HALFULP_RU == HU_RU && (int)HALFULP_RD == HU_RD, "modes");
_Static_assert((int)HALFULP_RO == HU_RO && (int)HALFULP_SR == HU_SR && (int)HALFULP_SRE == HU_SRE, "modes");
_Static_assert(
	(int)HALFULP_SATURATE == HU_SATURATE && (int)HALFULP_FTZ == HU_FTZ && (int)HALFULP_DAZ == HU_DAZ, "flags");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static halfulp_format *known;

const halfulp_format *
hu_format_shared(hu_format_id id)
{
	halfulp_format *p, *mine = NULL;

	for (;;) {
		pthread_mutex_lock(&lock);
		for (p = known; p && p->f.id != id; p = p->next)
			;
		if (!p && mine) {
			mine->next = known;
			known = p = mine;
			mine = NULL;
		}
		pthread_mutex_unlock(&lock);
		if (p)
			break;
		mine = hu_xmalloc(sizeof *mine);
		mine->f = hu_format_of(id);
		mine->name = hu_format_name(id);
	}
	free(mine);
	return p;
}

size_t
hu_format_misfit(const double *x, size_t n, hu_format f)
{
	for (size_t i = 0; i < n; i++) {
		double y = hu_round(x[i], f, HU_RNE, 0, 0);
		if (hu_isnan(x[i]) ? !hu_has_nan(f) : hu_bits64(y) != hu_bits64(x[i]))
			return i;
	}
	return n;
}

hu_status
hu_format_mode(hu_mode *to, halfulp_mode mode, const char *function)
{
	if ((int)mode < 0 || (int)mode >= HU_MODES)
		return hu_fail(HU_EINVAL, "%s: %d is no rounding mode (halfulp_mode)", function, (int)mode);
	*to = (hu_mode)mode;
	return HU_OK;
}

typedef struct finding {
	const halfulp_format **format;
	const char *name;
	size_t i;
} finding;

static hu_status
find(void *of)
{
	const finding *a = of;
	hu_format_id id;

	HU_TRY(hu_api_needs(a->format, "halfulp_format_find", "format"));
	HU_TRY(hu_api_needs(a->name, "halfulp_format_find", "name"));
	HU_TRY(hu_format_find(a->name, &id));
	*a->format = hu_format_shared(id);
	return HU_OK;
}

halfulp_status
halfulp_format_find(const halfulp_format **format, const char *name)
{
	return hu_api_enter(find, &(finding){ format, name, 0 });
}

static hu_status
at(void *of)
{
	const finding *a = of;

	HU_TRY(hu_api_needs(a->format, "halfulp_format_at", "format"));
	if (a->i >= HU_FORMATS)
		return hu_fail(HU_EINVAL,
			"halfulp_format_at: the table has %d formats, counted from 0; there is no %zu", HU_FORMATS,
			a->i);
	*a->format = hu_format_shared((hu_format_id)a->i);
	return HU_OK;
}

halfulp_status
halfulp_format_at(const halfulp_format **format, size_t i)
{
	return hu_api_enter(at, &(finding){ format, NULL, i });
}

typedef struct mode_finding {
	halfulp_mode *mode;
	const char *name;
} mode_finding;

static hu_status
mode_find(void *of)
{
	const mode_finding *a = of;
	hu_mode mode = HU_RNE;

	HU_TRY(hu_api_needs(a->mode, "halfulp_mode_find", "mode"));
	HU_TRY(hu_api_needs(a->name, "halfulp_mode_find", "name"));
	HU_TRY(hu_mode_find(a->name, &mode));
	*a->mode = (halfulp_mode)mode;
	return HU_OK;
}

halfulp_status
halfulp_mode_find(halfulp_mode *mode, const char *name)
{
	return hu_api_enter(mode_find, &(mode_finding){ mode, name });
}

const char *
halfulp_format_name(const halfulp_format *format)
{
	return format->name;
}
int
halfulp_format_bits(const halfulp_format *format)
{
	return format->f.bits;
}
int
halfulp_format_precision(const halfulp_format *format)
{
	return format->f.p;
}
int
halfulp_format_emin(const halfulp_format *format)
{
	return format->f.emin;
}
int
halfulp_format_emax(const halfulp_format *format)
{
	return format->f.emax;
}
double
halfulp_format_max(const halfulp_format *format)
{
	return format->f.max;
}
double
halfulp_format_smallest_normal(const halfulp_format *format)
{
	return hu_smallest_normal(format->f);
}
double
halfulp_format_smallest(const halfulp_format *format)
{
	return hu_smallest(format->f);
}
double
halfulp_format_unit_roundoff(const halfulp_format *format)
{
	return hu_unit(format->f);
}

typedef struct rounding {
	const char *function;
	double *y;
	uint64_t *code;
	const double *x;
	size_t n;
	const halfulp_format *format;
	halfulp_mode mode;
	int flags;
	uint64_t seed, first;
} rounding;

static hu_status
rounds(void *of)
{
	const rounding *a = of;
	hu_mode mode = HU_RNE;

	HU_TRY(hu_api_needs(a->format, a->function, "format"));
	HU_TRY(hu_format_mode(&mode, a->mode, a->function));
	if (a->flags & ~(HU_SATURATE | HU_FTZ | HU_DAZ))
		return hu_fail(HU_EINVAL, "%s: flags %#x: HALFULP_SATURATE, HALFULP_FTZ and HALFULP_DAZ are known",
			a->function, (unsigned)a->flags);
	if (a->n)
		HU_TRY(hu_api_needs(a->x, a->function, "x"));
	if (a->n && !a->code)
		HU_TRY(hu_api_needs(a->y, a->function, "y"));
	hu_stream random = { a->seed, hu_fnv1a32("library"), 0 };
	if (!a->code)
		hu_bulk_round_f64(a->y, a->x, a->n, a->format->f.id, mode, a->flags, &random, a->first);
	for (size_t i = 0; a->code && i < a->n; i++)
		a->code[i] = hu_encode(
			hu_round_drawn(a->x[i], a->format->f, mode, a->flags, random, a->first + i), a->format->f);
	return HU_OK;
}

halfulp_status
halfulp_round(double *y, const double *x, size_t n, const halfulp_format *format, halfulp_mode mode, int flags,
	uint64_t seed, uint64_t first)
{
	return hu_api_enter(rounds, &(rounding){ __func__, y, NULL, x, n, format, mode, flags, seed, first });
}

halfulp_status
halfulp_encode(uint64_t *code, const double *x, size_t n, const halfulp_format *format, halfulp_mode mode, int flags,
	uint64_t seed, uint64_t first)
{
	static uint64_t none;

	if (n && !code)
		return hu_api_enter(
			rounds, &(rounding){ __func__, NULL, NULL, x, n, format, mode, flags, seed, first });
	return hu_api_enter(
		rounds, &(rounding){ __func__, NULL, n ? code : &none, x, n, format, mode, flags, seed, first });
}

typedef struct decoding {
	double *x;
	const uint64_t *code;
	size_t n;
	const halfulp_format *format;
} decoding;

static hu_status
decode(void *of)
{
	const decoding *a = of;

	HU_TRY(hu_api_needs(a->format, "halfulp_decode", "format"));
	HU_TRY(hu_api_needs(a->n ? (const void *)a->x : a, "halfulp_decode", "x"));
	HU_TRY(hu_api_needs(a->n ? (const void *)a->code : a, "halfulp_decode", "code"));
	int bits = a->format->f.bits;
	for (size_t i = 0; i < a->n; i++) {
		if (bits < 64 && a->code[i] >> bits)
			return hu_fail(HU_EINVAL, "halfulp_decode: code %zu, %#llx, is wider than the %d bits of %s", i,
				(unsigned long long)a->code[i], bits, hu_format_name(a->format->f.id));
		a->x[i] = hu_decode(a->code[i], a->format->f);
	}
	return HU_OK;
}

halfulp_status
halfulp_decode(double *x, const uint64_t *code, size_t n, const halfulp_format *format)
{
	return hu_api_enter(decode, &(decoding){ x, code, n, format });
}

typedef struct comparing {
	double *ulps;
	const double *got, *exact;
	size_t n;
	const halfulp_format *format;
} comparing;

static hu_status
compare(void *of)
{
	const comparing *a = of;

	HU_TRY(hu_api_needs(a->format, "halfulp_ulps", "format"));
	if (a->n && (!a->ulps || !a->got || !a->exact))
		return hu_fail(HU_EINVAL, "halfulp_ulps: an array is NULL");
	for (size_t i = 0; i < a->n; i++)
		a->ulps[i] = hu_error_ulps(a->got[i], a->exact[i], a->format->f);
	return HU_OK;
}

halfulp_status
halfulp_ulps(double *ulps, const double *got, const double *exact, size_t n, const halfulp_format *format)
{
	return hu_api_enter(compare, &(comparing){ ulps, got, exact, n, format });
}
