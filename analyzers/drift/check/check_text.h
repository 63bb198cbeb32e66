/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HU_ANALYZERS_CHECK_TEXT_H
#define HU_ANALYZERS_CHECK_TEXT_H

#include "analyzers/drift/check/check_out.h"

/* Adds to V, which has the outcomes of R and why it failed, its rows and what a person reads beside them: of some ten
   lines where the run holds. */
void hu_check_rows(hu_outcomes *v, const hu_check_report *r);
#endif
