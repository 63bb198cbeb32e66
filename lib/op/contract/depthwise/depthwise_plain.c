/* SPDX-License-Identifier: Apache-2.0 */
#define NAME(x) x##_plain
#include "lib/op/contract/depthwise/depthwise_sum.inc"
