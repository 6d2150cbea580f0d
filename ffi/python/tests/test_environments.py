"""Built-in environments against Gymnasium: its checker, its numbers, its modes of autoreset."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import rlcore
import rlcore.vec_env

CLASSIC = ["CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1"]


@pytest.mark.parametrize("name", rlcore.names())
def test_gymnasiums_checker_passes(name):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(rlcore.make(name))
    # Of bounds alone, which are Gymnasium's own: infinite ones, actions of Pendulum that end at 2, and probes that show one number.
    assert [str(w.message) for w in told if " Box " not in str(w.message)] == []


def test_all_of_them_are_there():
    assert len(rlcore.names()) == 27 and set(CLASSIC) < set(rlcore.names())
    assert gymnasium.make("rlcore/CartPole-v1").reset(seed=1)[0] in rlcore.make("CartPole-v1").observation_space


@pytest.mark.parametrize("name", CLASSIC)
def test_spaces_and_first_steps_are_gymnasiums(name):
    theirs, ours = gymnasium.make(name), rlcore.make(name)
    assert ours.observation_space.shape == theirs.observation_space.shape
    np.testing.assert_allclose(ours.observation_space.high, theirs.observation_space.high, rtol=1e-6)
    assert type(ours.action_space) is type(theirs.action_space)
    theirs.action_space.seed(3)
    for seed in (0, 1, 2**31):
        a, b = theirs.reset(seed=seed)[0], ours.reset(seed=seed)[0]
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
        for _ in range(9):
            action = theirs.action_space.sample()
            a, b = theirs.step(action), ours.step(action)
            np.testing.assert_allclose(a[0], b[0], atol=2e-6)
            assert a[1] == pytest.approx(b[1], abs=1e-5) and a[2:4] == b[2:4]


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize("name", ["CartPole-v1", "MountainCar-v0"])
def test_vectors_reset_and_tell_final_observations_as_gymnasiums(name, mode):
    theirs = SyncVectorEnv([lambda: gymnasium.make(name)] * 3, autoreset_mode=mode)
    ours = rlcore.make_vec(name, 3, autoreset=mode)
    assert isinstance(ours, gymnasium.vector.VectorEnv) and ours.metadata["autoreset_mode"] is mode
    theirs.action_space.seed(5)
    a, b = theirs.reset(seed=9)[0], ours.reset(seed=9)[0]
    np.testing.assert_array_equal(a, b)
    ended = 0
    for _ in range(450):
        action = theirs.action_space.sample()
        a, b = theirs.step(action), ours.step(action)
        np.testing.assert_allclose(a[0], b[0], atol=1e-5)
        np.testing.assert_array_equal(np.stack(a[1:4]), np.stack(b[1:4]))
        assert a[4].keys() == b[4].keys()
        if "final_obs" in b[4]:
            np.testing.assert_array_equal(a[4]["_final_obs"], b[4]["_final_obs"])
            for x, y in zip(a[4]["final_obs"], b[4]["final_obs"]):
                assert (x is None) == (y is None) and (x is None or np.allclose(x, y, atol=1e-5))
        ended += int((a[2] | a[3]).sum())
    assert ended >= 3


def test_disabled_autoreset_takes_a_reset_mask():
    envs = rlcore.make_vec("CartPole-v1", 2, autoreset="disabled")
    envs.reset(seed=1)
    ended = np.zeros(2, bool)
    for _ in range(200):
        _, _, terminated, truncated, _ = envs.step(np.ones(2, np.int64))
        ended = terminated | truncated
        if ended.any():
            break
    with pytest.raises(rlcore.Error, match="RLCORE_E_NOT_READY"):
        envs.step(np.ones(2, np.int64))
    before = envs.environments.rows.obs[~ended].copy()
    obs, _ = envs.reset(options={"reset_mask": ended})
    assert (np.abs(obs[ended]) <= 0.05).all()
    np.testing.assert_array_equal(obs[~ended], before)


def test_arrays_are_views_of_the_same_memory():
    envs = rlcore.make_vec("MinAtar/Breakout-v1", 4, wrappers=["frame_stack"])
    first, _ = envs.reset()
    obs, reward, *_ = envs.step(np.zeros(4, np.int64))
    assert first.shape == (4, 10, 10, 16) and np.shares_memory(first, obs)
    assert np.shares_memory(obs, envs.environments.rows.obs) and np.shares_memory(reward, envs.environments.rows.reward)


def test_records_are_dictionaries_of_views():
    envs = rlcore.make_vec("MinAtar/Breakout-v1", 2, wrappers=["record"])
    obs, _ = envs.reset(seed=0)
    assert envs.observation_space.contains(obs) and np.shares_memory(obs["frame"], envs.environments.rows.obs)
    obs, reward, *_ = envs.step(np.zeros(2, np.int64))
    np.testing.assert_array_equal(obs["episode_step"].ravel(), [1, 1])
    np.testing.assert_array_equal(obs["reward"].ravel(), reward)


def test_environments_go_on_from_their_bytes():
    envs = rlcore.Environments("CartPole-v1", 3, seed=4)
    envs.reset()
    state = envs.state()
    after = []
    for _ in range(2):
        envs.rows.action[:] = 1
        for _ in range(30):
            envs.step()
        after.append(envs.state())
        envs.set_state(state)
    assert after[0] == after[1] != state
    with pytest.raises(ValueError, match="bytes expected"):
        envs.set_state(state[:-1])


def test_pictures_are_drawn():
    env = rlcore.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.shape == (400, 600, 3) and picture.std() > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rlcore.make("CartPol-v1"), "did you mean 'CartPole-v1'"),
        (lambda: rlcore.make_vec("CartPole-v1", wrappers=["frame_stak"]), "did you mean 'frame_stack'"),
        (lambda: rlcore.make_vec("CartPole-v1", wrappers=[("time_limit", {"step": 3})]), "did you mean 'steps'"),
        (lambda: rlcore.make_vec("CartPole-v1", wrappers=["warp_frame"]), "RLCORE_E_CONFIG"),
        (lambda: rlcore.make_vec("CartPole-v1", 0), "RLCORE_E_"),
        (lambda: rlcore.make_vec("CartPole-v1", 2).step([5, 0]), "RLCORE_E_"),
    ],
)
def test_mistakes_are_told(call, words):
    with pytest.raises((TypeError, rlcore.Error), match=words):
        call()


def test_algorithms_need_numpy_and_cffi_alone(tmp_path):
    code = """
import sys
for name in ("gymnasium", "pettingzoo", "torch", "tqdm", "tensorboardX"):
    sys.modules[name] = None
import rlcore
model = rlcore.PPO("CartPole-v1").learn(1000)
model.save(sys.argv[1])
print(rlcore.load(sys.argv[1]).predict([0, 0, 0, 0])[0] in (0, 1))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "model")], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"
