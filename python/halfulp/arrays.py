# SPDX-License-Identifier: Apache-2.0
# Arrays of torch, numpy, jax, or of anything that knows __dlpack__, as numpy arrays that a .npy file can hold, and the
# formats that their types name.
"""Arrays and the names of their formats."""
import numpy as np

# numpy's, ml_dtypes' and torch's names of types, and the formats' names in halfulp
FORMATS = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "half": "fp16",
           "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz",
           "float8_e4m3": "e4m3ieee", "float8_e3m4": "e3m4", "float8_e8m0fnu": "e8m0", "float6_e2m3fn": "e2m3",
           "float6_e3m2fn": "e3m2", "float4_e2m1fn": "e2m1"}
OWN = ("float16", "float32", "float64")   # what a .npy file holds as it is


def type_name(t):
    """The name of a type of torch, numpy or ml_dtypes, such as bfloat16; None where t is none."""
    name = str(t).split(".")[-1]
    if type(t).__module__ == "torch" and type(t).__name__ == "dtype":
        return name
    try:
        return np.dtype(t).name if isinstance(t, (np.dtype, type)) or name in FORMATS else None
    except TypeError:
        return None


def _imported(x):
    """A torch tensor, or a numpy array, of what is neither."""
    if hasattr(x, "__array__") or not hasattr(x, "__dlpack__"):
        return x.get() if type(x).__module__.split(".")[0] == "cupy" else np.asarray(x)
    try:
        import torch

        return torch.from_dlpack(x)
    except ImportError:
        return np.from_dlpack(x)   # has no bfloat16


def to_numpy(x, what):
    """A numpy array that holds x's values exactly, and the name of its format or None. what: x's name in a refusal."""
    try:
        x = x if hasattr(x, "detach") else _imported(x)
        if hasattr(x, "detach"):
            name = type_name(x.dtype)
            x = x.detach().cpu()
            x = (x if name in OWN or name not in FORMATS else x.float()).contiguous().numpy()
        else:
            name = x.dtype.name
    except (TypeError, RuntimeError, BufferError, ValueError) as why:
        raise ValueError("%s: %s cannot be read as an array: %s" % (what, type(x).__name__, why)) from None
    if name in FORMATS and name not in OWN:
        x = x.astype(np.float32)
    elif x.dtype == np.bool_:
        x = x.astype(np.uint8)
    elif x.dtype == np.longdouble and (x.astype(np.float64) == x).all():
        x = x.astype(np.float64)
    if x.dtype.kind not in "fiu" or x.dtype.itemsize > 8:
        raise ValueError("%s is an array of %s: real numbers of at most 64 bits are needed" % (what, x.dtype))
    return np.ascontiguousarray(x).reshape(x.shape), FORMATS.get(name)


def fact(key, value):
    """KEY=VALUE as the command line has it, of a number, a type, a word, or several numbers."""
    if isinstance(value, (list, tuple)):
        return "%s=%s" % (key, "x".join(fact(key, v).split("=", 1)[1] for v in value))
    if hasattr(value, "item") and not isinstance(value, type):   # of numpy or torch
        value = value.item()
    name = type_name(value)
    if name in FORMATS:
        value = FORMATS[name]
    elif isinstance(value, bool):
        value = int(value)
    elif isinstance(value, float):
        value = repr(value)
    if not str(value) or any(c.isspace() for c in str(value)):
        raise ValueError("%s=%r: a number, a format or a word without blanks is needed" % (key, value))
    return "%s=%s" % (key.rstrip("_"), value)


def facts(given):
    return " ".join(fact(k, v) for k, v in given.items() if v is not None)


def drawn(x, like, whole):
    """A numpy array of --make in the type `like`, of torch or numpy, or of whole numbers."""
    if type(like).__module__ != "torch":
        return x.astype(np.int64 if whole else np.float32 if like is None else like)
    import torch

    return torch.from_numpy(x).to(torch.int64 if whole else like)
