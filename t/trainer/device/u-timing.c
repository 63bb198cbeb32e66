/* SPDX-License-Identifier: Apache-2.0
   What a step is said to take on a device, from a program of seven calls, a device of round numbers, and measured
   seconds and passes that are made up here: every number is computed again by hand. */
#include "cuda/device/roofline.h"
#include "trainer/device/timing.h"
#include "trainer/record/passes.h"

#include "lib/program/program.h"
#include "t/tool/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 7 };

/* x[16,24] w[24,32] -> bias -> relu; a cast of w to fp16 before, a product of fp16 after, one of ten columns last. */
static hu_program *
program(void)
{
	hu_program *p = hu_program_new("train");
	int x = hu_program_tensor(p, "in.x", HU_FP16, hu_shape2(16, 24), HU_ACTIVATION),
	    w = hu_program_tensor(p, "one.w", HU_FP32, hu_shape2(24, 32), HU_WEIGHT),
	    b = hu_program_tensor(p, "one.b", HU_FP16, hu_shape1(32), HU_WEIGHT),
	    v = hu_program_tensor(p, "two.w", HU_FP16, hu_shape2(32, 10), HU_WEIGHT), in[2], out[1], h, y;

	h = hu_program_cast(p, w, HU_FP16, HU_FORWARD, "one"); /* call 0 */
	in[0] = x, in[1] = h;
	y = hu_program_apply(p, "matmul", HU_FORWARD, "one", in, 2, "one.xw", HU_FP16, HU_ACTIVATION, NULL, 0);
	in[0] = y, in[1] = b;
	y = hu_program_apply(p, "bias", HU_FORWARD, "one", in, 2, "one.y", HU_FP16, HU_ACTIVATION, NULL, 0);
	in[0] = y;
	y = hu_program_apply(p, "relu", HU_FORWARD, "act", in, 1, "act.y", HU_FP16, HU_ACTIVATION, NULL, 0);
	in[0] = y, in[1] = v;
	y = hu_program_apply(p, "matmul", HU_FORWARD, "two", in, 2, "two.y", HU_FP16, HU_ACTIVATION, NULL, 0);
	in[0] = y;
	hu_program_apply(p, "relu", HU_BACKWARD, "act", in, 1, "act.dy", HU_FP16, HU_GRADIENT, NULL, 0);
	out[0] = hu_program_tensor(p, "two.dw", HU_FP16, hu_shape1(10), HU_WGRAD);
	in[0] = y;
	hu_program_call(p, "bias_db", HU_BACKWARD, "two", in, 1, out, 1);
	return p;
}

/* 1 Gflop/s in fp32, 8 in fp16, 1 GB/s, a launch of 2 us. */
static const hu_peaks device = { .id = "d",
	.name = "Device",
	.capability = 70,
	.gb_s = 1,
	.fp64 = 0.0005,
	.fp32 = 0.001,
	.fp16 = 0.008,
	.launch_us = 2,
	.align = 16,
	.source = "here" };

static double
field(json_t *rows, size_t i, const char *key)
{
	const json_t *v = json_object_get(json_array_get(rows, i), key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static const char *
text(json_t *rows, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(rows, i), key));
}

/* Of call I: bytes moved, multiply-adds of a product and the flop/s they run at. */
static const struct {
	const char *op, *layer;
	double bytes, macs, rate;
	const char *odd;
} want[CALLS] = {
	{ "cast", "one", 24 * 32 * (4 + 2), 0, 1e9, "" },
	{ "matmul", "one", 2 * (16 * 24 + 24 * 32 + 16 * 32), 16 * 24 * 32, 8e9, "" },
	{ "bias", "one", 2 * (2 * 16 * 32 + 32), 0, 1e9, "" },
	{ "relu", "act", 2 * 2 * 16 * 32, 0, 1e9, "" },
	{ "matmul", "two", 2 * (16 * 32 + 32 * 10 + 16 * 10), 16 * 32 * 10, 1e9, "two.w: last extent 10" },
	{ "relu", "act", 2 * 2 * 16 * 10, 0, 1e9, "" },
	{ "bias_db", "two", 2 * (16 * 10 + 10), 0, 1e9, "" },
};

/* With caches a call's bytes move as fast as the largest does of which they fill two, or as the nearest. */
static void
caches(const hu_program *p)
{
	hu_peaks d = device;
	int used[3] = { 0 };

	d.near[0].bytes = 256;
	d.near[0].gb_s = 16;
	d.near[1].bytes = 512;
	d.near[1].gb_s = 8;
	d.near[2].bytes = 1024;
	d.near[2].gb_s = 4;
	for (int i = 0; i < CALLS; i++) {
		int k = want[i].bytes >= 2048 ? 2 : want[i].bytes >= 1024 ? 1 : 0;
		is_near(hu_roofline(&d, p, &p->c[i]).memory, want[i].bytes / (1e9 * d.near[k].gb_s), 1e-15,
			"%s: %.0f bytes by way of cache %d", want[i].op, want[i].bytes, k);
		used[k]++;
	}
	ok(used[0] && used[2], "caches near and far");
}

static void
calls(const hu_program *p)
{
	double measured[CALLS + 1] = { 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3, 128e-3 },
				sums[5] = { 0, 0, 0, 0, 0 };
	json_t *rows = hu_timing_to_json(&device, p, 1, measured, NULL);

	is_int((long long)json_array_size(rows), CALLS + 1, "a row a call, and their sum");
	for (size_t i = 0; i < CALLS; i++) {
		double flops = field(rows, i, "flops"), arithmetic = 1e3 * flops / want[i].rate,
		       memory = 1e3 * want[i].bytes / 1e9, most = fmax(fmax(arithmetic, memory), 2e-3);
		is_text(text(rows, i, "op"), want[i].op, "call %zu is a %s", i, want[i].op);
		is_text(text(rows, i, "layer"), want[i].layer, "of layer %s", want[i].layer);
		is_text(text(rows, i, "phase"), i < 5 ? "forward" : "backward", "and its phase");
		is_text(text(rows, i, "odd"), want[i].odd, "what keeps it off the matrix units: \"%s\"", want[i].odd);
		ok(field(rows, i, "macs") == want[i].macs && (want[i].macs == 0 || flops == 2 * want[i].macs) &&
				flops > 0 && field(rows, i, "bytes") == want[i].bytes,
			"its multiply-adds, operations and bytes");
		is_near(field(rows, i, "arithmetic_ms"), arithmetic, 1e-15, "operations over the rate");
		is_near(field(rows, i, "memory_ms"), memory, 1e-15, "bytes over the bandwidth");
		is_near(field(rows, i, "launch_ms"), 2e-3, 1e-15, "one launch");
		is_near(field(rows, i, "predicted_ms"), most, 1e-15, "the longest of the three");
		is_text(text(rows, i, "limit"),
			most == 2e-3           ? "launch"
			: memory >= arithmetic ? "memory"
					       : "arithmetic",
			"which it is");
		is_near(field(rows, i, "measured_ms"), 1e3 * measured[i], 1e-12, "what was measured");
		ok(isnan(field(rows, i, "launches")) && !text(rows, i, "covers"),
			"without passes no launches are known");
		sums[0] += arithmetic, sums[1] += memory, sums[2] += 2e-3, sums[3] += most,
			sums[4] += 1e3 * measured[i];
	}
	ok(fabs(field(rows, CALLS, "arithmetic_ms") - sums[0]) < 1e-12 &&
			fabs(field(rows, CALLS, "memory_ms") - sums[1]) < 1e-12 &&
			fabs(field(rows, CALLS, "launch_ms") - sums[2]) < 1e-12 &&
			fabs(field(rows, CALLS, "predicted_ms") - sums[3]) < 1e-12 &&
			fabs(field(rows, CALLS, "measured_ms") - sums[4]) < 1e-9 &&
			field(rows, CALLS, "calls") == CALLS,
		"the last row has the sums");
	is_text(text(rows, CALLS, "odd"), "", "and names no extent");
	json_decref(rows);
}

static void
layers(const hu_program *p)
{
	static const char *const name[] = { "one", "act", "two", "all" };
	static const int n[] = { 3, 2, 2, 7 };
	json_t *rows = hu_timing_to_json(&device, p, 0, NULL, NULL);
	hu_timing t = hu_timing_of(&device, p);
	double total = 0, odd = 0;

	is_int((long long)json_array_size(rows), 4, "a row a layer, and their sum");
	for (size_t i = 0; i < 4; i++) {
		is_text(text(rows, i, "layer"), name[i], "layers in the order of their first calls");
		is_int((long long)field(rows, i, "calls"), n[i], "of so many calls");
		ok(isnan(field(rows, i, "call")) && !text(rows, i, "op") && isnan(field(rows, i, "measured_ms")),
			"a layer is no call, and nothing was measured");
	}
	is_near(field(rows, 0, "bytes"), want[0].bytes + want[1].bytes + want[2].bytes, 0, "bytes of its calls");
	is_text(text(rows, 2, "odd"), want[4].odd, "an extent of one of its calls");
	json_decref(rows);
	rows = hu_timing_to_json(&device, p, 1, NULL, NULL);
	for (size_t i = 0; i < CALLS; i++) {
		total += 1e-3 * field(rows, i, "predicted_ms");
		odd += i == 4 ? 1e-3 * field(rows, i, "predicted_ms") : 0;
	}
	json_decref(rows);
	ok(fabs(t.total - total) < 1e-15 && fabs(t.by_limit[0] + t.by_limit[1] + t.by_limit[2] - total) < 1e-15 &&
			t.calls == CALLS && t.odd == 1 && fabs(t.odd_time - odd) < 1e-15,
		"all calls together: %g s, of which %g s are of one with an odd extent", t.total, t.odd_time);
}

/* Calls 1 and 2 are one pass, a chain; 3 and 5 another, of two phases; the step's end looks at something. */
static void
passes(const hu_program *p)
{
	hu_pass pass[CALLS + 1] = { { 0, 0, NULL, 1, 100 }, { 1, 1, "chain", 1, 5000 }, { 1, 1, "chain", 0, 0 },
		{ 3, 0, "pair", 2, 300 }, { 4, 0, NULL, 1, 10 }, { 3, 0, "pair", 0, 0 }, { 6, 0, NULL, 0, 7 },
		{ 7, 0, NULL, 3, 40 } };
	double measured[CALLS + 1] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	static const struct {
		const char *layer, *op, *phase, *covers;
		double calls, launches, bytes, ms;
	} rows_of[] = {
		{ "one", "cast", "forward", "0", 1, 1, 100, 1e3 },
		{ "one", "matmul+bias", "forward", "1-2", 2, 1, 5000, 6e3 },
		{ "act", "relu", "several", "3,5", 2, 2, 300, 40e3 },
		{ "two", "matmul", "forward", "4", 1, 1, 10, 16e3 },
		{ "two", "bias_db", "backward", "6", 1, 0, 7, 64e3 },
		{ "statistics", NULL, NULL, NULL, 0, 3, 40, 128e3 },
		{ "all", NULL, NULL, NULL, 7, 8, 5457, 255e3 },
	};
	json_t *rows = hu_timing_to_json(&device, p, 1, measured, pass);
	size_t n = sizeof rows_of / sizeof *rows_of;

	is_int((long long)json_array_size(rows), (long long)n, "a row a pass, what is looked at, and the sum");
	for (size_t i = 0; i < n; i++) {
		is_text(text(rows, i, "layer"), rows_of[i].layer, "pass %zu: %s", i, rows_of[i].layer);
		is_text(text(rows, i, "op"), rows_of[i].op, "its operators");
		is_text(text(rows, i, "phase"), rows_of[i].phase, "their phase");
		is_text(text(rows, i, "covers"), rows_of[i].covers, "its calls");
		ok(field(rows, i, "calls") == rows_of[i].calls && field(rows, i, "launches") == rows_of[i].launches &&
				field(rows, i, "bytes") == rows_of[i].bytes &&
				fabs(field(rows, i, "measured_ms") - rows_of[i].ms) < 1e-6,
			"calls, launches, bytes and measured time");
		if (i + 1 == n)
			continue;
		is_near(field(rows, i, "memory_ms"), 1e3 * rows_of[i].bytes / 1e9, 1e-12,
			"its own bytes over the bandwidth");
		is_near(field(rows, i, "launch_ms"), 2e-3 * fmax(rows_of[i].launches, 1), 1e-12,
			"its own launches, one at least");
		is_near(field(rows, i, "predicted_ms"),
			fmax(fmax(field(rows, i, "arithmetic_ms"), field(rows, i, "memory_ms")),
				field(rows, i, "launch_ms")),
			1e-12, "the longest of the three");
	}
	json_decref(rows);
	pass[1].chain = pass[2].chain = 0;
	pass[2].first = 2, pass[3].first = 2,
	pass[5].first = 5; /* bias of layer one with relu of layer act, no chain */
	rows = hu_timing_to_json(&device, p, 1, NULL, pass);
	is_text(text(rows, 2, "layer"), "several", "calls of two layers that are no chain");
	is_text(text(rows, 2, "op"), "bias+relu", "have both their operators");
	ok(isnan(field(rows, 2, "measured_ms")), "and nothing was measured");
	json_decref(rows);
}

static void
printed(const hu_program *p)
{
	double measured[CALLS + 1] = { 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3, 128e-3 };
	char *all = NULL;
	size_t n;
	FILE *f = open_memstream(&all, &n);

	hu_timing_print(f, &device, p, 0, measured);
	hu_timing_print(f, &device, p, 1, NULL);
	fclose(f);
	ok(strstr(all, "layer  calls  Gflop    bytes  arithmetic ms  memory ms  launch ms  at least ms  measured ms  "
		       "limit       "
		       "odd extents\n") == all,
		"the heading of layers with measured times");
	ok(strstr(all, "\none        3  0.000  10.0 kB          0.004      0.010      0.006        0.010        7.000  "
		       "memory      -\n") != NULL,
		"a row of three calls");
	ok(strstr(all, "\ntwo        2  0.000   2.3 kB          0.010      0.002      0.004        0.012       80.000  "
		       "arithmetic  "
		       "two.w: last extent 10\n") != NULL,
		"a row with an odd extent");
	ok(strstr(all, "\ncall  op") != NULL && strstr(all, "  at least ms  limit ") != NULL,
		"the heading of calls without");
	ok(strstr(all, "\n   1  matmul  ") != NULL &&
			strstr(all, "  3.3 kB          0.003      0.003      0.002        0.003  memory ") != NULL,
		"a call of it");
	ok(strstr(all, "\n   -  -") != NULL && strstr(all, "  all ") != NULL, "and the sum");
	diag("%s", all);
	free(all);
}

/* Rates and bandwidths of formats and sizes that a device has no row for. */
static void
devices(void)
{
	hu_peaks d = { .fp64 = 1, .fp32 = 2, .tf32 = 3, .fp16 = 4, .bf16 = 5, .fp8 = 6, .gb_s = 10 };

	ok(hu_peaks_rate(&d, HU_FP64) == 1e12 && hu_peaks_rate(&d, HU_FP32) == 2e12 &&
			hu_peaks_rate(&d, HU_TF32) == 3e12 && hu_peaks_rate(&d, HU_FP16) == 4e12 &&
			hu_peaks_rate(&d, HU_BF16) == 5e12 && hu_peaks_rate(&d, HU_E4M3) == 6e12 &&
			hu_peaks_rate(&d, HU_E5M2) == 6e12 && hu_peaks_rate(&d, HU_E3M2) == 2e12,
		"each format has its units' rate, others fp32's");
	d.fp8 = d.bf16 = 0;
	ok(hu_peaks_rate(&d, HU_E5M2) == 4e12 && hu_peaks_rate(&d, HU_BF16) == 2e12,
		"without units for it 8 bits have fp16's, bf16 fp32's");
	ok(hu_peaks_bandwidth(&d, 1) == 1e10 && hu_peaks_bandwidth(&d, 1e12) == 1e10,
		"one bandwidth, whatever the size");
	for (int i = 0; i < 3; i++) {
		d.near[i].bytes = (double)(1000 << 2 * i);
		d.near[i].gb_s = 80 >> i;
	}
	ok(hu_peaks_bandwidth(&d, 1) == 8e10 && hu_peaks_bandwidth(&d, 1999) == 8e10 &&
			hu_peaks_bandwidth(&d, 2000) == 8e10 && hu_peaks_bandwidth(&d, 8000) == 4e10 &&
			hu_peaks_bandwidth(&d, 31999) == 4e10 && hu_peaks_bandwidth(&d, 32000) == 2e10 &&
			hu_peaks_bandwidth(&d, 1e9) == 2e10,
		"of caches, that of data half as large");
	ok(!hu_peaks_at(-1) && hu_peaks_at(0) && !hu_peaks_at(1000), "rows of data sheets end");
	ok(hu_peaks_find("v100", &d) == HU_OK && d.fp16 == 125 && d.capability == 70 && d.launch_us == 5,
		"a data sheet by its name");
	static const char *const names[] = { "RTX 4090", "4090", "NVIDIA GeForce RTX 4090", "rtx_4090", "Rtx-4090" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		ok(hu_peaks_find(names[i], &d) == HU_OK && d.fp16 == 165.2, "%s is rtx_4090", names[i]);
	static const char *const people[] = { "T4", "L4", "A10", "A100", "H100", "H200", "B200", "3090", "5090" };
	for (size_t i = 0; i < sizeof people / sizeof *people; i++)
		ok(hu_peaks_find(people[i], &d) == HU_OK && d.fp32 > 0 && d.gb_s >= 300, "%s is known", people[i]);
	ok(hu_peaks_find("v10", &d) == HU_EINVAL && hu_peaks_find("rtx", &d) == HU_EINVAL &&
			hu_peaks_find("", &d) == HU_EINVAL,
		"and none by another");
}

int
main(void)
{
	hu_program *p = program();

	is_int(p->nc, CALLS, "the program has its calls");
	calls(p);
	caches(p);
	layers(p);
	passes(p);
	printed(p);
	devices();
	hu_program_free(p);
	return done_testing();
}
