/* SPDX-License-Identifier: Apache-2.0
   manifest.json records what was run, on which machine, and how much memory it took. */
#ifndef HU_TRAINER_MANIFEST_H
#define HU_TRAINER_MANIFEST_H

#include "trainer/run/memory.h"
#include "trainer/record/record.h"

/* Makes a manifest with everything but the files' checksums, which r adds as it writes them. */
json_t *hu_manifest_new(const hu_session *s, const hu_record *r, const json_t *command);
/* Adds to the manifest's dataset, where its digest is not over the pixels, how many rows all ranks have read since the
   step that it names so far, else since step `from`, and a digest of theirs: for the steps before `to`, which a
   training resumed there does not repeat, and, if evaluated is set, for evaluation. On rank 0, while others serve. */
hu_status hu_manifest_read(json_t *manifest, hu_session *s, size_t from, size_t to, int evaluated);
/* Makes later products use the cuBLASLt algorithms that manifest's run used, so that a repetition has the same bits.
   HU_EFILE where the manifest names an unknown algorithm. */
hu_status hu_manifest_recall(const json_t *manifest);
#endif
