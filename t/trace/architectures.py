# SPDX-License-Identifier: Apache-2.0
"""Small configurations, with random weights, of 22 architectures that people train: what x-architectures.py records.
Each function gives the model and a function that computes its loss on a batch that does not change. The models are
those of transformers, timm, torchvision and diffusers; the graph network and the recurrent ones are written here."""
import torch

nn, F = torch.nn, torch.nn.functional
VOCABULARY, WIDTH = 97, 32


def words(*shape):
    return torch.randint(3, VOCABULARY, shape)


def decoder(kind, **sizes):
    """A language model of transformers, whose labels are its own words with some of them ignored."""
    import transformers
    config = getattr(transformers, kind + 'Config')(vocab_size=VOCABULARY, **sizes)
    config.pad_token_id, config.bos_token_id, config.eos_token_id = 0, 1, 2
    model = getattr(transformers, kind + ('LMHeadModel' if kind == 'GPT2' else 'ForCausalLM'))(config)
    x = words(2, 12)
    y = x.clone()
    y[1, :5] = -100
    return model, lambda: model(input_ids=x, labels=y).loss


USUAL = dict(hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             max_position_embeddings=32)


def llama():
    return decoder('Llama', num_key_value_heads=2, **USUAL)


def qwen():
    return decoder('Qwen2', num_key_value_heads=2, **USUAL)


def gemma():
    return decoder('Gemma2', num_key_value_heads=2, head_dim=8, **USUAL)


def gpt_neox():
    return decoder('GPTNeoX', **USUAL)


def gpt2():
    return decoder('GPT2', n_embd=WIDTH, n_layer=2, n_head=4, n_positions=32)


def mixtral():
    return decoder('Mixtral', num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2, **USUAL)


def mamba():
    return decoder('Mamba', hidden_size=WIDTH, num_hidden_layers=2, state_size=4, time_step_rank=4)


def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    model = T5ForConditionalGeneration(T5Config(vocab_size=VOCABULARY, d_model=WIDTH, d_kv=8, d_ff=48, num_layers=2,
            num_heads=4, decoder_start_token_id=0))
    x, y = words(2, 10), words(2, 7)
    y[0, 5:] = -100
    return model, lambda: model(input_ids=x, labels=y).loss


def bert():
    from transformers import BertConfig, BertForSequenceClassification
    model = BertForSequenceClassification(BertConfig(vocab_size=VOCABULARY, num_labels=3, **USUAL))
    x, y, mask = words(4, 12), torch.randint(0, 3, (4,)), torch.ones(4, 12, dtype=torch.long)
    mask[1, 8:] = 0
    return model, lambda: model(input_ids=x, attention_mask=mask, labels=y).loss


def whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration
    model = WhisperForConditionalGeneration(WhisperConfig(vocab_size=VOCABULARY, num_mel_bins=8, d_model=WIDTH,
            encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, max_source_positions=12, max_target_positions=16,
            decoder_start_token_id=1, pad_token_id=0, bos_token_id=1, eos_token_id=2, suppress_tokens=None,
            begin_suppress_tokens=None))
    x, y = torch.randn(2, 8, 24), words(2, 6)
    return model, lambda: model(input_features=x.to(model.dtype), labels=y).loss


def classifier(model, size):
    x, y = torch.randn(2, 3, size, size), torch.randint(0, 5, (2,))
    return model, lambda: F.cross_entropy(model(x.to(dtype_of(model))), y)


def dtype_of(model):
    return next(model.parameters()).dtype


def timm_model(name, size, **sizes):
    import timm
    return classifier(timm.create_model(name, num_classes=5, **sizes), size)


def vit():
    return timm_model('vit_tiny_patch16_224', 32, img_size=32, patch_size=8, embed_dim=WIDTH, depth=2, num_heads=4)


def swin():
    return timm_model('swin_tiny_patch4_window7_224', 32, img_size=32, window_size=4, embed_dim=16, depths=(2, 2),
            num_heads=(2, 4))


def convnext():
    return timm_model('convnext_atto', 64, depths=(1, 1, 1, 1), dims=(8, 16, 16, 32))


def efficientnet():
    from timm.models.efficientnet import _gen_efficientnet
    return classifier(_gen_efficientnet('efficientnet_b0', channel_multiplier=0.25, depth_multiplier=0.3,
            num_classes=5), 64)


def mobilenet_v3():
    return timm_model('mobilenetv3_small_050', 64)


def resnet():
    from torchvision.models.resnet import Bottleneck, ResNet
    return classifier(ResNet(Bottleneck, [1, 1, 1, 1], num_classes=5, width_per_group=16), 32)


def unet2d():
    from diffusers import UNet2DModel
    model = UNet2DModel(sample_size=8, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 16),
            down_block_types=('DownBlock2D', 'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'),
            norm_num_groups=4, attention_head_dim=8)
    x, noise, t = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8, 8), torch.tensor([3, 700])
    return model, lambda: F.mse_loss(model(x.to(model.dtype), t).sample.float(), noise)


def vae():
    from diffusers import AutoencoderKL
    model = AutoencoderKL(block_out_channels=(8, 16), down_block_types=('DownEncoderBlock2D',) * 2,
            up_block_types=('UpDecoderBlock2D',) * 2, latent_channels=4, norm_num_groups=4, sample_size=8)
    x = torch.randn(2, 3, 8, 8)

    def loss():
        coded = model.encode(x.to(model.dtype)).latent_dist
        return F.mse_loss(model.decode(coded.sample()).sample.float(), x) + 1e-3 * coded.kl().mean()
    return model, loss


def dit():
    from diffusers import DiTTransformer2DModel
    model = DiTTransformer2DModel(num_attention_heads=4, attention_head_dim=8, in_channels=4, out_channels=4,
            num_layers=2, sample_size=8, patch_size=2, num_embeds_ada_norm=1000, norm_num_groups=4)
    x, noise = torch.randn(2, 4, 8, 8), torch.randn(2, 4, 8, 8)
    t, y = torch.tensor([3, 700]), torch.tensor([1, 5])
    return model, lambda: F.mse_loss(model(x.to(model.dtype), timestep=t, class_labels=y).sample.float(), noise)


class Recurrent(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, 16, padding_idx=0)
        self.cells = cell(16, WIDTH, num_layers=2, batch_first=True)
        self.head = nn.Linear(WIDTH, 5)

    def forward(self, x):
        return self.head(self.cells(self.words(x))[0][:, -1])


def recurrent(cell, fused=True):
    """fused: whether oneDNN's layer may run, which is one operator."""
    model, x, y = Recurrent(cell), words(4, 9), torch.randint(0, 5, (4,))
    x[2, :3] = 0

    def loss():
        with torch.backends.mkldnn.flags(enabled=fused):
            return F.cross_entropy(model(x), y)
    return model, loss


def lstm():
    return recurrent(nn.LSTM, False)


def lstm_fused():
    return recurrent(nn.LSTM)


def gru():
    return recurrent(nn.GRU)


class Graph(nn.Module):
    """Two layers of a graph convolution: each node adds up its neighbours, by their degrees."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, WIDTH), nn.Linear(WIDTH, 5)

    def forward(self, x, at, to):
        degree = torch.zeros(len(x), dtype=x.dtype).index_add(0, to, torch.ones(len(to), dtype=x.dtype))
        by = degree.clamp(min=1).rsqrt()
        for n, layer in enumerate((self.a, self.b)):
            x = layer(x)
            messages = x[at] * (by[at] * by[to]).unsqueeze(1).to(x.dtype)
            x = torch.zeros_like(x).index_add(0, to, messages)
            x = F.relu(x) if n == 0 else x
        return x


def gcn():
    model, x, y = Graph(), torch.randn(20, 12), torch.randint(0, 5, (20,))
    at, to = torch.randint(0, 20, (60,)), torch.randint(0, 20, (60,))
    return model, lambda: F.cross_entropy(model(x.to(dtype_of(model)), at, to), y)


ALL = {'Llama': llama, 'Qwen': qwen, 'Gemma': gemma, 'GPT-NeoX': gpt_neox, 'GPT-2': gpt2, 'T5': t5, 'BERT': bert,
       'ViT': vit, 'Swin': swin, 'ConvNeXt': convnext, 'EfficientNet': efficientnet, 'MobileNetV3': mobilenet_v3,
       'ResNet': resnet, 'UNet2D': unet2d, 'VAE': vae, 'DiT': dit, 'LSTM': lstm, 'LSTM of oneDNN': lstm_fused,
       'GRU': gru, 'GCN': gcn, 'Whisper': whisper, 'Mixtral': mixtral, 'Mamba': mamba}
