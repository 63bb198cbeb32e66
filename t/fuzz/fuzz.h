/* SPDX-License-Identifier: Apache-2.0
   Fuzz targets, t/fuzz-NAME.c: fuzz_NAME(data, size) gives a reader any bytes,
   must come back, and says whether they were taken. t/fuzz/u-fuzz-files.c calls
   them in `make check`; t/fuzz/x-fuzz.sh gives them to libFuzzer. */
#ifndef HU_T_FUZZ_H
#define HU_T_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int fuzz_safetensors(const uint8_t *data, size_t size);
int fuzz_npy(const uint8_t *data, size_t size);
int fuzz_npz(const uint8_t *data, size_t size);
int fuzz_idx(const uint8_t *data, size_t size);
int fuzz_image(const uint8_t *data, size_t size);
int fuzz_onnx(const uint8_t *data, size_t size);
int fuzz_series(const uint8_t *data, size_t size);
int fuzz_scores(const uint8_t *data, size_t size);
int fuzz_statistics(const uint8_t *data, size_t size);
int fuzz_rules(const uint8_t *data, size_t size);
int fuzz_baseline(const uint8_t *data, size_t size);
int fuzz_specs(const uint8_t *data, size_t size);
int fuzz_pair(const uint8_t *data, size_t size);
int fuzz_run(const uint8_t *data, size_t size);
int fuzz_manifest(const uint8_t *data, size_t size);
/* The path of a file of the run whose trace and manifest the two replace; the caller frees it. */
char *fuzz_run_file(const char *name);
/* A copy of the file, followed by a 0, in memory of its own, as a file is read; the caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);
/* Gives TARGET the file with a checksum that is right, so that what lies behind the checksum is reached as well. */
int fuzz_signed(int (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size);
int fuzz_baseline_signed(const uint8_t *data, size_t size);
int fuzz_run_signed(const uint8_t *data, size_t size);
int fuzz_scores_signed(const uint8_t *data, size_t size);
int fuzz_statistics_signed(const uint8_t *data, size_t size);

/* What libFuzzer calls. A file with a checksum keeps it right, but where its length is a multiple of 8: else whatever
   libFuzzer changes is refused by the checksum, and nothing behind it is reached. */
#ifdef HU_LIBFUZZER
#define FUZZ_ENTRY(call)                                                  \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);        \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { call; return 0; }
#else
#define FUZZ_ENTRY(call)
#endif
#define FUZZ_TARGET(name)                     \
	FUZZ_ENTRY(fuzz_##name(data, size)) \
	int fuzz_##name(const uint8_t *data, size_t size)
#define FUZZ_SIGNED_TARGET(name)                                                            \
	FUZZ_ENTRY((size % 8 ? fuzz_##name##_signed : fuzz_##name)(data, size))           \
	int fuzz_##name##_signed(const uint8_t *data, size_t size) { return fuzz_signed(fuzz_##name, data, size); } \
	int fuzz_##name(const uint8_t *data, size_t size)
#endif
