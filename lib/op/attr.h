/* SPDX-License-Identifier: Apache-2.0
   Checks and reads the attributes of a call, which a command line or a file may have given, before anything is cast,
   allocated or divided by them. */
#ifndef HU_OP_ATTR_H
#define HU_OP_ATTR_H

#include "lib/base/status.h"
#include "lib/op/call.h"

/* Returns attribute key as a whole number, or otherwise where the call has no such attribute. A value that is not a
   whole number from 0 to 2^31 - 1 gives 0, so that no cast is undefined; hu_attr_check refuses such values with a
   reason. */
size_t hu_attr_count(const hu_call *c, const char *key, size_t otherwise);

/* Where a library computed the call, whose order of sums and whose elementary functions are not known, its attribute
   `library`: by how many unit roundoffs of the compute format each operation may err; elsewhere 0. */
double hu_attr_library(const hu_call *c);
/* The call's compute format as bounds take it, which has the attribute `library` in its member of that name. */
hu_format hu_attr_bounded(const hu_call *c);

/* Checks every attribute of the call against its row in attrs.def. HU_EINVAL names the operator, the attribute and the
   values allowed. */
hu_status hu_attr_check(const hu_call *c);

/* Returns 1 if attrs.def says that the attribute's value is a word, 0 if it is a number, -1 if there is no such
   attribute. */
int hu_attr_is_word(const char *key);
#endif
