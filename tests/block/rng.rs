//! The generator against numpy's draws, its bytes, and the shape of its distributions.

use proptest::prelude::*;
use rlcore::cpu::{self, LEVELS, Level};
use rlcore::rng::Rng;

#[test]
fn coins_and_first_draws_equal_the_specification() {
    assert_eq!(Rng::seeded(0).next_u64(), 0xa30f_ebcf_d9c2_825f);
    for (seed, coins) in [
        (0, "10001111111010101100001110111110"),
        (1, "11010010101101000000100111100110"),
        (42, "10110111000111001011101110000111"),
    ] {
        let mut rng = Rng::seeded(seed);
        let drawn: String = coins.chars().map(|_| if rng.coin() { '1' } else { '0' }).collect();
        assert_eq!(drawn, coins, "seed {seed}");
    }
    for (seed, draws) in [
        (0, [0.6369616873214543, 0.2697867137638703, 0.04097352393619469, 0.016527635528529094]),
        (1, [0.5118216247002567, 0.9504636963259353, 0.14415961271963373, 0.9486494471372439]),
        (42, [0.7739560485559633, 0.4388784397520523, 0.8585979199113825, 0.6973680290593639]),
        ((1 << 32) + 5, [0.7742041803738812, 0.47072268318809307, 0.6958803443421149, 0.8165376458429717]),
    ] {
        let mut rng = Rng::seeded(seed);
        assert_eq!(draws.map(|_| rng.uniform()), draws, "seed {seed}");
    }
}

fn fnv(values: &[u32]) -> u64 {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Every kind of draw, interleaved, so that each one meets a kept half of a 64-bit draw both present and absent.
#[test]
fn draws_equal_numpy() {
    let mut rng = Rng::seeded(0);
    let mut num_draws = 0;
    for (number, line) in include_str!("../golden/rng.txt").lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let draw = match words[..] {
            ["seed", seed] => {
                rng = Rng::seeded(seed.parse().unwrap());
                continue;
            }
            ["stream", seed, stream] => {
                rng = Rng::stream(seed.parse().unwrap(), stream.parse().unwrap());
                continue;
            }
            ["random", _] => format!("random {:016x}", rng.uniform().to_bits()),
            ["random32", _] => format!("random32 {:08x}", rng.uniform_f32().to_bits()),
            ["integers", low, high, _] => {
                format!("integers {low} {high} {}", rng.integers(low.parse().unwrap(), high.parse().unwrap()))
            }
            ["permutation", len, ..] => {
                let mut all = vec![0; len.parse().unwrap()];
                rng.permutation(&mut all);
                let shown = all.iter().take(8).chain(all.last()).map(|x| format!(" {x}"));
                format!("permutation {len} {:016x}{}", fnv(&all), shown.collect::<String>())
            }
            _ => panic!("line {}: {line}", number + 1),
        };
        assert_eq!(draw, line, "line {}", number + 1);
        assert!(rng.is_valid());
        num_draws += 1;
    }
    assert_eq!(num_draws, 11 * 54);
}

#[test]
fn empty_ranges_and_slices_draw_nothing() {
    let (mut rng, before) = (Rng::seeded(3), Rng::seeded(3));
    assert_eq!(rng.integers(5, 5), 5);
    assert_eq!(rng.integers(5, -5), 5);
    assert_eq!(rng.integers(i64::MAX, i64::MIN), i64::MAX);
    assert_eq!(rng.bounded(0), 0);
    rng.permutation(&mut []);
    rng.shuffle(&mut [7]);
    rng.fill_normal(&mut []);
    assert_eq!(rng, before);
}

#[test]
fn shuffle_orders_any_elements_as_permutation_does() {
    let (mut a, mut b) = (Rng::seeded(9), Rng::seeded(9));
    let mut order = [0; 100];
    a.permutation(&mut order);
    let mut names: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    b.shuffle(&mut names);
    assert_eq!(names, order.map(|i| i.to_string()));
    assert_eq!(a, b);
}

#[test]
fn bytes_that_no_stream_has_are_invalid() {
    let mut rng = Rng::seeded(1);
    assert!(rng.is_valid());
    rng.next_u32();
    assert!(rng.is_valid());
    let kept: [u32; 10] = bytemuck::cast(rng);
    rng.next_u32();
    let taken: [u32; 10] = bytemuck::cast(rng);
    assert_eq!((kept[9], taken[8], taken[9]), (1, 0, 0));
    let valid = |words: [u32; 10]| bytemuck::cast::<_, Rng>(words).is_valid();
    let with = |mut words: [u32; 10], i: usize, word| {
        words[i] = word;
        words
    };
    assert!(!valid(with(kept, 9, 2)), "a kept half is there or not");
    assert!(!valid(with(taken, 8, 1)), "a half is kept that is not there");
    assert!(!valid(with(taken, if cfg!(target_endian = "big") { 6 } else { 7 }, 1 << 31)), "the stream has 127 bits");
}

/// The chi-square statistic of counts that should be equal.
fn chi_square(counts: &[u32]) -> f64 {
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|&c| (f64::from(c) - mean).powi(2) / mean).sum()
}

/// 255 degrees of freedom: outside [170, 361] once in 10^5 draws.
#[track_caller]
fn assert_even(counts: &[u32; 256]) {
    let statistic = chi_square(counts);
    assert!((170.0..361.0).contains(&statistic), "chi-square {statistic}");
}

/// The standard normal distribution function, by Simpson's rule from 0.
fn normal_below(x: f64) -> f64 {
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let h = x / 64.0;
    let inner: f64 =
        (0..64).map(|i| i as f64 * h).map(|t| density(t) + 4.0 * density(t + h / 2.0) + density(t + h)).sum();
    0.5 + inner * h / 6.0
}

#[test]
fn draws_are_even() {
    let mut rng = Rng::stream(5, 1);
    let mut count = |draw: &mut dyn FnMut(&mut Rng) -> usize| {
        let mut counts = [0; 256];
        for _ in 0..100_000 {
            counts[draw(&mut rng)] += 1;
        }
        assert_even(&counts);
    };
    count(&mut |rng| (rng.uniform() * 256.0) as usize);
    count(&mut |rng| (rng.uniform_f32() * 256.0) as usize);
    count(&mut |rng| (rng.integers(-3, 253) + 3) as usize);
    count(&mut |rng| rng.bounded((3 << 62) - 1) as usize / (3 << 54));
    count(&mut |rng| (normal_below(rng.normal_f32().into()) * 256.0) as usize);
    let mut second = [0.0; 2];
    count(&mut |rng| {
        rng.fill_normal(&mut second);
        (normal_below(second[1].into()) * 256.0) as usize
    });
    count(&mut |rng| {
        rng.fill_normal(&mut second);
        let quarter = |x: f32| ((normal_below(x.into()) * 16.0) as usize).min(15);
        quarter(second[0]) * 16 + quarter(second[1])
    });
    let mut order = [0; 256];
    count(&mut |rng| {
        rng.permutation(&mut order);
        order[17] as usize
    });
}

#[test]
fn normal_numbers_have_the_stated_moments_and_limit() {
    let mut x = vec![0.0f32; 1 << 20];
    Rng::seeded(11).fill_normal(&mut x);
    let moment = |p: i32| x.iter().map(|&x| f64::from(x).powi(p)).sum::<f64>() / x.len() as f64;
    for (p, want, deviation) in [(1, 0.0, 1.0), (2, 1.0, 2f64.sqrt()), (3, 0.0, 15f64.sqrt()), (4, 3.0, 96f64.sqrt())] {
        let error = (moment(p) - want).abs();
        assert!(error < 4.5 * deviation / (x.len() as f64).sqrt(), "moment {p}: off by {error}");
    }
    assert!(x.iter().all(|x| x.abs() < 6.67));
}

#[test]
fn normal_numbers_do_not_depend_on_the_cpu_level_or_on_how_a_fill_is_cut() {
    let whole = LEVELS.map(|level| {
        cpu::set_limit(level);
        let mut x = vec![0.0f32; 1003];
        Rng::seeded(2).fill_normal(&mut x);
        x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    cpu::set_limit(Level::Avx512);
    assert!(whole.iter().all(|x| *x == whole[0]));
    let (mut rng, mut x) = (Rng::seeded(2), vec![0.0f32; 1003]);
    for part in x.chunks_mut(34) {
        rng.fill_normal(part);
    }
    assert_eq!(x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), whole[0]);
    let mut rng = Rng::seeded(2);
    let one_by_one: Vec<u32> = whole[0].iter().step_by(2).map(|_| rng.normal_f32().to_bits()).collect();
    assert!(one_by_one.iter().eq(whole[0].iter().step_by(2)));
}

fn draw(rng: &mut Rng, kind: u8) -> u64 {
    match kind {
        0 => rng.next_u64(),
        1 => rng.next_u32().into(),
        2 => rng.uniform().to_bits(),
        3 => rng.uniform_f32().to_bits().into(),
        4 => rng.bounded(1_000_000),
        5 => rng.bounded(1 << 40),
        6 => rng.normal_f32().to_bits().into(),
        _ => {
            let mut order = [0; 5];
            rng.permutation(&mut order);
            fnv(&order)
        }
    }
}

proptest! {
    #[test]
    fn a_stream_goes_on_from_its_bytes(
        seed: u64, stream: u64, before in prop::collection::vec(0u8..8, 0..20), after in prop::collection::vec(0u8..8, 1..20),
    ) {
        let mut rng = Rng::stream(seed, stream);
        for kind in before {
            draw(&mut rng, kind);
        }
        let mut saved = [0; size_of::<Rng>()];
        saved.copy_from_slice(bytemuck::bytes_of(&rng));
        let mut again: Rng = bytemuck::pod_read_unaligned(&saved);
        prop_assert!(again.is_valid());
        for kind in after {
            prop_assert_eq!(draw(&mut again, kind), draw(&mut rng, kind));
        }
        prop_assert_eq!(bytemuck::bytes_of(&again), bytemuck::bytes_of(&rng));
    }

    #[test]
    fn bounded_draws_stay_in_range(seed: u64, low: i64, high: i64) {
        let x = Rng::seeded(seed).integers(low, high);
        let inside = (low..high).contains(&x);
        prop_assert_eq!(inside, low < high);
        prop_assert!(inside || x == low);
    }

    #[test]
    fn streams_of_one_seed_differ(seed: u64, a: u64, b: u64) {
        prop_assume!(a != b);
        prop_assert_ne!(Rng::stream(seed, a), Rng::stream(seed, b));
        prop_assert_ne!(Rng::stream(seed, a), Rng::seeded(seed));
    }
}

#[test]
fn rows_of_normals_are_those_of_their_streams() {
    for (rows, width) in [(1, 1), (1, 70), (2, 1), (5, 3), (16, 2), (17, 1), (40, 7), (3, 64)] {
        let mut streams: Vec<Rng> = (0..rows).map(|i| Rng::stream(4, i)).collect();
        let mut alone = streams.clone();
        let (mut all, mut one) = (vec![0.0f32; rows as usize * width], vec![0.0f32; width]);
        for _ in 0..2 {
            Rng::fill_normal_rows(&mut streams, &mut all);
            for (row, stream) in all.chunks(width).zip(&mut alone) {
                stream.fill_normal(&mut one);
                assert_eq!(row, one, "{rows} rows of {width}");
            }
        }
        assert!(streams == alone);
    }
    Rng::fill_normal_rows(&mut [], &mut []);
    Rng::fill_normal_rows(&mut [Rng::seeded(1), Rng::seeded(2)], &mut []);
}

/// Bounds, and btgym's formula of numpy's `default_rng(1).random(5)` between them.
const LOG_UNIFORM: [(f64, f64, f64); 5] = [
    (1e-05, 0.001, 0.0001055949796487804),
    (0.0001, 0.001, 0.0008922030364578633),
    (0.0, 1.0, 5.369271349061623e-11),
    (3.0, 2.0, 2.0420782474388997),
    (1e-12, 5.0, 1.469256533136986e-08),
];

#[test]
fn numbers_uniform_in_the_logarithm_are_those_of_the_formula() {
    let mut rng = Rng::seeded(1);
    for (low, high, wanted) in LOG_UNIFORM {
        let drawn = rng.log_uniform(low, high);
        assert!((drawn / wanted - 1.0).abs() < 1e-14, "{low} to {high}: {drawn}");
    }
    // Equal bounds consume a draw, too, and return the bound.
    let (mut rng, mut other) = (Rng::seeded(2), Rng::seeded(2));
    assert_eq!((rng.log_uniform(0.9, 0.9), rng.log_uniform(0.0, 0.0)), (0.9, 0.0));
    other.uniform();
    other.uniform();
    assert_eq!(rng, other);
    let mut counts = [0; 16];
    for _ in 0..100_000 {
        counts[(rng.log_uniform(1.0, 65536.0).log2() as usize).min(15)] += 1;
    }
    assert!(counts.iter().all(|count| (5900..6600).contains(count)), "{counts:?}");
}
