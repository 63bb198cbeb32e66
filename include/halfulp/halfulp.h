/* SPDX-License-Identifier: Apache-2.0
   libhalfulp: what a number format does to a computation, from C11 and C++17. Compile with the flags of
   `pkg-config --cflags --libs halfulp`. status.h says what holds for all functions. */
#ifndef HALFULP_HALFULP_H
#define HALFULP_HALFULP_H

#include "call.h"
#include "exact.h"
#include "format.h"
#include "status.h"
#include "sum.h"

#endif
