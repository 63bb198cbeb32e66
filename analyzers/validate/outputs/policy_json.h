/* SPDX-License-Identifier: Apache-2.0
   What validate tells of one policy as an object of JSON. */
#ifndef HU_ANALYZERS_POLICY_JSON_H
#define HU_ANALYZERS_POLICY_JSON_H

#include "analyzers/validate/outputs/outputs.h"

/* Returns the object of a policy, which the caller owns. */
json_t *hu_policy_json(const hu_validation *v, const hu_judgement *j);
#endif
