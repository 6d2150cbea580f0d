//! Kept demonstrations against their definition: where they lie, which are drawn, and the gradients of their imitation.

extern crate std;
use super::adopt::STORE;
use super::{Learner, Phase, View};
use crate::error::Kind;
use crate::learn::config::{Algorithm, Config};
use crate::learn::store::sequences::{BEGINS, Sequences};
use crate::nn::{ALL, Carry, Input, Layer, LayerKind, Net};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};
use std::vec;
use std::vec::Vec;

const N: usize = 3;
const OBS: usize = 3;
const FIELDS: [Field<'static>; 2] =
    [Field::new("choice", Element::I32, &[], 0), Field::new("number", Element::F32, &[], 4)];

/// A learner of choices, of numbers, or of structures of both.
#[derive(Clone, Copy, PartialEq)]
enum Acts {
    Choices,
    Numbers,
    Both,
}

impl Acts {
    fn space(self) -> Space<'static> {
        match self {
            Acts::Choices => Space::discrete(&[3, 2]),
            Acts::Numbers => Space::unbounded(2),
            Acts::Both => Space { n: &[3], ..Space::bytes(8).with_fields(&FIELDS) },
        }
    }
}

fn config(algorithm: Algorithm) -> Config {
    let own = Config {
        num_envs: N as u32,
        num_hidden: 1,
        hidden_len: [8, 0, 0, 0],
        demonstration_size: 12,
        demonstration_share: 0.3,
        ..Config::of(algorithm)
    };
    if !algorithm.is_off_policy() {
        return Config { num_steps: 6, num_minibatches: 1, num_chunks: 2, ..own };
    }
    let policy_interval = if algorithm == Algorithm::Dqn { own.policy_interval } else { 1 };
    Config {
        buffer_size: 50,
        batch_size: 10,
        num_chunks: 3,
        learning_starts: 12,
        train_interval: 30,
        policy_interval,
        ..own
    }
}

fn made(config: &Config, layers: &[Layer], acts: Acts) -> Vec<u64> {
    let (obs, action) = (Space::unbounded(OBS as u32), acts.space());
    let mut block = vec![0; Learner::size(config, layers, &obs, &action).unwrap() / 8];
    Learner::init(bytemuck::cast_slice_mut(&mut block), config, layers, &obs, &action).unwrap();
    block
}

fn open(block: &mut [u64]) -> Learner<'_> {
    Learner::open(bytemuck::cast_slice_mut(block)).unwrap()
}

/// A host that knows the environment, the time and the episode of each observation.
struct Host {
    rng: Rng,
    time: [u32; N],
    episode: [u32; N],
    acts: Acts,
    /// Observations that were demonstrated, and their first choices or numbers.
    shown: Vec<([f32; OBS], Vec<i32>, Vec<f32>)>,
}

impl Host {
    fn new(acts: Acts) -> Host {
        Host { rng: Rng::seeded(5), time: [0; N], episode: [0; N], acts, shown: Vec::new() }
    }

    fn obs(&self) -> [f32; OBS * N] {
        core::array::from_fn(|i| match (i / OBS, i % OBS) {
            (env, 0) => env as f32 * 0.5 - 0.5,
            (env, 1) => self.time[env] as f32 / 64.0,
            (env, _) => self.episode[env] as f32 / 64.0,
        })
    }

    /// A step in which these environments act as the host says.
    fn step(&mut self, l: &mut Learner<'_>, shows: [u8; N]) {
        let (obs, rng) = (self.obs(), &mut self.rng);
        let k = if self.acts == Acts::Choices { 2 } else { usize::from(self.acts == Acts::Both) };
        let a = if self.acts == Acts::Numbers { 2 } else { usize::from(self.acts == Acts::Both) };
        let choice: Vec<i32> = (0..k * N).map(|i| rng.bounded(2 - (i as u64 % k as u64).min(1)) as i32).collect();
        let number: Vec<f32> = (0..a * N).map(|_| rng.bounded(15) as f32 / 8.0 - 0.875).collect();
        let bytes: Vec<u8> = match self.acts {
            Acts::Both => (0..N).flat_map(|i| [choice[i].to_ne_bytes(), number[i].to_ne_bytes()].concat()).collect(),
            _ => vec![0; 8 * N],
        };
        let forbids = |i: usize| i % 5 == 2 && choice.get(2 * (i / 5)) != Some(&2);
        let mask: Vec<u8> = (0..5 * N).map(|i| u8::from(!forbids(i))).collect();
        let mask = (l.config.use_action_mask != 0).then_some(&mask[..]);
        let action = match self.acts {
            Acts::Choices => Elements::I32(&choice),
            Acts::Numbers => Elements::F32(&number),
            Acts::Both => Elements::U8(&bytes),
        };
        l.demonstrate(Some(&shows), Elements::F32(&obs), mask, action).unwrap();
        for env in (0..N).filter(|env| shows[*env] != 0) {
            let own = obs[env * OBS..][..OBS].try_into().unwrap();
            self.shown.push((own, choice[env * k..][..k].to_vec(), number[env * a..][..a].to_vec()));
        }
        let acting = if l.config.needs().replay { shows.map(|x| 1 - x) } else { [1; N] };
        let (mut i, mut f, mut u) = (choice.clone(), number.clone(), bytes.clone());
        let to = match self.acts {
            Acts::Choices => ElementsMut::I32(&mut i),
            Acts::Numbers => ElementsMut::F32(&mut f),
            Acts::Both => ElementsMut::U8(&mut u),
        };
        l.act(Some(&acting), Elements::F32(&obs), mask, to).unwrap();
        let ends: [u8; 2 * N] = core::array::from_fn(|_| u8::from(rng.uniform() < 0.08));
        let reward: [f32; N] = core::array::from_fn(|_| rng.uniform_f32());
        let mut last = obs;
        (0..N).for_each(|env| last[env * OBS + 1] += 1.0 / 64.0);
        let (terminated, truncated) = ends.split_at(N);
        l.observe(None, &reward, terminated, truncated, Some(Elements::F32(&last)), None).unwrap();
        for env in 0..N {
            self.time[env] += 1;
            if ends[env] + ends[N + env] > 0 {
                self.episode[env] += 1;
            }
        }
    }
}

/// The first demonstrations stay as they were, far beyond the size of the ring; each batch has its share of them, all of it while
/// there is nothing else, and none while there are none.
#[test]
fn demonstrations_are_kept_and_have_their_share_of_every_batch() {
    for (n_step, priority_exponent, share, wanted) in
        [(1, 0.0, 0.3, 3), (3, 0.0, 0.25, 3), (2, 0.6, 0.3, 3), (1, 0.6, 1.0, 10), (1, 0.0, 0.0, 0)]
    {
        let c = Config { n_step, priority_exponent, demonstration_share: share, ..config(Algorithm::Dqn) };
        let (mut block, mut host) = (made(&c, &[], Acts::Choices), Host::new(Acts::Choices));
        let mut kept: Option<Vec<f32>> = None;
        for t in 0..250 {
            let mut l = open(&mut block);
            host.step(&mut l, [u8::from(t < 8 || t % 50 == 49), u8::from(t < 6), 0]);
            if l.phase() == Phase::Learn {
                l.learn_drop().unwrap();
            }
            let (shown, own) = (l.view().kept(), l.view().stored());
            if shown + own > 0 {
                l.draw().unwrap();
                let drawn = l.order.iter().filter(|slot| **slot >= 50).count();
                let share = if shown == 0 {
                    0
                } else if own == 0 {
                    10
                } else {
                    wanted
                };
                assert_eq!(drawn, share, "{t}");
                assert!(l.order.iter().all(|slot| l.view().holds(*slot as usize)));
                assert!(l.order[..drawn].iter().all(|slot| *slot >= 50));
            }
            assert!(shown <= 12 && own <= 50);
            if shown == 12 {
                let now = l.replay.store.obs[50 * OBS..].to_vec();
                let kept = kept.get_or_insert_with(|| now.clone());
                assert_eq!(*kept, now);
                for slot in 50..62 {
                    let (obs, choice) = (&now[(slot - 50) * OBS..][..OBS], &l.replay.store.choice[2 * slot..][..2]);
                    assert!(host.shown.iter().any(|own| own.0 == obs && own.1 == choice), "{slot}");
                }
            }
            View::attach(bytemuck::cast_slice(&block)).unwrap();
        }
        assert!(kept.is_some() && open(&mut block).view().stored() == 50);
    }
}

/// Each part is drawn in proportion to its own weights, with importance relative to its own least one, and errors become weights of
/// the transitions that were drawn.
#[test]
fn each_part_has_its_own_priorities() {
    let c = Config { priority_exponent: 0.7, importance_exponent: 0.5, gradient_steps: 1, ..config(Algorithm::Dqn) };
    let (mut block, mut host) = (made(&c, &[], Acts::Choices), Host::new(Acts::Choices));
    while open(&mut block).phase() != Phase::Learn {
        let shows = host_shows(&block);
        host.step(&mut open(&mut block), [1, 0, u8::from(shows)]);
    }
    let mut l = open(&mut block);
    let (shown, own) = (l.view().kept(), l.view().stored());
    assert!(shown == 12 && own > 10);
    let weight = |slot: usize| 0.25 + (slot % 5) as f32;
    (0..own).for_each(|slot| l.replay.weights.set(&[slot as u32], &[weight(slot)]).unwrap());
    (0..shown).for_each(|slot| l.replay.kept_weights.set(&[slot as u32], &[2.0 * weight(slot)]).unwrap());
    let (mut counts, batches) = (vec![0u32; 62], 4000);
    for _ in 0..batches {
        l.draw().unwrap();
        for (slot, importance) in l.order.iter().zip(&*l.replay.importance) {
            counts[*slot as usize] += 1;
            let wanted = (0.25 / f64::from(weight(*slot as usize % 50))).sqrt();
            assert!((f64::from(*importance) - wanted).abs() < 1e-6);
        }
    }
    for (first, count, draws) in [(0, own, 7.0), (50, shown, 3.0)] {
        let sum: f64 = (0..count).map(|slot| f64::from(weight(slot))).sum();
        for slot in 0..count {
            let (wanted, all) = (f64::from(weight(slot)) / sum, draws * f64::from(batches));
            let part = f64::from(counts[first + slot]) / all;
            assert!((part - wanted).abs() < 5.0 * (wanted / all).sqrt(), "{first} {slot}: {part} {wanted}");
        }
    }
    l.learn(None, None, 3).unwrap();
    let order = l.order.to_vec();
    for slot in 0..own {
        let own = l.view().replay.weights.weight(slot);
        assert_eq!(own == weight(slot), !order.contains(&(slot as u32)), "{slot}");
    }
    for slot in 0..shown {
        let own = l.view().replay.kept_weights.weight(slot);
        assert_eq!(own == 2.0 * weight(slot), !order.contains(&(slot as u32 + 50)), "{slot}");
    }
}

/// Whether the last environment is shown next: every other step.
fn host_shows(block: &[u64]) -> bool {
    View::open(bytemuck::cast_slice(block)).unwrap().state.num_steps.is_multiple_of(2)
}

/// Sequences are of one environment and of one part, and continue an episode only where nothing of it lies in the other part.
#[test]
fn sequences_stay_in_their_part() {
    for n_step in [1, 2] {
        let layers = [Layer::recurrent(LayerKind::Gru, 4)];
        let c = Config {
            n_step,
            num_layers: 1,
            sequence_len: 5,
            burn_in: 2,
            num_chunks: 2,
            demonstration_size: 40,
            imitation_coef: 0.5,
            learning_rate: 1e-3,
            ..config(Algorithm::Dqn)
        };
        let (mut block, mut host, mut rng) =
            (made(&c, &layers, Acts::Choices), Host::new(Acts::Choices), Rng::seeded(9));
        let (mut linked, mut cut) = (0, 0);
        for _ in 0..90 {
            let mut l = open(&mut block);
            host.step(&mut l, core::array::from_fn(|_| u8::from(rng.uniform() < 0.3)));
            if l.phase() == Phase::Learn {
                l.learn(None, None, 0).unwrap();
                assert_eq!(l.stats().num_dropped, 0);
            }
            View::attach(bytemuck::cast_slice(&block)).unwrap();
            let l = open(&mut block);
            let store = l.replay.store.read();
            let links = Sequences::new(l.view().drawable(), 50, store.before, store.begin);
            let at = |slot: u32| -> [i32; 3] {
                let own = &store.obs[slot as usize * OBS..][..OBS];
                [(own[0] * 2.0 + 1.0) as i32, (own[1] * 64.0) as i32, (own[2] * 64.0) as i32]
            };
            let held: Vec<u32> = (0..90).filter(|slot| l.view().holds(*slot as usize)).collect();
            for &slot in &held {
                let Some(before) = links.before(slot) else { continue };
                let ([env, time, episode], [other, earlier, last]) = (at(slot), at(before));
                assert!((slot >= 50) == (before >= 50) && env == other && earlier < time);
                let between = held.iter().filter(|x| (**x >= 50) == (slot >= 50)).map(|x| at(*x));
                assert!(!between.into_iter().any(|x| x[0] == env && x[1] > earlier && x[1] < time));
                let follows = links.step_before(slot).is_some();
                assert_eq!(follows, earlier + 1 == time && episode == last, "{slot}");
                if store.begin[slot as usize] == BEGINS {
                    assert!(earlier + 1 == time && episode != last);
                }
                linked += usize::from(follows);
                cut += usize::from(!follows);
            }
        }
        assert!(linked > 100 && cut > 100, "{linked} {cut}");
    }
}

/// Whether it is a policy of points, without deviations.
fn is_point(c: &Config) -> bool {
    c.needs().critics && !c.needs().temperature
}

/// A row of the host's as the network learns from it.
struct Row {
    obs: Vec<f32>,
    choice: Vec<i32>,
    number: Vec<f32>,
    mask: Vec<u8>,
}

/// The gradients of the mean loss over these rows, from outputs by the formulas, in f64.
fn twin(l: &Learner<'_>, rows: &[Row], params: &[f32]) -> Vec<f64> {
    let (c, net, n, m) = (l.config, &l.sizes.net, &*l.taken.n, rows.len());
    let obs: Vec<f32> = rows.iter().flat_map(|row| row.obs.clone()).collect();
    let (heads, second) = if c.needs().replay { (ALL, net.head_len(1)) } else { (1, 0) };
    let (mut out, mut other) = (vec![0.0f32; m * net.head_len(0)], vec![0.0f32; m * second]);
    let (mut tape, mut scratch) = (vec![0.0; net.tape_len(m)], vec![0.0; 1 << 14]);
    let params = &params[..net.param_len()];
    let outs = &mut [&mut out[..], &mut other[..]];
    let num = if second > 0 { 2 } else { 1 };
    net.forward(params, Input::F32(&obs), m, heads, &Carry::NONE, &mut tape, &mut scratch, &mut outs[..num]).unwrap();
    let (width, a, w) = (net.head_len(0), if c.needs().q { 0 } else { l.sizes.std_len }, 1.0 / m as f64);
    let (mut d_out, mut d_other) = (vec![0.0f64; out.len()], vec![0.0f64; other.len()]);
    let mut d_free = vec![0.0f64; a];
    for (i, row) in rows.iter().enumerate() {
        let said: Vec<f64> = out[i * width..][..width].iter().map(|x| f64::from(*x)).collect();
        let to = &mut d_out[i * width..][..width];
        let allowed = |k: usize| row.mask.get(k) != Some(&0);
        let mut first = 0;
        for (e, &count) in n.iter().enumerate() {
            let (count, own) = (count as usize, row.choice[e] as usize);
            if !c.needs().q {
                let sum: f64 = (first..first + count).filter(|k| allowed(*k)).map(|k| said[k].exp()).sum();
                for k in (first..first + count).filter(|k| allowed(*k)) {
                    to[k] = w * (said[k].exp() / sum - f64::from(u8::from(k == first + own)));
                }
            } else {
                let atoms = c.num_atoms.max(1) as usize;
                let z = |j: usize| {
                    f64::from(c.value_min) + j as f64 * f64::from(c.value_max - c.value_min) / (atoms - 1) as f64
                };
                let p = |k: usize, j: usize| {
                    let all = &said[k * atoms..][..atoms];
                    all[j].exp() / all.iter().map(|x| x.exp()).sum::<f64>()
                };
                // Advantages less their mean differ as advantages do.
                let q = |k: usize| if atoms > 1 { (0..atoms).map(|j| p(k, j) * z(j)).sum::<f64>() } else { said[k] };
                let others = (first..first + count).filter(|k| allowed(*k) && *k != first + own);
                let Some(best) = others.reduce(|a, b| if q(b) > q(a) { b } else { a }) else { continue };
                if q(best) + f64::from(c.imitation_margin) > q(first + own) {
                    for (k, sign) in [(best, 1.0), (first + own, -1.0)] {
                        let slope = sign * w / n.len() as f64;
                        for j in 0..atoms {
                            to[k * atoms + j] = if atoms > 1 { slope * p(k, j) * (z(j) - q(k)) } else { slope };
                        }
                    }
                }
            }
            first += count;
        }
        for j in 0..a {
            let (mean, action) = (said[first + j], f64::from(row.number[j]));
            if is_point(c) {
                to[first + j] = 2.0 * w * (mean.tanh() - action) * (1.0 - mean.tanh().powi(2));
                continue;
            }
            let squashes = c.needs().replay || c.squash != 0;
            let raw = if squashes { action.clamp(-0.999, 0.999).atanh() } else { action };
            let log_std = if second > 0 { other[i * a + j] } else { l.params[l.sizes.std_begin + j] };
            let deviation = f64::from(log_std.clamp(c.log_std_min, c.log_std_max)).exp();
            to[first + j] = w * (mean - raw) / deviation.powi(2);
            if c.imitation_fit_std != 0 {
                let by = w * (1.0 - ((raw - mean) / deviation).powi(2));
                if second > 0 { d_other[i * a + j] = by } else { d_free[j] += by }
            }
        }
    }
    let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    let (d_out, d_other, mut grads) = (narrow(&d_out), narrow(&d_other), vec![0.0; net.param_len()]);
    let d_outs = [&d_out[..], &d_other[..]];
    net.backward(
        params,
        Input::F32(&obs),
        m,
        heads,
        &Carry::NONE,
        &tape,
        &d_outs[..num],
        None,
        &mut grads,
        &mut scratch,
    )
    .unwrap();
    let mut grads: Vec<f64> = grads.iter().map(|x| f64::from(*x)).collect();
    if second == 0 && !d_free.is_empty() && !c.needs().replay {
        (0..a).for_each(|j| grads[l.sizes.std_begin + j] += d_free[j]);
    }
    grads
}

/// The sum of the gradients of all chunks.
fn gradients(l: &Learner<'_>) -> Vec<f64> {
    let (view, chunks) = (l.view(), l.config.num_chunks as usize);
    let (mut grads, mut scratch) =
        (vec![0.0; chunks * l.sizes.record_len], vec![0u64; view.scratch_size().unwrap() / 8 + 1]);
    view.learn_range(0, chunks, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
    (0..l.params.len()).map(|i| (0..chunks).map(|k| f64::from(grads[k * l.sizes.record_len + i])).sum()).collect()
}

fn near(got: &[f64], wanted: &[f64], what: &str) {
    let most = wanted.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    assert!(most > 1e-4, "{what}: there are gradients");
    for (i, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        assert!((got - wanted).abs() < 1e-4 * most + 1e-6, "{what} {i}: {got} {wanted}");
    }
}

/// The mean size of the first critic's values of the batch.
fn value_size(l: &Learner<'_>, params: &[f32], order: &[u32]) -> f64 {
    let (critic, store): (&Net<'_>, _) = (&l.sizes.critic, &l.replay.store);
    let sizes = order.iter().map(|slot| {
        let slot = *slot as usize;
        let input = [&store.obs[slot * OBS..][..OBS], &store.vector[slot * 2..][..2]].concat();
        let mut value = [0.0];
        let own = &params[l.sizes.net.param_len()..][..critic.param_len()];
        let outs = &mut [&mut value[..]];
        critic.infer(own, Input::F32(&input), 1, ALL, &mut [], &mut vec![0.0; 1 << 14], outs).unwrap();
        f64::from(value[0].abs())
    });
    sizes.sum::<f64>() / order.len() as f64
}

/// A batch's gradients with the term differ from those without it by its own, on kept demonstrations alone; with TD3 also by the
/// scale of values.
#[test]
fn imitation_beside_the_loss_off_policy_follows_its_formulas() {
    let dqn = config(Algorithm::Dqn);
    let sac = config(Algorithm::Sac);
    let atoms = Config { num_atoms: 7, value_min: -1.0, value_max: 2.0, ..dqn };
    for (name, c, acts) in [
        ("DQN", Config { imitation_margin: 0.3, ..dqn }, Acts::Choices),
        ("masked", Config { use_action_mask: 1, priority_exponent: 0.5, ..dqn }, Acts::Choices),
        ("dueling", Config { dueling: 1, ..dqn }, Acts::Choices),
        ("atoms", atoms, Acts::Choices),
        ("TD3", config(Algorithm::Td3), Acts::Numbers),
        ("SAC", sac, Acts::Numbers),
        ("SAC, with deviations", Config { imitation_fit_std: 1, ..sac }, Acts::Numbers),
        ("SAC of choices", Config { use_action_mask: 1, ..sac }, Acts::Choices),
        ("SAC of both", Config { imitation_fit_std: 1, ..sac }, Acts::Both),
    ] {
        let coef = 0.7;
        let c = Config { imitation_coef: coef, n_step: 2, ..c };
        let (mut with, mut host) = (made(&c, &[], acts), Host::new(acts));
        while open(&mut with).phase() != Phase::Learn {
            let shows = host_shows(&with);
            host.step(&mut open(&mut with), [1, 0, u8::from(shows)]);
        }
        let mut without = with.clone();
        // The weight may change between updates, not in them.
        let other = c.as_other(0.0);
        open(&mut without).state.due = 0;
        Learner::configure(bytemuck::cast_slice_mut(&mut without), &other).unwrap();
        open(&mut without).state.due = other.gradient_steps;
        for block in [&mut with, &mut without] {
            let mut l = open(block);
            l.learn_begin(None, None).unwrap();
            if c.needs().critics {
                let before = l.params.to_vec();
                l.learn(None, None, c.num_chunks).unwrap();
                if is_point(&c) {
                    let size = value_size(&l, &before, l.order);
                    assert!((f64::from(l.state.value_size) - size).abs() < 1e-5 * (1.0 + size), "{name}: {size}");
                }
            }
        }
        let (own, plain) = (open(&mut with), open(&mut without));
        let (params, order) = (own.params.to_vec(), own.order.to_vec());
        assert!(params.iter().eq(plain.params.iter()) && order.iter().eq(plain.order.iter()), "{name}");
        let scale = if is_point(&c) { 1.0 / f64::from(own.state.value_size) } else { 1.0 };
        let len = own.sizes.net.param_len();
        let got: Vec<f64> = gradients(&own)
            .iter()
            .zip(gradients(&plain))
            .map(|(a, b)| (a - scale * b) / f64::from(coef))
            .take(len)
            .collect();
        let s = own.replay.store.read();
        let (k, a) = (own.taken.n.len(), own.sizes.std_len);
        let rows: Vec<Row> = order
            .iter()
            .filter(|slot| **slot >= 50)
            .map(|slot| {
                let slot = *slot as usize;
                let masks = own.sizes.replay.own_masks;
                Row {
                    obs: s.obs[slot * OBS..][..OBS].to_vec(),
                    choice: s.choice[slot * k..][..k].to_vec(),
                    number: s.vector[slot * a..][..a].to_vec(),
                    mask: s.mask[slot * masks..][..masks].to_vec(),
                }
            })
            .collect();
        assert_eq!(rows.len(), 3, "{name}");
        near(&got, &twin(&own, &rows, &params), name);
    }
}

impl Config {
    fn as_other(&self, imitation_coef: f32) -> Config {
        Config { imitation_coef, ..*self }
    }
}

/// The same on policy, for rows that were drawn beside the minibatch.
#[test]
fn imitation_beside_the_loss_on_policy_follows_its_formulas() {
    for (name, c, acts) in [
        ("PPO", config(Algorithm::Ppo), Acts::Choices),
        ("masked", Config { use_action_mask: 1, ..config(Algorithm::Ppo) }, Acts::Choices),
        (
            "PPO of numbers",
            Config { log_std_init: -0.5, imitation_fit_std: 1, ..config(Algorithm::Ppo) },
            Acts::Numbers,
        ),
        ("A2C of numbers", config(Algorithm::A2c), Acts::Numbers),
        ("IMPALA", config(Algorithm::Impala), Acts::Choices),
        ("PQN", Config { hidden_norm: 0, ..config(Algorithm::Pqn) }, Acts::Choices),
    ] {
        let coef = 0.7;
        let c = Config { imitation_coef: coef, ..c };
        let (mut with, mut host) = (made(&c, &[], acts), Host::new(acts));
        let mut without = made(&c.as_other(0.0), &[], acts);
        let mut twin_host = Host::new(acts);
        while open(&mut with).phase() != Phase::Learn {
            host.step(&mut open(&mut with), [1, 0, 1]);
            twin_host.step(&mut open(&mut without), [1, 0, 1]);
        }
        let obs = host.obs();
        for block in [&mut with, &mut without] {
            open(block).learn_begin(Some(Elements::F32(&obs)), None).unwrap();
            View::attach(bytemuck::cast_slice(block)).unwrap();
        }
        let (own, plain) = (open(&mut with), open(&mut without));
        let got: Vec<f64> =
            gradients(&own).iter().zip(gradients(&plain)).map(|(a, b)| (a - b) / f64::from(coef)).collect();
        let len = own.sizes.net.param_len();
        assert!(plain.view().shown.rows().is_empty());
        let drawn = own.view().shown.rows().to_vec();
        // 0.3 of the 18 rows of a minibatch, rounded.
        assert!(drawn.len() == 5 && own.view().kept() == 12, "{name}");
        let rows: Vec<Row> = drawn
            .iter()
            .map(|row| {
                let (obs, choice, number) = &host.shown[*row as usize];
                let masks = own.sizes.masks;
                let mask = own.view().shown.mask[*row as usize * masks..][..masks].to_vec();
                Row { obs: obs.to_vec(), choice: choice.clone(), number: number.clone(), mask }
            })
            .collect();
        near(&got[..len], &twin(&own, &rows, own.params), name);
    }
}

/// The weight falls on a straight line to its end at `total_steps`.
#[test]
fn the_weight_decays_as_schedules_do() {
    let c = Config { imitation_coef: 0.8, imitation_coef_end: 0.2, total_steps: 200, ..config(Algorithm::Dqn) };
    let (mut block, mut host, mut seen) = (made(&c, &[], Acts::Choices), Host::new(Acts::Choices), 0);
    for t in 0..90 {
        let mut l = open(&mut block);
        host.step(&mut l, [u8::from(t < 5); N]);
        if l.phase() == Phase::Learn {
            l.learn_begin(None, None).unwrap();
            let wanted = 0.8 - 0.6 * (l.state.num_steps as f64 / 200.0).min(1.0);
            assert!((f64::from(l.state.imitation_coef) - wanted).abs() < 1e-6);
            l.learn(None, None, 0).unwrap();
            seen += 1;
        }
    }
    assert!(seen > 7 && open(&mut block).state.imitation_coef == 0.2);
}

/// Demonstrations go to the kept ones of another store while these have room, and else to its other transitions.
#[test]
fn another_store_takes_demonstrations_over() {
    for exponent in [0.0, 0.6] {
        let c = Config { priority_exponent: exponent, ..config(Algorithm::Sac) };
        let (mut from, mut host) = (made(&c, &[], Acts::Choices), Host::new(Acts::Choices));
        for t in 0..20 {
            let mut l = open(&mut from);
            host.step(&mut l, [u8::from(t < 14), 0, 0]);
            if l.phase() == Phase::Learn {
                l.learn_drop().unwrap();
            }
        }
        for (size, slots) in [(12, 100), (5, 100), (30, 20), (0, 200)] {
            let c = Config { demonstration_size: size, buffer_size: slots, ..c };
            let c = if size == 0 {
                Config { demonstration_share: Config::of(Algorithm::Sac).demonstration_share, ..c }
            } else {
                c
            };
            let mut to = made(&c, &[], Acts::Choices);
            let view = View::attach(bytemuck::cast_slice(&from)).unwrap();
            let (own, kept) = (view.stored(), view.kept());
            assert!(own > 30 && kept == 12);
            let mut l = open(&mut to);
            l.adopt(&view, STORE).unwrap();
            let most = size.min(12) as usize;
            assert_eq!(l.view().kept(), most);
            assert_eq!(l.view().stored(), (own + kept - most).min(slots as usize));
            let (there, here) = (&view.replay.store.obs[50 * OBS..], &l.replay.store.obs[slots as usize * OBS..]);
            assert!(there.iter().zip(here).take(most * OBS).all(|(a, b)| a == b));
            View::attach(bytemuck::cast_slice(&to)).unwrap();
        }
    }
}

/// Counts of demonstrations that there is no room for, and rows that were never shown, are refused.
#[test]
fn images_with_other_demonstrations_are_refused() {
    for (algorithm, acts) in [(Algorithm::Dqn, Acts::Choices), (Algorithm::Ppo, Acts::Choices)] {
        let c = Config { imitation_coef: 1.0, ..config(algorithm) };
        let (mut block, mut host) = (made(&c, &[], acts), Host::new(acts));
        host.step(&mut open(&mut block), [1; N]);
        host.step(&mut open(&mut block), [1; N]);
        assert!(open(&mut block).view().kept() >= 3);
        let spoils: [fn(&mut Learner<'_>); 5] = [
            |l| l.state.num_kept = 13,
            |l| l.state.begun_kept = l.state.num_kept + 1,
            |l| l.state.imitation_coef = f32::NAN,
            |l| l.state.value_size = -1.0,
            |l| match l.config.needs().replay {
                true => l.replay.store.choice[2 * 50] = 3,
                false => l.shown.choices[0] = 3,
            },
        ];
        for (i, spoil) in spoils.iter().enumerate() {
            let mut other = block.clone();
            spoil(&mut open(&mut other));
            let refused = View::attach(bytemuck::cast_slice(&other)).map(drop);
            assert_eq!(refused.unwrap_err().kind, Kind::Image, "{algorithm:?} {i}");
        }
        View::attach(bytemuck::cast_slice(&block)).unwrap();
    }
}
