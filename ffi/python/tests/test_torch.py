"""Weights to real torch and back, and what torch makes of them. Without torch, which is 5 GB, there is nothing to compare with."""

import numpy as np
import pytest

import rlcore
from rlcore import layers

torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch")


def test_a_module_of_torch_takes_the_policy_and_chooses_the_same_actions():
    import rlcore.torch

    model = rlcore.PPO("CartPole-v1", policy=[24, 16]).learn(1000)
    module = torch.nn.Sequential(torch.nn.Linear(4, 24), torch.nn.Tanh(), torch.nn.Linear(24, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    places = {"policy.0": "0", "policy.1": "2", "policy.head": "4"}
    weights = {}
    for name, value in rlcore.torch.state_dict(model).items():
        part, _, kind = name.rpartition(".")
        if part in places:
            weights[f"{places[part]}.{kind}"] = value
    module.load_state_dict(weights)  # strict: every name and shape
    x = np.random.default_rng(0).normal(0, 1, (500, 4)).astype(np.float32)
    with torch.no_grad():
        logits = module(torch.from_numpy(x)).numpy()
    clear = abs(logits[:, 0] - logits[:, 1]) > 1e-5
    assert clear.sum() > 400
    np.testing.assert_array_equal(logits.argmax(1)[clear], model.predict(x, deterministic=True)[0][clear])


def test_recurrent_layers_are_those_of_torch():
    """An LSTM over a sequence, from its beginning: torch's gates have the same order; its second bias is 0 here."""
    model = rlcore.PPO("CartPoleNoVel", policy=[layers.lstm(12)]).learn(2000)
    weights = {name: torch.from_numpy(value.copy()) for name, value in model.state_dict().items()}
    lstm = torch.nn.LSTM(2, 12)
    own = {name.removeprefix("layers.0."): value for name, value in weights.items() if name.startswith("layers.0.")}
    own = {"weight_ih_l0": own["weight_ih"], "weight_hh_l0": own["weight_hh"], "bias_ih_l0": own["bias"], "bias_hh_l0": torch.zeros(48)}
    lstm.load_state_dict(own)
    head = torch.nn.Linear(12, 2)
    head.load_state_dict({"weight": weights["policy.head.weight"], "bias": weights["policy.head.bias"]})
    x = np.random.default_rng(1).normal(0, 1, (30, 1, 2)).astype(np.float32)
    with torch.no_grad():
        logits = head(lstm(torch.from_numpy(x))[0]).numpy()[:, 0]
    state, begins, compared = None, True, 0
    for step in range(30):
        action, state = model.predict(x[step, 0], state=state, episode_start=np.array([begins]), deterministic=True)
        begins = False
        if abs(logits[step, 0] - logits[step, 1]) > 1e-4:
            compared += 1
            assert int(action) == logits[step].argmax(), step
    assert compared > 10


def test_what_torch_trained_goes_back():
    import rlcore.torch

    model = rlcore.PPO("CartPole-v1", policy=[8])
    weights = rlcore.torch.state_dict(model)
    parameters = [torch.nn.Parameter(weights["policy.head.weight"]), torch.nn.Parameter(weights["policy.head.bias"])]
    x = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.SGD(parameters, 0.5)
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(x @ parameters[0].T + parameters[1], (x[:, 0] > 0).long()).backward()
        optimizer.step()
    rlcore.torch.load_state_dict(model, {**weights, "policy.head.weight": parameters[0], "policy.head.bias": parameters[1]})
    np.testing.assert_array_equal(model.state_dict()["policy.head.weight"], parameters[0].detach().numpy())
    assert abs(model.state_dict()["policy.head.bias"]).max() > 0
