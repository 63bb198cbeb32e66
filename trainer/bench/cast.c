/* SPDX-License-Identifier: Apache-2.0
   Benchmarks casts of arrays for every format, operation, rounding mode and instruction set asked for. A memcpy of as
   many floats is timed alternately with each, so that a busy machine does not spoil the ratio. The values' exponents
   run from below the format's smallest number to beyond its largest; one in 16 is a tie, one in 512 an infinity, NaN or
   zero. After timing, a sample of the results is compared with hu_round. */
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk_table.h"
#include "lib/number/code.h"
#include "lib/number/philox.h"
#include "lib/number/simd.h"
#include "trainer/bench/bench.h"
#include "trainer/bench/cast.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 997, PATTERN = 1 << 18, BY_MPFR = 1 << 14 };

static const hu_stream stream = { 1, 2, 3 };

typedef struct cast {
	size_t n;                 /* floats */
	float *src, *dst;
	double *wide, *wide_dst;  /* n / 2 doubles, so that they take as much memory */
	void *codes, *back;       /* codes of src rounded; output of the operation */
	hu_format_id format[HU_FORMATS];
	hu_mode mode[HU_MODES];
	int formats, modes, trials, all, python, ops, simd[HU_SIMDS];
	uint32_t pieces;          /* sum of the random pieces, so that they are not optimised away */
	int pieces_told;          /* instruction sets that they were timed for, one bit each */
	hu_bench_row *row;
	void *to;
	long *wrong;
} cast;

typedef struct op {
	const char *name;
	int packs, draws; /* packs: only for codes of at most 16 bits; draws: for every mode, otherwise once */
	void (*run)(cast *c, hu_format_id f, hu_mode m);
	long (*check)(const cast *c, hu_format_id f, hu_mode m);
} op;

static uint32_t
bits_of(double x)
{
	return hu_isnan(x) ? 0x7fc00000u : hu_bits32((float)x);
}

static double
want(double x, size_t i, hu_format_id f, hu_mode m)
{
	return hu_round(x, hu_format_of(f), m, 0, hu_mode_draws(m) ? hu_random_cast(stream, i) : 0);
}

static uint64_t
code_at(const void *codes, size_t i, hu_format_id f)
{
	return hu_bulk_element(f) == 1 ? ((const uint8_t *)codes)[i] : ((const uint16_t *)codes)[i];
}

static void run_round(cast *c, hu_format_id f, hu_mode m) { hu_bulk_round(c->dst, c->src, c->n, f, m, 0, &stream, 0); }
static void
run_round64(cast *c, hu_format_id f, hu_mode m)
{
	hu_bulk_round_f64(c->wide_dst, c->wide, c->n / 2, f, m, 0, &stream, 0);
}
static void
run_encode(cast *c, hu_format_id f, hu_mode m)
{
	hu_bulk_encode(c->back, c->src, c->n, f, m, 0, &stream, 0);
}
static void run_unpack(cast *c, hu_format_id f, hu_mode m) { (void)m, hu_bulk_unpack(c->dst, c->codes, c->n, f); }
static void run_pack(cast *c, hu_format_id f, hu_mode m) { (void)m, hu_bulk_pack(c->back, c->dst, c->n, f); }

/* Only draws the random bits of stochastic rounding: no rounding that uses them can be faster. */
static void
run_pieces(cast *c, hu_format_id f, hu_mode m)
{
	(void)f, (void)m;
	c->pieces = hu_bulk_kernels_of(hu_simd_level())->pieces(&stream, c->n / HU_BULK_SOME * HU_BULK_SOME, 0);
}

static long
check_pieces(const cast *c, hu_format_id f, hu_mode m)
{
	uint32_t x = c->pieces;

	(void)f, (void)m;
	for (size_t i = 0; i < c->n / HU_BULK_SOME * HU_BULK_SOME; i += HU_BULK_SOME)
		x ^= hu_random_piece(stream, i, 0);
	return x != 0;
}

static long
check_round(const cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += hu_bits32(c->dst[i]) != bits_of(want((double)c->src[i], i, f, m));
	return wrong;
}

static long
check_round64(const cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n / 2; i += SAMPLE)
		wrong += hu_bits64(c->wide_dst[i]) != hu_bits64(want(c->wide[i], i, f, m));
	return wrong;
}

static long
check_codes(const cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += code_at(c->back, i, f) != hu_encode(want((double)c->src[i], i, f, m), hu_format_of(f));
	return wrong;
}

static long
check_unpack(const cast *c, hu_format_id f, hu_mode m)
{
	long wrong = 0;

	(void)m;
	for (size_t i = 0; i < c->n; i += SAMPLE)
		wrong += hu_bits32(c->dst[i]) != bits_of(hu_decode(code_at(c->codes, i, f), hu_format_of(f)));
	return wrong;
}

static const op ops[] = {
	{ "round", 0, 1, run_round, check_round },
	{ "encode", 1, 1, run_encode, check_codes },
	{ "unpack", 1, 0, run_unpack, check_unpack },
	{ "pack", 1, 0, run_pack, check_codes },
	{ "round64", 0, 1, run_round64, check_round64 },
	{ "pieces", 0, 0, run_pieces, check_pieces },
};

enum { OPS = sizeof ops / sizeof *ops };

/* Fills src with values around the format's range. */
static void
fill(cast *c, hu_format_id id)
{
	hu_format f = hu_format_of(id);
	int low = f.emin - f.p - 2 < -149 ? -149 : f.emin - f.p - 2, high = f.emax + 2 > 127 ? 127 : f.emax + 2;
	static const float special[] = { 0.0f, -0.0f, 0x1p-149f, __builtin_inff(), -__builtin_inff(),
		__builtin_nanf("") };

	for (size_t i = 0; i < PATTERN && i < c->n; i++) {
		hu_random r = hu_random_at(7, 0, 0, i);
		int e = low + (int)(r.w[1] % (uint32_t)(high - low + 1)),
		    lost = 24 - f.p + (e < f.emin ? f.emin - e : 0);
		uint32_t m = r.w[0] & 0x7fffffu;
		if ((r.w[2] & 15) == 0 && lost > 0 && lost < 24)
			m = (m >> lost << lost) | 1u << (lost - 1);
		c->src[i] = (float)((double)(m | 0x800000u) * hu_pow2(e - 23)) * (r.w[2] >> 31 ? -1.0f : 1.0f);
		if ((r.w[3] & 511) == 0)
			c->src[i] = special[(r.w[3] >> 9) % (sizeof special / sizeof *special)];
	}
	for (size_t i = PATTERN; i < c->n; i += PATTERN)
		memcpy(c->src + i, c->src, (c->n - i < PATTERN ? c->n - i : PATTERN) * sizeof *c->src);
	for (size_t i = 0; i < c->n / 2; i++)
		c->wide[i] = (double)c->src[i] * (1 + (double)(i % 3) * 0x1p-40);
}

/* Returns the seconds of one run. Where the clock stands still for so short a time, because it ticks seldom or because
   the host of a virtual machine took the time away, it is of as many runs as it takes to move the clock; 0 where no
   number of them does. */
static double
timed(cast *c, const op *o, hu_format_id f, hu_mode m)
{
	double start = hu_bench_clock(c->all), t = 0;
	int runs = 0;

	while (!(t > 0) && runs < HU_BENCH_RUNS) {
		if (o)
			o->run(c, f, m);
		else
			memcpy(c->dst, c->src, c->n * sizeof *c->dst);
		t = hu_bench_clock(c->all) - start;
		runs++;
	}
	return t > 0 ? t / runs : 0;
}

static json_t *
ratio(double a, double b)
{
	return a > 0 && b > 0 ? json_real(a / b) : json_null();
}

/* Measures one row. python has the nanoseconds per element to codes and back. */
static void
measure(cast *c, const op *o, hu_format_id f, hu_mode m, double mpfr, const double *python)
{
	double best = 1e9, copy = 1e9, t, ns, bytes, other = 0;
	int wide = o->run == run_round64, pieces = o->run == run_pieces, codes = o->packs ? (int)hu_bulk_element(f) : 4;

	for (int i = 0; i < c->trials; i++) {
		t = timed(c, NULL, f, m);
		copy = t < copy ? t : copy;
		if (o->run == run_pack)
			hu_bulk_unpack(c->dst, c->codes, c->n, f); /* the input of pack must be values of the format */
		t = timed(c, o, f, m);
		best = t < best ? t : best;
	}
	*c->wrong += o->check(c, f, m);
	ns = 1e9 * best / (double)(wide ? c->n / 2 : c->n);
	bytes = wide ? 16 : pieces ? 4 : 4 + codes;
	if (m == HU_RNE)
		other = o->run == run_encode                   ? python[0]
			: o->run == run_unpack                 ? python[1]
			: o->run == run_round && python[0] > 0 ? python[0] + python[1]
							       : 0;
	c->row(c->to, json_pack("{s:s s:s s:s s:s s:f s:o s:o s:o s:o}", "simd", hu_simd_name(), "format",
			      pieces ? "-" : hu_format_name(f), "op", o->name, "mode",
			      pieces     ? "SR"
			      : o->draws ? hu_mode_name(m)
					 : "-",
			      "ns", ns, "gb_s", ratio(bytes, ns), "memcpy", ratio(best, copy), "mpfr",
			      ratio(o->run == run_round ? mpfr : 0, ns), "python", ratio(other, ns)));
}

/* Returns 1 where the random pieces need no row: they do not depend on the format, so they are timed once for each
   instruction set, if some operation draws random bits or nothing else is asked for. */
static int
told(cast *c, int simd)
{
	int before = c->pieces_told >> simd & 1, any = !(c->ops & (c->ops - 1));

	for (int i = 0; i < c->modes; i++)
		any |= hu_mode_draws(c->mode[i]);
	c->pieces_told |= 1 << simd;
	return before || !any;
}

static void
of_format(cast *c, hu_format_id f)
{
	double python[2] = { 0, 0 }, mpfr[HU_MODES];
	int packs = hu_bulk_element(f) <= 2;

	fill(c, f);
	if (packs)
		hu_bulk_encode(c->codes, c->src, c->n, f, HU_RNE, 0, NULL, 0);
	for (int i = 0; i < c->modes; i++)
		mpfr[i] = hu_bench_mpfr(c->src, c->n < BY_MPFR ? c->n : BY_MPFR, f, c->mode[i], c->wrong);
	if (c->python)
		hu_bench_python(&python[0], &python[1], c->n, f, c->trials);
	for (int s = HU_SIMDS - 1; s >= 0; s--) {
		if (!c->simd[s])
			continue;
		hu_simd_set(hu_simd_name_of((hu_simd)s));
		for (int o = 0; o < OPS; o++)
			for (int i = 0; c->ops >> o & 1 && (packs || !ops[o].packs) &&
					!(ops[o].run == run_pieces && told(c, s)) && i < (ops[o].draws ? c->modes : 1);
				i++)
				measure(c, &ops[o], f, ops[o].draws ? c->mode[i] : HU_RNE, mpfr[i], python);
	}
}

/* Calls `one` with each word of list. */
static hu_status
each(const char *list, hu_status (*one)(cast *c, const char *word), cast *c)
{
	char *all = hu_xstrdup(list), *save = NULL;
	hu_status st = HU_OK;

	for (char *s = strtok_r(all, ",", &save); s && st == HU_OK; s = strtok_r(NULL, ",", &save))
		st = one(c, s);
	free(all);
	return st;
}

static hu_status
one_op(cast *c, const char *word)
{
	for (int o = 0; o < OPS; o++)
		if (!strcmp(ops[o].name, word)) {
			c->ops |= 1 << o;
			return HU_OK;
		}
	return hu_fail(HU_EINVAL, "unknown operation '%s'; known: round, encode, unpack, pack, round64, pieces", word);
}

static hu_status
one_mode(cast *c, const char *word)
{
	return c->modes == HU_MODES ? hu_fail(HU_EINVAL, "more rounding modes than exist")
				    : hu_mode_find(word, &c->mode[c->modes++]);
}

static hu_status
one_set(cast *c, const char *word)
{
	HU_TRY(hu_simd_set(word));
	c->simd[hu_simd_level()] = 1;
	return HU_OK;
}

static hu_status
parse(cast *c, const hu_args *a)
{
	const char *formats = hu_args_text(a, "formats"), *modes = hu_args_text(a, "modes"),
		   *simd = hu_args_text(a, "simd");
	long long trials, threads;
	double size;

	if (!strcmp(formats, "all"))
		for (; c->formats < HU_FORMATS; c->formats++)
			c->format[c->formats] = (hu_format_id)c->formats;
	else
		HU_TRY(hu_format_list(formats, c->format, HU_FORMATS, &c->formats));
	if (!strcmp(modes, "all"))
		for (; c->modes < HU_MODES; c->modes++)
			c->mode[c->modes] = (hu_mode)c->modes;
	else
		HU_TRY(each(modes, one_mode, c));
	HU_TRY(each(hu_args_text(a, "ops"), one_op, c));
	if (!strcmp(simd, "all"))
		for (int s = 0; s < HU_SIMDS; s++)
			c->simd[s] = hu_simd_has((hu_simd)s);
	else
		HU_TRY(each(simd, one_set, c));
	if (!c->modes || !c->ops)
		return hu_fail(HU_EINVAL, "no %s given", c->ops ? "rounding mode" : "operation");
	HU_TRY(hu_args_real(a, "mb", 0.001, 65536, &size));
	HU_TRY(hu_args_int(a, "trials", 1, 1000, &trials));
	HU_TRY(hu_args_int(a, "threads", 0, 1024, &threads));
	c->n = (size_t)(size * 0x1p20) / sizeof *c->src;
	c->trials = (int)trials;
	c->all = threads != 1;
	c->python = !hu_args_given(a, "no-python");
	hu_threads_set((int)threads);
	return HU_OK;
}

static hu_status
run(const hu_args *a, hu_bench_row *row, void *to, long *wrong)
{
	cast c = { .row = row, .to = to, .wrong = wrong };
	hu_status st = parse(&c, a);
	size_t bytes = c.n * sizeof *c.src;
	void **room[] = { (void **)&c.src, (void **)&c.dst, (void **)&c.wide, (void **)&c.wide_dst, &c.codes, &c.back };
	const size_t rooms = sizeof room / sizeof *room;

	for (size_t i = 0; st == HU_OK && i < rooms; i++) {
		if (!(*room[i] = hu_alloc(bytes)))
			st = hu_fail(HU_ENOMEM, "no memory for %zu arrays of %g MB; choose a smaller --mb", rooms,
				(double)bytes * 0x1p-20);
		else
			memset(*room[i], 1, bytes); /* maps every page before the clock starts */
	}
	for (int i = 0; st == HU_OK && i < c.formats; i++)
		of_format(&c, c.format[i]);
	for (size_t i = 0; i < rooms; i++)
		free(*room[i]);
	return st;
}

static const hu_bench_column columns[] = { { "simd", 7, -1 }, { "format", 9, -1 }, { "op", 7, -1 }, { "mode", 4, -1 },
	{ "ns", 8, 3 }, { "gb_s", 7, 1 }, { "memcpy", 7, 2 }, { "mpfr", 7, 0 }, { "python", 7, 1 }, { NULL, 0, 0 } };

static const hu_bench_option takes[] = { { "formats", "fp16,bf16,e4m3,e5m2" }, { "modes", NULL }, { "ops", NULL },
	{ "simd", "all" }, { "mb", NULL }, { "threads", NULL }, { "trials", NULL }, { "no-python", NULL },
	{ NULL, NULL } };

const hu_bench hu_bench_cast = { "cast", "casts of arrays", columns, run, takes, NULL };
