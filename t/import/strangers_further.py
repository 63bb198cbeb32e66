# SPDX-License-Identifier: Apache-2.0
# For x-tools.py: further small networks with drawn weights, of families that its other lists do not have: columns of a
# table, a graph, text in images, speech, translation, detection by tokens, segmentation, several resolutions at once. A
# row is as there.
import timm, torch, torchvision, transformers

from strangers import INPUTS, Named, noise, rng


def tokens(length):
    return rng.integers(3, 100, (INPUTS, length))


def tabular():
    n = torch.nn
    m = n.Sequential(n.BatchNorm1d(12), n.Linear(12, 32), n.PReLU(), n.Linear(32, 32), n.SELU(), n.LayerNorm(32))
    return n.Sequential(m, n.GLU(), n.Linear(16, 4)), {'x': noise(12)}, 0, 1


class Messages(torch.nn.Module):
    """Nodes add up what comes along their edges."""

    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 16), torch.nn.Linear(16, 5)

    def forward(self, x, e):
        h = torch.relu(self.a(x))
        start, end = (e[:, k].unsqueeze(-1).expand(-1, -1, 16) for k in (0, 1))
        got = torch.zeros_like(h).scatter_add(1, end, torch.gather(h, 1, start))
        return self.b(torch.relu(got)).mean(1)


class Reader(torch.nn.Module):
    """Columns of an image, in order, and a class for each."""

    def __init__(self):
        super().__init__()
        n = torch.nn
        self.c = n.Sequential(n.Conv2d(1, 8, 3, 2, 1), n.BatchNorm2d(8), n.SiLU(), n.AdaptiveAvgPool2d((1, 16)))
        self.r, self.o = n.GRU(8, 12, bidirectional=True, batch_first=True), n.Linear(24, 10)

    def forward(self, x):
        return self.o(self.r(self.c(x).squeeze(2).transpose(1, 2))[0]).log_softmax(-1)


SEQUENCES = dict(
    vocab_size=100,
    d_model=32,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=64,
    decoder_ffn_dim=64,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=1,
    attn_implementation='eager',
)


def whisper():
    c = transformers.WhisperConfig(num_mel_bins=16, max_source_positions=32, max_target_positions=16, **SEQUENCES)
    data = {'input_features': noise(16, 64), 'decoder_input_ids': tokens(6)}
    return Named(transformers.WhisperForConditionalGeneration(c), list(data), lambda y: y.logits), data, 0, 2


def marian():
    c = transformers.MarianConfig(max_position_embeddings=32, **SEQUENCES)
    data = {'input_ids': tokens(10), 'decoder_input_ids': tokens(6)}
    return Named(transformers.MarianMTModel(c), list(data), lambda y: y.logits), data, 0, 2


def yolos():
    c = transformers.YolosConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        image_size=[32, 32],
        patch_size=8,
        num_detection_tokens=6,
        num_labels=5,
        attn_implementation='eager',
    )
    data = {'pixel_values': noise(3, 32, 32)}
    return Named(transformers.YolosForObjectDetection(c), list(data), lambda y: y.logits), data, 0, 2


def lraspp():
    make = torchvision.models.segmentation.lraspp_mobilenet_v3_large
    m = make(weights=None, weights_backbone=None, num_classes=4)
    return Named(m, ['input'], lambda y: y['out']), {'input': noise(3, 32, 32)}, 0, 1


def vision(name, **sizes):
    return lambda: (timm.create_model(name, num_classes=7, **sizes), {'x': noise(3, 64, 64)}, 0, 1)


NETS = {
    'tabular': tabular,
    'messages': lambda: (Messages(), {'x': noise(7, 8), 'e': rng.integers(0, 7, (INPUTS, 2, 11))}, 0, 1),
    'crnn': lambda: (Reader(), {'x': noise(1, 32, 32)}, 0, 2),
    'whisper': whisper,
    'marian': marian,
    'yolos': yolos,
    'lraspp': lraspp,
    'efficientvit': vision('efficientvit_m0', img_size=64),
    'poolformer-1': vision('poolformer_s12'),
    'hrnet': vision('hrnet_w18_small'),
}
