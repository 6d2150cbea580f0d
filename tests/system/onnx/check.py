"""Files of ONNX in onnxruntime against the policies that they were made of: `check.py <library> <folder of cases> [observations]`.

Greedy actions are equal, and numbers agree to 1e-5. Recurrent policies act for 20 steps, each side with its own state."""

import ctypes
import os
import sys
from ctypes import byref, c_float, c_size_t, c_uint32, c_void_p, sizeof

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../parity"))
from rlcore import Library, Rows, Space, address, block  # noqa: E402

STEPS = 20


class Buffers(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("scratch", c_void_p), ("scratch_len", c_size_t), ("state", c_void_p), ("reset", c_void_p)]


class Distribution(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32)] + [
        (name, c_void_p) for name in "prob mean std value q log_prob entropy best".split()
    ]


class Info(ctypes.Structure):
    _fields_ = [(name, c_float if name in ("obs_clip", "value_min", "value_max") else c_uint32) for name in (
        "struct_size num_choices num_means squash num_atoms normalize_obs obs_clip value_min value_max num_layers seen_len is_q".split())]


class Policy:
    def __init__(self, lib, data):
        self.lib, self.mem, self.at = lib, block(len(data)), c_void_p()
        self.mem.view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
        lib.policy_attach(address(self.mem), c_size_t(len(data)), None, None, byref(self.at))
        self.obs, self.action, self.info = Space(), Space(), Info(sizeof(Info))
        lib.policy_spaces(self.at, byref(self.obs), byref(self.action))
        lib.policy_info_read(self.at, byref(self.info))
        state = c_size_t()
        lib.policy_state_len(self.at, byref(state))
        self.state_len = state.value

    def answer(self, obs, mask, state):
        rows, need = len(obs), c_size_t()
        self.lib.policy_scratch_len(self.at, c_uint32(rows), byref(need))
        scratch = np.zeros(need.value, np.float32)
        buffers = Buffers(sizeof(Buffers), 0, address(scratch), need, address(state) if self.state_len else None, None)
        given = Rows(sizeof(Rows), 0, None, address(obs), None if mask is None else address(mask))
        told = {}
        out = Distribution(sizeof(Distribution))
        for name, width in (("prob", self.info.num_choices), ("mean", self.info.num_means), ("std", self.info.num_means)):
            if width:
                told[name] = np.full((rows, width), np.nan, np.float32)
                setattr(out, name, told[name].ctypes.data)
        dtype = {0: np.float32, 1: np.int32, 2: np.uint8, 3: np.uint8}[self.action.kind]
        told["best"] = np.zeros((rows, self.action.len), dtype)
        out.best = told["best"].ctypes.data
        self.lib.policy_distribution(self.at, c_uint32(rows), byref(given), byref(buffers), byref(out))
        return told


def open_onnx(path):
    onnx.checker.check_model(path, full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])


def near(name, ours, theirs, limit=1e-5):
    apart = np.abs(ours.astype(np.float64) - theirs)
    most = np.max(apart / np.maximum(1, np.abs(ours)), initial=0)
    assert most <= limit, f"{name}: {most}"
    return most


def draw(rng, wanted, rows, counts, symbols):
    shape = [rows] + wanted.shape[1:]
    if wanted.type == "tensor(uint8)":
        return rng.integers(0, symbols or 256, shape, np.uint8)
    if wanted.type == "tensor(int32)":
        own, counts[:] = counts[: shape[1]], counts[shape[1] :]
        return np.stack([rng.integers(0, n, rows, np.int32) for n in own], 1)
    return rng.normal(0, 1.5, shape).astype(np.float32)


def check(lib, folder, name, symbols, rows):
    with open(f"{folder}/{name}.policy", "rb") as file:
        policy = Policy(lib, file.read())
    files = {kind: open_onnx(f"{folder}/{name}{kind}.onnx") for kind in ("", ".masked", ".agents")}
    plain = [x for x in files[""].get_inputs() if x.name != "state"]
    assert [x.name for x in plain] == (["obs"] if len(plain) == 1 else [f"obs_{i}" for i in range(len(plain))])
    rng = np.random.default_rng(5)
    steps = STEPS if policy.state_len else 1
    rows = max(1, rows // steps)
    states = {kind: np.zeros((rows, policy.state_len), np.float32) for kind in ("", "ours", ".masked", "masked", ".agents")}
    choices, means, most = policy.info.num_choices, policy.info.num_means, 0.0
    # Distances of actions are told in the width of their bounds.
    bounds = [(policy.action.low[i], policy.action.high[i]) for i in range(means)] if policy.action.low else []
    spread = np.array([max(1, high - low) for low, high in bounds] or [1.0])
    for _ in range(steps):
        total = sum(x.shape[1] for x in plain if x.type == "tensor(int32)")
        counts = [policy.obs.n[i] for i in range(total)]
        given = {x.name: draw(rng, x, rows, counts, symbols) for x in plain}
        whole = np.concatenate([x.reshape(rows, -1).view(np.uint8) for x in given.values()], 1)
        mask = None
        if choices:
            mask = rng.integers(0, 2, (rows, choices), np.uint8)
            begin = 0
            for n in sizes(policy):
                mask[np.arange(rows), begin + rng.integers(0, n, rows)] = 1
                begin += n
        for kind, own, allowed in (("", "ours", None), (".masked", "masked", mask), (".agents", None, mask)):
            if own:
                told = policy.answer(whole, allowed, states[own])
            feed = dict(given)
            if kind == ".agents":
                feed = {f"obs_{i}": as_floats(x, wanted) for i, (x, wanted) in enumerate(zip(given.values(), files[kind].get_inputs()))}
            if allowed is not None:
                feed["action_masks" if kind == ".agents" else "action_mask"] = mask.astype(np.float32) if kind == ".agents" else mask
            if policy.state_len:
                if kind == ".agents":
                    feed["recurrent_in"] = states[kind][:, None]
                else:
                    feed["state"] = states[kind]
            session = files[kind]
            made = dict(zip([x.name for x in session.get_outputs()], session.run(None, feed)))
            if policy.state_len:
                states[kind] = made["recurrent_out"][:, 0] if kind == ".agents" else made["state_out"]
            if choices:
                if policy.info.is_q:
                    shares = softmax(np.where(allowed, made["q"], -1e30) if allowed is not None else made["q"], sizes(policy))
                    near("Q", told["prob"] / 1024, shares / 1024)
                else:
                    most = max(most, near("probabilities", told["prob"], made["probabilities"]))
                    assert kind or near("logits", told["prob"], softmax(made["logits"] / 1024, sizes(policy))) < 1e-5
            if means:
                most = max(most, near("mean", told["mean"], made["mean"]), near("std", told["std"], np.exp(made["log_std"])))
            best, count = told["best"], len(sizes(policy)) if choices else 0
            words = best.view(np.int32)
            if choices:
                ours, theirs = words[:, :count], made["discrete_actions"]
                assert np.array_equal(ours, theirs), f"{(ours != theirs).sum()} of {len(ours)} greedy choices differ"
            if means:
                most = max(most, near("actions", words[:, count:].view(np.float32) / spread, made["continuous_actions"] / spread))
            if kind == ".agents":
                assert made["version_number"] == 3 and made["memory_size"] == policy.state_len
                if choices:
                    assert made["discrete_action_output_shape"].tolist() == [sizes(policy)]
                    assert np.array_equal(made["deterministic_discrete_actions"], made["discrete_actions"])
                if means:
                    assert made["continuous_action_output_shape"] == means
                    assert np.array_equal(made["deterministic_continuous_actions"], made["continuous_actions"])
    if policy.state_len:
        # A random LSTM that normalizes four nearly equal cells turns the last bits of their sums into larger ones.
        near("state", states["ours"], states[""], 1e-3)
    return most


def softmax(q, counts):
    """Probabilities of choices of which 1024 times q are the logits."""
    parts = np.split(q.astype(np.float64) * 1024, np.cumsum(counts)[:-1], 1)
    parts = [np.exp(x - x.max(1, keepdims=True)) for x in parts]
    return np.concatenate([x / x.sum(1, keepdims=True) for x in parts], 1)


def sizes(policy):
    n, all_of = [], 0
    while all_of < policy.info.num_choices:
        n.append(policy.action.n[len(n)])
        all_of += n[-1]
    return n


def as_floats(x, wanted):
    """The same observation as ML-Agents gives it."""
    own = x.astype(np.float32) / np.float32(255 if x.dtype == np.uint8 else 1)
    if x.ndim == 4 and list(x.shape[1:]) != list(wanted.shape[1:]):
        own = own.transpose(0, 3, 1, 2)
    return np.ascontiguousarray(own)


def main():
    lib, folder = Library(sys.argv[1]), sys.argv[2]
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    with open(f"{folder}/cases.txt") as file:
        cases = [line.split() for line in file]
    worst, failed = 0.0, []
    for name, symbols in cases:
        try:
            worst = max(worst, check(lib, folder, name, int(symbols), rows))
        except Exception as error:  # noqa: BLE001 - all that fail are named
            failed.append(f"{name}: {type(error).__name__} {str(error)[:300]}")
    print(f"{len(cases)} policies, each in 3 files, {rows} observations: greedy actions are equal, numbers within {worst:.1e}")
    assert not failed, "\n" + "\n".join(failed)


main()
