# SPDX-License-Identifier: Apache-2.0
"""Functions of complex numbers, their quotients and numbers beside them, as the recorder has them (operators.py says
how they are judged): near their axes, of small and large magnitudes, forward and backward."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, judge, normal, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
ONLY = {'formats': ('fp32',)}


def both(f):
    """f of complex numbers with these parts; of a result its parts."""
    def of(*x):
        z = f(*(torch.complex(a, b) for a, b in zip(x[::2], x[1::2])))
        return torch.view_as_real(z) if z.is_complex() else z
    return of


def of_sizes(*shape):
    return lambda g: torch.randn(*shape, generator=g) * 2.0 ** torch.randint(-5, 6, shape, generator=g)


def row(name, f, n=1, draw=normal):
    return Row(name, both(f), *(draw(4, 6) for _ in range(2 * n)), **ONLY)


ROWS = [
    row('exp', torch.exp),
    row('exp_sizes', torch.exp, draw=lambda *s: lambda g: of_sizes(*s)(g).clamp(-40, 40)),
    row('log', torch.log),
    row('log_sizes', torch.log, draw=of_sizes),
    row('angle', torch.angle),
    row('angle_sizes', torch.angle, draw=of_sizes),
    row('over', torch.div, 2),
    row('over_sizes', torch.div, 2, of_sizes),
    row('over_number', lambda z: z / (3 - 4j)),
    row('number_over', lambda z: 2 / z),
    row('reciprocal', torch.reciprocal),
    row('times_number', lambda z: z * 2j),
    row('number_times', lambda z: (1 - 2j) * z),
    row('times_whole', lambda z: z * torch.arange(1, 7)),
    row('plus_number', lambda z: z + 1),
    row('from_twice', lambda z, w: torch.rsub(z, w, alpha=3), 2),
    row('minus_number', lambda z: 2j - z),
    row('phase', lambda z: torch.exp(1j * z.real)),
    row('of_magnitude', lambda z: torch.tanh(z.abs()) * torch.exp(1j * z.angle())),
    Row('beside_real', lambda x, a, b: torch.view_as_real(torch.complex(a, b) + x), normal(6), normal(4, 6),
        normal(4, 6), **ONLY),
    Row('real_times', lambda x: torch.view_as_real(x * (0.5 + 2j)), normal(4, 6), **ONLY),
    Row('polar', lambda r, t: torch.view_as_real(torch.polar(r, t)), normal(4, 6), normal(4, 6), **ONLY),
]
judge('complex', ROWS)
finish()
