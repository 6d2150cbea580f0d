//! Policies as files of C: their text. `tests/system/policy-c` compiles and runs such files.

#![cfg(all(feature = "attention", feature = "residual", feature = "unreal", feature = "noisy", feature = "stream"))]

use crate::host::{Host, Tune, config, export, forge, policy, recurrent};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Policy};
use rlcore::nn::{Activation, BYTES, INPUT, Layer, LayerKind, MEAN, NO_BIAS, NORMALIZED, RMS, WHOLE};
use rlcore::space::{Element, Field, Space};

fn text(policy: &Policy<'_>, prefix: &str) -> String {
    let mut bytes = vec![0xa5; policy.c_source_size(prefix).unwrap()];
    policy.write_c_source(prefix, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn host(layers: &[Layer], tune: impl Fn(&mut Config), obs: &Space<'_>, action: &Space<'_>) -> Host {
    let mut c = Config { num_envs: 2, num_steps: 4, num_minibatches: 1, num_layers: layers.len() as u32, ..config() };
    tune(&mut c);
    Host::with(&c, layers, obs, action)
}

/// The text without comments.
fn code(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap().to_string();
    first + &parts.map(|part| part.split_once("*/").unwrap().1).collect::<String>()
}

/// Names that begin with a prefix, in the order in which they stand.
fn names<'t>(code: &'t str, prefix: &str) -> Vec<&'t str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with(prefix)).collect()
}

/// Properties that every file has. `calls`: functions that it has, by the ends of their names.
fn check(policy: &Policy<'_>, calls: &[&str]) -> String {
    let whole = text(policy, "fly");
    assert_eq!(whole, text(policy, "fly"), "equal policies are equal bytes");
    assert!(whole.is_ascii() && whole.ends_with("#endif\n") && !whole.contains(['@', '$', '`']), "{whole}");
    let code = code(&whole);
    for (open, close) in [('{', '}'), ('(', ')'), ('[', ']')] {
        assert_eq!(code.matches(open).count(), code.matches(close).count(), "{open}");
    }
    let includes: Vec<_> = code.lines().filter(|line| line.starts_with("#include")).collect();
    assert_eq!(includes, ["#include <stddef.h>", "#include <stdint.h>", "#include <string.h>"]);
    // Each function is defined before it is called, once, and those beside the interface are called.
    let interface = ["fly_act", "fly_outputs", "fly_best", "fly_reset"];
    let defined: Vec<_> = code
        .lines()
        .filter(|line| line.starts_with("static inline"))
        .map(|line| {
            let before = line.split('(').next().unwrap();
            before.rsplit([' ', '*']).next().unwrap()
        })
        .collect();
    for (i, name) in defined.iter().enumerate() {
        assert!(!defined[..i].contains(name), "{name} is defined twice");
        let uses = names(&code, name).iter().filter(|own| *own == name).count();
        assert!(uses > 1 || interface.contains(name), "{name} is never called");
        let place = code.find(&format!("{name}(")).unwrap();
        let line = code[..place].rsplit('\n').next().unwrap();
        assert!(line.starts_with("static inline") || line.starts_with("#define"), "{name} is used before: {line}");
    }
    for call in calls {
        assert!(defined.contains(&format!("fly_{call}").as_str()), "{call} of {defined:?}");
    }
    // The same file with another prefix has no other difference.
    let other = text(policy, "Bee9_x");
    assert_eq!(whole.replace("fly_", "Bee9_x_").replace("FLY_", "BEE9_X_"), other);
    check_tables(policy, &whole);
    whole
}

/// The number that a literal of C stands for.
fn literal(text: &str) -> f32 {
    let text = text.trim().trim_end_matches('f');
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let size = if text == "0.0" {
        0.0
    } else {
        let (digits, power) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let mut value = f64::from(u32::from_str_radix(whole, 16).unwrap());
        for (i, digit) in part.chars().enumerate() {
            value += f64::from(digit.to_digit(16).unwrap()) * 16f64.powi(-(i as i32) - 1);
        }
        (value * 2f64.powi(power.parse().unwrap())) as f32
    };
    if negative { -size } else { size }
}

/// The tables of weights are the parameters of the policy: those that read_tensors reads, each in some place.
fn check_tables(policy: &Policy<'_>, whole: &str) {
    let mut found = vec![];
    for table in whole.split("static const float fly_layer_").skip(1) {
        let (head, rest) = table.split_once("] = {").unwrap();
        let body = rest.split_once('}').unwrap().0;
        let own: Vec<u32> = body.split(',').map(|x| literal(x).to_bits()).collect();
        assert_eq!(own.len().to_string(), head.split_once('[').unwrap().1);
        found.extend(own);
    }
    let mut values = vec![0.0; policy.params_len()];
    policy.read_tensors(&mut values).unwrap();
    let scale = if policy.is_q() && policy.config().num_atoms == 0 { 1024.0 } else { 1.0 };
    let log_std = policy.shape().std_len();
    assert_eq!(found.len() + log_std, values.len());
    // The last layer of Q is scaled, by a power of two: sort all numbers without their exponents.
    let plain = |bits: u32| if scale == 1.0 { bits } else { bits & 0x807f_ffff };
    let sorted = |mut all: Vec<u32>| {
        all.sort_unstable();
        all
    };
    let values = sorted(values.iter().map(|x| plain(x.to_bits())).collect());
    let mut found: Vec<u32> = found.into_iter().map(plain).collect();
    if log_std > 0 {
        let rest = whole.split_once("static const float fly_log_std[").unwrap().1;
        let body = rest.split_once('{').unwrap().1.split_once('}').unwrap().0;
        found.extend(body.split(',').map(|x| literal(x).to_bits()));
    }
    assert!(sorted(found) == values, "tables have other numbers than the policy");
}

fn written(mut h: Host, calls: &[&str]) -> String {
    // Numbers of all sizes, among them 0, the smallest, and one of few digits.
    let mut params: Vec<f32> = h.view().params().to_vec();
    for (to, x) in params.iter_mut().zip([0.0, -0.0, 1e-45, -1e-39, 1.5, -1e6, f32::MIN_POSITIVE, 0.1]) {
        *to = x;
    }
    let moments: Vec<f64> = (0..h.view().moments_len()).map(|i| 0.3 + i as f64).collect();
    h.learner().write_params_with(&params, &moments).unwrap();
    let block = export(&h.view());
    check(&policy(&block), calls)
}

#[test]
fn heads_have_their_functions() {
    let (obs, choose) = (Space::unbounded(5), Space::discrete(&[3, 2, 4]));
    let bounded = Space::between(&[-2.0, -1.0], &[0.5, 3.0]);
    let names = ["tanh", "relu", "", "elu", "silu", "gelu", "leaky_relu"];
    for (activation, name) in (0..).zip(names) {
        let apply = format!("apply_{name}");
        let calls: &[&str] = if name.is_empty() { &["narrow"] } else { &["narrow", &apply] };
        let tune = |c: &mut Config| c.activation = activation;
        let plain = written(host(&[], tune, &obs, &choose), calls);
        assert!(!plain.contains("_state") && plain.contains("const uint8_t *mask") && !plain.contains("double fly"));
    }
    written(host(&[Layer::dense(16, Activation::Identity)], |_| {}, &obs, &choose), &["wide", "narrow"]);
    let whole = written(host(&[], |c| c.normalize_obs = 1, &obs, &choose), &["normalize", "allows", "best_of"]);
    assert!(whole.contains("static const double fly_moments[10]"));
    let whole = written(host(&[], |c| c.squash = 1, &obs, &bounded), &["stretch", "bounded"]);
    assert!(!code(&whole).contains("mask"));
    written(host(&[], |_| {}, &Space::bytes(6), &bounded), &["clamp", "bytes"]);
    let store = |algorithm| Config { num_envs: 2, ..Config::of(algorithm).hidden(&[6]).store(64, 16, 32) };
    let q = store(Algorithm::Dqn);
    let atoms = Config { num_atoms: 9, value_min: -3.0, value_max: 5.0, ..q };
    for (config, calls) in
        [(q, &["best_of"][..]), (Config { num_quantiles: 5, noisy: 1, ..q }, &[]), (atoms, &["atoms"])]
    {
        let h = Host::new(&config, &obs, &choose);
        let block = export(&h.view());
        assert!(check(&policy(&block), calls).contains("1024 times Q"));
    }
}

#[test]
fn layers_have_their_functions() {
    for layer in recurrent() {
        let normalized = layer.flags & NORMALIZED != 0;
        let is = |kind: LayerKind| layer.kind == kind as u32;
        let own = match [LayerKind::Lstm, LayerKind::Gru, LayerKind::MinGru].map(is) {
            [true, ..] if normalized => "lstm_normalized",
            [true, ..] => "lstm",
            [_, true, _] => "gru",
            [.., true] => "mingru",
            _ => "attention",
        };
        let whole = written(
            host(&[layer], |c| c.sequence_len = 2, &Space::unbounded(4), &Space::discrete(&[3])),
            &[own, "reset"],
        );
        assert!(whole.contains("} fly_state;"));
    }
    let conv = Layer::conv(6, [3, 2], [2, 1], Activation::Relu);
    let plain = Layer { stride: [0; 2], size: [0; 2], units: 0, activation: Activation::Identity as u32, ..conv };
    let kind = |kind: LayerKind, layer: Layer| Layer { kind: kind as u32, ..layer };
    let pool = kind(LayerKind::Pool, Layer { units: 0, same: 1, activation: 2, ..conv });
    let lists: [(&[Layer], &[&str]); 6] = [
        (&[conv, Layer { same: 1, flags: NO_BIAS, ..conv }], &["conv", "pixel"]),
        (&[conv, kind(LayerKind::Deconv, Layer { units: 3, ..conv })], &["deconv"]),
        (&[pool, Layer { flags: MEAN, ..pool }], &["pool"]),
        (&[kind(LayerKind::Depthwise, Layer { units: 4, same: 1, ..conv })], &["depthwise"]),
        (
            &[conv, kind(LayerKind::Norm, Layer { flags: RMS | WHOLE, ..plain }), kind(LayerKind::Norm, plain)],
            &["norm", "sqrt"],
        ),
        (
            &[
                kind(LayerKind::Embed, Layer { units: 6, symbols: 7, flags: BYTES, source: [INPUT, 0], ..plain }),
                Layer::merge(LayerKind::Add, [1, 1], Activation::Tanh),
                Layer::merge(LayerKind::Multiply, [1, 2], Activation::Identity),
                Layer::merge(LayerKind::Join, [3, 2], Activation::Elu),
            ],
            &["embed", "symbols", "add", "multiply", "join"],
        ),
    ];
    for (layers, calls) in lists {
        let tune = |c: &mut Config| c.obs_dims = [6, 5, 2];
        written(host(layers, tune, &Space::bytes(60), &Space::discrete(&[3])), calls);
    }
}

fn structured() -> Host {
    const SEEN: [Field<'static>; 4] = [
        Field { channels_first: true, ..Field::new("camera", Element::U8, &[2, 3, 4], 0) },
        Field::new("speed", Element::F32, &[2], 24),
        Field::new("items", Element::I32, &[2], 32),
        Field { channels_first: true, ..Field::new("depth", Element::F32, &[2, 2, 1], 40) },
    ];
    const TAKEN: [Field<'static>; 2] =
        [Field::new("weapon", Element::I32, &[2], 0), Field::new("aim", Element::F32, &[2], 8)];
    let obs = Space { n: &[3, 5], ..Space::bytes(56) }.with_fields(&SEEN);
    let action = Space { n: &[3, 2], ..Space::bytes(20).with_fields(&TAKEN) };
    host(&[Layer::dense(4, Activation::Tanh)], |c| c.normalize_obs = 1, &obs, &action)
}

#[test]
fn structures_have_their_functions() {
    let whole = written(structured(), &["turn_bytes", "turn_floats", "one_hot", "bounded", "best_of"]);
    assert!(whole.contains("const void *obs, const uint8_t *mask, void *action"));
    assert!(whole.contains("  3, 2, 0, 0, UINT32_MAX\n"), "words of the action");
}

#[test]
fn prefixes_and_lengths_are_checked() {
    let h = host(&[], |_| {}, &Space::unbounded(3), &Space::unbounded(2));
    let block = export(&h.view());
    let policy = policy(&block);
    for wrong in ["", "9a", "_a", "a-b", "a b", "\u{e4}", "a\n", &"a".repeat(32)] {
        assert_eq!(policy.c_source_size(wrong).unwrap_err().kind, Kind::Config, "{wrong}");
        assert_eq!(policy.write_c_source(wrong, &mut []).unwrap_err().kind, Kind::Config, "{wrong}");
    }
    check(&policy, &[]);
    text(&policy, &"a".repeat(31));
    let len = policy.c_source_size("policy").unwrap();
    for wrong in [0, len - 1, len + 1] {
        let mut bytes = vec![7; wrong];
        assert_eq!(policy.write_c_source("policy", &mut bytes).unwrap_err().kind, Kind::Size);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}

/// Files of forged policies that attach accepts are written, or refused.
#[test]
fn forged_policies_are_written_or_refused_as_c() {
    let carries =
        host(&[Layer::attention(4, 2, 2)], |c| c.sequence_len = 2, &Space::unbounded(2), &Space::discrete(&[2]));
    let blocks = [export(&structured().view()), export(&carries.view())];
    forge(&blocks, &[0, 1, 2, 0x7fc0_0000, 0x7f7f_ffff, u32::MAX], 20, |brain| {
        let Ok(policy) = Policy::attach(bytemuck::cast_slice(brain)) else { return false };
        if let Ok(size) = policy.c_source_size("policy") {
            policy.write_c_source("policy", &mut vec![0; size]).unwrap();
        }
        true
    });
}
