//! Pictures that are a field of an observation: stored as bytes, once for each frame, and read where they are, they lead to the
//! same bits as pictures that are stored as numbers.

#![cfg(all(feature = "pictures", feature = "residual", feature = "recurrent", feature = "actor_critic"))]

use crate::host::camera::{CHANNELS, Camera, LEN, NUM, pictures};
use crate::host::{Columns, Host, Tune, forge_learners, learn_all, recurrent};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 4;

/// Bytes of an observation: a reward, the picture, the last action, and whether the episode ended.
const SIZE: usize = 36;
const PICTURE: usize = 4;
const ACTIONS: u32 = 3;
const SEEN: usize = LEN + 1 + ACTIONS as usize + 1;
const REWARD: Field<'static> = Field::new("reward", Element::F32, &[], 0);
const LAST: Field<'static> = Field::new("last_action", Element::I32, &[1], 28);
const DONE: Field<'static> = Field::new("done", Element::U8, &[1], 32);

/// How an observation is told to a learner.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// The picture is the last field: rollouts store it as numbers.
    Last,
    /// The picture is the first field.
    First,
    /// So it is, and its channels come before its rows.
    Planes,
}

impl Form {
    /// The fields, and the number of the picture among them, from 1.
    fn fields(self) -> ([Field<'static>; 4], u32) {
        let of = |dims: &[u32]| Field::new("picture", Element::U8, dims, PICTURE as u32);
        let picture = of(&[1, 2, 2, (CHANNELS * NUM) as u32]);
        match self {
            Form::Planes => ([of(&[(CHANNELS * NUM) as u32, 2, 2]).planes(), REWARD, LAST, DONE], 1),
            Form::Last => ([REWARD, LAST, DONE, picture], 4),
            Form::First => ([picture, REWARD, LAST, DONE], 1),
        }
    }

    /// Layers that read the picture and the fields beside it; with `all` a layer that cannot read bytes sees the picture too.
    fn layers(self, all: bool, memory: Option<Layer>) -> Vec<Layer> {
        let (_, at) = self.fields();
        let source = |part: u32| INPUT | part;
        let other = |k: u32| source(if at == 1 { k + 1 } else { k });
        let see = |layer: Layer| Layer { source: [source(at), 0], ..layer };
        let join = |pair| Layer::merge(LayerKind::Join, pair, Activation::Identity);
        let mut layers = vec![
            see(Layer::conv(3, [2, 2], [1, 1], Activation::Relu)),
            Layer::dense(5, Activation::Tanh),
            join([2, other(1)]),
            join([3, other(2)]),
            join([4, other(3)]),
        ];
        if all {
            layers.push(see(Layer::dense(4, Activation::Tanh)));
            layers.push(join([5, 6]));
        }
        layers.extend(memory);
        layers
    }

    fn host(self, config: &Config, all: bool, memory: Option<Layer>, action: &Space<'_>) -> Host {
        self.host_of(config, &self.layers(all, memory), action)
    }

    fn host_of(self, config: &Config, layers: &[Layer], action: &Space<'_>) -> Host {
        let (fields, _) = self.fields();
        let config = Config { num_layers: layers.len() as u32, ..*config };
        let space = Space { n: &[ACTIONS], ..Space::bytes(SIZE as u32).with_fields(&fields) };
        Host { obs_len: SEEN, ..Host::with(&config, layers, &space, action) }
    }

    /// These observations of all environments as the learner gets them.
    fn told(self, obs: &[u8]) -> Vec<u8> {
        let mut told = obs.to_vec();
        if self == Form::Planes {
            for (to, from) in told.chunks_exact_mut(SIZE).zip(obs.chunks_exact(SIZE)) {
                let area = LEN / CHANNELS / NUM;
                for (i, x) in from[PICTURE..PICTURE + LEN].iter().enumerate() {
                    to[PICTURE + i % (CHANNELS * NUM) * area + i / (CHANNELS * NUM)] = *x;
                }
            }
        }
        told
    }
}

/// A learner, and the form in which it gets observations.
#[derive(Clone)]
struct Told {
    form: Form,
    h: Host,
}

/// Agents that act at their own times and sometimes leave; their numbers beside the pictures.
struct World {
    cameras: Vec<Camera>,
    beside: Vec<(f32, i32, u8)>,
    rng: Rng,
}

impl World {
    fn new() -> World {
        let mut rng = Rng::seeded(4);
        let cameras = (0..N).map(|_| Camera::begin(&mut rng)).collect();
        World { cameras, beside: vec![(0.5, 1, 0); N], rng }
    }

    fn obs(&self) -> Vec<u8> {
        let mut obs = vec![0xEE; N * SIZE];
        let all = pictures(&self.cameras);
        for ((to, picture), (reward, action, done)) in
            obs.chunks_exact_mut(SIZE).zip(all.chunks_exact(LEN)).zip(&self.beside)
        {
            to[..4].copy_from_slice(&reward.to_ne_bytes());
            to[PICTURE..PICTURE + LEN].copy_from_slice(picture);
            to[28..32].copy_from_slice(&action.to_ne_bytes());
            to[32] = *done;
        }
        obs
    }

    fn look(&mut self, env: usize) {
        let (reward, action) = (self.rng.uniform_f32() - 0.5, self.rng.bounded(u64::from(ACTIONS) - 1) as i32);
        self.beside[env] = (reward, action, self.rng.bounded(255) as u8);
    }

    /// One step of all learners on the same data, asserting equal results.
    fn tick(&mut self, hosts: &mut [Told]) {
        let acted = hosts[0].h.learner().acted().to_vec();
        let mut some = |flag: u8, acted: &[u8]| -> Vec<u8> {
            acted.iter().map(|&x| u8::from(x == flag && self.rng.bounded(3) > 0)).collect()
        };
        let to_act = some(0, &acted);
        let obs = self.obs();
        let mut first = None;
        for (k, Told { form, h }) in hosts.iter_mut().enumerate() {
            let obs = form.told(&obs);
            let mut action = h.actions();
            let a = h.action_len;
            // The first learner acts in one call, the others in two parts.
            for (begin, end) in if k == 0 { [(0, N), (N, N)] } else { [(0, 1), (1, N)] } {
                let rows = Elements::U8(&obs[begin * SIZE..end * SIZE]);
                let mut to = action.get_mut();
                let to = to.get(begin * a, end * a).unwrap();
                h.learner().act_range(begin, end, Some(&to_act[begin..end]), rows, None, to).unwrap();
            }
            assert_eq!(*first.get_or_insert_with(|| action.clone()), action);
        }
        let acted = hosts[0].h.learner().acted().to_vec();
        let observe: Vec<u8> = acted.iter().map(|&x| u8::from(x == 1 && self.rng.bounded(3) > 0)).collect();
        let reward: Vec<f32> = (0..N).map(|_| [0.0, 1.0, -0.5][self.rng.bounded(2) as usize]).collect();
        let mut flags = |p: f64| (0..N).map(|_| u8::from(self.rng.uniform() < p)).collect::<Vec<u8>>();
        let (terminated, truncated, gone) = (flags(0.15), flags(0.1), flags(0.05));
        for env in (0..N).filter(|env| observe[*env] != 0) {
            self.cameras[env].step(&mut self.rng);
            self.look(env);
        }
        let last = self.obs();
        for env in (0..N).filter(|env| observe[*env] != 0 && (terminated[*env] | truncated[*env]) != 0) {
            self.cameras[env] = Camera::begin(&mut self.rng);
            self.look(env);
        }
        for Told { form, h } in hosts.iter_mut() {
            let last = form.told(&last);
            let last = Some(Elements::U8(&last));
            h.learner().observe(Some(&observe), &reward, &terminated, &truncated, last, None).unwrap();
        }
        if hosts[0].h.learner().phase() != Phase::Learn {
            hosts.iter_mut().for_each(|own| own.h.learner().cut_rows(&gone).unwrap());
            for env in (0..N).filter(|env| gone[*env] != 0) {
                self.cameras[env] = Camera::begin(&mut self.rng);
            }
        }
    }

    /// Records until an update is due.
    fn record(&mut self, hosts: &mut [Told]) {
        while hosts[0].h.learner().phase() != Phase::Learn {
            self.tick(hosts);
        }
    }
}

fn is_built(own: &Algorithm) -> bool {
    Algorithm::from_number(*own as u32).is_some()
}

/// The same learner with the picture stored as numbers, as bytes, and once for each frame; in both orders of channels.
fn hosts(config: &Config, all: bool, memory: Option<Layer>, action: &Space<'_>) -> [Told; 5] {
    let forms = [(Form::Last, 0), (Form::First, 0), (Form::Planes, 0), (Form::First, NUM), (Form::Planes, NUM)];
    forms.map(|(form, num)| {
        // With the axes of their first field critics get continuous actions behind the layers.
        let first = if form == Form::Last { [1; 3] } else { [2, 2, (CHANNELS * NUM) as u32] };
        let obs_dims = if action.kind == Element::F32 { first } else { [0; 3] };
        let config = Config { num_stacked: num as u32, obs_dims, ..*config };
        Told { form, h: form.host(&config, all, memory, action) }
    })
}

/// Asserts that all learners have the same parameters, in bits; layers have the same order in all forms.
fn agree(hosts: &[Told], what: &str) {
    let wanted = params(&hosts[0].h);
    for (k, own) in hosts.iter().enumerate() {
        assert!(params(&own.h) == wanted, "{what}: learner {k}, {:?}", own.form);
    }
}

fn params(h: &Host) -> Vec<u32> {
    h.view().params().iter().map(|x| x.to_bits()).collect()
}

fn on_policy(algorithm: Algorithm, memory: bool, overlap: u32) -> Config {
    let own = Config::of(algorithm).hidden(&[6]);
    let own =
        if algorithm == Algorithm::Unreal { Config { history_len: 20, pixel_control_coef: 0.0, ..own } } else { own };
    let (num_minibatches, num_steps) = if algorithm == Algorithm::Ppo { (2, 8) } else { (1, 8) };
    Config {
        num_envs: N as u32,
        num_steps,
        num_minibatches,
        num_chunks: 2,
        overlap,
        sequence_len: if memory { 4 } else { 0 },
        burn_in: if memory { 3 } else { 0 },
        ..own
    }
}

#[test]
fn rollouts_learn_the_same_from_bytes_and_from_frames() {
    let action = Space::discrete(&[3]);
    let all = [Algorithm::Ppo, Algorithm::A2c, Algorithm::Impala, Algorithm::Pqn, Algorithm::Unreal];
    for (k, algorithm) in all.into_iter().filter(is_built).enumerate() {
        for (memory, overlap, all) in [(false, 0, false), (true, 1, false), (k % 2 == 0, k as u32 % 2, true)] {
            let config = on_policy(algorithm, memory, overlap);
            let memory = memory.then(|| recurrent()[1]);
            let (mut hosts, mut world) = (hosts(&config, all, memory, &action), World::new());
            let mut other = Form::Planes.host(&hosts[4].h.config, all, memory, &action);
            for update in 0..6 {
                world.record(&mut hosts);
                let obs = world.obs();
                for Told { form, h } in &mut hosts {
                    h.learner().learn_begin(Elements::U8(&form.told(&obs)), None).unwrap();
                }
                let [_, bytes, planes, once, last] = hosts.each_mut().map(|own| Columns::read(&mut own.h));
                for own in [&planes, &once, &last] {
                    assert_eq!((&bytes.obs, &bytes.value), (&own.obs, &own.value));
                }
                other.learner().write_params(hosts[4].h.view().params()).unwrap();
                other.learner().learn_batch(&last.batch()).unwrap();
                assert_eq!(Columns::read(&mut other), last, "a batch that goes to another learner");
                other.learner().learn_drop().unwrap();
                while hosts[0].h.view().stats().num_updates == update {
                    if overlap == 1 && hosts[0].h.learner().phase() != Phase::Learn {
                        world.tick(&mut hosts);
                    }
                    hosts.iter_mut().for_each(|own| assert!(own.h.learner().learn(None, None, 1).is_ok()));
                }
                agree(&hosts, &format!("{algorithm:?}, update {update}"));
            }
        }
    }
}

/// Bytes that are no result of a picture, and stacks that do not follow, are refused, and nothing is written.
#[test]
fn other_pictures_are_refused() {
    let (action, config) = (Space::discrete(&[3]), on_policy(Algorithm::Ppo, false, 0));
    let once = Config { num_stacked: NUM as u32, ..config };
    let form = Form::First;
    let (mut hosts, mut world) = ([Told { form, h: form.host(&once, false, None, &action) }], World::new());
    world.record(&mut hosts);
    let obs = world.obs();
    let [Told { h: mut own, .. }] = hosts;
    own.learner().learn_begin(Elements::U8(&obs), None).unwrap();
    let good = Columns::read(&mut own);
    let mut other = form.host(&once, false, None, &action);
    for at in [0, SEEN * 20 + LEN - 1] {
        for value in [0.5, good.obs[at] + if good.obs[at] > 0.5 { -1.0 } else { 1.0 } / 255.0] {
            let mut bad = good.clone();
            bad.obs[at] = value;
            // Frames of a first stack may be any bytes.
            if value == 0.5 {
                let before = other.block.clone();
                assert_eq!(other.learner().learn_batch(&bad.batch()).unwrap_err().kind, Kind::Value);
                assert!(other.block == before);
            }
        }
    }
    // Numbers beside the picture may be any.
    let mut bad = good.clone();
    bad.obs[LEN] = 0.123;
    other.learner().learn_batch(&bad.batch()).unwrap();
    own.learner().learn_drop().unwrap();
    let mut torn = world.obs();
    torn.chunks_exact_mut(SIZE).for_each(|row| row[PICTURE] ^= 1);
    let mut acting = own;
    let at = |l: &mut Learner<'_>, obs: &[u8]| l.act(None, Elements::U8(obs), None, ElementsMut::I32(&mut [0; N]));
    at(&mut acting.learner(), &world.obs()).unwrap();
    acting.learner().observe(None, &[0.0; N], &[0; N], &[0; N], None, None).unwrap();
    let held = acting.block.clone();
    assert_eq!(at(&mut acting.learner(), &torn).unwrap_err().kind, Kind::Value);
    assert!(acting.block == held);
}

#[test]
fn settings_of_pictures_that_cannot_be_are_refused() {
    let action = Space::discrete(&[3]);
    let size = |form: Form, config: &Config| {
        let (fields, _) = form.fields();
        let layers = form.layers(false, None);
        let config = Config { num_layers: layers.len() as u32, ..*config };
        let space = Space { n: &[ACTIONS], ..Space::bytes(SIZE as u32).with_fields(&fields) };
        Learner::size(&config, &layers, &space, &action).map_err(|e| e.to_string())
    };
    let config = on_policy(Algorithm::Ppo, false, 0);
    let once = Config { num_stacked: NUM as u32, ..config };
    let named = Config { obs_dims: [2, 2, (CHANNELS * NUM) as u32], ..once };
    assert!(size(Form::First, &once).is_ok());
    assert_eq!(size(Form::First, &once), size(Form::First, &named));
    let twice = [Form::First.fields().0[0], DONE, Field::new("again", Element::U8, &[2], PICTURE as u32 + 3)];
    let space = Space::bytes(SIZE as u32).with_fields(&twice);
    assert!(Learner::size(&config, &[], &space, &action).is_ok());
    let error = Learner::size(&once, &[], &space, &action).unwrap_err();
    assert!(error.to_string().contains("without bytes of the picture in other fields"), "{error}");
    for (form, config, why) in [
        (Form::Last, once, "num_stacked of 0, or observations of bytes"),
        (Form::First, Config { normalize_obs: 1, ..once }, "num_stacked of 0, or observations of bytes"),
        (Form::First, Config { num_stacked: 4, ..once }, "num_stacked that divides the last axis"),
        (Form::First, Config { obs_dims: [2, 2, 3], ..config }, "obs_dims"),
        (Form::Last, named, "obs_dims"),
        (Form::Planes, Config { obs_dims: [(CHANNELS * NUM) as u32, 2, 2], ..config }, "obs_dims"),
    ] {
        let error = size(form, &config).unwrap_err();
        assert!(error.contains(why), "{form:?}: {error}");
    }
}

/// Bytes that a step of an environment takes in a rollout: the newest frame, and the numbers beside it.
#[test]
fn a_step_takes_its_newest_frame() {
    let fields = [
        Field::new("frame", Element::U8, &[1, 84, 84, 4], 0),
        Field::new("reward", Element::F32, &[1], 84 * 84 * 4),
        Field::new("last_action", Element::I32, &[1], 84 * 84 * 4 + 4),
    ];
    let space = Space { n: &[6], ..Space::bytes(84 * 84 * 4 + 8).with_fields(&fields) };
    let bytes = |num_stacked: u32, order: [usize; 3]| {
        let fields = order.map(|i| fields[i]);
        let own = Config { num_stacked, num_minibatches: 4, ..on_policy(Algorithm::Ppo, false, 0) };
        let own = Config { num_chunks: 1, ..own };
        let size = |num_steps: u32, num_minibatches: u32| {
            let config = Config { num_steps, num_minibatches, ..own };
            Learner::size(&config, &[], &space.with_fields(&fields), &Space::discrete(&[6])).unwrap()
        };
        (size(256, 8) - size(128, 4)) as f64 / (128 * N) as f64
    };
    let [numbers, whole, once] = [bytes(0, [1, 2, 0]), bytes(0, [0, 1, 2]), bytes(4, [0, 1, 2])];
    assert!((112_900.0..113_050.0).contains(&numbers), "{numbers}");
    assert!((28_224.0..28_350.0).contains(&whole), "{whole}");
    assert!((7_497.0..7_680.0).contains(&once), "{once}");
}

/// Blocks with any one word forged and sealed again are refused, or safe for every call.
#[test]
fn forged_images_are_refused_or_harmless() {
    let config = Config { num_chunks: 1, ..on_policy(Algorithm::Ppo, false, 1).rollout(2, 1, 1) };
    let config = Config { num_envs: 1, num_stacked: NUM as u32, ..config.hidden(&[2]) };
    let mut h = Form::First.host(&config, false, None, &Space::discrete(&[3]));
    let mut row = World::new().obs();
    row.truncate(SIZE);
    let row = &row;
    let call = move |l: &mut Learner<'_>| -> Result {
        let (x, mut action) = (Elements::U8(row), [0]);
        l.predict(x, None, Recurrent::default(), Sampling::Basic, ElementsMut::I32(&mut action))?;
        match l.phase() {
            Phase::Act => l.act(None, x, None, ElementsMut::I32(&mut action)),
            Phase::Observe => l.observe(None, &[1.0], &[1], &[0], None, None),
            Phase::Learn => l.learn(Some(x), None, 1).map(drop),
        }
    };
    let mut blocks = vec![];
    for count in 0..10 {
        if count % 4 == 1 {
            blocks.push(h.block.clone());
        }
        call(&mut h.learner()).unwrap();
    }
    forge_learners(&blocks, &[1, 52, 0x7fc0_0000, u32::MAX - 1, u32::MAX], 9, call);
}

#[cfg(feature = "off_policy")]
#[test]
fn stores_learn_the_same_from_frames() {
    let (one, real) = (Space::discrete(&[3]), Space::between(&[-1.0; 2], &[1.0; 2]));
    for (algorithm, action, n_step, priority_exponent, memory) in [
        (Algorithm::Dqn, one, 1, 0.0, false),
        (Algorithm::Dqn, one, 3, 0.7, false),
        (Algorithm::Dqn, one, 1, 0.0, true),
        (Algorithm::Sac, one, 2, 0.5, false),
        (Algorithm::Sac, real, 1, 0.0, false),
        (Algorithm::Td3, real, 2, 0.6, false),
        (Algorithm::Sac, real, 1, 0.0, true),
    ] {
        let own = Config {
            num_envs: N as u32,
            num_chunks: 3,
            n_step,
            priority_exponent,
            importance_steps: if priority_exponent > 0.0 { 200 } else { 0 },
            sequence_len: if memory { 3 } else { 0 },
            train_interval: 3,
            gradient_steps: 2,
            policy_interval: if algorithm == Algorithm::Dqn { 1 } else { 2 },
            learning_rate: 1e-2,
            ..Config::of(algorithm).hidden(&[7]).store(50, 9, 14)
        };
        let memory = memory.then(|| recurrent()[1]);
        for all in [false, true] {
            let mut hosts = hosts(&own, all, memory, &action);
            let mut world = World::new();
            for _ in 0..160 {
                world.tick(&mut hosts);
                hosts.iter_mut().enumerate().for_each(|(k, own)| learn_all(&mut own.h.learner(), k as u32 % 2));
            }
            agree(&hosts, &format!("{algorithm:?}"));
            assert!(hosts[3].h.view().stats().num_updates > 60);
            let stores = |own: &Told| {
                let own = &own.h.config;
                Form::First.host(&Config { buffer_size: 500, ..*own }, all, memory, &action).block.len()
            };
            assert!(stores(&hosts[3]) < stores(&hosts[1]), "{algorithm:?}: frames are stored once");
        }
    }
}

/// Pixel control sees the picture of a structure as it sees a picture alone: with fields that no layer reads, the learner is
/// that of the picture, whether layers read its bytes or numbers.
#[cfg(feature = "unreal")]
#[test]
fn pixel_control_is_that_of_the_picture_alone() {
    let action = Space::discrete(&[3]);
    for (num_stacked, all, memory) in [(0, false, true), (NUM as u32, false, false), (NUM as u32, true, true)] {
        let own = on_policy(Algorithm::Unreal, memory, 0);
        let config = Config { pixel_control_coef: 0.7, num_stacked, ..own };
        let layers = |source: u32| {
            let see = |layer: Layer| Layer { source: [source, 0], ..layer };
            let mut layers =
                vec![see(Layer::conv(3, [2, 2], [1, 1], Activation::Relu)), Layer::dense(5, Activation::Tanh)];
            if all {
                layers.push(see(Layer::dense(4, Activation::Tanh)));
                layers.push(Layer::merge(LayerKind::Join, [2, 3], Activation::Identity));
            }
            layers.extend(memory.then(|| recurrent()[0]));
            layers
        };
        let num_layers = layers(0).len() as u32;
        let alone = Config { obs_dims: [2, 2, (CHANNELS * NUM) as u32], num_layers, ..config };
        let mut alone = Host::with(&alone, &layers(INPUT), &Space::bytes(LEN as u32), &action);
        let mut hosts = [Form::First, Form::Planes]
            .map(|form| Told { form, h: form.host_of(&config, &layers(INPUT | 1), &action) });
        let mut rng = Rng::seeded(5);
        let mut world = World::new();
        let start = params(&alone);
        for _ in 0..60 {
            let (obs, picture) = (world.obs(), pictures(&world.cameras));
            let reward: Vec<f32> = (0..N).map(|_| [0.0, 1.0, -0.5][rng.bounded(2) as usize]).collect();
            let ends: Vec<u8> = (0..N).map(|_| u8::from(rng.bounded(9) == 0)).collect();
            let step = |h: &mut Host, obs: &[u8]| {
                let (mut l, mut action) = (h.learner(), [0; N]);
                l.act(None, Elements::U8(obs), None, ElementsMut::I32(&mut action)).unwrap();
                l.observe(None, &reward, &ends, &[0; N], None, None).unwrap();
                if l.phase() == Phase::Learn {
                    l.learn(Some(Elements::U8(obs)), None, 0).unwrap();
                }
                action
            };
            let wanted = step(&mut alone, &picture);
            for Told { form, h } in &mut hosts {
                assert_eq!(step(h, &form.told(&obs)), wanted);
            }
            for (env, camera) in world.cameras.iter_mut().enumerate() {
                if ends[env] != 0 { *camera = Camera::begin(&mut rng) } else { camera.step(&mut rng) }
            }
            (0..N).for_each(|env| world.look(env));
        }
        assert!(alone.view().stats().pixel_control_loss > 0.0 && params(&alone) != start);
        hosts.iter().for_each(|own| assert!(params(&own.h) == params(&alone), "{:?}", own.form));
    }
}

/// The usual list of wrappers around a game, with records of steps: IMPALA of 2 environments and 20 steps. A step takes its newest
/// frame, a share of the spare frames and its record; the rest of the block does not depend on how rollouts store pictures.
#[test]
fn a_record_of_an_atari_game_is_small() {
    const FRAME: usize = 84 * 84 * 4;
    let fields = [
        Field::new("frame", Element::U8, &[1, 4, 84, 84], 0).planes(),
        Field::new("reward", Element::F32, &[1], FRAME as u32),
        Field::new("done", Element::U8, &[1], FRAME as u32 + 4),
        Field::new("last_action", Element::I32, &[1], FRAME as u32 + 8),
    ];
    let space = Space { n: &[6], ..Space::bytes(FRAME as u32 + 12) };
    let size = |num_stacked: u32, first: usize, [num_steps, overlap]: [u32; 2]| {
        let mut order = fields;
        order.rotate_left(first);
        let source = [INPUT | if first == 0 { 1 } else { 5 - first as u32 }, 0];
        let conv = |units, size, stride| Layer::conv(units, [size; 2], [stride; 2], Activation::Relu);
        let layers = [
            Layer { source, ..conv(32, 8, 4) },
            conv(64, 4, 2),
            conv(64, 3, 1),
            Layer::dense(512, Activation::Relu),
            Layer::merge(LayerKind::Join, [4, INPUT | if first == 0 { 2 } else { 1 }], Activation::Identity),
        ];
        let config = Config {
            num_envs: 2,
            num_steps,
            num_minibatches: 1,
            overlap,
            num_stacked,
            ..Config::of(Algorithm::Impala)
        };
        let config = Config { num_layers: layers.len() as u32, ..config.hidden(&[]) };
        Learner::size(&config, &layers, &space.with_fields(&order), &Space::discrete(&[6])).unwrap()
    };
    // Overlap adds a rollout, and 20 steps more of it are the difference.
    let step = |num_stacked: u32, first: usize| {
        let rollout = |steps: u32| size(num_stacked, first, [steps, 1]) - size(num_stacked, first, [steps, 0]);
        (rollout(40) - rollout(20)) as f64 / 40.0
    };
    let [numbers, bytes, once] = [step(0, 1), step(0, 0), step(4, 0)];
    let whole = [(0, 1), (0, 0), (4, 0)].map(|(num, first)| size(num, first, [20, 0]) as f64 / 1e6);
    println!("{numbers} {bytes} {once} bytes a step; {whole:?} MB");
    assert!((112_900.0..113_100.0).contains(&numbers), "{numbers}");
    assert!((28_224.0..28_350.0).contains(&bytes), "{bytes}");
    assert!((7_497.0..7_680.0).contains(&once), "{once}");
    assert!(whole[0] - whole[2] > 8.0, "{whole:?}");
}

/// UNREAL as published, with the last reward and action beside the picture into the LSTM, all tasks on, and the end of an
/// episode: the same bits from bytes, in both orders of channels, as from a picture of numbers.
#[cfg(feature = "unreal")]
#[test]
fn unreal_sees_what_is_beside_the_picture() {
    const FLOATS: usize = 4 * LEN + 12;
    let at = |field: Field<'static>, offset: usize| Field { offset: offset as u32, ..field };
    let numbers = [
        Field::new("picture", Element::F32, &[2, 2, (CHANNELS * NUM) as u32], 0),
        at(REWARD, 4 * LEN),
        at(LAST, 4 * LEN + 4),
        at(DONE, 4 * LEN + 8),
    ];
    let space = Space { n: &[ACTIONS], ..Space::bytes(FLOATS as u32).with_fields(&numbers) };
    let action = Space::discrete(&[3]);
    for all in [false, true] {
        let layers = Form::First.layers(all, Some(recurrent()[0]));
        let config = Config { pixel_control_coef: 0.7, ..on_policy(Algorithm::Unreal, true, 0) };
        let config = Config { num_layers: layers.len() as u32, burn_in: 0, ..config };
        let mut twin = Host::with(&config, &layers, &space, &action);
        let mut hosts = [Form::First, Form::Planes].map(|form| (form, form.host_of(&config, &layers, &action)));
        let (mut world, mut rng, start) = (World::new(), Rng::seeded(6), params(&twin));
        for _ in 0..80 {
            let obs = world.obs();
            let told: Vec<u8> = obs
                .chunks_exact(SIZE)
                .flat_map(|row| {
                    let picture =
                        row[PICTURE..PICTURE + LEN].iter().flat_map(|x| (f32::from(*x) / 255.0).to_ne_bytes());
                    picture.chain(row[..4].iter().copied()).chain(row[28..36].iter().copied()).collect::<Vec<u8>>()
                })
                .collect();
            let reward: Vec<f32> = (0..N).map(|_| [0.0, 1.0, -0.5][rng.bounded(2) as usize]).collect();
            let ends: Vec<u8> = (0..N).map(|_| u8::from(rng.bounded(9) == 0)).collect();
            let step = |h: &mut Host, obs: &[u8]| {
                let (mut l, mut action) = (h.learner(), [0; N]);
                l.act(None, Elements::U8(obs), None, ElementsMut::I32(&mut action)).unwrap();
                l.observe(None, &reward, &ends, &[0; N], None, None).unwrap();
                if l.phase() == Phase::Learn {
                    l.learn(Some(Elements::U8(obs)), None, 0).unwrap();
                }
                action
            };
            let wanted = step(&mut twin, &told);
            for (form, h) in &mut hosts {
                assert_eq!(step(h, &form.told(&obs)), wanted);
            }
            for (env, camera) in world.cameras.iter_mut().enumerate() {
                if ends[env] != 0 { *camera = Camera::begin(&mut rng) } else { camera.step(&mut rng) }
            }
            (0..N).for_each(|env| world.look(env));
        }
        let stats = twin.view().stats();
        assert!(stats.pixel_control_loss > 0.0 && stats.num_updates > 5 && params(&twin) != start);
        assert!(hosts.iter().all(|(_, own)| params(own) == params(&twin)));
    }
}
