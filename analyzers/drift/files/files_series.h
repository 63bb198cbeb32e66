/* SPDX-License-Identifier: Apache-2.0
   Two series of one name; for this folder alone. */
#ifndef HU_ANALYZERS_FILES_SERIES_H
#define HU_ANALYZERS_FILES_SERIES_H

#include "analyzers/drift/files/pair.h"

/* Measures two series. Points of one step are a pair. Steps that one of the two lacks are counted, and so are, of two
   series of texts, the pairs of different texts. */
void hu_series_measure(hu_measures *m, const hu_item *old, const hu_item *new, const hu_format_id *format, int n);
#endif
