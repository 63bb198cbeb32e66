# SPDX-License-Identifier: Apache-2.0
"""Memory that was written to through views of it: what a tensor holds then is put together of what was written last to
each of its elements."""
import torch

from .flat import picked
from .values import Value, folded, geometry, snapshot


def places(n, shape):
    """Which elements of a storage of n elements a tensor of this geometry has."""
    _, offset, size, stride = shape
    return torch.arange(n).as_strided(size, stride, offset)


def copied_bytes(s, t, key):
    """The Value of a tensor whose memory has the bytes of another one's, which is known; else None."""
    of = s.twins.get(key[:2])
    if of is None:
        return None
    values = [v for (at, version, g), v in s.known.items() if (at, version) == of and g == key[2]]
    return next((Value(v.data, v.ids) for v in values if v.data is not None and v.ids and v.holds(t)), None)


def negated(s, t):
    """The Value of a view that shows the numbers of its memory with the other sign, as the imaginary part of a
    conjugate does."""
    plain = s.value(torch._neg_view(t))
    if plain.data is None:
        return plain
    return Value(-plain.data, {"plain": s.call("neg", [s.get(plain)], [("minus", -plain.data)])[0]})


def composed(s, t, key):
    """The Value of a tensor of PyTorch whose storage was written to since something known of it was read or made;
    None where nothing of it is known."""
    storage, version, (dtype, offset, size, stride) = key
    n = t.untyped_storage().nbytes() // t.element_size()
    at = places(n, key[2]).reshape(-1)
    source, where = torch.full_like(at, -1), torch.zeros_like(at)
    opened = torch.ones(len(at), dtype=torch.bool)
    known = {}
    for (of, v, g), value in s.known.items():
        if of == storage and g[0] == dtype and value.data is not None and value.data.numel():
            known.setdefault(v, []).append((g, value))
    sources = []
    for v in range(version, -1, -1):
        for g, value in sorted(known.get(v, []), key=lambda e: -e[1].data.numel()):
            local = torch.full((n,), -1)
            own = places(n, g).reshape(-1)
            local[own] = torch.arange(len(own))
            hit = opened & (local[at] >= 0)
            if hit.any():
                source[hit], where[hit] = len(sources), local[at][hit]
                sources.append(value)
                opened &= ~hit
            if not opened.any():
                break
        if not opened.any():
            break
        for g in s.writes.get((storage, v), [None]) if v else []:
            hidden = torch.ones(n, dtype=torch.bool)
            if g is not None and g[0] == dtype:  # else what it wrote is not known in detail
                hidden[:] = False
                hidden[places(n, g).reshape(-1)] = True
            opened &= ~hidden[at]
    hidden = any(v.behind for (of, _, g), v in s.known.items() if of == storage and 0 not in g[2])
    if hidden or not sources or ((source < 0) & ~opened).any():
        return None                              # some of it was written by what is not known
    final = snapshot(t)
    ids = [s.get(v) for v in sources]
    if (source < 0).any():
        s_own = s.unmade(t, "x", name="input.x")
        rest = source < 0
        source[rest], where[rest] = len(sources), torch.arange(len(at))[rest]
        ids.append(s.get(s_own))
    starts = torch.tensor([0] + [s.values[i].numel() for i in ids]).cumsum(0)
    i = picked(s, ids, (starts[source] + where).reshape(final.shape), "view")
    if not torch.equal(torch.nan_to_num(s.values[i].float()), torch.nan_to_num(final.float())):
        return None
    return Value(final, {"plain": i})


def viewed(s, whole, parent, t):
    """The Value of any view of a tensor: a selection of its elements; None where it shows others too."""
    if whole.data is None:
        return None
    n = t.untyped_storage().nbytes() // t.element_size()
    local = torch.full((n,), -1)
    own = places(n, geometry(parent)).reshape(-1)
    local[own] = torch.arange(len(own))
    at = local[places(n, geometry(t))].reshape(folded(t.shape))
    if (at < 0).any():
        return None
    return Value(snapshot(t), {"plain": picked(s, [s.get(whole)], at, "view")})


def real(s, z):
    """A complex tensor's real view, by which the step knows it."""
    z = z.detach()
    z = z.conj() if z.is_conj() else z
    view, storage = torch.view_as_real(z), s.storage(z)
    parent = s.parent.get((storage, geometry(z)))
    if s.key(view) not in s.known and parent is not None and parent.is_complex() and (
            (storage, geometry(view)) not in s.parent):
        s.parent[storage, geometry(view)] = real(s, parent)
    return view


def of_complex(s, parent, t):
    """The real view of which t, a real view of the complex tensor `parent`, is another; None where there is none."""
    whole = real(s, parent)
    if geometry(whole) != geometry(t):
        return whole
    above = s.parent.get((s.storage(parent), geometry(parent)))
    return real(s, above) if above is not None and above.is_complex() else None


def is_whole_pair(z, t):
    """Whether t is the real view of a complex tensor z, which is what the step knows z by."""
    return z.is_complex() and not t.is_complex() and not z.is_conj() and (
        geometry(torch.view_as_real(z.detach())) == geometry(t))
