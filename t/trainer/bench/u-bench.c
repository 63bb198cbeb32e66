/* SPDX-License-Identifier: Apache-2.0
   What benchmarks and plans rest on: quantiles, sizes in bytes, the data sheet that a driver's name means, published
   rows and their ratios, ceilings that units cannot pass, and the products of a benchmark's step on a device. */
#include "cuda/exec/backend.h"
#include "trainer/bench/gemm.h"
#include "trainer/bench/published.h"
#include "trainer/device/fma.h"
#include "trainer/device/peak.h"
#include "cuda/device/roofline.h"
#include "trainer/device/steptime.h"
#include "trainer/run/memory.h"

#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

static void
quantiles(void)
{
	static const double x[] = { 1, 2, 4, 8, 16 }, one[] = { 3 };

	ok(hu_quantile(x, 5, 0.5) == 4 && hu_quantile(x, 4, 0.5) == 3, "medians of an odd and an even number");
	ok(hu_quantile(x, 5, 0) == 1 && hu_quantile(x, 5, 1) == 16, "the ends");
	ok(hu_quantile(x, 5, 0.25) == 2 && hu_quantile(x, 5, 0.75) == 8 && hu_quantile(x, 4, 0.75) == 5,
		"quartiles, linear between neighbours");
	ok(hu_quantile(one, 1, 0.25) == 3 && hu_quantile(one, 1, 0.75) == 3, "of one number, that number");
}

static void
sizes(void)
{
	double b = 0;

	ok(hu_parse_bytes("16GiB", &b) == HU_OK && b == 0x1p34, "16GiB");
	ok(hu_parse_bytes("512 MB", &b) == HU_OK && b == 512e6 && hu_parse_bytes("8e9", &b) == HU_OK && b == 8e9,
		"512 MB, 8e9");
	for (const char *const *s =
			(const char *const[]){ "", "GiB", "0", "-3", "5 apples", "nan", "inf", "1e999", NULL };
		*s; s++)
		ok(hu_parse_bytes(*s, &b) == HU_EINVAL && strstr(hu_reason(), "--memory"), "'%s' is refused", *s);
}

static void
texts(void)
{
	static const struct { double bytes; const char *text;
	} rows[] = { { 0, "0 B" }, { 7, "7 B" }, { 999, "999 B" }, { 999.5, "1.0 kB" }, { 12345, "12.3 kB" },
		{ 99949, "99.9 kB" }, { 99950, "100 kB" }, { 999499, "999 kB" }, { 999500, "1.0 MB" },
		{ 3.21e9, "3.2 GB" }, { 4.5e12, "4.5 TB" }, { 6.78e16, "67800 TB" } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[32];
		is_text(hu_bytes_text(rows[i].bytes, text, sizeof text), rows[i].text, "%g bytes", rows[i].bytes);
	}
}

static void
names(void)
{
	static const struct { const char *name; double gib; const char *id;
	} rows[] = {
		{ "NVIDIA H200", 141, "h200" },
		{ "NVIDIA H100 80GB HBM3", 80, "h100" },
		{ "NVIDIA A100-SXM4-40GB", 40, "a100" },
		{ "NVIDIA A100-SXM4-80GB", 80, "a100_80" },
		{ "NVIDIA A100", 59, "a100" }, /* the memory that is nearer */
		{ "NVIDIA A100", 61, "a100_80" },
		{ "Tesla V100-SXM2-16GB", 16, "v100" },
		{ "Tesla T4", 15, "t4" },
		{ "NVIDIA GeForce RTX 4060 Ti", 8, "rtx_4060_ti" },
		{ "NVIDIA GeForce RTX 2080 Ti", 11, "rtx_2080_ti" },
		{ "NVIDIA TITAN Xp", 12, "titan_xp" },
		{ "Quadro M2200", 4, "m2200" },
		{ "Tesla V100-PCIE-16GB", 16, "v100_pcie" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const hu_peaks *p = hu_peaks_of_name(rows[i].name, rows[i].gib * 0x1p30);
		is_text(p ? p->id : "none", rows[i].id, "%s is %s", rows[i].name, rows[i].id);
	}
	ok(!hu_peaks_of_name("NVIDIA GeForce GT 710", 0x1p31) && !hu_peaks_of_name("", 0),
		"a GPU without a data sheet here is none of them");
}

/* The rate of each format on each device: its own of the data sheet; for fp8 that of fp16 where there is none; without
   either, that of fp32, in which every other format is computed too. */
static void
rates(void)
{
	static const struct { const char *id; double fp64, fp32, tf32, fp16, bf16, fp8;
	} rows[] = {
#define DEVICE(id, name, capability, gib, gb_s, fp64, fp32, tf32, fp16, bf16, fp8, int8, align, source)                \
	{ #id, fp64, fp32, tf32, fp16, bf16, fp8 },
#include "cuda/device/devices.def"
#undef DEVICE
	};
	int wrong = 0, n = (int)(sizeof rows / sizeof *rows);

	for (int i = 0; i < n; i++) {
		const hu_peaks *d = hu_peaks_at(i);
		double single = rows[i].fp32, half = rows[i].fp16 > 0 ? rows[i].fp16 : single,
		       eight = rows[i].fp8 > 0 ? rows[i].fp8 : half;
		const struct { hu_format_id f; double tflops; } want[] = { { HU_FP64, rows[i].fp64 },
			{ HU_FP32, single }, { HU_TF32, rows[i].tf32 > 0 ? rows[i].tf32 : single }, { HU_FP16, half },
			{ HU_BF16, rows[i].bf16 > 0 ? rows[i].bf16 : single }, { HU_E4M3, eight }, { HU_E5M2, eight },
			{ HU_E2M1, single } };
		for (size_t k = 0; k < sizeof want / sizeof *want; k++)
			if (!d || strcmp(d->id, rows[i].id) || hu_peaks_rate(d, want[k].f) != 1e12 * want[k].tflops) {
				diag("%s, %s: %g", rows[i].id, hu_format_name(want[k].f),
					d ? hu_peaks_rate(d, want[k].f) : 0);
				wrong++;
			}
	}
	ok(!wrong && n > 8 && !hu_peaks_at(n) && !hu_peaks_at(-1), "rates of %d data sheets", n);
}

static void
published(void)
{
	size_t n = 0, blank = 0, sourced = 0;

	for (; hu_published_at(n); n++) {
		const hu_published *p = hu_published_at(n);
		double r = hu_published_ratio(p);
		blank += isnan(p->ms);
		sourced += *p->source != 0 && *p->device != 0 && p->batch > 0;
		if (!strcmp(p->policy, "float32") && p->ms > 0 && r != 1)
			ok(0, "%s, batch %zu: float32 has ratio %g to itself", p->device, p->batch, r);
		if (!strcmp(p->device, "V100") && p->batch == 512 && !strcmp(p->policy, "mixed_float16"))
			ok(fabs(r - 377.0 / 415) < 1e-15, "V100 at 512: 377 of 415 ms");
		if (isnan(p->ms) && !isnan(r))
			ok(0, "%s, batch %zu: a ratio of nothing", p->device, p->batch);
	}
	is_int((long long)sourced, (long long)n, "%zu published rows, each with source, device and batch", n);
	is_int((long long)blank, 5, "the cells that were out of memory or not published are blank");
}

static void
ceilings(void)
{
	double f, c;

	for (int i = 0; i < HU_SIMDS; i++)
		if (hu_simd_has((hu_simd)i) && hu_simd_set(hu_simd_name_of((hu_simd)i)) == HU_OK) {
			f = hu_fma_peak();
			/* of one core: two multiply-adds of 16 a cycle, at less than 10 GHz */
			ok(i >= HU_SIMD_AVX2 ? f > 1e8 && f < 2 * 2 * 16 * 1e10 : f < 0,
				"%s: %.1f GFLOP/s of fused multiply-adds",
				hu_simd_name(), 1e-9 * f);
		}
	hu_simd_set("auto");
#ifdef HU_HAVE_SHIM
	ok(hu_peak_flops("shim", HU_FP16, HU_FP32, 1, &f) == HU_OK && f > 0 &&
			hu_peak_flops("shim", HU_TF32, HU_FP32, 1, &f) == HU_OK && f > 0,
		"matrix instructions on the shim leave the accumulators as they must");
	ok(hu_peak_flops("shim", HU_FP32, HU_FP32, 0, &f) == HU_OK && f > 0, "and so do fused multiply-adds");
	ok(hu_peak_flops("shim", HU_E4M3, HU_FP32, 1, &f) == HU_OK && f > 0, "those of warpgroups alone take fp8");
	ok(hu_peak_flops("shim", HU_E3M2, HU_FP32, 1, &f) == HU_EUNABLE, "no instruction: %s", hu_reason());
	ok(hu_peak_flops("shim", HU_FP16, HU_FP16, 1, &f) == HU_OK &&
			hu_peak_flops("shim", HU_BF16, HU_FP32, 1, &f) == HU_OK,
		"into fp16, and from bf16");
	ok(hu_peak_flops("shim", HU_BF16, HU_FP16, 1, &f) == HU_EUNABLE &&
			hu_peak_flops("shim", HU_FP32, HU_FP32, 1, &f) == HU_EUNABLE,
		"no instruction from one into the other: %s", hu_reason());
	/* both ways of a processor's memory or of its caches: never so slow, nor so fast */
	c = 0;
	hu_status st = hu_peak_copy("shim", 1 << 20, &c);
	ok(st == HU_OK && c > 1e7 && c < 1e13, "a copy on the shim: %.1f GB/s", 1e-9 * c);
#else
	(void)c;
	skip(7, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
	ok(hu_peak_flops("abacus", HU_FP16, HU_FP32, 1, &f) == HU_EDEVICE, "a back end without units: %s", hu_reason());
}

#ifdef HU_HAVE_SHIM
/* A device on which every stretch takes a second, and the result of a step's second product has a wrong element if
   spoilt says so. */
static int spoilt;
static hu_status
a_second(hu_machine *m, double *seconds)
{
	(void)m;
	*seconds = 1;
	return HU_OK;
}
static hu_status
read_spoilt(hu_machine *m, int tensor, void *values)
{
	hu_status st = hu_backend_shim.read(m, tensor, values);

	if (spoilt && tensor == 4) /* after two operands, gemm.one and the first result */
		((float *)values)[5] += 1;
	return st;
}

static void
products(void)
{
	hu_backend device = hu_backend_shim;
	hu_bench_product g;
	hu_gemm_time t;

	device.elapsed = a_second;
	device.read = read_spoilt;
	for (spoilt = 0; spoilt < 2; spoilt++) {
		if (hu_gemm_init(&g, 5, 3, 7, HU_FP32, "fma,acc=fp32") != HU_OK ||
			hu_gemm_measure(&g, &device, HU_GEMM_SIMT, 1, &t) != HU_OK)
			bail_out("%s", hu_reason());
		ok(t.products == 2 && t.seconds == 0.5, "a step of %d products that takes a second: %g s a product",
			t.products, t.seconds);
		ok(t.wrong == spoilt && (!spoilt || strstr(hu_reason(), "product 1 of 2")), "%s",
			spoilt ? hu_reason() : "both products have the same bits");
		hu_gemm_release(&g);
	}
}
#endif

int
main(void)
{
#ifdef HU_HAVE_SHIM
	products();
#else
	skip(4, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
	quantiles();
	sizes();
	texts();
	names();
	rates();
	published();
	ceilings();
	return done_testing();
}
