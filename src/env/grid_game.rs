//! Common parts of games on a grid of cells: the observed image and rendering.

use bytemuck::Pod;

use super::draw::{BLACK, Canvas, Colour};
use super::{Env, Spec, Step, choice, view, view_mut};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};

/// A game that observes an image `[rows, columns, channels]` of bytes, 255 where an object is, and has one discrete
/// action.
pub(super) trait GridGame {
    /// State of one game. Any bytes must be valid.
    type State: Pod;

    const ENV_ID: u32;
    const MAX_EPISODE_STEPS: u32;
    /// Rows, columns and channels of the image.
    const SHAPE: [u32; 3];
    /// Number of choices of the action.
    const CHOICES: [u32; 1];
    /// Color of each channel. A cell has the color of the first channel that is set.
    const COLOURS: &'static [Colour];

    const FIELD: [Field<'static>; 1] = [Field::new("", Element::U8, &Self::SHAPE, 0)];
    const LEN: usize = Self::SHAPE[0] as usize * Self::SHAPE[1] as usize * Self::SHAPE[2] as usize;
    const SPEC: Spec<'static> = Spec {
        env_id: Self::ENV_ID,
        state_size: size_of::<Self::State>() as u32,
        max_episode_steps: Self::MAX_EPISODE_STEPS,
        obs: Space { kind: Element::U8, ..Space::unbounded(Self::LEN as u32) }.with_fields(&Self::FIELD),
        action: Space::discrete(&Self::CHOICES),
        wrappers: 0,
    };

    /// Initial state of an episode.
    fn start(rng: &mut Rng) -> Self::State;

    /// Takes one step. Returns the reward and whether the episode terminated.
    fn advance(state: &mut Self::State, action: i32, rng: &mut Rng) -> (f32, bool);

    /// Marks the objects of the state in an empty image.
    fn show(state: &Self::State, picture: &mut Picture<'_>);
}

/// Size of the largest image in bytes.
const MAX_LEN: usize = 10 * 10 * 7;

/// An image being filled in.
pub(super) struct Picture<'a> {
    bytes: &'a mut [u8],
    columns: usize,
    channels: usize,
}

impl<'a> Picture<'a> {
    /// An empty image in the `LEN` bytes of a game.
    fn empty<G: GridGame>(bytes: &'a mut [u8]) -> Self {
        bytes.fill(0);
        let [_, columns, channels] = G::SHAPE;
        Picture { bytes, columns: columns as usize, channels: channels as usize }
    }

    /// Marks a cell; cells outside the grid are ignored.
    pub fn set(&mut self, channel: usize, row: u8, column: u8) {
        if usize::from(column) < self.columns && channel < self.channels {
            let cell = usize::from(row) * self.columns + usize::from(column);
            self.bytes.get_mut(cell * self.channels + channel).into_iter().for_each(|byte| *byte = 255);
        }
    }

    /// Marks the cells whose bits are 1, in successive rows; the lowest bit is column 0.
    pub fn set_rows(&mut self, channel: usize, first: u8, rows: &[u16]) {
        for (row, bits) in (first..).zip(rows) {
            (0..16).filter(|column| bits >> column & 1 != 0).for_each(|column| self.set(channel, row, column));
        }
    }
}

impl<G: GridGame> Env for G {
    fn spec(&self) -> Spec<'_> {
        G::SPEC
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let state = view_mut(state)?;
        *state = G::start(rng);
        observe::<G>(state, obs)
    }

    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let state = view_mut(state)?;
        let (reward, terminated) = G::advance(state, choice(action)?, rng);
        observe::<G>(state, obs)?;
        Ok(Step { reward, terminated, ..Step::default() })
    }

    fn render(&self, _: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        let [rows, columns, _] = G::SHAPE;
        let (up, across) = (f64::from(rows), f64::from(columns));
        let mut canvas = Canvas::new(rgb, width, height, [0.0, 0.0], [across, up]);
        canvas.bar([0.0, 0.0], [across, 0.0], 0.02, BLACK);
        let mut bytes = [0; MAX_LEN];
        const { assert!(G::LEN <= MAX_LEN) };
        let Some(bytes) = bytes.get_mut(..G::LEN) else { return Ok(()) };
        G::show(view(state)?, &mut Picture::empty::<G>(bytes));
        let mut seen = bytes.iter();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let [left, bottom] = [f64::from(column), up - 1.0 - f64::from(row)];
            let [right, top] = [left + 0.92, bottom + 0.92];
            let first = G::COLOURS.iter().zip(&mut seen).fold(None, |first, (colour, byte)| match byte {
                0 => first,
                _ => first.or(Some(*colour)),
            });
            if let Some(colour) = first {
                canvas.polygon([[left, bottom], [right, bottom], [right, top], [left, top]], colour);
            }
        }
        Ok(())
    }
}

fn observe<G: GridGame>(state: &G::State, obs: ElementsMut<'_>) -> Result {
    let wrong = Error::new(Kind::Shape, "environment obs: elements").needed(G::LEN);
    let ElementsMut::U8(obs) = obs else { return Err(wrong) };
    if obs.len() != G::LEN {
        return Err(wrong.given(obs.len()));
    }
    G::show(state, &mut Picture::empty::<G>(obs));
    Ok(())
}

/// Moves a row or column by one, `forward` or back, and limits it to `first` and `last`.
pub(super) fn walk(at: u8, forward: bool, first: u8, last: u8) -> u8 {
    if forward { at.saturating_add(1).min(last) } else { at.saturating_sub(1).max(first) }
}
