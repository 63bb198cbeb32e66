/* SPDX-License-Identifier: Apache-2.0
   NVIDIA's own NCCL on a GPU: a single process joins, and the sum over it alone is what it sent, in each format that
   NCCL adds. What several ranks add is tested on a stand-in (t/trainer/ranked/t-nccl.py). */
#include "cuda/device/device.h"
#include "cuda/nccl/nccl.h"
#include "t/cuda/cuda-sides.h"

#include <string.h>

enum { BYTES = 1 << 20 };

#ifdef HU_HAVE_CUDA
static unsigned char sent[BYTES], got[BYTES];

static void
sums(void)
{
	static const hu_format_id f[] = { HU_FP32, HU_TF32, HU_FP16, HU_BF16, HU_FP64 };
	const hu_side *side = &hu_gpu_side;
	void *queue = NULL, *in = NULL, *out = NULL;

	ok(side->open(&queue) == HU_OK && side->alloc(&in, BYTES) == HU_OK && side->alloc(&out, BYTES) == HU_OK,
		"a queue and device memory: %s", hu_reason());
	for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
		size_t width = hu_slot_size(f[k]);
		/* Small numbers of every format: the upper byte is 0x30 to 0x3f. */
		for (size_t i = 0; i < BYTES; i++)
			sent[i] = (unsigned char)(i % width == width - 1 ? 0x30 + i / width % 16 : i * 37 >> 3);
		memset(got, 0, BYTES);
		int done = side->upload(queue, in, sent, BYTES) == HU_OK && side->clear(queue, out, BYTES) == HU_OK &&
			   hu_nccl_all_reduce(queue, in, out, BYTES / width, f[k]) == HU_OK &&
			   side->download(queue, got, out, BYTES) == HU_OK && side->wait(queue) == HU_OK;
		ok(done, "NCCL adds %s%s%s", hu_format_name(f[k]), done ? "" : ": ", done ? "" : hu_reason());
		ok(!memcmp(got, sent, BYTES), "and one rank's sum is what it sent, bit for bit");
	}
	hu_nccl_leave();
	ok(!hu_nccl_used(), "it leaves again");
	side->release(in);
	side->release(out);
	side->close(queue);
}
#endif

int
main(void)
{
	char name[48];

#ifdef HU_HAVE_CUDA
	if (!hu_device_count())
		skip(1, "%s", hu_device_why());
	else if (!hu_nccl_find(name, sizeof name))
		skip(1, "there is no NCCL here");
	else if (ok(hu_nccl_join(0) == HU_OK, "%s joins one process: %s", name, hu_reason()))
		sums();
#else
	(void)name;
	skip(1, "this build has no CUDA");
#endif
	return done_testing();
}
