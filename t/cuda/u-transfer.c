/* SPDX-License-Identifier: Apache-2.0
   Values on their way to a device and back, in sizes that several threads share, and batches of images as floats:
   every element arrives, whatever the number of threads. */
#include "cuda/exec/transfer.h"
#include "lib/base/mem.h"
#include "lib/base/thread.h"
#include "lib/number/bulk/bulk.h"
#include "t/tool/tap.h"
#include "trainer/data/data.h"

#include <stdlib.h>
#include <string.h>

/* Past the size from which threads share a copy, and no multiple of what each gets. */
enum { N = 700001 };

static void
there_and_back(int threads)
{
	float *from = hu_xmalloc(N * sizeof *from), *to = hu_xmalloc((N + 1) * sizeof *to);
	void *codes = hu_xmalloc((N + 1) * sizeof *to);
	size_t wrong = 0;

	hu_threads_set(threads);
	for (size_t i = 0; i < N; i++)
		from[i] = (float)(i % 2048);
	for (int half = 0; half < 2; half++) {
		hu_format_id f = half ? HU_FP16 : HU_FP32;
		memset(codes, 0x5a, (N + 1) * sizeof *to);
		memset(to, 0x5a, (N + 1) * sizeof *to);
		hu_transfer_pack(codes, from, N, f);
		hu_transfer_unpack(to, codes, N, f);
		for (size_t i = 0; i < N; i++)
			wrong += to[i] != from[i];
		wrong += ((unsigned char *)codes)[N * hu_slot_size(f)] != 0x5a || ((unsigned char *)to)[N * 4] != 0x5a;
	}
	is_int((long long)wrong, 0, "%d floats went there and back as fp32 and as fp16 by %d threads", (int)N, threads);
	free(from);
	free(to);
	free(codes);
}

static void
batches(int threads)
{
	enum { ROWS = 40, EACH = 64 * 64 * 3, BATCH = 90 };
	unsigned char *pixels = hu_xmalloc(ROWS * EACH);
	float *out = hu_xmalloc(BATCH * EACH * sizeof *out);
	size_t index[BATCH], wrong = 0;
	hu_dataset d = { .n_train = ROWS,
		.narray = 1,
		.array = { { .name = "x", .kind = HU_ARRAY_PIXELS, .shape = { 3, { 64, 64, 3 } } } } };

	hu_threads_set(threads);
	for (size_t i = 0; i < ROWS * EACH; i++)
		pixels[i] = (unsigned char)(i * 2654435761u >> 11);
	for (size_t i = 0; i < BATCH; i++)
		index[i] = i * 7 % ROWS;
	d.array[0].values = pixels;
	hu_dataset_batch(&d, &d.array[0], index, BATCH, out);
	for (size_t i = 0; i < BATCH; i++)
		for (size_t j = 0; j < EACH; j++)
			wrong += out[i * EACH + j] != (float)pixels[index[i] * EACH + j] / 255.0f;
	is_int((long long)wrong, 0, "a batch of %d images by %d threads has every pixel", (int)BATCH, threads);
	free(pixels);
	free(out);
}

int
main(void)
{
	for (int threads = 1; threads <= 4; threads += 3) {
		there_and_back(threads);
		batches(threads);
	}
	return done_testing();
}
