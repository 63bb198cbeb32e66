/* SPDX-License-Identifier: Apache-2.0
   halfulp doctor: what this machine and this build can run. */
#include "cuda/device.h"
#include "lib/base/build.h"
#include "lib/base/opt.h"
#include "lib/base/thread.h"
#include "lib/number/simd.h"
#include "lib/program/backend.h"
#include "trainer/manifest.h"

#include <gmp.h>
#include <mpfr.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

static const hu_opt opts[] = {
	{ "json", NULL, NULL, "print JSON" },
	{ NULL, NULL, NULL, NULL }
};

/* First line of `gnuplot --version`, or NULL where it does not run. */
static const char *
gnuplot_version(void)
{
	static char line[128];
	char command[4200];
	const char *path = hu_build_gnuplot();

	if (strchr(path, '\'') || strlen(path) > 4096)
		return NULL;
	snprintf(command, sizeof command, "'%s' --version 2>/dev/null", path);
	FILE *f = popen(command, "r");
	if (!f)
		return NULL;
	int some = fgets(line, sizeof line, f) != NULL;
	int failed = pclose(f) != 0;
	line[strcspn(line, "\n")] = 0;
	return some && !failed ? line : NULL;
}

static const char *
simd_levels(void)
{
	static char s[128];

	s[0] = 0;
	for (int i = 0; i < HU_SIMDS; i++)
		if (hu_simd_has((hu_simd)i))
			snprintf(s + strlen(s), sizeof s - strlen(s), "%s%s", *s ? ", " : "", hu_simd_name_of((hu_simd)i));
	return s;
}

static json_t *
backends(void)
{
	json_t *a = json_array();

	for (int i = 0; hu_backend_at(i); i++)
		json_array_append_new(a, json_string(hu_backend_at(i)->name));
	return a;
}

static json_t *
device_list(int n)
{
	json_t *a = json_array();
	char name[128];

	for (int i = 0; i < n && hu_device_name(i, name, sizeof name); i++)
		json_array_append_new(a, json_string(name));
	return a;
}

static int
run(const hu_args *a)
{
	double ram = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE), available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
	const char *gnuplot = gnuplot_version();
	char xxhash[24], text[2][16], device[128];
	int devices = hu_device_count();
	size_t i;
	json_t *name;

	if (a->nrest)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': doctor takes no argument", a->rest[0]));
	snprintf(xxhash, sizeof xxhash, "%u.%u.%u", XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100, XXH_versionNumber() % 100);
	json_t *j = json_pack("{s:s s:s s:s s:s s:i s:s s:s s:f s:f s:b s:o s:o s:s s:s s:s s:s s:s s:s?}", "halfulp", hu_build_version(), "compiler", hu_build_compiler(), "system", hu_machine_system(), "processor", hu_machine_processor(), "threads", hu_threads(), "simd", hu_simd_name(), "simd_levels", simd_levels(), "ram_bytes", ram, "ram_free_bytes", available, "cuda_built", hu_cuda_built(), "devices", device_list(devices), "backends", backends(), "mpfr", mpfr_get_version(), "gmp", gmp_version, "zlib", zlibVersion(), "jansson", jansson_version_str(), "xxhash", xxhash, "gnuplot", gnuplot);
	if (hu_args_given(a, "json")) {
		json_dumpf(j, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(j);
		return HU_EXIT_OK;
	}
	printf("halfulp     %s, built with %s\n", hu_build_version(), hu_build_compiler());
	printf("system      %s\n", hu_machine_system());
	printf("processor   %s, %d threads, SIMD %s (has %s)\n", hu_machine_processor(), hu_threads(), hu_simd_name(), simd_levels());
	printf("memory      %s, %s free\n", hu_bytes_text(ram, text[0], 16), hu_bytes_text(available, text[1], 16));
	printf("CUDA        %s%s%s\n", hu_cuda_built() ? "in this build" : "not in this build", devices ? "" : "; no device: ", devices ? "" : hu_device_why());
	for (int k = 0; k < devices && hu_device_name(k, device, sizeof device); k++)
		printf("device %d    %s\n", k, device);
	printf("back ends  ");
	json_array_foreach(json_object_get(j, "backends"), i, name)
		printf(" %s", json_string_value(name));
	printf("\nlibraries   MPFR %s, GMP %s, zlib %s, Jansson %s, xxHash %s\n", mpfr_get_version(), gmp_version, zlibVersion(), jansson_version_str(), xxhash);
	printf("gnuplot     %s\n", gnuplot ? gnuplot : "does not run: `halfulp report` needs it (apt-get install gnuplot-nox, or set GNUPLOT)");
	json_decref(j);
	return HU_EXIT_OK;
}

const hu_command hu_cmd_doctor = {
	"doctor", "",
	"Say what this machine and this build can run.",
	NULL,
	opts, run
};
