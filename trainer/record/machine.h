/* SPDX-License-Identifier: Apache-2.0
   What this machine calls itself. */
#ifndef HU_TRAINER_MACHINE_H
#define HU_TRAINER_MACHINE_H

/* The name of the processor; the system, its release and architecture. Static strings. */
const char *hu_machine_processor(void);
const char *hu_machine_system(void);
#endif
