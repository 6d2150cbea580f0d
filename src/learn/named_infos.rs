//! Infos that layers name, which networks read then as they read fields.

use super::config::MAX_LISTED;
use super::obs_encoder::MAX_PARTS;
use crate::error::{Error, Kind, Result};
use crate::nn::{INPUT, Layer, Net};
use crate::space::{Element, Field, Space};

/// The fields of an observation in the order in which layers count them: those that are no infos, then the infos.
pub(super) struct NamedInfos<'a> {
    fields: [Field<'a>; MAX_PARTS],
    len: usize,
    /// Infos that networks read: all up to the last one that a layer names.
    named: usize,
}

impl<'a> NamedInfos<'a> {
    pub fn new(obs: &Space<'a>, layers: &[Layer]) -> NamedInfos<'a> {
        let count = |info: bool| obs.fields.iter().filter(|field| field.info == info).count();
        let (seen, infos) = (count(false), count(true));
        let number = |source: u32| (source & !INPUT) as usize;
        // A list that is too long is refused later; it may be no list at all.
        let layers = if layers.len() > MAX_LISTED { &[] } else { layers };
        let parts = layers.iter().flat_map(|layer| layer.source).filter(|source| source & INPUT != 0).map(number);
        let named = parts.max().unwrap_or(0).saturating_sub(seen).min(infos);
        let fits = cfg!(feature = "residual") && seen.saturating_add(infos) <= MAX_PARTS;
        let mut own = NamedInfos {
            fields: [Field::new("", Element::U8, &[], 0); MAX_PARTS],
            len: obs.fields.len(),
            named: if fits { named } else { 0 },
        };
        let [fields, unread] = [false, true].map(|info| obs.fields.iter().filter(move |field| field.info == info));
        for ((i, to), field) in own.fields.iter_mut().enumerate().zip(fields.chain(unread)) {
            *to = Field { info: i >= seen.saturating_add(own.named), ..*field };
        }
        own
    }

    /// The observations as networks read them.
    pub fn space<'s>(&'s self, obs: &Space<'s>) -> Space<'s> {
        match self.fields.get(..self.len) {
            Some(fields) if self.named > 0 => Space { fields, ..*obs },
            _ => *obs,
        }
    }

    /// Checks that the layers of a network read no infos but those that they name. Errors: `Config`.
    pub fn check(&self, net: &Net<'_>) -> Result {
        let what = "learner config: layers that name each field that they read, as one of them names an info: none reads all of the input.";
        Error::new(Kind::Config, what).fail_if(self.named > 0 && net.reads_all())
    }
}
