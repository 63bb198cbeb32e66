/* SPDX-License-Identifier: Apache-2.0
   Sizes of a model's inputs as the command line gives them. */
#ifndef HU_ANALYZERS_GIVEN_H
#define HU_ANALYZERS_GIVEN_H

#include "lib/import/import.h"

/* Reads NAME=N, an open dimension, or NAME=2x3x4, an input's shape (2x has one dimension). The text is changed and must
   outlive g. Fails with HU_EINVAL where it is neither. */
hu_status hu_given_parse(hu_given *g, char *text);
#endif
