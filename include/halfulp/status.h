/* SPDX-License-Identifier: Apache-2.0
   What every function of libhalfulp returns, and what holds for all of them.

   Failures. A function that can fail returns a status, and halfulp_reason() says in one line what was wrong, where, and
   what to do. After a failure results are unspecified, no handle was made, and handles that were there are as before.
   The library never ends the caller's process, and it prints nothing.

   Memory. What a function of the name halfulp_X_new, _parse, _dot or _judge makes belongs to the caller, who gives it
   back by halfulp_X_free, which takes NULL too. Arrays that are handed in are read during the call alone, unless it
   says that it copies them; results never overlap them unless it says so. Where a function fails for lack of memory,
   memory that it had taken until then may stay lost.

   Threads. Every function computes on the thread that calls it and starts none. Any number of threads may call at the
   same time. One handle may be read by several threads at once; while a thread changes it (halfulp_call_set,
   halfulp_call_operand) or frees it no other may use it. The results of a call never depend on what other threads do.

   Numbers. Results do not depend on the caller's rounding mode, flush-to-zero flags or MPFR settings, and these are as
   before when a function returns. errno is too.

   Versions. Functions, their arguments and the values of constants stay as they are as long as the library's file name
   does (libhalfulp.so.0); a later version may add some. */
#ifndef HALFULP_STATUS_H
#define HALFULP_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
#error "halfulp's numbers need IEEE arithmetic: compile without -ffast-math (-Ofast)"
#endif

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum halfulp_status {
	HALFULP_OK = 0,
	HALFULP_EINVAL = 1,  /* an argument is wrong: a name, a shape, a number that its format does not hold */
	HALFULP_EUNABLE = 2, /* the answer exists, and this library cannot compute it */
	HALFULP_ENOMEM = 3,  /* there is no memory */
	HALFULP_EBUG = 4     /* the library contradicts itself: please report the reason */
} halfulp_status;

/* The reason of the last failure on this thread, "" before the first. It stays until the next one. */
const char *halfulp_reason(void);
/* The version of the library that runs, such as "0.2.0". */
const char *halfulp_version(void);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
