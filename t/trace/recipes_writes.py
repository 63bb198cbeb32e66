# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings that put tensors together in memory that was made empty, as mixtures of experts gather what
their experts made."""
import torch

from tutorials import entropy, net, plain

WRITES = {}
TURNED = torch.arange(31, -1, -1)
THIRD = TURNED % 3 == 0


def into(f):
    """A training whose activations go through memory that f fills."""
    def loss(model, x, y):
        h = torch.tanh(model[0](x))
        return entropy(model[2](f(h, torch.empty_like(h)).to(x.dtype)), y)
    WRITES[f.__name__] = plain(torch.optim.SGD, loss, lambda: net(16, 32, 4), lr=0.1)
    return f


@into
def by_masks(h, out):
    out[THIRD] = h[THIRD] * 2
    out[~THIRD] = torch.sin(8 * h[~THIRD])
    return out


@into
def by_indices(h, out):
    """Some of the rows are written twice, and none is left out."""
    out[TURNED[:20]] = h[:20] * 2
    out.index_copy_(0, TURNED[12:], torch.sin(8 * h[12:]))
    return h * out


@into
def at_once(h, out):
    return h * torch.sin(8 * out.scatter_(0, TURNED[:, None].expand(-1, 32), h.detach()))


@into
def in_a_half(h, _):
    out = torch.empty(2, 32, 32, dtype=h.dtype)
    out[0].index_fill_(0, TURNED[:7], 0.5).index_copy_(0, TURNED[7:], h[:25])
    out[1] = h
    return out.prod(0)


@into
def by_choice(h, out):
    """What is written where is a choice by values."""
    first = h[:, 0] > 0
    out[first] = h[first] * 2
    out[~first] = torch.sin(8 * h[~first])
    return out
