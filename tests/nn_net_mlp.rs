//! A network of two towers gives the bits of two `Mlp`s. Goes with `Mlp`.

use rlcore::cpu::{self, LEVELS};
use rlcore::nn::{ALL, Activation, HEAD, INPUT, Layer, Mlp, Net, Node};
use rlcore::rng::Rng;

fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn tower(layers: &mut Vec<Layer>, sizes: &[usize], activation: Activation, gain: f32) {
    for (i, &units) in sizes[1..].iter().enumerate() {
        let from = [if i == 0 { INPUT } else { 0 }, 0];
        let hidden = Layer { from, ..Layer::dense(units as u32, activation) };
        let head = Layer { flags: HEAD, gain, activation: Activation::Identity as u32, ..hidden };
        layers.push(if i + 2 == sizes.len() { head } else { hidden });
    }
}

#[test]
fn two_towers_give_the_bits_of_two_mlps() {
    let towers: [[&[usize]; 2]; 5] = [
        [&[4, 64, 64, 2], &[4, 64, 64, 1]],
        [&[1, 2, 2, 2], &[1, 2, 2, 1]],
        [&[17, 256, 70, 6], &[17, 256, 70, 1]],
        [&[5, 33, 70, 40, 6, 20], &[5, 16, 1]],
        [&[9, 3], &[9, 15, 16, 17, 18]],
    ];
    for (sizes, activation, num_free) in towers.into_iter().flat_map(|t| {
        [Activation::Tanh, Activation::Relu].into_iter().flat_map(move |a| [0, 3].map(|free| (t, a, free)))
    }) {
        let mlps = sizes.map(|s| Mlp::new(s, activation).unwrap());
        let mut layers = Vec::new();
        tower(&mut layers, sizes[0], activation, 0.01);
        if num_free > 0 {
            layers.push(Layer::free(num_free, -0.5));
        }
        tower(&mut layers, sizes[1], activation, 1.0);
        let mut nodes = [Node::default(); 32];
        let net = Net::compile(&layers, sizes[0][0], &mut nodes).unwrap();
        let lens = mlps.map(|m| m.param_len());
        let free = num_free as usize;
        assert_eq!(net.param_len(), lens[0] + free + lens[1]);
        let starts = [0, lens[0] + free];

        let mut params = vec![f32::NAN; net.param_len()];
        let mut scratch = vec![f32::NAN; net.scratch_len(true)];
        net.init(&mut params, &mut Rng::seeded(4), &mut scratch).unwrap();
        let mut rng = Rng::seeded(4);
        for (i, mlp) in mlps.iter().enumerate() {
            let mut own = vec![0.0; lens[i]];
            let mut scratch = vec![f32::NAN; mlp.scratch_len()];
            mlp.init(&mut own, [0.01, 1.0][i], &mut rng, &mut scratch).unwrap();
            assert_eq!(bits(&own), bits(&params[starts[i]..][..lens[i]]));
        }
        assert!(params[lens[0]..][..free].iter().all(|x| *x == -0.5));
        let mut rng = Rng::seeded(5);
        params = random(&mut rng, net.param_len());
        params.iter_mut().for_each(|p| *p *= 0.2);

        for rows in [1, 2, 31, 33, 64, 70, 130] {
            for level in LEVELS {
                cpu::set_limit(level);
                let x = random(&mut rng, rows * net.input());
                let outs = [0, 1].map(|k| vec![f32::NAN; rows * net.head_len(k)]);
                let ([mut a, mut b], mut tape) = (outs.clone(), vec![f32::NAN; net.tape_len(rows)]);
                net.forward(&params, &x, rows, ALL, &mut tape, &mut [&mut a, &mut b]).unwrap();
                let [mut c, mut d] = outs.clone();
                let mut room = vec![f32::NAN; net.infer_scratch_len(rows)];
                net.infer(&params, &x, rows, ALL, &mut room, &mut [&mut c, &mut d]).unwrap();
                let d_outs = outs.map(|out| random(&mut rng, out.len()));
                let mut grads = vec![0.0; net.param_len()];
                let mut scratch = vec![f32::NAN; net.scratch_len(false)];
                let d = [&d_outs[0][..], &d_outs[1]];
                net.backward(&params, &x, rows, ALL, &tape, &d, None, &mut grads, &mut scratch).unwrap();
                for (i, mlp) in mlps.iter().enumerate() {
                    let params = &params[starts[i]..][..lens[i]];
                    let mut out = vec![f32::NAN; rows * mlp.output()];
                    let mut tape = vec![f32::NAN; mlp.tape_len(rows)];
                    mlp.forward(params, &x, rows, &mut tape, &mut out).unwrap();
                    assert_eq!(bits(&out), bits([&a, &b][i]));
                    let mut alone = vec![f32::NAN; out.len()];
                    net.infer(&full(&net, params, starts[i]), &x, rows, 1 << i, &mut room, &mut [&mut alone]).unwrap();
                    assert_eq!(bits(&out), bits(&alone));
                    let mut own = vec![f32::NAN; mlp.param_len()];
                    let mut scratch = vec![f32::NAN; mlp.scratch_len()];
                    mlp.backward(params, &x, rows, &tape, &d_outs[i], &mut own, &mut scratch).unwrap();
                    assert_eq!(bits(&own), bits(&grads[starts[i]..][..lens[i]]), "{sizes:?} x {rows} at {level:?}");
                }
                assert_eq!((bits(&a), bits(&b)), (bits(&c), bits(&alone_again(&net, &params, &x, rows))));
            }
        }
        cpu::set_limit(LEVELS[2]);
    }
}

/// Parameters of one tower among NaNs.
fn full(net: &Net<'_>, params: &[f32], start: usize) -> Vec<f32> {
    let mut all = vec![f32::NAN; net.param_len()];
    all[start..][..params.len()].copy_from_slice(params);
    all
}

fn alone_again(net: &Net<'_>, params: &[f32], x: &[f32], rows: usize) -> Vec<f32> {
    let mut out = vec![0.0; rows * net.head_len(1)];
    let mut room = vec![0.0; net.infer_scratch_len(rows)];
    net.infer(params, x, rows, 2, &mut room, &mut [&mut out]).unwrap();
    out
}
