/* SPDX-License-Identifier: Apache-2.0
   Energy: a fake powercap tree with a known ramp and a counter that wraps, a stub NVML
   library with a known counter, both against the true joules to 1 % and better. The clock is the
   test's own, so a busy machine changes nothing. */
#include "trainer/energy/account.h"

#include "t/tool/tap.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double clock_now;
static double test_clock(void) { return clock_now; }

static void
put(const char *dir, const char *file, const char *text)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	FILE *f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		bail_out("cannot write %s", path);
}

static void
zone(const char *name, const char *kind, unsigned long long range, unsigned long long uj)
{
	char text[32];

	mkdir("powercap", 0755);
	mkdir(name, 0755);
	put(name, "name", kind);
	snprintf(text, sizeof text, "%llu\n", range);
	put(name, "max_energy_range_uj", text);
	snprintf(text, sizeof text, "%llu\n", uj);
	put(name, "energy_uj", text);
}

/* 50 W in package 0 and 10 W in its memory for 100 s, in reads of uneven length; package 0 wraps at 262.143328 J, ten
   times and more. The sub-zone "core" and psys run ten times as fast and must not count. */
static void
ramp(void)
{
	const unsigned long long range = 262143328, start = 262000000;
	hu_energy e;
	double joules = 0, worst = 0, early;

	zone("powercap/intel-rapl:0", "package-0\n", range, start);
	zone("powercap/intel-rapl:0:0", "core\n", range, 0);
	zone("powercap/intel-rapl:0:1", "dram\n", range, 5);
	zone("powercap/intel-rapl:1", "psys\n", range, 0);
	zone("powercap/intel-rapl-mmio:0", "package-0\n", range, start);
	setenv("HALFULP_POWERCAP", "powercap", 1);
	ok(hu_energy_open(&e, "auto", "cpu") == HU_OK && e.meter && !strcmp(e.meter->name, "rapl"),
		"auto: the processor's counter for the CPU back end");
	ok(strstr(e.what, "2 counters") != NULL,
		"package and memory count, cores, psys and the second view do not (%s)", e.what);
	e.now = test_clock;
	clock_now = 1000;
	ok(hu_energy_read(&e) == 0, "nothing spent before the first read");
	for (double t = 0; t < 100;) {
		t += t < 50 ? 0.25 : 3.7;
		unsigned long long uj = start + (unsigned long long)(50e6 * t);
		zone("powercap/intel-rapl:0", "package-0\n", range, uj % (range + 1));
		zone("powercap/intel-rapl:0:0", "core\n", range, (unsigned long long)(500e6 * t) % range);
		zone("powercap/intel-rapl:0:1", "dram\n", range, 5 + (unsigned long long)(10e6 * t));
		clock_now = 1000 + t;
		joules = hu_energy_read(&e);
		worst = fmax(worst, fabs(joules / (60 * t) - 1));
	}
	ok(worst < 1e-6, "60 W with wrap-arounds: worst relative error %.2g", worst);
	clock_now += 0.5;
	early = hu_energy_read(&e);
	ok(fabs(early - joules - 30) < 0.01, "between two jumps the power goes on: %.6g J in half a second",
		early - joules);
	clock_now += 100;
	ok(fabs(hu_energy_read(&e) - joules - 60) < 0.01, "but for a second at most: a dead counter does not count on");
	hu_energy_close(&e);
}

static void
absent(void)
{
	hu_energy e;
	hu_account a;
	json_t *m = json_object();

	setenv("HALFULP_POWERCAP", "no-such-folder", 1);
	ok(hu_energy_open(&e, "auto", "cpu") == HU_OK && !e.meter && hu_energy_read(&e) < 0 &&
			hu_energy_utilisation(&e) < 0,
		"no counter: not available, which is not 0 (%s)", e.why);
	ok(hu_energy_open(&e, "rapl", "cpu") == HU_EDEVICE, "a meter that was named must work: %s", hu_reason());
	ok(hu_energy_open(&e, "sundial", "cpu") == HU_EINVAL, "%s", hu_reason());
	ok(hu_account_open(&a, "auto", "cpu", 350) == HU_OK, "an account without a meter opens");
	hu_account_begin(&a, m, 0);
	hu_account_write(&a, m, 0.9);
	ok(!json_object_get(json_object_get(m, "energy"), "joules") &&
			!strcmp(json_string_value(json_object_get(json_object_get(m, "energy"), "meter")),
				"not available"),
		"and writes no number");
	hu_account_close(&a);
	json_decref(m);
}

/* 3.6 MJ are a kWh; an interrupted run goes on where it was. */
static void
account(void)
{
	hu_account a;
	json_t *m = json_object(), *e;
	double half;

	setenv("HALFULP_POWERCAP", "powercap", 1);
	for (int part = 0; part < 2; part++) {
		zone("powercap/intel-rapl:0", "package-0\n", 1ull << 62, 7);
		zone("powercap/intel-rapl:0:1", "dram\n", 1ull << 62, 0);
		ok(hu_account_open(&a, "rapl", "cpu", part ? -1 : 400) == HU_OK, "account, part %d", part);
		a.meter.now = test_clock;
		hu_account_begin(&a, m, 0);
		zone("powercap/intel-rapl:0", "package-0\n", 1ull << 62, 7 + 1800000000000ull);
		clock_now += 1;
		hu_account_write(&a, m, part ? 0.8 : 0);
		hu_account_close(&a);
		half = json_number_value(json_object_get(json_object_get(m, "energy"), "watt_hours"));
		ok(fabs(half - 500 * (part + 1)) < 1e-6, "%g Wh after part %d", half, part);
	}
	e = json_object_get(m, "energy");
	ok(fabs(json_number_value(json_object_get(e, "grams_co2")) - 400) < 1e-6,
		"one kWh at 400 g, the intensity kept over the interruption");
	ok(fabs(json_number_value(json_object_get(e, "grams_co2_per_accuracy")) - 500) < 1e-6,
		"500 g an accuracy of 1");
	hu_account_print(m, stderr);
	json_decref(m);
	for (int part = 0; part < 2; part++) { /* without an intensity; after a part that nobody measured */
		m = part ? json_pack("{s:{s:s}}", "energy", "meter", "not available") : json_object();
		zone("powercap/intel-rapl:0", "package-0\n", 1ull << 62, 7);
		ok(hu_account_open(&a, "rapl", "cpu", -1) == HU_OK, "an account without an intensity");
		a.meter.now = test_clock;
		hu_account_begin(&a, m, 0);
		clock_now += 1;
		hu_account_write(&a, m, 0.8);
		hu_account_close(&a);
		e = json_object_get(m, "energy");
		ok(!json_object_get(e, "grams_co2") && !json_object_get(e, "grams_co2_per_kwh"), "has no grams");
		ok((json_object_get(e, "joules") == NULL) == part, "and %s",
			part ? "no joules, since a part is missing" : "joules");
		json_decref(m);
	}
}

/* The stub counts 200 W in steps of 0.1 s, as GPUs do; UTILISATION 73 %. */
static void
gpu(const char *stub)
{
	hu_energy e;
	void (*set)(double), (*mode)(int);
	double sum = 0, last = 0, worst = 0;
	int falls = 0;

	setenv("HALFULP_NVML", stub, 1);
	void *lib = dlopen(stub, RTLD_NOW), *p = lib ? dlsym(lib, "stub_clock") : NULL,
	     *q = lib ? dlsym(lib, "stub_mode") : NULL;
	if (!p || !q)
		bail_out("%s: %s", stub, dlerror());
	memcpy(&set, &p, sizeof p);
	memcpy(&mode, &q, sizeof q);
	set(0);
	ok(hu_energy_open(&e, "auto", "cuda") == HU_OK && e.meter && !strcmp(e.meter->name, "nvml"),
		"auto: the GPU's counter for the CUDA back end (%s)", e.what);
	e.now = test_clock;
	clock_now = 0;
	hu_energy_read(&e);
	for (int i = 1; i <= 4000; i++) {
		clock_now = i * 0.013;
		set(clock_now);
		double j = hu_energy_read(&e);
		falls += j < last;
		sum += j - last;
		last = j;
		if (i > 400)
			worst = fmax(worst, fabs(sum / (200 * clock_now) - 1));
	}
	ok(worst < 0.01 && !falls,
		"steps of 13 ms on a counter of 100 ms: worst relative error of the sum %.2g, never falling", worst);
	ok(fabs(hu_energy_utilisation(&e) - 0.73) < 1e-12, "utilisation is the GPU's own figure");
	ok(hu_energy_utilisation(&e) < 0, "which says nothing of less than its period");
	hu_energy_mark(&e);
	clock_now += 0.9;
	double soon = hu_energy_utilisation(&e);
	clock_now += 0.2;
	ok(soon < 0 && hu_energy_utilisation(&e) > 0, "but of the second since the mark");
	hu_energy_close(&e);
	mode(1);
	ok(hu_energy_open(&e, "nvml", "cuda") == HU_OK && strstr(e.what, "power over time"),
		"without a counter, power is integrated (%s)", e.what);
	hu_energy_close(&e);
	mode(2);
	ok(hu_energy_open(&e, "nvml", "cuda") == HU_EDEVICE, "without a driver: %s", hu_reason());
	setenv("HALFULP_NVML", "./no-such-library.so", 1);
	ok(hu_energy_open(&e, "auto", "cuda") == HU_OK && !e.meter && strstr(e.why, "NVML"), "without the library: %s",
		e.why);
}

static const char stub_source[] =
	"#include <string.h>\n"
	"static double now; static int mode;\n"
	"void stub_clock(double t) { now = t; }\n"
	"void stub_mode(int m) { mode = m; }\n"
	"int nvmlInit_v2(void) { return mode == 2 ? 9 : 0; }\n"
	"int nvmlShutdown(void) { return 0; }\n"
	"int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { static int x; *d = &x; return i != 0; }\n"
	"int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)d; strncpy(s, \"Stub 1000\", n); return 0; }\n"
	"int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) { (void)d; *mw = 200000; return 0; }\n"
	"int nvmlDeviceGetTotalEnergyConsumption(void *d, unsigned long long *mj) { (void)d; *mj = 77 + (unsigned long "
	"long)(now / 0.1 + 1e-9) * 20000; return mode == 1 ? 3 : 0; }\n"
	"int nvmlDeviceGetUtilizationRates(void *d, unsigned *r) { (void)d; r[0] = 73; r[1] = 10; return 0; }\n";

int
main(void)
{
	const char *cc = getenv("CC");
	char command[512];

	unsetenv("CUDA_VISIBLE_DEVICES");
	if (chdir(test_dir()))
		bail_out("no folder");
	ramp();
	absent();
	account();
	put(".", "stub.c", stub_source);
	snprintf(command, sizeof command, "%.300s -shared -fPIC -o stub.so stub.c", cc && *cc ? cc : "cc");
	if (system(command))
		skip(5, "no compiler for the stub library");
	else
		gpu("./stub.so");
	return done_testing();
}
