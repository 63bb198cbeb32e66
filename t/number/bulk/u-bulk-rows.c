/* SPDX-License-Identifier: Apache-2.0
   Rows of a few floats, whose formats, modes, flags and streams change from one row to the next in every way: each is
   what hu_round_drawn makes of its elements one by one, bit for bit, so that nothing of a row is left for the next. */
#include "lib/number/bulk/bulk.h"
#include "lib/number/draw.h"
#include "lib/number/simd.h"
#include "t/tool/tap.h"

#include <math.h>
#include <string.h>

enum { N = 37, ROWS = 4000 };

static const hu_format_id formats[] = { HU_FP16, HU_BF16, HU_E4M3, HU_E5M2, HU_TF32, HU_FP32 };
static const hu_mode modes[] = { HU_RNE, HU_RZ, HU_RU, HU_SR };
static const int flags[] = { 0, HU_SATURATE, HU_FTZ };
static const hu_stream streams[] = { { 1, 2, 3 }, { 1, 2, 4 } };

#define PICK(of, word) ((of)[(word) % (sizeof(of) / sizeof *(of))])

/* Changes one choice and leaves the others as the row before had them. */
static void
draw(uint32_t which, uint32_t to, hu_format_id *f, hu_mode *mode, int *flag, hu_stream *stream)
{
	switch (which % 4) {
	case 0: *f = PICK(formats, to); break;
	case 1: *mode = PICK(modes, to); break;
	case 2: *flag = PICK(flags, to); break;
	case 3: *stream = PICK(streams, to); break;
	}
}

int
main(void)
{
	for (int level = 0; level < HU_SIMDS; level++) {
		hu_format_id f = HU_FP16;
		hu_mode mode = HU_RNE;
		int flag = 0;
		hu_stream stream = streams[0];
		long wrong = 0, rows = 0;
		if (!hu_simd_has((hu_simd)level))
			continue;
		hu_simd_set(hu_simd_name_of((hu_simd)level));
		for (unsigned row = 0; row < ROWS; row++) {
			hu_random r = hu_random_at(5, 0, 0, row);
			float src[N], dst[N];
			draw(r.w[0], r.w[1], &f, &mode, &flag, &stream);
			for (unsigned i = 0; i < N; i++) {
				hu_random x = hu_random_at(6, 0, row, i);
				src[i] = ldexpf((float)(int32_t)x.w[0], (int)(x.w[1] % 60) - 60);
			}
			hu_bulk_round(dst, src, N, f, mode, flag, mode == HU_SR ? &stream : NULL, row);
			int same = 1;
			for (unsigned i = 0; i < N; i++) {
				double one = hu_round_drawn(src[i], hu_format_of(f), mode, flag, stream, row + i);
				float want = (float)one;
				same &= !memcmp(&want, &dst[i], sizeof want) || (isnan(want) && isnan(dst[i]));
			}
			wrong += !same;
			rows++;
		}
		ok(!wrong, "%s: %ld rows of %d elements, each in a setting of its own: %ld wrong",
			hu_simd_name_of((hu_simd)level), rows, N, wrong);
	}
	return done_testing();
}
