/* SPDX-License-Identifier: Apache-2.0
   What a machine's NVIDIA driver says of its first GPU, through NVML, which is loaded when it is asked for: a build
   without CUDA can tell as well. HALFULP_NVML names another library, as for the energy meter. */
#ifndef HU_TRAINER_GPU_H
#define HU_TRAINER_GPU_H

#include <jansson.h>

/* Clocks in MHz, watts, bytes; 0 or "" where NVML does not tell. capability times ten. cuda: the newest CUDA that the
   driver knows, 13000 for 13.0. */
typedef struct hu_gpu {
	char name[96], uuid[96], driver[80];
	int cuda, capability;
	unsigned sm_mhz, memory_mhz, sm_max_mhz, memory_max_mhz;
	double bytes, power_limit;
} hu_gpu;

typedef struct hu_gpu_name { char name[96]; int capability; } hu_gpu_name;

/* All GPUs that CUDA would show, in its order, the first max into list; returns how many there are, 0 where none or no
   driver is. */
int hu_gpu_list(hu_gpu_name *list, int max);

/* 1 where there is one; else 0 and why[size] says what is missing. The GPU is the one that CUDA calls 0. */
int hu_gpu_find(hu_gpu *g, char *why, size_t size);

/* "NVIDIA H200, 9.0, GPU-..., driver 580.65, CUDA 13.0, 1980 MHz (memory 3201)": a table's header line. Returns
   `out`. */
const char *hu_gpu_text(const hu_gpu *g, char *out, size_t size);
json_t *hu_gpu_to_json(const hu_gpu *g);
#endif
