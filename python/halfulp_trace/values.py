# SPDX-License-Identifier: Apache-2.0
"""Values of PyTorch's tensors, and what names and describes them."""
import ctypes
import math

import torch

from .arena import copied
from .formats import FORMATS, RANK, WHOLE


class Value:
    """The values that a tensor of PyTorch had at some time, and the program's tensors that hold them: `plain`, in
    PyTorch's own order of axes, and in halfulp's layouts. What is missing is made by a move. Where no format holds
    the values `data` is None, `behind` has the program's tensors that they depend on, and `name` says what made
    them, and `why` why nothing judges that. `late` makes the call that gives `data` its tensor, once something
    reads it. Of a tensor that was made empty `filled` has what was written to some of its elements: tensors of the
    program, and which of their elements each one is."""

    def __init__(self, data, ids=None, behind=(), late=None, name=None, filled=None, why=None):
        self.data, self.ids, self.behind, self.late, self.mark = data, dict(ids or {}), tuple(behind), late, None
        self.name, self.filled, self.why = name, filled, why

    def is_hollow(self):
        """Whether these are the values of memory that was not yet written to everywhere."""
        return self.data is None and self.name == "empty"

    def holds(self, t):
        """Whether t still has these values: as bits on the host, elsewhere as far as a fingerprint tells."""
        if self.data is None or not holdable(t) or tuple(self.data.shape) != folded(t.size()):
            return True
        if t.device.type == "cpu":
            return same_words(t, self.data)
        if self.mark is None:
            self.mark = fingerprint(self.data)
        return self.mark == fingerprint(t)


def whole(t):
    """A tensor with memory of its own in place of zeros without any, which forward derivatives have."""
    return torch.zeros(t.shape, dtype=t.dtype, device=t.device) if t._is_zerotensor() else t


def words(t):
    """The bits of t's elements as whole numbers; of whole numbers those of the numbers as the program has them."""
    t = whole(t.detach())
    t = (t.to(WHOLE[t.dtype]) if t.dtype in WHOLE else t).resolve_conj().resolve_neg()
    return t.view(WORDS[t.element_size()])


memcmp = ctypes.CDLL(None).memcmp
memcmp.argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t


def same_words(t, data):
    """Whether a tensor on the host has the bits of data, in the order of its elements."""
    if t.dtype == data.dtype and t.is_contiguous() and data.is_contiguous() and not (
            t.is_neg() or t.is_conj() or t._is_zerotensor()):
        return memcmp(t.data_ptr(), data.data_ptr(), data.numel() * data.element_size()) == 0
    return torch.equal(words(t).reshape(data.shape), words(data))


# The whole numbers as which the bits of an element are read, by its bytes.
WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
SIDE = 1024


def fingerprint(t):
    """A number that other bits, or the same in another order, almost surely change. It is made where the tensor is, by
    sums of rows and of columns modulo 2^64, weighted by their place."""
    bits = words(t).contiguous().reshape(-1)
    size = bits.element_size()
    if bits.numel() * size % 8 == 0 and bits.storage_offset() * size % 8 == 0 and bits.data_ptr() % 8 == 0:
        bits = bits.view(torch.int64)
    n = bits.numel() // SIDE * SIDE
    total = 0
    for part in (bits[:n].view(-1, SIDE), bits[n:].view(1, -1)):
        for axis in (0, 1):
            sums = part.sum(axis, dtype=torch.int64)
            place = torch.arange(1, len(sums) + 1, device=sums.device)
            total = total * 31 + int((sums * (place * 0x2545F4914F6CDD1D)).sum()) & (1 << 64) - 1
    return total


def geometry(t):
    if t.layout is not torch.strided or t.is_nested:
        return t.dtype, 0, (), ()
    return t.dtype, t.storage_offset(), tuple(t.size()), tuple(t.stride())


def has_graph(t):
    """Whether autograd knows what t was made of. PyTorch refuses to say so of a view without a graph whose memory was
    written to since."""
    try:
        return t.grad_fn is not None
    except RuntimeError:
        return False


def holdable(t):
    """Whether a tensor of the program can have this tensor's values, as far as its type and shape tell."""
    return (t.layout is torch.strided and not t.is_nested and t.device.type != "meta" and 0 < t.numel()
            and (t.dtype in FORMATS or t.dtype in WHOLE))


def rows_of(t):
    """The tensors with memory of their own that have the elements of a sparse tensor."""
    if t.layout is torch.sparse_coo:
        return [t._values()]
    return [t.values()] if t.layout in (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc) else []


def tensors_in(x):
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from tensors_in(y)
    elif isinstance(x, dict):
        for y in x.values():
            yield from tensors_in(y)


def parts(name, t):
    """The plain tensors that t is made of, by name: itself, the pairs of a complex one, or those that a subclass such
    as DTensor wraps."""
    if t.is_complex() and t.layout is torch.strided and not t.is_conj():
        return [(name, torch.view_as_real(t))]
    if type(t) in (torch.Tensor, torch.nn.Parameter) or not hasattr(t, "__tensor_flatten__"):
        return [(name, t)]
    inner = [(k, getattr(t, k)) for k in t.__tensor_flatten__()[0]]
    inner = [(k, x) for k, x in inner if isinstance(x, torch.Tensor)]
    if len(inner) == 1:
        return parts(name, inner[0][1])
    return [p for k, x in inner for p in parts("%s_%s" % (name, k.strip("_")), x)]


def folded(shape):
    """A shape as the program has it: of more axes than halfulp has the first ones are one."""
    shape = tuple(shape)
    while len(shape) > RANK:
        shape = (shape[0] * shape[1],) + shape[2:]
    return shape


def snapshot(t):
    """A copy of t's values that nothing writes to, in memory of its own, row-major."""
    t = whole(t.detach())
    return copied(t, WHOLE.get(t.dtype, t.dtype)).reshape(folded(t.shape))


def counts(t):
    """The largest finite magnitude of a tensor; how many elements are other than 0, are 0, and are not finite."""
    if t.numel() == 0:
        return 0.0, 0, 0, 0
    if t.element_size() == 1:
        t = t.to(torch.float32)
    low, high = (float(x) for x in t.aminmax())
    nonzero, bad = int(t.count_nonzero()), 0
    if not (-math.inf < low and high < math.inf):        # NaN is neither
        fine = t.isfinite()
        bad = t.numel() - int(fine.count_nonzero())
        t = t[fine]
        nonzero = int(t.count_nonzero())
        low, high = (float(x) for x in t.aminmax()) if t.numel() else (0.0, 0.0)
    return max(-low, high, 0.0), nonzero, t.numel() - nonzero, bad


def bind(func, args, kwargs):
    """The arguments by the schema's names, with its defaults."""
    a = {}
    for k, arg in enumerate(func._schema.arguments):
        a[arg.name] = args[k] if k < len(args) and not arg.kwarg_only else kwargs.get(arg.name, arg.default_value)
    return a


def tensor_name(name):
    """LAYER.ROLE of halfulp: the modules of a path are parted by a stroke, as in layer1/0/conv1.weight."""
    layer, _, role = name.replace("_orig_mod.", "").rpartition(".")
    return "%s.%s" % (layer.replace(".", "/") or "model", role)
