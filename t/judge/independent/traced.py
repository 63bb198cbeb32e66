# SPDX-License-Identifier: Apache-2.0
# One traced step as the tables' recomputations see it; what several of them need is made once.
from .calls import Exact
from .files import NotFinite
from .judge import Judged, finite, recorded
from .step import Step
from .swamping import counts


class Traced:
    """SAMPLE: by tensor's name, the elements judged; None: all. WIDEST: how far, of itself, a propagated figure may be off."""

    def __init__(self, run, step, sample=None, ideal=True, widest=1e-12):
        self.run, self.step, self.sample, self.widest = run, step, sample, widest
        self.exact = Exact(run.program, run.trace(step))
        self.memo = {}
        self.skipped = False
        for call in run.calls:
            if call['op'] == 'finite_check':
                self.skipped = self.exact.t[call['out'][0]].raw(0) != 0
        try:
            self.ideal = Step(run.program, self.exact) if ideal else None
        except NotFinite:
            raise AssertionError('step %d of %s starts from numbers that are not finite: choose another' % (step, run.path))

    def elements(self, t):
        if self.sample is None:
            return list(range(self.exact.t[t].n))
        return self.sample[self.run.tensors[t]['name']]

    def scalar(self, name):
        t = [x['id'] for x in self.run.tensors if x['name'] == name]
        return self.exact.t[t[0]][0] if t else 1

    def finite(self, call):
        """Whether it can be judged here: its operands are finite."""
        key = ('finite', call['id'])
        if key not in self.memo:
            self.memo[key] = recorded(self.exact, call) and finite(self.exact, call)
        return self.memo[key]

    def judged(self, call, k):
        key = ('judged', call['id'], k)
        if key not in self.memo:
            self.memo[key] = Judged(self.exact, call, k, self.elements(call['out'][k]))
        return self.memo[key]

    def counts(self, call, k, i):
        return counts(self.exact, call, k, i, self.run.manifest['seed'], self.step)
