/* SPDX-License-Identifier: Apache-2.0
   The units of analyze shared by ranks: rank 0 deals lots of units, largest first, to whoever is done with the
   last, and computes small ones itself meanwhile; what was found goes to rank 0, which keeps it in a part until the
   tables are written. */
#ifndef HU_ANALYZERS_UNITS_RANKS_H
#define HU_ANALYZERS_UNITS_RANKS_H

#include "analyzers/units/sharing.h"

/* Computes every unit that s->own lacks, on all ranks. After it s->own has every unit on rank 0, and what it had on the
   others. Collective; HU_EFILE on every rank where one sees another work than rank 0. */
hu_status hu_ranks_study(hu_sharing *s, hu_walk *w);
#endif
