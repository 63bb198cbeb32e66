/* SPDX-License-Identifier: Apache-2.0
   The attributes of a call, checked: what a command line or a file gave, before anything is cast, allocated
   or divided by it. */
#ifndef HU_OP_ATTR_H
#define HU_OP_ATTR_H

#include "lib/base/status.h"
#include "lib/op/call.h"

/* The whole number that KEY is, or OTHERWISE where it is not there; 0 where it is none from 0 to 2^31 - 1
   (hu_attr_check refuses those with a reason), so that no cast is undefined. */
size_t hu_attr_count(const hu_call *c, const char *key, size_t otherwise);

/* Every attribute of a call against its row of attrs.def; HU_EINVAL names the operator, the key and what it may be. */
hu_status hu_attr_check(const hu_call *c);

/* 1 where KEY is a word, 0 where it is a number, -1 where attrs.def has no such row. */
int hu_attr_is_word(const char *key);
#endif
