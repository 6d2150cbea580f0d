//! Layers whose weights exceed the first-level cache: the bits equal those of the plain products at the base level.

use crate::checks::bits;
use rlcore::cpu::{self, LEVELS};
use rlcore::nn::{ALL, Activation, Carry, HEAD, Layer, LayerKind, Net, Node};
use rlcore::rng::Rng;
use std::sync::Mutex;

/// Outputs with and without a tape, gradients of the parameters and of the input.
fn run(layers: &[Layer], input: [usize; 3], rows: usize) -> [Vec<u32>; 4] {
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, input, &mut nodes).unwrap();
    let mut rng = Rng::seeded(7);
    let mut random = |len: usize| {
        let mut all = vec![0.0; len];
        rng.fill_normal(&mut all);
        all
    };
    let (params, x) = (random(net.param_len()), random(rows * net.input()));
    let (d, mut grads) = (random(rows * net.head_len(0)), random(net.param_len()));
    let mut scratch = vec![f32::NAN; net.scratch_len(true, 0).max(net.infer_scratch_len(rows)).max(net.work_len())];
    let (mut tape, mut dx) = (vec![0.0; net.tape_len(rows)], vec![0.0; x.len()]);
    let (mut out, mut inferred) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    net.infer(&params, &x, rows, ALL, &mut [], &mut scratch, &mut [&mut inferred]).unwrap();
    let none = Carry::NONE;
    net.forward(&params, &x, rows, ALL, &none, &mut tape, &mut scratch, &mut [&mut out]).unwrap();
    // The bias comes last; to its old gradient the rows of the upstream gradient are added, one after the other.
    let units = layers[0].units as usize;
    let mut bias = grads[grads.len() - units..].to_vec();
    d.chunks(units).for_each(|d| bias.iter_mut().zip(d).for_each(|(sum, d)| *sum += d));
    net.backward(&params, &x, rows, ALL, &none, &tape, &[&d], Some(&mut dx), &mut grads, &mut scratch).unwrap();
    assert_eq!(bits(&grads[grads.len() - units..]), bits(&bias), "{layers:?}, {rows} rows of {input:?}");
    [bits(&out), bits(&inferred), bits(&grads), bits(&dx)]
}

/// Asserts the bits of the base level at every level. The level is global to all threads, so one compares at a time.
fn compare(layer: Layer, input: [usize; 3], rows: usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let of = |level| {
        cpu::set_limit(level);
        run(&[layer], input, rows)
    };
    let want = of(LEVELS[0]);
    for level in LEVELS {
        assert!(of(level) == want, "{level:?}: {layer:?}, {rows} rows of {input:?}");
    }
}

#[test]
fn large_layers_give_the_same_bits_at_every_level() {
    let head = |layer| Layer { flags: HEAD, ..layer };
    let dense = |units| head(Layer::dense(units, Activation::Identity));
    let conv = |units, size, stride| head(Layer::conv(units, [size; 2], [stride; 2], Activation::Identity));
    let all = [
        // Weights that are read once: a row, several, and a remainder of less than four.
        (dense(64), [1, 1, 1030], vec![1, 2, 3]),
        // Few rows of wide layers: whole tiles, and a last one that overlaps the one before.
        (dense(512), [1, 1, 9], vec![1]),
        (dense(585), [1, 1, 9], vec![1, 2, 3]),
        (dense(265), [1, 1, 9], vec![1]),
        (dense(70), [1, 1, 9], vec![2, 3]),
        // Panels one after another over the inputs; rows on both sides of every strip and tile.
        (dense(48), [1, 1, 700], vec![31, 32, 33, 35, 64, 67]),
        (dense(32), [1, 1, 258], vec![32, 70]),
        (dense(128), [1, 1, 67], vec![32, 66]),
        // Fewer units than a vector, and no whole number of vectors.
        (dense(15), [1, 1, 700], vec![1, 33]),
        (dense(24), [1, 1, 400], vec![1, 40]),
        // Pictures: rows of windows by the hundred; runs of whole groups of four numbers and not; a border.
        (conv(112, 5, 2), [11, 11, 3], vec![1, 3, 33]),
        (conv(64, 4, 1), [8, 8, 8], vec![1, 2, 40]),
        (Layer { same: 1, ..conv(64, 3, 2) }, [12, 12, 16], vec![2]),
        // Lines: few windows of one run each, side by side and overlapping.
        (head(Layer::conv(128, [1, 8], [1, 1], Activation::Identity)), [1, 10, 64], vec![1]),
        (head(Layer::conv(128, [1, 8], [1, 1], Activation::Identity)), [1, 9, 64], vec![1]),
    ];
    for (layer, input, rows) in all {
        for rows in rows {
            compare(layer, input, rows);
        }
    }
}

/// Random shapes: every code path of every level gives the same bits.
#[test]
fn layers_of_any_shape_give_the_same_bits_at_every_level() {
    let mut rng = Rng::seeded(3);
    let mut any = |of: &[u32]| of[rng.next_u32() as usize % of.len()];
    let mut tried = [0; 3];
    while tried.iter().any(|&n| n < 60) {
        let units = any(&[1, 2, 7, 15, 16, 24, 32, 33, 40, 48, 64, 70, 96, 112, 128, 144, 200, 256, 272, 512, 585]);
        let [height, width] = [(); 2].map(|()| any(&[1, 1, 2, 3, 4, 5, 7, 9, 10, 12, 20]));
        let channels = any(&[1, 2, 3, 4, 5, 8, 16, 20, 32, 64, 130]);
        let size = [height, width].map(|of| any(&[1, 2, 3, 4, 5, 8]).min(of));
        let stride = [(); 2].map(|()| any(&[1, 1, 2, 3]));
        let conv = Layer { same: any(&[0, 0, 1]), ..Layer::conv(units, size, stride, Activation::Identity) };
        let kind = any(&[0, 1, 2]) as usize;
        let layer = match kind {
            0 => Layer::dense(units, Activation::Identity),
            1 => conv,
            _ => Layer { kind: LayerKind::Deconv as u32, ..conv },
        };
        let (rows, of) = (any(&[1, 1, 2, 3, 4, 5, 8, 9, 17, 33]), height * width * channels);
        let work = u64::from(rows * units) * u64::from(of) * if kind == 0 { 1 } else { u64::from(size[0] * size[1]) };
        if work < 4_000_000 {
            compare(Layer { flags: HEAD, ..layer }, [height, width, channels].map(|n| n as usize), rows as usize);
            tried[kind] += 1;
        }
    }
}
