/* SPDX-License-Identifier: Apache-2.0
   HU_INLINE marks a function that is part of each of its callers' loops: the compiler must put its body there, or
   a vector would pass through memory at every step. Where nothing is optimised (-O0) it stays a call: there the
   compiler gives each inlined body's variables room of their own, and thousands of bodies made frames of 45 MB,
   which a thread's stack does not hold. Optimising compilers let variables share their room. */
#ifndef HU_BASE_INLINE_H
#define HU_BASE_INLINE_H
#ifdef __OPTIMIZE__
#define HU_INLINE static inline __attribute__((always_inline, unused))
#else
#define HU_INLINE static inline __attribute__((unused))
#endif
#endif
