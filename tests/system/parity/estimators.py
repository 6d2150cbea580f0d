"""Advantages and targets against rlax: thousands of random rollouts, summed in f64 and in f32.

    tests/system/parity/estimators.py target/release/librlcore.so [--seed 1]

One column of a `[T, N]` rollout is one case. rlax has a discount a step and no word for episodes that were cut: a step that
ends its episode gets discount 0 there, and one that is cut the discounted final value with its reward. Both then ask for the
same sum, which rlax works out in f64 from the same f32 inputs. Ours has to be
    with RLCORE_ACCUMULATE_F64: the f32 nearest to it, up to the rounding of the sums in f64;
    with RLCORE_ACCUMULATE_F32: within TOLERANCE of it, relative to the largest number of its case; how far rlax is when it
    sums in f32 is shown beside ours.
V-trace takes its ratios in f32 both times, so TOLERANCE counts there both times. Exits 1 on any difference.
"""

import argparse
import ctypes
import sys
import time
from ctypes import byref, c_float, c_size_t, c_uint32, c_void_p, sizeof

import numpy as np

import without_distrax  # noqa: F401

import jax
import jax.numpy as jnp
from rlax._src import multistep, value_learning, vtrace

import rlcore
from rlcore import address

jax.config.update("jax_enable_x64", True)

F32, F64 = 0, 1
TOLERANCE = 2e-6

# T, cases, chance of each flag at each step.
SHAPES = [(1, 500, 0.3), (8, 2000, 0.1), (40, 1500, 0.05), (128, 500, 0.01)]
RATES = [(0.99, 0.95), (0.9, 0.5), (1.0, 1.0), (0.97, 0.0)]
CEILINGS = [(1.0, 1.0), (3.7, 2.2), (0.5, np.inf), (np.inf, 1.5)]
ACTIONS = 4


class Rollout(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("struct_size", "num_steps", "num_envs", "accumulate")] + [
        (name, c_void_p) for name in ("reward", "value", "bootstrap_value", "terminated", "truncated", "final_value")
    ]


class VTrace(ctypes.Structure):
    _fields_ = (
        [(name, c_uint32) for name in ("struct_size", "num_steps", "num_envs", "accumulate")]
        + [(name, c_void_p) for name in ("log_rho", "discounts", "reward", "value", "bootstrap_value", "truncated", "final_value")]
        + [(name, c_float) for name in ("clip_rho", "clip_c", "clip_pg_rho", "td_lambda", "leak")]
        + [("reserved", c_uint32)]
    )


def across(function):
    """The function of one case, for all columns at once: of arrays, time is first; numbers are shared."""

    def run(*arguments):
        axes = [1 if np.ndim(a) else None for a in arguments]
        return jax.vmap(function, axes, 1)(*arguments)

    return jax.jit(run)


def upgo(r_t, discount_t, v_tm1, v_t):
    """As its authors have it: a lambda return whose lambda is 1 where the next step went no worse than its value, else 0."""
    no_worse = r_t[1:] + discount_t[1:] * v_t[1:] >= v_tm1[1:]
    return multistep.lambda_returns(r_t, discount_t, v_t, jnp.append(no_worse, True).astype(r_t.dtype))


def v_trace(v_tm1, v_t, r_t, discount_t, rho_tm1, lambda_, clip_rho, clip_pg_rho):
    out = vtrace.vtrace_td_error_and_advantage(v_tm1, v_t, r_t, discount_t, rho_tm1, lambda_, clip_rho, clip_pg_rho)
    return out.errors + v_tm1, out.pg_advantage


GAE = across(multistep.truncated_generalized_advantage_estimation)
RETURNS = across(multistep.lambda_returns)
TD_LAMBDA = across(value_learning.td_lambda)
WHOLE = across(multistep.discounted_returns)
N_STEP = {n: across(lambda r, d, v, n=n: multistep.n_step_bootstrapped_returns(r, d, v, n)) for n in (1, 3, 8)}
UPGO = across(upgo)
RETRACE = across(value_learning.retrace_continuous)
RETRACE_OF_POLICIES = jax.jit(jax.vmap(value_learning.retrace, (1, 1, 1, 1, 1, 1, 1, 1, None, None), 1))
V_TRACE = across(v_trace)


class Cases:
    """One rollout a column, and what off-policy targets read beside it."""

    def __init__(self, rng, num_steps, num_envs, ending):
        shape = (num_steps, num_envs)

        def normal(*shape):
            return rng.standard_normal(shape).astype(np.float32)

        self.reward, self.value, self.final_value = normal(*shape), 2 * normal(*shape), 2 * normal(*shape)
        self.bootstrap_value = 2 * normal(num_envs)
        self.terminated, self.truncated = (np.uint8(rng.random(shape) < ending) * 7 for _ in range(2))
        self.q, self.log_rho = 2 * normal(*shape), normal(*shape)

    def rounded(self):
        """The same on a grid so coarse that f32 compares sums of two as f64 does."""
        other = object.__new__(Cases)
        for name, array in vars(self).items():
            setattr(other, name, array if array.dtype == np.uint8 else np.round(array * 64) / np.float32(64))
        return other

    def for_rlax(self, discount, dtype):
        """r_t, discount_t, v_tm1, v_t"""
        ended = (self.terminated | self.truncated) != 0
        cut = (self.truncated != 0) & (self.terminated == 0)
        r = self.reward + np.where(cut, np.float64(discount) * self.final_value, 0)
        v = np.vstack([self.value, self.bootstrap_value]).astype(dtype)
        return r.astype(dtype), np.where(ended, 0, discount).astype(dtype), v[:-1], v[1:]

    def scale(self):
        """[N] the largest number of each case."""
        arrays = (self.reward, self.value, self.final_value, self.q, self.bootstrap_value[None])
        return np.max([np.abs(a).max(0) for a in arrays], 0)


class Ours:
    """The calls on cases."""

    def __init__(self, lib, cases, accumulate):
        self.lib, self.cases, self.shape = lib, cases, cases.reward.shape
        arrays = (cases.reward, cases.value, cases.bootstrap_value, cases.terminated, cases.truncated, cases.final_value)
        self.rollout = Rollout(sizeof(Rollout), *self.shape, accumulate, *(a.ctypes.data for a in arrays))

    def call(self, name, *arguments, outputs, numbers=()):
        """f32 numbers, or what is passed as it is, in; as many outputs as asked for."""
        out = [np.full(self.shape, np.nan, np.float32) for _ in range(outputs)]
        given = [c_float(a) if isinstance(a, (float, np.floating)) else a for a in arguments]
        getattr(self.lib, name)(byref(self.rollout), *given, *(c_uint32(n) for n in numbers), *map(address, out))
        return out

    def retrace(self, discount, lambda_):
        q, log_rho = (a.ctypes.data for a in (self.cases.q, self.cases.log_rho))
        off_policy = rlcore.OffPolicy(sizeof(rlcore.OffPolicy), discount, lambda_, 0, q, log_rho)
        return self.call("retrace", byref(off_policy), outputs=2)

    def v_trace(self, discount, lambda_, clip_rho, clip_pg_rho):
        c, r = self.cases, self.rollout
        v = VTrace()
        self.lib.vtrace_init(byref(v), c_size_t(sizeof(v)))
        discounts = np.where(c.terminated != 0, 0, discount).astype(np.float32)
        v.num_steps, v.num_envs, v.accumulate = r.num_steps, r.num_envs, r.accumulate
        v.log_rho, v.discounts = c.log_rho.ctypes.data, discounts.ctypes.data
        v.reward, v.value, v.bootstrap_value = r.reward, r.value, r.bootstrap_value
        v.truncated, v.final_value = r.truncated, r.final_value
        v.td_lambda, v.clip_rho, v.clip_pg_rho = lambda_, clip_rho, clip_pg_rho
        out = [np.full(self.shape, np.nan, np.float32) for _ in range(2)]
        self.lib.vtrace_from_importance_weights(byref(v), *map(address, out))
        return out


class Tally:
    """What was compared, by estimator."""

    def __init__(self):
        self.rows = {}

    def compare(self, name, accumulate, ours, exact, theirs, scale, nearest=True):
        """Outputs: ours, and those of rlax in f64 and in f32."""
        row = self.rows.setdefault(name, [0, 0.0 if nearest else None, 0.0, 0.0])
        row[0] += exact[0].shape[1] if accumulate == F64 else 0
        for ours, exact, theirs in zip(ours, exact, theirs, strict=True):
            exact, theirs = np.asarray(exact), np.asarray(theirs)
            size = np.maximum(np.abs(exact).max(0), scale)
            off = np.abs(ours - exact)
            if accumulate == F64 and nearest:
                units = off / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
                bad = off > 0.5 * np.spacing(np.abs(exact).astype(np.float32)) + 1e-12 * size
                row[1] = max(row[1], units[np.abs(exact) > 1e-3 * size].max(initial=0))
            else:
                bad = off > TOLERANCE * size
            bad |= ~np.isfinite(ours)
            if bad.any():
                t, e = np.argwhere(bad)[0]
                raise AssertionError(
                    f"{name}, accumulated in {'f64' if accumulate == F64 else 'f32'}: step {t} of case {e}: "
                    f"ours {ours[t, e]!r}, rlax {exact[t, e]!r}; {bad.sum()} of {bad.size} differ"
                )
            if accumulate == F32:
                row[2] = max(row[2], (off / size).max())
                row[3] = max(row[3], (np.abs(theirs - exact) / size).max())

    def show(self):
        print(f"{'':14}{'cases':>8}{'f64: f32 units':>16}{'f32: ours':>12}{'rlax':>10}")
        for name, (cases, units, ours, theirs) in self.rows.items():
            print(f"{name:14}{cases:8}{'' if units is None else f'{units:.4f}':>16}{ours:12.1e}{theirs:10.1e}")


def compare(lib, rng, tally):
    for num_steps, num_envs, ending in SHAPES:
        for (discount, lambda_), (clip_rho, clip_pg_rho) in zip(RATES, CEILINGS):
            discount, lambda_ = np.float32(discount), np.float32(lambda_)
            cases = Cases(rng, num_steps, num_envs, ending)
            rates = float(discount), float(lambda_), clip_rho, clip_pg_rho
            want = {dtype: rlax(cases, *rates, dtype) for dtype in (np.float64, np.float32)}
            scale = cases.scale()
            for accumulate in (F64, F32):
                ours = Ours(lib, cases, accumulate)
                got = {
                    "GAE": ours.call("gae", discount, lambda_, outputs=2),
                    "TD(lambda)": ours.call("td_lambda", discount, lambda_, outputs=2),
                    "lambda returns": ours.call("lambda_returns", discount, lambda_, outputs=1),
                    "whole returns": ours.call("n_step_returns", discount, numbers=[num_steps], outputs=1),
                    "Retrace": ours.retrace(discount, lambda_),
                    "V-trace": ours.v_trace(discount, lambda_, clip_rho, clip_pg_rho),
                }
                for n in N_STEP:
                    got[f"{n}-step returns"] = ours.call("n_step_returns", discount, numbers=[n], outputs=1)
                for name, outputs in got.items():
                    theirs = want[np.float64][name], want[np.float32][name]
                    tally.compare(name, accumulate, outputs, *theirs, scale, nearest=name != "V-trace")

            # What UPGO chooses has to be the same before sums can be, and so numbers on which all precisions agree.
            coarse, half = cases.rounded(), np.float32(1 - 0.5 ** (1 + rng.integers(5)))
            want = {}
            for dtype in (np.float64, np.float32):
                r, d, v_tm1, v_t = coarse.for_rlax(half, dtype)
                target = np.asarray(UPGO(r, d, v_tm1, v_t))
                want[dtype] = target - v_tm1, target
            for accumulate in (F64, F32):
                outputs = Ours(lib, coarse, accumulate).call("upgo", half, outputs=2)
                tally.compare("UPGO", accumulate, outputs, want[np.float64], want[np.float32], scale)
            policies(lib, rng, tally, cases, discount, lambda_)


def rlax(cases, discount, lambda_, clip_rho, clip_pg_rho, dtype):
    """What rlax says with sums in this type."""
    r, d, v_tm1, v_t = cases.for_rlax(discount, dtype)
    lambda_, clip_rho, clip_pg_rho = dtype(lambda_), dtype(clip_rho), dtype(clip_pg_rho)
    advantage = np.asarray(GAE(r, d, lambda_, np.vstack([v_tm1, v_t[-1:]])))
    returns = np.asarray(RETURNS(r, d, v_t, lambda_))
    q, log_rho = cases.q.astype(dtype), cases.log_rho.astype(dtype)
    error = np.asarray(RETRACE(q, q[1:], v_t, r, d, log_rho[1:], lambda_))
    want = {
        "GAE": (advantage, advantage + v_tm1),
        "TD(lambda)": (TD_LAMBDA(v_tm1, r, d, v_t, lambda_), returns),
        "lambda returns": (returns,),
        "whole returns": (WHOLE(r, d, v_t),),
        "Retrace": (error, error + q),
        "V-trace": V_TRACE(v_tm1, v_t, r, d, np.exp(log_rho), lambda_, clip_rho, clip_pg_rho),
    }
    for n, function in N_STEP.items():
        want[f"{n}-step returns"] = (function(r, d, v_t),)
    return want


def policies(lib, rng, tally, cases, discount, lambda_):
    """Retrace from action values and probabilities, as an agent has them: rlax takes those, ours what they come to."""
    num_steps, num_envs = cases.reward.shape
    q = 2 * rng.standard_normal((num_steps + 1, num_envs, ACTIONS))
    mu, pi = (np.exp(logits) / np.exp(logits).sum(-1, keepdims=True) for logits in rng.standard_normal((2, *q.shape)))
    action = rng.integers(ACTIONS, size=q.shape[:2])
    taken = lambda x: np.take_along_axis(x, action[..., None], -1)[..., 0]
    expected = (pi * q).sum(-1)
    own = object.__new__(Cases)
    vars(own).update(vars(cases))
    own.value, own.bootstrap_value = np.float32(expected[:-1]), np.float32(expected[-1])
    own.q, own.log_rho = np.float32(taken(q)[:-1]), np.float32(np.log(taken(pi) / taken(mu))[:-1])
    want = {}
    for dtype in (np.float64, np.float32):
        r, d, _, _ = own.for_rlax(float(discount), dtype)
        x, p, m = (a.astype(dtype) for a in (q, pi, taken(mu)))
        error = RETRACE_OF_POLICIES(x[:-1], x[1:], action[:-1], action[1:], r, d, p[1:], m[1:], dtype(lambda_), dtype(0))
        want[dtype] = (np.asarray(error),)
    for accumulate in (F64, F32):
        error, _ = Ours(lib, own, accumulate).retrace(discount, lambda_)
        tally.compare("Retrace of pi", accumulate, (error,), want[np.float64], want[np.float32], own.scale(), nearest=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    begun = time.monotonic()
    tally = Tally()
    compare(rlcore.Library(args.library), np.random.default_rng(args.seed), tally)
    tally.show()
    print(f"{sum(row[0] for row in tally.rows.values())} cases agree with rlax, in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
