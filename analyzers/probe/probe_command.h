/* SPDX-License-Identifier: Apache-2.0
   probe --backend: every matrix instruction of a device through the probes, beside its model. */
#ifndef HU_ANALYZERS_PROBE_COMMAND_H
#define HU_ANALYZERS_PROBE_COMMAND_H

#include "lib/base/console/opt.h"

/* Prints a row a probe and instruction; returns the exit code: 1 where the device and its model differ. */
int hu_probe_command(const hu_args *a);
#endif
