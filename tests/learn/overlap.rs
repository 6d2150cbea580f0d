//! Acting and recording continue while an update runs.

use crate::host::{Array, Columns, Host, Tune, attach, config, open, spaces};
use rlcore::learn::{Config, Learner, Phase, Stats, View};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

fn hosts() -> impl Iterator<Item = Host> {
    spaces().into_iter().enumerate().map(|(k, (obs, action))| {
        let config = Config {
            num_envs: 4,
            num_steps: 12,
            num_epochs: 2,
            num_chunks: 3,
            use_action_mask: u32::from(action.kind == Element::I32),
            overlap: 1,
            ..config().normalized((k % 2) as u32, (k % 2) as u32)
        };
        Host::new(&config, &obs, &action)
    })
}

/// Random rows act, random rows observe, and now and then one is cut. Returns the drawn actions.
fn tick(h: &mut Host, learner: &mut Learner<'_>, rng: &mut Rng) -> Array {
    let n = h.n;
    let mut some = |learner: &Learner<'_>, acted: u8| -> Vec<u8> {
        learner.acted().iter().map(|&x| u8::from(x == acted && rng.bounded(3) > 0)).collect()
    };
    let (to_act, mut action) = (some(learner, 0), h.actions());
    let observe: Vec<u8> = some(learner, 1);
    let (obs, mask) = (h.draw_obs(rng), h.draw_mask(rng));
    learner.act(Some(&to_act), obs.get(), mask.as_deref(), action.get_mut()).unwrap();
    let reward: Vec<f32> = (0..n).map(|_| rng.uniform_f32()).collect();
    let mut flags = |p: f64| (0..n).map(|_| u8::from(rng.uniform() < p)).collect::<Vec<u8>>();
    let (terminated, truncated, gone) = (flags(0.1), flags(0.1), flags(0.02));
    learner.observe(Some(&observe), &reward, &terminated, &truncated, Some(obs.get()), None).unwrap();
    if learner.phase() != Phase::Learn {
        learner.cut_rows(&gone).unwrap();
    }
    action
}

fn step(h: &mut Host, rng: &mut Rng) -> Array {
    let mut block = std::mem::take(&mut h.block);
    let mut learner = attach(&mut block);
    let action = tick(h, &mut learner, rng);
    h.block = block;
    action
}

/// Records until an update is due, and begins it.
fn begin(h: &mut Host, rng: &mut Rng) {
    while h.learner().phase() != Phase::Learn {
        step(h, rng);
    }
    let obs = h.draw_obs(rng);
    h.learner().learn_begin(obs.get(), None).unwrap();
}

fn value(h: &mut Host) -> Vec<f32> {
    let (obs, mut value) = (h.draw_obs(&mut Rng::seeded(99)), vec![0.0; h.n]);
    h.learner().value(obs.get(), None, &mut value).unwrap();
    value
}

#[test]
fn the_parameters_of_before_act_until_the_update_is_complete() {
    for mut h in hosts() {
        let mut rng = Rng::seeded(2);
        begin(&mut h, &mut rng);
        // A copy that continues without learning.
        let mut still = h.clone();
        still.learner().learn_drop().unwrap();
        let before = h.learner().params().to_vec();
        let mut left = h.learner().stats().minibatches_left;
        assert_eq!(left, 8);
        while left > 0 {
            assert!(h.learner().phase() != Phase::Learn);
            let mut same = rng;
            let actions = step(&mut h, &mut rng);
            assert_eq!(actions.bits(), step(&mut still, &mut same).bits());
            assert_eq!(value(&mut h), value(&mut still));
            left = h.learner().learn(None, None, 2).unwrap().minibatches_left;
        }
        // The new parameters act now, as in a learner that was given them; the recorded steps stay.
        let params = h.learner().params().to_vec();
        assert!(params != before && value(&mut h) != value(&mut still));
        assert_eq!(h.learner().stats().num_updates, 1);
        still.learner().write_params_with(&params, &h.moments()).unwrap();
        let mut same = rng;
        assert_eq!(step(&mut h, &mut rng).bits(), step(&mut still, &mut same).bits());
        assert_eq!(value(&mut h), value(&mut still));
        // Both have recorded the same steps meanwhile.
        let mut same = rng;
        begin(&mut h, &mut rng);
        begin(&mut still, &mut same);
        assert_eq!(Columns::read(&mut h), Columns::read(&mut still));
    }
}

/// The rollout of a running update stays unchanged while the next one is recorded.
#[test]
fn recording_leaves_what_is_learnt_from_alone() {
    for mut h in hosts() {
        let mut rng = Rng::seeded(7);
        for _ in 0..3 {
            begin(&mut h, &mut rng);
            let (batch, mut quiet) = (Columns::read(&mut h), h.clone());
            while h.learner().phase() != Phase::Learn {
                step(&mut h, &mut rng);
                // Statistics go on: they belong to the policy that acts.
                assert_eq!(Columns { moments: batch.moments.clone(), ..Columns::read(&mut h) }, batch);
            }
            // Learning after the next rollout and learning at once lead to the same parameters.
            let (last, first) =
                (h.learner().learn(None, None, 0).unwrap(), quiet.learner().learn(None, None, 0).unwrap());
            assert_eq!(h.learner().params(), quiet.learner().params());
            assert_eq!((last.policy_loss, last.entropy), (first.policy_loss, first.entropy));
            assert_eq!((first.minibatches_left, last.minibatches_left), (0, 8), "the next one is due already");
        }
    }
}

/// The slices of an update do not matter if it completes before the same act.
#[test]
fn slices_between_acts_do_not_matter() {
    for h in hosts() {
        let run = |slices: [u32; 6]| {
            let (mut h, mut rng) = (h.clone(), Rng::seeded(3));
            for _ in 0..3 {
                begin(&mut h, &mut rng);
                for count in slices {
                    assert!(h.learner().phase() != Phase::Learn);
                    step(&mut h, &mut rng);
                    if count > 0 {
                        h.learner().learn(None, None, count).unwrap();
                    }
                }
                assert_eq!(h.learner().stats().minibatches_left > 0, h.learner().phase() == Phase::Learn);
            }
            h.block
        };
        let whole = run([0, 0, 0, 0, 0, 24]);
        for slices in [[4; 6], [1, 1, 1, 1, 1, 19], [23, 0, 0, 0, 0, 1], [0, 7, 7, 7, 1, 2]] {
            assert!(run(slices) == whole, "{slices:?}");
        }
        assert!(run([24, 0, 0, 0, 0, 0]) != whole, "new parameters act earlier");
    }
}

/// A learner that stays open, and one that is copied and attached before every call.
#[test]
fn a_copy_goes_on_from_any_moment() {
    for h in hosts() {
        let (mut kept, mut moved) = (h.clone(), h);
        let mut block = kept.block.clone();
        let mut learner = open(&mut block);
        let mut rng = Rng::seeded(11);
        let mut waits = 0;
        while learner.stats().num_updates < 5 {
            moved.block = moved.block.clone();
            if learner.phase() == Phase::Learn || rng.bounded(3) == 0 {
                let (running, due) = (learner.stats().minibatches_left > 0, learner.phase() == Phase::Learn);
                let obs = moved.draw_obs(&mut rng);
                let call = |learner: &mut Learner<'_>| -> Option<Stats> {
                    running.then(|| learner.learn(Some(obs.get()), None, 1 + u32::from(due)).unwrap())
                };
                assert_eq!(format!("{:?}", call(&mut learner)), format!("{:?}", call(&mut moved.learner())));
                waits += u32::from(due);
            } else {
                let mut same = rng;
                let ours = tick(&mut kept, &mut learner, &mut rng);
                assert_eq!(ours.bits(), step(&mut moved, &mut same).bits());
            }
            assert!(View::attach(bytemuck::cast_slice(&moved.block)).is_ok());
            assert_eq!((learner.acted(), learner.phase()), (moved.view().acted(), moved.clone().learner().phase()));
            assert_eq!(learner.params(), moved.view().params());
        }
        assert!(waits >= 5);
        assert!(block == moved.block);
    }
}

/// Acting waits only while a complete rollout has no update begun; `minibatches_left` reaches 0.
#[test]
fn learning_is_due_only_when_acting_has_to_wait() {
    let config = Config { num_envs: 3, num_steps: 4, num_minibatches: 2, num_epochs: 2, overlap: 1, ..config() };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let rollout = |h: &mut Host| {
        for t in 0..4 {
            let mut learner = h.learner();
            assert_eq!(learner.phase(), Phase::Act, "step {t}");
            learner.act(None, Elements::F32(&[0.5; 3]), None, ElementsMut::I32(&mut [0; 3])).unwrap();
            assert_eq!(learner.phase(), Phase::Observe, "step {t}");
            learner.observe(None, &[1.0, 0.0, t as f32], &[0; 3], &[0; 3], None, None).unwrap();
        }
        assert_eq!(h.learner().phase(), Phase::Learn);
    };
    let learn = |h: &mut Host| {
        let stats = h.learner().learn(Some(Elements::F32(&[0.5; 3])), None, 1).unwrap();
        (stats.minibatches_left, stats.num_updates, h.learner().phase())
    };
    rollout(&mut h);
    assert_eq!(h.learner().stats().minibatches_left, 4);
    assert_eq!(learn(&mut h), (3, 0, Phase::Act));
    rollout(&mut h);
    assert_eq!(learn(&mut h), (2, 0, Phase::Learn));
    assert_eq!(learn(&mut h), (1, 0, Phase::Learn));
    // The first update is complete, and the second is due at once.
    assert_eq!(learn(&mut h), (4, 1, Phase::Learn));
    assert_eq!(learn(&mut h), (3, 1, Phase::Act));
    for left in [2, 1] {
        assert_eq!(learn(&mut h), (left, 1, Phase::Act));
    }
    assert_eq!(learn(&mut h), (0, 2, Phase::Act));
    rollout(&mut h);
    // Drops an update that is due, then one that runs.
    h.learner().learn_drop().unwrap();
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Act, 0));
    rollout(&mut h);
    assert_eq!(learn(&mut h), (3, 2, Phase::Act));
    h.learner().learn_drop().unwrap();
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Act, 0));
    assert_eq!(h.learner().stats().num_updates, 2);
}

/// The observation is one bit and the choice of that bit pays 1; one chunk is learned between two steps.
#[test]
fn a_policy_learns_while_it_acts() {
    const N: usize = 8;
    let config = Config { num_envs: N as u32, num_steps: 32, num_chunks: 2, ..config().hidden(&[16]) };
    let config = Config { overlap: 1, entropy_coef: 0.0, learning_rate: 1e-2, ..config };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let (mut rng, mut obs, mut choice) = (Rng::seeded(2), [0.0f32; N], [0; N]);
    let (mut learner, mut waited) = (h.learner(), 0);
    while learner.stats().num_updates < 40 {
        if learner.stats().minibatches_left > 0 {
            learner.learn(Some(Elements::F32(&obs)), None, 1).unwrap();
        }
        if learner.phase() == Phase::Learn {
            waited += 1;
            continue;
        }
        learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut choice)).unwrap();
        let reward: Vec<f32> = (0..N).map(|i| u8::from(choice[i] == obs[i] as i32).into()).collect();
        learner.observe(None, &reward, &[1; N], &[0; N], None, None).unwrap();
        obs.fill_with(|| u8::from(rng.coin()).into());
    }
    assert!(learner.stats().return_mean > 0.95, "{:?}", learner.stats());
    assert_eq!(waited, 0, "32 chunks have their place in 32 steps");
}
