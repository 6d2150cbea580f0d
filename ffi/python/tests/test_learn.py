"""All ten algorithms, their settings, what they predict, and their files."""

import json

import numpy as np
import pytest

import rlcore
from rlcore import layers

ALL = [
    (rlcore.PPO, "CartPole-v1", {}),
    (rlcore.A2C, "CartPole-v1", {}),
    (rlcore.IMPALA, "CartPole-v1", {}),
    (rlcore.UNREAL, "Catch-bsuite-v0", {"policy": "minatar"}),
    (rlcore.DQN, "CartPole-v1", {"learning_starts": 200}),
    (rlcore.TD3, "Pendulum-v1", {"learning_starts": 200, "policy": [32]}),
    (rlcore.SAC, "Pendulum-v1", {"learning_starts": 200, "policy": [32]}),
    (rlcore.SAC, "CartPole-v1", {"learning_starts": 200, "policy": [32]}),
    (rlcore.PQN, "CartPole-v1", {}),
    (rlcore.StreamAC, "CartPole-v1", {}),
    (rlcore.StreamQ, "CartPole-v1", {}),
    (rlcore.PPO, "RepeatPreviousEasy-v0", {"policy": [layers.dense(16, activation="relu"), layers.lstm(16)]}),
    (rlcore.DQN, "RepeatPreviousEasy-v0", {"policy": [layers.gru(16)], "learning_starts": 200}),
    (rlcore.PPO, "MinAtar/Breakout-v1", {"policy": [layers.conv(4, 3, activation="relu"), layers.dense(16)], "num_steps": 32}),
    (rlcore.PPO, "Pendulum-v1", {"squash": 1, "normalize_obs": True}),
]
IDS = [f"{algorithm.__name__}-{env}-{len(settings)}" for algorithm, env, settings in ALL]


@pytest.fixture(params=ALL, ids=IDS)
def trained(request):
    algorithm, env, settings = request.param
    return algorithm(env, **settings).learn(700)


def observations(model, num_rows):
    rng = np.random.default_rng(1)
    leaf = model.obs.leaves[0]
    shape = (num_rows, *leaf.shape)
    return rng.integers(0, 2, shape, np.uint8) if leaf.dtype == "uint8" else rng.normal(0, 1, shape).astype(np.float32)


def test_each_algorithm_learns_predicts_and_is_loaded(trained, tmp_path):
    assert trained.stats["num_updates"] > 0 and trained.num_timesteps >= 700
    obs = observations(trained, 2 * trained.num_envs + 3)
    best, state = trained.predict(obs, deterministic=True)
    shipped, shipped_state = trained.policy().predict(obs, deterministic=True)
    np.testing.assert_array_equal(best, shipped)
    assert (state is None) == (trained.state_len == 0)
    if state is not None:
        np.testing.assert_array_equal(state, shipped_state)
        assert not np.array_equal(trained.predict(obs, state)[1], state)
        again = trained.predict(obs, state, np.ones(len(obs), bool), deterministic=True)
        np.testing.assert_array_equal(again[0], best)
        np.testing.assert_array_equal(again[1], shipped_state)
    one, _ = trained.predict(obs[0], deterministic=True)
    np.testing.assert_array_equal(one, best[0])
    trained.save(tmp_path / "model")
    loaded = rlcore.load(tmp_path / "model")
    assert type(loaded) is type(trained) and loaded.to_bytes() == trained.to_bytes()
    np.testing.assert_array_equal(loaded.predict(obs, deterministic=True)[0], best)
    np.testing.assert_array_equal(loaded.predict(obs)[0], trained.predict(obs)[0])
    assert loaded.stats["num_steps"] == trained.stats["num_steps"]


def test_each_rows_action_is_drawn_from_its_own_distribution():
    model = rlcore.PPO("CartPole-v1", learning_rate=3e-3).learn(30_000)
    lean = np.array([[0, 0, 0.2, 2.0], [0, 0, -0.2, -2.0]], np.float32)
    np.testing.assert_array_equal(model.predict(lean, deterministic=True)[0], [1, 0])
    obs = np.repeat(lean, [301, 302], 0)
    drawn, _ = model.predict(obs)
    assert drawn[:301].mean() > 0.9 and drawn[301:].mean() < 0.1
    even = model.predict(np.zeros((400, 4)))[0]
    assert 0 < even.mean() < 1


def test_cartpole_is_solved_in_few_lines():
    model = rlcore.PPO("CartPole-v1", num_envs=8, learning_rate=3e-3).learn(200_000, callback=lambda m: m.stats["return_mean"] < 475)
    assert model.stats["return_mean"] >= 475 and model.num_timesteps < 200_000


def test_a_training_that_is_saved_goes_on_to_the_same_bytes(tmp_path):
    whole = rlcore.PPO("CartPole-v1", num_steps=64)
    half = rlcore.PPO("CartPole-v1", num_steps=64)
    whole.learn(256).learn(512)
    half.learn(256).save(tmp_path / "half")
    envs = rlcore.Environments("CartPole-v1", 4)
    envs.set_state(half.env.state())
    assert rlcore.PPO.load(tmp_path / "half", envs).learn(512).to_bytes() == whole.to_bytes()
    # In other environments its episodes begin anew.
    other = rlcore.load(tmp_path / "half", "CartPole-v1").learn(512)
    assert other.num_timesteps == whole.num_timesteps and other.to_bytes() != whole.to_bytes()


def test_a_file_begins_with_the_block_of_the_c_interface(tmp_path):
    model = rlcore.PPO("CartPole-v1").learn(600)
    model.save(tmp_path / "model")
    block = model.to_bytes()
    assert (tmp_path / "model").read_bytes().startswith(block)
    (tmp_path / "of_c").write_bytes(block)
    plain = rlcore.load(tmp_path / "of_c")
    assert plain.to_bytes() == block and plain.predict(np.zeros(4), deterministic=True)[0] in (0, 1)
    model.policy().save(tmp_path / "policy")
    assert isinstance(rlcore.load(tmp_path / "policy"), rlcore.Policy)
    damaged = bytearray(block)
    damaged[len(block) // 2] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(rlcore.RefusedError, match="RLCORE_E_IMAGE"):
        rlcore.load(tmp_path / "damaged")
    with pytest.raises(TypeError, match="not a DQN"):
        rlcore.DQN.load(tmp_path / "model")


@pytest.mark.parametrize("of", ["learner", "policy"])
def test_descriptions_of_other_rows_are_refused(of, tmp_path):
    model = rlcore.PPO("CartPole-v1", use_action_mask=1)
    (model if of == "learner" else model.policy()).save(tmp_path / "file")
    data = (tmp_path / "file").read_bytes()
    assert rlcore.load(tmp_path / "file").predict(np.zeros(4), action_masks=[0, 1])[0] == 1
    for wrong, instead in ((b'"shape": [4]', b'"shape": [3]'), (b'"n": [2]', b'"n": [1]'), (b'"n": [2]', b'"n": [9]')):
        assert data.count(wrong) == 1
        (tmp_path / "wrong").write_bytes(data.replace(wrong, instead))
        with pytest.raises(ValueError, match="description of other"):
            rlcore.load(tmp_path / "wrong")
    (tmp_path / "wrong").write_bytes(data[:-16] + (2**60).to_bytes(8, "little") + data[-8:])
    with pytest.raises(ValueError, match="damaged"):
        rlcore.load(tmp_path / "wrong")
    for end in range(0, len(data) - 1, len(data) // 40):
        (tmp_path / "wrong").write_bytes(data[:end])
        try:
            rlcore.load(tmp_path / "wrong")
        except rlcore.RefusedError:
            continue
        assert end >= len(model.to_bytes() if of == "learner" else model.policy().to_bytes())


@pytest.mark.parametrize("of", [lambda model: model, lambda model: model.policy()])
def test_mistakes_of_predict_are_told(of):
    model = of(rlcore.PPO("CartPole-v1", use_action_mask=1))
    for arguments, words in (
        ((np.zeros(3),), "expected, given"),
        ((np.zeros((2, 2, 4)),), "expected, or a batch"),
        ((np.zeros((0, 4)),), "without rows"),
        ((np.full(4, np.nan),), "RLCORE_E_VALUE"),
        ((np.zeros(4), np.zeros(8)), "a state is given"),
        ((np.zeros(4), None, None, True, [0, 0]), "RLCORE_E_VALUE"),
        ((np.zeros(4), None, None, False, [1, 0, 1]), "reshape"),
    ):
        with pytest.raises(ValueError, match=words):
            model.predict(*arguments)


def test_settings_have_the_names_of_both():
    model = rlcore.PPO("CartPole-v1", num_envs=4, gamma=0.9, n_steps=32, batch_size=64, n_epochs=3, ent_coef=0.02, vf_coef=0.25, clip_range=0.1)
    own = rlcore.PPO(
        "CartPole-v1", num_envs=4, discount=0.9, num_steps=32, num_minibatches=2, num_epochs=3, entropy_coef=0.02, value_coef=0.5, clip=0.1, clip_end=0.1
    )
    assert model.config == own.config and model.learn(500).to_bytes() == own.learn(500).to_bytes()
    assert rlcore.SAC("Pendulum-v1", ent_coef=0.2, buffer_size=1000, tau=0.01).config["temperature_rate"] == 0
    assert rlcore.DQN("CartPole-v1", batch_size=32).config["batch_size"] == 32
    assert rlcore.PPO("CartPole-v1", num_envs=8, preset="zoo_ppo_cartpole").config["num_steps"] == 32
    assert rlcore.PPO("CartPole-v1", policy=[32, 16], activation="relu").config["hidden_len"][:2] == [32, 16]
    json.dumps(model.config)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"learning_rat": 1}, "did you mean 'learning_rate'"),
        ({"activation": "rlu"}, "did you mean 'relu'"),
        ({"gamma": 0.9, "discount": 0.9}, "given twice"),
        ({"value_min": 3}, "which is read only by DQN"),
        ({"num_steps": 5, "batch_size": 7}, "no multiple of 7"),
        ({"num_steps": 1.5}, "num_steps"),
        ({"num_steps": -1}, "num_steps"),
        ({"gae_lambda": "high"}, "gae_lambda"),
        ({"policy": ["conv"]}, "layers of rlcore.layers"),
        ({"policy": "resnet"}, "no network 'resnet'"),
        ({"policy": [layers.conv(4, 3)]}, "RLCORE_E_CONFIG"),
        ({"preset": "zoo_dqn_cartpole"}, "is one of dqn"),
    ],
)
def test_mistakes_are_told(settings, words):
    with pytest.raises((TypeError, ValueError, OverflowError), match=words):
        rlcore.PPO("CartPole-v1", **settings)


def test_configure_changes_a_training_that_goes_on():
    model = rlcore.PPO("CartPole-v1").learn(600)
    model.configure(learning_rate=1e-5, clip_range=0.3)
    assert model.config["learning_rate"] == pytest.approx(1e-5) and model.config["clip_end"] == pytest.approx(0.3)
    with pytest.raises(rlcore.RefusedError, match="num_steps"):
        model.configure(num_steps=7)


def test_a_callback_sees_every_update_and_ends_the_training():
    seen = []
    model = rlcore.PPO("CartPole-v1").learn(10_000, callback=lambda m: seen.append(m.num_timesteps) or len(seen) < 3)
    assert seen == [512, 1024, 1536] and model.num_timesteps == 1536


def test_a_callback_that_fails_leaves_a_learner_that_goes_on():
    model = rlcore.PPO("CartPole-v1")
    with pytest.raises(KeyError):
        model.learn(1000, callback=lambda m: {}["missing"])
    assert model.learn(1000).num_timesteps >= 1500


def test_monitored_trainings_have_the_same_bytes(tmp_path):
    plain = rlcore.PPO("CartPole-v1").learn(5000)
    watched = rlcore.PPO("CartPole-v1", monitor=tmp_path, tensorboard_log=tmp_path).learn(5000, progress_bar=True)
    assert plain.to_bytes() == watched.to_bytes()
    lines = (tmp_path / "monitor.csv").read_text().splitlines()
    assert lines[1] == "r,l,t" and len(lines) - 2 == watched.stats["num_episodes"]
    returns = [float(line.split(",")[0]) for line in lines[2:]]
    assert np.mean(returns[-100:]) == pytest.approx(watched.stats["return_mean"], rel=1e-6)
