//! Frozen tensors: learning leaves them as they are, and everything else learns as if their gradients were 0.

#![cfg(all(feature = "attention", feature = "noisy", feature = "residual", feature = "stream", feature = "unreal"))]

use crate::host::every::{Made, every};
use crate::host::{Array, Host, Tune, attach, chunks, export, record, refuses, same_in_parts, train};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Imitation, Learner, NamedTensor, TensorsOf, View, adopt};
use rlcore::nn::{Layer, LayerKind, NORMALIZED};
use rlcore::rng::Rng;
use rlcore::space::Space;

const MOMENTS: [TensorsOf; 2] = [TensorsOf::FirstMoments, TensorsOf::SecondMoments];

/// Every learner, and those of layers whose tensors lie among each other; of every optimizer, with a norm that clips.
fn all() -> Vec<Made> {
    let (obs, choices, numbers) = (Space::unbounded(4), Space::discrete(&[3, 2]), Space::unbounded(2));
    let own = |algorithm, optimizer| Config {
        num_envs: 2,
        num_chunks: 2,
        num_layers: 1,
        sequence_len: 4,
        optimizer,
        ..Config::of(algorithm).hidden(&[6])
    };
    let on = |optimizer| Config { num_steps: 8, num_minibatches: 2, num_epochs: 2, ..own(Algorithm::Ppo, optimizer) };
    let attention = vec![Layer::attention(4, 2, 3)];
    let lstm = vec![Layer { flags: NORMALIZED, ..Layer::recurrent(LayerKind::Lstm, 3) }];
    let sac = Config { train_interval: 6, gradient_steps: 2, ..own(Algorithm::Sac, 5).store(60, 8, 16) };
    let more = vec![
        (Config { num_shared: 1, ..on(2) }, attention.clone(), obs, numbers),
        (on(3), attention.clone(), obs, choices),
        (Config { rms_momentum: 0.5, ..on(2) }, lstm.clone(), obs, choices),
        (on(4), lstm, obs, numbers),
        (sac, attention, obs, numbers),
    ];
    let clipped = |made: Made| {
        let other = Config { max_grad_norm: 0.05, ..made.0 };
        let fits = Learner::size(&other, &made.1, &made.2, &made.3).is_ok();
        if fits { (other, made.1, made.2, made.3) } else { made }
    };
    every().into_iter().chain(more).map(clipped).collect()
}

fn stores(config: &Config) -> bool {
    matches!(config.algorithm(), Algorithm::Dqn | Algorithm::Td3 | Algorithm::Sac)
}

fn host((config, layers, obs, action): &Made) -> Host {
    Host::with(config, layers, obs, action)
}

fn name(tensor: &NamedTensor) -> String {
    let end = tensor.name.iter().position(|byte| *byte == 0).unwrap();
    String::from_utf8(tensor.name[..end].to_vec()).unwrap()
}

fn list(h: &Host) -> Vec<NamedTensor> {
    let mut all = vec![bytemuck::Zeroable::zeroed(); h.view().tensors(&mut []).unwrap()];
    h.view().tensors(&mut all).unwrap();
    all
}

/// The numbers of all tensors, in their order; empty if the learner has none of this kind.
fn values(h: &Host, of: TensorsOf) -> Vec<f32> {
    let mut values = vec![f32::NAN; h.view().params().len()];
    if h.view().read_tensors(of, &mut values).is_ok() { values } else { Vec::new() }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// The numbers of tensors that are frozen, or of the others.
fn part(h: &Host, tensors: &[NamedTensor], of: TensorsOf, frozen: bool) -> Vec<f32> {
    let values = values(h, of);
    let own = tensors.iter().filter(|tensor| !values.is_empty() && (tensor.frozen != 0) == frozen);
    own.flat_map(|tensor| values[tensor.offset as usize..][..tensor.len()].to_vec()).collect()
}

fn set(h: &mut Host, pattern: &str, trainable: bool) -> usize {
    h.learner().set_trainable(pattern.as_bytes(), trainable).unwrap()
}

/// Each tensor alone, each layer, each network's layers of one kind, the heads, and all.
fn patterns(tensors: &[NamedTensor]) -> Vec<String> {
    let mut all: Vec<String> = tensors.iter().map(name).collect();
    let layers: Vec<String> = all.iter().filter_map(|name| Some(format!("{}.*", name.rsplit_once('.')?.0))).collect();
    all.extend(layers);
    all.extend(["*head*", "*.weight*", "*bias*", "*"].map(String::from));
    all.extend(tensors.iter().filter(|tensor| tensor.network == 1).take(1).map(|_| String::from("critics.*")));
    all.sort();
    all.dedup();
    all.retain(|pattern| tensors.iter().any(|tensor| pattern_fits(pattern, &name(tensor))));
    all
}

/// Stars at the ends, or nowhere.
fn pattern_fits(pattern: &str, name: &str) -> bool {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (false, false) => name == inner,
        (true, false) => name.ends_with(inner),
        (false, true) => name.starts_with(inner),
        (true, true) => name.contains(inner),
    }
}

/// Where the parameters of frozen tensors lie among all: those that are written as marks, and read back.
fn places(h: &Host, tensors: &[NamedTensor]) -> Vec<bool> {
    let mut marked = h.clone();
    let frozen: Vec<NamedTensor> = tensors.iter().filter(|tensor| tensor.frozen != 0).copied().collect();
    let zeros = vec![0.0; h.view().params().len()];
    let mut ones = zeros.clone();
    marked.learner().write_tensors(TensorsOf::FirstMoments, tensors, &zeros).unwrap();
    ones.fill(1.0);
    marked.learner().write_tensors(TensorsOf::FirstMoments, &frozen, &ones).unwrap();
    let with = |block: &[u64]| bytemuck::cast_slice::<u64, u32>(block).to_vec();
    let mut plain = h.clone();
    plain.learner().write_tensors(TensorsOf::FirstMoments, tensors, &zeros).unwrap();
    ones.fill(1.0);
    let mut whole = h.clone();
    whole.learner().write_tensors(TensorsOf::FirstMoments, tensors, &ones).unwrap();
    // The moments are all words of the block that differ between zeros and ones.
    let (plain, whole, marked) = (with(&plain.block), with(&whole.block), with(&marked.block));
    let one = 1.0f32.to_bits();
    let places: Vec<bool> =
        (0..plain.len()).filter(|at| plain[*at] == 0 && whole[*at] == one).map(|at| marked[at] == one).collect();
    assert_eq!(places.len(), h.view().params().len());
    places
}

/// An update whose gradients of these parameters are zeroed by hand; without `places` they stay.
fn update_by_hand(h: &mut Host, rng: &mut Rng, places: Option<&[bool]>, mut other: Option<&mut Host>) {
    if let Some(other) = &mut other {
        let last = record(other, &mut rng.clone());
        other.learner().learn_begin(last.get(), None).unwrap();
    }
    let last = record(h, rng);
    h.learner().learn_begin(last.get(), None).unwrap();
    while h.learner().stats().minibatches_left > 0 {
        let count = h.config.num_chunks as usize;
        let mut grads = chunks(h, 0, count);
        if let Some(other) = &mut other {
            // Gradients that another learner computed, which has nothing frozen.
            other.learner().write_grads(0, count, &grads).unwrap();
            other.learner().learn_apply().unwrap();
        }
        let len = h.view().grads_len();
        for record in grads.chunks_mut(len) {
            for (x, frozen) in record.iter_mut().zip(places.unwrap_or_default()) {
                *x = if *frozen { 0.0 } else { *x };
            }
        }
        h.learner().write_grads(0, count, &grads).unwrap();
        h.learner().learn_apply().unwrap();
    }
}

/// The learner with all of it that differs from another made alike: flags, and moments of frozen tensors.
fn assert_alike(h: &Host, twin: &Host, tensors: &[NamedTensor], what: &str) {
    for of in [TensorsOf::Params, TensorsOf::Targets] {
        assert!(values(h, of) == values(twin, of), "{what}: {of:?}");
    }
    for of in MOMENTS {
        assert!(bits(&part(h, tensors, of, false)) == bits(&part(twin, tensors, of, false)), "{what}: {of:?}");
    }
    assert_eq!(format!("{:?}", h.view().stats()), format!("{:?}", twin.view().stats()), "{what}");
}

#[test]
fn all_else_learns_as_if_the_gradients_of_frozen_tensors_were_zero() {
    let (mut frozen_sets, mut changed) = (0, 0);
    for made_with in all() {
        let mut trained = host(&made_with);
        train(&mut trained, &mut Rng::seeded(5), 1);
        for pattern in patterns(&list(&trained)) {
            let what = format!("{:?}, {pattern}", trained.config.algorithm());
            let mut h = trained.clone();
            let count = set(&mut h, &pattern, false);
            let tensors = list(&h);
            let fits = |tensor: &&NamedTensor| pattern_fits(&pattern, &name(tensor));
            assert_eq!(tensors.iter().filter(fits).count(), count, "{what}");
            assert!(tensors.iter().all(|tensor| (tensor.frozen == 1) == fits(&tensor)), "{what}");
            let places = places(&trained, &tensors);

            // A twin of which nothing is frozen, but whose moments and gradients of these tensors are 0.
            let mut twin = trained.clone();
            let own: Vec<NamedTensor> = tensors.iter().filter(|tensor| tensor.frozen != 0).copied().collect();
            let zeros = vec![0.0; places.len()];
            for of in MOMENTS.into_iter().filter(|of| !values(&trained, *of).is_empty()) {
                twin.learner().write_tensors(of, &own, &zeros).unwrap();
            }
            let mut server = h.clone();
            let before = [TensorsOf::Params, MOMENTS[0], MOMENTS[1]].map(|of| bits(&part(&h, &tensors, of, true)));
            let (mut rng, mut other) = (Rng::seeded(6), Rng::seeded(6));
            for _ in 0..2 {
                // The gradients that leave a learner are 0 there too.
                let mut begun = h.clone();
                let last = record(&mut begun, &mut rng.clone());
                begun.learner().learn_begin(last.get(), None).unwrap();
                let record_len = begun.view().grads_len();
                for record in chunks(&begun, 0, h.config.num_chunks as usize).chunks(record_len) {
                    assert!(record.iter().zip(&places).all(|(x, frozen)| !frozen || x.to_bits() == 0), "{what}");
                }
                train(&mut h, &mut rng, 1);
                update_by_hand(&mut twin, &mut other, Some(&places), Some(&mut server));
                assert_alike(&h, &twin, &tensors, &what);
                assert!(h.block == server.block, "{what}: gradients from elsewhere");
            }
            let cut = h.config.algorithm() == Algorithm::StreamAc || h.config.algorithm() == Algorithm::StreamQ;
            for (of, before) in [TensorsOf::Params, MOMENTS[0], MOMENTS[1]].into_iter().zip(before) {
                let now = bits(&part(&h, &tensors, of, true));
                // Traces rest until they end.
                let ended = cut && of == MOMENTS[0] && now.iter().all(|x| *x == 0);
                assert!(now == before || ended, "{what}: {of:?}");
            }
            frozen_sets += 1;

            // They learn again.
            let kept = values(&h, TensorsOf::Params);
            assert_eq!(set(&mut h, &pattern, true), count);
            assert!(list(&h).iter().all(|tensor| tensor.frozen == 0));
            train(&mut h, &mut Rng::seeded(7), 2);
            let now = values(&h, TensorsOf::Params);
            let moved = |tensor: &NamedTensor| {
                let at = tensor.offset as usize..tensor.offset as usize + tensor.len();
                now[at.clone()] != kept[at]
            };
            changed += usize::from(own.iter().any(moved));
        }
    }
    assert!(frozen_sets > 300 && changed * 20 > frozen_sets * 19, "{changed} of {frozen_sets}");
}

#[test]
fn updates_are_the_same_in_parts_by_threads_and_after_copies() {
    for (c, layers, obs, action) in all() {
        let config = Config { num_envs: 7, num_chunks: 7, ..c };
        let config = match c.algorithm() {
            Algorithm::StreamAc | Algorithm::StreamQ => continue, // one row and one chunk
            _ if stores(&c) => Config { train_interval: 14, ..config.store(150, 56, 60) },
            Algorithm::Ppo | Algorithm::Pqn => Config { num_minibatches: 1, num_epochs: 2, ..config },
            _ => Config { num_minibatches: 1, ..config },
        };
        for pattern in ["*.0.*", "*weight*", "*"] {
            let mut h = Host::with(&config, &layers, &obs, &action);
            train(&mut h, &mut Rng::seeded(5), 1);
            set(&mut h, pattern, false);
            same_in_parts(h, 2, &format!("{:?}, {pattern}", c.algorithm()));
        }
    }
}

#[test]
fn a_learner_of_which_all_is_frozen_stays_as_it_is() {
    for made_with in all() {
        let mut h = host(&made_with);
        train(&mut h, &mut Rng::seeded(5), 1);
        let all = list(&h).len();
        assert_eq!(set(&mut h, "*", false), all);
        let before = [TensorsOf::Params, MOMENTS[1]].map(|of| bits(&values(&h, of)));
        train(&mut h, &mut Rng::seeded(6), 3);
        let after = [TensorsOf::Params, MOMENTS[1]].map(|of| bits(&values(&h, of)));
        assert!(before == after, "{:?}", h.config.algorithm());
        let stats = h.view().stats();
        assert_eq!((stats.grad_norm, stats.num_dropped), (0.0, 0), "{:?}", h.config.algorithm());
        // Targets come closer to parameters that rest, or are copies.
        let apart = |h: &Host| -> f64 {
            let (params, targets) = (values(h, TensorsOf::Params), values(h, TensorsOf::Targets));
            params.iter().zip(targets).map(|(a, b)| f64::from(a - b).abs()).sum()
        };
        let begun = apart(&h);
        train(&mut h, &mut Rng::seeded(7), 20);
        assert!(apart(&h) <= begun, "{:?}", h.config.algorithm());
        attach(&mut h.block);
    }
}

/// Adam's step after clipping to a norm of the trained gradients, by the formulas in f64.
#[test]
fn norms_are_those_of_trained_parameters() {
    let config = Config {
        num_envs: 2,
        num_steps: 8,
        num_minibatches: 1,
        num_epochs: 1,
        max_grad_norm: 0.02,
        ..Config::of(Algorithm::Ppo).hidden(&[6]).rate(0.01)
    };
    for pattern in ["policy.*", "value.0.weight", "*head*", "*bias"] {
        let mut h = Host::new(&config, &Space::unbounded(4), &Space::discrete(&[3]));
        set(&mut h, pattern, false);
        let tensors = list(&h);
        let places = places(&h, &tensors);
        let last = record(&mut h, &mut Rng::seeded(3));
        h.learner().learn_begin(last.get(), None).unwrap();
        let grads = chunks(&h, 0, 1);
        let before = h.view().params().to_vec();
        h.learner().learn(None, None, 0).unwrap();
        let norm = grads[..before.len()].iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        assert!((f64::from(h.view().stats().grad_norm) - norm).abs() < 1e-6 * norm, "{pattern}");
        let scale = (f64::from(config.max_grad_norm) / (norm + 1e-6)).min(1.0);
        assert!(scale < 1.0, "{pattern}: nothing is clipped");
        let epsilon = f64::from(config.adam_epsilon);
        for ((p, (old, g)), frozen) in h.view().params().iter().zip(before.iter().zip(&grads)).zip(&places) {
            // Corrected moments of the first step are the gradient and its square.
            let g = f64::from(*g) * scale;
            let wanted = f64::from(*old) - 0.01 * g / (g.abs() + epsilon);
            assert!((f64::from(*p) - wanted).abs() < 1e-6, "{pattern}: {p} {wanted}");
            assert!(!frozen || p.to_bits() == old.to_bits());
        }
        assert!(places.iter().any(|x| *x) && places.iter().any(|x| !*x));
    }
}

/// Rows of a host for a step of imitation.
fn rows(h: &Host, rng: &mut Rng) -> (Array, Array) {
    let (obs, mut action) = (h.draw_seen(rng), h.actions());
    match &mut action {
        Array::I32(x) => {
            for (k, x) in x.iter_mut().enumerate() {
                *x = rng.bounded(u64::from(h.choices[k % h.choices.len()]) - 1) as i32;
            }
        }
        Array::F32(x) => x.fill_with(|| rng.uniform_f32() - 0.5),
        Array::U8(_) => {}
    }
    (obs, action)
}

fn imitate(h: &mut Host, (obs, action): &(Array, Array)) -> Result<f32> {
    let num_rows = h.n;
    let learns_q = matches!(h.config.algorithm(), Algorithm::Dqn | Algorithm::Pqn | Algorithm::StreamQ);
    h.learner().imitate(&Imitation {
        num_rows,
        num_steps: 1,
        obs: obs.get(),
        mask: None,
        action: Some(action.get()),
        prob: None,
        weight: None,
        reset: &[],
        margin: if learns_q { 50.0 } else { 0.0 },
        fit_std: false,
    })
}

/// Without a limit of the norm every number's step is its own.
#[test]
fn imitation_leaves_frozen_tensors_as_they_are() {
    for (c, layers, obs, action) in every() {
        let streams = matches!(c.algorithm(), Algorithm::StreamAc | Algorithm::StreamQ);
        let config = match c.algorithm() {
            Algorithm::StreamAc => Config { kappa_policy: 0.0, ..c },
            Algorithm::StreamQ => Config { kappa_value: 0.0, ..c },
            _ => Config { max_grad_norm: 0.0, ..c },
        };
        let mut trained = Host::with(&config, &layers, &obs, &action);
        train(&mut trained, &mut Rng::seeded(5), 1);
        let mut moved = 0;
        for pattern in patterns(&list(&trained)) {
            let (mut h, mut free) = (trained.clone(), trained.clone());
            set(&mut h, &pattern, false);
            let tensors = list(&h);
            let before = part(&h, &tensors, TensorsOf::Params, true);
            let mut rng = Rng::seeded(9);
            let given = rows(&h, &mut rng);
            let costs = [&mut h, &mut free].map(|h| imitate(h, &given).unwrap());
            assert_eq!(costs[0].to_bits(), costs[1].to_bits());
            let what = format!("{:?}, {pattern}", c.algorithm());
            assert!(bits(&part(&h, &tensors, TensorsOf::Params, true)) == bits(&before), "{what}");
            for of in [TensorsOf::Params, MOMENTS[0], MOMENTS[1]] {
                let own = [&h, &free].map(|h| bits(&part(h, &tensors, of, false)));
                assert!(own[0] == own[1], "{what}: {of:?}");
            }
            if !streams {
                let own = MOMENTS.map(|of| [&h, &trained].map(|h| bits(&part(h, &tensors, of, true))));
                assert!(own.iter().all(|[now, before]| now == before), "{what}");
            }
            moved += usize::from(part(&free, &tensors, TensorsOf::Params, true) != before);
        }
        assert!(moved > 3, "{:?}", c.algorithm());
    }
}

#[test]
fn flags_belong_to_the_block() {
    let every = every();
    let mut h = host(&every[0]);
    let mut plain = h.clone();
    let policy = export(&h.view());
    set(&mut h, "layers.*", false);
    assert!(export(&h.view()) == policy);
    let flags: Vec<u32> = list(&h).iter().map(|tensor| tensor.frozen).collect();
    let is = |h: &Host| list(h).iter().map(|tensor| tensor.frozen).eq(flags.iter().copied());
    assert!(is(&h) && !is(&plain) && flags.contains(&0));
    // Another configuration leaves them, another optimizer too.
    for other in [Config { discount: 0.5, ..h.config }, Config { optimizer: 3, rms_decay: 0.9, ..h.config }] {
        Learner::configure(bytemuck::cast_slice_mut(&mut h.block), &other).unwrap();
        assert!(is(&h));
    }
    // What others learned goes into frozen tensors too, and nothing of theirs is frozen by it, or here.
    train(&mut plain, &mut Rng::seeded(5), 1);
    let from = plain.clone();
    h.learner().adopt(&from.view(), adopt::PARAMS).unwrap();
    assert!(is(&h) && h.view().params() == from.view().params());
    let tensors = list(&h);
    let from = values(&plain, TensorsOf::Params).iter().map(|x| x * 0.5).collect::<Vec<f32>>();
    h.learner().write_tensors(TensorsOf::Params, &tensors, &from).unwrap();
    assert!(is(&h) && values(&h, TensorsOf::Params) == from);
    plain.learner().adopt(&h.view(), adopt::PARAMS).unwrap();
    assert!(!is(&plain) && list(&plain).iter().all(|tensor| tensor.frozen == 0));
    let params = plain.view().params().to_vec();
    h.learner().write_params(&params).unwrap();
    assert!(is(&h) && h.view().params() == params);
    // Both ways leave the block as it was.
    let before = plain.block.clone();
    set(&mut plain, "*", false);
    set(&mut plain, "*", true);
    assert!(plain.block == before);
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    for made_with in every() {
        let mut h = host(&made_with);
        for pattern in ["", "layers.0", "policy", "head", "*x", "Policy.*", "*\u{0}*"] {
            refuses(&mut h, Kind::Config, pattern, |l| l.set_trainable(pattern.as_bytes(), false).map(drop));
        }
        let last = record(&mut h, &mut Rng::seeded(4));
        set(&mut h, "*.bias", false);
        h.learner().learn_begin(last.get(), None).unwrap();
        for trainable in [false, true] {
            refuses(&mut h, Kind::NotReady, "an update runs", |l| l.set_trainable(b"*", trainable).map(drop));
        }
        h.learner().learn(None, None, 0).unwrap();
        set(&mut h, "*", false);
        if !stores(&h.config) {
            let grads = vec![0.0; h.view().grads_len()];
            h.learner().add_grads(0, 1, &grads).unwrap();
            refuses(&mut h, Kind::NotReady, "gradients wait", |l| l.set_trainable(b"*", true).map(drop));
        }
    }
}

/// Each flag of a block takes each value: attach accepts those of tensors that there are, and learning goes on.
#[test]
fn flags_of_other_tensors_are_refused() {
    for made_with in every() {
        let mut h = host(&made_with);
        train(&mut h, &mut Rng::seeded(5), 1);
        let mut frozen = h.clone();
        set(&mut frozen, "*", false);
        let bytes = |h: &Host| bytemuck::cast_slice::<u64, u8>(&h.block).to_vec();
        let flags: Vec<(usize, u8)> = bytes(&h)
            .iter()
            .zip(bytes(&frozen))
            .enumerate()
            .filter(|(_, (before, after))| **before != *after)
            .map(|(at, (_, after))| (at, after))
            .collect();
        let count: u32 = flags.iter().map(|(_, bits)| bits.count_ones()).sum();
        assert_eq!(count as usize, list(&h).len(), "one bit for each tensor");
        for (at, all) in flags {
            for value in [0, 1, 2, 3, all, all.wrapping_add(1), 1 << 6, 1 << 7, 255] {
                let mut forged = h.clone();
                bytemuck::cast_slice_mut::<u64, u8>(&mut forged.block)[at] = value;
                let accepted = View::attach(bytemuck::cast_slice(&forged.block)).is_ok();
                assert_eq!(accepted, value & !all == 0, "{value} of {all}");
                if accepted {
                    let own: u32 = list(&forged).iter().map(|tensor| tensor.frozen).sum();
                    assert_eq!(own, value.count_ones());
                    train(&mut forged, &mut Rng::seeded(6), 1);
                }
            }
        }
    }
}
