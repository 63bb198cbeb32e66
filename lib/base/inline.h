/* SPDX-License-Identifier: Apache-2.0
   HU_INLINE marks a function that must be inlined into its callers' loops, because a call would pass vector registers
   through memory at every step. Without optimisation (-O0) it stays a call: at -O0 the compiler gives the variables
   of each inlined body stack space of their own, and thousands of bodies made frames of 45 MB, more than a thread's
   stack holds. Optimising compilers let the bodies share that space. */
#ifndef HU_BASE_INLINE_H
#define HU_BASE_INLINE_H
#ifdef __OPTIMIZE__
#define HU_INLINE static inline __attribute__((always_inline, unused))
#else
#define HU_INLINE static inline __attribute__((unused))
#endif
#endif
