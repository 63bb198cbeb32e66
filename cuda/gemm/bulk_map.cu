/* SPDX-License-Identifier: Apache-2.0
   Makes maps for bulk copies. On a GPU the driver does; it is asked for by name, so that nothing is linked with it. */
#include "cuda/gemm/bulk_map.h"

#ifdef __CUDACC__
#include <cuda.h>

typedef CUresult (*encode_fn)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
	const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
	CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_fn
encode(void)
{
	static void *known;

	if (!known) {
#if CUDART_VERSION >= 12050
		cudaError_t e = cudaGetDriverEntryPointByVersion(
			"cuTensorMapEncodeTiled", &known, 12000, cudaEnableDefault, NULL);
#else
		cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &known, cudaEnableDefault, NULL);
#endif
		if (e != cudaSuccess) {
			cudaGetLastError();
			known = NULL;
		}
	}
	return (encode_fn)known;
}

extern "C" hu_status
HU_SIDE(bulk_map)(hu_bulk_map *map, const void *data, uint32_t size, uint32_t columns, uint32_t rows, uint32_t count,
	uint32_t apart, uint32_t box)
{
	static_assert(sizeof(CUtensorMap) == sizeof *map && alignof(CUtensorMap) <= alignof(hu_bulk_map), "");
	/* of one matrix alone, too, a stride that is none would be refused */
	cuuint64_t extents[3] = { columns, rows, count }, strides[2] = { (cuuint64_t)columns * size,
		(apart ? (cuuint64_t)apart : (cuuint64_t)columns * rows) * size };
	cuuint32_t boxes[3] = { HU_BULK_LINE / size, box, 1 }, steps[3] = { 1, 1, 1 };
	encode_fn f = encode();

	CUtensorMapDataType type = size == 1 ? CU_TENSOR_MAP_DATA_TYPE_UINT8 : CU_TENSOR_MAP_DATA_TYPE_UINT16;
	CUresult e = f ? f((CUtensorMap *)map, type, 3, (void *)(size_t)data, extents, strides, boxes, steps,
				 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
				 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
		       : CUDA_ERROR_NOT_FOUND;
	if (e != CUDA_SUCCESS)
		return hu_fail(HU_EDEVICE,
			"the driver cannot describe a matrix of %u x %u elements of %u bytes to the GPU's bulk copies "
			"(cuTensorMapEncodeTiled: error %d)",
			rows, columns, size, (int)e);
	return HU_OK;
}

extern "C" uint32_t
HU_SIDE(multiprocessors)(void)
{
	static int known;
	int device;

	if (!known && (cudaGetDevice(&device) != cudaSuccess ||
			      cudaDeviceGetAttribute(&known, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)) {
		cudaGetLastError();
		return 1;
	}
	return (uint32_t)known;
}
#else
extern "C" hu_status
HU_SIDE(bulk_map)(hu_bulk_map *map, const void *data, uint32_t size, uint32_t columns, uint32_t rows, uint32_t count,
	uint32_t apart, uint32_t box)
{
	HU_ASSERT((size_t)data % 16 == 0 && columns * size % 16 == 0 && (size_t)apart * size % 16 == 0 && box <= 256);
	*map = { (const unsigned char *)data, size, columns, rows, count, apart, box };
	return HU_OK;
}
#endif
