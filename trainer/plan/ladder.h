/* SPDX-License-Identifier: Apache-2.0
   A ladder of policies between float32 and one of low precision: layer after layer is moved. */
#ifndef HU_TRAINER_LADDER_H
#define HU_TRAINER_LADDER_H

#include "trainer/run/config.h"

/* A rung: its name, "+LAYER" for the last layer with weights that was moved, and the policy's text. */
typedef struct hu_rung { char *name, *policy; } hu_rung;

/* Makes the rungs for the model that c trains, c's own policy aside: the first is float32; in each of the others one
   more layer whose product has weights runs as `policy` says, in the order of the forward calls, together with the
   layers without such a product up to the next; the last is `policy` itself. *n is their number; the caller frees
   strings and array. HU_EINVAL where policy changes single layers already, or a rung would need more overrides than a
   policy has room for. */
hu_status hu_ladder(hu_rung **out, int *n, const hu_config *c, const char *policy);
#endif
