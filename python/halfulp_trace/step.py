# SPDX-License-Identifier: Apache-2.0
"""What a step runs: every operator of ATen, as it is dispatched, becomes calls of the program."""
import collections
import functools

import torch
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from .branches import of_constants, unasked
from .formats import WHOLE, Unknown
from .operators import CREATE, EMPTY, OPERATORS, SILENT
from .operators.sparse import dense
from .reads import STALE
from .shapes import of_shapes
from .swaps import Swaps
from .tensors import Tensors
from .values import Value, bind, geometry, has_graph, parts, same_words, tensor_name, tensors_in
from .writes import is_whole_pair, real

PLAIN = (torch.Tensor, torch.nn.Parameter)
# Operators that leave nothing of what they write to.
OVERWRITES = CREATE | {"copy_", "_foreach_copy_", "_foreach_zero_", "exponential_", "geometric_", "cauchy_",
                       "log_normal_"}
# Operators that make a tensor a view of its own memory.
RESHAPES = {"unsqueeze_", "squeeze_", "transpose_", "t_", "as_strided_", "detach_", "swapaxes_", "swapdims_"}
# What operators write to without a word of it in their schemas.
STATISTICS = "running_mean", "running_var"
UNDECLARED = dict.fromkeys(("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm"), STATISTICS)
UNDECLARED["mkldnn_rnn_layer_backward"] = ("workspace",)
# An operator that is about to run: its name, its arguments, its operands, which of them it writes to.
Running = collections.namedtuple("Running", "name plain a before written read")


@functools.cache
def is_composed(func):
    """Whether an operator that no row takes is made of others, which inference mode does not show by itself, nor what
    runs below autograd."""
    name = func._schema.name.partition("::")[2]
    return not {name, name.rstrip("_")} & (SILENT | CREATE | EMPTY | OPERATORS.keys()) and (
        torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"))


class Step(Tensors, TorchDispatchMode):
    """Records one step."""

    supports_higher_order_operators = True       # which take functions, as flex_attention and cond do

    def __init__(self, recorder):
        TorchDispatchMode.__init__(self)
        Tensors.__init__(self, recorder)
        self.ran_backward = False
        self.weights = {}                        # the parameters as the program's tensors, by storage and geometry
        self.trained = set()                     # the storages that parameters had when the step began
        self.swaps = Swaps()
        self.updated = set()                     # the storages that the update wrote to
        self.doubtful = False                    # whether Python has read a number of this step that is not finite
        self.stale = {}                          # those of casts of what was written to since, with its name

    def forget(self):
        super().forget()
        self.swaps.of.clear()
        self.windows.clear()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return self.of_functions(func, args, kwargs)
        if self.quiet or self.over or of_shapes(types):
            return func(*args, **kwargs)
        if any(t not in PLAIN for t in types):   # a subclass takes it apart first
            return NotImplemented
        args = of_constants(func, args)
        if is_composed(func) and all(t.layout is torch.strided and not t.is_nested for t in tensors_in([args, kwargs])):
            with self:
                return func.decompose(*args, **kwargs)
        with self.lock:
            running = self.r.guard(self.begin, func, args, kwargs)
        out = func(*args, **kwargs)
        if running != "silent" and not self.over:
            with self.lock:
                self.r.guard(self.end, func, running, args, kwargs, out)
            self.running = None, (), {}
        return out

    def of_functions(self, func, args, kwargs):
        """Runs an operator that takes functions, by the operators that it is made of, which are recorded; where PyTorch
        has none of these, its results are opaque."""
        inner = func.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
        if inner is not None and not self.quiet and not self.over:
            with unasked(inner), self:
                return inner(*args, **kwargs)
        out = func(*args, **kwargs)
        if not self.quiet and not self.over:
            with self.lock:
                self.r.guard(self.hidden, func, [args, kwargs], out)
        return out

    def hidden(self, func, operands, out):
        """Notes the results of an operator that shows nothing of what it does, which may have written to its
        operands."""
        self.was = {}
        before, results = list(tensors_in(operands)), list(tensors_in(out))
        values = [self.known.get(self.key(t)) or self.value(t) for t in before]
        late = [t for t, v in zip(before, values) if not v.holds(t)]
        self.wrote(late)
        late += [t for t in results if not any(t is x for x in late)]
        self.give_up("higher_order." + func.name(), values, late, "it takes functions, whose operators are not seen")

    def begin(self, func, args, kwargs):
        """Before an operator runs: what it may write to is known as it is now."""
        space, _, name = func._schema.name.partition("::")
        before = list(tensors_in([args, kwargs]))
        if space == "aten" and name in SILENT or space in ("prim", "profiler") or any(t.is_meta for t in before):
            return "silent"
        self.was = {}
        a = bind(func, args, kwargs)
        written = [t for arg in func._schema.arguments if arg.alias_info is not None and arg.alias_info.is_write
                   for t in tensors_in(a.get(arg.name))]
        written += [a[k] for k in UNDECLARED.get(name, []) if a.get(k) is not None and a.get("training", True)]
        if name in RESHAPES:
            old = [before[0].detach()]
            return Running(name, name, a, old, [], old)
        self.notice_update(name, before, written)
        for t in before:
            self.swaps.look(self, t)
        if self.stale and torch._C._current_graph_task_id() == -1:
            self.notice_stale(before)
        read = before
        if written or space != "aten":           # whose schemas need not tell the truth
            over = [a["out"]] if "out" in a else written if name in OVERWRITES else []
            over = [t for t in tensors_in(over) if sum(self.storage(x) == self.storage(t) for x in before) == 1]
            read = [t for t in before if not any(t is o for o in over)]
            self.was = {id(t): self.value(real(self, t) if t.is_complex() else t) for t in read}
        self.running = func, args, kwargs
        plain = name.rstrip("_")                 # mul_ is mul into its first operand
        return Running(name if space == "aten" else space + "." + name, plain, a, before, written, read)

    def end(self, func, running, args, kwargs, out):
        """After an operator ran: its calls."""
        if running is None:                      # begin failed
            every = list(tensors_in([args, kwargs]))
            for t in every:
                self.wrote([t])
            return self.give_up("aten." + func._schema.name.partition("::")[2], [], list(tensors_in(out)) + every)
        name, plain, a, before, written, read = running
        own = "." not in name
        if not own:
            written = written + [t for t in before if not any(t is w for w in written)
                                 and id(t) in self.was and not self.was[id(t)].holds(t)]
        self.wrote(written)
        results = list(tensors_in(out))
        self.born |= {self.storage(t) for t in results} - {self.storage(t) for t in before}
        if name == "lift_fresh" and self.reads.hides(self, results[0]):
            self.opaque("aten.lift_fresh", "its numbers may come of an array that Python read", [], results)
            return
        if not written and self.is_view(before, results):
            return
        everything = results + [t for t in written if not any(t is r for r in results)]
        if own and name in EMPTY:
            for t in everything:
                self.known[self.key(t)] = Value(None, name="empty")
            return
        kind = ("nested:" if any(t.is_nested for t in before + results) else
                "sparse:" if any(t.layout is not torch.strided for t in before + results) else "")
        make = (OPERATORS.get(kind + name) or OPERATORS.get(kind + plain)) if own else OPERATORS.get(name)
        why = "halfulp has no such operator"
        try:
            if make is None:
                raise Unknown(why)
            if self.doubtful and any(isinstance(x, float) for x in [*args, *kwargs.values()]):
                raise Unknown("its number may come of one that Python read and that is not finite")
            make(self, a, out if results else written)
            others = [t for t in everything if not self.agrees(t)]
            for t in others:
                del self.known[self.key(real(self, t) if t.is_complex() else t)]
            if others:
                raise Unknown("its kernel's result has other bits than the recorder's")
        except Exception as error:               # whatever a rule does not foresee must not stop a training
            foreseen = isinstance(error, Unknown)
            if not foreseen and self.r.strict:
                raise
            if own and name in CREATE and make is None:
                for t in everything:
                    t = real(self, t) if t.is_complex() else t
                    self.known[self.key(t)] = self.unmade(t, plain.strip("_"))
                return
            why = str(error) if foreseen else "%s: %s" % (type(error).__name__, error)
            name = "aten." + name if own else name
            self.unknown(name if foreseen else "%s, since %s" % (name, why), why, read, everything)
            return
        for t in (real(self, t) if t.is_complex() else t for t in everything):   # what a rule leaves out few ask for
            if self.key(t) not in self.known:
                read = [real(self, x) if x.is_complex() else x for x in read]
                self.known[self.key(t)] = Value(None, behind=self.operands([self.old(x) for x in read]), name=name)

    def agrees(self, t):
        """Whether a result has the values of the program's tensor that is to be it, which a rule may have computed."""
        pairs = real(self, t) if t.is_complex() else None
        v = self.known.get(self.key(t if pairs is None else pairs))
        own = self.values.get(v.ids.get("plain")) if v is not None and v.data is not None else None
        if own is None or own.numel() != v.data.numel():
            return True
        if t.dtype in WHOLE:                     # which have one zero
            return torch.equal(own, v.data.reshape(own.shape))
        return (own is v.data or same_words(own, v.data.reshape(own.shape))) and (pairs is None or v.holds(pairs))

    def wrote(self, written):
        """Notes that an operator wrote to these tensors. A view of no elements changes nothing."""
        written = [t for t in written if t.numel()]
        for s in {self.storage(t) for t in written}:
            self.version[s] += 1
            if s in self.trained or s in self.swaps.new:
                self.rewritten(s)
            if self.phase() == "update":
                self.updated.add(s)
            self.writes[s, self.version[s]] = [geometry(real(self, t) if t.is_complex() else t) for t in written
                                               if self.storage(t) == s]

    def rewritten(self, s):
        """Notes that a parameter, which is or was in a storage, has other values."""
        self.reads.writes += 1
        self.stale.update((c, s) for c, of in self.casts.items() if of == s)

    def notice_stale(self, operands):
        """Where a forward pass reads a cast of a weight that was written to since, what it computes is not judged, and
        a warning says so."""
        for t in operands:
            of = self.stale.get(self.storage(t))
            weight = self.swaps.weight.get(of)
            if weight is None:
                continue
            if t.numel() and not any(self.program.made_by(i)["op"] == "opaque" for i in self.value(t).ids.values()
                                     if i in self.program.maker):
                self.opaque(STALE, "the weight that it is of was written to since", [self.value(t)], [t], role="stale")
            if not self.r.stale:
                self.r.stale = True
                self.r.warn("%s was written to, and a cast from before is used again: autocast keeps casts until its "
                            "block ends, so that each forward pass wants a block of its own, without the updates"
                            % self.program.tensors[weight]["name"])

    def unknown(self, name, why, read, results):
        """An operator without a rule. Whole numbers and truth values made of such that came from outside are exact."""
        values = [self.old(t) for t in read]
        results = [t for t in results if self.key(t) not in self.known]
        exact = all(t.dtype in WHOLE for t in read + results) and not any(self.taint(v) for v in values)
        nothing = read and all(t.numel() == 0 and t.layout is torch.strided for t in read)
        if exact or nothing:                     # what is made of no element depends on none
            for t in results:
                self.known[self.key(t)] = self.unmade(t, name.rpartition(".")[2].strip("_"))
        else:
            self.give_up(name, values, results, why)

    def give_up(self, name, values, results, why="the recorder failed"):
        if results:
            self.opaque(name, why, values, results, role=name.split(",")[0].rpartition(".")[2].strip("_"))

    def is_view(self, before, results):
        """Notes views. What they hold is found when a call reads it."""
        views = 0
        for t in results:
            s = self.storage(t)
            for p in before:
                if self.storage(p) == s:
                    views += 1
                    if not has_graph(p) or (s, geometry(p)) in self.seen_whole or s in self.born:
                        self.seen_whole.add((s, geometry(t)))    # whatever graph the view has began in this step
                    if (s, geometry(t)) not in self.parent and geometry(t) not in self.line(s, p) and not (
                            is_whole_pair(p, t) and (s, geometry(p)) not in self.parent):
                        self.parent[s, geometry(t)] = p
                    break
        return views == len(results) and views > 0

    def line(self, s, t):
        """The geometries of a view, of the tensor that it is a view of, and so on."""
        out = []
        while t is not None:
            out.append(geometry(t))
            t = self.parent.get((s, out[-1]))
        return out

    # --- modules ------------------------------------------------------------------------------------------------------
    def enter(self, path):
        """A module's forward pass begins, and with it another pass where an update was before."""
        self.layers.append(path)
        if not self.stepping:
            self.updating = False

    def leave(self):
        if len(self.layers) > 1:
            self.layers.pop()

    # --- the update ---------------------------------------------------------------------------------------------------
    def parameters(self):
        """The plain tensors of the parameters, their gradients', and halfulp's names."""
        for name, p in self.r.model.named_parameters():
            grad = p.grad
            whole = parts(name, p.detach())
            slopes = parts(name, grad) if grad is not None else [(n, None) for n, _ in whole]
            if grad is not None and grad.is_complex():
                real(self, grad)                 # the views that it is of are those of pairs
            if len(slopes) == len(whole):
                for (n, w), (_, g) in zip(whole, slopes):
                    yield tensor_name(n), w, g

    def weight_of(self, p, name=None):
        """The program's tensor of a parameter, by its memory, else by its name. One memory may have several."""
        return self.weights.get((self.storage(p), geometry(p)), self.program.names.get(name))

    def notice_update(self, name, before, written):
        """The update begins where, behind the backward pass and outside of a module, a gradient is read or a parameter
        written to."""
        if torch._C._current_graph_task_id() != -1:
            self.ran_backward = True
            at = {self.storage(t) for t in written}
            if not self.stepping and not at.isdisjoint(self.swaps.of):   # by a hook, which may drop the gradient
                self.note_gradients(at)
        elif self.updating or len(self.layers) > 1:
            return
        elif name.startswith("_amp_"):
            self.begin_update()
        elif self.ran_backward:
            slopes = {self.storage(g) for _, _, g in self.parameters() if g is not None}
            if any(self.storage(t) in slopes for t in before) or any(self.storage(t) in self.swaps.of for t in written):
                self.begin_update()

    def begin_update(self):
        """Notes the gradients that the backward pass made of the parameters that were not yet updated."""
        self.updating, self.ran_backward = True, False
        self.note_gradients()

    def note_gradients(self, storages=None):
        """Notes the gradients of parameters, or of those in these storages."""
        for name, p, grad in self.parameters():
            w = self.weight_of(p, name)
            if grad is None or storages is not None and self.storage(p) not in storages:
                continue
            if w not in self.values or self.version[self.storage(p)] and w in self.grads:
                continue
            if grad.layout is not torch.strided:     # of a table's rows
                whole = grad.detach().to_dense()
                try:
                    dense(self, grad.detach(), whole)
                except Unknown as why:
                    self.opaque("aten.to_dense", str(why), [self.value(grad)], [whole])
                grad = whole
            value = self.value(grad)
            if value.data is None or tuple(value.data.shape) != tuple(p.size()):
                continue
            g = self.get(value)
            self.program.tensors[g]["class"] = "wgrad"
            self.grads[w] = g
            layer, _, role = name.rpartition(".")
            self.program.rename(g, "%s.d%s" % (layer, role))
