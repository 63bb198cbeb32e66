/* SPDX-License-Identifier: Apache-2.0
   Sizes of a model's inputs as the command line gives them. */
#ifndef HU_ANALYZERS_GIVEN_H
#define HU_ANALYZERS_GIVEN_H

#include "lib/import/import.h"

/* NAME=N, an open dimension; NAME=2x3x4, an input's shape (2x for one dimension). text is changed and must outlive it.
   HU_EINVAL where it is neither. */
hu_status hu_given_parse(hu_given *g, char *text);
#endif
