/* SPDX-License-Identifier: Apache-2.0
   Describes a matrix in device memory to bulk copies (bulk.h), and says how many blocks a device runs at once. Host
   code. */
#ifndef HU_CUDA_BULK_MAP_H
#define HU_CUDA_BULK_MAP_H

#include "cuda/base/launch.h"

enum { HU_BULK_LINE = 128 };

/* A kernel's parameter of HU_PARAM. On a GPU it is a CUtensorMap. */
#ifdef __CUDACC__
struct alignas(128) hu_bulk_map { unsigned char words[128]; };
#else
struct hu_bulk_map { const unsigned char *data; uint32_t size, columns, rows, count, apart, box; };
#endif

/* Makes the map of count matrices of rows x columns elements of 1 or 2 bytes, the elements of a row side by side, and
   apart elements from one matrix to the next. A copy takes box rows, at most 256, of HU_BULK_LINE bytes; what is
   outside the matrix arrives as zeros. Addresses and the distances of rows and matrices must be multiples of 16
   bytes. */
extern "C" hu_status HU_SIDE(bulk_map)(hu_bulk_map *map, const void *data, uint32_t size, uint32_t columns,
	uint32_t rows, uint32_t count, uint32_t apart, uint32_t box);

/* The multiprocessors of the device. */
extern "C" uint32_t HU_SIDE(multiprocessors)(void);
#endif
