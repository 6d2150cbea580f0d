//! The numbers of learners and policies by name: listed once, read, written and carried from one learner to another.

#![cfg(all(feature = "noisy", feature = "residual", feature = "unreal"))]

use crate::host::{Host, Tune, export, policy, train};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, NamedTensor, TensorsOf};
use rlcore::nn::{Activation, HEAD, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::Space;
use std::collections::HashMap;

const ALL: [TensorsOf; 4] = [TensorsOf::Params, TensorsOf::Targets, TensorsOf::FirstMoments, TensorsOf::SecondMoments];

fn name(tensor: &NamedTensor) -> String {
    let end = tensor.name.iter().position(|byte| *byte == 0).unwrap();
    assert!(tensor.name[end..].iter().all(|byte| *byte == 0));
    String::from_utf8(tensor.name[..end].to_vec()).unwrap()
}

fn list(h: &Host) -> Vec<NamedTensor> {
    let mut all = vec![bytemuck::Zeroable::zeroed(); h.view().tensors(&mut []).unwrap()];
    assert_eq!(h.view().tensors(&mut all).unwrap(), all.len());
    all
}

fn values(h: &Host, of: TensorsOf) -> Vec<f32> {
    let mut values = vec![f32::NAN; h.view().params().len()];
    h.view().read_tensors(of, &mut values).unwrap();
    values
}

/// Learners of all algorithms, with the names of their outputs.
fn hosts(seed: u64) -> Vec<(Host, Vec<&'static str>)> {
    let gru = [Layer::dense(5, Activation::Tanh), Layer::recurrent(LayerKind::Gru, 4)];
    let own = |algorithm| Config { num_envs: 2, seed, ..Config::of(algorithm).hidden(&[6, 20]) };
    let on = |algorithm| Config { num_steps: 4, num_minibatches: 1, ..own(algorithm) };
    let off = |algorithm| Config { train_interval: 4, ..own(algorithm).store(60, 8, 16) };
    let (obs, choices, numbers) = (Space::unbounded(4), Space::discrete(&[3, 2]), Space::unbounded(2));
    let remembers = |c: Config| Config { num_layers: 2, sequence_len: 4, ..c };
    let pictures = Config {
        obs_dims: [8, 8, 1],
        num_layers: 1,
        pixel_cell: 2,
        history_len: 20,
        reward_sequence_len: 2,
        ..on(Algorithm::Unreal)
    };
    let conv = [Layer::conv(3, [3, 3], [2, 2], Activation::Relu)];
    let dueling =
        Config { dueling: 1, num_shared: 1, num_atoms: 5, value_min: -1.0, value_max: 1.0, ..off(Algorithm::Dqn) };
    vec![
        (Host::with(&remembers(on(Algorithm::Ppo)), &gru, &obs, &choices), vec!["policy.head", "value.head"]),
        (
            Host::new(&Config { num_shared: 1, hidden_norm: 1, ..on(Algorithm::A2c) }, &obs, &numbers),
            vec!["policy.head", "value.head"],
        ),
        (
            Host::with(&pictures, &conv, &Space::bytes(64), &Space::discrete(&[3])),
            vec!["reward_class.head", "pixel_control.2"],
        ),
        (Host::new(&on(Algorithm::Pqn), &obs, &choices), vec!["q.head"]),
        (Host::new(&Config { noisy: 1, ..dueling }, &obs, &choices), vec!["q.head", "value.head"]),
        (
            Host::new(&Config { num_quantiles: 4, num_critics: 3, ..off(Algorithm::Sac) }, &obs, &numbers),
            vec!["deviation.head", "critics.2.head"],
        ),
        (Host::with(&remembers(off(Algorithm::Td3)), &gru, &obs, &numbers), vec!["policy.head", "critics.1.layers.1"]),
        (Host::new(&off(Algorithm::Sac), &obs, &choices), vec!["policy.head", "critics.0.head"]),
        (Host::new(&Config { num_envs: 1, ..own(Algorithm::StreamAc) }, &obs, &choices), vec!["policy.0", "value.2"]),
    ]
}

#[test]
fn every_number_has_one_name_and_comes_back_by_it() {
    for ((mut h, heads), (mut other, _)) in hosts(1).into_iter().zip(hosts(2)) {
        train(&mut h, &mut Rng::seeded(5), 2);
        let all = list(&h);
        let names: HashMap<String, &NamedTensor> = all.iter().map(|tensor| (name(tensor), tensor)).collect();
        assert_eq!(names.len(), all.len());
        for head in heads {
            assert!(names.keys().any(|name| name.starts_with(head)), "{head}: {:?}", names.keys());
        }
        let mut end = 0;
        for tensor in &all {
            assert_eq!(tensor.offset as usize, end);
            end += tensor.len();
        }
        assert_eq!(end, h.view().params().len());
        // The layers that run are those of the tensors.
        let layers = [h.view().layers(false).collect::<Vec<_>>(), h.view().layers(true).collect()];
        for tensor in all.iter().filter(|tensor| name(tensor).contains(".head")) {
            assert!(
                layers[tensor.network.min(1) as usize][tensor.layer as usize].flags & HEAD != 0,
                "{}",
                name(tensor)
            );
        }
        // One after another, in any order, into a learner with other parameters.
        for of in ALL {
            let mut room = vec![0.0; end];
            if let Err(error) = h.view().read_tensors(of, &mut room) {
                assert_eq!(error.kind, Kind::Disabled);
                assert_eq!(other.learner().write_tensors(of, &all, &room).unwrap_err().kind, Kind::Disabled);
                continue;
            }
            let from = values(&h, of);
            for tensor in all.iter().rev() {
                other.learner().write_tensors(of, &[*tensor], &from).unwrap();
            }
            assert!(values(&other, of) == from, "{of:?}");
        }
        let targets = values(&other, TensorsOf::Params);
        assert!(other.view().params() == h.view().params());
        // Parameters carry the targets along.
        other.learner().write_tensors(TensorsOf::Params, &[], &[]).unwrap();
        let mut room = vec![0.0; end];
        if other.view().read_tensors(TensorsOf::Targets, &mut room).is_ok() {
            assert!(room == targets);
        }
    }
}

/// A layer that sees a whole picture has the weights of its input in the order channels, height, width, and all others as they
/// are, also those with as many columns as the picture has elements.
#[test]
fn only_weights_of_the_input_are_in_the_order_of_pictures() {
    const LEN: usize = 12;
    let units = LEN as u32;
    let layers = [
        (Layer::recurrent(LayerKind::Gru, units), 4),
        (Layer::recurrent(LayerKind::Lstm, units), 4),
        (Layer::attention(units, 2, units), 4),
        (Layer::dense(units, Activation::Tanh), 0),
    ];
    for (layer, sequence_len) in layers {
        let own = Config { num_envs: 2, num_steps: 4, num_minibatches: 1, seed: 3, ..Config::default() };
        let own = Config { num_layers: 1, sequence_len, ..own };
        let [flat, picture] = [[0; 3], [2, 2, 3]].map(|obs_dims| {
            let config = Config { obs_dims, ..own.hidden(&[5]) };
            let h = Host::with(&config, &[layer], &Space::unbounded(LEN as u32), &Space::discrete(&[3]));
            let values = values(&h, TensorsOf::Params);
            list(&h)
                .iter()
                .map(|tensor| (name(tensor), values[tensor.offset as usize..][..tensor.len()].to_vec()))
                .collect::<Vec<_>>()
        });
        let mut turned = 0;
        for ((name, flat), (other, picture)) in flat.iter().zip(&picture) {
            assert_eq!(name, other);
            let is_of_input = name.starts_with("layers.0.")
                && ["0.weight", "weight_ih", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
                    .iter()
                    .any(|end| name.ends_with(end));
            let wanted = if is_of_input {
                let row = |row: &[f32]| (0..LEN).map(|i| row[i % 4 * 3 + i / 4]).collect::<Vec<f32>>();
                flat.chunks_exact(LEN).flat_map(row).collect()
            } else {
                flat.clone()
            };
            assert_eq!(*picture, wanted, "{name}");
            turned += usize::from(is_of_input && *picture != *flat);
        }
        assert!(turned > 0, "{:?}", flat.iter().map(|(name, _)| name).collect::<Vec<_>>());
    }
}

#[test]
fn policies_have_the_tensors_of_their_learners() {
    for (mut h, _) in hosts(1) {
        train(&mut h, &mut Rng::seeded(5), 2);
        let (block, of_learner) = (export(&h.view()), values(&h, TensorsOf::Params));
        let policy = policy(&block);
        let mut all = vec![bytemuck::Zeroable::zeroed(); policy.tensors(&mut []).unwrap()];
        policy.tensors(&mut all).unwrap();
        let mut own = vec![f32::NAN; all.iter().map(NamedTensor::len).sum()];
        policy.read_tensors(&mut own).unwrap();
        assert_eq!(policy.layers().count(), policy.config().num_layers as usize);
        let names: HashMap<String, NamedTensor> = list(&h).iter().map(|tensor| (name(tensor), *tensor)).collect();
        let mut same = 0;
        for tensor in &all {
            let Some(there) = names.get(&name(tensor)) else {
                panic!("{} of {:?}: {:?}", name(tensor), h.config.algorithm(), names.keys())
            };
            let replaced = h.config.buffer_size > 0 && name(tensor) == "log_std";
            if there.dims != tensor.dims || replaced {
                continue; // outputs of distributions, which the policy has the means of; deviations that nothing reads
            }
            let at = |tensor: &NamedTensor| tensor.offset as usize..tensor.offset as usize + tensor.len();
            assert!(own[at(tensor)] == of_learner[at(there)], "{}", name(tensor));
            same += 1;
        }
        assert!(same >= all.len() - 2, "{same} of {}", all.len());
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let (mut h, _) = hosts(1).swap_remove(5);
    let (all, of) = (list(&h), TensorsOf::Params);
    let (before, from) = (h.block.clone(), vec![0.5; h.view().params().len()]);
    let with = |spoil: &dyn Fn(&mut NamedTensor)| {
        let mut list = all[..3].to_vec();
        spoil(&mut list[2]);
        list
    };
    let long = with(&|tensor| tensor.name = [b'x'; 48]);
    for (list, values, kind) in [
        (with(&|tensor| tensor.name[0] = b'P'), &from[..], Kind::Config),
        (long, &from, Kind::Config),
        (with(&|tensor| tensor.name = [0; 48]), &from, Kind::Config),
        (with(&|tensor| tensor.dims[0] += 1), &from, Kind::Shape),
        (with(&|tensor| tensor.rank = 4), &from, Kind::Shape),
        (with(&|tensor| tensor.offset = u64::MAX), &from, Kind::Range),
        (with(&|_| ()), &from[..all[2].offset as usize], Kind::Range),
    ] {
        assert_eq!(h.learner().write_tensors(of, &list, values).unwrap_err().kind, kind);
        assert_eq!(h.block, before);
    }
    for (of, value) in [
        (TensorsOf::Params, f32::NAN),
        (TensorsOf::Targets, 2e6),
        (TensorsOf::FirstMoments, f32::INFINITY),
        (TensorsOf::SecondMoments, -1.0),
    ] {
        let mut values = from.clone();
        values[all[2].offset as usize] = value;
        assert_eq!(h.learner().write_tensors(of, &all[..3], &values).unwrap_err().kind, Kind::Value, "{of:?}");
        assert_eq!(h.block, before);
    }
    let (mut h, _) = hosts(1).swap_remove(1);
    let all = list(&h);
    let log_std: Vec<NamedTensor> = all.into_iter().filter(|tensor| name(tensor) == "log_std").collect();
    assert_eq!(log_std.len(), 1);
    let mut values = vec![0.0; h.view().params().len()];
    values[log_std[0].offset as usize] = h.config.log_std_max + 1.0;
    assert_eq!(h.learner().write_tensors(TensorsOf::Params, &log_std, &values).unwrap_err().kind, Kind::Value);
    let short = h.view().read_tensors(TensorsOf::Params, &mut values[1..]).unwrap_err();
    assert_eq!(short.kind, Kind::Shape);
}
