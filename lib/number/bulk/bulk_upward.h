/* SPDX-License-Identifier: Apache-2.0
   Makes this thread's float operations round upward for a while, with subnormals kept. Memory accesses, and what is
   computed from them, stay between `upward` and `restore`: the compiler must not move them out. */
#ifndef HU_NUMBER_BULK_UPWARD_H
#define HU_NUMBER_BULK_UPWARD_H

#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned direction;

static inline __attribute__((unused)) direction
upward(void)
{
	direction before = _mm_getcsr();

	_mm_setcsr(_MM_MASK_MASK | _MM_ROUND_UP);
	__asm__ volatile("" ::: "memory");
	return before;
}

static inline __attribute__((unused)) void
restore(direction before)
{
	__asm__ volatile("" ::: "memory");
	_mm_setcsr(before);
}
#else
#include <fenv.h>

typedef fenv_t direction;

static inline __attribute__((unused)) direction
upward(void)
{
	direction before;

	feholdexcept(&before);
	fesetround(FE_UPWARD);
	__asm__ volatile("" ::: "memory");
	return before;
}

static inline __attribute__((unused)) void
restore(direction before)
{
	__asm__ volatile("" ::: "memory");
	fesetenv(&before);
}
#endif
#endif
