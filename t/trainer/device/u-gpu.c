/* SPDX-License-Identifier: Apache-2.0
   What doctor says of a GPU: the verdict by compute capability, and a GPU's facts from a stub NVML
   library, whole and with functions missing. */
#include "cuda/device/capability.h"
#include "cuda/device/usable.h"
#include "trainer/device/gpu.h"
#include "trainer/device/keras.h"
#include "trainer/device/mixed.h"

#include "t/tool/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
verdicts(void)
{
	static const struct { int capability, fast, bf16; const char *features;
	} rows[] = {
		{ 0, 0, 0, "none" },
		{ 52, 0, 0, "none" },
		{ 61, 0, 0, "none" },
		{ 70, 0, 0, "blocks of 4" },
		{ 72, 0, 0, "blocks of 4" },
		{ 75, 1, 0, "blocks of 8" },
		{ 80, 1, 1, "bf16" },
		{ 86, 1, 1, "bf16" },
		{ 89, 1, 1, "fp8 by mma" },
		{ 90, 1, 1, "fp8 by wgmma" },
		{ 100, 1, 1, "tcgen05" },
		{ 103, 1, 1, "tcgen05" },
		{ 120, 1, 1, "fp4" },
		{ 121, 1, 1, "fp4" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int c = rows[i].capability;
		const char *v = hu_mixed_support(c);
		ok(hu_mixed_fast(c) == rows[i].fast && (strstr(v, "will run fast") != NULL) == rows[i].fast &&
				(strstr(v, "will not run fast") != NULL) == !rows[i].fast,
			"capability %d: %s", c, v);
		ok((strstr(v, "here for bf16") != NULL) == rows[i].bf16, "capability %d: bf16 %s", c,
			rows[i].bf16 ? "too" : "not");
		ok(strstr(hu_matrix_features(c), rows[i].features) != NULL, "capability %d: %s", c,
			hu_matrix_features(c));
	}
	ok(strstr(hu_matrix_features(120), "tcgen05") == NULL && strstr(hu_matrix_features(89), "wgmma") == NULL,
		"no capability has another's instructions");
	ok(strstr(hu_mixed_support(0), "processor") != NULL && strstr(hu_mixed_support(61), "7.0") != NULL,
		"without a GPU the processor is named, with an old one the limit");
}

/* What doctor says of a GPU and what the back end does with it, over every capability there is or may be. */
static void
one_table(void)
{
	int least = hu_capability_first(HU_KERNELS_SIMT), agree = 1, told = 1, worse = 1;
	char need[40], why[256];

	snprintf(need, sizeof need, "need %d.%d", least / 10, least % 10);
	for (int c = 10; c < 200; c++) {
		hu_device_facts f = { 13000, 13000, 1, NULL, "a GPU", c / 10, c % 10, 1 };
		int usable = hu_device_usable(&f, why, sizeof why), refused = strstr(why, "and kernels need") != NULL;
		char verdict[400];
		snprintf(verdict, sizeof verdict, "%s", hu_mixed_support(c));
		agree &= usable == (c >= least) && refused == !usable && (!hu_mixed_fast(c) || usable) &&
			 (!strstr(verdict, "will run fast") || usable);
		told &= (strstr(verdict, "halfulp's kernels need") || strstr(verdict, "whose kernels need")) == !usable;
		told &= usable || (c >= 70 ? strstr(verdict, "kernels need compute capability 7.5")
					   : strstr(verdict, need)) != NULL;
		worse &= hu_capability_of(c)->kernels >= hu_capability_of(c - 1)->kernels &&
			 hu_capability_of(c)->from <= c;
		if (!(agree && told && worse)) {
			diag("capability %d: %s; %s", c, verdict, why);
			break;
		}
	}
	ok(agree, "where doctor promises speed the back end takes the GPU, at every capability");
	ok(told, "and where it refuses one doctor says which it needs");
	ok(worse, "a newer capability has no fewer kernels");
}

/* keras/mixed_precision/device_compatibility_check.py of Keras 2.x, each of its six cases. */
static void
keras(void)
{
	static const char suffix[] =
		"If you will use compatible GPU(s) not attached to this host, e.g. by running a multi-worker model, "
		"you can ignore this warning. This message will only be logged once";
	static const char see[] = "See https://developer.nvidia.com/cuda-gpus for a list of GPUs and their compute "
				  "capabilities.\n";
	static const struct { hu_gpu_name g[4]; int n; const char *first, *list;
	} rows[] = {
		{ { { "", 0 } }, 0,
			"Mixed precision compatibility check (mixed_float16): WARNING\nThe dtype policy mixed_float16 "
			"may run slowly because this machine does not have a GPU. Only Nvidia GPUs with compute "
			"capability of at least 7.0 run quickly with mixed_float16.\n",
			NULL },
		{ { { "Tesla V100-SXM2-16GB", 70 } }, 1,
			"Mixed precision compatibility check (mixed_float16): OK\nYour GPU will likely run quickly "
			"with dtype policy mixed_float16 as it has compute capability of at least 7.0. Your GPU: Tesla "
			"V100-SXM2-16GB, compute capability 7.0",
			"" },
		{ { { "A", 70 }, { "B", 121 } }, 2,
			"Mixed precision compatibility check (mixed_float16): OK\nYour GPUs will likely run quickly "
			"with dtype policy mixed_float16 as they all have compute capability of at least 7.0",
			"" },
		{ { { "Tesla K80", 37 } }, 1,
			"Mixed precision compatibility check (mixed_float16): WARNING\nYour GPU may run slowly with "
			"dtype policy mixed_float16 because it does not have compute capability of at least 7.0. Your "
			"GPU:\n",
			"  Tesla K80, compute capability 3.7\n" },
		{ { { "Tesla K80", 37 }, { "Tesla K80", 37 }, { "Radeon", 0 } }, 3,
			"Mixed precision compatibility check (mixed_float16): WARNING\nYour GPUs may run slowly with "
			"dtype policy mixed_float16 because they do not have compute capability of at least 7.0. Your "
			"GPUs:\n",
			"  Tesla K80, compute capability 3.7 (x2)\n  Radeon, no compute capability (probably not an "
			"Nvidia GPU)\n" },
		{ { { "P100", 60 }, { "V100", 70 }, { "P100", 60 }, { "V100", 70 } }, 4,
			"Mixed precision compatibility check (mixed_float16): WARNING\nSome of your GPUs may run "
			"slowly with dtype policy mixed_float16 because they do not all have compute capability of at "
			"least 7.0. Your GPUs:\n",
			"  V100, compute capability 7.0 (x2)\n  P100, compute capability 6.0 (x2)\n" },
	};
	char want[1200];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		hu_str s;
		hu_str_init(&s);
		hu_keras_check(&s, rows[i].g, rows[i].n);
		int warned = !rows[i].list || *rows[i].list;
		snprintf(want, sizeof want, "%s%s%s%s", rows[i].first, rows[i].list ? rows[i].list : "",
			rows[i].list && *rows[i].list ? see : "", warned ? suffix : "");
		is_text(s.s, want, "Keras's words for %d GPUs", rows[i].n);
		hu_str_release(&s);
	}
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
	"int nvmlDeviceGetHandleByUUID(const char *u, void **d) { static int x; *d = &x; return strcmp(u, \"GPU-abc\") "
	"!= 0; }\n"
	"int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)d; strncpy(s, \"Stub 1000\", n); return 0; }\n"
	"#ifndef FEW\n"
	"int nvmlDeviceGetUUID(void *d, char *s, unsigned n) { (void)d; strncpy(s, \"GPU-abc\", n); return 0; }\n"
	"int nvmlSystemGetDriverVersion(char *s, unsigned n) { strncpy(s, \"580.65.06\", n); return 0; }\n"
	"int nvmlSystemGetCudaDriverVersion(int *v) { *v = 13000; return 0; }\n"
	"int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) { (void)d; *a = 12; *b = 1; return 0; }\n"
	"int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) { (void)d; m[0] = 1ull << 34; m[1] = m[2] = 1ull "
	"<< 33; return 0; }\n"
	"int nvmlDeviceGetEnforcedPowerLimit(void *d, unsigned *mw) { (void)d; *mw = 700000; return 0; }\n"
	"int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz) { (void)d; *mhz = which == 1 ? 1500 : which == "
	"2 ? 2600 : 7; return 0; }\n"
	"int nvmlDeviceGetMaxClockInfo(void *d, int which, unsigned *mhz) { (void)d; *mhz = which == 1 ? 1980 : which "
	"== 2 ? 3201 : 7; return 0; }\n"
	"#endif\n";

static void
facts(void)
{
	hu_gpu g;
	char why[256], text[256];

	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("HALFULP_NVML", "./whole.so", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !*why && g.capability == 121 && g.cuda == 13000 && g.bytes == 0x1p34 &&
			g.power_limit == 700,
		"a GPU's capability, driver, memory and power limit");
	is_text(hu_gpu_text(&g, text, sizeof text),
		"Stub 1000, 12.1, GPU-abc, driver 580.65.06, CUDA 13.0, 1500 of 1980 MHz, memory 2600 of 3201",
		"and all of it in a line");
	ok(strlen(hu_gpu_text(&g, text, 24)) == 23, "a short line is cut");
	setenv("CUDA_VISIBLE_DEVICES", "GPU-abc,GPU-def", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !strcmp(g.uuid, "GPU-abc"), "found by its UUID");
	setenv("CUDA_VISIBLE_DEVICES", "GPU-xyz", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no GPU"), "a UUID that is not there: %s", why);
	hu_gpu_name list[3];
	setenv("CUDA_VISIBLE_DEVICES", "1,GPU-abc,1,0,1", 1);
	ok(hu_gpu_list(list, 3) == 3 && list[2].capability == 121 && !strcmp(list[1].name, "Stub 1000"),
		"all that CUDA would show, up to the first that is none");
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	ok(hu_gpu_list(list, 3) == 0 && !hu_gpu_find(&g, why, sizeof why), "none where all are hidden: %s", why);
	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	setenv("HALFULP_NVML", "./few.so", 1);
	ok(hu_gpu_find(&g, why, sizeof why) && !g.capability && !*g.uuid && !*g.driver && !g.sm_mhz &&
			!strcmp(g.name, "Stub 1000"),
		"what an old library does not tell stays empty");
	setenv("HALFULP_NVML", "./none.so", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no driver"), "no driver: %s", why);
	setenv("HALFULP_NVML", "./no-such.so", 1);
	ok(!hu_gpu_find(&g, why, sizeof why) && strstr(why, "no NVIDIA driver"), "no library: %s", why);
}

int
main(void)
{
	verdicts();
	one_table();
	keras();
	if (chdir(test_dir()))
		bail_out("no folder");
	put("stub.c", stub);
	if (compile("stub.c", "whole.so", "-DNO_DRIVER=0") && compile("stub.c", "few.so", "-DNO_DRIVER=0 -DFEW") &&
		compile("stub.c", "none.so", "-DNO_DRIVER=9"))
		facts();
	else
		skip(10, "no compiler for the stub library");
	return done_testing();
}
