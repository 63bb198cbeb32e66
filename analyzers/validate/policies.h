/* SPDX-License-Identifier: Apache-2.0
   The policies that a model is judged under, from one text: presets, formats, policies written out, files. */
#ifndef HU_ANALYZERS_VALIDATE_POLICIES_H
#define HU_ANALYZERS_VALIDATE_POLICIES_H

#include "lib/program/passes.h"

/* Appends the policies that TEXT lists. Commas separate them; KEY=VALUE belongs to the policy before it, but compute=
   begins a new one. A format's name is the policy that computes in it: of more than 8 bits everything, variables too;
   of 8 bits or fewer, products alone, their results in bfloat16. HU_EINVAL names the policy. */
hu_status hu_policies_add(hu_policy **list, size_t *n, size_t *cap, const char *text);
#endif
