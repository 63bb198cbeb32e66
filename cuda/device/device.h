/* SPDX-License-Identifier: Apache-2.0
   The GPUs of this machine, asked for at run time: one binary starts with a
   driver, without one, and where the build had no CUDA at all. */
#ifndef HU_CUDA_DEVICE_H
#define HU_CUDA_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 where this build has the CUDA back end. */
int hu_cuda_built(void);

/* The number of usable devices; 0 where there is none, and then hu_device_why
   says what is missing (the build, the driver, or the device). */
int hu_device_count(void);

/* Name of device I in NAME[SIZE], with its compute capability ("NVIDIA H200, 9.0").
   Returns 0 where there is no such device; NAME is then "". */
int hu_device_name(int i, char *name, size_t size);

/* Why the last hu_device_count gave 0: a static text, "" where it did not. */
const char *hu_device_why(void);

#ifdef __cplusplus
}
#endif
#endif
