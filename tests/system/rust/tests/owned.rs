//! Blocks that own their memory: what is saved goes on with the same bytes, what is damaged is refused.

use rlcore::data::lazy_frames::LazyFrames;
use rlcore::data::lazy_frames::LazyFramesConfig;
use rlcore::data::memory::{Memory, MemoryConfig};
use rlcore::data::monitor::{Monitor, MonitorConfig};
use rlcore::data::replay::{Replay, ReplayConfig};
use rlcore::data::rollout_buffer::{RolloutBuffer, RolloutBufferConfig};
use rlcore::data::table::Column;
use rlcore::data::trajectory::{Trajectory, TrajectoryConfig};
use rlcore::data::vec_normalize::{VecNormalize, VecNormalizeConfig};
use rlcore::env::{CartPole, Env, StepOut, VecEnvConfig};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Policy};
use rlcore::owned::{Block, Owned, OwnedEnvs};
use rlcore::space::{Element, Elements, ElementsMut};

const N: usize = 3;

/// A learner of CartPole and its world.
#[derive(Clone)]
struct Training {
    envs: OwnedEnvs<CartPole>,
    agent: Owned<Learner<'static>>,
    obs: [f32; 4 * N],
}

impl Training {
    fn new(algorithm: Algorithm) -> Result<Training> {
        let mut config = Config { num_envs: N as u32, ..Config::of(algorithm) };
        match algorithm {
            Algorithm::Dqn => (config.buffer_size, config.batch_size, config.learning_starts) = (500, 16, 60),
            _ => config.num_steps = 16,
        }
        let many = VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() };
        let mut envs = OwnedEnvs::new(CartPole, &many)?;
        let agent = Owned::<Learner>::new(&config, &[], &CartPole.spec().obs, &CartPole.spec().action)?;
        let mut obs = [0.0; 4 * N];
        envs.open()?.reset(None, ElementsMut::F32(&mut obs))?;
        Ok(Training { envs, agent, obs })
    }

    fn go_on(&mut self, updates: u32) -> Result {
        let (mut final_obs, mut action) = ([0.0; 4 * N], [0; N]);
        let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
        for _ in 0..updates {
            let mut learner = self.agent.open()?;
            let out = StepOut {
                obs: ElementsMut::F32(&mut self.obs),
                reward: &mut reward,
                terminated: &mut terminated,
                truncated: &mut truncated,
                final_obs: Some(ElementsMut::F32(&mut final_obs)),
                valid: None,
                action_mask: None,
                final_action_mask: None,
            };
            self.envs.collect(&mut learner, ElementsMut::I32(&mut action), out, 0).1?;
            learner.learn(Some(Elements::F32(&self.obs)), None, 0)?;
        }
        Ok(())
    }
}

#[test]
fn a_training_goes_on_from_a_clone_and_from_bytes() -> Result {
    for algorithm in [Algorithm::Ppo, Algorithm::Dqn, Algorithm::Pqn] {
        let mut first = Training::new(algorithm)?;
        first.go_on(4)?;
        let mut second = first.clone();
        let mut third = Training {
            envs: OwnedEnvs::load(CartPole, first.envs.bytes())?,
            agent: Owned::load(first.agent.save()?)?,
            obs: first.obs,
        };
        for training in [&mut first, &mut second, &mut third] {
            training.go_on(5)?;
        }
        for other in [&mut second, &mut third] {
            assert!(other.agent.save()? == first.agent.save()?, "{algorithm:?}");
            assert!(other.envs.bytes() == first.envs.bytes() && other.obs == first.obs, "{algorithm:?}");
        }
        let policy = std::thread::spawn(move || first.agent.policy()).join().unwrap()?;
        assert!(policy.bytes() == second.agent.policy()?.bytes());
    }
    Ok(())
}

/// A block is loaded from its own bytes, and refused as another kind, cut short, or damaged.
fn loads<B: Block>(owned: &Owned<B>) {
    let bytes = owned.bytes();
    assert!(Owned::<B>::load(bytes).is_ok_and(|again| again.bytes() == bytes && again.view().is_ok()));
    assert!(owned.clone().open().is_ok());
    assert_eq!(Owned::<B>::load(&bytes[..bytes.len() - 8]).err().map(|e| e.kind), Some(Kind::Size));
    assert_eq!(Owned::<B>::load(&[]).err().map(|e| e.kind), Some(Kind::Size));
    let mut other = bytes.to_vec();
    other[0] ^= 1;
    assert_eq!(Owned::<B>::load(&other).err().map(|e| e.kind), Some(Kind::Image));
}

#[test]
fn every_block_loads_its_own_bytes_only() -> Result {
    let columns = [Column::new("obs", Element::F32, 4)];
    let mut training = Training::new(Algorithm::Ppo)?;
    loads(&training.agent);
    loads(&training.agent.policy()?);
    loads(&Owned::<Memory>::new(&MemoryConfig::new(30, &columns))?);
    loads(&Owned::<Replay>::new(&ReplayConfig::new(2, 30, &columns))?);
    loads(&Owned::<RolloutBuffer>::new(&RolloutBufferConfig::new(5, 2, &columns))?);
    loads(&Owned::<Trajectory>::new(&TrajectoryConfig::new(9, &columns))?);
    loads(&Owned::<Monitor>::new(&MonitorConfig { keep: 4, ..MonitorConfig::default() })?);
    loads(&Owned::<VecNormalize>::new(&VecNormalizeConfig { obs_len: 4, ..VecNormalizeConfig::default() })?);
    loads(&Owned::<LazyFrames>::new(&LazyFramesConfig { num_frames: 20, ..LazyFramesConfig::default() })?);
    assert_eq!(Owned::<Policy>::load(training.agent.save()?).err().map(|e| e.kind), Some(Kind::Image));
    assert_eq!(OwnedEnvs::load(CartPole, training.agent.bytes()).err().map(|e| e.kind), Some(Kind::Image));
    let mut damaged = training.agent.save()?.to_vec();
    let at = damaged.len() / 2;
    damaged[at] ^= 1;
    assert_eq!(Owned::<Learner>::load(&damaged).err().map(|e| e.kind), Some(Kind::Image), "a seal");
    Ok(())
}
