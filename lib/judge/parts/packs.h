/* SPDX-License-Identifier: Apache-2.0
   What this floor measures, packed (lib/base/parts/pack.h) by the process that computed it and unpacked in the one
   that merges it. Every bit is kept. */
#ifndef HU_JUDGE_PARTS_PACKS_H
#define HU_JUDGE_PARTS_PACKS_H

#include "lib/base/parts/pack.h"
#include "lib/judge/errors.h"
#include "lib/judge/harm.h"
#include "lib/judge/propagate.h"

void hu_pack_harm(hu_pack *r, hu_harm *h);
void hu_pack_methods(hu_pack *r, hu_methods *l);
void hu_pack_swamp(hu_pack *r, hu_swamp *s);
void hu_pack_propagation(hu_pack *r, hu_propagation *p);
void hu_pack_errors_step(hu_pack *r, hu_errors_step *m);
/* The sum as it stands before hu_errors_end. Reading needs one that hu_errors_begin made for as many elements, and
   leaves r bad where the pack's has others. */
void hu_pack_errors_sum(hu_pack *r, hu_errors_sum *s);
#endif
