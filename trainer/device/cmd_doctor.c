/* SPDX-License-Identifier: Apache-2.0
   halfulp doctor: reports what this machine and this build can run. */
#include "cuda/device/device.h"
#include "cuda/nccl/nccl.h"
#include "lib/base/console/show_json.h"
#include "lib/base/build.h"
#include "lib/base/console/opt.h"
#include "lib/base/ranks/ranks.h"
#include "lib/base/table/bytes.h"
#include "lib/base/thread.h"
#include "lib/exact/blas.h"
#include "lib/number/simd.h"
#include "lib/program/spread/backend.h"
#include "trainer/device/gpu.h"
#include "trainer/device/keras.h"
#include "trainer/device/mixed.h"
#include "trainer/energy/energy.h"
#include "trainer/record/machine.h"

#include <gmp.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

static const hu_opt opts[] = { { "json", NULL, NULL, "print an object with the same findings" },
	{ NULL, NULL, NULL, NULL } };

/* Returns the first line of `gnuplot --version`, or NULL where it does not run. */
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
			snprintf(s + strlen(s), sizeof s - strlen(s), "%s%s", *s ? ", " : "",
				hu_simd_name_of((hu_simd)i));
	return s;
}

static json_t *
backends(void)
{
	json_t *a = json_array();

	for (int i = 0; hu_backend_at(i); i++)
		if (hu_backend_at(i)->built)
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

/* Returns the first line of `nvcc --version` that names a release, from $PATH or from where the toolkit installs
   itself; NULL where none runs. */
static const char *
toolkit(void)
{
	static char release[64];
	char line[256];
	FILE *f = popen("{ nvcc --version || \"${CUDA_HOME:-/usr/local/cuda}/bin/nvcc\" --version; } 2>/dev/null", "r");

	*release = 0;
	while (f && fgets(line, sizeof line, f)) {
		const char *at = strstr(line, "release ");
		if (at && !*release)
			snprintf(release, sizeof release, "%.*s", (int)strcspn(at + 8, ",\n"), at + 8);
	}
	if (f)
		pclose(f);
	return *release ? release : NULL;
}

/* Lists the energy meters: what each counts, or why it does not work. */
static json_t *
meters(void)
{
	json_t *list = json_array();
	char what[128], why[256];

	for (int i = 0; hu_meter_at(i); i++) {
		const hu_meter *m = hu_meter_at(i);
		*what = *why = 0;
		void *state = m->open(what, sizeof what, why, sizeof why);
		json_array_append_new(list, json_pack("{s:s s:b s:s}", "meter", m->name, "works", state != NULL, "what",
						    state ? what : why));
		if (state)
			m->close(state);
	}
	return list;
}

/* Lists what this build lacks, and how to get it. */
static json_t *
missing(const char *gnuplot, const char *nvcc, int gpu)
{
	json_t *list = json_array();
	const hu_backend *shim;

	if (!gnuplot)
		json_array_append_new(list, json_string("gnuplot does not run: `halfulp report` needs it (apt-get "
							"install gnuplot-nox, or set GNUPLOT)"));
	if (!hu_cuda_built())
		json_array_append_new(
			list, json_sprintf("the CUDA back end%s: %s", gpu ? ", though there is a GPU" : "",
				      nvcc ? "configure --with-cuda=yes, since nvcc is here"
					   : "install the CUDA toolkit (nvcc), then configure --with-cuda=yes"));
	if (hu_backend_find("shim", &shim) == HU_OK && !shim->built)
		json_array_append_new(list, json_string("the kernels on the host (--backend shim): configure found no "
							"C++ compiler (apt-get install g++)"));
	if (!hu_blas_works())
		json_array_append_new(list, json_string("a BLAS for the exact engine's largest products (apt-get "
							"install libopenblas0, or set HALFULP_BLAS)"));
	return list;
}

/* Says whether the driver can run programs that were built with toolkit ("13.0"): within a major version every driver
   can. */
static const char *
driver_verdict(const hu_gpu *g, const char *toolkit)
{
	if (!g->cuda)
		return "the driver does not say which CUDA it knows";
	if (toolkit && atoi(toolkit) > g->cuda / 1000)
		return "too old for this toolkit: update the driver";
	return "new enough";
}

/* Keras's message for this machine. */
static json_t *
keras(void)
{
	enum { SHOWN = 64 };
	hu_gpu_name g[SHOWN];
	hu_str s;
	int n = hu_gpu_list(g, SHOWN);

	hu_str_init(&s);
	hu_keras_check(&s, g, n < SHOWN ? n : SHOWN);
	json_t *j = json_string(s.s);
	hu_str_release(&s);
	return j;
}

/* What connects several processes, and GPUs of several. */
static json_t *
ranks(void)
{
	char *module = hu_ranks_module(), nccl[48];
	int built = module && !access(module, R_OK), found = hu_nccl_find(nccl, sizeof nccl);
	json_t *j = json_pack("{s:s? s:s?}", "mpi", built ? module : NULL, "nccl", found ? nccl : NULL);

	free(module);
	return j;
}

static json_t *
collect(void)
{
	double ram = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE),
	       available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
	const char *gnuplot = gnuplot_version(), *nvcc = toolkit();
	char xxhash[24], why[256];
	int devices = hu_device_count();
	hu_gpu g;
	int gpu = hu_gpu_find(&g, why, sizeof why);

	snprintf(xxhash, sizeof xxhash, "%u.%u.%u", XXH_versionNumber() / 10000, XXH_versionNumber() / 100 % 100,
		XXH_versionNumber() % 100);
	json_t *j = json_pack("{s:s s:s s:s s:s s:i s:s s:s s:f s:f s:b s:o s:o s:s s:s s:s s:s s:s s:s?}", "halfulp",
		hu_build_version(), "compiler", hu_build_compiler(), "system", hu_machine_system(), "processor",
		hu_machine_processor(), "threads", hu_threads(), "simd", hu_simd_name(), "simd_levels", simd_levels(),
		"ram_bytes", ram, "ram_free_bytes", available, "cuda_built", hu_cuda_built(), "devices",
		device_list(devices), "backends", backends(), "mpfr", mpfr_get_version(), "gmp", gmp_version, "zlib",
		zlibVersion(), "jansson", jansson_version_str(), "xxhash", xxhash, "gnuplot", gnuplot);
	json_t *more = json_pack("{s:s s:s? s:o s:s s:s s:s s:b s:s s:s s:o s:o}", "cuda",
		devices ? "" : hu_device_why(), "toolkit", nvcc, "gpu", gpu ? hu_gpu_to_json(&g) : json_null(),
		"gpu_why", why, "driver_verdict", gpu ? driver_verdict(&g, nvcc) : "no driver", "mixed_precision",
		hu_mixed_support(gpu ? g.capability : 0), "mixed_precision_fast", gpu && hu_mixed_fast(g.capability),
		"matrix_units", hu_matrix_features(gpu ? g.capability : 0), "blas", hu_blas_describe(), "meters",
		meters(), "missing", missing(gnuplot, nvcc, gpu));
	json_object_set_new(more, "keras", keras());
	json_object_update_new(more, ranks());
	json_object_update(j, more);
	json_decref(more);
	return j;
}

static const char *
get(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

static void
print_gpu(const json_t *j)
{
	const json_t *g = json_object_get(j, "gpu"), *name;
	char text[16];
	size_t i;

	if (json_is_object(g)) {
		int capability = (int)json_integer_value(json_object_get(g, "capability")),
		    cuda = (int)json_integer_value(json_object_get(g, "cuda"));
		printf("GPU         %s, compute capability %d.%d, %s, %s\n", get(g, "name"), capability / 10,
			capability % 10, hu_bytes_text(json_real_value(json_object_get(g, "bytes")), text, sizeof text),
			get(g, "uuid"));
		printf("driver      %s, CUDA %d.%d: %s\n", get(g, "driver"), cuda / 1000, cuda % 1000 / 10,
			get(j, "driver_verdict"));
		printf("matrix      %s\n", get(j, "matrix_units"));
	} else {
		printf("GPU         none: %s\n", get(j, "gpu_why"));
	}
	printf("toolkit     %s\n", get(j, "toolkit") ? get(j, "toolkit") : "no nvcc found");
	printf("CUDA        %s%s%s\n", hu_cuda_built() ? "in this build" : "not in this build",
		*get(j, "cuda") && hu_cuda_built() ? "; not usable: " : "", hu_cuda_built() ? get(j, "cuda") : "");
	json_array_foreach(json_object_get(j, "devices"), i, name)
		printf("device %zu    %s\n", i, json_string_value(name));
	printf("Keras       (its own words when the policy mixed_float16 is set, tf.keras 2.x)\n");
	for (const char *s = get(j, "keras"); s; s = s[strcspn(s, "\n")] ? s + strcspn(s, "\n") + 1 : NULL)
		printf("            %.*s\n", (int)strcspn(s, "\n"), s);
	printf("verdict     %s\n", get(j, "mixed_precision"));
}

static void
print(const json_t *j)
{
	char text[2][16];
	const json_t *m;
	size_t i;

	printf("halfulp     %s, built with %s\n", get(j, "halfulp"), get(j, "compiler"));
	printf("system      %s\n", get(j, "system"));
	printf("processor   %s, %d threads, SIMD %s (this build uses %s here)\n", get(j, "processor"), hu_threads(),
		get(j, "simd"), get(j, "simd_levels"));
	printf("memory      %s, %s free\n",
		hu_bytes_text(json_real_value(json_object_get(j, "ram_bytes")), text[0], 16),
		hu_bytes_text(json_real_value(json_object_get(j, "ram_free_bytes")), text[1], 16));
	print_gpu(j);
	printf("back ends  ");
	json_array_foreach(json_object_get(j, "backends"), i, m) printf(" %s", json_string_value(m));
	putchar('\n');
	json_array_foreach(json_object_get(j, "meters"), i, m) printf("meter       %s: %s%s\n", get(m, "meter"),
		json_is_true(json_object_get(m, "works")) ? "" : "not available, ", get(m, "what"));
	printf("BLAS        %s\n", get(j, "blas"));
	printf("ranks       %s%s; %s\n", get(j, "mpi") ? "mpirun, by " : "this build has no MPI",
		get(j, "mpi") ? get(j, "mpi") : "",
		get(j, "nccl") ? get(j, "nccl") : "no NCCL for sums among GPUs (libnccl.so.2)");
	printf("libraries   MPFR %s, GMP %s, zlib %s, Jansson %s, xxHash %s\n", get(j, "mpfr"), get(j, "gmp"),
		get(j, "zlib"), get(j, "jansson"), get(j, "xxhash"));
	printf("gnuplot     %s\n", get(j, "gnuplot") ? get(j, "gnuplot") : "does not run");
	json_array_foreach(json_object_get(j, "missing"), i, m) printf("missing     %s\n", json_string_value(m));
}

static int
run(const hu_args *a)
{
	if (a->nrest)
		return hu_complain(hu_fail(HU_EINVAL, "'%s': doctor takes no argument", a->rest[0]));
	json_t *j = collect();
	if (hu_args_given(a, "json")) {
		hu_json_write(j, stdout, JSON_INDENT(1));
		putchar('\n');
	} else {
		print(j);
	}
	json_decref(j);
	return HU_EXIT_OK;
}

const hu_command hu_cmd_doctor = { "doctor", "",
	"say what this machine and this build can run, how fast mixed precision will be, and what is missing", NULL,
	opts, run, NULL, NULL };
