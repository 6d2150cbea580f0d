//! Worlds that live on the heap as environments: each row has a world of the physics engine rapier, in which a cart keeps a pole
//! upright. The library holds the rows' random streams and lengths of episodes, the environment holds the worlds.

use std::cell::RefCell;

use rapier2d::prelude::*;
use rlcore::env::{Env, Spec, Step, StepOut, VecEnvConfig, choice, put};
use rlcore::error::Result;
use rlcore::learn::{Config, Learner, Policy, Recurrent};
use rlcore::owned::{Owned, OwnedEnvs};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 8;
const LIMIT: u32 = 200;

/// A cart on a rail and a pole on the cart.
struct Cart {
    world: PhysicsWorld,
    cart: RigidBodyHandle,
    pole: RigidBodyHandle,
}

impl Cart {
    /// Upright but for a small angular velocity.
    fn new(push: f32) -> Cart {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, -9.81);
        world.integration_parameters.dt = 0.02;
        let rail = world.insert_body(RigidBodyBuilder::fixed());
        let cart = world.insert_body(RigidBodyBuilder::dynamic().can_sleep(false).additional_mass(1.0));
        let pole = RigidBodyBuilder::dynamic().translation(Vector::new(0.0, 0.5)).angvel(push).can_sleep(false);
        let (pole, _) = world.insert(pole, ColliderBuilder::cuboid(0.03, 0.5).density(2.0).sensor(true));
        world.insert_impulse_joint(rail, cart, PrismaticJointBuilder::new(Vector::new(1.0, 0.0)));
        let hinge = RevoluteJointBuilder::new().local_anchor2(Vector::new(0.0, -0.5));
        world.insert_impulse_joint(cart, pole, hinge);
        Cart { world, cart, pole }
    }

    /// A step with a force to the left or to the right.
    fn push(&mut self, choice: i32) {
        let cart = &mut self.world.bodies[self.cart];
        cart.reset_forces(true);
        cart.add_force(Vector::new(if choice == 1 { 10.0 } else { -10.0 }, 0.0), true);
        self.world.step();
    }

    fn has_fallen(&self) -> bool {
        let [x, _, angle, _] = self.observed();
        x.abs() > 2.4 || angle.abs() > 0.2
    }

    fn observed(&self) -> [f32; 4] {
        let (cart, pole) = (&self.world.bodies[self.cart], &self.world.bodies[self.pole]);
        [cart.translation().x, cart.linvel().x, pole.rotation().angle(), pole.angvel()]
    }
}

/// A world for each row, in cells because environments are shared.
struct Carts(Vec<RefCell<Cart>>);

impl Env for Carts {
    fn spec(&self) -> Spec<'_> {
        Spec {
            env_id: 1000,
            state_size: 8,
            max_episode_steps: LIMIT,
            obs: Space::unbounded(4),
            action: Space::discrete(&[2]),
            wrappers: 0,
        }
    }

    fn reset(&self, row: usize, _: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let cart = Cart::new(0.2 * rng.uniform_f32() - 0.1);
        let seen = cart.observed();
        self.0[row].replace(cart);
        put(obs, seen)
    }

    fn step(&self, row: usize, _: &mut [u8], _: &mut Rng, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        let mut cart = self.0[row].borrow_mut();
        cart.push(choice(action)?);
        put(obs, cart.observed())?;
        Ok(Step { reward: 1.0, terminated: cart.has_fallen(), truncated: false })
    }
}

/// The arrays of a loop around N environments.
#[derive(Default)]
struct Arrays {
    obs: [[f32; 4]; N],
    final_obs: [[f32; 4]; N],
    action: [i32; N],
    reward: [f32; N],
    terminated: [u8; N],
    truncated: [u8; N],
}

impl Arrays {
    /// Steps until the learner learns, and an update.
    fn update(&mut self, agent: &mut Owned<Learner<'static>>, carts: &mut OwnedEnvs<Carts>) -> Result {
        let mut learner = agent.open()?;
        let out = StepOut {
            obs: ElementsMut::F32(self.obs.as_flattened_mut()),
            reward: &mut self.reward,
            terminated: &mut self.terminated,
            truncated: &mut self.truncated,
            final_obs: Some(ElementsMut::F32(self.final_obs.as_flattened_mut())),
            valid: None,
            action_mask: None,
            final_action_mask: None,
        };
        carts.collect(&mut learner, ElementsMut::I32(&mut self.action), out, 0).1?;
        learner.learn(Some(Elements::F32(self.obs.as_flattened())), None, 0).map(drop)
    }
}

fn carts() -> Carts {
    Carts((0..N).map(|_| RefCell::new(Cart::new(0.0))).collect())
}

fn many() -> VecEnvConfig {
    VecEnvConfig { num_envs: N as u32, seed: 1, ..VecEnvConfig::default() }
}

/// PPO balances the poles of eight worlds; the policy that it ships does so in a world of its own.
#[test]
fn a_learner_balances_poles_in_worlds_on_the_heap() -> Result {
    let config = Config {
        num_envs: N as u32,
        num_steps: 64,
        total_steps: 60_000,
        learning_rate: 1e-3,
        entropy_coef: 0.0,
        normalize_obs: 1,
        ..Config::default()
    };
    let (mut world, mut a) = (OwnedEnvs::new(carts(), &many())?, Arrays::default());
    let mut agent = Owned::<Learner>::new(&config, &[], &world.env().spec().obs, &world.env().spec().action)?;
    world.open()?.reset(None, ElementsMut::F32(a.obs.as_flattened_mut()))?;
    let mut first = f32::NAN;
    for i in 0..config.total_steps / (64 * N as u64) {
        a.update(&mut agent, &mut world)?;
        if i == 5 {
            first = agent.view()?.stats().return_mean;
        }
    }
    let last = agent.view()?.stats().return_mean;
    assert!(first < 80.0 && last > 150.0, "mean return {first}, then {last}, of {LIMIT}");

    let shipped = Owned::<Policy>::load(agent.policy()?.bytes())?;
    let policy = shipped.view()?;
    let (mut cart, mut scratch) = (Cart::new(0.1), vec![0.0; policy.scratch_len(1)?]);
    for _ in 0..LIMIT {
        let mut choice = [0];
        let obs = Elements::F32(&cart.observed());
        policy.act_greedy(1, obs, None, Recurrent::default(), &mut scratch, ElementsMut::I32(&mut choice))?;
        cart.push(choice[0]);
    }
    assert!(!cart.has_fallen(), "{:?}", cart.observed());
    Ok(())
}
