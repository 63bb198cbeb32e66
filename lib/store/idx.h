/* SPDX-License-Identifier: Apache-2.0
   IDX files, the format of the MNIST family: a magic number, the dimensions, then bytes, plain or compressed by gzip.
   Only unsigned bytes and one to four dimensions are supported. */
#ifndef HU_STORE_IDX_H
#define HU_STORE_IDX_H

#include "lib/base/status.h"

#include <stddef.h>

typedef struct hu_idx {
	int rank;
	size_t shape[4];
	size_t count;               /* bytes of data */
	unsigned char *data;        /* row-major, owned */
} hu_idx;

/* Reads path, decompressing it if necessary, and checks magic number, dimensions, that the data ends with the file, and
   gzip's checksum. rank is the number of dimensions wanted. HU_EFILE says what is wrong; *x then needs no release. */
hu_status hu_idx_read(hu_idx *x, const char *path, int rank);
void hu_idx_release(hu_idx *x);

/* Reads an image file and a label file that belong together: three dimensions and one, equal counts, no empty image,
   every label below classes. */
hu_status hu_idx_read_pair(hu_idx *images, hu_idx *labels, const char *image_path, const char *label_path, int classes);
#endif
