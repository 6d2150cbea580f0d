"""Writes torch_networks.h: networks of PyTorch with their weights, by the names that the library gives them, and their outputs.

python3 torch_networks.py > torch_networks.h, with PyTorch 1.13 (any version gives the same numbers to about 1e-6).
"""
import torch
from torch import nn

torch.manual_seed(7)
torch.set_default_dtype(torch.float64)

STEPS, ACTIONS = 4, 3


def emit(kind, name, numbers):
    text = ", ".join(f"{float(x):.9g}F" for x in numbers)
    text = text.replace("e-0", "e-")
    text = ", ".join(x if "." in x or "e" in x else x.replace("F", ".0F") for x in text.split(", "))
    print(f"static const {kind} {name}[] = {{")
    numbers = text.split(", ")
    for at in range(0, len(numbers), 8):
        print("  " + ", ".join(numbers[at : at + 8]) + ",")
    print("};")


def network(name, tensors, obs, hidden):
    """hidden: [STEPS, units] of the last listed layer for obs [STEPS, ...]."""
    units = hidden.shape[-1]
    policy, value = nn.Linear(units, ACTIONS), nn.Linear(units, 1)
    own = {
        **tensors,
        "policy.head.weight": policy.weight,
        "policy.head.bias": policy.bias,
        "value.head.weight": value.weight,
        "value.head.bias": value.bias,
    }
    values, offset = [], 0
    print(f"static const rlcore_tensor {name}_tensors[] = {{")
    for key, tensor in own.items():
        dims = list(tensor.shape) + [1] * (4 - tensor.dim())
        print(f'  {{.name = "{key}", .offset = {offset}, .rank = {tensor.dim()}, .dims = {{{", ".join(map(str, dims))}}}}},')
        values += tensor.detach().flatten().tolist()
        offset += tensor.numel()
    print("};")
    emit("float", f"{name}_values", values)
    emit("float", f"{name}_obs", obs)
    emit("float", f"{name}_log_prob", torch.log_softmax(policy(hidden), -1).detach().flatten().tolist())
    emit("float", f"{name}_value", value(hidden).detach().flatten().tolist())
    print()


def rounded(module):
    """The weights as float32, so that both compute with the same."""
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(p.float().double())
    return module


linear = nn.Linear
nn.Linear = lambda *args: rounded(linear(*args))

print("/* Made by torch_networks.py. */")
print(f"enum {{ TORCH_STEPS = {STEPS}, TORCH_ACTIONS = {ACTIONS} }};\n")

# A convolution over 5 x 4 pictures of 2 channels, and a dense layer over what it makes, flattened.
conv, dense = rounded(nn.Conv2d(2, 3, (3, 2), stride=(1, 2))), nn.Linear(3 * 3 * 2, 20)
x = torch.rand(STEPS, 2, 5, 4).float().double()
hidden = torch.tanh(dense(torch.relu(conv(x)).flatten(1)))
network(
    "conv",
    {"layers.0.weight": conv.weight, "layers.0.bias": conv.bias, "layers.1.weight": dense.weight, "layers.1.bias": dense.bias},
    x.permute(0, 2, 3, 1).flatten().tolist(),
    hidden,
)

# Recurrent layers, over steps of one sequence.
x = torch.randn(STEPS, 6).float().double()
lstm = rounded(nn.LSTM(6, 5))
network(
    "lstm",
    {"layers.0.weight_ih": lstm.weight_ih_l0, "layers.0.weight_hh": lstm.weight_hh_l0, "layers.0.bias": lstm.bias_ih_l0 + lstm.bias_hh_l0},
    x.flatten().tolist(),
    lstm(x[:, None])[0][:, 0],
)
gru = rounded(nn.GRU(6, 5))
bias = gru.bias_ih_l0 + torch.cat([gru.bias_hh_l0[:10], torch.zeros(5)])
network(
    "gru",
    {"layers.0.weight_ih": gru.weight_ih_l0, "layers.0.weight_hh": gru.weight_hh_l0, "layers.0.bias": bias, "layers.0.bias_hn": gru.bias_hh_l0[10:]},
    x.flatten().tolist(),
    gru(x[:, None])[0][:, 0],
)

# Attention to all steps before, without positions.
heads = rounded(nn.MultiheadAttention(6, 2))
mask = torch.triu(torch.full((STEPS, STEPS), float("-inf")), 1)
query, key, value = heads.in_proj_weight.chunk(3)
network(
    "attention",
    {
        "layers.0.q_proj_weight": query,
        "layers.0.k_proj_weight": key,
        "layers.0.v_proj_weight": value,
        "layers.0.in_proj_bias": heads.in_proj_bias,
        "layers.0.out_proj.weight": heads.out_proj.weight,
        "layers.0.out_proj.bias": heads.out_proj.bias,
        "layers.0.positions": torch.zeros(STEPS, 6),
    },
    x.flatten().tolist(),
    heads(x[:, None], x[:, None], x[:, None], attn_mask=mask)[0][:, 0],
)

# Layer normalization and a depthwise convolution.
deep, norm = rounded(nn.Conv2d(2, 4, 2, groups=2)), rounded(nn.LayerNorm(4))
with torch.no_grad():
    norm.weight.copy_(torch.rand(4).float().double() + 0.5)
    norm.bias.copy_(torch.randn(4).float().double())
x = torch.rand(STEPS, 2, 3, 3).float().double()
made = norm(deep(x).permute(0, 2, 3, 1))
dense = nn.Linear(16, 6)
network(
    "depthwise",
    {
        "layers.0.weight": deep.weight,
        "layers.0.bias": deep.bias,
        "layers.1.weight": norm.weight,
        "layers.1.bias": norm.bias,
        "layers.2.weight": dense.weight,
        "layers.2.bias": dense.bias,
    },
    x.permute(0, 2, 3, 1).flatten().tolist(),
    torch.relu(dense(made.permute(0, 3, 1, 2).flatten(1))),
)
