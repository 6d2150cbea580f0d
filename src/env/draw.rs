//! Rendering of environments: disks, bars and convex polygons with smooth edges, drawn into RGB bytes of the caller.

use crate::num::sqrt64;

/// A point in world coordinates: x to the right, y up.
pub(super) type Point = [f64; 2];
/// Red, green, blue.
pub(super) type Colour = [u8; 3];

pub(super) const BLACK: Colour = [0, 0, 0];

/// A white image that shows a window of the world, as large as fits and centered.
pub(super) struct Canvas<'a> {
    pixels: &'a mut [[u8; 3]],
    width: usize,
    /// Pixels per world unit.
    scale: f64,
    /// Position of the world's origin in pixels from the top left.
    origin: Point,
}

impl<'a> Canvas<'a> {
    /// `rgb` is `[height, width, 3]`; the window spans `low` to `high`.
    pub fn new(rgb: &'a mut [u8], width: usize, height: usize, low: Point, high: Point) -> Self {
        rgb.fill(255);
        let (w, h) = (width as f64, height as f64);
        let (across, up) = (w / (high[0] - low[0]), h / (high[1] - low[1]));
        let scale = if across < up { across } else { up };
        let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        let origin = [w / 2.0 - middle[0] * scale, h / 2.0 + middle[1] * scale];
        Canvas { pixels: rgb.as_chunks_mut().0, width, scale, origin }
    }

    /// A filled circle.
    pub fn disc(&mut self, centre: Point, radius: f64, colour: Colour) {
        self.bar(centre, centre, radius, colour);
    }

    /// A bar: all points within `radius` of the line segment from `a` to `b`.
    #[inline(never)]
    pub fn bar(&mut self, a: Point, b: Point, radius: f64, colour: Colour) {
        let [dx, dy] = minus(b, a);
        let length2 = dx * dx + dy * dy;
        self.fill(&[a, b], radius, colour, &|p| {
            let [x, y] = minus(p, a);
            let t = if length2 > 0.0 { ((x * dx + y * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
            let (x, y) = (x - t * dx, y - t * dy);
            sqrt64(x * x + y * y) - radius
        });
    }

    /// A convex polygon with its corners in counterclockwise order.
    #[inline(never)]
    pub fn polygon<const N: usize>(&mut self, corners: [Point; N], colour: Colour) {
        let edges = core::array::from_fn::<_, N, _>(|i| {
            let (a, b) = (corners[i], corners[if i + 1 < N { i + 1 } else { 0 }]);
            let [dx, dy] = minus(b, a);
            let length = sqrt64(dx * dx + dy * dy);
            (a, [dy / length, -dx / length])
        });
        self.fill(&corners, 0.0, colour, &|p| {
            edges.iter().fold(f64::NEG_INFINITY, |far, &(a, normal)| {
                let [x, y] = minus(p, a);
                let d = x * normal[0] + y * normal[1];
                if d > far { d } else { far }
            })
        });
    }

    /// Colors the inside of a shape, where `distance` (in world units) is negative; edges are blended over one pixel.
    /// Only pixels within `margin` of the bounding box of `points` are visited.
    fn fill(&mut self, points: &[Point], margin: f64, colour: Colour, distance: &dyn Fn(Point) -> f64) {
        let (scale, [ox, oy]) = (self.scale, self.origin);
        let span = |axis: fn(&Point) -> f64| {
            points.iter().map(axis).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (if x < low { x } else { low }, if x > high { x } else { high })
            })
        };
        let ((left, right), (bottom, top)) = (span(|p| p[0]), span(|p| p[1]));
        // Conversions saturate, so that points outside the image, or NaN, cost nothing.
        let first = |x: f64| (x - margin * scale - 1.0) as usize;
        let last = |x: f64| (x + margin * scale + 2.0) as usize;
        let (x0, x1) = (first(ox + left * scale), last(ox + right * scale));
        let (y0, y1) = (first(oy - top * scale), last(oy - bottom * scale));
        if self.width == 0 {
            return;
        }
        let rows = self.pixels.chunks_exact_mut(self.width).enumerate().take(y1).skip(y0);
        for (y, row) in rows {
            for (x, pixel) in row.iter_mut().enumerate().take(x1).skip(x0) {
                let p = [(x as f64 + 0.5 - ox) / scale, (oy - y as f64 - 0.5) / scale];
                let cover = (0.5 - distance(p) * scale).clamp(0.0, 1.0);
                for (to, from) in pixel.iter_mut().zip(colour) {
                    let mixed = f64::from(*to) + (f64::from(from) - f64::from(*to)) * cover;
                    *to = (mixed + 0.5) as u8;
                }
            }
        }
    }
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

/// Rotates `p` by the angle with this sine and cosine and translates it to `centre`.
pub(super) fn place(p: Point, centre: Point, (sin, cos): (f64, f64)) -> Point {
    [centre[0] + p[0] * cos - p[1] * sin, centre[1] + p[0] * sin + p[1] * cos]
}
