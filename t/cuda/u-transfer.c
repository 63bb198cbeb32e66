/* SPDX-License-Identifier: Apache-2.0
   Values on their way to a device and back, in sizes that several threads share, and batches of images as floats:
   every element arrives, whatever the number of threads, also from the pinned memory in which a batch is made. */
#include "cuda/exec/machine.h"
#include "cuda/fuse/side.h"
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

#ifdef HU_HAVE_SHIM
/* Batches that are made in the room of an input arrive as those that are copied there; a step uses the one that was
   written before it, although the next has been made meanwhile. */
static void
made_in_place(int threads)
{
	enum { N_X = 300001, STEPS = 4 };
	hu_program *p = hu_program_new("feed");
	int x = hu_program_tensor(p, "in.x", HU_FP32, hu_shape1(N_X), HU_ACTIVATION),
	    half = hu_program_tensor(p, "in.half", HU_FP16, hu_shape1(4), HU_ACTIVATION),
	    y = hu_program_tensor(p, "layer.y", HU_FP32, hu_shape1(N_X), HU_ACTIVATION);
	float *got = hu_xmalloc(N_X * sizeof *got), *copied = hu_xmalloc(N_X * sizeof *copied);
	void *room, *none = got;
	size_t wrong = 0;
	hu_machine *m;

	hu_threads_set(threads);
	hu_program_call(p, "neg", HU_FORWARD, "layer", &x, 1, &y, 1);
	if (hu_machine_open(&m, p, &hu_shim_side, HU_GEMM_AUTO) != HU_OK)
		bail_out("%s", hu_reason());
	ok(hu_machine_room(m, half, &none) == HU_OK && !none,
		"codes of two bytes have no room, because they are packed");
	none = got;
	ok(hu_machine_room(m, y, &none) == HU_OK && !none, "what a step computes has no room");
	for (uint32_t step = 0; step < STEPS; step++) {
		hu_env env = { 1, step };
		float *to = copied;
		if (step % 3 != 2 && (hu_machine_room(m, x, &room) != HU_OK || !(to = room)))
			bail_out("the input has no room: %s", hu_reason());
		for (size_t i = 0; i < N_X; i++)
			to[i] = (float)(i * (step + 1));
		if (hu_machine_write(m, x, to) != HU_OK || hu_machine_step(m, &env) != HU_OK ||
			hu_machine_room(m, x, &room) != HU_OK)
			bail_out("%s", hu_reason());
		memset(room, 0x7f, N_X * sizeof(float)); /* the next batch */
		if (hu_machine_read(m, y, got) != HU_OK)
			bail_out("%s", hu_reason());
		for (size_t i = 0; i < N_X; i++)
			wrong += got[i] != -(float)(i * (step + 1));
	}
	is_int((long long)wrong, 0,
		"batches made in place by %d threads arrive, and the next ones leave them alone", threads);
	hu_machine_close(m);
	hu_program_free(p);
	free(got);
	free(copied);
}
#endif

int
main(void)
{
	for (int threads = 1; threads <= 4; threads += 3) {
		there_and_back(threads);
		batches(threads);
#ifdef HU_HAVE_SHIM
		made_in_place(threads);
#else
		skip(3, "no C++ compiler was found: the kernels are not compiled for the host");
#endif
	}
	return done_testing();
}
