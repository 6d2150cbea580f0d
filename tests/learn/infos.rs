//! Infos: fields of observations that travel with them and that networks do not read.

#![cfg(all(feature = "off_policy", feature = "recurrent", feature = "residual", feature = "pictures"))]

use crate::host::{Array, Host, Tune, outcome, policy};
use bytemuck::cast_slice_mut;
use rlcore::collect::collect;
use rlcore::env::wrap::{Pipeline, Wrapper};
use rlcore::env::{Env, Spec, Step, StepOut, VecEnv, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent};
use rlcore::nn::{Activation, INPUT, Layer, LayerKind};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Field, Space};

const N: usize = 3;
const CHOICES: [u32; 1] = [4];
const PLACE: Field<'static> = Field::new("place", Element::F32, &[3], 0);
const SIGN: Field<'static> = Field::new("sign", Element::I32, &[1], 20);

/// A structure with an info of each kind: numbers that networks read, infos, a choice, infos.
const TOLD: [Field<'static>; 5] = [
    PLACE,
    Field::new("odds", Element::F32, &[2], 12).unread(),
    SIGN,
    Field::new("level", Element::I32, &[1], 24).unread(),
    Field::new("flags", Element::U8, &[4], 28).unread(),
];
/// The same bytes, without a word about infos.
const UNTOLD: [Field<'static>; 2] = [PLACE, SIGN];
/// What networks read, and nothing else.
const BARE: [Field<'static>; 2] = [PLACE, Field::new("sign", Element::I32, &[1], 12)];

fn space(fields: &'static [Field<'static>], len: u32) -> Space<'static> {
    Space { n: &CHOICES, ..Space::bytes(len).with_fields(fields) }
}

/// Observations of all rows with infos, and the same without.
fn draw(rng: &mut Rng, infos: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    let (mut told, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..N {
        let place = [(); 3].map(|()| rng.uniform_f32() - 0.5);
        let sign = rng.bounded(3) as i32;
        bare.extend(bytemuck::bytes_of(&place));
        bare.extend(sign.to_ne_bytes());
        told.extend(bytemuck::bytes_of(&place));
        told.extend(bytemuck::bytes_of(&[infos.uniform_f32() * 1e9, infos.uniform_f32()]));
        told.extend(sign.to_ne_bytes());
        told.extend((infos.bounded(1 << 30) as i32).to_ne_bytes());
        told.extend([infos.bounded(255) as u8; 4]);
    }
    (told, bare)
}

/// Actions and parameters of a learner that plays with these observations, and the actions of the policy it exports.
fn run(mut h: Host, bare: bool, infos: u64) -> (Vec<Array>, Vec<f32>) {
    let (mut rng, mut infos, mut all) = (Rng::seeded(4), Rng::seeded(infos), Vec::new());
    let mut seen = draw(&mut rng, &mut infos);
    for _ in 0..60 {
        let pick = |seen: &(Vec<u8>, Vec<u8>)| if bare { seen.1.clone() } else { seen.0.clone() };
        let (obs, mut action) = (pick(&seen), h.actions());
        let mut learner = h.learner();
        learner.act(None, Elements::U8(&obs), None, action.get_mut()).unwrap();
        seen = draw(&mut rng, &mut infos);
        let next = pick(&seen);
        let reward: Vec<f32> =
            action.row(0, 1).into_iter().cycle().take(N).map(|x| x as f32 * rng.uniform_f32()).collect();
        let ends: Vec<u8> = (0..2 * N).map(|_| u8::from(rng.bounded(9) == 0)).collect();
        learner.observe(None, &reward, &ends[..N], &ends[N..], Some(Elements::U8(&next)), None).unwrap();
        all.push(action);
        while learner.phase() == Phase::Learn {
            learner.learn(Some(Elements::U8(&next)), None, 1).unwrap();
        }
    }
    let bytes = crate::host::export(&h.view());
    let policy = policy(&bytes);
    let mut action = h.actions();
    let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
    let mut state = vec![0.0; N * policy.state_len()];
    let obs = if bare { seen.1 } else { seen.0 };
    let carried = Recurrent { state: &mut state, reset: &[1; N] };
    policy.act_greedy(N, Elements::U8(&obs), None, carried, &mut scratch, action.get_mut()).unwrap();
    all.push(action);
    (all, h.view().params().to_vec())
}

/// No algorithm and no layer reads an info that no layer names; layers count the other fields first.
#[test]
fn networks_do_not_read_infos() {
    let of = |algorithm| Config { num_envs: N as u32, ..Config::of(algorithm).hidden(&[6]).rate(0.02) };
    let ppo = of(Algorithm::Ppo).rollout(8, 1, 2);
    let sign = Layer { source: [INPUT + 2, 0], ..Layer::dense(5, Activation::Tanh) };
    let place = Layer { source: [INPUT + 1, 0], ..Layer::dense(4, Activation::Tanh) };
    let join = Layer { kind: LayerKind::Join as u32, source: [1, 2], ..Layer::default() };
    let memory = Layer { kind: LayerKind::Gru as u32, units: 4, ..Layer::default() };
    let stored = |algorithm| of(algorithm).store(40, 8, 10);
    let (pick, push) = (Space::discrete(&[3]), Space::between(&[-1.0], &[1.0]));
    for (name, config, layers, action) in [
        ("ppo", ppo.normalized(1, 1), vec![], pick),
        ("ppo, fields apart", ppo, vec![sign, place, join], pick),
        ("ppo, memory", Config { sequence_len: 4, ..ppo }, vec![memory], push),
        ("dqn", stored(Algorithm::Dqn), vec![], pick),
        ("sac", stored(Algorithm::Sac), vec![], push),
    ] {
        let config = Config { num_layers: layers.len() as u32, ..config };
        let host = |fields, len| Host::with(&config, &layers, &space(fields, len), &action);
        let (told, untold, bare) = (host(&TOLD, 32), host(&UNTOLD, 32), host(&BARE, 16));
        assert_eq!(told.learner_len(), 3 + 4, "{name}");
        assert!(told.block == untold.block, "{name}: the blocks have no trace of infos");
        let wanted = run(bare, true, 1);
        assert!(run(told.clone(), false, 1) == wanted, "{name}: infos");
        assert!(run(told, false, 2) == wanted, "{name}: other infos");
        assert!(run(untold, false, 3) == wanted, "{name}: fields that are not listed");
    }
}

/// Infos that layers name are read as fields are, behind those that are no infos; with them all infos before them.
#[test]
fn layers_read_the_infos_that_they_name() {
    const ODDS: Field<'static> = Field::new("odds", Element::F32, &[2], 12);
    const LEVEL: Field<'static> = Field::new("level", Element::I32, &[1], 24);
    const FLAGS: Field<'static> = Field::new("flags", Element::U8, &[4], 28);
    /// In the order in which layers count them.
    const ALL: [Field<'static>; 5] = [PLACE, SIGN, ODDS, LEVEL, FLAGS];
    let of = |algorithm| Config { num_envs: N as u32, ..Config::of(algorithm).hidden(&[6]).rate(0.02) };
    let ppo = of(Algorithm::Ppo).rollout(8, 1, 2);
    let pick = Space::discrete(&[3]);
    let see = |part: u32, units| Layer { source: [INPUT + part, 0], ..Layer::dense(units, Activation::Tanh) };
    let join = |before, part| Layer::merge(LayerKind::Join, [before, INPUT + part], Activation::Identity);
    let memory = Layer { kind: LayerKind::Gru as u32, units: 4, ..Layer::default() };
    let stored = |algorithm| of(algorithm).store(40, 8, 10);
    for (name, config, layers, action, infos) in [
        ("ppo", ppo.normalized(1, 1), vec![see(1, 5), join(1, 3)], pick, 1),
        ("ppo, all", Config { sequence_len: 4, ..ppo }, vec![see(5, 5), join(1, 4), memory], pick, 3),
        ("dqn", stored(Algorithm::Dqn), vec![see(3, 4), join(1, 2)], pick, 1),
        ("sac", Config { sequence_len: 4, ..stored(Algorithm::Sac) }, vec![see(4, 4), memory], pick, 2),
    ] {
        // Numbers of choices in the order in which layers count the fields.
        let n: &'static [u32] = if infos > 1 { &[4, 256] } else { &[4] };
        let config = Config { num_layers: layers.len() as u32, ..config };
        let space = |fields| Space { n, ..Space::bytes(32).with_fields(fields) };
        let fields: &'static [Field<'static>] = ALL.get(..2 + infos).unwrap();
        let (told, plain) = (space(&TOLD), space(fields));
        let mut hosts = [told, plain].map(|obs| Host::with(&config, &layers, &obs, &action));
        let mut rng = Rng::seeded(7);
        for step in 0..60 {
            let mut obs = Vec::new();
            for _ in 0..N {
                let numbers: Vec<f32> = (0..5).map(|_| rng.uniform_f32() - 0.5).collect();
                obs.extend(bytemuck::cast_slice::<f32, u8>(&numbers));
                obs.extend((rng.bounded(3) as i32).to_ne_bytes());
                obs.extend((rng.bounded(255) as i32).to_ne_bytes());
                obs.extend([(); 4].map(|()| rng.bounded(255) as u8));
            }
            let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
            let ends: Vec<u8> = (0..2 * N).map(|_| u8::from(rng.bounded(9) == 0)).collect();
            let actions = hosts.each_mut().map(|h| {
                let (mut action, mut learner) = (h.actions(), h.learner());
                learner.act(None, Elements::U8(&obs), None, action.get_mut()).unwrap();
                learner.observe(None, &reward, &ends[..N], &ends[N..], Some(Elements::U8(&obs)), None).unwrap();
                while learner.phase() == Phase::Learn {
                    learner.learn(Some(Elements::U8(&obs)), None, 1).unwrap();
                }
                action
            });
            assert!(actions[0] == actions[1], "{name}: {step}");
        }
        assert!(hosts[0].view().stats().num_updates > 1, "{name}");
        assert!(hosts[0].block == hosts[1].block, "{name}: the same learner");
        // A layer that reads all of the input would read infos that it does not name.
        let mut all = layers.clone();
        all[0].source = [0; 2];
        let named = all.iter().any(|layer| layer.source.iter().any(|source| *source > INPUT + 2));
        let n = if named { told.n } else { &[4] };
        let error = Learner::size(&config, &all, &Space { n, ..told }, &action).err();
        assert_eq!(error.is_some(), named, "{name}: {error:?}");
        // Beyond the last info.
        all[0].source = [INPUT + 6, 0];
        let obs = Space { n: &[4, 256], ..told };
        let error = Learner::size(&config, &all, &obs, &action).unwrap_err();
        assert!(error.to_string().contains("a part that the input has"), "{name}: {error}");
    }
}

impl Host {
    /// How many numbers networks read of an observation.
    fn learner_len(&self) -> usize {
        self.view().shape().seen_len as usize
    }
}

/// A game whose pictures come with infos: the row and the steps of the episode.
struct Filmed;

const FILM: [Field<'static>; 3] = [
    Field::new("picture", Element::U8, &[4, 4, 1], 0),
    Field::new("row", Element::I32, &[1], 16).unread(),
    Field::new("steps", Element::F32, &[1], 20).unread(),
];

impl Filmed {
    fn show(row: usize, steps: u8, rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let obs = obs.u8()?;
        obs[..16].fill_with(|| rng.bounded(255) as u8);
        obs[16..20].copy_from_slice(&(row as i32).to_ne_bytes());
        obs[20..].copy_from_slice(&f32::from(steps).to_ne_bytes());
        Ok(())
    }
}

impl Env for Filmed {
    fn spec(&self) -> Spec<'_> {
        let obs = Space::bytes(24).with_fields(&FILM);
        Spec { env_id: 9600, state_size: 8, max_episode_steps: 0, obs, action: Space::discrete(&[3]), wrappers: 0 }
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        state[0] = 0;
        Filmed::show(row, 0, rng, obs)
    }

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        state[0] += 1;
        Filmed::show(row, state[0], rng, obs)?;
        Ok(Step { reward: action.i32()?[0] as f32, terminated: rng.bounded(9) == 0, truncated: false })
    }
}

/// Infos pass wrappers, autoreset and a collected rollout; the learner learns what it learns from pictures alone.
#[test]
fn infos_travel_through_wrappers_and_a_collected_rollout() {
    let list = [
        Wrapper::ActionRepeat { count: 2 },
        Wrapper::WarpFrame { height: 2, width: 2, gray: false, field: "picture" },
        Wrapper::TimeLimit { steps: 3 },
    ];
    let alone = [&list[..], &[Wrapper::Extract { field: "picture" }]].concat();
    let (told, bare) = (Pipeline::new(&Filmed, &list).unwrap(), Pipeline::new(&Filmed, &alone).unwrap());
    assert_eq!(
        told.fields().iter().map(|field| (field.name, field.info, field.offset)).collect::<Vec<_>>(),
        [("picture", false, 0), ("row", true, 4), ("steps", true, 8),]
    );
    assert!(bare.fields().iter().all(|field| !field.info));
    let config = Config { num_envs: N as u32, ..Config::default().hidden(&[5]).rollout(16, 2, 2) };
    let params = [&told as &dyn Env, &bare].map(|env| {
        let (spec, many) = (env.spec(), VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() });
        let len = N * spec.obs.len as usize;
        let mut world = vec![0u64; VecEnv::size(env, &many).unwrap() / 8];
        let mut envs = VecEnv::init(cast_slice_mut(&mut world), env, &many).unwrap();
        let mut h = Host::new(&config, &spec.obs, &spec.action);
        assert_eq!(h.learner_len(), 4);
        let (mut obs, mut last, mut ended) = (vec![0; len], vec![0; len], 0);
        let (mut action, mut reward, mut terminated, mut truncated) = ([0; N], [0.0; N], [0; N], [0; N]);
        envs.reset(None, ElementsMut::U8(&mut obs)).unwrap();
        for _ in 0..48 {
            let out = StepOut {
                obs: ElementsMut::U8(&mut obs),
                final_obs: Some(ElementsMut::U8(&mut last)),
                ..outcome(&mut [], &mut [], &mut reward, &mut terminated, &mut truncated)
            };
            let (steps, done) = collect(&mut h.learner(), env, &mut envs.rows(), ElementsMut::I32(&mut action), out, 1);
            assert_eq!((steps, done), (1, Ok(())));
            for i in (0..N).filter(|_| spec.obs.len > 4) {
                let infos =
                    |obs: &[u8]| (obs[i * 12 + 4], f32::from_ne_bytes(obs[i * 12 + 8..][..4].try_into().unwrap()));
                let over = (terminated[i] | truncated[i]) != 0;
                assert_eq!(infos(&obs).0 as usize, i);
                assert_eq!(infos(&obs).1 == 0.0, over);
                if over {
                    assert!(infos(&last).0 as usize == i && infos(&last).1 >= 1.0 && infos(&last).1 <= 6.0);
                    ended += 1;
                }
            }
            if h.learner().phase() == Phase::Learn {
                h.learner().learn(Some(Elements::U8(&obs)), None, 0).unwrap();
            }
        }
        assert!(ended > 10 || spec.obs.len == 4);
        h.view().params().to_vec()
    });
    assert!(params[0] == params[1]);
}

/// What cannot keep infos apart refuses them.
#[test]
fn infos_are_refused_where_they_would_be_read() {
    let says =
        |e: rlcore::error::Error, words: &str| assert!(e.kind == Kind::Config && format!("{e}").contains(words), "{e}");
    says(Pipeline::new(&Filmed, &[Wrapper::Flatten]).err().unwrap(), "flatten: fields that are no infos");
    let config = Config { num_envs: 2, ..Config::default().hidden(&[4]) };
    let size = |obs: &Space<'_>, action: &Space<'_>| Learner::size(&config, &[], obs, action).unwrap_err();
    let (only, pick) = ([FILM[0].unread()], Space::discrete(&[2]));
    says(size(&Space::bytes(16).with_fields(&only), &pick), "a field of an observation that is no info");
    let beyond = [FILM[0], Field::new("row", Element::I32, &[1], 24).unread()];
    says(size(&Space::bytes(24).with_fields(&beyond), &pick), "fields that end within the bytes of an observation");
    let fields = [Field::new("push", Element::F32, &[1], 0), Field::new("note", Element::F32, &[1], 4).unread()];
    says(size(&Space::unbounded(2), &Space::bytes(8).with_fields(&fields)), "be no info");
}
