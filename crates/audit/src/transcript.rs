//! The adversary's reading of a transcript: from the messages back to every node's noisy query of every round.
//!
//! For the Exact Diffusion family this is the paper's "Reconstruction from the transcript": the messages φ determine
//! x = Σ W_ij φ_j, then ψ⁺ = φ − x + ψ, then v = (x − ψ⁺)/α, then the query by undoing the method's recursion. The
//! others are undone in the same way, from their own recursions.

use crate::canary::DIMENSION;
use crate::error::AuditError;
use crate::network::Transcript;
use crate::setting::{NODES, Setting};
use prdo_algorithm::graph::Mixing;
use prdo_algorithm::{Combine, Method};
use prdo_privacy::DecodeError;

type Vector = [f64; DIMENSION];
/// A vector of every node.
type Rows = [Vector; NODES];

/// Every node's noisy query of every round, as released: the sum divided by the public batch size.
///
/// # Errors
/// Messages that are too short, or too few of them.
pub fn queries(setting: &Setting, mixing: &Mixing, transcript: &Transcript) -> Result<Vec<Rows>, AuditError> {
    queries_at(setting, mixing, transcript, 0)
}

/// The same of [`DIMENSION`] coordinates of larger vectors, from `offset` on; what is beyond their end is zero. (Methods
/// treat every coordinate alike, so any few of them can be undone on their own. They must start at zero.)
///
/// # Errors
/// Messages that are too short, or too few of them.
pub fn queries_at(
    setting: &Setting,
    mixing: &Mixing,
    transcript: &Transcript,
    offset: usize,
) -> Result<Vec<Rows>, AuditError> {
    let (exchanges, vectors) = setting.method.exchanges(&setting.settings);
    let sent = Sent { transcript, vectors: vectors as usize, exchanges: exchanges as usize, offset };
    let directions = match (setting.method, setting.settings.combine) {
        (Method::Dsgd, Combine::After) => dsgd(setting, mixing, &sent)?,
        (Method::Dsgd, Combine::First) => dsgd_first(setting, mixing, &sent)?,
        (Method::Mt, Combine::After) => tracking(setting, mixing, &sent)?,
        (Method::Mt, Combine::First) => tracking_first(setting, mixing, &sent)?,
        (Method::Prdo | Method::Ed | Method::Edm, _) => diffusion(setting, mixing, &sent)?,
    };
    // Undo the recursion from queries to directions: v = keep·v₋ + weight·query.
    let (gamma, beta) = (setting.settings.gamma, setting.settings.beta);
    let (keep, weight) = match setting.method {
        Method::Prdo => (1.0 - gamma, 1.0),
        Method::Edm | Method::Mt => (beta, 1.0 - beta),
        Method::Ed | Method::Dsgd => (0.0, 1.0),
    };
    let mut before = [[0.0; DIMENSION]; NODES];
    let undo = |direction: &Rows| {
        let query = combine([(1.0 / weight, direction), (-keep / weight, &before)]);
        before = *direction;
        query
    };
    Ok(directions.iter().map(undo).collect())
}

/// The messages, decoded one exchange at a time.
struct Sent<'a> {
    transcript: &'a Transcript,
    vectors: usize,
    exchanges: usize,
    offset: usize,
}

impl Sent<'_> {
    /// Vector number `which` of everybody's message in an exchange of a round.
    fn rows(&self, round: usize, exchange: usize, which: usize) -> Result<Rows, AuditError> {
        let first = (round * self.exchanges + exchange) * NODES;
        let mut rows = [[0.0; DIMENSION]; NODES];
        for (i, row) in rows.iter_mut().enumerate() {
            let d = self.transcript.dimension;
            let bytes = self.transcript.messages.get(first + i).map_or(&[][..], Vec::as_slice);
            let expected = 8 * d * self.vectors;
            if bytes.len() != expected {
                let dimension = d * self.vectors;
                return Err(DecodeError::Length { dimension, expected, found: bytes.len() }.into());
            }
            let vector = bytes.get(8 * (which * d + self.offset)..8 * (which + 1) * d).unwrap_or_default();
            for (r, value) in row.iter_mut().zip(vector.as_chunks::<8>().0) {
                *r = f64::from_le_bytes(*value);
            }
        }
        Ok(rows)
    }

    /// The published models.
    fn models(&self) -> Rows {
        let mut rows = [[0.0; DIMENSION]; NODES];
        for (row, model) in rows.iter_mut().zip(&self.transcript.models) {
            row.iter_mut().zip(model.iter().skip(self.offset)).for_each(|(r, v)| *r = *v);
        }
        rows
    }
}

/// Exact Diffusion: v = (x − ψ⁺)/α with ψ⁺ = φ − x + ψ.
fn diffusion(setting: &Setting, mixing: &Mixing, sent: &Sent<'_>) -> Result<Vec<Rows>, AuditError> {
    let alpha = setting.settings.step_size;
    let (mut x, mut psi) = ([[0.0; DIMENSION]; NODES], [[0.0; DIMENSION]; NODES]);
    let mut directions = Vec::new();
    for round in 0..setting.rounds as usize {
        let phi = sent.rows(round, 0, 0)?;
        psi = combine([(1.0, &phi), (-1.0, &x), (1.0, &psi)]);
        directions.push(combine([(1.0 / alpha, &x), (-1.0 / alpha, &psi)]));
        x = mix(mixing, &phi);
    }
    Ok(directions)
}

/// D-SGD: the message is x − αv.
fn dsgd(setting: &Setting, mixing: &Mixing, sent: &Sent<'_>) -> Result<Vec<Rows>, AuditError> {
    let alpha = setting.settings.step_size;
    let mut x = [[0.0; DIMENSION]; NODES];
    let mut directions = Vec::new();
    for round in 0..setting.rounds as usize {
        let phi = sent.rows(round, 0, 0)?;
        directions.push(combine([(1.0 / alpha, &x), (-1.0 / alpha, &phi)]));
        x = mix(mixing, &phi);
    }
    Ok(directions)
}

/// D-SGD that combines first: the message is x, and v shows in the next one: αv = Wx − x⁺.
fn dsgd_first(setting: &Setting, mixing: &Mixing, sent: &Sent<'_>) -> Result<Vec<Rows>, AuditError> {
    let (alpha, rounds) = (setting.settings.step_size, setting.rounds as usize);
    let mut directions = Vec::new();
    for round in 0..rounds {
        let mixed = mix(mixing, &sent.rows(round, 0, 0)?);
        let next = if round + 1 < rounds { sent.rows(round + 1, 0, 0)? } else { sent.models() };
        directions.push(combine([(1.0 / alpha, &mixed), (-1.0 / alpha, &next)]));
    }
    Ok(directions)
}

/// Momentum Tracking: the first message is y₋ + u − u₋, and y = W of it.
fn tracking(setting: &Setting, mixing: &Mixing, sent: &Sent<'_>) -> Result<Vec<Rows>, AuditError> {
    let (mut y, mut u) = ([[0.0; DIMENSION]; NODES], [[0.0; DIMENSION]; NODES]);
    let mut directions = Vec::new();
    for round in 0..setting.rounds as usize {
        let message = sent.rows(round, 0, 0)?;
        u = combine([(1.0, &u), (1.0, &message), (-1.0, &y)]);
        directions.push(u);
        y = mix(mixing, &message);
    }
    Ok(directions)
}

/// Momentum Tracking that combines first: the message is (x, y); u − u₋ = y⁺ − Wy, and the last y shows in the model.
fn tracking_first(setting: &Setting, mixing: &Mixing, sent: &Sent<'_>) -> Result<Vec<Rows>, AuditError> {
    let (alpha, rounds) = (setting.settings.step_size, setting.rounds as usize);
    let mut u = [[0.0; DIMENSION]; NODES];
    let mut directions = Vec::new();
    for round in 0..rounds {
        let y = mix(mixing, &sent.rows(round, 0, 1)?);
        let next = if round + 1 < rounds {
            sent.rows(round + 1, 0, 1)?
        } else {
            let x = mix(mixing, &sent.rows(round, 0, 0)?);
            combine([(1.0 / alpha, &x), (-1.0 / alpha, &sent.models())])
        };
        u = combine([(1.0, &u), (1.0, &next), (-1.0, &y)]);
        directions.push(u);
    }
    Ok(directions)
}

/// Σ W_ij · row j.
fn mix(mixing: &Mixing, rows: &Rows) -> Rows {
    let mut mixed = [[0.0; DIMENSION]; NODES];
    for (i, target) in mixed.iter_mut().enumerate() {
        for (j, weight) in mixing.row_entries(i) {
            if let Some(row) = rows.get(j) {
                target.iter_mut().zip(row).for_each(|(t, v)| *t += weight * v);
            }
        }
    }
    mixed
}

/// Σ coefficient · rows.
fn combine<const K: usize>(terms: [(f64, &Rows); K]) -> Rows {
    let mut sum = [[0.0; DIMENSION]; NODES];
    for (coefficient, rows) in terms {
        for (target, row) in sum.iter_mut().zip(rows) {
            target.iter_mut().zip(row).for_each(|(t, v)| *t += coefficient * v);
        }
    }
    sum
}
