//! Learners by A2C: their gradients beside those of PPO, and what they learn.

mod learn_host;

use learn_host::{Host, chunks, record, spaces, train};
use rlcore::learn::{Algorithm, Config};
use rlcore::rng::Rng;
use rlcore::space::Element;

/// Short rollouts that are learnt from once, in one piece, by either algorithm.
fn once(algorithm: Algorithm) -> Config {
    Config {
        num_envs: 3,
        num_steps: 7,
        num_chunks: 2,
        learning_rate: 0.02,
        num_hidden: 1,
        hidden_len: [7, 0, 0, 0],
        clip: 10.0,
        algorithm: algorithm as u32,
        ..Config::of(Algorithm::A2c)
    }
}

#[test]
fn the_gradient_is_that_of_ppo_where_no_ratio_has_moved() {
    for (obs, action) in spaces() {
        let mut pair = [Algorithm::A2c, Algorithm::Ppo].map(|algorithm| {
            let use_action_mask = u32::from(action.kind == Element::I32);
            (Host::new(&Config { use_action_mask, ..once(algorithm) }, &obs, &action), Rng::seeded(3))
        });
        for _ in 0..3 {
            let grads = pair.each_mut().map(|(host, rng)| {
                let obs = record(host, rng);
                host.learner().learn_begin(obs.get()).unwrap();
                chunks(host, 0, 2)
            });
            // The losses behind the gradients differ.
            let len = pair[0].0.view().params().len();
            let [a2c, ppo] = grads.each_ref().map(|grads| &grads[..len]);
            assert!(a2c == ppo && a2c.iter().any(|x| x.abs() > 1e-3));
            for (host, _) in &mut pair {
                host.learner().learn(None, 0).unwrap();
            }
            assert!(pair[0].0.view().params() == pair[1].0.view().params());
        }
    }
}

/// Beyond one pass, A2C goes on along its gradient where PPO has ratios.
#[test]
fn a_second_pass_is_not_that_of_ppo() {
    let (obs, action) = &spaces()[0];
    let params = [Algorithm::A2c, Algorithm::Ppo].map(|algorithm| {
        let mut host = Host::new(&Config { num_epochs: 2, ..once(algorithm) }, obs, action);
        train(&mut host, &mut Rng::seeded(3), 1);
        host.view().params().to_vec()
    });
    assert!(params[0] != params[1]);
}
