/* SPDX-License-Identifier: Apache-2.0
   The rows of two files as verdicts. */
#ifndef HU_ANALYZERS_FILES_OUT_H
#define HU_ANALYZERS_FILES_OUT_H

#include "analyzers/drift/outcome/outcome.h"
#include "analyzers/drift/files/files.h"

/* Fills v with one outcome for each row; the caller releases it, before g. */
void hu_files_outcomes(hu_outcomes *v, const hu_files *g);
#endif
