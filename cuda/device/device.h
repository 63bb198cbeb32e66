/* SPDX-License-Identifier: Apache-2.0
   Finds the GPUs of this machine at run time: the same binary starts with a driver, without one, and if the build has
   no CUDA at all. */
#ifndef HU_CUDA_DEVICE_H
#define HU_CUDA_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if this build has the CUDA back end. */
int hu_cuda_built(void);

/* The number of usable devices. If it is 0, hu_device_why says what is missing (the build, the driver, or the
   device). */
int hu_device_count(void);

/* Writes device i's name and compute capability to name[size] ("NVIDIA H200, 9.0"). Returns 0 if there is no such
   device; name is then "". */
int hu_device_name(int i, char *name, size_t size);

/* Chooses the device of this process, for ranks that share a machine: number `place` modulo how many there are. Without
   it that is device 0. Call it before any other function of CUDA, which would occupy device 0. */
void hu_device_take(int place);
/* The number of that device. */
int hu_device_taken(void);

/* Why the last hu_device_count returned 0, as a static text; "" if it did not. */
const char *hu_device_why(void);

#ifdef __cplusplus
}
#endif
#endif
