/* SPDX-License-Identifier: Apache-2.0
   What doctor says of a GPU: the verdict by compute capability, and a GPU's facts from a stub NVML
   library, whole and with functions missing. */
#include "trainer/device/gpu.h"
#include "trainer/device/verdict.h"

#include "t/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
verdicts(void)
{
	static const struct { int capability, fast, bf16; const char *features; } rows[] = {
		{ 0, 0, 0, "none" }, { 52, 0, 0, "none" }, { 61, 0, 0, "none" }, { 70, 1, 0, "blocks of 4" }, { 72, 1, 0, "blocks of 4" }, { 75, 1, 0, "blocks of 8" }, { 80, 1, 1, "bf16" }, { 86, 1, 1, "bf16" },
		{ 89, 1, 1, "fp8 by mma" }, { 90, 1, 1, "fp8 by wgmma" }, { 100, 1, 1, "tcgen05" }, { 103, 1, 1, "tcgen05" }, { 120, 1, 1, "fp4" }, { 121, 1, 1, "fp4" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int c = rows[i].capability;
		const char *v = hu_mixed_verdict(c);
		ok(hu_mixed_fast(c) == rows[i].fast && (strstr(v, "will run fast") != NULL) == rows[i].fast && (strstr(v, "will not run fast") != NULL) == !rows[i].fast, "capability %d: %s", c, v);
		ok((strstr(v, "here for bf16") != NULL) == rows[i].bf16, "capability %d: bf16 %s", c, rows[i].bf16 ? "too" : "not");
		ok(strstr(hu_matrix_features(c), rows[i].features) != NULL, "capability %d: %s", c, hu_matrix_features(c));
	}
	ok(strstr(hu_matrix_features(120), "tcgen05") == NULL && strstr(hu_matrix_features(89), "wgmma") == NULL, "no capability has another's instructions");
	ok(strstr(hu_mixed_verdict(0), "processor") != NULL && strstr(hu_mixed_verdict(61), "7.0") != NULL, "without a GPU the processor is named, with an old one the limit");
}

static void
put(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		bail_out("cannot write %s", file);
}

static int
compile(const char *source, const char *to, const char *flags)
{
	const char *cc = getenv("CC");
	char command[512];

	snprintf(command, sizeof command, "%.300s %s -shared -fPIC -o %s %s", cc && *cc ? cc : "cc", flags, to, source);
	return system(command) == 0;
}

static const char stub[] =
	"#include <string.h>\n"
	"int nvmlInit_v2(void) { return NO_DRIVER; }\n"
	"int nvmlShutdown(void) { return 0; }\n"
	"int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { static int x; *d = &x; return i != 1; }\n"
	"int nvmlDeviceGetHandleByUUID(const char *u, void **d) { static int x; *d = &x; return strcmp(u, \"GPU-abc\") != 0; }\n"
	"int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)d; strncpy(s, \"Stub 1000\", n); return 0; }\n"
	"#ifndef FEW\n"
	"int nvmlDeviceGetUUID(void *d, char *s, unsigned n) { (void)d; strncpy(s, \"GPU-abc\", n); return 0; }\n"
	"int nvmlSystemGetDriverVersion(char *s, unsigned n) { strncpy(s, \"580.65.06\", n); return 0; }\n"
	"int nvmlSystemGetCudaDriverVersion(int *v) { *v = 13000; return 0; }\n"
	"int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) { (void)d; *a = 12; *b = 1; return 0; }\n"
	"int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) { (void)d; m[0] = 1ull << 34; m[1] = m[2] = 1ull << 33; return 0; }\n"
	"int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mw) { (void)d; *mw = 700000; return 0; }\n"
	"int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz) { (void)d; *mhz = which == 1 ? 1500 : which == 2 ? 2600 : 7; return 0; }\n"
	"int nvmlDeviceGetMaxClockInfo(void *d, int which, unsigned *mhz) { (void)d; *mhz = which == 1 ? 1980 : which == 2 ? 3201 : 7; return 0; }\n"
	"#endif\n";

static void
facts(void)
{
	hu_gpu g;
	char why[256], text[256];

	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("HALFULP_NVML", "./whole.so", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !*why && g.capability == 121 && g.cuda == 13000 && g.bytes == 0x1p34 && g.power_limit == 700, "a GPU's capability, driver, memory and power limit");
	is_text(hu_gpu_text(&g, text, sizeof text), "Stub 1000, 12.1, GPU-abc, driver 580.65.06, CUDA 13.0, 1500 of 1980 MHz, memory 2600 of 3201", "and all of it in a line");
	ok(strlen(hu_gpu_text(&g, text, 24)) == 23, "a short line is cut");
	setenv("CUDA_VISIBLE_DEVICES", "GPU-abc,GPU-def", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !strcmp(g.uuid, "GPU-abc"), "found by its UUID");
	setenv("CUDA_VISIBLE_DEVICES", "GPU-xyz", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no GPU"), "a UUID that is not there: %s", why);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("HALFULP_NVML", "./few.so", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !g.capability && !*g.uuid && !*g.driver && !g.sm_mhz && !strcmp(g.name, "Stub 1000"), "what an old library does not tell stays empty");
	setenv("HALFULP_NVML", "./none.so", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no driver"), "no driver: %s", why);
	setenv("HALFULP_NVML", "./no-such.so", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no NVIDIA driver"), "no library: %s", why);
}

int
main(void)
{
	verdicts();
	if (chdir(test_dir()))
		bail_out("no folder");
	put("stub.c", stub);
	if (compile("stub.c", "whole.so", "-DNO_DRIVER=0") && compile("stub.c", "few.so", "-DNO_DRIVER=0 -DFEW") && compile("stub.c", "none.so", "-DNO_DRIVER=9"))
		facts();
	else
		skip(8, "no compiler for the stub library");
	return done_testing();
}
