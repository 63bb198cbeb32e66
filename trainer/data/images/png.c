/* SPDX-License-Identifier: Apache-2.0
   PNG files by libpng. */
#include "trainer/data/images/image.h"

#include "lib/base/mem.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* A file being read: where a failure jumps back to, and the library's own words for it. */
typedef struct reading {
	jmp_buf back;
	char why[160];
	png_structp p;
	png_infop info;
	png_bytep *row;
} reading;

static void
caught(png_structp p, const char *why)
{
	reading *r = png_get_error_ptr(p);

	snprintf(r->why, sizeof r->why, "%s", why);
	longjmp(r->back, 1);
}

/* Warnings are about what surrounds the pixels: colour profiles, text, dates. */
static void
ignored(png_structp p, const char *why)
{
	(void)p;
	(void)why;
}

static png_voidp
made(png_structp p, png_alloc_size_t n)
{
	(void)p;
	return hu_xmalloc(n);
}

static void
freed(png_structp p, png_voidp room)
{
	(void)p;
	free(room);
}

/* Every kind of PNG becomes bytes of `channels` colours. */
static void
ask_for_bytes(png_structp p, png_infop info, size_t channels)
{
	int colour = png_get_color_type(p, info);

	png_set_expand(p); /* palettes to colours, fewer bits to 8 */
	if (png_get_bit_depth(p, info) == 16)
		png_set_scale_16(p);
	png_set_strip_alpha(p);
	if (channels == 3 && !(colour & PNG_COLOR_MASK_COLOR))
		png_set_gray_to_rgb(p);
	if (channels == 1 && (colour & PNG_COLOR_MASK_COLOR))
		png_set_rgb_to_gray(p, PNG_ERROR_ACTION_NONE, PNG_RGB_TO_GRAY_DEFAULT, PNG_RGB_TO_GRAY_DEFAULT);
	png_set_interlace_handling(p);
	png_read_update_info(p, info);
}

static hu_status
decode(reading *r, hu_image *to, const char *path, size_t channels)
{
	png_read_info(r->p, r->info);
	HU_TRY(hu_image_make(
		to, path, png_get_image_width(r->p, r->info), png_get_image_height(r->p, r->info), channels));
	ask_for_bytes(r->p, r->info, channels);
	HU_ASSERT(png_get_rowbytes(r->p, r->info) == to->width * channels);
	r->row = hu_xmalloc(to->height * sizeof *r->row);
	for (size_t y = 0; y < to->height; y++)
		r->row[y] = to->pixel + y * to->width * channels;
	png_read_image(r->p, r->row);
	png_read_end(r->p, NULL);
	return HU_OK;
}

/* A function of its own, so that what a jump leaves half done lies in its caller's frame, where it keeps its values. */
static hu_status
guarded(reading *r, hu_image *to, FILE *f, const char *path, size_t channels)
{
	if (setjmp(r->back))
		return hu_fail(
			HU_EFILE, "%s: this PNG is damaged or cut short: %s; copy it again or remove it", path, r->why);
	png_init_io(r->p, f);
	png_set_user_limits(r->p, 0x7fffffff, 0x7fffffff); /* hu_image_make limits their product */
	return decode(r, to, path, channels);
}

hu_status
hu_png_decode(hu_image *to, FILE *f, const char *path, size_t channels)
{
	reading r = { .row = NULL };
	hu_status st;

	r.p = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r, caught, ignored, NULL, made, freed);
	r.info = r.p ? png_create_info_struct(r.p) : NULL;
	st = r.info ? guarded(&r, to, f, path, channels) : hu_fail(HU_ENOMEM, "%s: no memory to read a PNG", path);
	free(r.row);
	png_destroy_read_struct(&r.p, &r.info, NULL);
	return st;
}
