/* SPDX-License-Identifier: Apache-2.0
   What the NVIDIA driver says of the machine's GPUs, through its library NVML. NVML is loaded at run time, so that a
   build without CUDA can tell as well; the environment variable HALFULP_NVML names another library, as it does for the
   energy meter. */
#ifndef HU_TRAINER_GPU_H
#define HU_TRAINER_GPU_H

#include <jansson.h>

/* Clocks are in MHz, the power limit in watts, memory in bytes; 0 or "" where NVML does not tell. capability is the
   compute capability times ten. cuda is the newest CUDA version that the driver supports, 13000 for 13.0. */
typedef struct hu_gpu {
	char name[96], uuid[96], driver[80];
	int cuda, capability;
	unsigned sm_mhz, memory_mhz, sm_max_mhz, memory_max_mhz;
	double bytes, power_limit;
} hu_gpu;

typedef struct hu_gpu_name { char name[96]; int capability; } hu_gpu_name;

/* Writes the first `max` of the GPUs that CUDA would show into list, in CUDA's order. Returns how many there are; 0
   where there is no GPU or no driver. */
int hu_gpu_list(hu_gpu_name *list, int max);

/* Fills *g for the GPU that CUDA numbers 0. Returns 1, or 0 with the reason in why, which has `size` bytes. */
int hu_gpu_find(hu_gpu *g, char *why, size_t size);

/* "NVIDIA H200, 9.0, GPU-..., driver 580.65, CUDA 13.0, 1980 MHz (memory 3201)": a table's header line. Returns
   `out`. */
const char *hu_gpu_text(const hu_gpu *g, char *out, size_t size);
json_t *hu_gpu_to_json(const hu_gpu *g);
#endif
