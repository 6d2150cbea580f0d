"""Holds the normaliser and monitor.csv against the packages that people know.

    python tests/system/parity/monitor.py [librlcore.so]        default: target/release/librlcore.so

Made with Python 3.11, numpy 2.4.6, pandas 3.1.1, gymnasium 1.4.0, stable-baselines3 2.9.2.
Exits with 1 on the first difference.
"""
import csv
import ctypes as c
import io
import json
import math
import pathlib
import sys
import tempfile
from collections import deque

import without_torch  # noqa: F401, before stable_baselines3

import gymnasium
import numpy as np
from rlcore import Rows
from stable_baselines3.common.monitor import get_monitor_files, load_results
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

u8, u32, u64, f32, f64, ptr = c.c_uint8, c.c_uint32, c.c_uint64, c.c_float, c.c_double, c.c_void_p


class NormalizeConfig(c.Structure):
    _fields_ = [("struct_size", u32), ("num_envs", u32), ("obs_len", u32), ("normalize_obs", u32),
                ("normalize_reward", u32), ("clip_obs", f32), ("clip_reward", f32), ("reserved", u32),
                ("discount", f64), ("epsilon", f64)]


class NormalizeStats(c.Structure):
    _fields_ = [("struct_size", u32), ("frozen", u32), ("obs_count", f64), ("return_mean", f64), ("return_var", f64),
                ("return_count", f64)]


class MonitorConfig(c.Structure):
    _fields_ = [("struct_size", u32), ("num_envs", u32), ("keep", u32), ("capacity", u32), ("num_info", u32),
                ("reserved", u32), ("start", f64)]


class Episode(c.Structure):
    _fields_ = [("number", u64), ("seconds", f64), ("episode_return", f64), ("env", u32), ("len", u32)]


class MonitorStats(c.Structure):
    _fields_ = [("struct_size", u32), ("num_kept", u32), ("num_episodes", u64), ("return_mean", f64),
                ("len_mean", f64)]


def address(x):
    return None if x is None else x.ctypes.data


class Batch(VecEnv):
    """A vectorised environment that replays arrays; SB3's wrappers stand on it."""

    def __init__(self, rng, num_envs, obs_len):
        box = gymnasium.spaces.Box(-np.inf, np.inf, (obs_len,), np.float32)
        super().__init__(num_envs, box, gymnasium.spaces.Discrete(2))
        self.rng = rng

    def draw(self):
        shift = np.arange(self.observation_space.shape[0], dtype=np.float32) * 10
        return (self.rng.normal(size=(self.num_envs, shift.size)) * 3 + shift).astype(np.float32)

    def reset(self):
        self.obs = self.draw()
        return self.obs.copy()

    def step_async(self, actions):
        pass

    def step_wait(self):
        self.obs, self.reward = self.draw(), self.rng.normal(0.3, 2, self.num_envs).astype(np.float32)
        self.terminated, self.truncated = self.rng.random((2, self.num_envs)) < 0.05
        ended, last = self.terminated | self.truncated, self.draw()
        self.final_obs = np.where(ended[:, None], last, np.nan).astype(np.float32)
        infos = [{"terminal_observation": last[i].copy(), "lives": float(i)} if ended[i] else {}
                 for i in range(self.num_envs)]
        return self.obs.copy(), self.reward.copy(), ended, infos

    def close(self):
        pass

    def env_is_wrapped(self, wrapper_class, indices=None):
        return [False] * self.num_envs

    def env_method(self, method_name, *args, indices=None, **kwargs):
        raise NotImplementedError

    def get_attr(self, attr_name, indices=None):
        return [None] * self.num_envs

    def set_attr(self, attr_name, value, indices=None):
        raise NotImplementedError


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(str(path))
        self.lib.rlcore_monitor_step.argtypes = [ptr, ptr, f64, ptr]
        self.lib.rlcore_monitor_format_header.argtypes = [f64, c.c_char_p, ptr, u32, ptr, c.c_size_t, ptr]
        self.lib.rlcore_moments_merge.argtypes = [u32, ptr, ptr, f64, ptr, ptr, ptr]
        self.lib.rlcore_moments_reset.argtypes = [u32, f64, ptr, ptr, ptr]

    def __call__(self, name, *args):
        args = [ptr(a) if isinstance(a, int) else ptr(None) if a is None else a for a in args]
        status = getattr(self.lib, "rlcore_" + name)(*args)
        if status != 0:
            why = c.create_string_buffer(256)
            self.lib.rlcore_last_error(why, c.c_size_t(256))
            raise SystemExit(f"rlcore_{name}: {why.value.decode()}")

    def block(self, noun, config):
        size = c.c_size_t()
        self(f"{noun}_size", c.byref(config), c.byref(size))
        memory, out = np.zeros(size.value // 8 + 1, np.uint64), ptr()
        self(f"{noun}_init", memory.ctypes.data, c.c_size_t(size.value), c.byref(config), c.byref(out))
        return memory, out

    def config(self, noun, kind, **fields):
        config = kind()
        self(f"{noun}_config_init", c.byref(config), c.c_size_t(c.sizeof(config)))
        for name, value in fields.items():
            setattr(config, name, value)
        return config


def near(what, ours, theirs, tolerance):
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    off = np.max(np.abs(ours - theirs) / np.maximum(1, np.abs(theirs)), initial=0)
    if not off <= tolerance:
        raise SystemExit(f"{what}: off by {off:.3g}, allowed {tolerance:g}")
    return off


def check_moments(lib):
    """RunningMeanStd: batches, and the merge of two workers."""
    rng = np.random.default_rng(1)
    mean, var, count = np.zeros(5), np.zeros(5), np.zeros(1)
    lib("moments_reset", u32(5), f64(1e-4), mean.ctypes.data, var.ctypes.data, count.ctypes.data)
    peer = RunningMeanStd(shape=(5,))
    for _ in range(50):
        x = rng.normal(3, 2, (int(rng.integers(1, 40)), 5)).astype(np.float32)
        lib("moments_update", x.ctypes.data, u32(len(x)), u32(5), mean.ctypes.data, var.ctypes.data, count.ctypes.data)
        peer.update(x.astype(np.float64))
    worker = RunningMeanStd(shape=(5,))
    worker.update(rng.normal(-1, 4, (77, 5)))
    lib("moments_merge", u32(5), worker.mean.ctypes.data, worker.var.ctypes.data, f64(worker.count), mean.ctypes.data,
        var.ctypes.data, count.ctypes.data)
    peer.update_from_moments(worker.mean, worker.var, worker.count)
    return max(near("moments: mean", mean, peer.mean, 1e-12), near("moments: var", var, peer.var, 1e-12),
               near("moments: count", count, peer.count, 1e-12))


def check_normalize(lib):
    """VecNormalize on the same arrays. SB3 takes batch moments of f32 observations in f32: 1e-5 of leeway there."""
    worst = 0
    for norm_obs in (True, False):
        for norm_reward in (True, False):
            batch = Batch(np.random.default_rng(7), 8, 17)
            peer = VecNormalize(batch, norm_obs=norm_obs, norm_reward=norm_reward)
            config = lib.config("vec_normalize", NormalizeConfig, num_envs=8, obs_len=17, normalize_obs=norm_obs,
                                normalize_reward=norm_reward)
            memory, block = lib.block("vec_normalize", config)
            theirs = peer.reset()
            ours = np.zeros_like(batch.obs)
            lib("vec_normalize_reset", block, batch.obs.ctypes.data, ours.ctypes.data)
            worst = max(worst, near("reset", ours, theirs, 1e-5))
            for step in range(300):
                if step == 200:  # from here on as in an evaluation
                    peer.training = False
                    lib("vec_normalize_freeze", block, u32(1))
                    frozen = memory.copy()
                obs, reward, _, infos = peer.step(None)
                ended = [i for i, info in enumerate(infos) if info]
                flags = batch.terminated.astype(np.uint8), batch.truncated.astype(np.uint8)
                rows = Rows(c.sizeof(Rows), obs=address(batch.obs), reward=address(batch.reward), terminated=address(flags[0]),
                            truncated=address(flags[1]), final_obs=address(batch.final_obs))
                lib("vec_normalize_step", block, c.byref(rows), None)  # in place
                worst = max(worst, near("obs", batch.obs, obs, 1e-5), near("reward", batch.reward, reward, 1e-5))
                for i in ended:
                    worst = max(worst, near("final_obs", batch.final_obs[i], infos[i]["terminal_observation"], 1e-5))
            if not np.array_equal(frozen, memory):
                raise SystemExit("frozen statistics have changed")
            mean, var, stats = np.zeros(17), np.zeros(17), NormalizeStats(c.sizeof(NormalizeStats))
            lib("vec_normalize_statistics", block, mean.ctypes.data, var.ctypes.data, c.byref(stats))
            if norm_obs:
                near("obs mean", mean, peer.obs_rms.mean, 1e-5)
                near("obs var", var, peer.obs_rms.var, 1e-5)
                near("obs count", stats.obs_count, peer.obs_rms.count, 1e-12)
            if norm_reward:
                near("return mean", stats.return_mean, peer.ret_rms.mean, 1e-6)
                near("return var", stats.return_var, peer.ret_rms.var, 1e-6)
                near("return count", stats.return_count, peer.ret_rms.count, 1e-12)
    return worst


def row_of(lib, episode, info):
    text, length = c.create_string_buffer(512), c.c_size_t()
    info = np.asarray(info, np.float64)
    lib("monitor_format_row", c.byref(episode), info.ctypes.data, u32(len(info)), text, c.c_size_t(512), c.byref(length))
    return text.raw[:length.value].decode()


def check_numbers(lib):
    """Numbers as Python prints them, through its own csv writer."""
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**63, 20000, dtype=np.uint64)
    doubles = np.concatenate([bits.view(np.float64), rng.uniform(-1e4, 1e4, 5000), 2.0 ** np.arange(-1074, 1024),
                              10.0 ** np.arange(-300, 300)])
    doubles = doubles[np.isfinite(doubles)]
    for part in np.array_split(doubles, len(doubles) // 15 + 1):
        file = io.StringIO()
        csv.writer(file).writerow([0.5, 7, 1.25, *map(float, part)])
        if row_of(lib, Episode(0, 1.25, 0.5, 0, 7), part) != file.getvalue():
            raise SystemExit(f"text of {part}")
    for x in map(float, doubles):
        text = row_of(lib, Episode(0, 0.0, x, 0, 1), []).split(",")[0]
        if text != repr(x):
            raise SystemExit(f"text of the return {x!r}: {text}")
    return 2 * len(doubles)


def old_loader(path):
    """What the loader before SB3 did: a JSON line behind a mark, then csv; times from the earliest start."""
    with open(path) as file:
        first = file.readline()
        assert first[0] == "#"
        header = json.loads(first[1:].strip())
        rows = list(csv.DictReader(file))
    return header, [(float(r["r"]), int(r["l"]), float(r["t"]) + header["t_start"]) for r in rows]


def check_monitor(lib):
    """The same run through SB3's VecMonitor and ours, both read by SB3's load_results."""
    with tempfile.TemporaryDirectory() as folder:
        ours_dir, theirs_dir = pathlib.Path(folder, "ours"), pathlib.Path(folder, "theirs")
        ours_dir.mkdir(), theirs_dir.mkdir()
        batch = Batch(np.random.default_rng(11), 6, 3)
        peer = VecMonitor(batch, str(theirs_dir / "x"), info_keywords=("lives",))
        peer.reset()
        config = lib.config("monitor", MonitorConfig, num_envs=6, keep=100, capacity=16, num_info=1, start=50.0)
        memory, block = lib.block("monitor", config)
        keywords = (c.c_char_p * 1)(b"lives")
        text, length = c.create_string_buffer(256), c.c_size_t()
        lib("monitor_format_header", f64(1700000000.25), c.c_char_p(b'a "quoted" id'), c.cast(keywords, ptr), u32(1),
            text, c.c_size_t(256), c.byref(length))
        if json.loads(text.raw[1:].split(b"\n")[0]) != {"t_start": 1700000000.25, "env_id": 'a "quoted" id'}:
            raise SystemExit("the header's JSON")
        if text.raw[:length.value].decode().split("\n")[0] != \
                "# " + json.dumps({"t_start": 1700000000.25, "env_id": 'a "quoted" id'}) + " ":
            raise SystemExit("the header's first line")
        next_, count, lost = u64(0), u32(), u64()
        episodes, info = (Episode * 16)(), np.zeros((16, 1))
        times, returns, lens = [], deque(maxlen=100), deque(maxlen=100)
        with open(ours_dir / "run.monitor.csv", "wb") as file:
            file.write(text.raw[:length.value])
            for step in range(400):
                _, _, ended, infos = peer.step(None)
                lives = np.arange(6, dtype=np.float64)
                flags = batch.terminated.astype(np.uint8), batch.truncated.astype(np.uint8)
                rows = Rows(c.sizeof(Rows), reward=address(batch.reward), terminated=address(flags[0]),
                            truncated=address(flags[1]))
                now = 50.0 + step * 0.0123456789
                lib("monitor_step", block, c.byref(rows), f64(now), lives.ctypes.data)
                lib("monitor_read", block, c.byref(next_), episodes, info.ctypes.data, u32(16), c.byref(count),
                    c.byref(lost))
                if count.value != sum(ended) or lost.value:
                    raise SystemExit("records do not come as episodes end")
                for i, env in zip(range(count.value), np.flatnonzero(ended)):
                    e, theirs = episodes[i], infos[env]["episode"]
                    if (e.env, e.len) != (env, theirs["l"]):
                        raise SystemExit(f"episode {e.number}")
                    near("return", e.episode_return, theirs["r"], 1e-5)  # SB3 sums f32
                    if e.seconds != round(now - 50.0, 6):
                        raise SystemExit(f"time {e.seconds}, wanted {round(now - 50.0, 6)}")
                    times.append(e.seconds)
                    returns.append(e.episode_return)
                    lens.append(theirs["l"])
                    file.write(row_of(lib, e, info[i]).encode())
        stats = MonitorStats(c.sizeof(MonitorStats))
        lib("monitor_means", block, c.byref(stats))
        near("mean return", stats.return_mean, np.mean(np.asarray(returns, np.float64)), 1e-12)
        near("mean length", stats.len_mean, np.mean(lens), 1e-12)
        peer.close()
        for folder_ in (ours_dir, theirs_dir):
            assert len(get_monitor_files(str(folder_))) == 1
        ours, theirs = load_results(str(ours_dir)), load_results(str(theirs_dir))
        if list(ours.columns) != list(theirs.columns) or len(ours) != len(theirs):
            raise SystemExit(f"columns {list(ours.columns)}, wanted {list(theirs.columns)}")
        near("column r", ours["r"], theirs["r"], 1e-5)
        for column in ("l", "lives"):
            if not np.array_equal(ours[column].astype(np.float32), theirs[column].astype(np.float32)):
                raise SystemExit(f"column {column}")
        near("column t", ours["t"], times, 1e-6)  # the loader adds t_start and takes it away again
        header, rows = old_loader(ours_dir / "run.monitor.csv")
        if header["t_start"] != 1700000000.25 or [r[:2] for r in rows] != list(zip(ours["r"], ours["l"])):
            raise SystemExit("the old loader")
        if not all(math.isclose(r[2] - 1700000000.25, t, abs_tol=1e-6) for r, t in zip(rows, times)):
            raise SystemExit("the old loader's times")
        return len(ours)


def main(lib):
    lib = Library(lib)
    print(f"RunningMeanStd: off by {check_moments(lib):.2g}")
    print(f"VecNormalize: off by {check_normalize(lib):.2g}")
    print(f"{check_numbers(lib)} numbers printed alike")
    print(f"load_results: {check_monitor(lib)} episodes alike")


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parents[3]
    main(sys.argv[1] if len(sys.argv) > 1 else here / "target/release/librlcore.so")
