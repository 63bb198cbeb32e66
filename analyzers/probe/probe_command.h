/* SPDX-License-Identifier: Apache-2.0
   probe --backend: applies the probes to every matrix instruction of a device and compares it with its model. */
#ifndef HU_ANALYZERS_PROBE_COMMAND_H
#define HU_ANALYZERS_PROBE_COMMAND_H

#include "lib/base/console/opt.h"

/* Prints a row for each probe and instruction. Returns the exit code: 1 where the device and its model differ. */
int hu_probe_command(const hu_args *a);
#endif
