/* SPDX-License-Identifier: Apache-2.0
   Which order of additions gives the bits of a result: judge --sum all. */
#ifndef HU_ANALYZERS_JUDGE_ORDER_ORDER_H
#define HU_ANALYZERS_JUDGE_ORDER_ORDER_H

#include "analyzers/judge/kernel/kernel_job.h"

/* Fills `order` of the job's first result with a sentence, after hu_kernel_job_run. */
hu_status hu_order_judge(hu_kernel_job *j);
#endif
