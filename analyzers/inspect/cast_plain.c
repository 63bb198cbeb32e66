/* SPDX-License-Identifier: Apache-2.0 */
#define NAME(x) x##_plain
#include "analyzers/inspect/cast_loop.inc"
