//! Transposes against their definition, for every kind of element.

use rlcore::error::Kind;
use rlcore::kernels::transpose::transpose;
use rlcore::space::{Elements, ElementsMut};

/// `out[c][r] = x[r][c]`, one element at a time.
fn naive<T: Copy + Default>(rows: usize, columns: usize, len: usize, x: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        for i in 0..len {
            out[(c * rows + r) * len + i] = x[(r * columns + c) * len + i];
        }
    }
    out
}

#[test]
fn every_element_goes_to_its_place_and_back() {
    let shapes =
        [(1, 1, 1), (1, 7, 3), (7, 1, 3), (16, 16, 1), (15, 17, 1), (33, 31, 1), (128, 9, 4), (5, 40, 17), (2, 3, 64)];
    for (rows, columns, len) in shapes {
        let all = rows * columns * len;
        // The bits of floats are moved unchanged, NaN or not.
        let f: Vec<f32> = (0..all as u32).map(|i| f32::from_bits(0x7fc0_0000 | i)).collect();
        let mut out = vec![0.0; all];
        transpose(rows, columns, len, Elements::F32(&f), ElementsMut::F32(&mut out)).unwrap();
        let bits = |x: &[f32]| -> Vec<u32> { x.iter().map(|x| x.to_bits()).collect() };
        assert_eq!(bits(&out), bits(&naive(rows, columns, len, &f)), "{rows}x{columns}x{len}");
        let mut back = vec![0.0; all];
        transpose(columns, rows, len, Elements::F32(&out), ElementsMut::F32(&mut back)).unwrap();
        assert_eq!(bits(&back), bits(&f));

        let i: Vec<i32> = (0..all as i32).map(|i| i * 7 - 100).collect();
        let mut out = vec![0; all];
        transpose(rows, columns, len, Elements::I32(&i), ElementsMut::I32(&mut out)).unwrap();
        assert_eq!(out, naive(rows, columns, len, &i));

        let u: Vec<u8> = (0..all).map(|i| (i * 31 % 251) as u8).collect();
        let mut out = vec![0; all];
        transpose(rows, columns, len, Elements::U8(&u), ElementsMut::U8(&mut out)).unwrap();
        assert_eq!(out, naive(rows, columns, len, &u));
    }
}

#[test]
fn another_shape_or_kind_is_refused() {
    let x = [1.0f32; 12];
    let refused = |rows, columns, len, x: Elements<'_>, out_len: usize| {
        let mut out = vec![7.0f32; out_len];
        let error = transpose(rows, columns, len, x, ElementsMut::F32(&mut out)).unwrap_err();
        assert!(out.iter().all(|x| *x == 7.0));
        (error.kind, error.to_string())
    };
    let text = "transpose: x [rows, columns, len] of length 12, given 11";
    assert_eq!(refused(3, 2, 2, Elements::F32(&x[1..]), 12), (Kind::Shape, text.into()));
    assert_eq!(refused(3, 2, 2, Elements::F32(&x), 11).0, Kind::Shape);
    assert_eq!(refused(3, 2, 2, Elements::F32(&x), 13).0, Kind::Shape);
    for (rows, columns, len) in [(0, 2, 2), (3, 0, 2), (3, 2, 0)] {
        assert_eq!(
            refused(rows, columns, len, Elements::F32(&x), 12).1,
            "transpose: rows, columns and len of at least 1, given 0"
        );
    }
    assert_eq!(refused(usize::MAX, 2, 2, Elements::F32(&x), 12).0, Kind::Overflow);
    assert_eq!(refused(3, 2, 2, Elements::I32(&[1; 12]), 12).1, "transpose: x and out of one kind of element");
    assert_eq!(refused(3, 2, 2, Elements::U8(&[1; 12]), 12).0, Kind::Shape);
}
