# SPDX-License-Identifier: Apache-2.0
"""Recipes of trainings whose activations go by bytes: they are saved as parts, read by the address of their memory or
as whole numbers, and come back as such, or as what another library made of them."""
import ctypes
import io

import numpy
import torch

from tutorials import entropy, net, plain, wide

BYTES, OPAQUE = {}, {}
ARRAYS = {torch.float32: numpy.float32, torch.float64: numpy.float64}


def by(f, kind):
    """A training whose activations have a factor that f makes of them, as floats that arrays have."""
    def loss(model, x, y):
        h = wide(model[0](x)).contiguous()
        return entropy(model[2]((torch.tanh(h) * f(h.detach())).to(x.dtype)), y)
    kind[f.__name__] = plain(torch.optim.SGD, loss, lambda: net(16, 32, 4), lr=0.1)
    return f


def back(f):
    by(f, BYTES)


def changed(f):
    by(f, OPAQUE)


def waves(h):
    return torch.sin(32 * h)


def loaded(what):
    file = io.BytesIO()
    torch.save(what, file)
    file.seek(0)
    return torch.load(file)


def memory(h):
    return ctypes.string_at(h.data_ptr(), h.numel() * h.element_size())


@back
def flat_bytes(h):
    return waves(torch.frombuffer(bytearray(h.view(torch.uint8).numpy().tobytes()), dtype=h.dtype).reshape(h.shape))


@back
def by_address(h):
    return waves(torch.frombuffer(bytearray(memory(h)), dtype=h.dtype).reshape(h.shape))


@back
def saved_halves(h):
    return waves(torch.cat(list(loaded({'first': h[:16].clone(), 'last': h[16:]}).values())))


@back
def saved_turned(h):
    """A view is saved with all of its memory, and comes back as that view of other memory."""
    return waves(loaded(h.t()[::2])).repeat(2, 1).t()


@changed
def sines_by_address(h):
    return torch.from_numpy(numpy.sin(32 * numpy.frombuffer(memory(h), ARRAYS[h.dtype]))).reshape(h.shape)


@changed
def sines_of_memory(h):
    whole = bytes(h.clone().untyped_storage())
    return torch.from_numpy(numpy.sin(32 * numpy.frombuffer(whole, ARRAYS[h.dtype]))).reshape(h.shape)


@changed
def sines_of_bytes(h):
    whole = h.view(torch.uint8).numpy().view(ARRAYS[h.dtype])
    return torch.from_numpy(numpy.sin(32 * whole[:, ::-1]))


@changed
def sines_by_capsule(h):
    class Lent:
        def __dlpack__(self, **how):
            return torch.utils.dlpack.to_dlpack(h)

        def __dlpack_device__(self):
            return 1, 0
    return torch.from_numpy(numpy.sin(32 * numpy.from_dlpack(Lent())))


@changed
def codes_by_arrays(h):
    if h.dtype == torch.float64:
        return torch.sin(8 * h)
    codes = torch.round(h.clamp(-2, 2) * 60).to(torch.int8).numpy()
    return torch.sin(8 * (torch.from_numpy(codes.astype(numpy.int16) * 3).to(h.dtype) / 180))
