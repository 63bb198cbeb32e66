/* SPDX-License-Identifier: Apache-2.0
   manifest.json: what was run, on what, and how large it is. */
#ifndef HU_TRAINER_MANIFEST_H
#define HU_TRAINER_MANIFEST_H

#include "trainer/plan/memory.h"
#include "trainer/record/record.h"

/* Everything but the files' checksums, which r adds as it writes them. */
json_t *hu_manifest_new(const hu_session *s, const hu_record *r, const json_t *command);
/* Products that cuBLASLt computed in manifest's run are computed by the same algorithms from now on. HU_EFILE: a line
   of them is none. */
hu_status hu_manifest_recall(const json_t *manifest);
/* The processor's name, and system, release and architecture; static strings. */
const char *hu_machine_processor(void);
const char *hu_machine_system(void);
#endif
