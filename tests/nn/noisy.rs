//! Noisy layers against their formulas in f64, finite differences, and refusals.

#![cfg(feature = "noisy")]

use crate::checks::{backward, forward, random, slope, started, wide, within};
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, Carry, HEAD, Initializer, Layer, LayerKind, NO_BIAS, NOISY, Net, Node};
use rlcore::rng::Rng;

const IDENTITY: Activation = Activation::Identity;

fn noisy(units: u32, activation: Activation) -> Layer {
    Layer { flags: NOISY, ..Layer::dense(units, activation) }
}

/// The transform of noise as in the paper: sgn(x) √|x|.
fn f(x: f64) -> f64 {
    x.signum() * x.abs().sqrt()
}

/// Two noisy layers in a row, one in each layout of weights, a plain layer, and two heads.
fn layers() -> [Layer; 5] {
    [
        noisy(20, Activation::Tanh),
        Layer { flags: NOISY | NO_BIAS, ..Layer::dense(5, Activation::Tanh) },
        Layer::dense(18, Activation::Tanh),
        Layer { flags: HEAD | NOISY, source: [3, 0], ..Layer::dense(3, IDENTITY) },
        Layer { flags: HEAD, source: [3, 0], ..Layer::dense(1, IDENTITY) },
    ]
}

const INPUT_LEN: usize = 4;

/// Weights and biases of a layer: means, then deviations if there are any.
type Params = (Vec<f32>, Vec<f32>);

fn read(net: &Net<'_>, params: &[f32], layers: &[Layer]) -> Vec<Params> {
    let inputs = [INPUT_LEN, 20, 5, 18, 18];
    let all = layers.iter().zip(inputs).enumerate();
    all.map(|(i, (layer, input))| {
        let halves = if layer.flags & NOISY != 0 { 2 } else { 1 };
        let bias = if layer.flags & NO_BIAS != 0 { 0 } else { layer.units as usize };
        crate::checks::read(net, params, i, halves * layer.units as usize * input, halves * bias)
    })
    .collect()
}

/// The sum of the outputs times `d`, in f64 and with the noise by its formula.
fn loss(layers: &[Layer], all: &[(Vec<f64>, Vec<f64>)], noise: &[f64], x: &[f64], d: &[Vec<f32>]) -> f64 {
    let rows = x.len() / INPUT_LEN;
    let (mut values, mut width) = (x.to_vec(), INPUT_LEN);
    let (mut trunk, mut rest, mut sum, mut heads) = (Vec::new(), noise, 0.0, d.iter());
    for (layer, (w, b)) in layers.iter().zip(all) {
        let is_head = layer.flags & HEAD != 0;
        if is_head && trunk.is_empty() {
            trunk = values.clone();
        }
        let input = if is_head { trunk.clone() } else { values.clone() };
        let input_len = if is_head { 18 } else { width };
        let units = layer.units as usize;
        let is_noisy = layer.flags & NOISY != 0;
        let (read, made) = if is_noisy { rest.split_at(input_len) } else { (&[][..], rest) };
        let mut y = vec![0.0; rows * units];
        for row in 0..rows {
            for j in 0..units {
                let mut own = b.get(j).copied().unwrap_or(0.0);
                own += if is_noisy { b.get(units + j).copied().unwrap_or(0.0) * made[j] } else { 0.0 };
                for i in 0..input_len {
                    let mut weight = w[j * input_len + i];
                    weight += if is_noisy { w[(units + j) * input_len + i] * read[i] * made[j] } else { 0.0 };
                    own += weight * input[row * input_len + i];
                }
                y[row * units + j] = if layer.activation == Activation::Tanh as u32 { own.tanh() } else { own };
            }
        }
        if is_noisy {
            rest = &made[units..];
        }
        if is_head {
            sum += y.iter().zip(heads.next().unwrap()).map(|(y, d)| y * f64::from(*d)).sum::<f64>();
        } else {
            (values, width) = (y, units);
        }
    }
    assert!(rest.is_empty());
    sum
}

#[test]
fn outputs_and_gradients_are_those_of_the_specification() {
    let layers = [Layer { flags: HEAD | NOISY, ..Layer::dense(3, IDENTITY) }];
    let mut nodes = [Node::default()];
    let net = Net::compile(&layers, [1, 1, 2], &mut nodes).unwrap();
    let deviation = 0.282_842_73_f32;
    let (mut params, mut noisy) = (vec![f32::NAN; net.param_len()], vec![0.0; 18]);
    assert_eq!((net.param_len(), net.noise_len()), (18, 5));
    // `[units, input]`, the order of hosts; the specification has the other one.
    let mut w = vec![0.1, -0.1, 0.2, 0.0, 0.3, 0.1];
    w.extend([deviation; 6]);
    net.write_layer(&mut params, 0, &w, &[0.01, 0.02, 0.03, deviation, deviation, deviation]).unwrap();
    noisy.copy_from_slice(&params);
    let noise = [0.25, -1.0, 4.0, -0.09, 0.0].map(|x| f(x) as f32);
    net.add_noise(&noise, &mut noisy).unwrap();
    let x = [1.0, 2.0];
    let (y, tape) = forward(&net, &noisy, &x, &Carry::NONE);
    within(&y[0], &[-0.372_842_712_474_619, 0.262_426_406_871_192_9, 0.53], 1e-6, "y");
    let (mut grads, _) = backward(&net, &noisy, &x, &Carry::NONE, &tape, &[vec![1.0, -1.0, 0.5]]);
    net.noise_gradients(&noise, &mut grads).unwrap();
    let (d_w, d_b) = crate::checks::read(&net, &grads, 0, 12, 6);
    within(&d_w, &[1.0, 2.0, -1.0, -2.0, 0.5, 1.0, 1.0, -4.0, 0.15, -0.6, 0.0, 0.0], 1e-6, "weights");
    within(&d_b, &[1.0, -1.0, 0.5, 2.0, 0.3, 0.0], 1e-6, "biases");
}

#[test]
fn noise_is_drawn_as_the_formula_says() {
    let layers = layers();
    let mut nodes = [Node::default(); 5];
    let net = Net::compile(&layers, [1, 1, INPUT_LEN], &mut nodes).unwrap();
    let len = (INPUT_LEN + 20) + (20 + 5) + (18 + 3);
    assert_eq!(net.noise_len(), len);
    let (mut noise, mut normal, mut rng, mut other) = (vec![0.0; len], vec![0.0; len], Rng::seeded(3), Rng::seeded(3));
    net.draw_noise(&mut rng, &mut noise).unwrap();
    other.fill_normal(&mut normal);
    assert_eq!(rng, other);
    for (x, normal) in noise.iter().zip(&normal) {
        assert!((f64::from(*x) - f(f64::from(*normal))).abs() < 1e-6, "{x} {normal}");
    }
    assert!(noise.iter().any(|x| *x > 0.5) && noise.iter().any(|x| *x < -0.5));
    for len in [len - 1, len + 1] {
        let mut wrong = vec![0.0; len];
        let (mut params, before) = (vec![0.5; net.param_len()], rng);
        assert_eq!(net.draw_noise(&mut rng, &mut wrong).unwrap_err().kind, Kind::Shape);
        assert_eq!(net.add_noise(&wrong, &mut params).unwrap_err().kind, Kind::Shape);
        assert_eq!(net.noise_gradients(&noise, &mut params[1..]).unwrap_err().kind, Kind::Shape);
        assert!(params.iter().all(|x| *x == 0.5) && rng == before);
    }
}

#[test]
fn gradients_are_finite_differences_of_the_formula_in_f64() {
    let layers = layers();
    let mut nodes = [Node::default(); 5];
    let net = Net::compile(&layers, [1, 1, INPUT_LEN], &mut nodes).unwrap();
    let mut rng = Rng::seeded(5);
    let mut scratch = vec![0.0; net.scratch_len(true, 0)];
    let mut params = vec![0.0; net.param_len()];
    net.init(&mut params, &mut rng, &mut scratch).unwrap();
    let mut uniform = |len| random(&mut rng, len, 1.0);
    params.iter_mut().zip(uniform(net.param_len())).for_each(|(x, noise)| *x += 0.2 * noise);
    let rows = 67;
    let (x, noise, d) = (uniform(rows * INPUT_LEN), uniform(net.noise_len()), [uniform(rows * 3), uniform(rows)]);
    let mut with_noise = params.clone();
    net.add_noise(&noise, &mut with_noise).unwrap();
    assert!(with_noise != params);
    let (outs, tape) = forward(&net, &with_noise, &x, &Carry::NONE);
    let (mut grads, d_input) = backward(&net, &with_noise, &x, &Carry::NONE, &tape, &d);
    net.noise_gradients(&noise, &mut grads).unwrap();

    let own: Vec<_> = read(&net, &params, &layers).iter().map(|(w, b)| (wide(w), wide(b))).collect();
    let (x, noise) = (wide(&x), wide(&noise));
    let at = |own: &[(Vec<f64>, Vec<f64>)], x: &[f64]| loss(&layers, own, &noise, x, &d);
    let said: f64 = outs.iter().zip(&d).flat_map(|(y, d)| y.iter().zip(d)).map(|(y, d)| f64::from(y * d)).sum();
    assert!((said - at(&own, &x)).abs() < 1e-3, "{said} {}", at(&own, &x));
    let check = |values: &[f64], i: usize, given: f32, loss: &dyn Fn(&[f64]) -> f64, what: &str| {
        let want = slope(values, i, 1e-5, loss);
        assert!((f64::from(given) - want).abs() < 2e-4 * (1.0 + want.abs()), "{what}: {given} {want}");
    };
    let mut count = 0;
    for (layer, (d_w, d_b)) in read(&net, &grads, &layers).into_iter().enumerate() {
        let (w, b) = own[layer].clone();
        let with = |w: &[f64], b: &[f64]| {
            let mut own = own.clone();
            own[layer] = (w.to_vec(), b.to_vec());
            at(&own, &x)
        };
        let what = format!("layer {layer}");
        d_w.iter().enumerate().for_each(|(i, given)| check(&w, i, *given, &|w| with(w, &b), &what));
        d_b.iter().enumerate().for_each(|(i, given)| check(&b, i, *given, &|b| with(&w, b), &what));
        count += d_w.len() + d_b.len();
    }
    // Including the deviations of three of the five layers.
    assert_eq!(count, net.param_len());
    for i in [0, 5, 200] {
        check(&x, i, d_input[i], &|x| at(&own, x), "input");
    }
}

#[test]
fn layers_start_as_the_specification_says_or_as_the_host_says() {
    for units in [3, 40] {
        let start = |layer: Layer| {
            let layers = [Layer { flags: layer.flags | HEAD, ..layer }];
            let mut nodes = [Node::default()];
            let net = Net::compile(&layers, [1, 1, 25], &mut nodes).unwrap();
            started(&net, 9)
        };
        let (len, n) = (25 * units as usize, units as usize);
        let plain = Layer::dense(units, IDENTITY);
        for kind in [Initializer::Orthogonal, Initializer::Normal, Initializer::Uniform, Initializer::UnitRows] {
            let layer = Layer { initializer: kind as u32, ..plain };
            let (own, noisy) = (start(layer), start(Layer { flags: NOISY, ..layer }));
            let (means, deviations) = noisy.split_at(len + n);
            assert_eq!(means[..len], own[..len], "{kind:?}");
            assert!(deviations.len() == len + n && deviations.iter().all(|x| *x == 0.08), "0.4 / √25");
            let bias = &means[len..];
            if kind == Initializer::Uniform {
                assert!(means.iter().all(|x| x.abs() <= 0.2), "± 1 / √25");
                assert!(bias.iter().any(|x| *x != bias[0]) && means.iter().any(|x| *x > 0.15));
            } else {
                assert!(bias.iter().all(|x| *x == 0.0));
            }
        }
    }
}

#[test]
fn what_adds_no_noise_refuses_the_flag_by_name() {
    let mut nodes = [Node::default(); 3];
    let base = |kind| Layer { kind: kind as u32, flags: NOISY, units: 4, ..Layer::default() };
    let window = |kind| Layer { size: [1, 1], ..base(kind) };
    let merge = |kind| Layer { units: 0, source: [1, 1], ..base(kind) };
    let kinds = [
        window(LayerKind::Conv),
        window(LayerKind::Deconv),
        Layer { units: 0, ..window(LayerKind::Pool) },
        Layer { units: 0, ..base(LayerKind::Norm) },
        base(LayerKind::Lstm),
        base(LayerKind::Gru),
        base(LayerKind::MinGru),
        Layer { heads: 1, window: 2, ..base(LayerKind::Attention) },
        Layer { symbols: 2, ..base(LayerKind::Embed) },
        merge(LayerKind::Add),
        merge(LayerKind::Multiply),
        merge(LayerKind::Join),
    ];
    let head = Layer { flags: HEAD, ..Layer::dense(1, IDENTITY) };
    for layer in kinds {
        let mut list = [Layer::dense(4, IDENTITY), layer, head];
        let error = Net::compile(&list, [1, 1, 3], &mut nodes).unwrap_err();
        let what = "net: no flag NOISY, which its kind does not have, in layer 2";
        assert!(error.kind == Kind::Config && error.to_string().starts_with(what), "{}: {error}", layer.kind);
        list[1].flags = 0;
        assert!(Net::compile(&list, [1, 1, 3], &mut nodes).is_ok(), "{}", layer.kind);
    }
}

#[test]
fn a_head_alone_is_the_network_of_the_means() {
    let layers = layers();
    let mut nodes = [Node::default(); 5];
    let net = Net::compile(&layers, [1, 1, INPUT_LEN], &mut nodes).unwrap();
    let params = started(&net, 2);
    let mut kept = [Layer::default(); 5];
    let count = net.prune(&layers, 0, &mut kept).unwrap();
    assert!(count == 4 && kept.iter().all(|layer| layer.flags & NOISY == 0));
    let mut alone = [Node::default(); 4];
    let alone = Net::compile(&kept[..4], [1, 1, INPUT_LEN], &mut alone).unwrap();
    let mut own = vec![f32::NAN; alone.param_len()];
    net.prune_params(&params, 0, 1, &mut own).unwrap();
    assert!(alone.noise_len() == 0 && own.len() < params.len() / 2 + 200);
    let (x, mut y, mut want) = ([0.3, -0.2, 0.9, 0.1], [0.0; 3], [0.0; 3]);
    let mut scratch = vec![0.0; net.infer_scratch_len(1)];
    net.infer(&params, &x, 1, 1, &mut [], &mut scratch, &mut [&mut want]).unwrap();
    alone.infer(&own, &x, 1, ALL, &mut [], &mut scratch, &mut [&mut y]).unwrap();
    assert!(y == want && y != [0.0; 3]);
}
