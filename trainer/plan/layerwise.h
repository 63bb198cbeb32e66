/* SPDX-License-Identifier: Apache-2.0
   Policies between float32 and one of low precision, each of which moves one more layer. */
#ifndef HU_TRAINER_LAYERWISE_H
#define HU_TRAINER_LAYERWISE_H

#include "trainer/run/config.h"

/* One of them: its name, "+LAYER" for the last layer with weights that was moved, and the policy's text. */
typedef struct hu_layerwise_policy { char *name, *policy; } hu_layerwise_policy;

/* Makes the policies for the model that c trains, c's own policy aside: the first is float32; in each of the others one
   more layer whose product has weights runs as `policy` says, in the order of the forward calls, together with the
   layers without such a product up to the next; the last is `policy` itself. *n is their number; the caller frees
   strings and array. HU_EINVAL where policy changes single layers already, or one of them would need more overrides
   than a policy has room for. */
hu_status hu_layerwise(hu_layerwise_policy **out, int *n, const hu_config *c, const char *policy);
#endif
