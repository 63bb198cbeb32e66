/* SPDX-License-Identifier: Apache-2.0
   Whether a GPU can be used, from what the driver and the runtime say: a decision apart from the
   asking, so that machines without a GPU test it. */
#ifndef HU_CUDA_VERDICT_H
#define HU_CUDA_VERDICT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Versions as CUDA numbers them, 13000 for 13.0; driver 0: none is loaded. */
typedef struct hu_device_facts {
	int driver, runtime;
	int devices;
	const char *error;    /* the runtime's words where it gave no count; NULL: it did */
	const char *name;     /* of device 0 */
	int major, minor;     /* its compute capability */
	int image;            /* one of this build's kernels loads on it */
} hu_device_facts;

/* 1 where device 0 can be used, and WHY is ""; else 0 and WHY[SIZE] is a sentence without its stop: what is missing and
   what to do. */
int hu_device_verdict(const hu_device_facts *f, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
