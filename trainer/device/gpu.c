/* SPDX-License-Identifier: Apache-2.0
   Loads NVML and asks it about GPUs. Signatures are as in NVIDIA's NVML API reference. */
#include "trainer/device/gpu.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device device;
typedef struct memory { unsigned long long total, free, used; } memory;
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

/* Stores dlsym's void * as a function pointer of any type, which POSIX allows and C does not. */
static int
symbol(void *library, const char *name, void *function)
{
	void *p = dlsym(library, name);

	memcpy(function, &p, sizeof p);
	return p != NULL;
}

/* Finds the device that CUDA calls i: entry i of CUDA_VISIBLE_DEVICES, by UUID or number, where that is set. An entry
   that is no device hides those after it. */
static device *
numbered_device(void *library, int i)
{
	int (*by_uuid)(const char *, device **), (*by_index)(unsigned, device **);
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	unsigned index = (unsigned)i;
	device *d = NULL;
	char uuid[96];

	for (; visible && i > 0; i--) {
		visible += strcspn(visible, ",");
		if (!*visible++)
			return NULL;
	}
	if (visible && (!strncmp(visible, "GPU-", 4) || !strncmp(visible, "MIG-", 4))) {
		snprintf(uuid, sizeof uuid, "%.*s", (int)strcspn(visible, ","), visible);
		return symbol(library, "nvmlDeviceGetHandleByUUID", &by_uuid) && by_uuid(uuid, &d) == 0 ? d : NULL;
	}
	if (visible) {
		if (!isdigit((unsigned char)*visible))
			return NULL;
		index = (unsigned)strtoul(visible, NULL, 10);
	}
	return symbol(library, "nvmlDeviceGetHandleByIndex_v2", &by_index) && by_index(index, &d) == 0 ? d : NULL;
}

static void
text(void *library, const char *name, device *d, char *out, unsigned size)
{
	int (*get)(device *, char *, unsigned);

	if (!symbol(library, name, &get) || get(d, out, size))
		*out = 0;
	out[size - 1] = 0;
}

static unsigned
clock_of(void *library, const char *name, device *d, int which)
{
	int (*get)(device *, int, unsigned *);
	unsigned mhz;

	return symbol(library, name, &get) && get(d, which, &mhz) == 0 ? mhz : 0;
}

/* Returns the compute capability times ten; 0 where NVML does not tell. */
static int
capability_of(void *library, device *d)
{
	int (*capability)(device *, int *, int *), major, minor;

	return symbol(library, "nvmlDeviceGetCudaComputeCapability", &capability) && capability(d, &major, &minor) == 0
		       ? 10 * major + minor
		       : 0;
}

static void
ask(hu_gpu *g, void *library, device *d)
{
	int (*version)(char *, unsigned), (*cuda)(int *), (*memory_of)(device *, memory *),
		(*limit)(device *, unsigned *);
	memory m;
	unsigned mw;

	text(library, "nvmlDeviceGetName", d, g->name, sizeof g->name);
	text(library, "nvmlDeviceGetUUID", d, g->uuid, sizeof g->uuid);
	if (!symbol(library, "nvmlSystemGetDriverVersion", &version) || version(g->driver, sizeof g->driver))
		*g->driver = 0;
	if (!symbol(library, "nvmlSystemGetCudaDriverVersion", &cuda) || cuda(&g->cuda))
		g->cuda = 0;
	g->capability = capability_of(library, d);
	if (symbol(library, "nvmlDeviceGetMemoryInfo", &memory_of) && memory_of(d, &m) == 0)
		g->bytes = (double)m.total;
	if (symbol(library, "nvmlDeviceGetEnforcedPowerLimit", &limit) && limit(d, &mw) == 0)
		g->power_limit = 1e-3 * mw;
	g->sm_mhz = clock_of(library, "nvmlDeviceGetClockInfo", d, CLOCK_SM);
	g->memory_mhz = clock_of(library, "nvmlDeviceGetClockInfo", d, CLOCK_MEMORY);
	g->sm_max_mhz = clock_of(library, "nvmlDeviceGetMaxClockInfo", d, CLOCK_SM);
	g->memory_max_mhz = clock_of(library, "nvmlDeviceGetMaxClockInfo", d, CLOCK_MEMORY);
}

/* Loads and starts NVML; returns NULL and the reason in why, of `size` bytes, where that fails. */
static void *
start(char *why, size_t size)
{
	const char *path = getenv("HALFULP_NVML");
	int (*init)(void), (*shutdown)(void);
	void *library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	*why = 0;
	if (!library) {
		snprintf(why, size, "no NVIDIA driver: %.200s", dlerror());
		return NULL;
	}
	if (symbol(library, "nvmlInit_v2", &init) && symbol(library, "nvmlShutdown", &shutdown) && !init())
		return library;
	snprintf(why, size, "NVML does not start: no driver is loaded");
	dlclose(library);
	return NULL;
}

static void
stop(void *library)
{
	int (*shutdown)(void);

	if (symbol(library, "nvmlShutdown", &shutdown))
		shutdown();
	dlclose(library);
}

int
hu_gpu_find(hu_gpu *g, char *why, size_t size)
{
	void *library = start(why, size);
	device *d = library ? numbered_device(library, 0) : NULL;

	memset(g, 0, sizeof *g);
	if (!library)
		return 0;
	if (d)
		ask(g, library, d);
	else
		snprintf(why, size, "the driver shows no GPU");
	stop(library);
	return d != NULL;
}

int
hu_gpu_list(hu_gpu_name *list, int max)
{
	enum { MOST = 1024 }; /* entries of CUDA_VISIBLE_DEVICES may repeat */
	char why[256];
	void *library = start(why, sizeof why);
	device *d;
	int n = 0;

	for (; library && n < MOST && (d = numbered_device(library, n)); n++)
		if (n < max) {
			text(library, "nvmlDeviceGetName", d, list[n].name, sizeof list[n].name);
			list[n].capability = capability_of(library, d);
		}
	if (library)
		stop(library);
	return n;
}

const char *
hu_gpu_text(const hu_gpu *g, char *out, size_t size)
{
	int n = snprintf(out, size, "%s, %d.%d", g->name, g->capability / 10, g->capability % 10);

#define MORE(...) if (n > 0 && (size_t)n < size) n += snprintf(out + n, size - (size_t)n, __VA_ARGS__)
	if (*g->uuid)
		MORE(", %s", g->uuid);
	if (*g->driver)
		MORE(", driver %s", g->driver);
	if (g->cuda)
		MORE(", CUDA %d.%d", g->cuda / 1000, g->cuda % 1000 / 10);
	if (g->sm_mhz)
		MORE(", %u of %u MHz, memory %u of %u", g->sm_mhz, g->sm_max_mhz, g->memory_mhz, g->memory_max_mhz);
#undef MORE
	return out;
}

json_t *
hu_gpu_to_json(const hu_gpu *g)
{
	return json_pack("{s:s s:s s:s s:i s:i s:i s:i s:i s:i s:f s:f}", "name", g->name, "uuid", g->uuid, "driver",
		g->driver, "cuda", g->cuda, "capability", g->capability, "sm_mhz", (int)g->sm_mhz, "memory_mhz",
		(int)g->memory_mhz, "sm_max_mhz", (int)g->sm_max_mhz, "memory_max_mhz", (int)g->memory_max_mhz, "bytes",
		g->bytes, "power_limit_watts", g->power_limit);
}
