"""What leaves the package: weights, ONNX, event files, monitor.csv."""

import importlib
import struct
import sys
import types

import gymnasium
import numpy as np
import onnxruntime
import pytest

import rlcore
from rlcore import layers


class Torch:
    """As much of a torch tensor as load_state_dict asks for."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.array


def conv2d(x, weight, bias):
    """torch.nn.functional.conv2d without padding, in float64: x [B, channels, height, width]."""
    size = weight.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return np.einsum("bchwij,ocij->bohw", windows, weight) + bias[None, :, None, None]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].astype(np.float64).T + weights[name + ".bias"]


def test_weights_are_those_of_torchs_formulas():
    model = rlcore.PPO("CartPole-v1", policy=[24, 16]).learn(1000)
    x = np.random.default_rng(0).normal(0, 1, (50, 4)).astype(np.float32)
    w = model.state_dict()
    h = np.tanh(linear(np.tanh(linear(x, w, "policy.0")), w, "policy.1"))
    np.testing.assert_array_equal(linear(h, w, "policy.head").argmax(1), model.predict(x, deterministic=True)[0])


def test_weights_of_pictures_are_those_of_torchs_formulas():
    model = rlcore.DQN("MinAtar/Breakout-v1", policy=[layers.conv(5, 3, activation="relu"), layers.dense(20, activation="relu")], learning_starts=64).learn(300)
    x = np.random.default_rng(0).integers(0, 2, (40, 10, 10, 4), np.uint8)
    w = model.state_dict()
    h = np.maximum(conv2d(x.transpose(0, 3, 1, 2) / 255.0, w["layers.0.weight"], w["layers.0.bias"]), 0).reshape(40, -1)
    q = linear(np.maximum(linear(h, w, "layers.1"), 0), w, "q.head")
    ordered = np.sort(q, 1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-5
    assert clear.sum() > 20
    np.testing.assert_array_equal(q.argmax(1)[clear], model.predict(x, deterministic=True)[0][clear])


def test_weights_go_to_torch_and_back():
    model = rlcore.PPO("CartPole-v1").learn(1000)
    other = rlcore.PPO("CartPole-v1", seed=5)
    x = np.random.default_rng(0).normal(0, 1, (200, 4)).astype(np.float32)
    given = model.predict(x, deterministic=True)[0]
    assert not np.array_equal(other.predict(x, deterministic=True)[0], given)
    other.load_state_dict({name: Torch(value) for name, value in model.state_dict().items()})
    np.testing.assert_array_equal(other.predict(x, deterministic=True)[0], given)
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], value)
    assert model.state_dict("first_moments").keys() == model.state_dict().keys()


def test_the_module_for_torch_hands_out_tensors_of_their_own(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=Torch, Tensor=Torch))
    monkeypatch.delitem(sys.modules, "rlcore.torch", raising=False)
    module = importlib.import_module("rlcore.torch")
    model = rlcore.PPO("CartPole-v1")
    weights = module.state_dict(model)
    weights["policy.0.bias"].array[:] = 7
    assert model.state_dict()["policy.0.bias"][0] == 0
    module.load_state_dict(model, weights)
    assert (model.state_dict()["policy.0.bias"] == 7).all() and module.state_dict(model.policy()).keys() < weights.keys()
    sys.modules.pop("rlcore.torch")


def test_other_weights_are_refused():
    model = rlcore.PPO("CartPole-v1")
    w, before = model.state_dict(), model.to_bytes()
    for wrong, words in (
        ({**w, "policy.9.weight": w["policy.0.weight"]}, "did you mean"),
        ({**w, "policy.0.weight": w["policy.0.weight"].T}, r"\(64, 4\) expected"),
        ({"policy.0.bias": w["policy.0.bias"]}, "tensors are missing"),
        ({**w, "policy.0.bias": np.full(64, np.nan)}, "RLCORE_E_VALUE"),
    ):
        with pytest.raises((TypeError, ValueError, KeyError), match=words):
            model.load_state_dict(wrong)
    assert model.to_bytes() == before
    model.load_state_dict({"policy.0.bias": np.ones(64)}, strict=False)
    assert model.state_dict()["policy.0.bias"][3] == 1


@pytest.mark.parametrize(("algorithm", "env"), [(rlcore.PPO, "CartPole-v1"), (rlcore.DQN, "CartPole-v1"), (rlcore.SAC, "Pendulum-v1")])
def test_onnxruntime_chooses_the_same_actions(algorithm, env, tmp_path):
    model = algorithm(env, **({} if algorithm is rlcore.PPO else {"learning_starts": 100})).learn(600)
    model.save_onnx(tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "policy.onnx"), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).normal(0, 1, (300, model.obs.len)).astype(np.float32)
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"obs": x})))
    ours = model.predict(x, deterministic=True)[0]
    if env == "CartPole-v1":
        np.testing.assert_array_equal(outputs["discrete_actions"][:, 0], ours)
    else:
        np.testing.assert_allclose(outputs["continuous_actions"], ours, atol=1e-5)
    assert len(model.policy().onnx(names="ml_agents")) > 500
    with pytest.raises(TypeError, match="did you mean 'ml_agents'"):
        model.policy().onnx(names="ml_agent")


def box(*shape, top=255):
    return gymnasium.spaces.Box(0, top, shape, np.uint8)


NUMBERS = gymnasium.spaces.Box(-1, 1, (6,), np.float32)
SEEN_BY = {
    **dict.fromkeys(("fc", "lstm_simple", "transformer_grid", "transformer_norm"), NUMBERS),
    **dict.fromkeys(("nature", "impala_small"), box(84, 84, 4)),
    "btgym_42": box(42, 42, 3),
    "minatar": box(10, 10, 4, top=1),
    "lstm_bow_endpool_res": box(7, 7, 3, top=10),
    "transformer_actions": gymnasium.spaces.Dict({"numbers": NUMBERS, "before": gymnasium.spaces.Discrete(4)}),
    "lstm_film": gymnasium.spaces.Dict({"picture": box(7, 7, 3, top=10), "words": box(5, top=99)}),
}


class Seen(gymnasium.Env):
    """Observations of a space, and nothing to learn."""

    def __init__(self, space):
        self.observation_space, self.action_space = space, gymnasium.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


@pytest.mark.parametrize("net", layers.NETS)
def test_every_network_known_by_name_acts_the_same_in_onnxruntime(net, tmp_path):
    """Eight steps of 10 rows, from the beginning of their episodes, with the state of layers that remember."""
    space = SEEN_BY[net]
    space.seed(1)
    more = {"policy_layer": 18} if net == "transformer_actions" else {}
    model = rlcore.PPO(Seen(space), policy=net, seed=2, **more)
    weights = model.state_dict()
    weights["policy.head.weight"] = np.random.default_rng(3).normal(0, 2, weights["policy.head.weight"].shape).astype(np.float32)
    weights["policy.head.weight"] -= weights["policy.head.weight"].mean(1, keepdims=True)
    model.load_state_dict(weights)
    model.save_onnx(tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "policy.onnx"), providers=["CPUExecutionProvider"])
    shapes = {i.name: i.shape for i in session.get_inputs()}
    remembers = "state" in shapes
    theirs, ours, chosen, compared = np.zeros((10, shapes["state"][1]), np.float32) if remembers else None, None, set(), 0
    for step in range(8):
        rows = [space.sample() for _ in range(10)]
        for k, row in enumerate(rows):
            if isinstance(row, np.ndarray) and row.ndim == 3:
                row[: len(row) * k // 10, :: 1 + k % 2] = 0  # noise alone looks the same everywhere
        whole = {name: np.stack([row[name] for row in rows]) for name in rows[0]} if isinstance(rows[0], dict) else np.stack(rows)
        if isinstance(whole, dict):  # inputs are numbered in the order of the space
            inputs = {f"obs_{k}": whole[name] if whole[name].ndim > 1 else whole[name][:, None].astype(np.int32) for k, name in enumerate(space)}
        else:
            inputs = {"obs": whole}
        if remembers:
            inputs["state"] = theirs
        outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
        theirs = outputs.get("state_out")
        actions, ours = model.predict(whole, ours, np.full(10, step == 0), deterministic=True)
        ordered = np.sort(outputs["logits"], 1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-3
        compared += clear.sum()
        np.testing.assert_array_equal(outputs["discrete_actions"][clear, 0], np.asarray(actions)[clear])
        chosen.update(np.asarray(actions).tolist())
    assert compared > 60 and len(chosen) > 1, (compared, chosen)


def events(folder):
    """Scalars of the event files of a folder: {name: [(step, value)]}."""
    from tensorboardX.proto.event_pb2 import Event

    found = {}
    (file,) = folder.glob("events.out.tfevents.*")
    data, at = file.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        event = Event.FromString(data[at + 12 : at + 12 + length])
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
        at += 16 + length
    return found


def test_event_files_have_what_the_training_told(tmp_path):
    told = []
    model = rlcore.PPO("CartPole-v1", tensorboard_log=tmp_path)
    model.learn(3000, callback=lambda m: told.append((m.num_timesteps, m.stats["return_mean"], m.stats["value_loss"])), log_interval=1)
    model.learn(600)
    found = events(tmp_path / "PPO_1")
    assert [step for step, _ in found["rollout/ep_rew_mean"]] == [t[0] for t in told]
    np.testing.assert_allclose([v for _, v in found["rollout/ep_rew_mean"]], [t[1] for t in told], rtol=1e-6)
    np.testing.assert_allclose([v for _, v in found["train/value_loss"]], [t[2] for t in told], rtol=1e-6)
    assert "train/pixel_control_loss" not in found and found["time/fps"][0][1] > 0
    assert events(tmp_path / "PPO_2")["time/episodes"]


def test_episodes_of_a_host_are_monitored(tmp_path):
    model = rlcore.PPO([lambda: gymnasium.make("MountainCar-v0")] * 2, monitor=tmp_path / "cars").learn(900)
    lines = (tmp_path / "cars.monitor.csv").read_text().splitlines()
    assert '"env_id": "MountainCar-v0"' in lines[0]
    assert [line.split(",")[:2] for line in lines[2:]] == [["-200.0", "200"]] * int(model.stats["num_episodes"]) != []
