//! Episode records: a twin in plain Rust, the ring, late readers, bad input, and the text of monitor.csv.

use rlcore::data::monitor::{CAPACITY, Episode, MAX_INFO, Monitor, MonitorConfig, Read, View};
use rlcore::data::monitor_csv::{MAX_ROW_LEN, header, row};
use rlcore::data::step::Ends;
use rlcore::error::{Error, Kind, Result};
use rlcore::rng::Rng;

use super::blocks::{bytes, header_is_checked, kind};

const CONFIG: MonitorConfig = MonitorConfig { num_envs: 3, keep: 4, capacity: 8, num_info: 2, start: 100.5 };

fn block(config: &MonitorConfig) -> Vec<u64> {
    let mut words = vec![u64::MAX; Monitor::size(config).unwrap() / 8];
    Monitor::init(bytes(&mut words), config).unwrap();
    words
}

fn open(words: &mut [u64]) -> Monitor<'_> {
    Monitor::attach(bytes(words)).unwrap()
}

fn all(m: &Monitor<'_>, next: u64) -> (Vec<Episode>, Vec<f64>, Read) {
    let (mut episodes, width) = (vec![Episode::default(); 64], m.config().num_info as usize);
    let mut info = vec![f64::NAN; 64 * width];
    let read = m.view().read(next, &mut episodes, &mut info).unwrap();
    episodes.truncate(read.count);
    info.truncate(read.count * width);
    (episodes, info, read)
}

/// The monitor with vectors that grow.
#[derive(Default)]
struct Twin {
    total: Vec<f64>,
    len: Vec<u32>,
    episodes: Vec<Episode>,
    info: Vec<f64>,
}

impl Twin {
    /// Adds a step. Infos of environments without an end are spoilt, since nothing may read them. Returns whether one ended.
    fn step(&mut self, reward: &[f32], ends: Ends<'_>, info: &mut [f64], now: f64) -> bool {
        let (n, width, before) = (reward.len(), info.len() / reward.len(), self.episodes.len());
        for i in 0..n {
            let info = &mut info[i * width..(i + 1) * width];
            let valid = ends.valid.is_none_or(|valid| valid[i] != 0);
            if valid {
                self.total[i] += f64::from(reward[i]);
                self.len[i] += 1;
            }
            if !valid || ends.terminated[i] | ends.truncated[i] == 0 {
                info.fill(f64::NAN);
                continue;
            }
            self.episodes.push(Episode {
                number: self.episodes.len() as u64,
                seconds: format!("{:.6}", now - 100.5).parse().unwrap(),
                episode_return: self.total[i],
                env: i as u32,
                len: self.len[i],
            });
            self.info.extend_from_slice(info);
            (self.total[i], self.len[i]) = (0.0, 0);
        }
        self.episodes.len() > before
    }

    fn check_means(&self, view: &View<'_>, keep: usize) {
        let means = view.means().unwrap();
        let kept = self.episodes.len().min(keep);
        let last = &self.episodes[self.episodes.len() - kept..];
        assert_eq!((means.num_kept as usize, means.num_episodes), (kept, self.episodes.len() as u64));
        if kept == 0 {
            // One fixed NaN on every machine, unlike that of 0 / 0.
            assert_eq!([means.return_mean, means.len_mean].map(f64::to_bits), [f64::NAN.to_bits(); 2]);
        } else {
            let mean = |of: fn(&Episode) -> f64| last.iter().map(of).sum::<f64>() / kept as f64;
            assert!((means.return_mean - mean(|e| e.episode_return)).abs() < 1e-9);
            assert!((means.len_mean - mean(|e| f64::from(e.len))).abs() < 1e-9);
        }
    }
}

#[test]
fn long_runs_equal_the_twin_and_a_reader_that_keeps_up_loses_nothing() {
    for (num_envs, keep, capacity, num_info) in [(1, 0, 1, 0), (3, 4, 8, 2), (5, 100, 5, 0), (16, 1, 16, 16)] {
        let config = MonitorConfig { num_envs, keep, capacity, num_info, start: 100.5 };
        let (n, width) = (num_envs as usize, num_info as usize);
        let mut words = block(&config);
        let mut rng = Rng::seeded(u64::from(num_envs));
        let mut twin = Twin { total: vec![0.0; n], len: vec![0; n], ..Twin::default() };
        let (mut next, mut seen, mut seen_info) = (0, Vec::new(), Vec::new());
        for step in 0..500 {
            let mut m = open(&mut words);
            let reward: Vec<f32> = (0..n).map(|_| rng.uniform_in(-1.0, 3.0) as f32).collect();
            let mut flags = |rate: f64| (0..n).map(|_| u8::from(rng.uniform() < rate)).collect::<Vec<u8>>();
            let [terminated, truncated] = [(); 2].map(|()| flags(0.1).iter().map(|flag| flag * 5).collect::<Vec<_>>());
            let valid = (step % 2 == 1).then(|| flags(0.8));
            let ends = Ends { terminated: &terminated, truncated: &truncated, valid: valid.as_deref() };
            let mut info: Vec<f64> = (0..n * width).map(|_| rng.uniform_in(-1e6, 1e6)).collect();
            let now = 100.5 + f64::from(step) * 0.123_456_789;
            let asked = twin.step(&reward, ends, &mut info, now);
            let mut clock = 0;
            let read_clock = || {
                clock += 1;
                Ok(now)
            };
            m.step(&reward, ends, &info, read_clock).unwrap();
            assert_eq!(clock, u32::from(asked));
            let (episodes, info, read) = all(&m, next);
            assert_eq!(read.lost, 0);
            next = read.next;
            seen.extend(episodes);
            seen_info.extend(info);
            twin.check_means(&m.view(), keep as usize);
            if step == 250 {
                // A reset drops the running episodes and no record.
                m.reset();
                twin.total.fill(0.0);
                twin.len.fill(0);
            }
            if step == 300 {
                m.reset_one(n - 1).unwrap();
                (twin.total[n - 1], twin.len[n - 1]) = (0.0, 0);
            }
        }
        assert!(seen.len() > 30);
        assert_eq!(seen, twin.episodes);
        assert_eq!(seen_info, twin.info);
    }
}

/// Beyond f32: counting on from 2^24 in steps of 1, and exact digits over many steps of 0.1.
#[test]
fn long_episodes_keep_every_reward() {
    let config = MonitorConfig { num_envs: 2, keep: 1, ..MonitorConfig::default() };
    let mut words = block(&config);
    let mut m = open(&mut words);
    let ends = |last: bool| [u8::from(last); 2];
    m.step(&[0.1, 16_777_216.0], Ends { terminated: &ends(false), truncated: &[0; 2], valid: None }, &[], || Ok(0.0))
        .unwrap();
    for step in 1..=300_000 {
        let terminated = ends(step == 300_000);
        let ends = Ends { terminated: &terminated, truncated: &[0; 2], valid: None };
        m.step(&[0.1, f32::from(u8::from(step <= 1000))], ends, &[], || Ok(1.0)).unwrap();
    }
    let episodes = all(&m, 0).0;
    assert!((episodes[0].episode_return - 300_001.0 * f64::from(0.1f32)).abs() < 1e-6, "{episodes:?}");
    assert_eq!(episodes[1].episode_return, 16_778_216.0);
    assert_eq!(m.view().means().unwrap().return_mean, 16_778_216.0);
}

fn one(m: &mut Monitor<'_>, ended: [u8; 3]) -> Result {
    let ends = Ends { terminated: &ended, truncated: &[0; 3], valid: None };
    m.step(&[1.0, 0.5, -2.0], ends, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], || Ok(101.0))
}

#[test]
fn a_late_reader_is_told_what_it_lost() {
    let mut words = block(&CONFIG);
    let mut m = open(&mut words);
    for _ in 0..4 {
        one(&mut m, [1; 3]).unwrap();
    }
    let (episodes, info, read) = all(&m, 0);
    assert_eq!(read, Read { count: 8, lost: 4, next: 12 });
    assert_eq!(episodes.iter().map(|e| e.number).collect::<Vec<_>>(), (4..12).collect::<Vec<u64>>());
    assert_eq!(episodes[0], Episode { number: 4, seconds: 0.5, episode_return: 0.5, env: 1, len: 1 });
    assert_eq!(info[..4], [3.0, 4.0, 5.0, 6.0]);
    assert_eq!(all(&m, 12).2, Read { count: 0, lost: 0, next: 12 });
    assert_eq!(all(&m, 11).2, Read { count: 1, lost: 0, next: 12 });
    // Partial reads, without the infos.
    let mut three = [Episode::default(); 3];
    let read = m.view().read(0, &mut three, &mut []).unwrap();
    assert_eq!(read, Read { count: 3, lost: 4, next: 7 });
    assert_eq!(three[2].number, 6);
    assert_eq!(m.view().read(5, &mut [], &mut []).unwrap(), Read { count: 0, lost: 0, next: 5 });
    assert_eq!(kind(m.view().read(13, &mut three, &mut [])), Some(Kind::Range));
    assert_eq!(kind(m.view().read(u64::MAX, &mut three, &mut [])), Some(Kind::Range));
    assert_eq!(kind(m.view().read(4, &mut three, &mut [0.0; 5])), Some(Kind::Shape));
    assert_eq!(kind(m.reset_one(3)), Some(Kind::Range));
}

#[test]
fn bad_steps_change_nothing() {
    let mut words = block(&CONFIG);
    one(&mut open(&mut words), [0, 1, 0]).unwrap();
    let before = words.clone();
    let (flags, info, reward) = ([1u8; 3], [1.0; 6], [1.0f32; 3]);
    let ends = Ends { terminated: &flags, truncated: &flags, valid: None };
    let mut m = open(&mut words);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(kind(m.step(&[1.0, 1.0, bad], ends, &info, || Ok(1.0))), Some(Kind::Value));
        let wide = f64::from(bad);
        assert_eq!(kind(m.step(&reward, ends, &[1.0, 1.0, 1.0, 1.0, 1.0, wide], || Ok(1.0))), Some(Kind::Value));
        assert_eq!(kind(m.step(&reward, ends, &info, || Ok(wide))), Some(Kind::Value));
    }
    assert_eq!(kind(m.step(&reward, ends, &info, || Err(Error::new(Kind::Callback, "")))), Some(Kind::Callback));
    assert_eq!(kind(m.step(&reward[..2], ends, &info, || Ok(1.0))), Some(Kind::Shape));
    assert_eq!(kind(m.step(&reward, ends, &info[..5], || Ok(1.0))), Some(Kind::Shape));
    assert_eq!(kind(m.step(&reward, ends, &[], || Ok(1.0))), Some(Kind::Shape));
    let (short, long) = (&flags[..2], &[1; 4]);
    for ends in
        [Ends { terminated: short, ..ends }, Ends { truncated: long, ..ends }, Ends { valid: Some(short), ..ends }]
    {
        assert_eq!(kind(m.step(&reward, ends, &info, || Ok(1.0))), Some(Kind::Shape));
    }
    assert_eq!(words, before);
}

#[test]
fn a_copy_goes_on_as_the_original() {
    let mut words = block(&CONFIG);
    for ended in [[0, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 1], [1, 1, 1]] {
        one(&mut open(&mut words), ended).unwrap();
    }
    let mut copy = words.clone();
    one(&mut open(&mut words), [1, 0, 1]).unwrap();
    one(&mut Monitor::open(bytes(&mut copy)).unwrap(), [1, 0, 1]).unwrap();
    assert_eq!(words, copy);
    assert_eq!(open(&mut words).config(), CONFIG);
}

#[test]
fn configurations_and_images_are_checked() {
    let given = |config: MonitorConfig| open(&mut block(&config)).config().capacity;
    assert_eq!(given(MonitorConfig { capacity: 0, ..CONFIG }), CAPACITY);
    assert_eq!(given(MonitorConfig { capacity: 0, num_envs: 2000, ..CONFIG }), 2000);
    for config in [
        MonitorConfig { num_envs: 0, ..CONFIG },
        MonitorConfig { capacity: 2, ..CONFIG },
        MonitorConfig { num_info: MAX_INFO as u32 + 1, ..CONFIG },
        MonitorConfig { start: f64::NAN, ..CONFIG },
        MonitorConfig { start: f64::INFINITY, ..CONFIG },
    ] {
        assert_eq!(kind(Monitor::size(&config)), Some(Kind::Config), "{config:?}");
    }
    let mut words = block(&CONFIG);
    one(&mut open(&mut words), [0, 1, 0]).unwrap();
    // Word offsets: the count, records being written, returns, lengths, kept returns and lengths, records of four words, infos.
    let (count, writing, total, len, kept, kept_len, records, infos) = (16, 24, 32, 40, 48, 56, 64, 96);
    // A word of two 32-bit numbers, in any byte order.
    let pair = |first: u32, second: u32| -> u64 { bytemuck::cast([first, second]) };
    let nan = f64::NAN.to_bits();
    #[rustfmt::skip]
    let places = [
        (count, 0), (count, 2), (count, u64::MAX), (writing, pair(1, 0)), (total, nan), (len, 0), (kept, nan),
        (kept + 1, 1), (kept_len, 0), (kept_len, pair(1, 1)), (records, 8), (records + 1, f64::INFINITY.to_bits()),
        (records + 2, nan), (records + 3, pair(3, 1)), (records + 3, pair(1, 0)), (records + 4, 1), (infos, nan),
    ];
    for (place, value) in places {
        let mut damaged = words.clone();
        damaged[place] = value;
        assert_eq!(kind(Monitor::attach(bytes(&mut damaged))), Some(Kind::Image), "word {place}: {value:#x}");
    }
    header_is_checked(&words, 24, |mem| kind(Monitor::attach(mem)));
    let size = words.len() * 8;
    assert_eq!(kind(Monitor::attach(&mut bytes(&mut words)[..size - 1])), Some(Kind::Size));
    assert_eq!(kind(Monitor::init(&mut bytes(&mut words)[..size - 1], &CONFIG)), Some(Kind::Size));
    assert_eq!(kind(Monitor::attach(&mut bytes(&mut words)[1..])), Some(Kind::Align));
}

/// Beyond the last number, episodes continue but cannot end.
#[test]
fn episodes_are_counted_up_to_the_last_number() {
    const LAST: u64 = i64::MAX as u64;
    let mut words = block(&CONFIG);
    for _ in 0..3 {
        one(&mut open(&mut words), [1; 3]).unwrap();
    }
    for (given, ended, refused) in [
        (LAST, [0; 3], None),
        (LAST, [0, 1, 0], Some(Kind::Range)),
        (LAST - 1, [0, 1, 0], None),
        (LAST - 1, [1, 1, 0], Some(Kind::Range)),
        (LAST - 3, [1; 3], None),
    ] {
        // The count, and the number in each record of four words.
        let mut forged = words.clone();
        forged[16] = given;
        for number in given - 8..given {
            forged[64 + 4 * (number % 8) as usize] = number;
        }
        let before = forged.clone();
        assert_eq!(kind(one(&mut Monitor::attach(bytes(&mut forged)).unwrap(), ended)), refused, "{given} {ended:?}");
        assert_eq!(forged == before, refused.is_some());
        Monitor::attach(bytes(&mut forged)).unwrap();
    }
    words[16] = LAST + 1;
    for number in LAST - 7..LAST + 1 {
        words[64 + 4 * (number % 8) as usize] = number;
    }
    assert_eq!(kind(Monitor::attach(bytes(&mut words))), Some(Kind::Image));
}

fn text_of_header(t_start: f64, env_id: Option<&[u8]>, keywords: &[&[u8]]) -> String {
    let mut text = vec![b'x'; 300];
    let len = header(t_start, env_id, keywords, Some(&mut text)).unwrap();
    assert_eq!(header(t_start, env_id, keywords, None).unwrap(), len);
    assert!(text[len..].iter().all(|&c| c == b'x'));
    let mut exact = vec![b'x'; len];
    assert_eq!(header(t_start, env_id, keywords, Some(&mut exact)).unwrap(), len);
    assert_eq!(exact, text[..len]);
    exact.pop();
    exact.fill(b'y');
    let error = header(t_start, env_id, keywords, Some(&mut exact)).unwrap_err();
    assert_eq!(error.kind, Kind::Size);
    assert_eq!(error, error.needed(len).given(len - 1));
    assert!(exact.iter().all(|&c| c == b'y'));
    text.truncate(len);
    String::from_utf8(text).unwrap()
}

#[test]
fn headers_are_json_and_the_names_of_the_columns() {
    assert_eq!(text_of_header(1.0, None, &[]), "# {\"t_start\": 1.0} \nr,l,t\r\n");
    assert_eq!(
        text_of_header(1700000000.123456, Some(b"CartPole-v1"), &[b"is_success", b"lives"]),
        "# {\"t_start\": 1700000000.123456, \"env_id\": \"CartPole-v1\"} \nr,l,t,is_success,lives\r\n"
    );
    assert_eq!(
        text_of_header(0.0, Some(br#"a "b" \c"#), &[b"x,y", b"say \"z\""]),
        "# {\"t_start\": 0.0, \"env_id\": \"a \\\"b\\\" \\\\c\"} \nr,l,t,\"x,y\",\"say \"\"z\"\"\"\r\n"
    );
    let most = text_of_header(1.0, None, &[&b"x"[..]; MAX_INFO]);
    assert_eq!(most, format!("# {{\"t_start\": 1.0}} \nr,l,t{}\r\n", ",x".repeat(MAX_INFO)));
    for bad in [&b"a\n"[..], b"\x7f", b"\xc3\xa4", b"\0"] {
        assert_eq!(kind(header(0.0, Some(bad), &[], None)), Some(Kind::Value));
        assert_eq!(kind(header(0.0, None, &[b"good", bad], None)), Some(Kind::Value));
    }
    assert_eq!(kind(header(f64::NAN, None, &[], None)), Some(Kind::Value));
    assert_eq!(kind(header(f64::INFINITY, None, &[], None)), Some(Kind::Value));
    assert_eq!(kind(header(0.0, None, &[&b"x"[..]; MAX_INFO + 1], None)), Some(Kind::Range));
}

#[test]
fn rows_are_pythons_numbers() {
    let text = |episode: &Episode, info: &[f64]| {
        let mut text = [b'x'; MAX_ROW_LEN];
        let len = row(episode, info, Some(&mut text)).unwrap();
        assert_eq!(row(episode, info, None).unwrap(), len);
        assert!(text[len..].iter().all(|&c| c == b'x'));
        assert_eq!(kind(row(episode, info, Some(&mut text[..len - 1]))), Some(Kind::Size));
        String::from_utf8(text[..len].to_vec()).unwrap()
    };
    let mut e = Episode { number: 3, seconds: 0.123457, episode_return: -3.5, env: 1, len: 12 };
    assert_eq!(text(&e, &[]), "-3.5,12,0.123457\r\n");
    (e.episode_return, e.len, e.seconds) = (0.1, u32::MAX, 1.0);
    assert_eq!(text(&e, &[1.0, -0.1, 1e-5, 1e22]), "0.1,4294967295,1.0,1.0,-0.1,1e-05,1e+22\r\n");
    // The longest possible row fits.
    (e.episode_return, e.seconds) = (-2.2250738585072014e-308, 1e9 / 3.0);
    assert!(text(&e, &[-2.2250738585072014e-308; MAX_INFO]).len() > 400);
    assert_eq!(kind(row(&e, &[0.0; MAX_INFO + 1], None)), Some(Kind::Range));
    assert_eq!(kind(row(&e, &[0.0, f64::NAN], None)), Some(Kind::Value));
    assert_eq!(kind(row(&Episode { seconds: f64::INFINITY, ..e }, &[], None)), Some(Kind::Value));
    assert_eq!(kind(row(&Episode { episode_return: f64::NAN, ..e }, &[], None)), Some(Kind::Value));
}

/// The view of another process amid a step: the oldest record is not trusted, although it was copied.
#[test]
fn readers_beside_a_writer_lose_what_it_may_have_touched() {
    let mut words = block(&CONFIG);
    for _ in 0..4 {
        one(&mut open(&mut words), [1, 1, 0]).unwrap();
    }
    // The word of records being written, which is 0 again after each step.
    const WRITING: usize = 192;
    let (mut episodes, mut three) = ([Episode::default(); 8], [Episode::default(); 3]);
    let read = View::attach(bytes(&mut words)).unwrap().read(0, &mut episodes, &mut []).unwrap();
    assert_eq!((read, episodes[7].number), (Read { count: 8, lost: 0, next: 8 }, 7));
    bytes(&mut words)[WRITING..WRITING + 4].copy_from_slice(&1u32.to_ne_bytes());
    let view = View::attach(bytes(&mut words)).unwrap();
    assert_eq!(view.config(), CONFIG);
    assert_eq!(kind(view.read(0, &mut three, &mut [])), Some(Kind::Range));
    assert_eq!(view.read(1, &mut three, &mut []).unwrap(), Read { count: 3, lost: 0, next: 4 });
    assert_eq!(view.read(0, &mut [], &mut []).unwrap(), Read { count: 0, lost: 0, next: 0 });
    assert_eq!(kind(view.means()), Some(Kind::Busy));
    assert_eq!(kind(Monitor::attach(bytes(&mut words))), Some(Kind::Image));
    bytes(&mut words)[WRITING..WRITING + 4].fill(0);
    assert_eq!(open(&mut words).view().means().unwrap().num_kept, 4);
    // A step that ends no episode changes no field that readers use.
    bytes(&mut words)[WRITING + 4] = 1;
    assert_eq!(kind(Monitor::attach(bytes(&mut words))), Some(Kind::Image));
    let view = View::attach(bytes(&mut words)).unwrap();
    assert_eq!(view.read(0, &mut episodes, &mut []).unwrap(), Read { count: 8, lost: 0, next: 8 });
    bytes(&mut words)[WRITING + 4] = 0;
    bytes(&mut words)[70] ^= 1;
    assert_eq!(kind(View::attach(bytes(&mut words))), Some(Kind::Image));
}
