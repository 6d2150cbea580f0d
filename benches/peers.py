"""Other packages at the shapes of the benches, one function each; a package that cannot be imported is named and left out.

Prints a line for each measurement: bench of criterion, package and version, elements a second (the median of 15 parts).
"""

import importlib.util
import sys
import time
from importlib.metadata import version

PARTS, SECONDS = 15, 0.1


def rate(work, elements):
    """Elements a second: parts of at least SECONDS each, after one call that does not count."""
    work()
    calls, spent = 1, 0.0
    while spent < SECONDS:
        calls *= 2
        spent = timed(work, calls)
    times = sorted(timed(work, calls) for _ in range(PARTS))
    return elements * calls / times[PARTS // 2]


def timed(work, calls):
    start = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - start


def gymnasium():
    """CartPole as its authors wrote it for arrays; the calls are those of a training loop."""
    import gymnasium
    import numpy as np

    for n in (64, 4096):
        env = gymnasium.make_vec("CartPole-v1", num_envs=n, vectorization_mode="vector_entry_point")
        env.reset(seed=1)
        actions = np.random.default_rng(1).integers(0, 2, (64, n))
        at = iter(range(1 << 60))
        yield f"env_CartPole-v1/N{n}", rate(lambda: env.step(actions[next(at) % 64]), n)


def opencv():
    """The larger of two screens, gray, shrunk: three calls, the first on arrays of its own."""
    import cv2
    import numpy as np

    cv2.setNumThreads(1)
    for what, channels in (("gray", 1), ("rgb", 3)):
        a, b = np.random.default_rng(1).integers(0, 256, (2, 210, 160, channels), np.uint8).squeeze()

        def warp():
            larger = cv2.max(a, b)
            gray = larger if channels == 1 else cv2.cvtColor(larger, cv2.COLOR_RGB2GRAY)
            return cv2.resize(gray, (84, 84), interpolation=cv2.INTER_AREA)

        yield f"warp/{what}/2 noise", rate(warp, 210 * 160)


def rlax():
    """Compiled by jax for whole batches; calls end when the result is there."""
    import without_distrax  # noqa: F401, its estimators need neither distrax nor TensorFlow Probability

    import jax
    import numpy as np
    from rlax._src import multistep, vtrace

    def arrays(*shapes):
        rng = np.random.default_rng(1)
        return [jax.device_put(rng.random(shape, np.float32)) for shape in shapes]

    def gae(r, d, v):
        advantage = multistep.truncated_generalized_advantage_estimation(r, d, 0.95, v)
        return advantage, advantage + v[:-1]

    gae = jax.jit(jax.vmap(gae, 1, 1))
    for n in (8, 256, 4096):
        reward, discount, value = arrays((128, n), (128, n), (129, n))
        yield f"gae/T128xN{n}", rate(lambda: jax.block_until_ready(gae(reward, discount, value)), 128 * n)

    def targets(v, v_next, r, d, rho):
        out = vtrace.vtrace_td_error_and_advantage(v, v_next, r, d, rho)
        return out.errors + v, out.pg_advantage

    targets = jax.jit(jax.vmap(targets, 1, 1))
    for n in (32, 512, 4096):
        x = arrays(*[(80, n)] * 5)
        yield f"vtrace/weights/T80xN{n}", rate(lambda: jax.block_until_ready(targets(*x)), 80 * n)


def cpprb():
    """Items with one number, which sample copies too. 64 batches are updated in turn, each time with other priorities: a
    tree that is given what it holds stops climbing, and looks faster than it is."""
    import numpy as np
    from cpprb import PrioritizedReplayBuffer

    size = 1 << 20
    buffer = PrioritizedReplayBuffer(size, {"x": {}}, alpha=0.6)
    rng = np.random.default_rng(1)
    for _ in range(16):
        buffer.add(x=np.zeros(size // 16), priorities=rng.random(size // 16) + 0.01)
    for batch in (32, 256, 4096):
        slots, priorities = rng.integers(0, size, (64, batch)), rng.random((61, batch)) + 0.01
        at = iter(range(1 << 60))

        def update():
            i = next(at)
            buffer.update_priorities(slots[i % 64], priorities[i % 61])

        yield f"priority/stratified/B{batch}", rate(lambda: buffer.sample(batch, beta=0.4), batch)
        yield f"priority/update/B{batch}", rate(update, batch)


def stable_baselines3():
    """What VecNormalize does with observations: moments, then the normalised rows."""
    import without_torch  # noqa: F401, before stable_baselines3

    import numpy as np
    from stable_baselines3.common.running_mean_std import RunningMeanStd

    for rows, width in ((64, 17), (4096, 64)):
        x, moments = np.random.default_rng(1).random((rows, width), np.float32), RunningMeanStd(shape=(width,))

        def step():
            moments.update(x)
            return np.clip((x - moments.mean) / np.sqrt(moments.var + 1e-8), -10, 10).astype(np.float32)

        yield f"moments/vec_normalize/N{rows}xD{width}", rate(step, rows * width)


PACKAGES = [
    (gymnasium, "gymnasium", "gymnasium", "Gymnasium"),
    (opencv, "cv2", "opencv-python-headless", "OpenCV"),
    (rlax, "rlax", "rlax", "rlax"),
    (cpprb, "cpprb", "cpprb", "cpprb"),
    (stable_baselines3, "stable_baselines3", "stable_baselines3", "Stable-Baselines3"),
]

for measure, module, package, name in PACKAGES:
    if importlib.util.find_spec(module) is None:
        print(f"{name} is not installed", file=sys.stderr)
        continue
    for bench, per_second in measure():
        label = f"{name} {version(package)}"
        print(bench, label, f"{per_second:.6g}", sep="\t")
        print(f"{bench:36} {label}: {per_second / 1e6:.3g} million/s", file=sys.stderr)
