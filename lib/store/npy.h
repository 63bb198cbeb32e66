/* SPDX-License-Identifier: Apache-2.0
   NumPy's .npy files, versions 1 to 3: one array of real numbers, read whole.
   No objects, no structured types, no text, no complex numbers; .npz is npz.h's. */
#ifndef HU_STORE_NPY_H
#define HU_STORE_NPY_H

#include "lib/base/status.h"

#include <stddef.h>

enum { HU_NPY_RANK = 8 };

typedef struct hu_npy {
	char dtype[4];              /* "f2" "f4" "f8" "i1" "i2" "i4" "i8" "u1" "u2" "u4" "u8" "b1" */
	size_t width;               /* bytes of an element */
	int rank;                   /* 0: a scalar */
	size_t shape[HU_NPY_RANK];
	size_t count;
	void *data;                 /* row-major and little endian, whatever the file had; owned, never NULL */
} hu_npy;

/* Reads PATH and checks all of it: magic, version, header, and that the data
   ends with the file. Big-endian arrays are swapped, Fortran-ordered ones
   transposed. HU_EFILE says what is wrong and at which byte; *A then needs no release. */
hu_status hu_npy_read(hu_npy *a, const char *path);

/* The same for N bytes in memory, which are copied from; NAME is for messages. */
hu_status hu_npy_parse(hu_npy *a, const char *name, const void *bytes, size_t n);
void hu_npy_release(hu_npy *a);

/* What stands before the data: all of *A but data, which is NULL, from the N bytes that are there of a file of ALL.
   *start: where the data begins. *plain: 1 where the data lies in the file as *A would have it. HU_EFILE as above; N of
   HU_NPY_HEAD or all bytes are enough. */
enum { HU_NPY_HEAD = 70000 };
hu_status hu_npy_head(
	hu_npy *a, const char *name, const void *bytes, size_t n, size_t all, size_t *start, int *plain);

/* Element I as a double: exact for every dtype but i8 and u8 beyond 2^53, which are rounded to nearest. */
double hu_npy_real(const hu_npy *a, size_t i);

/* Writes a row-major array atomically as version 1.0; DTYPE is f or u and the width. The same arguments give the same
   bytes. */
hu_status hu_npy_write(const char *path, const char *dtype, int rank, const size_t *shape, const void *data);
#endif
