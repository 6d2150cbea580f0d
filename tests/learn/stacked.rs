//! Learners that store each frame of stacked observations once.

use crate::host::camera::{CHANNELS, Camera, LEN, NUM, PIXELS, Scene, pictures, play};
use crate::host::{Columns, Host, Tune, config, record, recurrent};
use rlcore::env::Autoreset;
use rlcore::env::wrap::Wrapper;
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Stats};
use rlcore::nn::Layer;
use rlcore::rng::Rng;
#[cfg(feature = "residual")]
use rlcore::space::{Element, Field};
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 4;
fn setup(num_stacked: u32, overlap: u32) -> Config {
    Config {
        num_envs: N as u32,
        num_chunks: 3,
        obs_dims: if num_stacked > 0 { [2, 2, (CHANNELS * NUM) as u32] } else { [0; 3] },
        num_stacked,
        overlap,
        ..config().rollout(8, 2, 2)
    }
}

fn host(config: &Config, layers: &[Layer]) -> Host {
    Host::with(config, layers, &Space::bytes(LEN as u32), &Space::discrete(&[3]))
}

/// Agents that act at their own times and sometimes leave.
struct World {
    cameras: Vec<Camera>,
    rng: Rng,
}

impl World {
    fn new() -> World {
        let mut rng = Rng::seeded(4);
        World { cameras: (0..N).map(|_| Camera::begin(&mut rng)).collect(), rng }
    }

    /// One step of both learners on the same data, asserting equal results.
    fn tick(&mut self, hosts: &mut [Host; 2], all: bool) {
        let rng = &mut self.rng;
        let acted = hosts[0].learner().acted().to_vec();
        let mut some = |flag: u8| -> Vec<u8> {
            acted.iter().map(|&x| u8::from(x == flag && (all || rng.bounded(3) > 0))).collect()
        };
        let (to_act, obs) = (some(0), pictures(&self.cameras));
        let actions = hosts.each_mut().map(|h| {
            let mut action = [-1; N];
            // The learner that stores whole stacks acts in one call, the other in two parts.
            let ends = if h.config.num_stacked == 0 { [0, N, N] } else { [0, 1, N] };
            for (begin, end) in ends.into_iter().zip(ends.into_iter().skip(1)) {
                let rows = Elements::U8(&obs[begin * LEN..end * LEN]);
                let to = ElementsMut::I32(&mut action[begin..end]);
                h.learner().act_range(begin, end, Some(&to_act[begin..end]), rows, None, to).unwrap();
            }
            action
        });
        assert_eq!(actions[0], actions[1]);
        let acted = hosts[0].learner().acted().to_vec();
        let observe: Vec<u8> = acted.iter().map(|&x| u8::from(x == 1 && (all || rng.bounded(3) > 0))).collect();
        let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
        let mut flags = |p: f64| (0..N).map(|_| u8::from(rng.uniform() < p)).collect::<Vec<u8>>();
        let (terminated, truncated, gone) = (flags(0.15), flags(0.1), flags(if all { 0.0 } else { 0.05 }));
        for (i, camera) in self.cameras.iter_mut().enumerate().filter(|(i, _)| observe[*i] != 0) {
            if (terminated[i] | truncated[i]) != 0 { *camera = Camera::begin(rng) } else { camera.step(rng) }
        }
        for h in hosts.iter_mut() {
            let last = Some(Elements::U8(&obs));
            h.learner().observe(Some(&observe), &reward, &terminated, &truncated, last, None).unwrap();
        }
        if hosts[0].learner().phase() != Phase::Learn {
            hosts.iter_mut().for_each(|h| h.learner().cut_rows(&gone).unwrap());
            for (camera, _) in self.cameras.iter_mut().zip(gone).filter(|(_, gone)| *gone != 0) {
                *camera = Camera::begin(rng);
            }
        }
    }

    /// Records until an update is due, and begins it.
    fn begin(&mut self, hosts: &mut [Host; 2], all: bool) {
        while hosts[0].learner().phase() != Phase::Learn {
            self.tick(hosts, all);
        }
        let obs = pictures(&self.cameras);
        hosts.iter_mut().for_each(|h| assert!(h.learner().learn_begin(Elements::U8(&obs), None).is_ok()));
    }
}

fn bits(stats: &Stats) -> Vec<u8> {
    bytemuck::bytes_of(&[stats.policy_loss, stats.value_loss, stats.entropy, stats.grad_norm, stats.return_mean])
        .to_vec()
}

#[test]
fn learning_is_the_same_as_with_whole_observations() {
    let (ppo, gru) = (Algorithm::Ppo, Some(recurrent()[1]));
    let is_built = |own: &Algorithm| Algorithm::from_number(*own as u32).is_some();
    let others = [Algorithm::A2c, Algorithm::Impala, Algorithm::Pqn].into_iter().filter(is_built);
    let cases = [(0, true, None, ppo), (0, false, None, ppo), (1, true, None, ppo)].into_iter();
    let more = others.flat_map(|own| [(0, false, gru, own), (1, false, None, own), (1, false, gru, own)]);
    for (overlap, all, layer, algorithm) in cases.chain([(0, false, gru, ppo), (1, false, gru, ppo)]).chain(more) {
        let mut config = Config { algorithm: algorithm as u32, ..setup(0, overlap) };
        if algorithm != ppo {
            (config.normalize_advantage, config.num_minibatches, config.num_chunks) = (0, 1, 2);
        }
        // With a recurrent layer, sequences begin with states refreshed by burn-in.
        (config.num_layers, config.sequence_len, config.burn_in) = if layer.is_some() { (1, 4, 3) } else { (0, 0, 0) };
        let (layers, obs_dims) = (layer.as_slice(), setup(NUM as u32, 0).obs_dims);
        let mut hosts = [host(&config, layers), host(&Config { obs_dims, num_stacked: NUM as u32, ..config }, layers)];
        let (mut world, mut other) = (World::new(), host(&hosts[1].config, layers));
        for _ in 0..12 {
            world.begin(&mut hosts, all);
            let [whole, once] = hosts.each_mut().map(Columns::read);
            assert_eq!((&whole.obs, &whole.action, &whole.value), (&once.obs, &once.action, &once.value));
            other.learner().write_params(hosts[1].view().params()).unwrap();
            other.learner().learn_batch(&once.batch()).unwrap();
            assert_eq!(Columns::read(&mut other), once, "a batch that goes to another learner");
            other.learner().learn_drop().unwrap();
            // With overlap, acting continues during the update.
            let before = hosts[0].view().stats().num_updates;
            while hosts[0].view().stats().num_updates == before {
                if overlap == 1 && hosts[0].learner().phase() != Phase::Learn {
                    world.tick(&mut hosts, all);
                }
                let [whole, once] = hosts.each_mut().map(|h| h.learner().learn(None, None, 1).unwrap());
                assert_eq!(bits(&whole), bits(&once));
            }
            assert!(hosts[0].view().params() == hosts[1].view().params());
        }
        assert_eq!(hosts[0].learner().stats().num_updates, 12);
    }
}

/// The only field of an observation defines the last axis, as `obs_dims` does.
#[test]
#[cfg(feature = "residual")]
fn the_picture_of_a_field_is_a_stack_too() {
    let fields = [Field::new("", Element::U8, &[2, 2, (CHANNELS * NUM) as u32], 0)];
    let space = Space::bytes(LEN as u32).with_fields(&fields);
    let mut hosts = [0, NUM as u32].map(|num| {
        let config = Config { obs_dims: [0; 3], ..setup(num, 0) };
        Host::with(&config, &[], &space, &Space::discrete(&[3]))
    });
    let mut world = World::new();
    for _ in 0..2 {
        world.begin(&mut hosts, false);
        let [whole, once] = hosts.each_mut().map(Columns::read);
        assert_eq!(whole.obs, once.obs);
        hosts.iter_mut().for_each(|h| assert!(h.learner().learn(None, None, 0).is_ok()));
        assert!(hosts[0].view().params() == hosts[1].view().params());
    }
    let config = Config { obs_dims: [0; 3], ..setup(4, 0) };
    let error = Learner::size(&config, &[], &space, &Space::discrete(&[3])).unwrap_err();
    assert!(error.to_string().contains("divides the last axis"), "{error}");
}

/// A stack whose older frames no observation showed takes spare frames, as many as a rollout has: one for each environment
/// and for each 16 transitions.
#[test]
fn stacks_with_too_many_new_frames_are_refused_and_nothing_is_written() {
    const ROOM: usize = 8 * N / 16 + N;
    let mut hosts = [host(&setup(0, 0), &[]), host(&setup(NUM as u32, 0), &[])];
    let mut rng = Rng::seeded(9);
    // A first stack may hold any frames.
    let first = hosts[0].draw_obs(&mut rng);
    let Elements::U8(first) = first.get() else { panic!() };
    let mut obs = first.to_vec();
    let frame = |obs: &[u8], i: usize| -> Vec<u8> {
        obs.chunks_exact(CHANNELS * NUM).flat_map(|pixel| pixel[i * CHANNELS..][..CHANNELS].to_vec()).collect()
    };
    let of = |frames: [&[u8]; NUM]| -> Vec<u8> {
        let pixels = (0..N * PIXELS).map(|pixel| pixel * CHANNELS..(pixel + 1) * CHANNELS);
        pixels.flat_map(|at| frames.iter().flat_map(move |frame| frame[at.clone()].to_vec())).collect()
    };
    let mut new = || -> Vec<u8> { (0..N * PIXELS * CHANNELS).map(|_| rng.bounded(255) as u8).collect() };
    let act = |h: &mut Host, obs: &[u8]| {
        let before = h.block.clone();
        let done = h.learner().act(None, Elements::U8(obs), None, ElementsMut::I32(&mut [0; N]));
        assert!(done.is_ok() || h.block == before);
        done.map_err(|e| e.kind)
    };
    let (mut taken, mut refused) = (0, 0);
    let zeros = of([&vec![0; N * PIXELS * CHANNELS][..]; NUM]);
    for step in 0.. {
        assert_eq!(hosts.each_mut().map(|h| act(h, &obs)), [Ok(()); 2], "{step}");
        for h in &mut hosts {
            h.learner().observe(None, &[step as f32; N], &[0; N], &[0; N], None, None).unwrap();
        }
        if hosts[0].learner().phase() == Phase::Learn {
            break;
        }
        let [newer, newest] = [1, 2].map(|i| frame(&obs, i));
        let (next, other, more) = (new(), new(), new());
        // The frames of a stack, and how many of them are new for each environment besides the newest one.
        let kinds = [
            (of([&newer, &newest, &next]), 0),
            (of([&next, &next, &next]), 0),
            (of([&newest, &other, &next]), 1),
            (of([&frame(&zeros, 0), &next, &next]), 0),
            (of([&other, &more, &next]), 2),
            (of([&more, &newest, &next]), 2),
        ];
        let mut trial = hosts[1].clone();
        for (obs, count) in &kinds {
            let fits = taken + count * N <= ROOM;
            let wanted = if fits { Ok(()) } else { Err(Kind::Value) };
            assert_eq!(act(&mut trial.clone(), obs), wanted, "{step}: {count} beside {taken}");
            refused += usize::from(!fits);
        }
        let mut torn = kinds[0].0.clone();
        torn[LEN * N - 1 - CHANNELS] ^= 1;
        assert_eq!(act(&mut trial, &torn), if taken + 2 <= ROOM { Ok(()) } else { Err(Kind::Value) });
        let (next, count) = &kinds[[0, 2, 3, 0, 0, 1, 0][step % 7]];
        (obs, taken) = (next.clone(), taken + count * N);
    }
    assert!(taken > 0 && taken + N > ROOM && refused > 6, "{taken} {refused}");
    let [whole, once] = hosts.each_mut().map(|h| {
        h.learner().learn_begin(Elements::U8(&obs), None).unwrap();
        let columns = Columns::read(h);
        h.learner().learn(None, None, 0).unwrap();
        columns
    });
    assert_eq!(whole.obs, once.obs);
    assert!(hosts[0].view().params() == hosts[1].view().params());
    // A batch of such stacks, and one with more frames than there is room for.
    let mut other = host(&hosts[1].config, &[]);
    other.learner().learn_batch(&once.batch()).unwrap();
    assert_eq!(Columns::read(&mut other).obs, once.obs);
    other.learner().learn_drop().unwrap();
    let (before, mut batch) = (other.block.clone(), once);
    for row in [3, 5, 12] {
        batch.obs[row * LEN] = if batch.obs[row * LEN] == 0.2 { 0.4 } else { 0.2 };
    }
    assert_eq!(other.learner().learn_batch(&batch.batch()).unwrap_err().kind, Kind::Value);
    assert!(other.block == before);
}

#[test]
fn stacks_that_cannot_be_are_refused() {
    let size =
        |config: &Config, obs: &Space<'_>| Learner::size(config, &[], obs, &Space::discrete(&[2])).map_err(|e| e.kind);
    let (good, obs) = (setup(NUM as u32, 0), Space::bytes(LEN as u32));
    assert!(size(&good, &obs).is_ok());
    for bad in [
        Config { num_stacked: 4, ..good },
        Config { num_stacked: 17, obs_dims: [1, 1, 17], ..good },
        Config { normalize_obs: 1, ..good },
    ] {
        let obs = if bad.num_stacked == 17 { Space::bytes(17) } else { obs };
        assert_eq!(size(&bad, &obs), Err(Kind::Config));
    }
    assert_eq!(size(&good, &Space::unbounded(LEN as u32)), Err(Kind::Config));
    let huge = Config { num_envs: 1 << 28, num_steps: 2, num_stacked: 16, obs_dims: [0; 3], ..good };
    assert_eq!(size(&huge, &Space::bytes(16)), Err(Kind::Overflow));
    // Without dimensions the whole observation is the last axis.
    let mut flat = Host::new(&Config { obs_dims: [0; 3], num_stacked: 1, ..good }, &obs, &Space::discrete(&[2]));
    record(&mut flat, &mut Rng::seeded(1));
}

#[test]
fn a_picture_of_84_by_84_takes_its_newest_frame_and_a_sixteenth() {
    let bytes = |num_stacked| {
        let config = Config { num_envs: 8, num_steps: 128, num_stacked, ..config() };
        let config = Config { obs_dims: if num_stacked > 0 { [84, 84, 4] } else { [0; 3] }, ..config };
        let size =
            |config: &Config| Learner::size(config, &[], &Space::bytes(84 * 84 * 4), &Space::discrete(&[4])).unwrap();
        (size(&Config { num_steps: 256, num_minibatches: 8, ..config }) - size(&config)) as f64 / 1024.0
    };
    assert!((28_200.0..28_500.0).contains(&bytes(0)), "{}", bytes(0));
    assert!((7_497.0..7_590.0).contains(&bytes(4)), "{}", bytes(4));
}

/// Records films with these wrappers, until a call is refused or three updates are done.
fn watch(list: &[Wrapper<'_>], autoreset: Autoreset) -> Result {
    let mut hosts = [host(&setup(0, 0), &[]), host(&setup(NUM as u32, 0), &[])];
    play::<N>(list, autoreset, |mut scene| {
        for h in &mut hosts {
            let mut l = h.learner();
            match &mut scene {
                Scene::Act { active, obs, action } => {
                    l.act(Some(active), Elements::U8(obs), None, ElementsMut::I32(action))?;
                }
                Scene::Observe { active, outcome: [terminated, truncated], reward, last, obs } => {
                    l.observe(Some(active), reward, terminated, truncated, Some(Elements::U8(last)), None)?;
                    if l.phase() == Phase::Learn {
                        l.learn(Some(Elements::U8(obs)), None, 0)?;
                    }
                }
            }
        }
        assert!(hosts[0].view().params() == hosts[1].view().params());
        Ok(hosts[0].view().stats().num_updates < 3)
    })
}

/// Stacks made by wrappers, in every autoreset mode. A stack that carries over to the next life contains a frame that no
/// observation showed.
#[test]
fn stacks_of_wrappers_are_kept_in_every_mode() {
    let (stack, life) = (Wrapper::FrameStack { count: NUM as u32 }, Wrapper::EpisodicLife { noop: 0 });
    for mode in [Autoreset::SameStep, Autoreset::NextStep, Autoreset::Disabled] {
        watch(&[stack], mode).unwrap();
        watch(&[life, stack], mode).unwrap();
        watch(&[stack, life], mode).unwrap();
    }
}
