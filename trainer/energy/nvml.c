/* SPDX-License-Identifier: Apache-2.0
   The GPU's energy counter (Volta and newer) through NVML, which is loaded at run time, since a machine without a
   driver has no such library. Signatures are as in NVIDIA's NVML API reference. A GPU without the counter is asked for
   its power instead. */
#include "trainer/energy/energy.h"

#include "lib/base/mem.h"
#include "lib/base/terminal/progress.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct device device;
typedef struct rates { unsigned gpu, memory; } rates;

typedef struct nvml {
	void *library;
	device *device;
	int (*shutdown)(void);
	int (*energy)(device *, unsigned long long *);
	int (*power)(device *, unsigned *);
	int (*rates)(device *, rates *);
	int integrates;                    /* 1 where there is no counter: power is integrated over time, by
					      trapezoids */
	double sum, last, at;
} nvml;

/* Stores dlsym's void * as a function pointer of any type, which POSIX allows and C does not. */
static int
symbol(void *library, const char *name, void *function)
{
	void *p = dlsym(library, name);

	memcpy(function, &p, sizeof p);
	return p != NULL;
}

/* Finds the device that CUDA calls 0: the first of CUDA_VISIBLE_DEVICES, by UUID or number. */
static int
first_device(nvml *n)
{
	int (*by_uuid)(const char *, device **), (*by_index)(unsigned, device **);
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	char uuid[96];

	if (visible && !strncmp(visible, "GPU-", 4) && symbol(n->library, "nvmlDeviceGetHandleByUUID", &by_uuid)) {
		snprintf(uuid, sizeof uuid, "%.*s", (int)strcspn(visible, ","), visible);
		return by_uuid(uuid, &n->device) == 0;
	}
	return symbol(n->library, "nvmlDeviceGetHandleByIndex_v2", &by_index) &&
	       by_index(visible && isdigit((unsigned char)*visible) ? (unsigned)strtoul(visible, NULL, 10) : 0,
		       &n->device) == 0;
}

static int
power_watts(nvml *n, double *watts)
{
	unsigned mw;

	if (!n->power || n->power(n->device, &mw))
		return 0;
	*watts = 1e-3 * mw;
	return 1;
}

static const char *
connect(nvml *n, char *what, size_t what_size)
{
	int (*init)(void), (*name_of)(device *, char *, unsigned);
	unsigned long long mj;
	char name[96] = "GPU";

	if (!symbol(n->library, "nvmlInit_v2", &init) || !symbol(n->library, "nvmlShutdown", &n->shutdown) || init())
		return "NVML does not start: no driver is loaded";
	if (!first_device(n))
		return "NVML finds no GPU";
	if (symbol(n->library, "nvmlDeviceGetName", &name_of))
		name_of(n->device, name, sizeof name);
	symbol(n->library, "nvmlDeviceGetPowerUsage", &n->power);
	symbol(n->library, "nvmlDeviceGetUtilizationRates", &n->rates);
	if (!symbol(n->library, "nvmlDeviceGetTotalEnergyConsumption", &n->energy) || n->energy(n->device, &mj)) {
		n->integrates = 1;
		n->at = hu_now();
		if (!power_watts(n, &n->last))
			return "this GPU tells neither its energy nor its power";
	}
	snprintf(what, what_size, "NVML, %s%s", name,
		n->integrates ? ", power over time (it has no energy counter)" : "");
	return NULL;
}

static void
close_nvml(void *state)
{
	nvml *n = state;

	if (n->shutdown)
		n->shutdown();
	dlclose(n->library);
	free(n);
}

static void *
open_nvml(char *what, size_t what_size, char *why, size_t why_size)
{
	const char *path = getenv("HALFULP_NVML"), *failed;
	nvml *n;
	void *library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(why, why_size, "no NVML (%.200s)", dlerror());
		return NULL;
	}
	n = hu_xcalloc(1, sizeof *n);
	n->library = library;
	if ((failed = connect(n, what, what_size)) != NULL) {
		snprintf(why, why_size, "%s", failed);
		close_nvml(n);
		return NULL;
	}
	return n;
}

static double
joules(void *state)
{
	nvml *n = state;
	unsigned long long mj;
	double watts, now;

	if (!n->integrates)
		return n->energy(n->device, &mj) ? -1 : 1e-3 * (double)mj;
	if (!power_watts(n, &watts))
		return -1;
	now = hu_now();
	n->sum += 0.5 * (watts + n->last) * (now - n->at);
	n->last = watts;
	n->at = now;
	return n->sum;
}

/* The share of NVML's last sampling period, which is of a second at most. */
static double
utilisation(void *state)
{
	nvml *n = state;
	rates r;

	return n->rates && !n->rates(n->device, &r) ? 0.01 * r.gpu : -1;
}

const hu_meter hu_meter_nvml = { "nvml", 1, open_nvml, joules, utilisation, close_nvml };
