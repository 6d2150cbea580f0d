//! Environments that appear, disappear and act at any time: rollouts against a slow twin, and absent rows.

use crate::host::{Array, Columns, Host, Tune, config, refuses, spaces};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Config, Learner, Phase, Recurrent, Sampling};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

/// A transition as the twin records it.
#[derive(Clone, Debug)]
struct Transition {
    obs: Vec<f64>,
    action: Vec<f64>,
    mask: Vec<u8>,
    log_prob: f32,
    value: f32,
    reward: f64,
    terminated: bool,
    truncated: bool,
    final_value: f64,
}

impl Transition {
    fn ended(&self) -> bool {
        self.terminated || self.truncated
    }
}

/// One environment's transitions since the last update, and its episode.
#[derive(Clone, Default)]
struct Row {
    done: Vec<Transition>,
    open: Option<Transition>,
    /// The last transition was taken back, and the environment has not acted since.
    gone: bool,
    running: f64,
    sum: f64,
    len: u32,
}

/// Mean and variance of all added numbers, by definition; the initial estimate weighs 1e-4.
#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, x: f64) {
        *self = Moments { count: self.count + 1.0, sum: self.sum + x, squares: self.squares + x * x };
    }

    fn get(&self) -> (f64, f64) {
        let count = self.count + 1e-4;
        let mean = self.sum / count;
        (mean, (1e-4 + self.squares) / count - mean * mean)
    }
}

/// A learner and its slow twin: lists for each environment, sums in f64 by the formulas.
struct Twin {
    host: Host,
    rng: Rng,
    rows: Vec<Row>,
    /// Observations not yet in the statistics.
    staged: Vec<Vec<f64>>,
    obs_moments: Vec<Moments>,
    return_moments: Moments,
    episodes: Vec<(f64, u32)>,
    num_steps: u64,
    /// Whether an update runs.
    updating: bool,
}

impl Twin {
    fn new(host: Host, seed: u64) -> Twin {
        Twin {
            rng: Rng::seeded(seed),
            rows: vec![Row::default(); host.n],
            staged: Vec::new(),
            obs_moments: vec![Moments::default(); host.obs_len],
            return_moments: Moments::default(),
            episodes: Vec::new(),
            num_steps: 0,
            updating: false,
            host,
        }
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.uniform() < p
    }

    fn complete(&self) -> usize {
        self.rows.iter().map(|row| row.done.len()).sum()
    }

    /// Raw observations as numbers, before they are normalized.
    fn numbers(&self, obs: &Array, i: usize) -> Vec<f64> {
        let scale = if self.host.obs_kind == Element::U8 { 255.0 } else { 1.0 };
        obs.row(i, self.host.obs_len).iter().map(|x| x / scale).collect()
    }

    fn seen(&self, raw: &[f64]) -> Vec<f64> {
        let c = &self.host.config;
        if c.normalize_obs == 0 {
            return raw.to_vec();
        }
        let clip = f64::from(c.obs_clip);
        let normal = raw.iter().zip(&self.obs_moments).map(|(x, m)| (m.get(), x));
        normal.map(|((mean, var), x)| ((x - mean) / (var + 1e-8).sqrt()).clamp(-clip, clip)).collect()
    }

    fn take_in(&mut self) {
        for raw in self.staged.drain(..) {
            raw.iter().zip(&mut self.obs_moments).for_each(|(&x, m)| m.add(x));
        }
    }

    /// The learner's current values of these observations.
    fn values(&self, obs: &Array) -> Vec<f32> {
        let mut copy = self.host.clone();
        let mut values = vec![0.0; copy.n];
        copy.learner().value(obs.get(), None, &mut values).unwrap();
        assert!(copy.block == self.host.block, "looking at values changed the block");
        values
    }

    /// Copies of the rows in `keep`; the others are junk in the first array, zeros in the second.
    fn only(&self, from: &Array, keep: &[u8], kind: Element, width: usize) -> (Array, Array) {
        let len = self.host.n * width;
        let (mut junk, mut zeros) = (Array::junk(kind, len), Array::zeros(kind, len));
        for (i, _) in keep.iter().enumerate().filter(|(_, keep)| **keep != 0) {
            junk.copy_row(from, i, width);
            zeros.copy_row(from, i, width);
        }
        (junk, zeros)
    }

    fn act(&mut self, active: &[u8]) {
        let (n, o, a, l) = (self.host.n, self.host.obs_len, self.host.action_len, self.host.mask_len);
        let all = self.host.draw_obs(&mut self.rng);
        let (obs, clean_obs) = self.only(&all, active, self.host.obs_kind, o);
        let clean_mask = self.host.draw_mask(&mut self.rng);
        let mask = clean_mask.clone().map(|mut mask| {
            for (i, row) in mask.chunks_exact_mut(l).enumerate() {
                row.iter_mut().for_each(|x| *x *= active[i]);
            }
            mask
        });
        let value = self.values(&clean_obs);
        let mut action = Array::junk(self.host.action_kind, n * a);
        let untouched = action.bits();
        self.host.learner().act(Some(active), obs.get(), mask.as_deref(), action.get_mut()).unwrap();
        for (i, (new, old)) in action.bits().chunks_exact(a).zip(untouched.chunks_exact(a)).enumerate() {
            assert!(active[i] != 0 || new == old, "the action of row {i}, which is not there, was written");
        }
        // The log-probabilities of the drawn actions; absent rows take the first allowed choice.
        let mut drawn = action.clone();
        for i in (0..n).filter(|&i| active[i] == 0) {
            match &mut drawn {
                Array::I32(x) => {
                    let mut begin = 0;
                    for (k, &count) in self.host.choices.iter().enumerate() {
                        let flags = clean_mask.as_ref().map(|mask| &mask[i * l + begin..][..count as usize]);
                        x[i * a + k] = flags.map_or(0, |flags| flags.iter().position(|&x| x != 0).unwrap() as i32);
                        begin += count as usize;
                    }
                }
                Array::F32(x) => x[i * a..(i + 1) * a].fill(0.0),
                Array::U8(_) => unreachable!(),
            }
        }
        let (mut log_prob, mut entropy, mut copy) = (vec![0.0; n], vec![0.0; n], self.host.clone());
        let mask = clean_mask.as_deref();
        copy.learner().log_prob(clean_obs.get(), mask, drawn.get(), &mut log_prob, &mut entropy).unwrap();
        assert!(copy.block == self.host.block, "looking at log-probabilities changed the block");
        for i in (0..n).filter(|&i| active[i] != 0) {
            let raw = self.numbers(&obs, i);
            self.rows[i].open = Some(Transition {
                obs: self.seen(&raw),
                action: action.row(i, a),
                mask: clean_mask.as_ref().map_or(Vec::new(), |mask| mask[i * l..(i + 1) * l].to_vec()),
                log_prob: log_prob[i],
                value: value[i],
                reward: f64::NAN,
                terminated: false,
                truncated: false,
                final_value: f64::NAN,
            });
            self.rows[i].gone = false;
            self.staged.push(raw);
        }
        self.check();
    }

    fn observe(&mut self, active: &[u8]) {
        let (n, o) = (self.host.n, self.host.obs_len);
        let (mut reward, mut terminated, mut truncated) = (vec![f32::NAN; n], vec![1; n], vec![1; n]);
        let mut cut = vec![0; n];
        for i in (0..n).filter(|&i| active[i] != 0) {
            reward[i] = self.rng.uniform_f32() * 2.0 - 0.7;
            terminated[i] = if self.chance(0.15) { 3 } else { 0 };
            truncated[i] = if self.chance(0.2) { 255 } else { 0 };
            cut[i] = u8::from(terminated[i] == 0 && truncated[i] != 0);
        }
        let all = self.host.draw_obs(&mut self.rng);
        let (final_obs, clean) = self.only(&all, &cut, self.host.obs_kind, o);
        let given = cut.contains(&1) || self.chance(0.5);
        let final_obs = given.then(|| final_obs.get());
        self.host.learner().observe(Some(active), &reward, &terminated, &truncated, final_obs, None).unwrap();
        if active.contains(&1) {
            self.take_in();
        }
        let final_value = self.values(&clean);
        let c = self.host.config;
        let live: Vec<usize> = (0..n).filter(|&i| active[i] != 0).collect();
        for &i in &live {
            let running = &mut self.rows[i].running;
            *running = *running * f64::from(c.discount) + f64::from(reward[i]);
            self.return_moments.add(*running);
        }
        let (scale, clip) = ((self.return_moments.get().1 + 1e-8).sqrt(), f64::from(c.reward_clip));
        for &i in &live {
            let row = &mut self.rows[i];
            let raw = f64::from(reward[i]);
            let mut t = row.open.take().unwrap();
            t.reward = if c.normalize_reward != 0 { (raw / scale).clamp(-clip, clip) } else { raw };
            (t.terminated, t.truncated) = (terminated[i] != 0, truncated[i] != 0);
            t.final_value = f64::from(final_value[i]);
            (row.sum, row.len) = (row.sum + raw, row.len + 1);
            if t.ended() {
                self.episodes.push((row.sum, row.len));
                (row.sum, row.len, row.running) = (0.0, 0, 0.0);
            }
            row.done.push(t);
        }
        self.num_steps += live.len() as u64;
        self.check();
    }

    fn cut(&mut self, gone: &[u8]) {
        self.host.learner().cut_rows(gone).unwrap();
        self.take_in();
        for (row, _) in self.rows.iter_mut().zip(gone).filter(|(_, gone)| **gone != 0) {
            (row.sum, row.len, row.running) = (0.0, 0, 0.0);
            let removed = match row.open.take() {
                None => row.done.pop_if(|t| !t.ended()),
                open => open,
            };
            let Some(removed) = removed else { continue };
            row.gone = true;
            if let Some(before) = row.done.last_mut().filter(|t| !t.ended()) {
                (before.truncated, before.final_value) = (true, f64::from(removed.value));
            }
        }
        self.check();
    }

    /// Checks phase, flags and statistics.
    fn check(&mut self) {
        let open: Vec<u8> = self.rows.iter().map(|row| row.open.is_some().into()).collect();
        let due = self.complete() >= self.host.config.batch_len();
        let waits = due || (self.updating && self.host.config.overlap == 0);
        let phase = match (waits, open.contains(&1)) {
            (true, _) => Phase::Learn,
            (_, true) => Phase::Observe,
            _ => Phase::Act,
        };
        let learner = self.host.learner();
        assert_eq!((learner.acted(), learner.phase()), (&*open, phase));
        let stats = learner.stats();
        let ended = self.episodes.len();
        assert_eq!((stats.num_steps, stats.num_episodes, stats.num_dropped), (self.num_steps, ended as u64, 0));
        assert_eq!(stats.minibatches_left > 0, due || self.updating);
        let recent = &self.episodes[ended.saturating_sub(100)..];
        let mean = |of: fn(&(f64, u32)) -> f64| recent.iter().map(of).sum::<f64>() / recent.len() as f64;
        let alike = |given: f32, expected: f64| {
            let given = f64::from(given);
            (given - expected).abs() < 1e-5 * (1.0 + expected.abs()) || (given.is_nan() && expected.is_nan())
        };
        assert!(alike(stats.return_mean, mean(|e| e.0)), "return_mean {}", stats.return_mean);
        assert!(alike(stats.length_mean, mean(|e| e.1.into())), "length_mean {}", stats.length_mean);
        assert!(alike(stats.return_last, self.episodes.last().map_or(f64::NAN, |e| e.0)));
    }

    /// Begins the update that is due, and compares its batch.
    fn begin(&mut self) {
        let all = self.host.draw_obs(&mut self.rng);
        let waits = |row: &Row| row.open.is_none() && !row.gone && row.done.last().is_some_and(|t| !t.ended());
        let keep: Vec<u8> = self.rows.iter().map(|row| waits(row).into()).collect();
        let (obs, clean) = self.only(&all, &keep, self.host.obs_kind, self.host.obs_len);
        let next = self.values(&clean);
        self.host.learner().learn_begin(obs.get(), None).unwrap();
        self.updating = true;
        let columns = Columns::read(&mut self.host);
        self.compare(&columns, &next);
        self.rows.iter_mut().for_each(|row| (row.done, row.gone) = (Vec::new(), false));
        self.check();
    }

    fn compare(&self, given: &Columns, next: &[f32]) {
        let c = &self.host.config;
        let (discount, decay) = (f64::from(c.discount), f64::from(c.discount) * f64::from(c.gae_lambda));
        let mut expected = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let mut after = row.open.as_ref().map_or(next[i], |t| t.value).into();
            let (mut carry, mut list) = (0.0, Vec::new());
            for (k, t) in row.done.iter().enumerate().rev() {
                let value = f64::from(t.value);
                let next = if t.terminated { 0.0 } else { [after, t.final_value][usize::from(t.truncated)] };
                let advantage = t.reward + discount * next - value + if t.ended() { 0.0 } else { decay * carry };
                (carry, after) = (advantage, value);
                list.push((i, k, t, advantage));
            }
            expected.extend(list);
        }
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-5 * (1.0 + b.abs());
        let mut order = vec![Vec::new(); self.host.n];
        for at in 0..c.batch_len() {
            let (o, l) = (self.host.obs_len, self.host.mask_len);
            let obs = &given.obs[at * o..(at + 1) * o];
            let action = given.action.row(at, self.host.action_len);
            let (own, target) = (f64::from(given.advantage[at]), f64::from(given.value_target[at]));
            let same = |t: &Transition| {
                t.value.to_bits() == given.value[at].to_bits()
                    && t.log_prob.to_bits() == given.log_prob[at].to_bits()
                    && t.action == action
                    && t.mask == given.mask[at * l..(at + 1) * l]
                    && t.obs.iter().zip(obs).all(|(a, &b)| close(f64::from(b), *a))
            };
            // Several transitions may have the same clipped observations.
            let found = (0..expected.len())
                .filter(|&i| same(expected[i].2))
                .min_by(|&a, &b| (expected[a].3 - own).abs().total_cmp(&(expected[b].3 - own).abs()));
            let (env, k, t, advantage) = expected.remove(found.expect("a transition that was recorded, and once"));
            assert!(close(own, advantage), "advantage of transition {k} of {env}: {own}, not {advantage}");
            assert!(close(target, advantage + f64::from(t.value)), "target of transition {k} of {env}: {target}");
            order[env].push(k);
        }
        assert_eq!(expected.len(), self.complete() - c.batch_len());
        // Waiting transitions are swapped with others; without any, those of an environment stay in order.
        if self.rows.iter().all(|row| row.open.is_none() && !row.gone) {
            assert!(order.iter().all(|list| list.is_sorted()));
        }
    }

    fn subset(&mut self, p: f64, of: fn(&Row) -> bool) -> Vec<u8> {
        let could: Vec<bool> = self.rows.iter().map(of).collect();
        could.into_iter().map(|could| u8::from(could && self.rng.uniform() < p)).collect()
    }

    fn learn(&mut self, max_slices: u32) {
        let before = self.host.learner().stats().num_updates;
        let stats = self.host.learner().learn(None, None, max_slices).unwrap();
        self.updating = stats.num_updates == before;
        self.check();
    }

    fn drop(&mut self) {
        self.host.learner().learn_drop().unwrap();
        if !self.updating {
            self.rows.iter_mut().for_each(|row| (row.done, row.gone) = (Vec::new(), false));
        }
        self.updating = false;
        self.check();
    }

    /// One random call.
    fn tick(&mut self) {
        let overlap = self.host.config.overlap != 0;
        match self.host.learner().phase() {
            Phase::Learn if !self.updating && self.chance(0.1) => self.drop(),
            Phase::Learn if !self.updating => self.begin(),
            Phase::Learn if self.chance(0.1) => self.drop(),
            Phase::Learn => {
                let slices = self.rng.bounded(3) as u32;
                self.learn(slices);
            }
            _ if overlap && self.updating && self.chance(0.3) => self.learn(1),
            _ if self.chance(0.08) => {
                let gone = self.subset(0.3, |_| true);
                self.cut(&gone);
            }
            _ => {
                let p = [0.2, 0.6, 1.0][self.rng.bounded(2) as usize];
                if self.rng.coin() {
                    let active = self.subset(p, |row| row.open.is_none());
                    self.act(&active);
                } else {
                    let active = self.subset(p, |row| row.open.is_some());
                    self.observe(&active);
                }
            }
        }
    }
}

#[test]
fn any_schedule_makes_the_advantages_of_a_slow_twin() {
    for seed in 0..60 {
        let mut rng = Rng::seeded(seed);
        let mut below = |n: u64| rng.bounded(n - 1) as u32;
        let (obs, action) = spaces()[seed as usize % 5];
        let (num_envs, num_steps) = (if seed < 50 { 1 + below(8) } else { 1 + below(40) }, 1 + below(6));
        let num_minibatches = if below(2) == 0 { 1 } else { num_steps };
        let config = Config {
            seed,
            num_envs,
            num_chunks: 1 + below(u64::from(3.min(num_envs * num_steps / num_minibatches))),
            use_action_mask: if action.kind == Element::I32 { below(2) } else { 0 },
            accumulate: below(2),
            overlap: below(2),
            gae_lambda: [0.0, 0.9, 1.0][below(3) as usize],
            discount: [0.9, 0.99][below(2) as usize],
            ..config().rollout(num_steps, num_minibatches, 1 + below(2)).normalized(below(2), below(2))
        };
        let mut twin = Twin::new(Host::new(&config, &obs, &action), seed);
        while twin.host.learner().stats().num_updates < 4 {
            twin.tick();
        }
    }
}

/// Absent rows hold junk in one learner and plausible numbers in the other.
#[test]
fn rows_that_are_not_there_are_never_read() {
    for (k, (obs_space, action_space)) in spaces().into_iter().enumerate() {
        let masked = u32::from(action_space.kind == Element::I32 && k == 0);
        let config = Config { num_envs: 6, num_steps: 4, use_action_mask: masked, ..config().normalized(1, 1) };
        let mut junk = Host::new(&config, &obs_space, &action_space);
        let (mut usual, mut rng) = (junk.clone(), Rng::seeded(5));
        let (n, o, l) = (junk.n, junk.obs_len, junk.mask_len);
        while usual.learner().stats().num_updates < 3 {
            let acted = usual.learner().acted().to_vec();
            let (obs, mask) = (usual.draw_obs(&mut rng), usual.draw_mask(&mut rng));
            let active: Vec<u8> = acted.iter().map(|&acted| u8::from(acted == 0 && rng.coin())).collect();
            let mut masked = mask.clone();
            let mut other = Array::junk(usual.obs_kind, n * o);
            for (i, _) in active.iter().enumerate().filter(|(_, x)| **x != 0) {
                other.copy_row(&obs, i, o);
            }
            if let Some(mask) = &mut masked {
                for (i, _) in active.iter().enumerate().filter(|(_, x)| **x == 0) {
                    mask[i * l..(i + 1) * l].fill(0);
                }
            }
            let (mut ours, mut theirs) = (usual.actions(), Array::junk(usual.action_kind, n * usual.action_len));
            usual.learner().act(Some(&active), obs.get(), mask.as_deref(), ours.get_mut()).unwrap();
            junk.learner().act(Some(&active), other.get(), masked.as_deref(), theirs.get_mut()).unwrap();
            let left = Array::junk(usual.action_kind, n * usual.action_len);
            for (i, x) in active.iter().enumerate() {
                let (a, zero) = (usual.action_len, usual.actions());
                let [ours, zero] = [&ours, &zero].map(|x| x.bits()[i * a..(i + 1) * a].to_vec());
                let [theirs, left] = [&theirs, &left].map(|x| x.bits()[i * a..(i + 1) * a].to_vec());
                assert!(if *x != 0 { ours == theirs } else { ours == zero && theirs == left });
            }
            assert!(usual.block == junk.block, "act");

            let acted = usual.learner().acted().to_vec();
            let active: Vec<u8> = acted.iter().map(|&acted| u8::from(acted != 0 && rng.coin())).collect();
            let mut draw = |p: f64| (0..n).map(|_| u8::from(rng.uniform() < p)).collect::<Vec<u8>>();
            let (terminated, truncated) = (draw(0.2), draw(0.3));
            let reward: Vec<f32> = (0..n).map(|_| rng.uniform_f32()).collect();
            let final_obs = usual.draw_obs(&mut rng);
            let mut others = (reward.clone(), terminated.clone(), truncated.clone());
            let mut finals = Array::junk(usual.obs_kind, n * o);
            for i in 0..n {
                if active[i] == 0 {
                    (others.0[i], others.1[i], others.2[i]) = (f32::INFINITY, 200 * (i as u8 % 2), 77);
                } else if truncated[i] != 0 && terminated[i] == 0 {
                    finals.copy_row(&final_obs, i, o);
                }
            }
            let last = Some(final_obs.get());
            usual.learner().observe(Some(&active), &reward, &terminated, &truncated, last, None).unwrap();
            junk.learner().observe(Some(&active), &others.0, &others.1, &others.2, Some(finals.get()), None).unwrap();
            assert!(usual.block == junk.block, "observe");
            if usual.learner().phase() == Phase::Learn {
                let obs = usual.draw_obs(&mut rng);
                usual.learner().learn(Some(obs.get()), None, 0).unwrap();
                junk.learner().learn(Some(obs.get()), None, 0).unwrap();
            }
        }
    }
}

/// `learn` does not read observations that it does not need: of environments that wait for `observe`, whose episode ended, that
/// were cut, or that were never there.
#[test]
fn learning_reads_observations_of_rows_that_go_on_alone() {
    let config = Config { num_envs: 6, num_steps: 1, num_minibatches: 1, ..config() };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let mut choice = [0; 6];
    let mut step = |h: &mut Host, active: &[u8; 6], observed: &[u8; 6], terminated: &[u8; 6], truncated: &[u8; 6]| {
        let mut learner = h.learner();
        learner.act(Some(active), Elements::F32(&[0.5; 6]), None, ElementsMut::I32(&mut choice)).unwrap();
        learner
            .observe(Some(observed), &[1.0; 6], terminated, truncated, Some(Elements::F32(&[0.25; 6])), None)
            .unwrap();
    };
    // 0 goes on; 1 terminates; 2 is truncated; 3 has observed once and acted again; 4 is cut; 5 is never there.
    step(&mut h, &[0, 0, 0, 1, 1, 0], &[0, 0, 0, 1, 1, 0], &[0; 6], &[0; 6]);
    step(&mut h, &[0, 0, 0, 1, 1, 0], &[0, 0, 0, 0, 1, 0], &[0; 6], &[0; 6]);
    h.learner().cut_rows(&[0, 0, 0, 0, 1, 0]).unwrap();
    step(&mut h, &[1, 1, 1, 0, 0, 0], &[1, 1, 1, 0, 0, 0], &[0, 1, 0, 0, 0, 0], &[0, 0, 1, 0, 0, 0]);
    step(&mut h, &[1, 0, 0, 0, 0, 0], &[1, 0, 0, 0, 0, 0], &[0; 6], &[0; 6]);
    let before = h.block.clone();
    let nan = f32::NAN;
    let error = h.learner().learn_begin(Elements::F32(&[nan, 0.0, 0.0, 0.0, 0.0, 0.0]), None).unwrap_err();
    assert!(error.kind == Kind::Value && h.block == before);
    h.learner().learn_begin(Elements::F32(&[0.5, nan, nan, nan, nan, nan]), None).unwrap();
}

/// Flags that are all set equal no flags, in one call and in parts; a rollout is `[T, N]` in the order of time.
#[test]
fn flags_of_all_rows_are_as_no_flags() {
    const N: usize = 5;
    for (k, (obs_space, action_space)) in spaces().into_iter().enumerate() {
        let config = Config {
            num_envs: N as u32,
            num_steps: 6,
            num_minibatches: 3,
            use_action_mask: u32::from(k < 2),
            overlap: u32::from(k == 3),
            ..config().normalized((k % 2) as u32, 1)
        };
        let run = |num_parts: usize, flags: Option<&[u8]>| {
            let mut h = Host::new(&config, &obs_space, &action_space);
            let (mut rng, mut taken, mut seen) = (Rng::seeded(3), Vec::new(), Vec::new());
            for t in 0..15 {
                let (obs, mask) = (h.draw_obs(&mut rng), h.draw_mask(&mut rng));
                let (o, a, l, mut action) = (h.obs_len, h.action_len, h.mask_len, h.actions());
                for part in 0..num_parts {
                    let (begin, end) = (part * N / num_parts, (part + 1) * N / num_parts);
                    let obs = obs.get().get(begin * o, end * o).unwrap();
                    let mask = mask.as_ref().map(|mask| &mask[begin * l..end * l]);
                    let mut action = action.get_mut();
                    let action = action.get(begin * a, end * a).unwrap();
                    let flags = flags.map(|flags| &flags[begin..end]);
                    h.learner().act_range(begin, end, flags, obs, mask, action).unwrap();
                }
                let reward: Vec<f32> = (0..N).map(|_| rng.uniform_f32()).collect();
                let (terminated, truncated) = ([0, 0, 1, 0, 0], [0, u8::from(t % 4 == 0), 0, 0, 0]);
                let final_obs = h.draw_obs(&mut rng);
                h.learner().observe(flags, &reward, &terminated, &truncated, Some(final_obs.get()), None).unwrap();
                seen.push(action.row(0, N * a));
                if h.learner().phase() == Phase::Learn {
                    h.learner().learn_begin(obs.get(), None).unwrap();
                    let batch = Columns::read(&mut h);
                    assert_eq!(batch.action.row(0, 6 * N * a), seen.concat(), "[T, N]");
                    seen.clear();
                    h.learner().learn(None, None, 0).unwrap();
                    taken.push(batch);
                }
                taken.push(Columns { action, ..Columns::new(&h) });
            }
            let bits: Vec<Vec<u32>> = taken.iter().map(|c| c.action.bits()).collect();
            (h.block, bits)
        };
        let plain = run(1, None);
        for num_parts in [1, 2, 3, 7] {
            assert!(run(num_parts, Some(&[1; N])) == plain, "{num_parts} parts");
            assert!(run(num_parts, Some(&[255; N])) == plain, "{num_parts} parts");
            assert!(run(num_parts, None) == plain, "{num_parts} parts without flags");
        }
    }
}

/// The actions of an environment do not depend on the others before the first update.
#[test]
fn a_row_acts_the_same_whatever_others_do() {
    for action_space in [Space::discrete(&[1000]), Space::unbounded(3)] {
        const N: usize = 7;
        let config = Config { num_envs: N as u32, num_steps: 100, ..config() };
        let actions = |p: f64| {
            let mut h = Host::new(&config, &Space::unbounded(2), &action_space);
            let (mut rng, mut drawn) = (Rng::seeded(17), vec![Vec::new(); N]);
            while drawn.iter().any(|list| list.len() < 12) {
                let obs: Vec<f32> = drawn.iter().flat_map(|list| [list.len() as f32 / 12.0, 0.5]).collect();
                let mut some = |h: &mut Host, acted: u8| -> Vec<u8> {
                    h.learner().acted().iter().map(|&x| u8::from(x == acted && rng.uniform() < p)).collect()
                };
                let active = some(&mut h, 0);
                let mut action = h.actions();
                h.learner().act(Some(&active), Elements::F32(&obs), None, action.get_mut()).unwrap();
                for (i, _) in active.iter().enumerate().filter(|(_, x)| **x != 0) {
                    drawn[i].push(action.row(i, h.action_len));
                }
                let observed = some(&mut h, 1);
                h.learner().observe(Some(&observed), &[0.5; N], &[0; N], &[0; N], None, None).unwrap();
            }
            drawn.iter_mut().for_each(|list| list.truncate(12));
            drawn
        };
        let all = actions(1.0);
        assert!(actions(0.5) == all && actions(0.2) == all);
        assert!(
            all.iter().enumerate().all(|(i, list)| list[0] != list[1] && all[..i].iter().all(|other| other != list))
        );
    }
}

/// Statistics of observations count only the rows that acted, and do not change while frozen.
#[test]
fn a_frozen_learner_learns_nothing_of_rows() {
    let config = Config { num_envs: 3, normalize_obs: 1, normalize_reward: 1, ..config() };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let seen = |h: &mut Host| {
        let mut value = [0.0; 3];
        h.learner().value(Elements::F32(&[0.5, 2.0, -1.0]), None, &mut value).unwrap();
        value
    };
    let step = |h: &mut Host, x: f32| {
        let (obs, active) = ([x, f32::NAN, -x], [1, 0, 1]);
        h.learner().act(Some(&active), Elements::F32(&obs), None, ElementsMut::I32(&mut [0; 3])).unwrap();
        h.learner().observe(Some(&active), &[1.0, f32::NAN, 0.0], &[0; 3], &[0; 3], None, None).unwrap();
    };
    step(&mut h, 1.0);
    let before = seen(&mut h);
    h.learner().freeze(true);
    step(&mut h, 50.0);
    assert!(seen(&mut h) == before);
    h.learner().freeze(false);
    step(&mut h, 50.0);
    assert!(seen(&mut h) != before);
}

/// The observation is one bit and the choice of that bit pays 1. Rows come and go, act at their own times, and are cut.
#[test]
fn rows_that_come_and_go_learn() {
    for overlap in [0, 1] {
        const N: usize = 8;
        let config = Config { num_envs: N as u32, num_steps: 32, overlap, ..config().hidden(&[16]) };
        let config = Config { normalize_obs: overlap, entropy_coef: 0.0, learning_rate: 1e-2, ..config };
        let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
        let (mut rng, mut obs, mut choice) = (Rng::seeded(2), [0.0f32; N], [0; N]);
        let (mut hits, mut tried) = (0, 0);
        loop {
            let mut learner = h.learner();
            let updates = learner.stats().num_updates;
            if updates == 40 {
                break;
            }
            if learner.phase() == Phase::Learn {
                learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
            } else if overlap != 0 && learner.stats().minibatches_left > 0 {
                learner.learn(None, None, 1).unwrap();
            }
            if learner.phase() == Phase::Learn {
                continue;
            }
            let active: Vec<u8> = learner.acted().iter().map(|&acted| u8::from(acted == 0 && rng.coin())).collect();
            learner.act(Some(&active), Elements::F32(&obs), None, ElementsMut::I32(&mut choice)).unwrap();
            let active: Vec<u8> = learner.acted().iter().map(|&acted| u8::from(acted != 0 && rng.coin())).collect();
            let right: Vec<bool> = (0..N).map(|i| choice[i] == obs[i] as i32).collect();
            let reward: Vec<f32> = right.iter().map(|&right| u8::from(right).into()).collect();
            let ends: Vec<u8> = (0..N).map(|_| rng.coin().into()).collect();
            learner.observe(Some(&active), &reward, &ends, &[0; N], None, None).unwrap();
            for i in (0..N).filter(|&i| active[i] != 0) {
                obs[i] = u8::from(rng.coin()).into();
                if updates >= 35 {
                    (hits, tried) = (hits + u32::from(right[i]), tried + 1);
                }
            }
            if learner.phase() != Phase::Learn && rng.uniform() < 0.2 {
                let gone: Vec<u8> = (0..N).map(|_| u8::from(rng.uniform() < 0.2)).collect();
                learner.cut_rows(&gone).unwrap();
            }
        }
        assert!(f64::from(hits) > 0.95 * f64::from(tried), "{hits} of {tried} right, overlap {overlap}");
    }
}

const N: usize = 4;
const NAN: f32 = f32::NAN;
/// Observations, and masks that allow everything.
const GOOD: [f32; 8] = [0.5; 8];
const ALL: [u8; 8] = [1; 8];
/// An observation that is no number, and a mask that allows nothing to one row.
const BAD: [f32; 8] = [0.5, 0.5, NAN, 0.5, 0.5, 0.5, 0.5, 0.5];
const NOTHING: [u8; 8] = [1, 1, 0, 0, 1, 1, 1, 1];

fn four_rows(overlap: u32) -> Host {
    let config =
        Config { num_envs: N as u32, num_steps: 3, num_minibatches: 1, overlap, use_action_mask: 1, ..config() };
    Host::new(&config.normalized(1, 1), &Space::unbounded(2), &Space::discrete(&[2]))
}

fn act(active: &[u8], obs: &[f32], mask: &[u8]) -> impl FnOnce(&mut Learner<'_>) -> Result {
    move |l| {
        let mut action = [-77; N];
        let done = l.act(Some(active), Elements::F32(obs), Some(mask), ElementsMut::I32(&mut action));
        assert!(done.is_ok() || action == [-77; N], "the action was written");
        done
    }
}

fn observe(
    active: &[u8],
    reward: [f32; N],
    ends: [[u8; N]; 2],
    last: Option<&[f32]>,
) -> impl FnOnce(&mut Learner<'_>) -> Result {
    move |l| l.observe(Some(active), &reward, &ends[0], &ends[1], last.map(Elements::F32), None)
}

/// Bad arguments are refused and change nothing; bad values in absent rows do not matter.
#[test]
fn steps_that_are_refused_change_nothing() {
    for overlap in [0, 1] {
        let (mut h, none) = (four_rows(overlap), [[0; N]; 2]);
        refuses(&mut h, Kind::NotReady, "observe before act", observe(&[1; N], [0.0; N], none, None));
        refuses(&mut h, Kind::Shape, "flags of act", act(&[1; 3], &GOOD, &ALL));
        refuses(&mut h, Kind::Shape, "obs", act(&[1; N], &GOOD[1..], &ALL));
        refuses(&mut h, Kind::Shape, "mask", act(&[1; N], &GOOD, &ALL[1..]));
        refuses(&mut h, Kind::Value, "NaN", act(&[1; N], &BAD, &ALL));
        refuses(&mut h, Kind::Value, "a mask that allows nothing", act(&[1; N], &GOOD, &NOTHING));
        refuses(&mut h, Kind::Range, "a range", |l| {
            l.act_range(2, 5, None, Elements::F32(&GOOD[..6]), Some(&ALL[..6]), ElementsMut::I32(&mut [0; 3]))
        });
        act(&[1, 0, 0, 1], &BAD, &NOTHING)(&mut h.learner()).unwrap();
        refuses(&mut h, Kind::NotReady, "act twice", act(&[1; N], &GOOD, &ALL));
        refuses(&mut h, Kind::NotReady, "act twice", |l| {
            l.act(None, Elements::F32(&GOOD), Some(&ALL), ElementsMut::I32(&mut [0; N]))
        });
        let (one, flags) = ([1, 0, 0, 1], [1, 1, 0, 0]);
        refuses(&mut h, Kind::NotReady, "observe a row that has not acted", observe(&flags, [0.0; N], none, None));
        refuses(&mut h, Kind::Shape, "flags of observe", observe(&[1; 5], [0.0; N], none, None));
        refuses(&mut h, Kind::Value, "a reward", observe(&one, [1.0, NAN, NAN, NAN], none, None));
        refuses(&mut h, Kind::Null, "final_obs", observe(&one, [1.0; N], [[0; N], [0, 0, 0, 1]], None));
        refuses(&mut h, Kind::Value, "final_obs", observe(&one, [1.0; N], [[0; N], [1; N]], Some(&[NAN; 8])));
        refuses(&mut h, Kind::Shape, "final_obs", observe(&one, [1.0; N], [[0; N], [1; N]], Some(&GOOD[1..])));
        refuses(&mut h, Kind::Shape, "rewards", |l| l.observe(Some(&one), &[1.0; 3], &[0; N], &[0; N], None, None));
        refuses(&mut h, Kind::Shape, "flags of cut", |l| l.cut_rows(&[1; 3]));
        observe(&one, [1.0, NAN, NAN, 1.0], [[0, 0, 0, 1], [0, 1, 1, 1]], None)(&mut h.learner()).unwrap();
    }
}

#[test]
fn calls_while_learning_that_are_refused_change_nothing() {
    for overlap in [0, 1] {
        let (mut h, none) = (four_rows(overlap), [[0; N]; 2]);
        refuses(&mut h, Kind::NotReady, "learn", |l| l.learn(Some(Elements::F32(&GOOD)), None, 0).map(drop));
        refuses(&mut h, Kind::NotReady, "learn_begin", |l| l.learn_begin(Elements::F32(&GOOD), None).map(drop));
        refuses(&mut h, Kind::NotReady, "learn_drop", |l| l.learn_drop());
        while h.learner().phase() != Phase::Learn {
            act(&[1; N], &GOOD, &ALL)(&mut h.learner()).unwrap();
            observe(&[1; N], [1.0; N], none, None)(&mut h.learner()).unwrap();
        }
        refuses(&mut h, Kind::NotReady, "act when learning is due", act(&[1; N], &GOOD, &ALL));
        refuses(&mut h, Kind::NotReady, "act of nobody", act(&[0; N], &GOOD, &ALL));
        refuses(&mut h, Kind::NotReady, "observe", observe(&[0; N], [1.0; N], none, None));
        refuses(&mut h, Kind::Null, "learn", |l| l.learn(None, None, 0).map(drop));
        refuses(&mut h, Kind::Shape, "learn", |l| l.learn(Some(Elements::F32(&GOOD[1..])), None, 0).map(drop));
        refuses(&mut h, Kind::Value, "learn", |l| l.learn(Some(Elements::F32(&BAD)), None, 0).map(drop));
        refuses(&mut h, Kind::Value, "learn_begin", |l| l.learn_begin(Elements::F32(&BAD), None).map(drop));
        h.learner().learn_begin(Elements::F32(&GOOD), None).unwrap();
        refuses(&mut h, Kind::NotReady, "a second one", |l| l.learn_begin(Elements::F32(&GOOD), None).map(drop));
        if overlap == 0 {
            refuses(&mut h, Kind::NotReady, "act while learning", act(&[1; N], &GOOD, &ALL));
        } else {
            act(&[1; N], &GOOD, &ALL)(&mut h.learner()).unwrap();
            h.learner().cut_rows(&[1; N]).unwrap();
        }
        let (mut looked, to) = (h.clone(), ElementsMut::I32(&mut [0; N]));
        let (seen, none) = (Elements::F32(&GOOD), Recurrent::default());
        looked.learner().predict(seen, Some(&ALL), none, Sampling::Greedy, to).unwrap();
        refuses(&mut h, Kind::Value, "value", |l| l.value(Elements::F32(&BAD), None, &mut [0.0; N]));
        refuses(&mut h, Kind::Shape, "value", |l| l.value(seen, None, &mut [0.0; 3]));
        for (choice, mask) in [([0, 2, 0, 0], ALL), ([0, -1, 0, 0], ALL), ([0; N], [1, 1, 0, 1, 1, 1, 1, 1])] {
            refuses(&mut h, Kind::Value, "log_prob", |l| {
                l.log_prob(seen, Some(&mask), Elements::I32(&choice), &mut [0.0; N], &mut [0.0; N])
            });
        }
    }
}
