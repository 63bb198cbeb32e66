/* SPDX-License-Identifier: Apache-2.0 */
#define NAME(x) x##_avx2
#include "analyzers/drift/files/pair_loop.inc"
