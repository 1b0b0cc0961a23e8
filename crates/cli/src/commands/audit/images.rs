//! The attack that everybody understands: an image rebuilt from its owner's message, without noise and with it.

use super::failure;
use crate::commands::Failure;
use prdo::data::digits;
use prdo::plot::Pixels;
use prdo::prelude::{Softmax, Table};
use prdo_audit::Check;
use prdo_audit::reconstruction::{Attack, Attempt, Noise};
use serde_json::{Value as Json, json};
use std::sync::Arc;

const SHOWN: usize = 8;
const CLASSES: usize = 10;
/// Pixels of an image, and of one line of it.
const PIXELS: (usize, usize) = (64, 8);

pub struct Images {
    noise_multiplier: f64,
    truths: Vec<Vec<f64>>,
    off: Vec<Attempt>,
    on: Vec<Attempt>,
}

impl Images {
    /// Attacks digits, each the only record in its owner's batch.
    pub fn attack(noise_multiplier: f64, seed: u64, quick: bool) -> Result<Self, Failure> {
        let table = digits().table;
        let count = if quick { 50 } else { 200 };
        let model = Arc::new(Softmax::new(PIXELS.0, CLASSES, 0.0).map_err(|e| Failure::Work(e.to_string()))?);
        let mut images = Self { noise_multiplier, truths: vec![], off: vec![], on: vec![] };
        for record in 0..count as u32 {
            let one: Table = table.select(&[record]);
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(u64::from(record));
            let attack = Attack { model: &model, shape: (CLASSES, PIXELS.0), clip: 1.0, seed };
            images.truths.push(one.row(0).to_vec());
            images.off.push(attack.run(one.clone(), Noise::Off).map_err(failure)?);
            images.on.push(attack.run(one, Noise::On(noise_multiplier)).map_err(failure)?);
        }
        Ok(images)
    }

    fn z(&self) -> String {
        super::words::figure(self.noise_multiplier)
    }

    /// The mean absolute correlation of attempts with images that lie `shift` further on: 0 for their own.
    fn mean(&self, attempts: &[Attempt], shift: usize) -> f64 {
        let n = self.truths.len().max(1);
        let truths = self.truths.iter().cycle().skip(shift);
        attempts.iter().zip(truths).map(|(a, truth)| a.correlation(truth).abs()).sum::<f64>() / n as f64
    }

    fn psnr(&self, attempts: &[Attempt]) -> f64 {
        let n = self.truths.len().max(1) as f64;
        attempts.iter().zip(&self.truths).map(|(a, truth)| a.psnr(truth)).sum::<f64>() / n
    }

    /// What noise leaves beyond chance, in standard errors: own images against others'.
    fn beyond_chance(&self) -> f64 {
        let shift = self.truths.len() / 2;
        let others = self.truths.iter().cycle().skip(shift);
        let gains = self.on.iter().zip(self.truths.iter().zip(others));
        let gains: Vec<f64> =
            gains.map(|(a, (own, other))| a.correlation(own).abs() - a.correlation(other).abs()).collect();
        let n = gains.len().max(2) as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let variance = gains.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / (n - 1.0);
        if variance > 0.0 { mean / (variance / n).sqrt() } else { 0.0 }
    }

    /// The checks: that the attack works at all, and that noise defeats it.
    pub fn checks(&self) -> Vec<Check> {
        let setting = format!("{} digits", self.truths.len());
        let off = self.mean(&self.off, 0);
        let mut checks = vec![Check {
            name: "rebuilt-without-noise",
            setting: setting.clone(),
            passed: off >= 0.99,
            figure: off,
            allowed: "at least 0.99: the attack works".into(),
            what: "mean correlation of an image with what is rebuilt from its owner's message without noise"
                .into(),
        }];
        // With little noise nobody claims that an image is hidden from somebody who knows what to look for.
        if self.noise_multiplier >= 1.0 {
            let beyond = self.beyond_chance();
            checks.push(Check {
                name: "rebuilt-with-noise",
                setting,
                passed: beyond <= 6.0,
                figure: beyond,
                allowed: "at most 6".into(),
                what: "the same with noise, beyond the correlation with other images, in standard errors"
                    .into(),
            });
        }
        checks
    }

    pub fn json(&self) -> Json {
        json!({
            "images": self.truths.len(),
            "noise_multiplier": self.noise_multiplier,
            "without_noise": { "correlation": self.mean(&self.off, 0), "psnr": self.psnr(&self.off) },
            "with_noise": { "correlation": self.mean(&self.on, 0), "psnr": self.psnr(&self.on) },
            "chance": { "correlation": self.mean(&self.on, self.truths.len() / 2) },
        })
    }

    pub fn sentence(&self) -> String {
        format!(
            "An image rebuilt from one message: correlation {:.3} ({:.0} dB) without noise, {:.3} ({:.0} dB) with noise z = {}, \
             {:.3} by chance; means over {} digits, each alone in its batch.",
            self.mean(&self.off, 0),
            self.psnr(&self.off),
            self.mean(&self.on, 0),
            self.psnr(&self.on),
            self.z(),
            self.mean(&self.on, self.truths.len() / 2),
            self.truths.len()
        )
    }

    pub fn picture(&self) -> Pixels {
        let stretched = |attempt: &Attempt| {
            let low = attempt.picture.iter().copied().fold(f64::INFINITY, f64::min);
            let high = attempt.picture.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = if high > low { high - low } else { 1.0 };
            attempt.picture.iter().map(|v| (v - low) / range).collect::<Vec<f64>>()
        };
        let rebuilt = |attempts: &[Attempt]| attempts.iter().take(SHOWN).map(stretched).collect();
        Pixels::new("An image, and what a neighbour makes of its owner's first message", PIXELS.1)
            .row("the record", self.truths.iter().take(SHOWN).cloned().collect())
            .row("rebuilt, no noise", rebuilt(&self.off))
            .row(format!("rebuilt, noise z = {}", self.z()), rebuilt(&self.on))
    }
}
