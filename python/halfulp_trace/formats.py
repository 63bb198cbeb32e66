# SPDX-License-Identifier: Apache-2.0
"""The formats, layouts and limits that PyTorch and halfulp share."""
import torch



FORMATS = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}
# Whole numbers and truth values stand as numbers that hold them exactly.
WHOLE = {torch.bool: torch.float32, torch.uint8: torch.float32, torch.int8: torch.float32, torch.int16: torch.float32,
         torch.int32: torch.float64, torch.int64: torch.float64}
for name, format in (("float8_e4m3fn", "e4m3"), ("float8_e5m2", "e5m2")):
    if hasattr(torch, name):
        FORMATS[getattr(torch, name)] = format
DTYPES = {"fp64": "F64", "fp32": "F32", "fp16": "F16", "bf16": "BF16", "e4m3": "F8_E4M3", "e5m2": "F8_E5M2"}
# halfulp's layouts of images and kernels, from PyTorch's NCHW and OIHW.
LAYOUTS = {"nhwc": (0, 2, 3, 1), "hwio": (2, 3, 1, 0)}
# What an elementary operation or function of a library may err by, in unit roundoffs of the format that it computes
# in: 2 ulps, as CUDA's tables and SLEEF's u20 functions have it.
LIBRARY = 4
RANK = 6         # most axes of a tensor of halfulp


class Unknown(Exception):
    """A call is none that halfulp has, so it is recorded as opaque."""
