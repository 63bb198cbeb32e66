/* SPDX-License-Identifier: Apache-2.0
   Decides whether a GPU can be used, from what the driver and the runtime say. It asks nothing itself, so that machines
   without a GPU can test it. */
#ifndef HU_CUDA_USABLE_H
#define HU_CUDA_USABLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Versions are numbered as CUDA does, 13000 for 13.0. driver is 0 if none is loaded. */
typedef struct hu_device_facts {
	int driver, runtime;
	int devices;
	const char *error;    /* the runtime's message if it gave no count; NULL: it did */
	const char *name;     /* of device 0 */
	int major, minor;     /* its compute capability */
	int image;            /* one of this build's kernels loads on it */
} hu_device_facts;

/* Returns 1 if device 0 can be used; why is then "". Otherwise returns 0 and writes to why[size] what is missing and
   what to do, as a sentence without its full stop. */
int hu_device_usable(const hu_device_facts *f, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
