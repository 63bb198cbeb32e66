/* SPDX-License-Identifier: Apache-2.0
   What is measured of this machine as a device: no rate is compared with a clock, but rates and bandwidths must relate
   as the processor's arithmetic and caches do. */
#include "t/tool/tap.h"
#include "trainer/device/ceiling.h"
#include "trainer/device/fma.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

int
main(void)
{
	hu_peaks d;
	double bytes = 0;
	int caches = 1, slower = 1;

	if (hu_ceiling_measure(&d) != HU_OK)
		bail_out("%s", hu_reason());
	is_text(d.id, "here", "the device of this machine");
	is_text(d.source, "measured now", "and where its rates are from");
	ok(*d.name && d.capability == 0, "its processor, which has no compute capability: %s", d.name);
	for (FILE *f = fopen("/proc/meminfo", "r"); f; f = NULL) {
		if (fscanf(f, "MemTotal: %lf kB", &bytes) != 1)
			bytes = 0;
		fclose(f);
	}
	if (bytes > 0)
		ok(fabs(d.gib - bytes / 0x1p20) < 0.01 * d.gib, "its memory, %.2f GiB, as in /proc/meminfo", d.gib);
	else
		skip(1, "/proc/meminfo is absent");
	if (hu_fma_peak() > 0)
		ok(d.fp32 > 0 && d.fp64 == d.fp32 / 2 && d.fp16 == d.fp32 && d.bf16 == d.fp32 && d.tf32 == d.fp32 &&
				d.fp8 == d.fp32,
			"a register has half as many doubles as floats, in which the small formats are computed");
	else
		ok(d.fp32 > 0 && d.fp64 > 0 && d.fp16 > 0 && d.bf16 > 0 && d.tf32 > 0 && d.fp8 > 0, "products' rates");
	for (int i = 0; i < HU_NEAR; i++) {
		caches &= d.near[i].bytes == ldexp(16384, 2 * i);
		slower &= d.near[i].gb_s > 0 && (!i || d.near[i].gb_s <= d.near[i - 1].gb_s);
	}
	ok(caches && HU_NEAR == 7, "caches of 16 KiB to 64 MiB, each four times the last");
	ok(slower, "of which none is faster than a nearer one: %.0f to %.0f GB/s", d.near[0].gb_s,
		d.near[HU_NEAR - 1].gb_s);
	/* Far beside what any processor of this century does; a factor that is forgotten is thousands. */
	ok(d.near[0].gb_s > d.near[HU_NEAR - 1].gb_s && d.near[0].gb_s < 1e5 && d.fp32 > 1e-4 && d.fp32 < 1e3,
		"%.4g GB/s from the nearest, faster than memory; %.4g TFLOP/s", d.near[0].gb_s, d.fp32);
	ok(d.launch_us > 0.01 && d.launch_us < 1e5, "the least that a call takes, in microseconds: %.3g", d.launch_us);
	return done_testing();
}
