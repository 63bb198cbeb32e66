/* SPDX-License-Identifier: Apache-2.0
   NumPy's .npy files, versions 1 to 3: one array of real numbers, read whole. Objects, structured types, text and
   complex numbers are refused; npz.h reads .npz files. */
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
	void *map;                  /* of hu_npy_map: the file, of so many bytes, in which data lies; else NULL */
	size_t mapped;
} hu_npy;

/* Reads path and checks all of it: magic, version, header, and that the data ends with the file. Big-endian arrays are
   swapped, Fortran-ordered ones transposed. HU_EFILE says what is wrong and at which byte; *a then needs no release. */
hu_status hu_npy_read(hu_npy *a, const char *path);

/* The same, but the array stays in the file, of which only what is looked at is read, where the file has it as *a
   does. */
hu_status hu_npy_map(hu_npy *a, const char *path);

/* The same as hu_npy_read for n bytes in memory, which are copied. name appears in messages. */
hu_status hu_npy_parse(hu_npy *a, const char *name, const void *bytes, size_t n);
void hu_npy_release(hu_npy *a);

/* Reads only the header: sets all of *a but data, which becomes NULL, from the first n bytes of a file of all bytes; n
   of HU_NPY_HEAD, or the whole file, is enough. *start gets the offset of the data. *plain is 1 if the data is stored
   exactly as *a would have it. HU_EFILE as above. */
enum { HU_NPY_HEAD = 70000 };
hu_status hu_npy_head(
	hu_npy *a, const char *name, const void *bytes, size_t n, size_t all, size_t *start, int *plain);

/* Element i as a double. It is exact for every dtype but i8 and u8 beyond 2^53, which are rounded to nearest. */
double hu_npy_real(const hu_npy *a, size_t i);
/* The same of n elements from i on. */
void hu_npy_reals(const hu_npy *a, size_t i, size_t n, double *x);

/* Writes a row-major array atomically as version 1.0. dtype is f or u followed by the width. The same arguments give
   the same bytes. */
hu_status hu_npy_write(const char *path, const char *dtype, int rank, const size_t *shape, const void *data);
#endif
