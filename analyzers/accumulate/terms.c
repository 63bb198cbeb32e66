/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzers/accumulate/terms.h"

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/console/opt.h"
#include "lib/base/console/spec.h"
#include "lib/base/str.h"
#include "lib/number/elementary/elementary.h"
#include "lib/number/philox.h"
#include "lib/store/npz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says the series as it is written, --terms SPEC or --terms times=SPEC; the caller frees it. */
static char *
written(const char *option, const char *spec)
{
	hu_str s;

	hu_str_init(&s);
	hu_spec_say(&s, option);
	hu_str_addf(&s, "%s%s", strchr(option, ':') ? "" : " ", spec);
	return s.s;
}

/* Reads count numbers after the colon of spec, separated by commas. */
static hu_status
numbers(const char *option, const char *spec, int count, double *to)
{
	const char *colon = strchr(spec, ':');
	char *all = hu_xstrdup(colon ? colon + 1 : ""), *save = NULL;
	int n = 0, good = colon != NULL;

	for (char *s = strtok_r(all, ",", &save); s; s = strtok_r(NULL, ",", &save), n++)
		good = good && n < count && hu_parse_real(s, &to[n]) && isfinite(to[n]);
	free(all);
	if (good && n == count)
		return HU_OK;
	all = written(option, spec);
	hu_fail(HU_EINVAL, "%s: %s behind the colon", all,
		count == 1 ? "a number is needed" : "two numbers are needed, as in uniform:0,1,");
	free(all);
	return HU_EINVAL;
}

/* Returns a normally distributed number by Marsaglia's polar method: pairs in the unit disc are drawn by index, and one
   value of each pair is used. */
static double
normal(uint64_t seed, uint32_t stream, uint64_t *index)
{
	for (;;) {
		hu_random r = hu_random_at(seed, stream, 0, (*index)++), q = { { r.w[2], r.w[3], 0, 0 } };
		double x = 2 * hu_uniform(r) - 1, y = 2 * hu_uniform(q) - 1, s = x * x + y * y;
		if (s > 0 && s < 1)
			return x * sqrt(-2 * hu_log(s) / s);
	}
}

static hu_status
from_file(const char *path, size_t *n, double *x)
{
	hu_npy a;

	HU_TRY(hu_npz_pick(&a, path));
	*n = a.count < *n ? a.count : *n;
	for (size_t k = 0; k < *n; k++)
		x[k] = hu_npy_real(&a, k);
	hu_npy_release(&a);
	return *n ? HU_OK : hu_fail(HU_EFILE, "%s has no elements", path);
}

typedef enum series { HARMONIC, ONES, CONSTANT, UNIFORM, NORMAL, SERIES } series;

static hu_status
fill(const char *option, const char *spec, uint64_t seed, size_t *n, double *x)
{
	static const char *const names[] = { "harmonic", "ones", "constant", "uniform", "normal" };
	size_t length = strcspn(spec, ":"), end = strlen(spec);
	double p[2] = { 0, 0 };
	/* A key's stream is that of its own name */
	uint32_t stream = hu_fnv1a32(strchr(option, ':') ? strchr(option, ':') + 1 : option);
	uint64_t index = 0;
	char word[32];
	series which = HARMONIC;

	for (; which < SERIES && (strlen(names[which]) != length || strncmp(spec, names[which], length)); which++)
		;
	if (which == SERIES && ((end > 4 && !strcmp(spec + end - 4, ".npy")) || strstr(spec, ".npz")))
		return from_file(spec, n, x);
	if (which == SERIES) {
		snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), spec);
		const char *near = hu_nearest(word, names, SERIES);
		return hu_fail(HU_EINVAL,
			"unknown %s '%s'%s%s; known: harmonic, ones, constant:C, uniform:A,B, normal:M,S, FILE.npy, "
			"FILE.npz:NAME",
			strchr(option, ':') ? strchr(option, ':') + 1 : option, spec, near ? "; did you mean " : "",
			near ? near : "");
	}
	if (which < CONSTANT && spec[length]) {
		char *said = written(option, names[which]);
		hu_fail(HU_EINVAL, "%s takes nothing behind its name", said);
		free(said);
		return HU_EINVAL;
	}
	if (which >= CONSTANT)
		HU_TRY(numbers(option, spec, which == CONSTANT ? 1 : 2, p));
	for (size_t k = 0; k < *n; k++) {
		switch (which) {
		case HARMONIC: x[k] = 1 / (double)(k + 1); break;
		case ONES: x[k] = 1; break;
		case CONSTANT: x[k] = p[0]; break;
		case UNIFORM: x[k] = p[0] + (p[1] - p[0]) * hu_uniform(hu_random_at(seed, stream, 0, k)); break;
		case NORMAL: x[k] = p[0] + p[1] * normal(seed, stream, &index); break;
		case SERIES: break; /* counts them */
		}
	}
	return HU_OK;
}

hu_status
hu_terms(const char *option, const char *spec, uint64_t seed, size_t *n, double **out)
{
	double *x = malloc(*n * sizeof *x);
	hu_status st = x ? fill(option, spec, seed, n, x) : hu_fail(HU_ENOMEM, "no memory for %zu terms", *n);

	if (st == HU_OK)
		*out = x;
	else
		free(x);
	return st;
}
