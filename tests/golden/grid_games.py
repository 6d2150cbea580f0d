"""Records episodes of gymnax's games on a grid (package gymnax 1.0.1, Apache-2.0).

    python tests/golden/grid_games.py tests/golden

One file a game, one episode after another: steps (u16, little-endian), the first picture, then a step each: action (u8, 128
more if it terminated), reward (i8), the picture after it. A picture is [rows, columns, channels] bits of which those that
changed are listed (before the first all are 0): each byte is how much further the next one is, from 1 to 254; 255 is 254
further without a change, 0 ends the list. The players are good ones but for each episode's share of random actions, so that
some episodes are short and others reach the limit."""

import functools
import pathlib
import struct
import sys

import jax
import jax.numpy as jnp
import numpy as np
from gymnax.environments.bsuite.catch import Catch
from gymnax.environments.minatar import asterix, breakout, freeway, space_invaders

# Shares of random actions, one for each episode, and the most steps of an episode.
GAMES = {
    "Catch-bsuite": (Catch(), [1.0, 1.0, 0.5, 0.5, 0.0, 0.0], 9),
    "Breakout-MinAtar": (breakout.MinBreakout(), [1.0, 0.5, 0.3, 0.2, 0.1, 0.1, 0.0], 1000),
    "Asterix-MinAtar": (asterix.MinAsterix(), [1.0, 0.3, 0.0, 0.0, 0.0, 0.0], 1000),
    "Freeway-MinAtar": (freeway.MinFreeway(), [0.2], 2500),
    "SpaceInvaders-MinAtar": (space_invaders.MinSpaceInvaders(), [1.0, 0.5, 0.2, 0.0], 1000),
}


class Game:
    """One of gymnax's games, its keys taken in order, with a good player."""

    chances = 8  # tried for each plan

    def __init__(self, env, seed):
        self.env, self.params, self.key = env, env.default_params, jax.random.PRNGKey(seed)
        self.one_step = jax.jit(env.step_env)
        self.obs, self.state = env.reset_env(self.next_key(), self.params)

    def next_key(self):
        self.key, key = jax.random.split(self.key)
        return key

    def step(self, action):
        """Reward, and whether it terminated."""
        key = self.next_key()
        if isinstance(self.env, asterix.MinAsterix) and self.state.spawn_timer == 0:
            # Where gymnax finds no free row it removes something; MinAtar adds nothing.
            if self.state.entities[:, 4].all():
                self.state = self.state.replace(spawn_timer=self.state.spawn_speed)
            while self.state.spawn_timer == 0 and asterix.spawn_entity(key, self.state)[0][4] == 0:
                key = self.next_key()
        self.obs, self.state, reward, terminated, _ = self.one_step(key, self.state, action, self.params)
        return int(reward), bool(terminated)

    def good_action(self):
        """Up the road in Freeway, after the ball in Breakout, else the best plan."""
        s = self.state
        if isinstance(self.env, freeway.MinFreeway):
            return 1
        if isinstance(self.env, breakout.MinBreakout):
            goal = int(s.ball_x)
            if s.ball_y >= 7:
                goal = min(9, max(0, goal + (1 if s.ball_dir in (1, 2) else -1)))
            return 1 if goal < s.pos else 2 if goal > s.pos else 0
        return int(best_plan(self.env, self.chances, self.next_key(), s))


@functools.partial(jax.jit, static_argnums=(0, 1))
def best_plan(env, chances, key, state, plans=100, depth=14):
    """The first action of the best of some random plans: what they earn by some chances, sooner being better, less 5 for an
    early end."""

    def outlook(plan, key):
        def step(carry, action):
            key, state, worth = carry
            key, chance = jax.random.split(key)
            _, state, reward, terminated, _ = env.step_env(chance, state, action, env.default_params)
            outcome = worth * (reward - 5.0 * terminated * (reward <= 0))
            return (key, state, worth * (1 - terminated) * 0.95), outcome

        return jax.lax.scan(step, (key, state, 1.0), plan)[1].sum()

    actions, keys = jax.random.randint(key, (plans, depth), 0, env.num_actions), jax.random.split(key, chances)
    outlooks = jax.vmap(jax.vmap(outlook, (None, 0)), (0, None))(actions, keys)
    return actions[outlooks.mean(1).argmax(), 0]


def changes(before, obs):
    """The list of changed bits."""
    out, at = b"", -1
    for bit in np.flatnonzero(before != obs):
        out += b"\xff" * ((bit - at - 1) // 254) + bytes([(bit - at - 1) % 254 + 1])
        at = bit
    return out + b"\0"


def bits(obs):
    return np.asarray(obs).reshape(-1) != 0


def record(name):
    env, shares, limit = GAMES[name]
    rng, out = np.random.default_rng(1), b""
    for episode, share in enumerate(shares):
        game, total, count, terminated = Game(env, episode), 0, 0, False
        seen = bits(game.obs)
        steps = changes(np.zeros_like(seen), seen)
        while not terminated and count < limit:
            action = int(rng.integers(env.num_actions)) if rng.random() < share else game.good_action()
            reward, terminated = game.step(action)
            before, seen = seen, bits(game.obs)
            steps += struct.pack("<Bb", action + 128 * terminated, reward) + changes(before, seen)
            total, count = total + reward, count + 1
        out += struct.pack("<H", count) + steps
        print(f"{name}: {count} steps, return {total}, terminated: {terminated}; {len(steps)} bytes", flush=True)
    return out


if __name__ == "__main__":
    for name in sys.argv[2:] or GAMES:
        (pathlib.Path(sys.argv[1]) / f"{name}.bin").write_bytes(record(name))
