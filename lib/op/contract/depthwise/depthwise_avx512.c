/* SPDX-License-Identifier: Apache-2.0 */
#define NAME(x) x##_avx512
#include "lib/op/contract/depthwise/depthwise_sum.inc"
