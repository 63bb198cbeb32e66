/* SPDX-License-Identifier: Apache-2.0
   Benchmarks casts of arrays: a unit and a row for every format, operation, rounding mode and instruction set asked
   for. A memcpy of as many floats is timed alternately with each, so that a busy machine does not spoil the ratio.
   After timing, a sample of the results is checked. */
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

enum { BY_MPFR = 1 << 14 };

/* A unit: an operation by place in hu_cast_ops, a rounding mode by place in the list of modes. */
typedef struct unit {
	hu_format_id format;
	int simd, op, mode;
} unit;

typedef struct cast {
	hu_cast of;
	hu_format_id format[HU_FORMATS];
	hu_mode mode[HU_MODES];
	char simd[HU_SIMDS];
	int formats, modes, trials, all, python, ops;
	unit *unit;
	int units, most_units;
	/* The format that the arrays hold values for, NULL before the first; of it the nanoseconds per element that
	   MPFR takes by mode and that NumPy takes to codes and back, and how many of MPFR's results differ, until a
	   row says so. */
	const hu_format_id *holds;
	double by_mpfr[HU_MODES], by_python[2];
	long differ;
} cast;

/* Returns the seconds of one run. Where the clock stands still for so short a time, because it ticks seldom or because
   the host of a virtual machine took the time away, it is of as many runs as it takes to move the clock; 0 where no
   number of them does. */
static double
timed(cast *c, const hu_cast_op *o, hu_format_id f, hu_mode m)
{
	double start = hu_bench_clock(c->all), t = 0;
	int runs = 0;

	while (!(t > 0) && runs < HU_BENCH_RUNS) {
		if (o)
			o->run(&c->of, f, m);
		else
			memcpy(c->of.dst, c->of.src, c->of.n * sizeof *c->of.dst);
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

/* Times and checks unit u, whose format the arrays hold values for; returns the row. */
static json_t *
measure_row(cast *c, const unit *u)
{
	const hu_cast_op *o = &hu_cast_ops[u->op];
	hu_format_id f = u->format;
	hu_mode m = o->draws ? c->mode[u->mode] : HU_RNE;
	double best = 1e9, copy = 1e9, t, ns, bytes, other = 0;
	int wide = u->op == HU_CAST_ROUND64, pieces = u->op == HU_CAST_PIECES,
	    codes = o->packs ? (int)hu_bulk_element(f) : 4;

	for (int i = 0; i < c->trials; i++) {
		t = timed(c, NULL, f, m);
		copy = t < copy ? t : copy;
		if (u->op == HU_CAST_PACK)
			hu_bulk_unpack(c->of.dst, c->of.codes, c->of.n, f); /* pack's input: values of the format */
		t = timed(c, o, f, m);
		best = t < best ? t : best;
	}
	long wrong = o->check(&c->of, f, m) + c->differ;
	c->differ = 0;
	ns = 1e9 * best / (double)(wide ? c->of.n / 2 : c->of.n);
	bytes = wide ? 16 : pieces ? 4 : 4 + codes;
	if (m == HU_RNE)
		other = u->op == HU_CAST_ENCODE                         ? c->by_python[0]
			: u->op == HU_CAST_UNPACK                       ? c->by_python[1]
			: u->op == HU_CAST_ROUND && c->by_python[0] > 0 ? c->by_python[0] + c->by_python[1]
									: 0;
	return json_pack("{s:s s:s s:s s:s s:f s:o s:o s:o s:o s:I}", "simd", hu_simd_name(), "format",
		pieces ? "-" : hu_format_name(f), "op", o->name, "mode",
		pieces     ? "SR"
		: o->draws ? hu_mode_name(m)
			   : "-",
		"ns", ns, "gb_s", ratio(bytes, ns), "memcpy", ratio(best, copy), "mpfr",
		ratio(u->op == HU_CAST_ROUND ? c->by_mpfr[u->mode] : 0, ns), "python", ratio(other, ns), "wrong",
		(json_int_t)wrong);
}

/* Lists the units. The random pieces do not depend on the format, so they are timed once for each instruction set, if
   some operation draws random bits or nothing else is asked for. */
static void
list_units(cast *c)
{
	int any = !(c->ops & (c->ops - 1)), seen = 0;

	for (int i = 0; i < c->modes; i++)
		any |= hu_mode_draws(c->mode[i]);
	for (int k = 0; k < c->formats; k++)
		for (int s = HU_SIMDS - 1; s >= 0; s--)
			for (int o = 0; o < HU_CAST_OPS && c->simd[s]; o++) {
				if (!(c->ops >> o & 1) || (hu_cast_ops[o].packs && hu_bulk_element(c->format[k]) > 2))
					continue;
				if (o == HU_CAST_PIECES && (!any || seen >> s & 1))
					continue;
				seen |= (o == HU_CAST_PIECES) << s;
				for (int i = 0; i < (hu_cast_ops[o].draws ? c->modes : 1); i++) {
					HU_GROW(c->unit, c->units, c->most_units);
					c->unit[c->units++] = (unit){ c->format[k], s, o, i };
				}
			}
}

/* Allocates the arrays and maps every page, before the clock starts. */
static hu_status
make_room(cast *c)
{
	size_t bytes = c->of.n * sizeof *c->of.src;
	void **room[] = { (void **)&c->of.src, (void **)&c->of.dst, (void **)&c->of.wide, (void **)&c->of.wide_dst,
		&c->of.codes, &c->of.back };
	const size_t rooms = sizeof room / sizeof *room;

	for (size_t i = 0; i < rooms && !c->holds; i++) {
		if (!*room[i] && !(*room[i] = hu_alloc(bytes)))
			return hu_fail(HU_ENOMEM, "no memory for %zu arrays of %g MB; choose a smaller --sizes", rooms,
				(double)bytes * 0x1p-20);
		memset(*room[i], 1, bytes);
	}
	return HU_OK;
}

/* Fills the arrays with values of the unit's format and asks the libraries how long they take for it, unless the unit
   before was of this format. */
static hu_status
prepare(cast *c, const unit *u)
{
	if (c->holds && *c->holds == u->format)
		return HU_OK;
	HU_TRY(make_room(c));
	hu_cast_fill(&c->of, u->format);
	if (hu_bulk_element(u->format) <= 2)
		hu_bulk_encode(c->of.codes, c->of.src, c->of.n, u->format, HU_RNE, 0, NULL, 0);
	for (int i = 0; i < c->modes; i++)
		c->by_mpfr[i] = hu_bench_mpfr(
			c->of.src, c->of.n < BY_MPFR ? c->of.n : BY_MPFR, u->format, c->mode[i], &c->differ);
	if (c->python)
		hu_bench_python(&c->by_python[0], &c->by_python[1], c->of.n, u->format, c->trials);
	c->holds = &u->format;
	return HU_OK;
}

static hu_status
measure(hu_bench_work *w, int i, json_t *rows)
{
	cast *c = w->of;

	HU_TRY(prepare(c, &c->unit[i]));
	HU_TRY(hu_simd_set(hu_simd_name_of((hu_simd)c->unit[i].simd)));
	json_array_append_new(rows, measure_row(c, &c->unit[i]));
	return HU_OK;
}

static char *
unit_name(const hu_bench_work *w, int i)
{
	const cast *c = w->of;
	const unit *u = &c->unit[i];

	return hu_xprintf("%s.%s.%s.%s", hu_format_name(u->format), hu_simd_name_of((hu_simd)u->simd),
		hu_cast_ops[u->op].name, hu_cast_ops[u->op].draws ? hu_mode_name(c->mode[u->mode]) : "-");
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
	for (int o = 0; o < HU_CAST_OPS; o++)
		if (!strcmp(hu_cast_ops[o].name, word)) {
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
parse(cast *c, const hu_args *a)
{
	const char *formats = hu_args_text(a, "format"), *modes = hu_args_text(a, "mode");
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
	HU_TRY(each(hu_args_text(a, "op"), one_op, c));
	HU_TRY(hu_bench_levels(c->simd, hu_args_text(a, "backend:simd")));
	if (!c->modes || !c->ops)
		return hu_fail(HU_EINVAL, "no %s given", c->ops ? "rounding mode" : "operation");
	HU_TRY(hu_args_real(a, "sizes", 0.001, 65536, &size));
	HU_TRY(hu_args_int(a, "trials", 1, 1000, &trials));
	HU_TRY(hu_args_int(a, "threads", 0, 1024, &threads));
	c->of.n = (size_t)(size * 0x1p20) / sizeof *c->of.src;
	c->trials = (int)trials;
	c->all = threads != 1;
	c->python = !hu_args_given(a, "no-python");
	hu_threads_set((int)threads);
	return HU_OK;
}

static hu_status
begin(hu_bench_work *w, const hu_args *a)
{
	cast *c = w->of = hu_xcalloc(1, sizeof *c);

	HU_TRY(parse(c, a));
	list_units(c);
	w->n = c->units;
	w->setting = hu_bench_levels_text(c->simd);
	w->group = hu_xcalloc((size_t)c->units + 1, sizeof *w->group);
	for (int i = 0; i < c->units; i++)
		w->group[i] = (int)c->unit[i].format;
	return HU_OK;
}

static void
end(hu_bench_work *w)
{
	cast *c = w->of;

	free(c->of.src);
	free(c->of.dst);
	free(c->of.wide);
	free(c->of.wide_dst);
	free(c->of.codes);
	free(c->of.back);
	free(c->unit);
	free(c);
}

static const hu_bench_column columns[] = { { "simd", 7, -1, 0, NULL }, { "format", 9, -1, 0, NULL },
	{ "op", 7, -1, 0, NULL }, { "mode", 4, -1, 0, NULL }, { "ns", 8, 3, 0, "ns/value" },
	{ "gb_s", 7, 1, 0, "GB/s" }, { "memcpy", 8, 2, 0, "t/memcpy" }, { "mpfr", 6, 0, 0, "MPFR/t" },
	{ "python", 8, 1, 0, "Python/t" }, { NULL, 0, 0, 0, NULL } };

static const hu_bench_option takes[] = { { "format", "fp16,bf16,e4m3,e5m2" }, { "mode", NULL }, { "op", NULL },
	{ "backend:simd", "all" }, { "sizes", "64" }, { "threads", NULL }, { "trials", NULL }, { "no-python", NULL },
	{ NULL, NULL } };

const hu_bench hu_bench_cast = { .name = "cast",
	.summary = "casts of arrays",
	.columns = columns,
	.takes = takes,
	.begin = begin,
	.unit = unit_name,
	.measure = measure,
	.end = end };
