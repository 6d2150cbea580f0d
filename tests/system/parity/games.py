"""gymnax's games on a grid: what chance decides in ours is asked of gymnax too, by trying its keys, and then every picture,
reward and flag is the same, episode after episode of good and bad players."""

import pathlib
import sys

import without_flax  # noqa: F401
import jax
import numpy as np

import rlcore

sys.path.append(str(pathlib.Path(__file__).parents[2] / "golden"))
import grid_games

GAMES = {10: "Catch-bsuite", 6: "Breakout-MinAtar", 11: "Asterix-MinAtar", 12: "Freeway-MinAtar", 13: "SpaceInvaders-MinAtar"}
STEPS, KEYS = 3000, 1024
STATE_AT = 128


class Follower(grid_games.Game):
    """One of gymnax's games, played as ours was."""

    chances = 1

    def __init__(self, env):
        super().__init__(env, 0)
        self.starts = jax.jit(jax.vmap(env.reset_env, (0, None)))
        self.steps = jax.jit(jax.vmap(env.step_env, (0, None, None, None)))
        self.freeway = isinstance(env, grid_games.freeway.MinFreeway)

    def drive_as(self, ours):
        """Freeway's cars: speeds and directions have too many values to be found among keys."""
        column, wait, speed, right = ours.mem.view(np.uint8)[STATE_AT:][:32].reshape(8, 4).T.astype(np.int32)
        cars = np.stack([column, np.arange(1, 9), wait, speed * (2 * right - 1)], 1)
        assert (speed > 0).all() and (speed < 6).all()
        if (self.state.cars[:, 0] != column).any():
            raise AssertionError(f"cars in columns {column}, theirs in {self.state.cars[:, 0]}")
        self.state = self.state.replace(cars=jax.numpy.asarray(cars))
        self.obs = self.env.get_obs(self.state)

    def one_of(self, obs, states, same):
        """Takes that of some outcomes which is the same as ours."""
        if not same.any():
            raise AssertionError("no key gives what ours shows")
        self.obs, self.state = jax.tree.map(lambda x: x[same.argmax()], (obs, states))

    def reset_as(self, ours):
        obs, states = self.starts(jax.random.split(self.next_key(), KEYS), self.params)
        self.one_of(obs, states, self.same(obs, ours.obs) | self.freeway)
        if self.freeway:
            self.drive_as(ours)

    def step_as(self, ours, action, seen):
        """The first key will do unless chance has a say."""
        reward, terminated = ours.reward[0], ours.terminated[0]
        before = self.state
        if self.step(action) == (reward, terminated):
            if self.freeway and reward == 1:
                self.drive_as(ours)
            if self.same(self.obs[None], seen)[0]:
                return
        obs, states, rewards, ended, _ = self.steps(jax.random.split(self.next_key(), KEYS), before, action, self.params)
        self.one_of(obs, states, self.same(obs, seen) & (np.asarray(rewards) == reward) & (np.asarray(ended) == terminated))

    @staticmethod
    def same(obs, seen):
        return ((np.asarray(obs) != 0).reshape(len(obs), -1) == (seen[0] != 0)).all(1)


def compare(lib, env_id):
    name = GAMES[env_id]
    env, shares, _ = grid_games.GAMES[name]
    ours, theirs = rlcore.VecEnv(lib, lib.builtin(env_id), 1), Follower(env)
    rng, share, ends, total = np.random.default_rng(1), shares[0], [0, 0], 0
    ours.reset(11)
    theirs.reset_as(ours)
    for step in range(STEPS):
        action = int(rng.integers(env.num_actions)) if rng.random() < share else theirs.good_action()
        ours.step(np.int32([action]))
        ended = ours.terminated[0] or ours.truncated[0]
        try:
            theirs.step_as(ours, action, ours.final_obs if ended else ours.obs)
            assert bool(ours.truncated[0]) == bool(theirs.env.is_truncated(theirs.state, theirs.params)), "truncated"
            if ended:
                theirs.reset_as(ours)
        except AssertionError as error:
            raise AssertionError(f"{name}: step {step}: {error}") from None
        total += ours.reward[0]
        if ended:
            ends = [ends[0] + int(ours.terminated[0]), ends[1] + int(ours.truncated[0])]
            share = shares[sum(ends) % len(shares)]
    print(f"  {name}: {STEPS} steps, {ends[0]} episodes terminated, {ends[1]} truncated, {total:g} earned: equal", flush=True)


def main(lib):
    for env_id in GAMES:
        compare(lib, env_id)


if __name__ == "__main__":
    main(rlcore.Library(sys.argv[1]))
