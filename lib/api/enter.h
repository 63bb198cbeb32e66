/* SPDX-License-Identifier: Apache-2.0
   The boundary of libhalfulp (include/halfulp/status.h): what is computed behind it may end the program, the library's
   functions may not. */
#ifndef HU_API_ENTER_H
#define HU_API_ENTER_H

#include "lib/base/status.h"

#include "include/halfulp/status.h"

/* Calls act(of) in the floating-point environment that C starts with and with MPFR's own settings, restores the
   caller's, and returns act's status as the library's. Where act would have ended the program, for lack of memory or by
   a broken invariant, that is the status. act neither holds a lock while it asks for memory nor calls the library's
   functions. */
halfulp_status hu_api_enter(hu_status (*act)(void *of), void *of);

/* HU_EINVAL, with the names of function and argument, where a pointer that is needed is NULL. */
hu_status hu_api_needs(const void *p, const char *function, const char *argument);
#define HU_API_NEEDS(p) HU_TRY(hu_api_needs((p), __func__, #p))
#endif
