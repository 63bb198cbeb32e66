# SPDX-License-Identifier: Apache-2.0
"""Pooling of images."""
from ..formats import FORMATS, Unknown
from .table import operator
from .windows import fixed, largest, largest_dx, means, means_dx


def pool_attr(a):
    def two(x, otherwise=None):
        x = list(x) or list(otherwise)
        return x * (2 // len(x))
    size = two(a["kernel_size"])
    (sh, sw), (ph, pw) = two(a["stride"], size), two(a["padding"])
    attr = {"size_h": size[0], "size_w": size[1], "stride_h": sh, "stride_w": sw, "padding_top": ph,
            "padding_bottom": ph,
            "padding_left": pw, "padding_right": pw}
    if "dilation" in a:
        attr["dilation_h"], attr["dilation_w"] = two(a["dilation"])
    if a["ceil_mode"]:
        attr["ceil"] = 1
    return attr


@operator("max_pool2d_with_indices")
def max_pool2d_with_indices(s, a, out):
    if a["self"].dim() != 4:
        largest(s, a["self"], out[1], out[0], 2)
        return
    s.decided([a["self"]], out[1])
    s.windows[s.key(out[1])] = a["self"], out[1], pool_attr(a)
    i = s.input(a["self"], "nhwc")
    s.pooled[i] = s.result("maxpool", [i], out[0], pool_attr(a), layout="nhwc")


@operator("max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(s, a, out):
    i = s.input(a["self"], "nhwc") if a["self"].dim() == 4 else None
    if i not in s.pooled:
        largest_dx(s, a["grad_output"], a["indices"], out, 2)
        return
    # where windows overlap, the CPU's kernel adds in the gradient's own format, the GPU's in fp32
    compute = FORMATS[out.dtype] if out.device.type == "cpu" else None
    s.result("maxpool_dx", [i, s.pooled[i], s.input(a["grad_output"], "nhwc")], out, pool_attr(a), "dx", "nhwc",
            library=True, compute=compute)


@operator("avg_pool2d")
def avg_pool2d(s, a, out):
    if a["divisor_override"] is not None:
        raise Unknown("another divisor")
    if a["self"].dim() != 4:
        means(s, a["self"], fixed(a, a["self"], out.shape[-2:]), out, 2)
        return
    attr = dict(pool_attr(a), include_padding=1 if a["count_include_pad"] else 0)
    s.result("avgpool2d", [s.input(a["self"], "nhwc")], out, attr, layout="nhwc", library=True)


@operator("avg_pool2d_backward")
def avg_pool2d_backward(s, a, out):
    if a["divisor_override"] is not None:
        raise Unknown("another divisor")
    size, stride = ((list(a[k]) * 2)[:2] for k in ("kernel_size", "stride"))
    low = out.dtype.itemsize == 2 and out.device.type == "cpu"
    if out.dim() != 4 or low and stride and any(t < n for t, n in zip(stride, size)):
        # where windows overlap, a CPU rounds each share and each sum to the gradient's own format
        means_dx(s, a["grad_output"], fixed(a, a["self"], a["grad_output"].shape[-2:]), out, 2)
        return
    attr = dict(pool_attr(a), include_padding=1 if a["count_include_pad"] else 0, height=a["self"].size(2),
            width=a["self"].size(3))
    s.result("avgpool2d_dx", [s.input(a["grad_output"], "nhwc")], out, attr, "dx", "nhwc", library=True)
