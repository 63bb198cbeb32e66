/* SPDX-License-Identifier: Apache-2.0
   The analysis of a run within the command gate. */
#ifndef HU_ANALYZERS_GATE_ANALYZE_H
#define HU_ANALYZERS_GATE_ANALYZE_H

#include "lib/base/console/command.h"

/* Runs halfulp analyze on RUN. Its exit code alone is no proof that it judged the run: HU_EUNABLE where the verdict is
   not one of this very analysis. */
hu_status hu_gate_analyze(const char *run, hu_command_end *end);
#endif
