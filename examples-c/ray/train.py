"""PPO with actors and a learner over Ray: train.py LIBRARY [--address HOST:PORT] [--lose ACTOR ROUND] [--alone]

Each actor has environments and a learner block that only records. In every round the learner broadcasts its
parameters as bytes, each actor plays a rollout with them and sends it back, and the learner learns from all. With
each rollout an actor sends the bytes of its blocks: if it dies, another starts from them and plays the same rollout
again. So the result does not depend on where the actors run or whether they live, and equals that of one process
without Ray (--alone).
"""

import argparse
import hashlib
import os
import secrets
import signal
import sys
import time
from ctypes import byref

import numpy as np

from rlcore import ENV_CARTPOLE, Environments, Learner, Library

NUM_ENVS, NUM_STEPS = 8, 64
SETTINGS = dict(num_steps=NUM_STEPS, num_minibatches=8, num_epochs=2, learning_rate=2e-3, discount=0.98, gae_lambda=0.8,
                entropy_coef=0)


class Actor:
    def __init__(self, path, number, images=None):
        library = Library(path)
        learner_image, envs_image, obs = images or (None, None, None)
        self.envs = Environments(library, ENV_CARTPOLE, NUM_ENVS, (number + 1) << 16, envs_image)
        self.learner = Learner(library, self.envs, learner_image, num_envs=NUM_ENVS, seed=number + 1, **SETTINGS)
        if images:
            self.envs.now[:] = obs

    def rollout(self, policy, lose=False):
        """Plays NUM_STEPS steps with these parameters and moments: transitions and the moments of this actor, mean return,
        and the bytes to go on from."""
        learner, envs = self.learner, self.envs
        learner.take(*policy)
        for step in range(NUM_STEPS):
            learner.lib.learner_act(learner.handle, byref(envs.rows))
            envs.step()
            learner.lib.learner_observe(learner.handle, byref(envs.rows))
            if lose and step == NUM_STEPS // 2:
                os.kill(os.getpid(), signal.SIGKILL)
        batch = learner.record(envs.now)
        return batch, learner.stats.return_mean, (learner.image, envs.image, envs.now)

    def node(self):
        import ray

        return ray.get_runtime_context().get_node_id()


class Here:
    """Actors in this process."""

    def __init__(self, path, num_actors):
        self.actors = [Actor(path, k) for k in range(num_actors)]
        self.where, self.lost = "this process", 0

    def rollouts(self, policy, lose):
        return [actor.rollout(policy) for actor in self.actors]


class Remote:
    """Actors over Ray, each of which may die or hang."""

    def __init__(self, path, num_actors, address):
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        own = {}
        if not address:  # on the loopback interface only, and behind a token that nobody else has
            os.environ.update(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_AUTH_MODE="token")
            os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
            own = {"num_cpus": num_actors, "include_dashboard": False, "object_store_memory": 100 << 20}
        import ray

        self.ray, self.path, self.lost = ray, path, 0
        ray.init(address=address, log_to_driver=False, logging_level="error", **own)
        self.kind = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Actor)
        self.actors = [self.kind.remote(path, k) for k in range(num_actors)]
        self.images = [None] * num_actors
        nodes = set(ray.get([actor.node.remote() for actor in self.actors]))
        self.where = f"{len(nodes)} node{'s' * (len(nodes) > 1)}"

    def replace(self, k):
        print(f"actor {k} is lost: another goes on from its last bytes")
        self.lost += 1
        self.ray.kill(self.actors[k])
        self.actors[k] = self.kind.remote(self.path, k, self.images[k])

    def rollouts(self, policy, lose):
        policy = self.ray.put(policy)  # once; Ray carries it to every node
        pending = [actor.rollout.remote(policy, k == lose) for k, actor in enumerate(self.actors)]
        results = []
        for k, one in enumerate(pending):
            while True:
                try:
                    results.append(self.ray.get(one, timeout=120))
                    break
                except (self.ray.exceptions.RayActorError, self.ray.exceptions.GetTimeoutError):
                    self.replace(k)
                    one = self.actors[k].rollout.remote(policy)
            self.images[k] = [image.copy() for image in results[k][2]]
        return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--address", help="of a Ray that runs; default: one is started here")
    parser.add_argument("--lose", type=int, nargs=2, default=(-1, -1), metavar=("ACTOR", "ROUND"))
    parser.add_argument("--alone", action="store_true", help="without Ray")
    options = parser.parse_args()
    path = os.path.abspath(options.library)

    if options.alone:
        actors = Here(path, options.actors)
    else:
        actors = Remote(path, options.actors, options.address)
    library = Library(path)
    spaces = Environments(library, ENV_CARTPOLE, 1)
    learner = Learner(library, spaces, num_envs=options.actors * NUM_ENVS, **SETTINGS)
    sent = received = 0
    begin = time.monotonic()
    for number in range(options.rounds):
        policy = (learner.params(), learner.moments())
        results = actors.rollouts(policy, options.lose[0] if number == options.lose[1] else -1)
        batch = [np.concatenate(arrays) for arrays in zip(*(result[0][0] for result in results))]
        learner.learn(batch, learner.merge(policy[1], [result[0][1] for result in results]))
        sent += sum(array.nbytes for array in policy)
        received += sum(array.nbytes for array in batch)
    seconds = time.monotonic() - begin
    steps = options.rounds * options.actors * NUM_ENVS * NUM_STEPS
    print(f"{options.actors} actors on {actors.where}, {actors.lost} lost: {steps} steps in {seconds:.1f} s,"
          f" a return of {np.mean([result[1] for result in results]):.0f}")
    print(f"a round: {sent // options.rounds} bytes of parameters to each actor,"
          f" {received // options.rounds} bytes of transitions back")
    print(f"hash: {hashlib.sha256(learner.params().tobytes()).hexdigest()[:16]}")
    if options.lose[0] >= 0 and actors.lost != 1:
        sys.exit(f"FAILED: {actors.lost} actors were lost")


if __name__ == "__main__":
    main()
