# SPDX-License-Identifier: Apache-2.0
"""Dropout."""
import torch

from ..formats import Unknown
from .table import operator


@operator("native_dropout")
def native_dropout(s, a, out):
    y, m = out
    if not a["train"] or not 0 < a["p"] < 1:
        raise Unknown("nothing to drop")
    kept = s.unmade(m, "mask")
    s.known[s.key(m)] = kept
    # the mask is divided in the input's format; the backward pass multiplies by the factor in float32
    dropped(s, a["input"], kept, float(torch.tensor(1 / (1 - a["p"]), dtype=y.dtype)), y)


@operator("native_dropout_backward")
def native_dropout_backward(s, a, out):
    dropped(s, a["grad_output"], s.value(a["mask"]), a["scale"], out)


def dropped(s, x, kept, factor, y):
    i = s.input(x)
    data = torch.where(kept.data != 0, s.values[i], torch.zeros((), dtype=s.values[i].dtype))
    t = s.call("mask", [s.ids(kept), i], [("kept", data)])[0]
    s.result("scale", [t], y, {"factor": factor}, library=True)
