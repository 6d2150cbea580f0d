//! RepeatPreviousEasy of POPGym (Morad et al. 2023, `popgym/envs/repeat_previous.py`): naming the suit of an earlier
//! card.
//!
//! A deck of 52 cards is shuffled by numpy's `shuffle` of 0 to 51, so that a seed deals POPGym's cards, and dealt from
//! its back; suits are remainders modulo 4. POPGym counts the card currently seen as the first of k = 4, so that the
//! suit to name was seen three steps earlier, and actions before the fourth card earn 0.
//!
//! There are two differences from POPGym: the suit is observed as four numbers (one-hot) instead of one choice; and the
//! 51st step, which deals the last card, terminates instead of truncating, since no reward can follow.

use bytemuck::{Pod, Zeroable};

use super::{Env, Spec, Step, choice, put, view_mut};
use crate::error::Result;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Space};

/// Observes the suit of the card just dealt, one-hot with four elements. The action names the suit of the fourth most
/// recent card. Earns 1/48 if it is correct, -1/48 if not. Terminates when all 52 cards are dealt.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepeatPrevious;

const CARDS: usize = 52;
const SUITS: usize = 4;
/// Number of cards to remember, including the current one.
const K: usize = 4;
/// The sum of the rewards for all correct answers is 1.
const REWARD: f32 = 1.0 / (CARDS - K) as f32;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct State {
    /// The deck; the last card is dealt first.
    deck: [[u8; SUITS]; CARDS / SUITS],
    /// Cards dealt in this episode.
    dealt: u32,
}

pub(super) const SPEC: Spec<'static> = Spec {
    env_id: 9,
    state_size: size_of::<State>() as u32,
    max_episode_steps: 0,
    obs: Space::between(&[0.0; SUITS], &[1.0; SUITS]),
    action: Space::discrete(&[SUITS as u32]),
    wrappers: 0,
};

impl State {
    /// Suit of the card dealt after `n` others.
    fn suit(&self, n: usize) -> Option<usize> {
        self.deck.as_flattened().iter().rev().nth(n).map(|&card| usize::from(card) % SUITS)
    }

    /// Deals a card and writes its observation, zeros if no card is left.
    fn deal(&mut self, obs: ElementsMut<'_>) -> Result {
        let suit = self.suit(self.dealt as usize);
        self.dealt = self.dealt.saturating_add(1);
        put::<SUITS>(obs, core::array::from_fn(|i| f32::from(suit == Some(i))))
    }
}

impl Env for RepeatPrevious {
    fn spec(&self) -> Spec<'_> {
        SPEC
    }

    fn reset(&self, _: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        let state: &mut State = view_mut(state)?;
        state.dealt = 0;
        let deck = state.deck.as_flattened_mut();
        deck.iter_mut().zip(0..).for_each(|(card, i)| *card = i);
        rng.shuffle(deck);
        state.deal(obs)
    }

    fn step(
        &self,
        _: usize,
        state: &mut [u8],
        _: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let state: &mut State = view_mut(state)?;
        let action = choice(action)?;
        let reward = match (state.dealt as usize).checked_sub(K).and_then(|n| state.suit(n)) {
            Some(suit) if usize::try_from(action) == Ok(suit) => REWARD,
            Some(_) => -REWARD,
            None => 0.0,
        };
        state.deal(obs)?;
        Ok(Step { reward, terminated: state.dealt as usize >= CARDS, truncated: false })
    }
}
