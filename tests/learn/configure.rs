//! Another configuration for a learner that goes on: each field of the table takes effect as if the learner had been made with it,
//! or is refused by name.

#![cfg(all(feature = "noisy", feature = "residual", feature = "unreal"))]

use crate::host::every::{Made, every};
use crate::host::{Host, made, record, train};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::config_fields::{FIELDS, Field};
use rlcore::learn::{Algorithm, Config, Learner, NamedTensor, TensorsOf};
use rlcore::rng::Rng;
use std::collections::HashSet;

fn host((config, layers, obs, action): &Made) -> Host {
    Host::with(config, layers, obs, action)
}

/// Errors: those of `configure`, which then has written nothing.
fn configure(h: &mut Host, config: &Config) -> Result {
    let before = h.block.clone();
    let done = Learner::configure(bytemuck::cast_slice_mut(&mut h.block), config);
    if done.is_err() {
        assert!(h.block == before, "{done:?}");
    } else {
        h.config = *config;
    }
    done
}

/// Configurations with another value in one field.
fn others(config: &Config, field: &Field) -> Vec<Config> {
    let own = bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of::<Config>(config));
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for at in field.word_range() {
        let x = f32::from_bits(own[at]);
        let words = if field.is_real() {
            [x * 0.5, x + 0.125, 1.0 - x, 0.0, 0.25, 1.0, 3.0, -x].map(f32::to_bits)
        } else {
            let x = own[at];
            [x.wrapping_add(1), x.wrapping_mul(2), x / 2, x.wrapping_sub(1), 0, 1, 2, 7]
        };
        for word in words.into_iter().filter(|word| *word != own[at]) {
            let mut other = *config;
            bytemuck::cast_slice_mut::<u8, u32>(bytemuck::bytes_of_mut(&mut other))[at] = word;
            if seen.insert((at, word)) {
                all.push(other);
            }
        }
    }
    all
}

/// The header, its checksum and the configuration: all that may differ between blocks of the same layout.
fn behind(block: &[u64]) -> &[u64] {
    let header = 64 + size_of::<Config>().next_multiple_of(64);
    &block[header / 8..]
}

fn names(error: &Error, field: &Field) -> bool {
    error.to_string().contains(field.name())
}

#[test]
fn each_field_takes_effect_as_if_made_with_it_or_is_refused_by_name() {
    let (mut accepted, mut refused) = (HashSet::new(), HashSet::new());
    for made_with in every() {
        let (config, layers, obs, action) = &made_with;
        let fresh = host(&made_with);
        let mut trained = fresh.clone();
        train(&mut trained, &mut Rng::seeded(5), 2);
        for field in FIELDS.iter().filter(|field| field.name() != "num_layers") {
            for other in others(config, field) {
                let (mut young, mut old) = (fresh.clone(), trained.clone());
                let [first, second] = [&mut young, &mut old].map(|h| configure(h, &other));
                let (name, algorithm) = (field.name(), config.algorithm());
                assert_eq!(first, second, "{name} of {algorithm:?}");
                if Learner::size(&other, layers, obs, action).is_err() {
                    assert_eq!(first.unwrap_err().kind, Kind::Config, "{name} of {algorithm:?}: {other:?}");
                    continue;
                }
                let from_the_start = made(&other, layers, obs, action);
                let Err(error) = first else {
                    assert!(young.block == from_the_start, "{name} of {algorithm:?}");
                    accepted.insert(name);
                    let (before, after) = (trained.view().stats(), old.view().stats());
                    assert_eq!(before.num_steps, after.num_steps);
                    assert_eq!(before.num_episodes, after.num_episodes);
                    assert_eq!(before.return_mean.to_bits(), after.return_mean.to_bits());
                    assert!(
                        field.name() == "log_std_min"
                            || name == "log_std_max"
                            || trained.view().params() == old.view().params()
                    );
                    if name != "use_duration" {
                        train(&mut old, &mut Rng::seeded(6), 1);
                    }
                    // And back, before the next update.
                    configure(&mut old, config).unwrap();
                    train(&mut old, &mut Rng::seeded(7), 1);
                    continue;
                };
                assert_eq!(error.kind, Kind::Config);
                assert!(names(&error, field), "{name}: {error}");
                let apart = behind(&from_the_start) != behind(&fresh.block) || name == "algorithm";
                assert!(apart, "{name} of {algorithm:?} could change");
                refused.insert(name);
            }
        }
    }
    for name in [
        "learning_rate",
        "entropy_coef",
        "clip",
        "discount",
        "reward_max",
        "imitation_coef",
        "demonstration_share",
        "num_epochs",
        "adam_epsilon",
        "obs_clip",
    ] {
        assert!(accepted.contains(name) && !refused.contains(name), "{name}");
    }
    for name in [
        "seed",
        "algorithm",
        "num_envs",
        "num_steps",
        "hidden_len",
        "buffer_size",
        "num_chunks",
        "activation",
        "demonstration_size",
    ] {
        assert!(refused.contains(name), "{name}");
    }
}

#[test]
fn a_learner_is_configured_between_updates_and_learns_by_the_new_numbers() {
    for made_with in every() {
        let mut h = host(&made_with);
        let mut rng = Rng::seeded(5);
        train(&mut h, &mut rng, 1);
        let other = Config { discount: 0.5, ..h.config };
        let obs = record(&mut h, &mut rng);
        assert_eq!(configure(&mut h, &other).unwrap_err().kind, Kind::NotReady);
        h.learner().learn_begin(obs.get(), None).unwrap();
        assert_eq!(configure(&mut h, &other).unwrap_err().kind, Kind::NotReady);
        h.learner().learn(None, None, 0).unwrap();
        let mut same = h.clone();
        configure(&mut h, &other).unwrap();
        assert_eq!(h.view().config().discount, 0.5);
        let [mut first, mut second] = [6, 6].map(Rng::seeded);
        train(&mut h, &mut first, 9);
        train(&mut same, &mut second, 9);
        assert!(h.view().params() != same.view().params(), "{:?}", h.config.algorithm());
    }
}

#[test]
fn a_sealed_learner_is_opened_and_a_whole_other_configuration_is_refused_at_its_first_field() {
    let mut h = host(&every()[0]);
    rlcore::block::seal(bytemuck::cast_slice_mut(&mut h.block)).unwrap();
    let error = configure(&mut h, &Config::of(Algorithm::Dqn)).unwrap_err();
    assert!(error.to_string().contains("algorithm is set to"), "{error}");
    let wrong = Config { learning_rate: f32::NAN, ..h.config };
    assert!(configure(&mut h, &wrong).unwrap_err().to_string().contains("learning_rate of 0 to 1"));
    let both = Config { num_steps: 6, clip: 0.1, ..h.config };
    assert!(configure(&mut h, &both).unwrap_err().to_string().contains("num_steps is set to 6"));
    let unread = Config { kappa_value: 7.0, ..h.config };
    assert!(configure(&mut h, &unread).unwrap_err().to_string().contains("kappa_value is set to 7"));
    let other = Config { num_layers: 0, clip: 0.1, ..h.config };
    configure(&mut h, &other).unwrap();
    assert_eq!((h.view().config().num_layers, h.view().config().clip), (2, 0.1));
    h.learner();
}

#[test]
fn deviations_and_moments_follow_their_settings() {
    let (config, layers, obs, action) = &every()[1];
    let mut h = Host::with(config, layers, obs, action);
    train(&mut h, &mut Rng::seeded(5), 2);
    let other = Config { log_std_min: 0.5, log_std_init: 0.5, ..*config };
    assert!(configure(&mut h, &other).unwrap_err().to_string().contains("log_std_init"));
    let other = Config { log_std_min: 0.0, log_std_max: 0.0, optimizer: 3, rms_momentum: 0.5, ..*config };
    configure(&mut h, &other).unwrap();
    let len = h.view().params().len();
    let mut moments = vec![0.0; len];
    for (of, start) in [(TensorsOf::FirstMoments, 0.0), (TensorsOf::SecondMoments, 1.0)] {
        h.view().read_tensors(of, &mut moments).unwrap();
        assert!(moments.iter().all(|x| *x == start));
    }
    let mut all = vec![bytemuck::Zeroable::zeroed(); h.view().tensors(&mut []).unwrap()];
    h.view().tensors(&mut all).unwrap();
    let log_std = all.iter().find(|tensor: &&NamedTensor| tensor.name.starts_with(b"log_std")).unwrap();
    h.view().read_tensors(TensorsOf::Params, &mut moments).unwrap();
    assert_eq!(moments[log_std.offset as usize..][..2], [0.0; 2]);
    h.learner();
    train(&mut h, &mut Rng::seeded(6), 1);
}
