//! Configurations known by name: their numbers are those of the packages, and they train.

use crate::host::{Host, record, train};
use rlcore::learn::config_fields::FIELDS;
use rlcore::learn::{Algorithm, Config, Learner, Preset};
use rlcore::nn;
use rlcore::rng::Rng;
use rlcore::space::Space;

fn presets() -> impl Iterator<Item = Preset> {
    (1..=15).map(|number| Preset::new(number).unwrap())
}

/// The numbers of each package, copied from where it says them, whether the algorithm's defaults are the same or not. Of squared
/// errors that a package weighs in whole, value_coef is twice the weight; lambda is 1 where it says nothing of it.
const NUMBERS: [(Preset, &str); 15] = [
    // OnlineTrainConfig of the specification's agents.md, section 1; losses, Adam and FCAgent of sections 2 and 3.
    (
        Preset::SrcPpo,
        "total_steps 180000, learning_rate 0.00025, learning_rate_end 0.00025, num_envs 4, num_steps 128, discount 0.99, \
         gae_lambda 0.95, num_minibatches 4, num_epochs 4, clip 0.4, clip_end 0.4, entropy_coef 0.2, value_coef 0.5, \
         max_grad_norm 2, num_hidden 2, hidden_len 64 64 0 0, activation 0, optimizer 0, adam_beta1 0.9, adam_beta2 0.999, \
         adam_epsilon 1e-5, normalize_advantage 1, value_clip 0",
    ),
    // agents.md, sections 8 (losses), 9 (arguments), 9.2 (Adam, clip) and 10 (noisy heads); one environment: section 12.
    (
        Preset::BtgymA3c,
        "num_envs 1, discount 0.99, gae_lambda 1, entropy_coef 0.01, total_steps 10000000, learning_rate 1e-4, \
         learning_rate_end 1e-4, num_steps 20, sequence_len 20, optimizer 1, adam_beta1 0.9, adam_beta2 0.999, \
         adam_epsilon 1e-5, max_grad_norm 40, value_coef 1, num_epochs 1, num_minibatches 1, normalize_advantage 0, \
         obs_dims 42 42 1, num_hidden 0, noisy 1, entropy_share_end 1",
    ),
    // The same, and replay_memory_size, rp_sequence_size, rp_reward_threshold; the change of pixels of section 10 without
    // gamma_pc, which is unused there.
    (
        Preset::BtgymUnreal,
        "num_envs 1, discount 0.99, gae_lambda 1, entropy_coef 0.01, total_steps 10000000, learning_rate 1e-4, \
         learning_rate_end 1e-4, num_steps 20, sequence_len 20, optimizer 1, adam_beta1 0.9, adam_beta2 0.999, \
         adam_epsilon 1e-5, max_grad_norm 40, value_coef 1, num_epochs 1, num_minibatches 1, normalize_advantage 0, \
         obs_dims 42 42 1, num_hidden 0, noisy 1, pixel_control_coef 0, reward_class_coef 0, value_replay_coef 0, \
         policy_replay_coef 0, history_len 2000, history_starts 2000, reward_sequence_len 3, reward_threshold 0.1, \
         pixel_control_discount 0, pixel_cell 2, pixel_mean 0",
    ),
    // The same with ppo_loss_def of section 8, clip_epsilon, num_epochs and pi_prime_update_period.
    (
        Preset::BtgymPpo,
        "num_envs 1, discount 0.99, gae_lambda 1, entropy_coef 0.01, total_steps 10000000, learning_rate 1e-4, \
         learning_rate_end 1e-4, num_steps 20, sequence_len 20, optimizer 1, adam_beta1 0.9, adam_beta2 0.999, \
         adam_epsilon 1e-5, max_grad_norm 40, value_coef 2, num_epochs 1, num_minibatches 1, normalize_advantage 0, \
         obs_dims 42 42 1, num_hidden 0, noisy 1, clip 0.1, clip_end 0.1, prime_interval 1",
    ),
    // advantages.md, section 3.5, and agents.md, part III; optimizer, rate, steps, actors: run.py of mjanschek/pytorch_seed_rl.
    (
        Preset::SeedRl,
        "total_steps 100000, num_envs 16, num_minibatches 4, num_steps 80, discount 0.99, entropy_coef 0.01, value_coef 2, \
         sum_losses 1, max_grad_norm 40, learning_rate 6e-4, learning_rate_end 0, optimizer 2, adam_epsilon 1e-8, \
         rms_decay 0.99, rms_momentum 0, num_epochs 1, reward_min -1, reward_max 1, clip_rho 1, clip_c 1, clip_pg_rho 1, leak 0, gae_lambda 1, \
         obs_dims 84 84 4, num_hidden 0",
    ),
    // Args of cleanrl/ppo.py.
    (
        Preset::CleanRlPpo,
        "total_steps 500000, learning_rate 2.5e-4, learning_rate_end 0, num_envs 4, num_steps 128, discount 0.99, \
         gae_lambda 0.95, num_minibatches 4, num_epochs 4, normalize_advantage 1, clip 0.2, clip_end 0.2, value_clip 0.2, \
         entropy_coef 0.01, value_coef 0.5, max_grad_norm 0.5, target_kl 0, adam_epsilon 1e-5, hidden_len 64 64 0 0, \
         num_hidden 2, activation 0",
    ),
    // Args of cleanrl/ppo_atari.py.
    (
        Preset::CleanRlPpoAtari,
        "total_steps 10000000, learning_rate 2.5e-4, learning_rate_end 0, num_envs 8, num_steps 128, discount 0.99, \
         gae_lambda 0.95, num_minibatches 4, num_epochs 4, normalize_advantage 1, clip 0.1, clip_end 0.1, value_clip 0.1, \
         entropy_coef 0.01, value_coef 0.5, max_grad_norm 0.5, target_kl 0, adam_epsilon 1e-5, obs_dims 84 84 4, num_hidden 0",
    ),
    // parse_args of cleanrl/dqn.py; half of 500,000 steps explore; a target moves every 500 steps, of which each tenth learns.
    (
        Preset::CleanRlDqn,
        "total_steps 500000, num_envs 1, learning_rate 2.5e-4, learning_rate_end 2.5e-4, buffer_size 10000, discount 0.99, \
         target_rate 1, target_interval 50, batch_size 128, exploration_start 1, exploration_end 0.05, \
         exploration_steps 250000, learning_starts 10000, train_interval 10, gradient_steps 1, huber 0, double_q 0, dueling 0, \
         max_grad_norm 0, adam_epsilon 1e-8, num_hidden 2, hidden_len 120 84 0 0, activation 1",
    ),
    // CartPole-v1 of hyperparams/ppo.yml of rl-baselines3-zoo: batches of 256 of 8 * 32 steps; others of Stable-Baselines3's PPO.
    (
        Preset::ZooPpoCartPole,
        "total_steps 100000, num_envs 8, num_steps 32, num_minibatches 1, gae_lambda 0.8, discount 0.98, num_epochs 20, \
         entropy_coef 0, learning_rate 1e-3, learning_rate_end 0, clip 0.2, clip_end 0, value_coef 1, max_grad_norm 0.5, \
         normalize_advantage 1, adam_epsilon 1e-5, hidden_len 64 64 0 0, num_hidden 2, activation 0, value_clip 0",
    ),
    // atari of the same: batches of 256 of 8 * 128 steps.
    (
        Preset::ZooPpoAtari,
        "total_steps 10000000, num_envs 8, num_steps 128, num_minibatches 4, gae_lambda 0.95, discount 0.99, num_epochs 4, \
         entropy_coef 0.01, learning_rate 2.5e-4, learning_rate_end 0, clip 0.1, clip_end 0, value_coef 1, max_grad_norm 0.5, \
         normalize_advantage 1, adam_epsilon 1e-5, obs_dims 84 84 4, num_hidden 0, value_clip 0",
    ),
    // CartPole-v1 of hyperparams/a2c.yml; others of Stable-Baselines3's A2C.
    (
        Preset::ZooA2cCartPole,
        "total_steps 500000, num_envs 8, num_steps 5, entropy_coef 0, learning_rate 7e-4, learning_rate_end 7e-4, optimizer 2, \
         rms_decay 0.99, adam_epsilon 1e-5, value_coef 1, max_grad_norm 0.5, gae_lambda 1, discount 0.99, \
         normalize_advantage 0, hidden_len 64 64 0 0, num_hidden 2, activation 0",
    ),
    // CartPole-v1 of hyperparams/dqn.yml; 0.16 of 50,000 steps explore.
    (
        Preset::ZooDqnCartPole,
        "total_steps 50000, learning_rate 2.3e-3, learning_rate_end 2.3e-3, batch_size 64, buffer_size 100000, \
         learning_starts 1000, discount 0.99, target_interval 128, train_interval 256, gradient_steps 128, \
         exploration_steps 8000, exploration_start 1, exploration_end 0.04, hidden_len 256 256 0 0, num_hidden 2, \
         activation 1, huber 1, double_q 0, dueling 0, max_grad_norm 10, adam_epsilon 1e-8, target_rate 1",
    ),
    // CartPole-v1 of hyperparams/qrdqn.yml; Adam's epsilon is 0.01 / 64 in sb3_contrib's QRDQN, which clips no gradients.
    (
        Preset::ZooQrDqnCartPole,
        "total_steps 50000, learning_rate 2.3e-3, learning_rate_end 2.3e-3, batch_size 64, buffer_size 100000, \
         learning_starts 1000, discount 0.99, target_interval 128, train_interval 256, gradient_steps 128, \
         exploration_steps 8000, exploration_start 1, exploration_end 0.04, hidden_len 256 256 0 0, num_hidden 2, \
         activation 1, huber 1, double_q 0, num_quantiles 10, max_grad_norm 0, adam_epsilon 0.00015625, target_rate 1",
    ),
    // Pendulum-v0 of hyperparams/td3.yml; others of Stable-Baselines3's TD3.
    (
        Preset::ZooTd3Pendulum,
        "total_steps 20000, discount 0.98, buffer_size 200000, learning_starts 10000, exploration_steps 10000, \
         exploration_noise 0.1, train_interval 1, gradient_steps 1, learning_rate 1e-3, learning_rate_end 1e-3, \
         hidden_len 400 300 0 0, num_hidden 2, activation 1, batch_size 100, target_rate 0.005, target_interval 2, \
         policy_interval 2, target_noise 0.2, target_noise_clip 0.5, adam_epsilon 1e-8, max_grad_norm 0",
    ),
    // Pendulum-v1 of hyperparams/sac.yml; others of Stable-Baselines3's SAC.
    (
        Preset::ZooSacPendulum,
        "total_steps 20000, learning_rate 1e-3, learning_rate_end 1e-3, temperature_rate 1e-3, temperature 1, \
         target_entropy -1, discount 0.99, buffer_size 1000000, learning_starts 100, exploration_steps 100, batch_size 256, \
         target_rate 0.005, target_interval 1, train_interval 1, gradient_steps 1, hidden_len 256 256 0 0, num_hidden 2, \
         activation 1, adam_epsilon 1e-8, max_grad_norm 0",
    ),
];

#[test]
fn numbers_are_those_of_the_packages() {
    assert!(presets().eq(NUMBERS.iter().map(|(preset, _)| *preset)));
    for (preset, numbers) in NUMBERS {
        let config = preset.config();
        let words = bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of(&config));
        for number in numbers.split(", ") {
            let (name, value) = number.split_once(' ').unwrap();
            let field = FIELDS.iter().find(|field| field.name() == name).unwrap_or_else(|| panic!("{name}"));
            let own = &words[field.word_range()];
            let same = match field.is_real() {
                true => f32::from_bits(own[0]) == value.parse::<f32>().unwrap(),
                // The upper half of total_steps is 0.
                false => value
                    .split(' ')
                    .map(|n| n.parse::<u32>().unwrap())
                    .eq(own.iter().copied().take(if name == "total_steps" { 1 } else { own.len() })),
            };
            assert!(same, "{preset:?}: {name} {value}");
        }
    }
}

/// A preset and its algorithm differ in nothing that the package's numbers do not say.
#[test]
fn no_other_field_is_set() {
    for (preset, numbers) in NUMBERS {
        let (own, default) = (preset.config(), Config::of(preset.config().algorithm()));
        let words = |c: &Config| bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of(c)).to_vec();
        let (own, default) = (words(&own), words(&default));
        for field in &FIELDS {
            let told = numbers.split(", ").any(|number| number.split(' ').next() == Some(field.name()));
            assert!(told || own[field.word_range()] == default[field.word_range()], "{preset:?}: {}", field.name());
        }
    }
}

/// The configuration with the number of its layers, and the layers.
fn whole(preset: Preset) -> (Config, &'static [nn::Layer]) {
    let layers = preset.net().map_or(&[][..], nn::Preset::layers);
    (Config { num_layers: layers.len() as u32, ..preset.config() }, layers)
}

/// Spaces that suit a preset.
fn spaces(config: &Config) -> (Space<'static>, Space<'static>) {
    let len: u32 = config.obs_dims.iter().product();
    let obs = if len > 0 { Space::bytes(len) } else { Space::unbounded(4) };
    let continuous = matches!(config.algorithm(), Algorithm::Td3 | Algorithm::Sac);
    (obs, if continuous { Space::between(&[-2.0], &[2.0]) } else { Space::discrete(&[3]) })
}

/// Fewer rows of pictures of 84 × 84, and a smaller store with fewer gradient steps: for the time that a training takes.
fn brief(config: Config) -> Config {
    if config.algorithm().is_off_policy() {
        let gradient_steps = config.gradient_steps.min(4);
        return Config { buffer_size: 600, learning_starts: 100, gradient_steps, ..config };
    }
    match config.obs_dims[0] {
        84 => Config { num_envs: 4, num_steps: 2, num_epochs: 1, ..config },
        _ => config,
    }
}

/// Each is a valid configuration as it stands, and trains.
#[test]
fn each_trains_two_updates() {
    for preset in presets() {
        let (config, layers) = whole(preset);
        let (obs, action) = spaces(&config);
        Learner::size(&config, layers, &obs, &action).unwrap_or_else(|why| panic!("{preset:?}: {why}"));
        let mut h = Host::with(&brief(config), layers, &obs, &action);
        let first = h.view().params().to_vec();
        train(&mut h, &mut Rng::seeded(1), 2);
        let learner = h.learner();
        assert_eq!((learner.stats().num_updates, learner.stats().num_dropped), (2, 0), "{preset:?}");
        assert!(learner.view().params() != first, "{preset:?}");
    }
}

/// btgym's tasks have weight 1 where they are on: they begin once the memory is full.
#[test]
fn tasks_begin_when_the_memory_is_full() {
    let (config, layers) = whole(Preset::BtgymUnreal);
    let config =
        Config { pixel_control_coef: 1.0, reward_class_coef: 1.0, value_replay_coef: 1.0, history_len: 60, ..config };
    let config = Config { history_starts: 60, ..config };
    let (obs, action) = spaces(&config);
    let mut h = Host::with(&config, layers, &obs, &action);
    let rng = &mut Rng::seeded(2);
    for update in 1..=4 {
        let last = record(&mut h, rng);
        h.learner().learn(Some(last.get()), None, 0).unwrap();
        let stats = h.learner().stats();
        let losses = [stats.pixel_control_loss, stats.reward_class_loss, stats.value_replay_loss];
        assert!(losses.iter().all(|loss| (*loss > 0.0) == (update >= 3)), "update {update}: {losses:?}");
    }
}

/// A preset has a network exactly if its observations are pictures.
#[test]
fn numbers_of_no_preset_are_unknown() {
    for number in [0, 16, 17, u32::MAX] {
        assert_eq!(Preset::new(number), None);
    }
    for preset in presets() {
        assert_eq!(Preset::new(preset as u32), Some(preset));
        assert_eq!(preset.net().is_some(), preset.config().obs_dims != [0; 3], "{preset:?}");
    }
}
