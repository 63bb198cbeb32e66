/* SPDX-License-Identifier: Apache-2.0
   JPEG files by libjpeg: the accurate integer transform and smooth upsampling of colours, so that the pixels are those
   of every libjpeg-turbo, with SIMD or without. */
#include "trainer/data/images/image.h"

#include "lib/base/mem.h"

#include <setjmp.h>
#include <stdlib.h>

#include <jerror.h>
#include <jpeglib.h>

/* A file being read. own is first, so that libjpeg's pointer to it is one to the whole: on a failure it jumps back,
   with the library's own words in why. */
typedef struct reading {
	struct jpeg_error_mgr own;
	struct jpeg_decompress_struct d;
	jmp_buf back;
	char why[JMSG_LENGTH_MAX];
	unsigned char *line; /* one row of CMYK */
} reading;

static void
caught(j_common_ptr c)
{
	reading *r = (reading *)c->err;

	c->err->format_message(c, r->why);
	longjmp(r->back, 1);
}

/* libjpeg fills in grey where a file ends too early or is damaged and calls that a warning; here it is a failure. Only
   bytes between two markers, which change no pixel, may pass. */
static void
warned(j_common_ptr c, int level)
{
	if (level < 0 && c->err->msg_code != JWRN_EXTRANEOUS_DATA)
		caught(c);
}

/* Inverted CMYK, as Adobe's programs write it, to red, green and blue. */
static void
from_cmyk(unsigned char *to, const unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 3; c++)
			to[3 * i + c] = (unsigned char)((from[4 * i + c] * from[4 * i + 3] + 127) / 255);
}

static hu_status
decode(reading *r, hu_image *to, const char *path, size_t channels)
{
	struct jpeg_decompress_struct *d = &r->d;

	jpeg_read_header(d, TRUE);
	int four = d->jpeg_color_space == JCS_CMYK || d->jpeg_color_space == JCS_YCCK;

	if (four && channels != 3)
		return hu_fail(
			HU_EFILE, "%s: a JPEG in CMYK has no luminance; convert it, or read three channels", path);
	d->out_color_space = four ? JCS_CMYK : channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
	d->dct_method = JDCT_ISLOW;
	d->do_fancy_upsampling = TRUE;
	HU_TRY(hu_image_make(to, path, d->image_width, d->image_height, channels));
	jpeg_start_decompress(d);
	if (four)
		r->line = hu_xmalloc(4 * to->width);
	while (d->output_scanline < d->output_height) {
		unsigned char *row = to->pixel + (size_t)d->output_scanline * to->width * channels,
			      *into = four ? r->line : row;
		jpeg_read_scanlines(d, &into, 1);
		if (four)
			from_cmyk(row, r->line, to->width);
	}
	jpeg_finish_decompress(d);
	return HU_OK;
}

/* A function of its own, so that what a jump leaves half done lies in its caller's frame, where it keeps its values. */
static hu_status
guarded(reading *r, hu_image *to, FILE *f, const char *path, size_t channels)
{
	if (setjmp(r->back)) {
		if (r->own.msg_code == JERR_OUT_OF_MEMORY)
			return hu_fail(HU_ENOMEM, "%s: there is no memory to read this JPEG", path);
		return hu_fail(HU_EFILE, "%s: this JPEG is damaged or cut short: %s; copy it again or remove it", path,
			r->why);
	}
	jpeg_create_decompress(&r->d);
	jpeg_stdio_src(&r->d, f);
	return decode(r, to, path, channels);
}

hu_status
hu_jpeg_decode(hu_image *to, FILE *f, const char *path, size_t channels)
{
	reading r = { .line = NULL };

	r.d.err = jpeg_std_error(&r.own);
	r.own.error_exit = caught;
	r.own.emit_message = warned;
	hu_status st = guarded(&r, to, f, path, channels);
	jpeg_destroy_decompress(&r.d);
	free(r.line);
	return st;
}
