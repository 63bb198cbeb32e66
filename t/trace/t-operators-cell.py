# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells and layers, einsum, and what is several operators, as the recorder has them (operators.py says how
they are judged). oneDNN's fused LSTM is switched off: it is opaque (doc/torch.md)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, torch, whole  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
F = torch.nn.functional
torch.backends.mkldnn.enabled = False


def layer(make, *args, **how):
    """A layer without parameters of its own: they are the last operands."""
    net = make(*args, **how)
    names = [name for name, _ in net.named_parameters()]

    def f(x, *weights):
        y = torch.func.functional_call(net, dict(zip(names, weights)), (x,))
        return y[0] * 2 if isinstance(y, tuple) else y * 2
    return f, [normal(*p.shape) for p in net.parameters()]


def row(name, x, make, *args, **how):
    formats = how.pop('formats', ('fp32', 'bf16', 'fp16'))
    f, weights = layer(make, *args, **how)
    return Row(name, f, x, *weights, formats=formats)


nn, words = torch.nn, normal(3, 5, 4)
ROWS = [
    row('lstm_cell', normal(3, 4), nn.LSTMCell, 4, 6),
    row('gru_cell', normal(3, 4), nn.GRUCell, 4, 6),
    row('rnn_cell', normal(3, 4), nn.RNNCell, 4, 6),
    row('lstm', words, nn.LSTM, 4, 6, batch_first=True, bidirectional=True),
    row('lstm_layers', words, nn.LSTM, 4, 6, num_layers=2),
    row('gru', words, nn.GRU, 4, 6, num_layers=2, batch_first=True),
    row('rnn', words, nn.RNN, 4, 6, bidirectional=True),
    Row('einsum_sum', lambda x, y: torch.einsum('bij,bjk->k', x, y), normal(3, 4, 5), normal(3, 5, 2)),
    Row('einsum_outer', lambda x, y: torch.einsum('i,j->ij', x, y), normal(4), normal(5)),
    Row('einsum_trace', lambda x: torch.einsum('bii->b', x), normal(3, 4, 4)),
    Row('einsum_heads', lambda x, y: torch.einsum('bhid,bhjd->bhij', x, y), normal(2, 3, 4, 5), normal(2, 3, 6, 5)),
    Row('einsum_three', lambda x, y, z: torch.einsum('ij,jk,kl->il', x, y, z), normal(3, 4), normal(4, 5),
        normal(5, 2)),
    Row('tensordot', lambda x, y: torch.tensordot(x, y, ([1, 2], [0, 1])), normal(3, 4, 5), normal(4, 5, 2)),
    Row('outer', lambda x, y: torch.outer(x, y) + torch.kron(x[:2], y[:2]).sum(), normal(4), normal(5)),
    Row('matmuls', lambda x, y: (x @ y, x[0] @ y, x @ y[0, :, 0], x[0, 0] @ y[0]), normal(3, 4, 5), normal(3, 5, 2)),
    Row('cumulative', lambda x: (x.cummax(1)[0] * 2, x.diff() * 2), normal(3, 7)),
    Row('window', lambda x: x.unfold(0, 3, 1).mean(-1), normal(9, 4)),
    Row('one_hot', lambda x, i: F.one_hot(i, 5).to(x.dtype) @ x, normal(5, 4), whole(5, 7)),
    Row('masked_mean', lambda x, m: (x * m).sum(1) / m.sum(1), normal(3, 7), fixed(lambda g: torch.rand(3, 7,
        generator=g).gt(0.25).float())),
]
judge('cell', ROWS)
finish()
