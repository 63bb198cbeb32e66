/* SPDX-License-Identifier: Apache-2.0
   ONNX's element types: what they are called, and which format holds them. */
#include "lib/import/importing.h"

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
hu_import_format(int type)
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
	default: return hu_safetensors_format(hu_import_dtype(type));
	}
}
