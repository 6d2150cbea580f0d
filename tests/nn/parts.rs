//! Inputs in parts: a layer that reads one part computes the same as with that part as its whole input, forward and backward, and
//! the gradient of the input is the sum over its readers.
#![cfg(feature = "residual")]

use crate::checks::{backward, forward, random, room, slices};
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, Carry, HEAD, INPUT, Layer, LayerKind, Net, Node};
use rlcore::rng::Rng;

const PARTS: [[u32; 3]; 3] = [[1, 1, 3], [4, 5, 2], [1, 1, 2]];
const LENS: [usize; 3] = [3, 40, 2];
const ROW: usize = 45;

fn head(source: u32, units: u32) -> Layer {
    Layer { source: [source, 0], flags: HEAD, ..Layer::dense(units, Activation::Identity) }
}

/// A network's outputs and gradients of parameters and of the input, all from one set of random numbers.
struct Run {
    outs: Vec<Vec<f32>>,
    grads: Vec<f32>,
    d_input: Vec<f32>,
}

fn run(layers: &[Layer], input: [usize; 3], parts: &[[u32; 3]], params: &[f32], x: &[f32], d_outs: &[&[f32]]) -> Run {
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile_parts(layers, input, parts, &mut nodes).unwrap();
    assert_eq!((net.input(), params.len()), (input.iter().product(), net.param_len()));
    let rows = x.len() / net.input();
    let (outs, tape) = forward(&net, params, x, &Carry::NONE);
    let mut again: Vec<_> = outs.iter().map(|out| room(out.len())).collect();
    let mut scratch = room(net.infer_scratch_len(rows));
    net.infer(params, x, rows, ALL, &mut [], &mut scratch, &mut slices(&mut again)).unwrap();
    assert_eq!(outs, again);
    let (grads, d_input) = backward(&net, params, x, &Carry::NONE, &tape, d_outs);
    Run { outs, grads, d_input }
}

/// The columns of one part.
fn part(x: &[f32], k: usize) -> Vec<f32> {
    let begin: usize = LENS[..k].iter().sum();
    x.chunks_exact(ROW).flat_map(|row| &row[begin..begin + LENS[k]]).copied().collect()
}

fn param_len(layers: &[Layer], input: [usize; 3]) -> usize {
    Net::compile(layers, input, &mut [Node::default(); 4]).unwrap().param_len()
}

#[test]
fn layers_of_parts_are_those_of_networks_that_have_nothing_else() {
    let conv = Layer::conv(3, [2, 3], [1, 2], Activation::Elu);
    // Each list reads one part, or the whole row; together they are one network.
    let lists: [(usize, Vec<Layer>); 4] = [
        (1, vec![conv, Layer { flags: HEAD, ..Layer::dense(2, Activation::Identity) }]),
        (3, vec![Layer { flags: HEAD, ..Layer::dense(4, Activation::Tanh) }]),
        (0, vec![Layer { flags: HEAD, ..Layer::dense(20, Activation::Identity) }]),
        (2, vec![Layer { flags: HEAD, ..Layer::dense(1, Activation::Relu) }]),
    ];
    let input = |k: usize| match k {
        3 => [1, 1, ROW],
        k => PARTS[k].map(|len| len as usize),
    };
    for rows in [1, 5, 70] {
        let mut rng = Rng::seeded(3);
        let x = random(&mut rng, rows * ROW, 0.7);
        let (mut layers, mut params, mut d_outs, mut alone) = (vec![], vec![], vec![], vec![]);
        let mut d_input = vec![0.0f64; x.len()];
        for (k, list) in &lists {
            let own = random(&mut rng, param_len(list, input(*k)), 0.7);
            let d_out = random(&mut rng, rows * list.last().unwrap().units as usize, 0.7);
            let read = if *k == 3 { x.clone() } else { part(&x, *k) };
            let got = run(list, input(*k), &[], &own, &read, &[&d_out]);
            let (begin, width) = if *k == 3 { (0, ROW) } else { (LENS[..*k].iter().sum(), LENS[*k]) };
            for (to, from) in d_input.chunks_exact_mut(ROW).zip(got.d_input.chunks_exact(width)) {
                to[begin..begin + width].iter_mut().zip(from).for_each(|(to, from)| *to += f64::from(*from));
            }
            for (i, layer) in list.iter().enumerate() {
                let source = match (i, *k) {
                    (0, 3) => INPUT,
                    (0, k) => INPUT | (k as u32 + 1),
                    _ => 0,
                };
                layers.push(Layer { source: [source, 0], ..*layer });
            }
            params.extend(own);
            d_outs.push(d_out);
            alone.push(got);
        }
        let d_outs: Vec<&[f32]> = d_outs.iter().map(Vec::as_slice).collect();
        let whole = run(&layers, [1, 1, ROW], &PARTS, &params, &x, &d_outs);
        for (k, one) in alone.iter().enumerate() {
            assert_eq!(whole.outs[k], one.outs[0], "{rows} rows, head {k}");
        }
        assert_eq!(whole.grads, alone.iter().flat_map(|one| one.grads.clone()).collect::<Vec<f32>>());
        let near = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < 1e-6;
        assert!(whole.d_input.iter().zip(&d_input).all(near), "{rows} rows");
        assert!(d_input.iter().any(|x| x.abs() > 0.1));
    }
}

#[test]
fn two_parts_that_are_joined_are_a_row_of_both() {
    let layers = [Layer::merge(LayerKind::Join, [INPUT | 3, INPUT | 1], Activation::Identity), head(1, 3)];
    let mut rng = Rng::seeded(5);
    let (rows, x) = (67, random(&mut rng, 67 * ROW, 0.7));
    let (params, d_out) = (random(&mut rng, 5 * 3 + 3, 0.7), random(&mut rng, 67 * 3, 0.7));
    let both: Vec<f32> = x.chunks_exact(ROW).flat_map(|row| [&row[43..], &row[..3]].concat()).collect();
    let parted = run(&layers, [1, 1, ROW], &PARTS, &params, &x, &[&d_out]);
    let plain = run(&[head(INPUT, 3)], [1, 1, 5], &[], &params, &both, &[&d_out]);
    assert_eq!((&parted.outs, &parted.grads), (&plain.outs, &plain.grads));
    for row in 0..rows {
        let (got, want) = (&parted.d_input[row * ROW..][..ROW], &plain.d_input[row * 5..][..5]);
        assert_eq!([&got[43..], &got[..3]].concat(), want);
        assert!(got[3..43].iter().all(|x| *x == 0.0));
    }
}

#[test]
fn parts_that_are_not_there_are_refused() {
    let refused = |source, parts: &[[u32; 3]], words: &str| {
        let error = Net::compile_parts(&[head(source, 1)], [1, 1, ROW], parts, &mut [Node::default()]).unwrap_err();
        assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
    };
    let missing = "a source with a part that the input has, counted from 1, in layer 1";
    refused(INPUT | 4, &PARTS, missing);
    refused(INPUT | 1, &[], missing);
    refused(INPUT | 0x3fff_ffff, &PARTS, missing);
    refused(u32::MAX, &PARTS, missing);
    refused(INPUT | 1, &PARTS[..2], "parts of the input with as many numbers as it has, 45, given 43");
    refused(INPUT | 1, &[[1, 1, 45], [1, 0, 1]], "parts of the input");
    // A network without a reader of the whole input is accepted again from its nodes.
    let mut nodes = [Node::default()];
    let layers = [head(INPUT | 2, 1)];
    let net = Net::compile_parts(&layers, [1, 1, ROW], &PARTS, &mut nodes).unwrap();
    assert_eq!((net.picture(), net.input()), ([1, 1, ROW], ROW));
    let again = Net::accept::<1>(net.nodes(), &PARTS).unwrap();
    assert_eq!(again, net);
    let others = [[1, 1, 4], [4, 5, 2], [1, 1, 1]];
    assert_eq!(Net::accept::<1>(net.nodes(), &others).unwrap_err().kind, Kind::Image);
    assert_eq!(Net::accept::<1>(net.nodes(), &[]).unwrap_err().kind, Kind::Image);
}
