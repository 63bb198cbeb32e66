/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/data/images/image.h"

#include "lib/base/mem.h"

hu_status
hu_image_make(hu_image *to, const char *path, size_t width, size_t height, size_t channels)
{
	if (!width || !height || width > HU_IMAGE_PIXELS / height)
		return hu_fail(HU_EFILE, "%s: an image of %zu x %zu pixels; from 1 to %d pixels are read", path, width,
			height, HU_IMAGE_PIXELS);
	*to = (hu_image){ width, height, channels, hu_alloc(width * height * channels) };
	if (!to->pixel)
		return hu_fail(HU_ENOMEM, "%s: no memory for %zu x %zu pixels", path, width, height);
	return HU_OK;
}
