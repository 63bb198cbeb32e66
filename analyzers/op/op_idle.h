/* SPDX-License-Identifier: Apache-2.0
   Which options of op have no effect with an operator and its arrays. Those that have none whatever these are stand in
   the command's table of needs. */
#ifndef HU_ANALYZERS_OP_IDLE_H
#define HU_ANALYZERS_OP_IDLE_H

#include "analyzers/op/op_run.h"

/* Refuses the first option that has no effect with HU_EINVAL and its name. got has no data where the line has no
   --got. */
hu_status hu_op_idle_refuse(const hu_args *args, const hu_op_run *r, const hu_npy *got);
#endif
