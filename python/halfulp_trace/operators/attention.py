# SPDX-License-Identifier: Apache-2.0
"""Fused attention and its gradients, of the CPU and of the kernels that GPUs have: one call each, whose scores and
weights no tensor shows."""
import math

import torch

from ..flat import picked
from ..formats import WHOLE, Unknown
from ..moves import flat_move
from ..values import Value, snapshot
from .operands import floats
from .table import operator


def attr_of(a):
    scale = a["scale"]
    attr = {"factor": 1 / math.sqrt(a["query"].size(-1)) if scale is None else float(scale)}
    if a["is_causal"]:
        attr["causal"] = 1
    if a["dropout_p"]:
        raise Unknown("dropout inside of attention")
    return attr


def mask_of(s, a):
    """What is added to the scores, as a list of one tensor or none: rows of keys for every query, of all matrices or of
    one that all share."""
    mask, q = a.get("attn_mask"), a["query"]
    mask = a.get("attn_bias") if mask is None else mask
    if mask is None or not mask.numel():
        return []
    i, (rows, keys) = s.input(mask), (q.size(-2), a["key"].size(-2))
    if mask.dtype in WHOLE:
        raise Unknown("a mask of truth values")
    shape = (rows, keys) if mask.dim() == 2 else tuple(q.shape[:-2]) + (rows, keys)
    return [s.spread(i, shape)]


def statistic(s, a):
    """The logarithms of the queries' sums of exponentials as the program has them, which kernels pad, or give another
    axis."""
    t, shape = a["logsumexp"], tuple(a["query"].shape[:-1])
    i = s.input(t)
    if tuple(t.shape) == shape:
        return i
    at = torch.arange(t.numel()).reshape(*shape[:-1], -1)[..., :shape[-1]].contiguous()
    return picked(s, [i], at, "lse")


def logarithms(a, attr):
    """What a kernel that was not asked for these does not show."""
    q, k = a["query"].detach().double(), a["key"].detach().double()
    scores = q @ k.repeat_interleave(q.size(-3) // k.size(-3), -3).transpose(-1, -2) * attr["factor"]
    mask = a.get("attn_bias")
    if mask is not None:
        scores = scores + mask.detach().double()
    if "causal" in attr:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], device=q.device).triu(1) > 0, -math.inf)
    return scores.logsumexp(-1).to("cpu", torch.float32)


@operator("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention",
          "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention")
def flash_attention(s, a, out):
    y, lse, shape = out[0], out[1], tuple(a["query"].shape[:-1])
    floats(s, a["query"], y)
    attr, ids = attr_of(a), [s.input(a[k]) for k in ("query", "key", "value")] + mask_of(s, a)
    wide = snapshot(lse).reshape(*shape[:-1], -1) if lse.numel() else None
    own = logarithms(a, attr) if wide is None else wide[..., :shape[-1]].contiguous()
    i, j = s.call("attention", ids, [("y", snapshot(y)), ("lse", own)], attr, library=True)
    s.known[s.key(y)] = Value(snapshot(y), {"plain": i})
    if wide is None:
        return
    if wide.shape != own.shape:                  # what is behind the queries' own is no result of anything
        rest = s.add("", wide[..., shape[-1]:].contiguous(), name="input.pad", cls="other")
        j = s.call("concat", [j, rest], [("padded", wide)], {"axis": wide.dim() - 1})[0]
    if tuple(lse.shape) != tuple(wide.shape):
        j = s.call("move", [j], [("lse", snapshot(lse))], flat_move(tuple(lse.shape)))[0]
    s.known[s.key(lse)] = Value(snapshot(lse), {"plain": j})


@operator("_scaled_dot_product_flash_attention_for_cpu_backward", "_scaled_dot_product_flash_attention_backward",
          "_scaled_dot_product_efficient_attention_backward", "_scaled_dot_product_cudnn_attention_backward")
def flash_attention_backward(s, a, out):
    dy = a["grad_out"] if "grad_out" in a else a["grad_out_"]
    floats(s, a["query"], dy)
    attr = attr_of(a)
    ids = [s.input(a[k]) for k in ("query", "key", "value", "out")] + [statistic(s, a), s.input(dy)] + mask_of(s, a)
    made = s.call("attention_dx", ids, [(role, snapshot(t)) for role, t in zip(("dq", "dk", "dv"), out)], attr,
            library=True)
    for t, i in zip(out[:3], made):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})
