//! Tensors of layers: each parameter once, in PyTorch's names and order.

use crate::checks::random;
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, HEAD, INPUT, Layer, LayerKind, NO_BIAS, NOISY, NORMALIZED, Net, Node, RMS, Tensor};
use rlcore::rng::Rng;
use std::collections::HashSet;

const PICTURE: [usize; 3] = [4, 5, 2];

/// Every kind of layer with parameters, and both layouts of dense weights.
fn every_kind() -> Vec<Layer> {
    let conv = Layer::conv(6, [3, 2], [1, 1], Activation::Relu);
    let flat = |layer: Layer| Layer { source: [INPUT, 0], ..layer };
    let mut layers = vec![
        conv,
        Layer { kind: LayerKind::Depthwise as u32, units: 12, size: [2, 1], ..conv },
        Layer { kind: LayerKind::Norm as u32, ..Layer::dense(0, Activation::Identity) },
        Layer { kind: LayerKind::Deconv as u32, units: 3, stride: [2, 1], size: [2, 2], ..conv },
        Layer { kind: LayerKind::Norm as u32, flags: RMS | NO_BIAS, ..Layer::dense(0, Activation::Identity) },
        Layer::dense(17, Activation::Tanh),
        Layer { flags: NOISY, ..Layer::dense(18, Activation::Tanh) },
        Layer::recurrent(LayerKind::Lstm, 5),
        Layer { flags: NORMALIZED, ..Layer::recurrent(LayerKind::Lstm, 4) },
        Layer::recurrent(LayerKind::Gru, 3),
        Layer::recurrent(LayerKind::MinGru, 7),
        Layer::attention(6, 2, 4),
        Layer { flags: HEAD | NOISY, ..Layer::dense(4, Activation::Identity) },
        Layer::free(3, 0.5),
    ];
    layers.push(flat(Layer {
        kind: LayerKind::Embed as u32,
        symbols: 5,
        units: 3,
        ..Layer::dense(3, Activation::Identity)
    }));
    layers.push(Layer { flags: HEAD | NO_BIAS, ..Layer::dense(2, Activation::Identity) });
    layers
}

fn named(net: &Net<'_>, layer: usize) -> Vec<(&'static str, Vec<usize>)> {
    let own = net.tensors(layer).unwrap();
    own.as_slice().iter().map(|tensor| (tensor.name, tensor.told()[..tensor.rank].to_vec())).collect()
}

#[test]
fn tensors_hold_every_parameter_once() {
    let layers = every_kind();
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, PICTURE, &mut nodes).unwrap();
    let all: Vec<f32> = (0..net.param_len()).map(|i| i as f32).collect();
    let (mut copy, mut seen) = (vec![f32::NAN; all.len()], Vec::new());
    for i in 0..layers.len() {
        let own = net.tensors(i).unwrap();
        let names: HashSet<&str> = own.as_slice().iter().map(|tensor| tensor.name).collect();
        assert_eq!(names.len(), own.as_slice().len(), "layer {i}");
        for tensor in own.as_slice() {
            let mut values = vec![f32::NAN; tensor.len()];
            net.read_tensor(&all, i, tensor, &mut values).unwrap();
            net.write_tensor(&mut copy, i, tensor, &values).unwrap();
            assert_eq!(tensor.told().iter().product::<usize>(), values.len());
            let short = net.read_tensor(&all, i, tensor, &mut values[1..]).unwrap_err();
            assert_eq!(short.kind, Kind::Shape);
            seen.extend(values);
        }
    }
    seen.sort_by(f32::total_cmp);
    assert!(seen == all && copy == all);
    assert_eq!(net.tensors(layers.len()).unwrap_err().kind, Kind::Range);
    assert_eq!(named(&net, 0), [("weight", vec![6, 2, 3, 2]), ("bias", vec![6])]);
    assert_eq!(named(&net, 1), [("weight", vec![12, 1, 2, 1]), ("bias", vec![12])]);
    assert_eq!(named(&net, 3), [("weight", vec![12, 3, 2, 2]), ("bias", vec![3])]);
    assert_eq!(named(&net, 4), [("weight", vec![3])]);
    assert_eq!(
        named(&net, 9),
        [("weight_ih", vec![9, 4]), ("weight_hh", vec![9, 3]), ("bias", vec![9]), ("bias_hn", vec![3])]
    );
    assert_eq!(named(&net, 8)[2..], [("bias", vec![20]), ("scale", vec![20])]);
    assert_eq!(named(&net, 13), [("", vec![3])]);
}

/// The order within tensors is that of the hosts' weights of a layer, which other tests compare with formulas.
#[test]
fn tensors_are_the_weights_of_their_layer() {
    let layers = every_kind();
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, PICTURE, &mut nodes).unwrap();
    let params = random(&mut Rng::seeded(3), net.param_len(), 1.0);
    for (i, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.kind != LayerKind::Free as u32) {
        let own = net.tensors(i).unwrap();
        let read = |tensor: &Tensor| {
            let mut values = vec![0.0; tensor.len()];
            net.read_tensor(&params, i, tensor, &mut values).unwrap();
            values
        };
        let of = |biases: bool| own.as_slice().iter().filter(move |tensor| tensor.is_bias == biases).flat_map(read);
        let (weights, bias): (Vec<f32>, Vec<f32>) = (of(false).collect(), of(true).collect());
        let (mut own_weights, mut own_bias) = (vec![0.0; weights.len()], vec![0.0; bias.len()]);
        net.read_layer(&params, i, &mut own_weights, &mut own_bias).unwrap();
        // Weights over a picture with several pixels are turned: the same numbers in another order.
        if layer.kind == LayerKind::Dense as u32 && [5, 15].contains(&i) {
            assert!(weights != own_weights);
            own_weights.sort_by(f32::total_cmp);
            let mut weights = weights;
            weights.sort_by(f32::total_cmp);
            assert_eq!(weights, own_weights);
        } else {
            assert_eq!(weights, own_weights, "layer {i}");
        }
        assert_eq!(bias, own_bias);
    }
}

#[test]
fn inputs_from_pictures_are_channels_height_width() {
    let [h, w, c] = [2, 3, 4];
    for units in [3, 20] {
        let layers = [Layer { flags: HEAD, ..Layer::dense(units, Activation::Identity) }];
        let mut nodes = [Node::default()];
        let net = Net::compile(&layers, [h, w, c], &mut nodes).unwrap();
        let tensor = net.tensors(0).unwrap().as_slice()[0];
        assert_eq!((tensor.rank, tensor.told()), (2, [units as usize, h * w * c, 1, 1]));
        let values: Vec<f32> = (0..tensor.len()).map(|i| i as f32).collect();
        let mut params = vec![0.0; net.param_len()];
        net.write_tensor(&mut params, 0, &tensor, &values).unwrap();
        // With one input of 1, the outputs are its weights.
        for at in 0..h * w * c {
            let (pixel, channel) = (at / c, at % c);
            let mut seen = vec![0.0; h * w * c];
            seen[at] = 1.0;
            let (mut out, mut scratch) = (vec![0.0; units as usize], vec![0.0; net.infer_scratch_len(1)]);
            net.infer(&params, &seen, 1, ALL, &mut [], &mut scratch, &mut [&mut out]).unwrap();
            let wanted = channel * h * w + pixel;
            assert!(out.into_iter().eq((0..units as usize).map(|unit| values[unit * h * w * c + wanted])));
        }
    }
}
