//! Chunks of minibatches computed by threads, and the data that learners exchange: gradients, parameters and rollouts.

use crate::host::stores::over_stores;
use crate::host::{Array, Columns, Host, Tune, chunks, config, record, recurrent, refuses, spaces, threads, train};
use rlcore::error::Kind;
use rlcore::learn::{Batch, Config, Phase, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

/// Learners of all spaces, with every input that a chunk can read, and of every recurrent layer.
fn hosts(num_chunks: u32) -> impl Iterator<Item = Host> {
    let plain = spaces().into_iter().map(|spaces| (None, spaces));
    let recurrent = recurrent().into_iter().map(Some).zip(spaces().into_iter().cycle().skip(1));
    plain.chain(recurrent).enumerate().map(move |(k, (layer, (obs, action)))| {
        let masked = u32::from(action.kind == Element::I32);
        let config = Config {
            num_envs: 5,
            num_chunks,
            num_layers: layer.is_some().into(),
            sequence_len: if layer.is_some() { 3 } else { 0 },
            normalize_obs: (k % 2) as u32,
            use_action_mask: masked,
            value_clip: [0.0, 0.2][k % 2],
            overlap: (k / 2 % 2) as u32,
            ..config().rollout(if layer.is_some() { 27 } else { 9 }, 3, 2)
        };
        Host::with(&config, layer.as_slice(), &obs, &action)
    })
}

#[test]
fn chunks_that_threads_make_leave_the_bytes_of_learn() {
    for mut whole in hosts(7).chain(over_stores(7, 0)) {
        let mut rng = Rng::seeded(4);
        train(&mut whole, &mut rng, 1);
        let obs = record(&mut whole, &mut rng);
        let due = whole.clone();
        whole.learner().learn(Some(obs.get()), None, 0).unwrap();
        for num_threads in [1, 2, 3, 7] {
            let mut h = due.clone();
            let mut stats = h.learner().learn_begin(obs.get(), None).unwrap();
            while stats.minibatches_left > 0 {
                let before = h.clone();
                let grads = threads(&h, num_threads);
                assert!(h.block == before.block);
                h.learner().write_grads(0, 7, &grads).unwrap();
                let (left, dropped) = (stats.minibatches_left, stats.num_dropped);
                stats = h.learner().learn_apply().unwrap();
                assert!(
                    stats.minibatches_left == left - 1
                        || (h.config.policy_interval == 2 && stats.minibatches_left == left)
                );
                assert_eq!(stats.num_dropped, dropped);
            }
            assert!(h.block == whole.block, "{num_threads} threads");
        }
        // Slices of one chunk; and some chunks computed outside in any order, the others by `learn`.
        let (mut sliced, mut mixed) = (due.clone(), due);
        let mut stats = sliced.learner().learn(Some(obs.get()), None, 1).unwrap();
        while stats.minibatches_left > 0 {
            stats = sliced.learner().learn(None, None, 1).unwrap();
        }
        assert!(sliced.block == whole.block, "slices");
        mixed.learner().learn_begin(obs.get(), None).unwrap();
        while mixed.learner().stats().minibatches_left > 0 {
            for chunk in [6, 1, 4] {
                let grads = chunks(&mixed, chunk, chunk + 1);
                mixed.learner().write_grads(chunk, chunk + 1, &grads).unwrap();
            }
            let before = mixed.learner().stats().minibatches_left;
            assert_eq!(mixed.learner().learn(None, None, 3).unwrap().minibatches_left, before);
            mixed.learner().learn(None, None, 1).unwrap();
        }
        assert!(mixed.block == whole.block, "some here, some there");
    }
}

/// Gradients are read as written, sums are exact, and unfinished chunks cannot be read.
#[test]
fn gradients_are_read_written_and_added() {
    for mut h in hosts(3) {
        let mut rng = Rng::seeded(9);
        let len = h.view().grads_len();
        assert_eq!(len, h.learner().params().len() + 8);
        let mut draw = || (0..3 * len).map(|_| rng.uniform_f32() - 0.5).collect::<Vec<f32>>();
        let (first, second) = (draw(), draw());
        let read = |h: &mut Host, begin: usize, end: usize| {
            let mut grads = vec![f32::NAN; (end - begin) * len];
            let done = h.view().read_grads(begin, end, &mut grads);
            assert!(done.is_ok() || grads.iter().all(|x| x.is_nan()));
            done.map(|()| grads).map_err(|e| e.kind)
        };
        assert_eq!(read(&mut h, 0, 1), Err(Kind::NotReady));
        assert_eq!(read(&mut h, 1, 1), Ok(Vec::new()));
        h.learner().write_grads(1, 3, &first[len..]).unwrap();
        assert_eq!(read(&mut h, 0, 3), Err(Kind::NotReady));
        assert_eq!(read(&mut h, 1, 3), Ok(first[len..].to_vec()));
        h.learner().add_grads(0, 2, &second[..2 * len]).unwrap();
        let sum: Vec<f32> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
        let expected = [&second[..len], &sum[len..2 * len], &first[2 * len..]].concat();
        assert_eq!(read(&mut h, 0, 3), Ok(expected));
        h.learner().write_grads(0, 1, &first[..len]).unwrap();
        assert_eq!(read(&mut h, 0, 1), Ok(first[..len].to_vec()));
        // After a step the gradients are gone.
        let params = h.learner().params().to_vec();
        assert_eq!(h.learner().learn_apply().unwrap().num_updates, 1);
        assert!(h.learner().params() != params);
        assert_eq!(read(&mut h, 2, 3), Err(Kind::NotReady));
    }
}

/// Off policy gradients belong to the update that runs: its batch has errors, which priorities are made from.
#[test]
#[cfg(feature = "off_policy")]
fn over_a_store_gradients_are_those_of_the_update_that_runs() {
    let h = &mut over_stores(3, 0).remove(0);
    let (len, chunk) = (h.view().grads_len(), 14);
    assert_eq!(len, h.learner().params().len() + 8 + chunk);
    let mut grads = vec![0.25; 3 * len];
    let kind = |done: rlcore::error::Result<_>| done.map(drop).map_err(|e| e.kind);
    let before = h.clone();
    assert_eq!(kind(h.learner().write_grads(0, 3, &grads)), Err(Kind::NotReady));
    assert_eq!(kind(h.learner().add_grads(0, 3, &grads)), Err(Kind::NotReady));
    assert_eq!(h.learner().learn_apply().map(drop).map_err(|e| e.kind), Err(Kind::NotReady));
    assert_eq!(h.learner().learn_begin(None, None).map(drop).map_err(|e| e.kind), Err(Kind::NotReady));
    assert!(h.block == before.block);
    record(h, &mut Rng::seeded(4));
    assert_eq!(h.learner().stats().minibatches_left, 3);
    h.learner().learn_begin(None, None).unwrap();
    assert_eq!(h.learner().learn_begin(None, None).map(drop).map_err(|e| e.kind), Err(Kind::NotReady));
    let made = chunks(h, 0, 3);
    let mut rest = (made.clone(), h.clone());
    // Errors of at least 0 are the last of a chunk's numbers; none of its losses is beyond them.
    assert!(made.chunks(len).all(|made| made[len - chunk..].iter().all(|x| *x > 0.0)));
    h.learner().write_grads(0, 2, &made[..2 * len]).unwrap();
    assert_eq!(h.learner().learn_apply().map(drop).map_err(|e| e.kind), Err(Kind::NotReady));
    h.learner().write_grads(2, 3, &made[2 * len..]).unwrap();
    h.learner().learn_apply().unwrap();
    // Other errors make other priorities, and nothing else of this step.
    rest.0.chunks_mut(len).for_each(|made| made[len - chunk..].fill(7.0));
    rest.1.learner().write_grads(0, 3, &rest.0).unwrap();
    rest.1.learner().learn_apply().unwrap();
    assert!(h.learner().params() == rest.1.learner().params() && h.block != rest.1.block);
    grads[len - 1] = f32::NAN;
    assert_eq!(kind(h.learner().write_grads(0, 3, &grads)), Err(Kind::Value));
    // An update that ends early takes the store along, and the next one begins as ever.
    h.learner().learn_drop().unwrap();
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Act, 0));
}

/// A minibatch in one chunk and in seven has the same gradient and mean losses, but for rounding.
#[test]
fn chunks_add_up_to_the_whole_minibatch() {
    let sum = |num_chunks: u32| -> Vec<Vec<f64>> {
        let make = |mut h: Host| {
            let obs = record(&mut h, &mut Rng::seeded(4));
            h.learner().learn_begin(obs.get(), None).unwrap();
            let (grads, len) = (chunks(&h, 0, num_chunks as usize), h.view().grads_len());
            (0..len).map(|i| grads[i..].iter().step_by(len).map(|&x| f64::from(x)).sum()).collect()
        };
        hosts(num_chunks).map(make).collect()
    };
    for (one, seven) in sum(1).iter().zip(&sum(7)) {
        assert!(one.iter().zip(seven).all(|(a, b)| (a - b).abs() < 1e-5) && one.iter().any(|x| x.abs() > 1e-2));
    }
}

#[test]
fn learners_with_the_same_parameters_act_the_same() {
    for mut h in hosts(1).filter(|h| h.config.normalize_obs == 0) {
        let mut rng = Rng::seeded(6);
        let mut other = h.clone();
        train(&mut h, &mut rng, 2);
        let params = h.learner().params().to_vec();
        assert!(other.learner().params() != params);
        other.learner().write_params(&params).unwrap();
        assert_eq!(other.learner().params(), params);
        assert_eq!(other.view().params(), params);
        let (obs, mask) = (h.draw_obs(&mut rng), h.draw_mask(&mut rng));
        for sampling in [Sampling::Greedy, Sampling::Basic] {
            let [ours, theirs] = [&mut h, &mut other].map(|h| {
                let (mut action, mut state) = (h.actions(), vec![0.25; h.n * h.view().state_len()]);
                let recurrent = Recurrent { state: &mut state, reset: &[1, 0, 1, 0, 0] };
                h.learner().predict(obs.get(), mask.as_deref(), recurrent, sampling, action.get_mut()).unwrap();
                (action.bits(), state)
            });
            assert_eq!(ours, theirs);
        }
        let value = |h: &mut Host| {
            let mut value = vec![0.0; h.n];
            h.learner().value(obs.get(), None, &mut value).unwrap();
            value
        };
        // Cuts all agents, so that recurrent layers of both begin with zeros.
        for h in [&mut h, &mut other] {
            h.learner().cut_rows(&[1; 5]).unwrap();
        }
        assert_eq!(value(&mut h), value(&mut other));
        // With overlap, parameters written during an update act after it; else they act at once.
        let after = record(&mut other, &mut rng);
        other.learner().learn_begin(after.get(), None).unwrap();
        let before = value(&mut other);
        other.learner().write_params(&vec![0.0; params.len()]).unwrap();
        assert_eq!(value(&mut other) == before, h.config.overlap != 0);
        other.learner().learn_drop().unwrap();
        assert_eq!(value(&mut other), vec![0.0; h.n]);
    }
}

/// A learner that records and one that learns, with the same parameters and seed, equal one that does both.
#[test]
fn a_rollout_that_was_sent_is_learnt_from_as_at_home() {
    for num_chunks in [1, 3] {
        for mut home in hosts(num_chunks) {
            let mut rng = Rng::seeded(8);
            let (mut actor, mut server) = (home.clone(), home.clone());
            for _ in 0..3 {
                let mut same = rng;
                let obs = record(&mut home, &mut rng);
                let drawn = record(&mut actor, &mut same);
                assert!(rng == same && drawn == obs);
                home.learner().learn_begin(obs.get(), None).unwrap();
                actor.learner().learn_begin(obs.get(), None).unwrap();
                let batch = Columns::read(&mut actor);
                agree(&mut actor, &batch);
                actor.learner().learn_drop().unwrap();
                assert!(actor.learner().phase() != Phase::Learn);

                let left = server.learner().learn_batch(&batch.batch()).unwrap().minibatches_left;
                assert_eq!(left, home.learner().stats().minibatches_left);
                assert_eq!(Columns::read(&mut server), batch);
                let (ours, theirs) =
                    (home.learner().learn(None, None, 0).unwrap(), server.learner().learn(None, None, 0).unwrap());
                assert_eq!(home.learner().params(), server.learner().params());
                assert_eq!((ours.policy_loss, ours.value_loss), (theirs.policy_loss, theirs.value_loss));
                assert_eq!((ours.explained_variance, ours.num_steps), (theirs.explained_variance, theirs.num_steps));
                assert_eq!(theirs.minibatches_left, 0);
                let params = server.learner().params().to_vec();
                actor.learner().write_params_with(&params, &batch.moments).unwrap();
            }
        }
    }
}

/// The values and log-probabilities in a batch equal the learner's, if it sees observations unchanged.
fn agree(h: &mut Host, batch: &Columns) {
    if h.config.normalize_obs != 0 || h.obs_kind == Element::U8 || h.view().state_len() > 0 {
        return; // the learner reads other numbers, or has later states
    }
    for t in 0..h.config.num_steps as usize {
        let rows = t * h.n..(t + 1) * h.n;
        let obs = &batch.obs[rows.start * h.obs_len..rows.end * h.obs_len];
        let mask = &batch.mask[rows.start * h.mask_len..rows.end * h.mask_len];
        let mask = (h.mask_len > 0).then_some(mask);
        let action = batch.action.get().get(rows.start * h.action_len, rows.end * h.action_len).unwrap();
        let (mut value, mut log_prob, mut entropy) = (vec![0.0; h.n], vec![0.0; h.n], vec![0.0; h.n]);
        h.learner().value(Elements::F32(obs), None, &mut value).unwrap();
        h.learner().log_prob(Elements::F32(obs), mask, action, &mut log_prob, &mut entropy).unwrap();
        assert_eq!((&value[..], &log_prob[..]), (&batch.value[rows.clone()], &batch.log_prob[rows.clone()]));
        let targets = batch.advantage[rows.clone()].iter().zip(&value).map(|(a, v)| a + v);
        assert!(targets.zip(&batch.value_target[rows]).all(|(a, b)| (a - b).abs() < 1e-5));
        assert!(entropy.iter().all(|x| *x >= 0.0 && x.is_finite()));
    }
}

/// A server without environments, and workers that never take an optimizer step: each worker adds its gradients when they are
/// ready, and takes the current parameters.
#[test]
fn a_server_that_adds_gradients_of_workers_learns() {
    const N: usize = 8;
    let config =
        Config { num_envs: N as u32, num_chunks: 2, entropy_coef: 0.0, ..config().hidden(&[16]).rollout(16, 1, 1) };
    let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
    let mut server = Host::new(&config, &obs_space, &action_space);
    let configs = [Config { seed: 10, ..config }, Config { seed: 11, ..config }, Config { seed: 12, ..config }];
    let mut workers = configs.map(|config| Host::new(&config, &obs_space, &action_space));
    let (mut rng, mut obs, mut right) = (Rng::seeded(3), [[0.0f32; N]; 3], 0.0);
    for round in 0..150 {
        right = 0.0;
        for (h, obs) in workers.iter_mut().zip(&mut obs) {
            let params = server.learner().params().to_vec();
            let mut learner = h.learner();
            learner.write_params(&params).unwrap();
            while learner.phase() != Phase::Learn {
                let mut choice = [0; N];
                learner.act(None, Elements::F32(obs), None, ElementsMut::I32(&mut choice)).unwrap();
                let reward: Vec<f32> = (0..N).map(|i| u8::from(choice[i] == obs[i] as i32).into()).collect();
                right += reward.iter().sum::<f32>() / (3 * 16 * N) as f32;
                learner.observe(None, &reward, &[1; N], &[0; N], None, None).unwrap();
                obs.fill_with(|| u8::from(rng.coin()).into());
            }
            learner.learn_begin(Elements::F32(obs), None).unwrap();
            let grads = chunks(h, 0, 2);
            h.learner().learn_drop().unwrap();
            server.learner().add_grads(0, 2, &grads).unwrap();
            // Steps take the gradients of one worker or of several, at random.
            if round % 3 == 0 || rng.coin() {
                server.learner().learn_apply().unwrap();
            }
        }
    }
    assert!(right > 0.95, "{right} of the last choices were right");
    assert!(server.learner().stats().num_updates > 200 && server.learner().stats().num_steps == 0);
    assert!(workers.iter_mut().all(|h| h.learner().stats().num_updates == 0));
}

#[test]
fn parameters_and_gradients_that_are_refused_change_nothing() {
    for mut h in hosts(3) {
        let (grads_len, params, moments) = (h.view().grads_len(), h.learner().params().to_vec(), h.moments());
        let grads = vec![0.25; 3 * grads_len];
        let (shape, inf) = (Kind::Shape, f32::INFINITY);
        refuses(&mut h, shape, "parameters", |l| l.write_params_with(&params[1..], &moments));
        for x in [inf, f32::NAN, 2e6, -2e6] {
            let mut list = params.clone();
            *list.last_mut().unwrap() = x;
            refuses(&mut h, Kind::Value, "parameters", |l| l.write_params_with(&list, &moments));
        }
        if h.action_kind == Element::F32 {
            let mut list = params.clone();
            list[log_std_at(&mut h)] = 2.5;
            refuses(&mut h, Kind::Value, "deviations", |l| l.write_params_with(&list, &moments));
        }
        refuses(&mut h, Kind::Range, "write_grads", |l| l.write_grads(0, 4, &grads));
        refuses(&mut h, Kind::Range, "write_grads", |l| l.write_grads(2, 1, &grads));
        refuses(&mut h, Kind::Range, "read_grads", |l| l.view().read_grads(4, 4, &mut []));
        refuses(&mut h, shape, "write_grads", |l| l.write_grads(0, 2, &grads));
        refuses(&mut h, shape, "add_grads", |l| l.add_grads(0, 2, &grads));
        refuses(&mut h, Kind::NotReady, "learn_apply", |l| l.learn_apply().map(drop));
        let mut bad = grads.clone();
        bad[2 * grads_len + 3] = inf;
        refuses(&mut h, Kind::Value, "write_grads", |l| l.write_grads(0, 3, &bad));
        refuses(&mut h, Kind::Value, "add_grads", |l| l.add_grads(0, 3, &bad));
        bad[2 * grads_len + 3] = f32::MAX;
        h.learner().write_grads(1, 3, &bad[grads_len..]).unwrap();
        refuses(&mut h, Kind::Value, "a sum that overflows", |l| l.add_grads(0, 3, &bad));
        refuses(&mut h, Kind::NotReady, "learn_apply", |l| l.learn_apply().map(drop));
        refuses(&mut h, Kind::NotReady, "read_grads", |l| l.view().read_grads(0, 3, &mut bad));
        let mut unread = Columns::new(&h);
        refuses(&mut h, Kind::NotReady, "read_batch", |l| l.view().read_batch(unread.get_mut()));
    }
}

/// A recorded rollout, the last observations, and the batch of its update.
fn recorded(h: &mut Host) -> (Array, Columns) {
    let obs = record(h, &mut Rng::seeded(8));
    let mut other = h.clone();
    other.learner().learn_begin(obs.get(), None).unwrap();
    (obs, Columns::read(&mut other))
}

#[test]
fn calls_to_learn_that_are_refused_change_nothing() {
    for mut h in hosts(3) {
        let (grads_len, size) = (h.view().grads_len(), h.view().scratch_size().unwrap());
        let mut scratch = vec![0u64; size.div_ceil(8)];
        let range = |h: &Host, begin: usize, end: usize, scratch: &mut [u8], len: usize| {
            let mut grads = vec![-7.0; len];
            let done = h.view().learn_range(begin, end, scratch, &mut grads).map_err(|e| e.kind);
            assert!(done.is_ok() || grads.iter().all(|&x| x == -7.0));
            done
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut scratch);
        assert_eq!(range(&h, 0, 1, bytes, grads_len), Err(Kind::NotReady));
        let (obs, batch) = recorded(&mut h);
        refuses(&mut h, Kind::NotReady, "learn_batch with a rollout", |l| l.learn_batch(&batch.batch()).map(drop));
        h.learner().learn_begin(obs.get(), None).unwrap();
        assert_eq!(range(&h, 0, 4, bytes, 4 * grads_len), Err(Kind::Range));
        assert_eq!(range(&h, 1, 0, bytes, 0), Err(Kind::Range));
        assert_eq!(range(&h, 0, 2, bytes, grads_len), Err(Kind::Shape));
        assert_eq!(range(&h, 0, 1, &mut bytes[..size - 1], grads_len), Err(Kind::Size));
        let mut longer = vec![0u64; size / 8 + 2];
        let askew: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut longer)[4..];
        assert_eq!(range(&h, 0, 1, askew, grads_len), Err(Kind::Align));
        assert_eq!(range(&h, 0, 1, bytes, grads_len), Ok(()));
        refuses(&mut h, Kind::NotReady, "learn_batch while learning", |l| l.learn_batch(&batch.batch()).map(drop));

        let mut columns = Columns::new(&h);
        columns.value_target.pop();
        refuses(&mut h, Kind::Shape, "read_batch", |l| l.view().read_batch(columns.get_mut()));
        assert!(columns.value.iter().all(|x| x.is_nan()));
        h.learner().learn_drop().unwrap();
        refuses(&mut h, Kind::NotReady, "learn_drop", |l| l.learn_drop());
        h.learner().learn_batch(&batch.batch()).unwrap();
        refuses(&mut h, Kind::NotReady, "learn_begin", |l| l.learn_begin(obs.get(), None).map(drop));
    }
}

#[test]
fn batches_of_another_shape_change_nothing() {
    for mut h in hosts(3) {
        let (_, batch) = recorded(&mut h);
        begin_anew(&mut h);
        let (good, recurrent) = (batch.batch(), h.view().state_len() > 0);
        let other = if h.action_kind == Element::F32 { Element::I32 } else { Element::F32 };
        let wrong = Array::zeros(other, 45 * h.action_len);
        let spoilt: [Batch<'_>; 11] = [
            Batch { obs: &good.obs[1..], ..good },
            Batch { log_prob: &good.log_prob[1..], ..good },
            Batch { value: &good.value[1..], ..good },
            Batch { advantage: &good.advantage[1..], ..good },
            Batch { value_target: &good.value_target[1..], ..good },
            Batch { state: if recurrent { &good.state[1..] } else { &[0.0] }, ..good },
            Batch { begin: if recurrent { &good.begin[1..] } else { &[0] }, ..good },
            Batch { env: if recurrent { &good.env[1..] } else { &[0] }, ..good },
            Batch { mask: if h.mask_len > 0 { &good.mask[1..] } else { &[1] }, ..good },
            Batch { moments: if h.config.normalize_obs != 0 { &good.moments[1..] } else { &[1.0] }, ..good },
            Batch { action: wrong.get(), ..good },
        ];
        for spoilt in spoilt {
            refuses(&mut h, Kind::Shape, "learn_batch", |l| l.learn_batch(&spoilt).map(drop));
        }
        h.learner().learn_batch(&good).unwrap();
    }
}

/// Drops the update of a recorded rollout.
fn begin_anew(h: &mut Host) {
    let obs = h.obs();
    h.learner().learn_begin(obs.get(), None).unwrap();
    h.learner().learn_drop().unwrap();
}

#[test]
fn batches_of_other_values_change_nothing() {
    for mut h in hosts(3) {
        let (_, batch) = recorded(&mut h);
        begin_anew(&mut h);
        let (row, is_bytes) = (h.mask_len, h.obs_kind == Element::U8 && h.config.normalize_obs == 0);
        let mut spoils = |spoil: &dyn Fn(&mut Columns)| {
            let mut spoilt = batch.clone();
            spoil(&mut spoilt);
            refuses(&mut h, Kind::Value, "learn_batch", |l| l.learn_batch(&spoilt.batch()).map(drop));
        };
        spoils(&|b| b.obs[7] = f32::NAN);
        spoils(&|b| b.log_prob[7] = f32::NEG_INFINITY);
        spoils(&|b| b.value[7] = f32::NAN);
        spoils(&|b| b.advantage[44] = f32::INFINITY);
        spoils(&|b| b.value_target[7] = f32::NAN);
        if !batch.state.is_empty() {
            spoils(&|b| b.state[7] = f32::NAN);
            spoils(&|b| b.begin[7] = 2);
            spoils(&|b| b.env[7] = 5);
            spoils(&|b| b.env[7] = u32::MAX);
        }
        spoils(&|b| match &mut b.action {
            Array::I32(x) => x[3] = 4,
            Array::F32(x) => x[3] = f32::INFINITY,
            Array::U8(_) => unreachable!(),
        });
        if row > 0 {
            spoils(&|b| b.mask[..row].fill(0));
        }
        for no_byte in [0.5, -1.0 / 255.0, 256.0 / 255.0, -0.0].into_iter().filter(|_| is_bytes) {
            spoils(&|b| b.obs[7] = no_byte);
        }
        h.learner().learn_batch(&batch.batch()).unwrap();
    }
}

/// Index of the first log deviation: before the value network, which comes last.
fn log_std_at(h: &mut Host) -> usize {
    let hidden = h.config.hidden_len[0] as usize;
    let read = if h.config.num_layers > 0 { 6 } else { h.obs_len };
    h.learner().params().len() - (read + 1) * hidden - (hidden + 1) - h.action_len
}
