/* SPDX-License-Identifier: Apache-2.0
   What the command train does on ranks other than 0. */
#ifndef HU_TRAINER_RANKED_SERVE_H
#define HU_TRAINER_RANKED_SERVE_H

#include "lib/base/console/opt.h"

/* Ranks other than 0: opens the session of the options, or of the RUN to be resumed, and does what rank 0 asks for
   until the training ends. */
hu_status hu_ranked_serve(const hu_args *a);
#endif
