/* SPDX-License-Identifier: Apache-2.0
   HU_HD marks a function that is compiled for the host and, under nvcc, for the device too. */
#ifndef HU_BASE_HD_H
#define HU_BASE_HD_H
#ifdef __CUDACC__
#define HU_HD static inline __host__ __device__
#else
#define HU_HD static inline __attribute__((unused))
#endif
#endif
