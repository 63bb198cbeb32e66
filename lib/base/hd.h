/* SPDX-License-Identifier: Apache-2.0
   HU_HD marks a function that is compiled for the host and, under nvcc, for the device too. HU_HD_CALL does the same,
   but on the device the function is called instead of inlined: it is for large functions with many callers, where
   compile time and code size matter more than speed. */
#ifndef HU_BASE_HD_H
#define HU_BASE_HD_H
#ifdef __CUDACC__
#define HU_HD static inline __host__ __device__
#define HU_HD_CALL static __noinline__ __host__ __device__ __attribute__((unused))
#else
#define HU_HD static inline __attribute__((unused))
#define HU_HD_CALL HU_HD
#endif
#endif
