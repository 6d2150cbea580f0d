//! Every algorithm with everything that a learner can do: each cell works, or is refused for a reason. The table of the front
//! page is made from it.
//!
//! `RLCORE_BLESS=1` writes the table.

#![cfg(all(feature = "residual", feature = "unreal", feature = "noisy"))]

use crate::host::{Array, Columns, Host, Tune, chunks, threads};
use rlcore::error::{Error, Kind, Result};
use rlcore::learn::{Algorithm, Config, Imitation, Learner, Phase, TransitionBatch};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Field, Space};
use std::fmt::Write;
use std::fs;

/// Rows of the table: names, algorithms, and whether actions are choices.
const ROWS: [(&str, Algorithm, bool); 11] = [
    ("PPO", Algorithm::Ppo, true),
    ("A2C", Algorithm::A2c, true),
    ("IMPALA", Algorithm::Impala, true),
    ("UNREAL", Algorithm::Unreal, true),
    ("PQN", Algorithm::Pqn, true),
    ("DQN", Algorithm::Dqn, true),
    ("TD3", Algorithm::Td3, false),
    ("SAC, continuous", Algorithm::Sac, false),
    ("SAC, discrete", Algorithm::Sac, true),
    ("stream AC", Algorithm::StreamAc, true),
    ("stream Q", Algorithm::StreamQ, true),
];

/// Columns of the table.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Memory,
    Attention,
    Normalized,
    Frames,
    Pictures,
    /// Structures of choices, of numbers, or of both.
    Structures(bool, bool),
    Masks,
    Noise,
    Tasks,
    Durations,
    Overlap,
    Threads,
    Demonstrations,
    Kept,
    Others,
}

const COLUMNS: [(&str, With); 17] = [
    ("recurrent layers", With::Memory),
    ("attention", With::Attention),
    ("normalization", With::Normalized),
    ("frames kept once", With::Frames),
    ("of a picture beside other fields", With::Pictures),
    ("structures of choices as actions", With::Structures(true, false)),
    ("of numbers", With::Structures(false, true)),
    ("of both", With::Structures(true, true)),
    ("masks", With::Masks),
    ("noisy layers", With::Noise),
    ("auxiliary tasks", With::Tasks),
    ("durations", With::Durations),
    ("overlap", With::Overlap),
    ("threads", With::Threads),
    ("demonstrations", With::Demonstrations),
    ("kept demonstrations", With::Kept),
    ("steps of the host's own", With::Others),
];

/// A stack of two pictures, and two numbers.
const SEEN: [Field<'static>; 2] =
    [Field::new("picture", Element::U8, &[1, 4, 4, 2], 0), Field::new("numbers", Element::F32, &[2], 32)];

const CHUNKS: [u32; 4] = [1, 2, 3, 7];

/// An action of one choice and one number.
const FIELDS: [Field<'static>; 2] =
    [Field::new("choice", Element::I32, &[], 0), Field::new("number", Element::F32, &[], 4)];

/// A small learner of a row, with the setting of a column.
fn host(algorithm: Algorithm, choices: bool, (with, kept): (With, bool), num_chunks: u32) -> Result<Host> {
    let own = Config { num_envs: 7, num_chunks, ..Config::of(algorithm).hidden(&[6]) };
    let mut c = match algorithm {
        Algorithm::StreamAc | Algorithm::StreamQ => Config { num_envs: 1, num_chunks: 1, ..own },
        Algorithm::Dqn | Algorithm::Td3 | Algorithm::Sac => Config { train_interval: 14, ..own.store(150, 42, 60) },
        Algorithm::Unreal => Config {
            num_steps: 6,
            history_len: 20,
            pixel_control_coef: 0.0,
            pixel_control_discount: Config::of(algorithm).pixel_control_discount,
            value_replay_coef: 0.0,
            reward_class_coef: 0.0,
            ..own
        },
        _ => Config { num_steps: 6, num_minibatches: 1, ..own },
    };
    let (mut obs, mut action) =
        (Space::unbounded(4), if choices { Space::discrete(&[3]) } else { Space::unbounded(2) });
    let mut layers = Vec::new();
    match with {
        With::Memory => layers.push(Layer::recurrent(LayerKind::Gru, 4)),
        With::Attention => layers.push(Layer::attention(4, 2, 3)),
        With::Normalized => c = c.normalized(1, 1),
        With::Frames => {
            (obs, c.obs_dims, c.num_stacked) = (Space::bytes(4 * 4 * 2), [4, 4, 2], 2);
            layers.push(Layer::conv(3, [2, 2], [1, 1], Activation::Relu));
            c = c.normalized(0, c.normalize_reward);
        }
        With::Pictures => {
            (obs, c.num_stacked) = (Space::bytes(40).with_fields(&SEEN), 2);
            let conv = Layer::conv(3, [2, 2], [1, 1], Activation::Relu);
            layers.push(Layer { source: [INPUT | 1, 0], ..conv });
            layers.push(Layer::merge(LayerKind::Join, [1, INPUT | 2], Activation::Identity));
            c = c.normalized(0, c.normalize_reward);
        }
        With::Structures(choices, numbers) => {
            let fields = &FIELDS[usize::from(!choices)..1 + usize::from(numbers)];
            action = Space { n: if choices { &[3] } else { &[] }, ..Space::bytes(8).with_fields(fields) };
        }
        With::Masks => c.use_action_mask = 1,
        With::Noise => c.noisy = 1,
        With::Tasks => {
            (c.reward_class_coef, c.value_replay_coef, c.reward_sequence_len, c.history_len) = (1.0, 1.0, 2, 20)
        }
        With::Durations => c.use_duration = 1,
        With::Overlap => c.overlap = 1,
        With::Threads | With::Demonstrations | With::Kept | With::Others => {}
    }
    if kept || with == With::Kept {
        (c.demonstration_size, c.demonstration_share, c.imitation_coef) = (40, 0.4, 0.5);
    }
    c.num_layers = layers.len() as u32;
    c.sequence_len = if matches!(with, With::Memory | With::Attention) { 3 } else { 0 };
    Learner::size(&c, &layers, &obs, &action)?;
    Ok(Host::with(&c, &layers, &obs, &action))
}

/// Observations of all environments.
fn draw_obs(h: &Host, rng: &mut Rng) -> Array {
    let mut obs = h.draw_obs(rng);
    if let (Array::U8(bytes), 1..) = (&mut obs, h.config.num_stacked) {
        for row in bytes.chunks_exact_mut(h.obs_len) {
            let (pixels, numbers) = row.split_at_mut(4 * 4 * 2);
            // Each stack is one of the start of an episode.
            pixels.as_chunks_mut::<2>().0.iter_mut().for_each(|pixel| pixel[0] = 0);
            numbers.as_chunks_mut::<4>().0.iter_mut().for_each(|to| *to = rng.uniform_f32().to_ne_bytes());
        }
    }
    obs
}

/// A step of all environments: the learner's actions, or those of the host, which at times are imitated too.
fn step(h: &mut Host, rng: &mut Rng, shows: bool) -> Result {
    let obs = draw_obs(h, rng);
    let (mask, mut action) = (h.draw_mask(rng), h.actions());
    if let (Array::I32(choice), Some(mask)) = (&mut action, &mask) {
        let first = |own: &[u8]| own.iter().position(|allowed| *allowed != 0).unwrap() as i32;
        choice.iter_mut().zip(mask.chunks(3)).for_each(|(to, own)| *to = first(own));
    }
    if rng.bounded(3) == 0 {
        let num_rows = h.n;
        let loss = h.learner().imitate(&Imitation {
            num_rows,
            num_steps: 1,
            obs: obs.get(),
            mask: mask.as_deref(),
            action: Some(action.get()),
            prob: None,
            weight: None,
            reset: &[],
            margin: 0.0,
            fit_std: false,
        })?;
        assert!(loss.is_finite());
    }
    let keeps = h.config.demonstration_size > 0;
    let off_policy = h.config.algorithm().is_off_policy();
    if keeps && !off_policy {
        let active: Vec<u8> = (0..h.n).map(|i| u8::from(i % 3 != 1)).collect();
        h.learner().demonstrate(Some(&active), obs.get(), mask.as_deref(), action.get())?;
    }
    if shows && (off_policy || !keeps) || keeps && off_policy && rng.bounded(3) == 0 {
        h.learner().demonstrate(None, obs.get(), mask.as_deref(), action.get())?;
    } else {
        h.learner().act(None, obs.get(), mask.as_deref(), action.get_mut())?;
    }
    let reward: Vec<f32> = (0..h.n).map(|_| rng.uniform_f32()).collect();
    let ends: Vec<u8> = (0..2 * h.n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
    let (terminated, truncated) = ends.split_at(h.n);
    let duration: Vec<f32> = (0..h.n).map(|_| 1.0 + rng.bounded(3) as f32).collect();
    let duration = (h.config.use_duration != 0).then_some(&duration[..]);
    h.learner().observe_after(duration, None, &reward, [terminated, truncated], Some(obs.get()), None)
}

/// Trains for two updates, in slices of so many chunks (0: whole updates). With `moves` another process goes on after each call,
/// and with the first slice of an update.
fn train(h: &mut Host, with: With, max_slices: u32, moves: bool) -> Result {
    let mut rng = Rng::seeded(3);
    while h.learner().stats().num_updates < 2 {
        if h.learner().phase() != Phase::Learn {
            step(h, &mut rng, with == With::Demonstrations)?;
            continue;
        }
        let last = draw_obs(h, &mut Rng::seeded(9));
        if with == With::Threads {
            h.learner().learn_begin(last.get(), None)?;
            let all = h.config.num_chunks as usize;
            while h.learner().stats().minibatches_left > 0 {
                let grads = if max_slices == 0 { chunks(h, 0, all) } else { threads(h, 2) };
                h.learner().write_grads(0, all, &grads)?;
                h.learner().learn_apply()?;
            }
            continue;
        }
        h.learner().learn(Some(last.get()), None, max_slices)?;
        while h.learner().stats().minibatches_left > 0 {
            if moves {
                *h = h.clone();
            }
            h.learner().learn(None, None, max_slices)?;
        }
    }
    Ok(())
}

/// Learns from what the host has recorded: the rollout of another learner, or transitions.
fn learn_of_others(h: &mut Host) -> Result {
    if h.config.buffer_size > 0 && h.view().batch_len().0 == h.config.batch_size as usize {
        let rows = h.config.batch_size as usize;
        let (obs, action) = (vec![0.5; rows * h.obs_len], Array::zeros(h.action_kind, rows * h.action_len));
        let (reward, ends) = (vec![1.0; rows], vec![0; rows]);
        let obs = rlcore::space::Elements::F32(&obs);
        let batch = TransitionBatch {
            obs,
            action: action.get(),
            mask: None,
            reward: &reward,
            terminated: &ends,
            discount: None,
            next_obs: obs,
            next_mask: None,
            importance: None,
        };
        return h.learner().learn_transitions(&batch, None).map(|_| ());
    }
    let mut recorder = h.clone();
    let mut rng = Rng::seeded(3);
    while recorder.learner().phase() != Phase::Learn {
        step(&mut recorder, &mut rng, false)?;
    }
    let last = recorder.draw_obs(&mut rng);
    recorder.learner().learn_begin(last.get(), None)?;
    let columns = Columns::read(&mut recorder);
    h.learner().learn_batch(&columns.batch())?;
    h.learner().learn(None, None, 0)?;
    Ok(())
}

/// Runs a cell. Errors: why it is refused.
fn cell(algorithm: Algorithm, choices: bool, with: With, kept: bool) -> Result {
    let mut plain: Option<Vec<f32>> = None;
    for num_chunks in CHUNKS {
        let mut whole = host(algorithm, choices, (with, kept), num_chunks)?;
        if with == With::Others {
            return learn_of_others(&mut whole);
        }
        let mut parts = whole.clone();
        train(&mut whole, with, 0, false)?;
        train(&mut parts, with, 1, true)?;
        assert!(whole.block == parts.block, "{algorithm:?}: {num_chunks} chunks, slices and another process");
        let params = whole.learner().params().to_vec();
        assert!(params.iter().all(|x| x.is_finite()) && whole.learner().stats().num_dropped == 0, "{algorithm:?}");
        let plain = plain.get_or_insert_with(|| params.clone());
        let far = plain.iter().zip(&params).filter(|(a, b)| (**a - **b).abs() > 5e-3).count();
        assert!(far * 50 <= params.len(), "{algorithm:?}: {num_chunks} chunks, {far} parameters differ");
    }
    Ok(())
}

/// The reason of a refusal, as it is on the front page.
fn reason(error: &Error) -> String {
    assert!([Kind::Config, Kind::Disabled].contains(&error.kind), "{error}");
    error.to_string().trim_end_matches('.').to_owned()
}

#[test]
fn every_cell_works_or_has_a_reason_and_the_front_page_says_which() {
    let mut reasons: Vec<String> = Vec::new();
    let mut table = String::from("| |");
    COLUMNS.iter().for_each(|(name, _)| write!(table, " {name} |").unwrap());
    write!(table, "\n|---|{}\n", "---|".repeat(COLUMNS.len())).unwrap();
    for (name, algorithm, choices) in ROWS {
        write!(table, "| {name} |").unwrap();
        for (_, with) in COLUMNS {
            match cell(algorithm, choices, with, false) {
                Ok(()) => table.push_str(" yes |"),
                Err(error) => {
                    let why = reason(&error);
                    let at = reasons.iter().position(|other| *other == why).unwrap_or_else(|| {
                        reasons.push(why);
                        reasons.len() - 1
                    });
                    write!(table, " {} |", at + 1).unwrap();
                }
            }
        }
        table.push('\n');
    }
    table.push('\n');
    for (i, why) in reasons.iter().enumerate() {
        writeln!(table, "{}. `{why}`", i + 1).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let page = fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- matrix -->\n", "<!-- end of matrix -->\n");
    let (first, rest) = page.split_once(begin).expect("a matrix on the front page");
    let (own, last) = rest.split_once(end).expect("its end");
    if std::env::var_os("RLCORE_BLESS").is_some() {
        return fs::write(path, format!("{first}{begin}{table}{end}{last}")).unwrap();
    }
    assert_eq!(own, table, "README.md: the matrix; RLCORE_BLESS=1 writes it");
}

/// Kept demonstrations go with everything else that an algorithm can do: of what it cannot do with them, the error says why.
#[test]
fn kept_demonstrations_go_with_everything_but_what_is_refused_by_name() {
    let mut refused = Vec::new();
    for (name, algorithm, choices) in ROWS {
        for (column, with) in COLUMNS.into_iter().filter(|(_, with)| !matches!(with, With::Others | With::Kept)) {
            if let Err(error) = cell(algorithm, choices, with, true) {
                let why = reason(&error);
                if cell(algorithm, choices, with, false).is_ok() {
                    assert!(why.contains("demonstration_size"), "{name}, {column}: {why}");
                    refused.push((name, column));
                }
            }
        }
    }
    let on_policy = ["PPO", "A2C", "IMPALA", "UNREAL", "PQN"];
    let streams = ["stream AC", "stream Q"];
    let others = ["DQN", "TD3", "SAC, continuous", "SAC, discrete"];
    let wanted = |name: &str, column: &str| {
        let recurrent = ["recurrent layers", "attention"].contains(&column);
        let frames = ["frames kept once", "of a picture beside other fields"].contains(&column);
        // Learners on policy take demonstrations only with a place to keep them.
        on_policy.contains(&name) && recurrent || others.contains(&name) && frames || streams.contains(&name)
    };
    for (name, ..) in ROWS {
        for (column, _) in COLUMNS {
            let is_refused = refused.contains(&(name, column));
            assert!(!is_refused || wanted(name, column), "{name}, {column}");
        }
    }
    let count = |names: &[&str]| refused.iter().filter(|(name, _)| names.contains(name)).count();
    assert_eq!((count(&on_policy), count(&others)), (10, 8), "{refused:?}");
}
