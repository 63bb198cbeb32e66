# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms, and what is done to their complex results, as the recorder has them (operators.py says how they
are judged). Sizes are powers of two, composite, and prime; numbers that are spread or alone find a bound too narrow."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from operators import Row, fixed, judge, normal, positive, torch  # noqa: E402
from tap import finish, home  # noqa: E402

os.chdir(home())
fft, pairs, parts = torch.fft, torch.view_as_complex, torch.view_as_real
ONLY = {'formats': ('fp32',)}                    # PyTorch has no complex numbers of 16 bits on a processor


def spread(*shape):
    """Numbers of many magnitudes, of which one is far above the others."""
    def draw(g):
        x = torch.randn(*shape, generator=g) * 2.0 ** torch.randint(-12, 13, shape, generator=g)
        x[:, 1] *= 2.0 ** 18
        return x
    return draw


def single(n):
    """Rows with one number, at a place of its own."""
    return lambda g: torch.eye(n)[[0, 1, 2, 3 % n, n // 2, n // 3, n - 1]] * torch.tensor(1 / 3)


def operator_layer(x, w):
    """A layer of a Fourier neural operator: the low frequencies have weights."""
    z = fft.rfft2(x)
    out = torch.zeros(2, 4, 8, 5, dtype=z.dtype)
    out[:, :, :4, :3] = torch.einsum('bixy,ioxy->boxy', z[:, :, :4, :3], pairs(w))
    return fft.irfft2(out, s=(8, 8))


def convolved(x, w):
    return fft.irfft(fft.rfft(x, n=32) * fft.rfft(w, n=32), n=32)[..., :16]


ROWS = [
    Row('rfft', lambda x: parts(fft.rfft(x)), normal(3, 12), **ONLY),
    Row('rfft_ortho', lambda x: parts(fft.rfft(x, norm='ortho')), normal(3, 9), **ONLY),
    Row('irfft', lambda x: fft.irfft(pairs(x)), normal(3, 7, 2), **ONLY),
    Row('irfft_forward', lambda x: fft.irfft(pairs(x), n=13, norm='forward'), normal(3, 7, 2), **ONLY),
    Row('fft', lambda x: parts(fft.fft(pairs(x))), normal(3, 10, 2), **ONLY),
    Row('ifft', lambda x: parts(fft.ifft(pairs(x), dim=0)), normal(5, 3, 2), **ONLY),
    Row('fft_of_real', lambda x: parts(fft.fft(x)), normal(3, 8), **ONLY),
    Row('hfft', lambda x: fft.hfft(pairs(x)), normal(3, 5, 2), **ONLY),
    Row('fft2', lambda x: parts(fft.fft2(pairs(x))), normal(2, 6, 5, 2), **ONLY),
    Row('fft2_of_real', lambda x: fft.fft2(x).real * 2, normal(2, 6, 5), **ONLY),
    Row('rfft2', lambda x: parts(fft.rfft2(x)), normal(2, 6, 8), **ONLY),
    Row('irfft2', lambda x: fft.irfft2(pairs(x), s=(6, 8)), normal(2, 6, 5, 2), **ONLY),
    Row('rfftn', lambda x: parts(fft.rfftn(x, dim=(1, 2, 3))), normal(2, 4, 6, 8), **ONLY),
    Row('stft', lambda x, w: parts(torch.stft(x, 16, 4, window=w, return_complex=True)), normal(2, 64),
        fixed(positive(16)), **ONLY),
    Row('istft', lambda x, w: torch.istft(pairs(x), 16, 4, window=w), normal(2, 9, 12, 2), fixed(positive(16)), **ONLY),
    Row('shifted', lambda x: parts(fft.fftshift(fft.fft(pairs(x)))), normal(3, 8, 2), **ONLY),
    Row('filled', lambda x: parts(fft.rfft(x, n=16)), normal(3, 12), **ONLY),
    Row('cut', lambda x: parts(fft.rfft(x, n=8)), normal(3, 12), **ONLY),
    Row('magnitude', lambda x: fft.rfft(x).abs(), normal(3, 12), **ONLY),
    Row('power', lambda x: (fft.rfft(x).abs() ** 2 + 1).log(), normal(3, 12), **ONLY),
    Row('both', lambda x: (fft.rfft(x).real * 2, fft.rfft(x).imag * 3), normal(3, 12), **ONLY),
    Row('joined', lambda x: parts(torch.cat([pairs(x), pairs(x) * 0.5], 1).roll(2, 1).flip(0)), normal(3, 4, 2),
        **ONLY),
    Row('of_conjugates', lambda x, y: [f(pairs(x) * pairs(y).conj()) for f in (lambda z: z.conj().imag[:, 1:] * 2,
        lambda z: z.imag * 3)], normal(3, 4, 2), normal(3, 4, 2), **ONLY),
    Row('stacked', lambda x: parts(torch.stack([pairs(x), pairs(x).conj()], 1)), normal(3, 4, 2), **ONLY),
    Row('taken', lambda x: parts(pairs(x)[:, [2, 0]][1]) * 2, normal(3, 4, 2), grad=False, **ONLY),
    Row('convolved', convolved, normal(3, 16), normal(3, 16), **ONLY),
    Row('operator_layer', operator_layer, normal(2, 3, 8, 8), normal(3, 4, 4, 3, 2), **ONLY),
]
for n in 3, 30, 97, 128:
    ROWS += [
        Row('rfft_%d' % n, lambda x: parts(fft.rfft(x)), spread(6, n), **ONLY),
        Row('irfft_%d' % n, lambda x, n=n: fft.irfft(pairs(x), n=n), spread(6, n // 2 + 1, 2), **ONLY),
        Row('fft_%d' % n, lambda x: parts(fft.fft(pairs(x))), spread(6, n, 2), **ONLY),
        Row('single_%d' % n, lambda x: parts(fft.rfft(x)), single(n), grad=False, **ONLY),
        Row('single_pairs_%d' % n, lambda x: parts(fft.fft(torch.complex(x, x * 0.75))), single(n), grad=False, **ONLY),
    ]
judge('fourier', ROWS)
finish()
