"""Records episodes of POPGym's RepeatPreviousEasy (package popgym 1.0.7, MIT):
python tests/golden/repeat_previous.py > tests/golden/RepeatPreviousEasy.txt

Three episodes after another of each of three seeds, a line each: the seed, the 52 suits observed, the 51 actions, and
what they earned in units of 1/48: +, - or 0. The player is right most of the time."""

import random

from popgym.envs.repeat_previous import RepeatPreviousEasy

random.seed(1)
for seed in (0, 1, 12345678901):
    env = RepeatPreviousEasy()
    for episode in range(3):
        obs, _ = env.reset(seed=None if episode else seed)
        suits, actions, earned, ended = [obs], [], "", False
        while not ended:
            remembered = suits[-4] if len(suits) >= 4 else 0
            actions.append(remembered if random.random() < 0.7 else random.randrange(4))
            obs, reward, terminated, truncated, _ = env.step(actions[-1])
            assert reward in (0, 1 / 48, -1 / 48)
            suits.append(obs)
            earned += "+" if reward > 0 else "-" if reward < 0 else "0"
            ended = terminated or truncated
        print(seed, "".join(map(str, suits)), "".join(map(str, actions)), earned)
