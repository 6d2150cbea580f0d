"""Environments of others: Gymnasium's one by one and as vectors, structures, masks, agents that come and go."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo import ParallelEnv

import rlcore


def cartpole():
    return gymnasium.make("CartPole-v1")


class Mixed(gymnasium.Env):
    """Pays for choice 2, and for numbers near what it shows."""

    observation_space = spaces.Dict({
        "a": spaces.Box(-1, 1, (2,)), "img": spaces.Box(0, 255, (3, 3, 2), np.uint8), "d": spaces.Discrete(4, start=2),
        "t": spaces.Tuple([spaces.MultiBinary(2), spaces.MultiDiscrete([2, 3])]),
    })  # fmt: skip
    action_space = spaces.Dict({"b": spaces.Box(-2, 2, (2,)), "c": spaces.Discrete(3, start=1)})

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.t = 0
        return self._see(), {}

    def _see(self):
        self.seen = self.observation_space.sample()
        return self.seen

    def step(self, action):
        assert self.action_space.contains(action), action
        reward = float(action["c"] == 2) - np.square(action["b"] - self.seen["a"]).mean() / 4
        self.t += 1
        return self._see(), reward, self.t >= 8, False, {}


class Masked(gymnasium.Env):
    """Only one choice of three is allowed, and rewarded, in turns."""

    observation_space, action_space = spaces.Box(0, 1, (2,)), spaces.Discrete(3)

    def __init__(self, by_info=False):
        self.by_info = by_info

    def _result(self):
        return np.array([self.t % 2, 0], np.float32), {"action_mask": self.mask()} if self.by_info else {}

    def mask(self):
        return np.array([0, self.t % 2, 1 - self.t % 2], np.int8)

    def action_masks(self):
        assert not self.by_info
        return self.mask()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self._result()

    def step(self, action):
        assert self.mask()[action] == 1
        self.t += 1
        obs, info = self._result()
        return obs, 1.0, self.t >= 7, self.t >= 5, info


class Herd(ParallelEnv):
    """Each agent is paid for telling the sign of what it sees; "b" ends after three steps, "c" comes one step late."""

    metadata = {"name": "herd"}
    possible_agents = ["a", "b", "c"]

    def __init__(self, masked=False):
        self.masked, self.rng = masked, np.random.default_rng(0)

    def observation_space(self, agent):
        own = spaces.Box(-1, 1, (2,))
        return spaces.Dict({"observation": own, "action_mask": spaces.MultiBinary(3)}) if self.masked else own

    def action_space(self, agent):
        return spaces.Discrete(3)

    def _see(self, agents):
        self.seen = {agent: self.rng.uniform(-1, 1, 2).astype(np.float32) for agent in agents}
        mask = np.array([1, 1, 0], np.int8)
        return {agent: {"observation": seen, "action_mask": mask} if self.masked else seen for agent, seen in self.seen.items()}

    def reset(self, seed=None, options=None):
        self.agents, self.t = ["a", "b"], 0
        return self._see(self.agents), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        assert not self.masked or max(actions.values()) < 2
        self.t += 1
        stepped = list(self.agents)
        rewards = {agent: float(actions[agent] == (self.seen[agent][0] > 0)) for agent in stepped}
        terminated = {agent: agent == "b" and self.t == 3 for agent in stepped}
        truncated = {agent: self.t >= 10 for agent in stepped}
        self.agents = [agent for agent in stepped if not terminated[agent] and not truncated[agent]]
        if self.t == 1:
            self.agents.append("c")
        return self._see({*stepped, *self.agents}), rewards, terminated, truncated, {}


def test_gymnasiums_cartpole_is_learned_to_the_same_bytes_in_a_list_and_a_vector():
    made = []
    for envs in ([cartpole] * 4, SyncVectorEnv([cartpole] * 4, autoreset_mode=AutoresetMode.SAME_STEP)):
        model = rlcore.PPO(envs, learning_rate=3e-3)
        model.env.reset(seed=3)
        made.append(model.learn(4096))
    assert made[0].to_bytes() == made[1].to_bytes()
    assert made[0].stats["num_episodes"] > 20


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vectors_in_every_mode_of_autoreset_learn(mode):
    model = rlcore.PPO(SyncVectorEnv([cartpole] * 8, autoreset_mode=mode), learning_rate=3e-3).learn(40_000)
    assert model.stats["return_mean"] > 120
    # A step that only resets is no step: episodes are as long as their returns.
    assert model.stats["length_mean"] == pytest.approx(model.stats["return_mean"])


def test_the_librarys_own_environments_are_not_stepped_from_python():
    for env in (rlcore.make_vec("CartPole-v1", 4), rlcore.make_vec("CartPole-v1", 4, autoreset="next_step"), rlcore.make("CartPole-v1")):
        model = rlcore.PPO(env)
        assert isinstance(model.env, rlcore.Environments) and model.learn(600).num_timesteps >= 600


def test_structures_of_everything_are_learned(tmp_path):
    model = rlcore.PPO([Mixed] * 4, learning_rate=3e-3, num_steps=64).learn(6_000)
    assert model.stats["return_mean"] > 5
    seen = Mixed().reset(seed=1)[0]
    action, _ = model.predict(seen, deterministic=True)
    assert Mixed.action_space.contains(action) and action["c"] == 2
    drawn = [model.predict(seen)[0] for _ in range(20)]
    assert all(Mixed.action_space.contains(a) for a in drawn) and len({a["b"][0] for a in drawn}) > 10
    model.save(tmp_path / "model")
    loaded = rlcore.load(tmp_path / "model")
    assert loaded.obs.gymnasium() == Mixed.observation_space and loaded.action.gymnasium() == Mixed.action_space
    np.testing.assert_array_equal(loaded.predict(seen, deterministic=True)[0]["b"], action["b"])
    assert loaded.predict(seen, deterministic=True)[0]["c"] == loaded.policy().predict(seen, deterministic=True)[0]["c"]


@pytest.mark.parametrize("algorithm", [rlcore.PPO, rlcore.DQN])
@pytest.mark.parametrize("envs", [lambda: [Masked] * 2, lambda: [Masked(True), Masked(True)], lambda: SyncVectorEnv([Masked] * 2)])
def test_masks_are_read_from_infos_and_methods(algorithm, envs):
    model = algorithm(envs(), use_action_mask=1, **({"learning_starts": 100} if algorithm is rlcore.DQN else {})).learn(1100)
    assert model.stats["return_mean"] == 5 and model.stats["num_updates"] > 0
    forced = model.predict(np.zeros((3, 2)), action_masks=np.eye(3))[0]
    np.testing.assert_array_equal(forced, [0, 1, 2])


@pytest.mark.parametrize("masked", [False, True])
def test_agents_of_pettingzoo_come_go_and_learn(masked, tmp_path):
    model = rlcore.PPO(Herd(masked), learning_rate=3e-3, use_action_mask=int(masked), monitor=tmp_path).learn(15_000)
    assert model.num_envs == 3
    signs = np.array([[0.5, 0], [-0.5, 0]], np.float32)
    np.testing.assert_array_equal(model.predict(signs, deterministic=True)[0], [1, 0])
    lengths = {line.split(",")[1] for line in (tmp_path / "monitor.csv").read_text().splitlines()[2:]}
    assert lengths == {"10", "3", "9"}
    assert rlcore.DQN(Herd(masked), use_action_mask=int(masked), learning_starts=100).learn(500).stats["num_updates"] > 0


def test_numbers_of_continuous_hosts_are_rounded_and_bounded():
    class Wide(gymnasium.Env):
        observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float64)
        action_space = spaces.Box(-0.5, 2, (2,), np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.t = 0
            return np.ones(3), {}

        def step(self, action):
            assert action.shape == (2,) and action.dtype == np.float32 and (action >= -0.5).all() and (action <= 2).all()
            self.t += 1
            return np.ones(3), -float(np.square(action - 1).sum()), False, self.t >= 5, {}

    for algorithm in (rlcore.PPO, rlcore.SAC, rlcore.TD3):
        model = algorithm(Wide(), **({} if algorithm is rlcore.PPO else {"learning_starts": 100, "policy": [16]})).learn(400)
        assert (model.predict(np.ones(3))[0] <= 2).all()


def test_an_environment_can_be_set_later(tmp_path):
    model = rlcore.PPO(None, spaces=(cartpole().observation_space, cartpole().action_space))
    with pytest.raises(RuntimeError, match="set_env"):
        model.learn(100)
    with pytest.raises(ValueError, match="4 environments expected"):
        model.set_env([cartpole])
    with pytest.raises(ValueError, match="observations"):
        model.set_env(rlcore.Environments("Pendulum-v1", 4))
    model.set_env([cartpole] * 4)
    assert model.learn(600).num_timesteps >= 600


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (3, "an environment is needed"),
        ([cartpole, lambda: gymnasium.make("Pendulum-v1")], "environment 1 has other spaces"),
        ("CartPol-v1", "did you mean"),
    ],
)
def test_mistakes_are_told(env, words):
    with pytest.raises((TypeError, ValueError), match=words):
        rlcore.PPO(env)


class Moody(gymnasium.Env):
    """Fails in step fails_at, and shows `shows`."""

    observation_space, action_space = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)
    steps, fails_at, shows = 0, -1, 0.0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.t, self.steps = self.t + 1, self.steps + 1
        if self.steps == self.fails_at:
            raise OSError("the connection is gone")
        return np.full(2, self.shows, np.float32), 1.0, self.t >= 6, False, {}


@pytest.mark.parametrize("algorithm", [rlcore.PPO, rlcore.DQN])
@pytest.mark.parametrize(("fails_at", "shows", "error"), [(30, 0, OSError), (0, np.nan, rlcore.Error)])
def test_a_host_that_fails_leaves_a_learner_that_goes_on(algorithm, fails_at, shows, error):
    envs = [Moody(), Moody()]
    envs[1].fails_at, envs[1].shows = fails_at, shows
    model = algorithm(envs, **({} if algorithm is rlcore.PPO else {"learning_starts": 50}))
    with pytest.raises(error):
        model.learn(600)
    envs[1].shows = 0
    model.learn(600)
    assert model.stats["num_updates"] > 0 and model.stats["return_max"] == 6
    assert model.stats["return_min"] == 6 or error is OSError


def test_masks_of_final_observations_count():
    class Last(Masked):
        """Truncated where only choice 2 would be allowed."""

        def step(self, action):
            obs, reward, _, _, info = super().step(action)
            return obs, reward, False, self.t >= 4, info

    rows = []
    for envs in (
        [Last(True), Last(True)],
        SyncVectorEnv([lambda: Last(True)] * 2, autoreset_mode=AutoresetMode.SAME_STEP),
        SyncVectorEnv([lambda: Last(True)] * 2, autoreset_mode=AutoresetMode.NEXT_STEP),
        SyncVectorEnv([Last] * 2, autoreset_mode=AutoresetMode.DISABLED),
    ):
        model = rlcore.PPO(envs, use_action_mask=1)
        host = model.env
        host.reset(seed=1)
        for _ in range(4):
            host.rows.action[:, 0] = host.rows.action_mask.argmax(1)
            host.step()
        rows.append((host.rows.truncated.tolist(), host.rows.final_action_mask.tolist(), host.rows.final_obs.tolist()))
    assert rows == [([1, 1], [[0, 0, 1]] * 2, [[0, 0]] * 2)] * 4
