/* SPDX-License-Identifier: Apache-2.0
   ONNX's element types: what they are called, and which format holds them. */
#include "lib/import/importing.h"

#include "lib/base/mem.h"

#include <string.h>

const char *
hu_import_dtype(int type)
{
	switch (type) {
#define TYPE(number, name, dtype, bits, field, entries)                                                                \
	case number:                                                                                                   \
		return dtype;
#include "lib/store/onnx/types.def"
#undef TYPE
	}
	return "";
}

int
hu_import_whole(int type)
{
	hu_format_id f = hu_safetensors_format(hu_import_dtype(type));

	return f == HU_NO_FORMAT;
}

hu_format_id
hu_import_format(hu_importing *c, int type)
{
	switch (type) {
	case HU_ONNX_INT32:
	case HU_ONNX_INT64:
	case HU_ONNX_UINT32:
	case HU_ONNX_UINT64: return HU_FP64;
	case HU_ONNX_BOOL:
	case HU_ONNX_INT2:
	case HU_ONNX_UINT2:
	case HU_ONNX_INT4:
	case HU_ONNX_UINT4:
	case HU_ONNX_INT8:
	case HU_ONNX_UINT8:
	case HU_ONNX_INT16:
	case HU_ONNX_UINT16: return HU_FP32;
	case HU_ONNX_FLOAT16:
	case HU_ONNX_BFLOAT16:
		c->narrow = 1;
		if (c->typing != HU_TYPING_TENSORS)
			return HU_FP32;
		/* fallthrough */
	default: /* Those whose codes a format has; HU_NO_FORMAT for text. */
		return hu_safetensors_format(hu_import_dtype(type));
	}
}

void
hu_import_mark_half(hu_importing *c, int id)
{
	size_t n = (size_t)id + 1;

	if (n > c->nhalf) {
		c->half = hu_xrealloc(c->half, n);
		memset(c->half + c->nhalf, 0, n - c->nhalf);
		c->nhalf = n;
	}
	c->half[id] = 1;
}

int
hu_import_is_half(const hu_importing *c, int id)
{
	return (size_t)id < c->nhalf && c->half[id];
}
