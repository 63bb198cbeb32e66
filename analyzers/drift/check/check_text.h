/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HU_ANALYZERS_CHECK_TEXT_H
#define HU_ANALYZERS_CHECK_TEXT_H

#include "analyzers/drift/check/check_out.h"

/* Prints on standard output what a check of a run found, for a person: some ten lines where it holds. */
void hu_check_text(const hu_check_report *r);
#endif
