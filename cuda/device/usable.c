/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/device/usable.h"

#include "cuda/device/capability.h"

#include <stdio.h>

/* NVIDIA's first driver branch for each major version of CUDA. Within a major version a newer runtime runs on an older
   driver (CUDA Compatibility, "minor version compatibility"). */
static const struct { int major, branch; } branches[] = { { 11, 450 }, { 12, 525 }, { 13, 580 } };

static int
branch_of(int major)
{
	for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
		if (branches[i].major == major)
			return branches[i].branch;
	return 0;
}

static void
old_driver(const hu_device_facts *f, char *why, size_t size)
{
	int major = f->runtime / 1000, branch = branch_of(major), n;

	n = snprintf(why, size, "the driver knows CUDA %d.%d and this build was made with %d.%d: update the driver",
		f->driver / 1000, f->driver % 1000 / 10, major, f->runtime % 1000 / 10);
	if (branch && n > 0 && (size_t)n < size)
		snprintf(why + n, size - (size_t)n, " to %d or newer", branch);
}

int
hu_device_usable(const hu_device_facts *f, char *why, size_t size)
{
	int least = hu_capability_first(HU_KERNELS_SIMT);

	why[0] = 0;
	if (!f->driver)
		snprintf(why, size, "no NVIDIA driver is loaded");
	else if (f->driver / 1000 < f->runtime / 1000)
		old_driver(f, why, size);
	else if (f->error)
		snprintf(why, size, "the driver says: %s", f->error);
	else if (f->devices < 1)
		snprintf(why, size, "the driver shows no GPU (is CUDA_VISIBLE_DEVICES empty?)");
	else if (hu_capability_of(f->major * 10 + f->minor)->kernels == HU_KERNELS_NONE)
		snprintf(why, size, "%s has compute capability %d.%d, and kernels need %d.%d or newer", f->name,
			f->major, f->minor, least / 10, least % 10);
	else if (!f->image)
		snprintf(why, size,
			"this build has no kernels for compute capability %d.%d of %s: configure with "
			"CUDA_ARCH_FLAGS='-gencode arch=compute_%d%d,code=sm_%d%d'",
			f->major, f->minor, f->name, f->major, f->minor, f->major, f->minor);
	return !why[0];
}
