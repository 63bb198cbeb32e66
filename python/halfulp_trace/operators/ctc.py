# SPDX-License-Identifier: Apache-2.0
"""The loss of connectionist temporal classification (Graves et al., 2006) and its gradient: for each time one sum over
the states that lead to a state, in logarithms, each of which is judged. PyTorch returns the sums from the first time
on, alpha; those from the last time on, beta, are the alpha of the reversed loss, which PyTorch computes here."""
import torch

from ..flat import flat, picked
from ..formats import FORMATS, Unknown
from ..values import Value, snapshot
from .formula import nearest, rounding
from .operands import floats
from .table import operator

NAME = "alpha of _ctc_loss"


class Lattice:
    """The states of a batch: state 2 k + 1 of a text is its label k, the others are blanks."""

    def __init__(self, a):
        self.p = snapshot(a["log_probs"])
        self.times, self.batch, self.classes = self.p.shape
        self.inputs, self.lengths = (torch.as_tensor(a[k]).reshape(-1).tolist() for k in ("input_lengths",
                "target_lengths"))
        targets, self.blank = a["targets"].detach().cpu(), a["blank"]
        starts = torch.tensor([0] + self.lengths).cumsum(0)
        self.texts = [targets[b, :n] if targets.dim() > 1 else targets[starts[b]:starts[b] + n]
                      for b, n in enumerate(self.lengths)]
        self.width = 2 * max(self.lengths, default=0) + 1
        self.labels = torch.full((self.batch, self.width), self.blank)
        for b, text in enumerate(self.texts):
            self.labels[b, 1:2 * len(text):2] = text
        self.ends = 2 * torch.tensor(self.lengths)
        if not self.p.isfinite().all() or min(self.inputs, default=0) < 1:
            raise Unknown("no time, or a logarithm of a probability that is not finite")
        if any((text == self.blank).any() for text in self.texts):   # of which PyTorch's gradient leaves one out
            raise Unknown("a text with blanks")

    def inside(self, t, alpha):
        """Which states have an alignment at time t: a truth value each, and its place among those."""
        state = torch.arange(self.width)
        there = (torch.tensor(self.inputs) > t)[:, None] & (state <= self.ends[:, None])
        there &= alpha[:, t, :self.width].isfinite()
        return there, there.reshape(-1).cumsum(0).reshape(there.shape) - 1

    def sources(self, before, place, there):
        """For each state that has an alignment the places of the up to three that lead to it, else -1."""
        back = []
        for step in (0, 1, 2):
            at = torch.full(there.shape, -1)
            if step < self.width:
                mine = torch.where(before, place, -1)[:, :self.width - step]
                if step == 2:                    # over a blank, to another label
                    mine = torch.where(self.labels[:, 2:] != self.labels[:, :-2], mine, -1)
                at[:, step:] = mine
            back.append(at[there])
        return torch.stack(back, 1)

    def emitted(self, t, there):
        """The places of the logarithms of probabilities of these states' labels at time t."""
        b = torch.arange(self.batch)[:, None].expand(there.shape)
        return ((t * self.batch + b) * self.classes + self.labels)[there]

    def reversed(self):
        """The arguments of the loss of the same texts from their ends on."""
        p, text = self.p.clone(), torch.full((self.batch, max(self.width // 2, 1)), 0)
        for b, (n, m) in enumerate(zip(self.inputs, self.lengths)):
            p[:n, b] = self.p[:n, b].flip(0)
            text[b, :m] = self.texts[b].flip(0)
        return {"log_probs": p, "targets": text, "input_lengths": self.inputs, "target_lengths": self.lengths,
                "blank": self.blank}


def beyond(ids_at, nothing):
    """Places, of which those below 0 become that of the element that stands for no state."""
    return torch.where(ids_at < 0, nothing, ids_at)


def agreeing(guess, computed, want):
    """The number next to each guess by which computed(number) is what is wanted, or else is nearest to it."""
    best, least = guess, (computed(guess).double() - want.double()).abs()
    up = down = guess
    for _ in range(3):
        up, down = (torch.nextafter(x, torch.full_like(x, e)) for x, e in ((up, torch.inf), (down, -torch.inf)))
        for x in (up, down):
            far = (computed(x).double() - want.double()).abs()
            best, least = torch.where(far < least, x, best), torch.minimum(far, least)
    return best


def total(s, ids, at, computed=None, want=None):
    """The logarithm of the sum of exponentials of the elements at places, row by row; that beside which what is
    computed of it is what PyTorch has."""
    none = s.constant(-torch.inf, s.values[ids[0]].dtype, (1,))
    nothing = sum(s.values[i].numel() for i in ids)
    i = picked(s, ids + [none], beyond(at, nothing), "states")
    guess = torch.logsumexp(s.values[i].double(), 1).to(s.values[i].dtype)
    data = guess if computed is None else agreeing(guess, computed, want)
    return s.call("logsumexp", [i], [("total", data)], {"axis": 1, "axes": 1}, library=True)[0]


def recursion(s, grid, alpha, logp, back=None):
    """The calls that make alpha, time by time. Returns the program's tensors of each time. back turns the place of a
    probability in the reversed loss into that in this one."""
    ids, before = [], None
    for t in range(max(grid.inputs)):
        there, place = grid.inside(t, alpha)
        own = alpha[:, t, :grid.width][there]
        at = grid.emitted(t, there)
        p = picked(s, [logp], at if back is None else back[at], "emitted")
        if t == 0:
            ids.append(p)
            if not torch.equal(s.values[p], own):
                raise Unknown("sums that begin in another way")
        else:
            mine = s.values[p]
            above = total(s, ids[-1:], grid.sources(*before, there), lambda x, mine=mine: x + mine, own)
            if not torch.equal(s.values[above] + mine, own):
                raise Unknown("sums of another kernel")
            ids.append(s.call("add", [above, p], [("alpha", own)])[0])
        before = there, place
    return ids


def offsets(s, ids):
    return torch.tensor([0] + [s.values[i].numel() for i in ids]).cumsum(0)


def whole(grid, s, ids, alpha):
    """The place of each state of each time among the tensors of all times, else -1: [batch, time, state]."""
    starts, at = offsets(s, ids), []
    for t in range(len(ids)):
        there, place = grid.inside(t, alpha)
        at.append(torch.where(there, place + starts[t], -1))
    return torch.stack(at, 1)


@operator("_ctc_loss")
def ctc_loss(s, a, out):
    loss, alpha = out
    floats(s, loss)
    s.lists.append([float(n) for n in torch.as_tensor(a["target_lengths"]).reshape(-1)])   # by which a mean divides
    grid, own, sums = Lattice(a), snapshot(loss), snapshot(alpha).reshape(alpha.shape)
    logp = flat(s, s.input(a["log_probs"]))
    ids = recursion(s, grid, sums, logp)
    at, rows, last = whole(grid, s, ids, sums), torch.arange(grid.batch), torch.tensor(grid.inputs) - 1
    final = torch.stack([at[rows, last, grid.ends], torch.where(grid.ends > 0, at[rows, last, (grid.ends - 1).clamp(
        min=0)], -1)], 1)
    fits = (final >= 0).any(1)                   # whether there is time enough for the text
    if not torch.equal(fits, own.isfinite()):
        raise Unknown("a loss that is not finite")
    s.known[s.key(alpha)] = Value(None, behind=ids, name=NAME)
    if not fits.any():
        s.known[s.key(loss)] = s.unmade(loss, "loss")
        return
    made = total(s, ids, final[fits], torch.neg, own[fits])
    made = s.call("neg", [made], [("loss", own[fits])])[0]
    if not fits.all():
        endless = s.constant(torch.inf, own.dtype, (1,))
        made = picked(s, [made, endless], torch.where(fits, fits.cumsum(0) - 1, int(fits.sum())), "loss")
    s.known[s.key(loss)] = Value(own, {"plain": made})


def from_the_end(s, grid, logp):
    """The program's tensors of beta, time by time, and the place of each state's among them: [batch, time, state]."""
    other = grid.reversed()
    mirror, beta = Lattice(other), torch.ops.aten._ctc_loss(*other.values())[1]
    order = torch.arange(grid.p.numel()).reshape(grid.p.shape)
    for b, n in enumerate(grid.inputs):
        order[:n, b] = order[:n, b].flip(0)
    ids = recursion(s, mirror, beta, logp, order.reshape(-1))
    at = whole(mirror, s, ids, beta)
    for b, (n, end) in enumerate(zip(grid.inputs, grid.ends.tolist())):
        at[b, :n, :end + 1] = at[b, :n, :end + 1].flip(0, 1)
    return ids, at


def by_label(grid, kept):
    """Of each label that occurs the place in [time, batch, class], and a row of the places of its states among those
    that are kept, in the order in which PyTorch adds them up; -1 fills the row."""
    place, rows = kept.reshape(-1).cumsum(0).reshape(kept.shape) - 1, {}
    for b, t, state in kept.nonzero().flip(0).tolist():
        c = int(grid.labels[b, state])
        rows.setdefault((t * grid.batch + b) * grid.classes + c, []).append((b, t, state))
    at = torch.full((len(rows), max(map(len, rows.values()))), -1)
    for k, cells in enumerate(rows.values()):
        at[k, :len(cells)] = place[tuple(torch.tensor(cells).T)]
    return torch.tensor(list(rows)), at


def expected(s, both, at, p, losses, dy, want):
    """The program's tensor of exp(log(sum of exp(alpha + beta)) + loss - p) of each label that occurs, and its
    argument's. Where roundings inside of PyTorch's kernel are not known they are those that agree with its result."""
    loss, mine = s.values[losses], s.values[p]
    slope, prior = s.values[dy].double(), mine.double().exp()
    grain = 2 * torch.finfo(mine.dtype).eps * prior      # of PyTorch's own exponential

    def argument(x):
        return x + loss - mine
    guess = torch.logsumexp(torch.where(at < 0, -torch.inf, s.values[both].double()[at]), 1).to(mine.dtype)
    least, most = (prior - e / slope for e in rounding(want))
    ends = torch.minimum(least, most) - grain, torch.maximum(least, most) + grain
    fine = nearest(argument(guess).double().exp(), ends)
    fine = torch.where(slope != 0, fine, argument(guess).double().exp())
    every = total(s, [both], at, argument, fine.log())
    above = s.call("add", [every, losses], [("above", s.values[every] + loss)])[0]
    arg = s.call("sub", [above, p], [("share", s.values[above] - mine)])[0]
    had = prior.to(mine.dtype)
    own = agreeing(s.values[arg].double().exp().to(mine.dtype), lambda x: (had - x) * s.values[dy], want)
    return s.call("exp", [arg], [("expected", own)], library=True, compute=FORMATS[mine.dtype])[0]


@operator("_ctc_loss_backward")
def ctc_loss_backward(s, a, out):
    """(exp(p) - exp(log(sum of exp(alpha + beta)) + loss - p)) dy, whose sum is over the states of a label."""
    floats(s, out)
    grid, own, alpha = Lattice(a), snapshot(out), snapshot(a["log_alpha"]).reshape(a["log_alpha"].shape)
    value, fits = s.old(a["log_alpha"]), snapshot(a["neg_log_likelihood"]).isfinite()
    if value.name != NAME or not fits.all() and not a["zero_infinity"] or not fits.any():
        raise Unknown("a loss that is not finite, or one that was not recorded")
    p, dy, shape = s.input(a["log_probs"]), s.input(a["grad"]), tuple(own.shape)
    logp, first = flat(s, p), whole(grid, s, value.behind, alpha)
    later, second = from_the_end(s, grid, logp)
    kept = (first >= 0) & (second >= 0) & fits[:, None, None]
    i, j = picked(s, list(value.behind), first[kept], "alpha"), picked(s, later, second[kept], "beta")
    both = s.call("add", [i, j], [("both", s.values[i] + s.values[j])])[0]
    where, at = by_label(grid, kept)
    text = where // grid.classes % grid.batch
    some = expected(s, both, at, picked(s, [logp], where, "logp"),
            picked(s, [s.input(a["neg_log_likelihood"])], text, "loss"), picked(s, [dy], text, "dy"),
            own.reshape(-1)[where])
    back = torch.full((own.numel(),), -1)
    back[where] = torch.arange(len(where))
    other = picked(s, [some], back.reshape(shape), "expected")
    runs = (torch.arange(grid.times)[:, None] < torch.tensor(grid.inputs)) & fits
    by = picked(s, [dy], torch.where(runs, torch.arange(grid.batch), -1)[:, :, None].expand(shape).contiguous(), "dy")
    had = agreeing(s.values[p].double().exp().to(own.dtype), lambda x: (x - s.values[other]) * s.values[by], own)
    had = s.call("exp", [p], [("p", had)], library=True, compute=FORMATS[own.dtype])[0]
    rest = s.call("sub", [had, other], [("rest", s.values[had] - s.values[other])])[0]
    s.result("mul", [rest, by], out, role="dx", library=True)
