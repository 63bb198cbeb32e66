# SPDX-License-Identifier: Apache-2.0
"""Fused attention of the CPU and its gradients: one call each, whose scores and weights no tensor shows."""
import math

from ..formats import WHOLE, Unknown
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
    if mask is None:
        return []
    i, (rows, keys) = s.input(mask), (q.size(-2), a["key"].size(-2))
    if mask.dtype in WHOLE:
        raise Unknown("a mask of truth values")
    shape = (rows, keys) if mask.dim() == 2 else tuple(q.shape[:-2]) + (rows, keys)
    return [s.spread(i, shape)]


@operator("_scaled_dot_product_flash_attention_for_cpu")
def flash_attention(s, a, out):
    y, lse = out[0], out[1]
    floats(s, a["query"], y)
    attr, ids = attr_of(a), [s.input(a[k]) for k in ("query", "key", "value")] + mask_of(s, a)
    made = s.call("attention", ids, [("y", snapshot(y)), ("lse", snapshot(lse))], attr, library=True)
    for t, i in zip((y, lse), made):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})


@operator("_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(s, a, out):
    floats(s, a["query"], a["grad_out"])
    attr = attr_of(a)
    ids = [s.input(a[k]) for k in ("query", "key", "value", "out", "logsumexp", "grad_out")] + mask_of(s, a)
    made = s.call("attention_dx", ids, [(role, snapshot(t)) for role, t in zip(("dq", "dk", "dv"), out)], attr,
            library=True)
    for t, i in zip(out, made):
        s.known[s.key(t)] = Value(snapshot(t), {"plain": i})
