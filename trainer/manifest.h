/* SPDX-License-Identifier: Apache-2.0
   manifest.json: what was run, on what, and how large it is. */
#ifndef HU_TRAINER_MANIFEST_H
#define HU_TRAINER_MANIFEST_H

#include "trainer/memory.h"
#include "trainer/record.h"

/* Everything but the files' checksums, which R adds as it writes them. */
json_t *hu_manifest_new(const hu_session *s, const hu_record *r, const json_t *command);
/* The processor's name, and system, release and architecture; static strings. */
const char *hu_machine_processor(void);
const char *hu_machine_system(void);
#endif
