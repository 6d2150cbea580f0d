//! No field of a configuration is ignored in silence: each one, away from its default, changes the outcome or is refused by its
//! name. The list of fields is the library's own, which does not compile if one is missing.
#![cfg(all(
    feature = "words",
    feature = "attention",
    feature = "noisy",
    feature = "off_policy",
    feature = "residual",
    feature = "stream",
    feature = "unreal"
))]

use crate::host::{Tune, open};
use rlcore::error::{Error, Kind};
use rlcore::learn::config_fields::{FIELDS, Field};
use rlcore::learn::{Algorithm, Config, Learner, Optimizer, Phase, Policy, Recurrent, Sampling};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{self, Element, Elements, ElementsMut, Space};

/// The arguments that make a learner.
#[derive(Clone)]
struct Setting {
    config: Config,
    layers: Vec<Layer>,
    obs: Space<'static>,
    action: Space<'static>,
}

/// Everything that a field can change: the size of the block, and the bits of all actions, statistics, parameters and draws of
/// the exported policy.
#[derive(Debug, PartialEq)]
struct Outcome {
    size: usize,
    bits: Vec<u32>,
}

impl Setting {
    /// Acts and learns on inputs that do not depend on the setting; returns early once the outcome differs from `usual`.
    fn run(&self, steps: u32, usual: Option<&Outcome>) -> Result<Outcome, Error> {
        let Setting { config, layers, obs, action } = self;
        let size = Learner::size(config, layers, obs, action)?;
        let mut block = vec![0u64; size / 8];
        Learner::init(bytemuck::cast_slice_mut(&mut block), config, layers, obs, action)?;
        let (n, mut rng, mut bits) = (config.num_envs as usize, Rng::seeded(9), Vec::new());
        if usual.is_some_and(|usual| usual.size != size) {
            return Ok(Outcome { size, bits });
        }
        let mask = vec![1; n * action.n.iter().sum::<u32>() as usize];
        let mask = (config.use_action_mask != 0).then_some(&mask[..]);
        let (mut choices, mut numbers) = (vec![0; n * action.n.len()], vec![0.0; n * action.len as usize]);
        let (shown_choices, shown_numbers) = (vec![1; choices.len()], vec![0.5; numbers.len()]);
        let (mut seen, mut bytes) = (vec![0.0; n * obs.len as usize], vec![0; n * obs.len as usize]);
        for step in 0..steps {
            // Rewards, ends and observations of a row depend only on the step and the row's number.
            let one = |k: usize| Rng::seeded(u64::from(step) << 8 | k as u64);
            for (k, row) in seen.chunks_mut(obs.len as usize).enumerate() {
                let mut rng = one(k);
                row.fill_with(|| rng.uniform_f32() * 4.0 - 1.0);
            }
            for (k, row) in bytes.chunks_mut(obs.len as usize).enumerate() {
                let mut rng = one(k);
                row.fill_with(|| rng.bounded(255) as u8);
            }
            let obs = if obs.kind == Element::U8 { Elements::U8(&bytes) } else { Elements::F32(&seen) };
            let taken = match action.n.is_empty() {
                true => ElementsMut::F32(&mut numbers),
                false => ElementsMut::I32(&mut choices),
            };
            let reward: Vec<f32> = (0..n).map(|k| 3.0 * one(100 + k).uniform_f32() - 1.0).collect();
            let terminated: Vec<u8> = (0..n).map(|k| u8::from(one(150 + k).uniform() < 0.1)).collect();
            let truncated: Vec<u8> = (0..n).map(|k| u8::from(one(200 + k).uniform() < 0.1)).collect();
            let mut l = open(&mut block);
            let shown = if config.demonstration_size > 0 { step.is_multiple_of(3) } else { false };
            let own = match action.n.is_empty() {
                true => Elements::F32(&shown_numbers),
                false => Elements::I32(&shown_choices),
            };
            if shown {
                l.demonstrate(None, obs, mask, own)?;
            }
            if !(shown && config.algorithm().is_off_policy()) {
                l.act(None, obs, mask, taken)?;
            }
            l.observe(None, &reward, &terminated, &truncated, Some(obs), None)?;
            bits.extend(numbers.iter().map(|x| x.to_bits()).chain(choices.iter().map(|x| *x as u32)));
            if l.phase() == Phase::Learn {
                bits.extend(statistics(&l.learn(Some(obs), None, 0)?));
            }
            if usual.is_some_and(|usual| usual.bits.get(..bits.len()) != Some(&bits[..])) {
                return Ok(Outcome { size, bits });
            }
        }
        let l = open(&mut block);
        let mut policy = vec![0u64; l.view().policy_size()?.div_ceil(8)];
        l.view().export(bytemuck::cast_slice_mut(&mut policy))?;
        let params = l.params().to_vec();
        bits.extend(params.iter().map(|x| x.to_bits()));
        let policy = Policy::attach(bytemuck::cast_slice(&policy))?;
        let mut scratch = vec![0.0; policy.scratch_len(n)?];
        let mut state = vec![0.0; n * policy.state_len()];
        let obs = if obs.kind == Element::U8 { Elements::U8(&bytes) } else { Elements::F32(&seen) };
        let taken = match action.n.is_empty() {
            true => ElementsMut::F32(&mut numbers),
            false => ElementsMut::I32(&mut choices),
        };
        let recurrent = Recurrent { state: &mut state, reset: &[] };
        policy.act(n, obs, None, recurrent, Sampling::Basic, &mut rng, &mut scratch, taken)?;
        bits.extend(numbers.iter().map(|x| x.to_bits()).chain(choices.iter().map(|x| *x as u32)));
        Ok(Outcome { size, bits })
    }

    /// The setting with `word` as the first word of a field.
    fn with(&self, field: &Field, word: u32) -> Setting {
        let mut other = self.clone();
        bytemuck::cast_slice_mut::<u8, u32>(bytemuck::bytes_of_mut(&mut other.config))[field.word_range().start] = word;
        if field.name() == "num_layers" {
            other.layers.resize(word as usize, Layer::dense(5, Activation::Tanh));
        }
        other
    }

    fn word(&self, field: &Field) -> u32 {
        bytemuck::cast_slice::<u8, u32>(bytemuck::bytes_of(&self.config))[field.word_range().start]
    }
}

fn statistics(s: &rlcore::learn::Stats) -> [u32; 6] {
    [s.policy_loss, s.value_loss, s.entropy, s.grad_norm, s.learning_rate, s.value_mean].map(f32::to_bits)
}

/// Candidate values of a field other than `own`.
fn others(field: &Field, own: u32) -> Vec<u32> {
    if field.is_real() {
        let x = f32::from_bits(own);
        let all = [x * 0.5, x + 0.25, 1e-9, 1e-3, 0.0, 0.1, 0.5, 0.9, 1.0, -0.5, 2.0, 20.0];
        return all.into_iter().filter(|y| *y != x).map(f32::to_bits).collect();
    }
    let all = [own ^ 1, own + 1, own * 2, own / 2, own.saturating_sub(1), 0, 1, 2, 3, 4, 5, 6, 12];
    all.into_iter().filter(|y| *y != own).collect()
}

/// A learner as `config_init` makes it, of a size for a test: it learns several times in few steps.
fn plain(algorithm: Algorithm) -> Setting {
    let mut config = Config { num_hidden: 1, hidden_len: [6, 0, 0, 0], num_chunks: 1, ..Config::of(algorithm) };
    let streams = matches!(algorithm, Algorithm::StreamAc | Algorithm::StreamQ);
    if algorithm.is_off_policy() {
        let rate = if algorithm == Algorithm::Td3 { 0.01 } else { 0.05 };
        config = Config { exploration_steps: 40, target_interval: 7, ..config.rate(rate).store(40, 8, 12) };
    } else if !streams {
        let learning_rate = 0.05;
        config = Config { num_envs: 2, num_steps: 6, num_minibatches: 2, num_epochs: 2, learning_rate, ..config };
    }
    if matches!(algorithm, Algorithm::Pqn | Algorithm::StreamQ) {
        config.exploration_steps = 20;
    }
    if algorithm == Algorithm::Impala {
        config.num_minibatches = 1;
    }
    let discrete = !matches!(algorithm, Algorithm::Td3 | Algorithm::Sac);
    let action = if discrete { Space::discrete(&[3]) } else { Space::between(&[-1.0; 2], &[1.0; 2]) };
    if algorithm == Algorithm::Unreal {
        let config = Config { history_len: 20, obs_dims: [4, 4, 1], num_layers: 2, ..config };
        let layers = vec![Layer::conv(3, [2, 2], [1, 1], Activation::Relu), Layer::dense(6, Activation::Tanh)];
        return Setting { config, layers, obs: Space::bytes(16), action };
    }
    Setting { config, layers: Vec::new(), obs: Space::unbounded(4), action }
}

/// Settings that read fields which the plain one does not.
fn settings(algorithm: Algorithm) -> Vec<(&'static str, Setting)> {
    use Algorithm::*;
    let base = plain(algorithm);
    let c = base.config;
    let with = |config| Setting { config, ..base.clone() };
    let on = !algorithm.is_off_policy();
    let streams = matches!(algorithm, StreamAc | StreamQ);
    let mut all = vec![("plain", base.clone())];
    all.push(("schedules", with(Config { total_steps: 60, learning_rate_end: c.learning_rate * 0.1, ..c })));
    if matches!(algorithm, Ppo | A2c | Impala | StreamAc) {
        for (what, entropy_coef) in [("wider", 1.0), ("narrower", -1.0)] {
            let action = Space::between(&[-1.0; 2], &[1.0; 2]);
            all.push((what, Setting { action, ..with(Config { entropy_coef, ..c }) }));
        }
    }
    if algorithm == Sac {
        all.push(("discrete", Setting { action: Space::discrete(&[3]), ..with(c) }));
        all.push(("quantiles", with(Config { num_quantiles: 5, ..c })));
    }
    if on {
        all.push(("normalized", with(Config { normalize_obs: 1, normalize_reward: 1, ..c })));
    } else {
        all.push(("priorities", with(Config { priority_exponent: 0.5, ..c })));
    }
    if algorithm == Dqn {
        all.push(("atoms", with(Config { num_atoms: 5, ..c })));
        all.push(("quantiles", with(Config { num_quantiles: 5, ..c })));
        all.push(("dueling", with(Config { dueling: 1, ..c })));
    }
    if !streams {
        let config = Config { demonstration_size: 12, imitation_coef: 0.5, ..c };
        all.push(("demonstrations", with(config)));
        all.push(("less of them", with(Config { total_steps: 60, ..config })));
        if matches!(algorithm, Ppo | A2c | Impala) {
            all.push((
                "demonstrated numbers",
                Setting { action: Space::between(&[-1.0; 2], &[1.0; 2]), ..with(config) },
            ));
        }
        all.push(("RMSProp", with(Config { optimizer: Optimizer::RmsProp as u32, ..c })));
        all.push(("Adam", with(Config { optimizer: Optimizer::Adam as u32, ..c })));
    }
    if on && !streams {
        let layers = vec![Layer::dense(5, Activation::Tanh), Layer::recurrent(LayerKind::Gru, 4)];
        let config = Config { num_layers: 2, sequence_len: 3, num_steps: 6, num_minibatches: 1, num_chunks: 1, ..c };
        all.push(("recurrent", Setting { layers, ..with(config) }));
    }
    if !matches!(algorithm, Unreal | StreamAc | Td3 | Sac) {
        let layers = vec![Layer::conv(3, [2, 2], [1, 1], Activation::Relu), Layer::dense(5, Activation::Tanh)];
        let config = Config { num_layers: 2, obs_dims: [4, 4, 2], normalize_obs: 0, ..c };
        all.push(("pictures", Setting { layers, obs: Space::bytes(32), ..with(config) }));
    }
    if algorithm == Unreal {
        all.push(("policy replay", with(Config { policy_replay_coef: 0.5, value_replay_coef: 0.0, ..c })));
    }
    if matches!(algorithm, Ppo | Impala) {
        let layers = vec![Layer::conv(3, [2, 2], [1, 1], Activation::Relu), Layer::dense(6, Activation::Tanh)];
        let config = Config { num_layers: 2, obs_dims: [4, 4, 1], history_len: 20, pixel_control_coef: 0.1, ..c };
        for (what, [reward_class_coef, value_replay_coef, policy_replay_coef]) in
            [("tasks", [1.0, 0.5, 0.0]), ("policy replay", [1.0, 0.0, 0.5])]
        {
            let config = Config { reward_class_coef, value_replay_coef, policy_replay_coef, ..config };
            all.push((what, Setting { layers: layers.clone(), obs: Space::bytes(16), ..with(config) }));
        }
    }
    all
}

/// The fault of a field over all its candidate values, if it has one.
fn judge(setting: &Setting, field: &Field, usual: &Outcome) -> Option<String> {
    let name = field.name();
    let (mut same, mut named, mut last) = (Vec::new(), false, None);
    let default = Setting { config: Config::of(setting.config.algorithm()), ..setting.clone() }.word(field);
    for word in others(field, setting.word(field)).into_iter().filter(|word| *word != default) {
        match setting.with(field, word).run(STEPS, Some(usual)) {
            Ok(outcome) if outcome != *usual => return None,
            Ok(_) => same.push(if field.is_real() { f32::from_bits(word) } else { word as f32 }),
            Err(e) => {
                let text = e.to_string();
                named |= e.kind == Kind::Config && text.contains(name);
                last = Some(text);
            }
        }
    }
    match (same.is_empty(), named) {
        (true, true) => None,
        (true, false) => Some(format!("no refusal names it: {last:?}")),
        _ => Some(format!("accepted and ignored: {same:?}")),
    }
}

const STEPS: u32 = 30;

/// Sets each field away from its default, in all settings of an algorithm.
fn no_field_is_ignored(algorithm: Algorithm) {
    let mut wrong = Vec::new();
    for (what, setting) in settings(algorithm) {
        let usual = setting.run(STEPS, None).unwrap_or_else(|e| panic!("{algorithm:?}, {what}: {e}"));
        for field in &FIELDS {
            let c = &setting.config;
            let constant = c.learning_rate_end == c.learning_rate && what != "schedules";
            // Deviations do not reach their limits: they are far off, or demonstrations widen them.
            let far = matches!((what, algorithm), ("wider", _) | ("demonstrated numbers", Algorithm::Ppo));
            let idle = [
                ("algorithm", true),        // the choice itself
                ("total_steps", constant),  // ends equal starts: nothing changes in these steps
                ("huber", what == "atoms"), // turned off by another field's value
                ("log_std_min", far),
                ("log_std_max", what == "narrower"),
            ];
            if idle.contains(&(field.name(), true)) {
                continue;
            }
            if let Some(why) = judge(&setting, field, &usual) {
                wrong.push(format!("{algorithm:?}, {what}: {}: {why}", field.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} fields:\n{}", wrong.len(), wrong.join("\n"));
}

macro_rules! no_field_is_ignored_in_silence {
    ($($name:ident: $algorithm:ident,)*) => {
        mod no_field_is_ignored_in_silence {
            use super::*;

            $(
                #[test]
                fn $name() {
                    no_field_is_ignored(Algorithm::$algorithm);
                }
            )*
        }
    };
}

no_field_is_ignored_in_silence! {
    ppo: Ppo,
    a2c: A2c,
    impala: Impala,
    unreal: Unreal,
    dqn: Dqn,
    td3: Td3,
    sac: Sac,
    pqn: Pqn,
    stream_ac: StreamAc,
    stream_q: StreamQ,
}

/// A field is refused by every algorithm that does not read it, with any value but the default.
#[test]
fn a_field_that_is_not_read_is_refused_with_its_value() {
    let setting = plain(Algorithm::Dqn);
    let clip = FIELDS.iter().find(|field| field.name() == "clip").unwrap();
    let e = setting.with(clip, 0.3f32.to_bits()).run(1, None).unwrap_err();
    assert_eq!(e.to_string(), "learner config: clip is set to 0.3, which is read only by PPO");
    let setting = plain(Algorithm::Ppo);
    let reward_clip = FIELDS.iter().find(|field| field.name() == "reward_clip").unwrap();
    let e = setting.with(reward_clip, 1f32.to_bits()).run(1, None).unwrap_err();
    assert_eq!(e.to_string(), "learner config: reward_clip is set to 1, which is read only with normalize_reward");
}

/// Lengths beyond `num_hidden` do not change any byte of the block.
#[test]
fn lengths_of_hidden_layers_that_are_not_there_do_not_matter() {
    for algorithm in [Algorithm::Ppo, Algorithm::Dqn] {
        let block = |hidden_len| {
            let setting = plain(algorithm);
            let config = Config { hidden_len, ..setting.config };
            let (obs, action) = (&setting.obs, &setting.action);
            let mut block = vec![0u64; 1 << 16];
            let mem = bytemuck::cast_slice_mut(&mut block);
            Learner::init(mem, &config, &[], obs, action).unwrap();
            block
        };
        assert!(block([6, 64, 9, 1]) == block([6, 0, 0, 0]));
    }
}

/// The message that refuses a configuration.
fn refusal(setting: &Setting) -> String {
    let e = setting.run(1, None).unwrap_err();
    assert_eq!(e.kind, Kind::Config, "{e}");
    e.to_string()
}

#[test]
fn recurrent_layers_with_traces_are_refused_as_such() {
    let text = "learner config: recurrent layers and sequence_len are not supported by stream algorithms, whose traces go back \
                through single steps";
    for (num_layers, sequence_len) in [(1, 0), (1, 8), (0, 8)] {
        let own = plain(Algorithm::StreamQ);
        let layers = [Layer::recurrent(LayerKind::Gru, 4)].repeat(num_layers as usize);
        let config = Config { num_layers, sequence_len, ..own.config };
        assert_eq!(refusal(&Setting { config, layers, ..own }), text);
    }
}

#[test]
fn pictures_without_dimensions_are_refused_as_such() {
    let (conv, own) = (Layer::conv(3, [2, 2], [1, 1], Activation::Relu), plain(Algorithm::Ppo));
    let norm = Layer { kind: LayerKind::Norm as u32, ..Layer::dense(0, Activation::Identity) };
    let same = Layer { same: 1, ..conv };
    let merged = |kind| vec![Layer::merge(kind, [INPUT, INPUT], Activation::Identity), conv];
    let [sum, join] = [LayerKind::Add, LayerKind::Join].map(merged);
    for (number, layers) in [(1, vec![conv]), (2, vec![norm, conv]), (1, vec![same]), (2, sum), (2, join)] {
        let config = Config { num_layers: layers.len() as u32, ..own.config };
        let text = refusal(&Setting { config, layers, ..own.clone() });
        assert!(
            text.starts_with(&format!("learner config: layer {number} reads a picture, but obs_dims is 0")),
            "{text}"
        );
    }
    let config = Config { obs_dims: [2, 2, 1], ..own.config };
    let text = refusal(&Setting { config, ..own.clone() });
    assert_eq!(
        text,
        "learner config: obs_dims is set to 2, which is read only with layers, num_stacked or pixel_control_coef"
    );
}

/// Dimensions with channels last are refused for a picture with channels first, and the other way round.
#[test]
fn dimensions_have_the_axes_of_fields_in_their_order() {
    const LAST: [space::Field<'static>; 1] = [space::Field::new("", Element::U8, &[6, 6, 4], 0)];
    const FIRST: [space::Field<'static>; 1] = [space::Field::new("", Element::U8, &[4, 6, 6], 0)];
    const ROWS: [space::Field<'static>; 1] = [space::Field::new("", Element::U8, &[2, 3, 6, 4], 0)];
    const FLAT: [space::Field<'static>; 1] = [space::Field::new("", Element::U8, &[144], 0)];
    let own = plain(Algorithm::Ppo);
    let layers = vec![Layer::conv(3, [2, 2], [1, 1], Activation::Relu)];
    let cases: [(&[space::Field<'static>], [u32; 3], bool); 8] = [
        (&LAST, [6, 6, 4], true),
        (&LAST, [4, 6, 6], false),
        (&FIRST, [6, 6, 4], false),
        (&FIRST, [4, 6, 6], true),
        (&ROWS, [6, 6, 4], true),
        (&ROWS, [4, 6, 6], false),
        (&FLAT, [6, 6, 4], true),
        (&[], [6, 6, 4], true),
    ];
    for (fields, obs_dims, fits) in cases {
        let config = Config { num_layers: 1, obs_dims, ..own.config };
        let obs = Space::bytes(144).with_fields(fields);
        let setting = Setting { config, layers: layers.clone(), obs, ..own.clone() };
        if fits {
            setting.run(1, None).unwrap();
        } else {
            let text = "learner config: obs_dims and field 0 of the observations have their axes in different orders";
            assert_eq!(refusal(&setting), text);
        }
    }
}
