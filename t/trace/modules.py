# SPDX-License-Identifier: Apache-2.0
"""Every module of torch.nn at a small size: how it is made, and its operands. x-modules.py holds that none is
missing."""
import torch

nn = torch.nn


def x(*shape):
    return lambda: torch.randn(*shape)


def unit(*shape):
    """Numbers in (0, 1)."""
    return lambda: torch.rand(*shape) * 0.96875 + 0.015625


def signs(*shape):
    return lambda: torch.randn(*shape).sign()


def index(high, *shape):
    return lambda: torch.randint(0, high, shape)


def given(*values):
    return lambda: torch.tensor(values)


ROW, SEQ, IMG, VOL = (4, 6), (2, 6, 9), (2, 4, 8, 8), (1, 2, 5, 6, 7)
BY_AXES = {1: (2, 4, 10), 2: (2, 4, 8, 9), 3: (1, 2, 6, 7, 8)}
CASES = {
    'Bilinear': (lambda: nn.Bilinear(6, 5, 3), x(*ROW), x(4, 5)),
    'Linear': (lambda: nn.Linear(6, 5), x(*ROW)),
    'Identity': (nn.Identity, x(*ROW)),
    'Embedding': (lambda: nn.Embedding(7, 5, padding_idx=1), index(7, 3, 4)),
    'Embedding max_norm': (lambda: nn.Embedding(7, 5, max_norm=1.0), index(7, 3, 4)),
    'EmbeddingBag': (lambda: nn.EmbeddingBag(7, 5), index(7, 3, 4)),
    'EmbeddingBag max': (lambda: nn.EmbeddingBag(7, 5, mode='max'), index(7, 3, 4)),
    'EmbeddingBag weighted': (lambda: nn.EmbeddingBag(7, 5, mode='sum'), index(7, 3, 4), lambda: None, x(3, 4)),
    'LayerNorm': (lambda: nn.LayerNorm(6), x(*ROW)),
    'RMSNorm': (lambda: nn.RMSNorm(6), x(*ROW)),
    'GroupNorm': (lambda: nn.GroupNorm(2, 4), x(*IMG)),
    'LocalResponseNorm': (lambda: nn.LocalResponseNorm(3), x(*IMG)),
    'CrossMapLRN2d': (lambda: nn.CrossMapLRN2d(3), x(*IMG)),
    'MultiheadAttention': (lambda: nn.MultiheadAttention(8, 2), x(5, 2, 8), x(5, 2, 8), x(5, 2, 8)),
    'Transformer': (lambda: nn.Transformer(8, 2, 1, 1, 16, 0.0), x(5, 2, 8), x(4, 2, 8)),
    'TransformerEncoderLayer': (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.125), x(5, 2, 8)),
    'TransformerDecoderLayer': (lambda: nn.TransformerDecoderLayer(8, 2, 16, 0.0), x(4, 2, 8), x(5, 2, 8)),
    'TransformerEncoder': (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0), 1), x(5, 2, 8)),
    'TransformerDecoder': (lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 1), x(4, 2, 8),
                           x(5, 2, 8)),
    'RNN': (lambda: nn.RNN(6, 5), x(4, 2, 6)), 'RNN relu': (lambda: nn.RNN(6, 5, nonlinearity='relu'), x(4, 2, 6)),
    'LSTM': (lambda: nn.LSTM(6, 5), x(4, 2, 6)), 'GRU': (lambda: nn.GRU(6, 5), x(4, 2, 6)),
    'LSTM projected': (lambda: nn.LSTM(6, 5, proj_size=3), x(4, 2, 6)),
    'RNNCell': (lambda: nn.RNNCell(6, 5), x(4, 6)), 'LSTMCell': (lambda: nn.LSTMCell(6, 5), x(4, 6)),
    'GRUCell': (lambda: nn.GRUCell(6, 5), x(4, 6)),
    'PReLU': (lambda: nn.PReLU(4), x(*IMG)), 'RReLU': (nn.RReLU, x(*ROW)),
    'RReLU eval': (lambda: nn.RReLU().eval(), x(*ROW)),
    'Threshold': (lambda: nn.Threshold(0.25, 2.0), x(*ROW)), 'GLU': (nn.GLU, x(*ROW)),
    'GELU tanh': (lambda: nn.GELU('tanh'), x(*ROW)), 'CELU 2': (lambda: nn.CELU(2.0), x(*ROW)),
    'Softmax': (lambda: nn.Softmax(1), x(*ROW)), 'LogSoftmax': (lambda: nn.LogSoftmax(1), x(*ROW)),
    'Softmin': (lambda: nn.Softmin(1), x(*ROW)), 'Softmax2d': (nn.Softmax2d, x(*IMG)),
    'AdaptiveLogSoftmaxWithLoss': (lambda: nn.AdaptiveLogSoftmaxWithLoss(6, 9, [3, 6]), x(*ROW), given(0, 4, 7, 2)),
    'AlphaDropout': (lambda: nn.AlphaDropout(0.25), x(*ROW)),
    'FeatureAlphaDropout': (lambda: nn.FeatureAlphaDropout(0.25), x(*IMG)),
    'Dropout': (lambda: nn.Dropout(0.25), x(*ROW)),
    'ChannelShuffle': (lambda: nn.ChannelShuffle(2), x(*IMG)), 'PixelShuffle': (lambda: nn.PixelShuffle(2), x(*IMG)),
    'PixelUnshuffle': (lambda: nn.PixelUnshuffle(2), x(*IMG)), 'Flatten': (nn.Flatten, x(*IMG)),
    'Unflatten': (lambda: nn.Unflatten(1, (2, 3)), x(*ROW)),
    'Fold': (lambda: nn.Fold((4, 5), (2, 2)), x(2, 8, 12)), 'Unfold': (lambda: nn.Unfold((2, 3)), x(*IMG)),
    'Upsample': (lambda: nn.Upsample(scale_factor=2), x(*IMG)),
    'Upsample bilinear': (lambda: nn.Upsample(scale_factor=2, mode='bilinear'), x(*IMG)),
    'Upsample bicubic': (lambda: nn.Upsample(scale_factor=2, mode='bicubic'), x(*IMG)),
    'Upsample trilinear': (lambda: nn.Upsample(scale_factor=2, mode='trilinear'), x(*VOL)),
    'Upsample linear': (lambda: nn.Upsample(scale_factor=2, mode='linear'), x(*SEQ)),
    'UpsamplingBilinear2d': (lambda: nn.UpsamplingBilinear2d(scale_factor=2), x(*IMG)),
    'UpsamplingNearest2d': (lambda: nn.UpsamplingNearest2d(scale_factor=2), x(*IMG)),
    'CosineSimilarity': (nn.CosineSimilarity, x(*ROW), x(*ROW)),
    'PairwiseDistance': (nn.PairwiseDistance, x(*ROW), x(*ROW)),
    'PairwiseDistance 3': (lambda: nn.PairwiseDistance(3.0), x(*ROW), x(*ROW)),
    'FractionalMaxPool2d': (lambda: nn.FractionalMaxPool2d(2, 4), x(*IMG)),
    'FractionalMaxPool3d': (lambda: nn.FractionalMaxPool3d(2, 3), x(*BY_AXES[3])),
    'LPPool1d 3': (lambda: nn.LPPool1d(3, 2), x(*BY_AXES[1])),
    'SyncBatchNorm': (lambda: nn.SyncBatchNorm(4).eval(), x(*IMG)),
    # losses
    'BCELoss': (nn.BCELoss, unit(*ROW), unit(*ROW)), 'BCEWithLogitsLoss': (nn.BCEWithLogitsLoss, x(*ROW), unit(*ROW)),
    'CTCLoss': (nn.CTCLoss, lambda: torch.randn(8, 2, 5).log_softmax(2),
        lambda: 1 + index(4, 2, 3)(), given(8, 7), given(3, 2)),
    'CosineEmbeddingLoss': (nn.CosineEmbeddingLoss, x(*ROW), x(*ROW), signs(4)),
    'CrossEntropyLoss': (nn.CrossEntropyLoss, x(*ROW), index(6, 4)),
    'CrossEntropyLoss smooth': (lambda: nn.CrossEntropyLoss(label_smoothing=0.125), x(*ROW), index(6, 4)),
    'CrossEntropyLoss shares': (nn.CrossEntropyLoss, x(*ROW), lambda: torch.randn(4, 6).softmax(1)),
    'CrossEntropyLoss images': (nn.CrossEntropyLoss, x(*IMG), index(4, 2, 8, 8)),
    'GaussianNLLLoss': (nn.GaussianNLLLoss, x(*ROW), x(*ROW), unit(*ROW)),
    'HingeEmbeddingLoss': (nn.HingeEmbeddingLoss, x(*ROW), signs(*ROW)), 'HuberLoss': (nn.HuberLoss, x(*ROW), x(*ROW)),
    'KLDivLoss': (lambda: nn.KLDivLoss(reduction='batchmean'), lambda: torch.randn(4, 6).log_softmax(1), unit(*ROW)),
    'KLDivLoss log': (lambda: nn.KLDivLoss(log_target=True), x(*ROW), x(*ROW)),
    'L1Loss': (nn.L1Loss, x(*ROW), x(*ROW)), 'MSELoss': (nn.MSELoss, x(*ROW), x(*ROW)),
    'LinearCrossEntropyLoss': (lambda: nn.LinearCrossEntropyLoss(6, 5), x(*ROW), index(5, 4)),
    'MarginRankingLoss': (nn.MarginRankingLoss, x(4), x(4), signs(4)),
    'MultiLabelMarginLoss': (nn.MultiLabelMarginLoss, x(2, 4), given([3, 0, -1, 1], [1, -1, 2, 0])),
    'MultiLabelSoftMarginLoss': (nn.MultiLabelSoftMarginLoss, x(*ROW), unit(*ROW)),
    'MultiMarginLoss': (nn.MultiMarginLoss, x(*ROW), index(6, 4)),
    'MultiMarginLoss 2': (lambda: nn.MultiMarginLoss(2), x(*ROW), index(6, 4)),
    'NLLLoss': (nn.NLLLoss, x(*ROW), index(6, 4)), 'NLLLoss2d': (nn.NLLLoss, x(*IMG), index(4, 2, 8, 8)),
    'PoissonNLLLoss': (nn.PoissonNLLLoss, x(*ROW), index(5, *ROW)),
    'PoissonNLLLoss full': (lambda: nn.PoissonNLLLoss(full=True), x(*ROW), index(5, *ROW)),
    'SmoothL1Loss': (nn.SmoothL1Loss, x(*ROW), x(*ROW)), 'SoftMarginLoss': (nn.SoftMarginLoss, x(*ROW), signs(*ROW)),
    'TripletMarginLoss': (nn.TripletMarginLoss, x(*ROW), x(*ROW), x(*ROW)),
    'TripletMarginWithDistanceLoss': (nn.TripletMarginWithDistanceLoss, x(*ROW), x(*ROW), x(*ROW)),
    # reparametrisations of a module's weight
    'weight_norm': (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 5)), x(*ROW)),
    'weight_norm old': (lambda: nn.utils.weight_norm(nn.Linear(6, 5)), x(*ROW)),
    'spectral_norm': (lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(6, 5)), x(*ROW)),
}
for name in ('ReLU', 'ReLU6', 'GELU', 'SiLU', 'Mish', 'ELU', 'CELU', 'SELU', 'Sigmoid', 'LogSigmoid', 'Tanh',
             'Tanhshrink', 'Hardtanh', 'Hardswish', 'Hardsigmoid', 'Hardshrink', 'Softshrink', 'Softplus', 'Softsign',
             'LeakyReLU'):
    CASES[name] = getattr(nn, name), x(*ROW)
for n, shape in BY_AXES.items():
    c, d = shape[1], '%dd' % n
    for name, make in {
            'Conv': lambda k, c=c: k(c, 3, 3, padding=1), 'ConvTranspose': lambda k, c=c: k(c, 3, 2, stride=2),
            'BatchNorm': lambda k, c=c: k(c), 'InstanceNorm': lambda k, c=c: k(c, affine=True),
            'AvgPool': lambda k: k(2), 'MaxPool': lambda k: k(2), 'AdaptiveAvgPool': lambda k: k(3),
            'AdaptiveMaxPool': lambda k: k(3), 'LPPool': lambda k: k(2, 2), 'Dropout': lambda k: k(0.25),
            'CircularPad': lambda k: k(1), 'ConstantPad': lambda k: k(1, 0.5), 'ReflectionPad': lambda k: k(1),
            'ReplicationPad': lambda k: k(1), 'ZeroPad': lambda k: k(1)}.items():
        CASES[name + d] = (lambda make=make, k=getattr(nn, name + d): make(k)), x(*shape)
    for name in ('Conv', 'ConvTranspose'):
        CASES['Lazy' + name + d] = (lambda k=getattr(nn, 'Lazy' + name + d): k(3, 2)), x(*shape)
    for name in ('BatchNorm', 'InstanceNorm'):
        CASES['Lazy' + name + d] = getattr(nn, 'Lazy' + name + d), x(*shape)

    class Unpooled(nn.Module):
        def __init__(self, n=n):
            super().__init__()
            self.pool = getattr(nn, 'MaxPool%dd' % n)(2, return_indices=True)
            self.back = getattr(nn, 'MaxUnpool%dd' % n)(2)

        def forward(self, x):
            return self.back(*self.pool(x))
    CASES['MaxUnpool' + d] = Unpooled, x(*(2 * (k // 2) if j > 1 else k for j, k in enumerate(shape)))
CASES['LazyLinear'] = (lambda: nn.LazyLinear(5)), x(*ROW)
# What computes nothing by itself, or is no public module.
NOTHING = {'Container', 'Module', 'ModuleDict', 'ModuleList', 'ParameterDict', 'ParameterList', 'RNNBase',
           'RNNCellBase', 'Sequential', 'DataParallel'}


def missing():
    """The modules of torch.nn that no case is of."""
    have = {name.split()[0] for name in CASES} | NOTHING
    return sorted(n for n, c in vars(nn).items() if isinstance(c, type) and issubclass(c, nn.Module) and n not in have)
