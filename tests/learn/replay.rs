//! Off-policy actor-critic as a task of UNREAL, and the history that all tasks draw from: frame stacks, overlap, first draws.

use crate::host::{Array, record, same_in_parts};
use crate::unreal_twin::{Twin, agrees, host, only, unreal, with_state};
use rlcore::learn::{Config, Phase};
use rlcore::rng::Rng;

/// Observations are two frames.
fn stacked(config: Config) -> Config {
    Config { num_stacked: 2, obs_dims: [10, 10, 2], ..config }
}

#[test]
fn past_steps_are_learnt_as_the_formula_says() {
    agrees(&Config { num_replayed: 4, ..only(9, unreal()) }, 9);
    agrees(&Config { gae_lambda: 0.9, accumulate: 1, ..only(11, with_state()) }, 11);
    agrees(&Config { use_action_mask: 1, value_coef: 1.5, entropy_coef: 0.2, ..only(8, unreal()) }, 8);
    agrees(&Config { log_std_init: -0.5, gae_lambda: 0.5, entropy_coef: 0.5, ..only(8, with_state()) }, 8);
    let total_steps = 4 * unreal().batch_len() as u64;
    let fading =
        Config { entropy_coef: 0.8, entropy_share_end: 0.25, total_steps, learning_rate_end: 7e-4, ..unreal() };
    agrees(&only(8, fading), 8);
    agrees(&Config { history_starts: 20, ..only(11, stacked(unreal())) }, 11);
}

/// Summed losses are mean losses times the number of rows.
#[test]
fn sums_are_means_times_rows() {
    let loss = [0, 1].map(|sum_losses| {
        let mut twin =
            Twin::new(&Config { sum_losses, learning_rate: 0.0, learning_rate_end: 0.0, ..only(9, unreal()) });
        for _ in 0..2 {
            twin.begin();
            twin.h.learner().learn(None, None, 0).unwrap();
        }
        let stats = twin.h.learner().stats();
        [stats.policy_replay_loss, stats.pixel_control_loss]
    });
    let rows = (unreal().num_replays() * unreal().replay_len()) as f32;
    assert!(loss[0].iter().zip(loss[1]).all(|(mean, sum)| (mean * rows - sum).abs() < 1e-4 * sum.abs()), "{loss:?}");
}

#[test]
fn parts_and_copies_leave_the_same_bits() {
    let cases =
        [(9, unreal()), (8, Config { log_std_init: -0.5, ..unreal() }), (11, Config { num_steps: 12, ..with_state() })];
    for (mask, config) in cases {
        let config = Config { num_chunks: 7, num_envs: 7, overlap: (mask & 1) as u32, ..only(mask, config) };
        same_in_parts(host(&config), 4, "policy replay");
    }
}

/// Steps recorded while an update runs are not part of the history it draws from.
#[test]
fn recording_leaves_what_is_drawn_from_alone() {
    for config in [only(11, unreal()), only(7, with_state()), stacked(only(9, unreal()))] {
        let config = Config { overlap: 1, num_chunks: 3, num_replayed: 5, num_epochs: 2, ..config };
        let mut late = Twin::new(&config);
        let mut early = Twin::new(&config);
        for _ in 0..5 {
            // One twin learns after it has acted, the other between its steps.
            for (twin, between) in [(&mut late, false), (&mut early, true)] {
                twin.begin();
                for step in 0..5 {
                    twin.step();
                    if step == 2 {
                        twin.h.learner().cut_rows(&[0; 3]).unwrap();
                    }
                    if between && step < 4 {
                        twin.h.learner().learn(None, None, 1).unwrap();
                    }
                }
                twin.h.learner().learn(None, None, 0).unwrap();
                assert!(twin.h.learner().phase() == Phase::Act && twin.h.learner().stats().minibatches_left == 0);
            }
            assert!(late.h.block == early.h.block);
        }
        assert!(late.h.learner().stats().reward_class_loss > 0.0 || config.reward_class_coef == 0.0);
    }
}

/// An update that completes before any other call is the same with `overlap` as without.
#[test]
fn overlap_alone_changes_nothing() {
    let [without, with] = [0, 1].map(|overlap| {
        let mut twin = Twin::new(&Config { overlap, ..only(11, unreal()) });
        for update in 0..5 {
            twin.begin();
            twin.h.learner().learn(None, None, 0).unwrap();
            twin.give_up(update % 3);
        }
        twin.h.view().params().to_vec()
    });
    assert!(without == with);
}

/// Stacks stay whole over any rollouts: everything but the changes of pixels is the same as without `num_stacked`.
#[test]
fn stacks_are_the_same_observations() {
    for mask in [10, 6] {
        let params = [0, 2].map(|num_stacked| {
            let mut twin = Twin::new(&Config { num_stacked, ..stacked(only(mask, with_state())) });
            let mut before: Vec<u8> = Vec::new();
            for _ in 0..30 {
                let Array::U8(mut obs) = twin.h.draw_obs(&mut twin.rng) else { unreachable!() };
                if !before.is_empty() {
                    obs.chunks_mut(2).zip(before.chunks(2)).for_each(|(to, from)| to[0] = from[1]);
                }
                let obs = Array::U8(obs);
                if twin.h.learner().phase() == Phase::Learn {
                    twin.h.learner().learn(Some(obs.get()), None, 0).unwrap();
                }
                let mut action = twin.h.actions();
                twin.h.learner().act(None, obs.get(), None, action.get_mut()).unwrap();
                twin.h.learner().observe(None, &[0.5, 0.0, -1.0], &[0, 1, 0], &[0; 3], None, None).unwrap();
                let Array::U8(obs) = obs else { unreachable!() };
                before = obs;
            }
            twin.h.view().params().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        assert!(params[0] == params[1], "{mask}");
    }
}

/// No draw comes from an environment before it has recorded `history_starts` steps; draws from the others go on.
#[test]
fn draws_begin_when_the_history_is_full() {
    let config = Config { history_starts: 20, ..only(11, unreal()) };
    let mut h = host(&config);
    let mut seen = Vec::new();
    for update in 0..5 {
        let obs = record(&mut h, &mut Rng::seeded(update));
        let stats = h.learner().learn(Some(obs.get()), None, 0).unwrap();
        seen.push([stats.pixel_control_loss, stats.reward_class_loss, stats.policy_replay_loss].map(|x| x != 0.0));
    }
    // Six steps of each environment per update.
    assert_eq!(seen, [[false; 3], [false; 3], [false; 3], [true; 3], [true; 3]]);
    // An absent environment does not keep the others waiting.
    let (mut h, mut rng, active) = (host(&config), Rng::seeded(3), [1, 0, 1]);
    let mut updates = 0;
    while updates < 3 {
        let (obs, mut action) = (h.draw_obs(&mut rng), h.actions());
        if h.learner().phase() == Phase::Learn {
            let loss = h.learner().learn(Some(obs.get()), None, 0).unwrap().policy_replay_loss;
            updates += 1;
            // Nine steps of each active environment per update.
            assert!((loss != 0.0) == (updates == 3), "update {updates}");
        }
        h.learner().act(Some(&active), obs.get(), None, action.get_mut()).unwrap();
        h.learner().observe(Some(&active), &[1.0; 3], &[0; 3], &[0; 3], None, None).unwrap();
    }
}
