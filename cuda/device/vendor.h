/* SPDX-License-Identifier: Apache-2.0
   Loads NVIDIA's libraries when they are first needed, so that the program starts without them (cuda/cublas/cublas.c,
   cuda/nccl/nccl.c). names lists file names, the one that is wanted most first, and ends with NULL. */
#ifndef HU_CUDA_VENDOR_H
#define HU_CUDA_VENDOR_H

#include <stddef.h>

/* Opens the file that the environment variable names or, where it is unset and anywhere is not 0, the first of names
   that the dynamic linker finds or that lies in a place below. NULL where there is none; it is never closed. */
void *hu_vendor_open(const char *variable, const char *const *names, int anywhere);
/* Stores the address of a symbol in *function, a pointer to a function of any type (POSIX allows it, C does not).
   Returns 0 where the library has no such symbol. */
int hu_vendor_symbol(void *file, const char *name, void *function);
/* Lists up to most files that may be the library where the dynamic linker does not look, the likeliest first, and
   returns their number. The caller frees them. */
size_t hu_vendor_places(const char *const *names, char **path, size_t most);
#endif
