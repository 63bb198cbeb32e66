# SPDX-License-Identifier: Apache-2.0
# For x-tools.py: small networks of torchvision, timm and transformers with drawn weights, of other families than its
# own list: encoders, a decoder, sequences to sequences, sound, segmentation, video. A row is as there: the network,
# its inputs, the exporter, the axis of decisions.
import numpy, timm, torch, torchvision, transformers

f32 = numpy.float32
INPUTS = 32
rng = numpy.random.default_rng(77)


class Named(torch.nn.Module):
    """A model of named inputs whose result is one tensor."""

    def __init__(self, model, names, pick, **options):
        super().__init__()
        self.model, self.names, self.pick, self.options = model, names, pick, options

    def forward(self, *x):
        return self.pick(self.model(**dict(zip(self.names, x)), **self.options))


def noise(*shape):
    return rng.standard_normal((INPUTS, *shape)).astype(f32)


def words(length):
    held = numpy.arange(length)[None] < rng.integers(length // 2, length + 1, (INPUTS, 1))
    return {'input_ids': rng.integers(3, 200, (INPUTS, length)), 'attention_mask': held.astype(numpy.int64)}


def net(config, kind, data, axis, options={}, **sizes):
    def made():
        c = getattr(transformers, config)(attn_implementation='eager', **sizes)
        return Named(getattr(transformers, kind)(c), list(data()), lambda y: y.logits, **options), data(), 0, axis

    return made


def vision(name, side, **sizes):
    return lambda: (timm.create_model(name, num_classes=12, **sizes), {'x': noise(3, side, side)}, 0, 1)


def swin3d():
    m = torchvision.models.video.SwinTransformer3d(
        patch_size=[2, 4, 4],
        embed_dim=24,
        depths=[1, 1],
        num_heads=[2, 4],
        window_size=[2, 4, 4],
        num_classes=12,
    )
    return m, {'x': noise(3, 4, 32, 32)}, 0, 1


TEXT = dict(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96)
PAIR = lambda: {**words(8), 'decoder_input_ids': rng.integers(3, 200, (INPUTS, 6))}
ALONE = {'use_cache': False}
SOUND = dict(conv_dim=(32, 32, 32), conv_stride=(5, 4, 4), conv_kernel=(10, 8, 4), num_conv_pos_embeddings=16)
NETS = {
    'albert': net(
        'AlbertConfig', 'AlbertForSequenceClassification', lambda: words(12), 1, embedding_size=32, num_labels=6, **TEXT
    ),
    'deberta': net(
        'DebertaV2Config',
        'DebertaV2ForSequenceClassification',
        lambda: words(12),
        1,
        relative_attention=True,
        pos_att_type=['p2c', 'c2p'],
        max_position_embeddings=32,
        num_labels=6,
        **TEXT,
    ),
    'bart': net(
        'BartConfig',
        'BartForConditionalGeneration',
        PAIR,
        2,
        ALONE,
        vocab_size=200,
        d_model=64,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=96,
        decoder_ffn_dim=96,
        max_position_embeddings=32,
    ),
    't5': net(
        'T5Config',
        'T5ForConditionalGeneration',
        PAIR,
        2,
        ALONE,
        vocab_size=200,
        d_model=64,
        d_kv=16,
        d_ff=96,
        num_layers=2,
        num_heads=4,
        feed_forward_proj='gated-gelu',
    ),
    'llama': net(
        'LlamaConfig',
        'LlamaForCausalLM',
        lambda: words(8),
        2,
        ALONE,
        num_key_value_heads=2,
        max_position_embeddings=32,
        **TEXT,
    ),
    'wav2vec2': net(
        'Wav2Vec2Config',
        'Wav2Vec2ForCTC',
        lambda: {'input_values': noise(1600)},
        2,
        num_conv_pos_embedding_groups=4,
        **SOUND,
        **(TEXT | {'vocab_size': 30}),
    ),
    'segformer': net(
        'SegformerConfig',
        'SegformerForSemanticSegmentation',
        lambda: {'pixel_values': noise(3, 64, 64)},
        1,
        depths=[1, 1, 1, 1],
        hidden_sizes=[16, 32, 40, 64],
        decoder_hidden_size=64,
        num_labels=5,
    ),
    'swin3d': swin3d,
    'mobilevitv2': vision('mobilevitv2_050', 64),
    'poolformer': vision('poolformerv2_s12', 64),
}
