# SPDX-License-Identifier: Apache-2.0
"""Convolutions as products: of patches, the elements that each element of the result meets, and the kernel. Along any
number of axes, transposed or not, with groups, and with a bias as one more column."""
import torch

from ..flat import behind, picked, reshaped
from ..formats import FORMATS
from ..values import Value, snapshot


def in_pieces(t, n):
    """How gradients of convolutions are added in 16 bits where oneDNN has no kernel for this processor: PyTorch's own
    stores each sum of n products in the tensor's format, and adds these up in it (images of a kernel's gradient, taps
    of an image's)."""
    names = {torch.bfloat16: "_is_mkldnn_bf16_supported", torch.float16: "_is_mkldnn_fp16_supported"}
    supported = getattr(torch.ops.mkldnn, names.get(t.dtype, "none"), None)
    if t.device.type != "cpu" or supported is None or supported():
        return {}
    return {"sum": "promote:%d,acc=fp32,outer=%s" % (n, FORMATS[t.dtype])}


def along(n, taps, stride, padding, dilation, outs):
    """For each output along an axis and each tap the element that it meets, or -1."""
    at = torch.arange(outs)[:, None] * stride - padding + torch.arange(taps)[None, :] * dilation
    return torch.where((at >= 0) & (at < n), at, -1)


def meets(sizes, a, kernel, outs):
    """The same for all axes: [outputs, taps], elements and taps in row-major order."""
    at = torch.zeros(1, 1, dtype=torch.int64)
    for k, n in enumerate(sizes):
        def of(name):
            x = list(a[name])
            return x[k] if len(x) > 1 else x[0]
        mine = along(n, kernel[k], of("stride"), of("padding"), of("dilation"), outs[k])
        both = at[:, None, :, None] * n + mine[None, :, None, :]
        both[(at[:, None, :, None] < 0) | (mine[None, :, None, :] < 0)] = -1
        at = both.reshape(at.size(0) * mine.size(0), at.size(1) * mine.size(1))
    return at


def turned(at, n):
    """For each of n elements and each tap the output that meets it there, or -1."""
    back = torch.full((n, at.size(1)), -1)
    for tap in range(at.size(1)):
        outs = (at[:, tap] >= 0).nonzero().reshape(-1)
        back[at[outs, tap], tap] = outs
    return back


class Patches:
    def __init__(self, a, x, w, y):
        """x: input, w: kernel, y: output of the convolution, or their gradients."""
        self.groups, self.transposed = a["groups"], a.get("transposed", False)
        # the side that windows run over, and the side that has a window for each element
        few, many = (y, x) if self.transposed else (x, y)
        self.few, self.many, self.kernel = few.shape[2:], many.shape[2:], w.shape[2:]
        self.at = meets(self.few, a, self.kernel, self.many)
        self.n = 1
        for d in self.few:
            self.n *= d

    def patches(self, s, t, at, axes=(0, 1, 2, 3, 4)):
        """[groups, N * elements of the result, channels of a group * taps] of t, or taps first."""
        n, c = t.shape[:2]
        size, of = t[0, 0].numel(), c // self.groups
        channel = torch.arange(c).reshape(self.groups, 1, 1, of, 1) * size
        image = torch.arange(n).reshape(1, n, 1, 1, 1) * (c * size)
        where = at.reshape(1, 1, at.size(0), 1, at.size(1))
        where = torch.where(where < 0, -1, where + channel + image).permute(axes)
        return picked(s, [s.input(t)], where.reshape(self.groups, n * at.size(0), of * at.size(1)), "patches")

    def rows(self, s, t):
        """[groups, N * elements, channels of a group] of t."""
        n, c = t.shape[:2]
        size = t[0, 0].numel()
        at = torch.arange(n * c * size).reshape(n, self.groups, c // self.groups, size).permute(1, 0, 3, 2)
        return picked(s, [s.input(t)], at.reshape(self.groups, n * size, -1), "rows")

    def kernel_rows(self, s, w):
        """[groups, taps * channels of the first axis, channels of the second axis] of a kernel."""
        g, taps = self.groups, w[0, 0].numel()
        at = torch.arange(w.numel()).reshape(g, w.size(0) // g, w.size(1), taps).permute(0, 3, 1, 2)
        return picked(s, [s.input(w)], at.reshape(g, -1, w.size(1)), "w@rows")

    def product(self, s, i, j, t, role, tb, layer, **how):
        """Notes that t is the product, [groups, N * elements, channels of a group], in PyTorch's order of axes."""
        n, c = t.shape[:2]
        size, of = t[0, 0].numel(), c // self.groups
        own = snapshot(t)
        data = own.reshape(n, self.groups, of, size).permute(1, 0, 3, 2).reshape(self.groups, n * size, of).contiguous()
        i = s.call("matmul", [i, j], [(role + "@rows", data)], {"ta": 0, "tb": tb, "batch": 1}, library=True,
                layer=layer, **how)[0]
        at = torch.arange(own.numel()).reshape(self.groups, n, size, of).permute(1, 0, 3, 2).reshape(own.shape)
        s.known[s.key(t)] = Value(own, {"plain": picked(s, [i], at, role, layer=layer)})

    def correlate(self, s, t, w, out, role="y", bias=None, layer=None):
        """out = each element's patch of t times the kernel's rows [groups, outs, channels * taps]."""
        i = self.patches(s, t, self.at)
        j = reshaped(s, s.input(w), (self.groups, w.size(0) // self.groups, w[0].numel()))
        if bias is not None:
            i, j = self.more(s, i, j, bias, 2)
        self.product(s, i, j, out, role, 1, layer)

    def spread(self, s, t, w, out, role="dx", bias=None, layer=None):
        """out = the sum over windows that meet an element of what t has there times the kernel."""
        i = self.patches(s, t, turned(self.at, self.n), (0, 1, 2, 4, 3))
        j = self.kernel_rows(s, w)
        if bias is not None:
            i, j = self.more(s, i, j, bias, 1)
        self.product(s, i, j, out, role, 0, layer, **in_pieces(out, w.size(0) // self.groups))

    def more(self, s, i, j, bias, axis):
        g, m, _ = s.values[i].shape
        b = s.input(bias)
        shape = (g, bias.numel() // g, 1) if axis == 2 else (g, 1, bias.numel() // g)
        one = s.constant(1, s.values[i].dtype, (g, m, 1))
        return behind(s, [i, one], 2), behind(s, [j, reshaped(s, b, shape)], axis)

    def forward(self, s, x, w, b, y):
        how = dict(role="y", bias=b, layer=s.layers[-1])
        self.spread(s, x, w, y, **how) if self.transposed else self.correlate(s, x, w, y, **how)

    def backward(self, s, x, w, dy, dx, dw, layer):
        if dx is not None:
            self.correlate(s, dy, w, dx, "dx", layer=layer) if self.transposed else self.spread(s, dy, w, dx, "dx",
                    layer=layer)
        if dw is not None:
            few, many = (dy, x) if self.transposed else (x, dy)
            i, j = self.rows(s, many), self.patches(s, few, self.at)
            own = snapshot(dw)
            data = own.reshape(self.groups, dw.size(0) // self.groups, -1)
            i = s.call("matmul", [i, j], [("dw@rows", data)], {"ta": 1, "tb": 0, "batch": 1}, library=True,
                    layer=layer, **in_pieces(dw, many[0, 0].numel()))[0]
            s.known[s.key(dw)] = Value(own, {"plain": reshaped(s, i, own.shape, "dw")})

    @staticmethod
    def channels_last(s, t):
        n, c = t.shape[:2]
        at = torch.arange(t.numel()).reshape(n, c, -1).permute(0, 2, 1)
        return picked(s, [s.input(t)], at.reshape(n, 1, -1, c), "dy@rows")
