/* SPDX-License-Identifier: Apache-2.0
   Texts that people type as options: a reader a row, and any text for it. t/fuzz/u-specs.c tries thousands of each in
   `make check`; t/fuzz/x-fuzz.sh gives them to libFuzzer. */
#ifndef HU_T_FUZZ_SPECS_H
#define HU_T_FUZZ_SPECS_H

#include "lib/base/status.h"

#include <stddef.h>

/* NULL past the last row. */
const char *spec_name(int row);
/* Gives the reader a text. Returns 1 where it was taken, 0 where it was refused. Asserts what holds of every text: a
   refusal is one line and is the text's fault, not the system's, and what was taken means what it says. */
int spec_try(int row, const char *text);

/* spec-expression.c */
hu_status spec_expression(const char *text);
hu_status spec_sum(const char *text);
hu_status spec_sum_of_calc(const char *text);
hu_status spec_vary(const char *text);

/* spec-option.c */
hu_status spec_train_option(const char *text);
hu_status spec_analyze_option(const char *text);
hu_status spec_validate_option(const char *text);
#endif
