/* SPDX-License-Identifier: Apache-2.0
   Rows of a probe, appended one after another. */
#ifndef HU_ANALYZERS_PROBE_LIST_H
#define HU_ANALYZERS_PROBE_LIST_H

#include "analyzers/probe/probe.h"

/* n rows; to has room for HU_PROBES of them. */
typedef struct hu_probe_list { hu_probe *to; size_t n; } hu_probe_list;

/* Each appends the row called name, which asks for `what`. It passes if got is the wanted value. number appends nothing
   if either is NaN: the model cannot represent the operands, or nobody tabled a value. found takes -1 for an answer
   that nobody tabled, code NULL. */
void hu_probe_list_number(hu_probe_list *l, const char *name, const char *what, double got, double want);
void hu_probe_list_count(hu_probe_list *l, const char *name, const char *what, int got, int want);
void hu_probe_list_found(hu_probe_list *l, const char *name, const char *what, int got, int want);
void hu_probe_list_code(hu_probe_list *l, const char *name, const char *what, uint32_t got, const char *want);
#endif
