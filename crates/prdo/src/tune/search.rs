//! Where to look next: spread out at first, then around the best.

use super::space::{Settings, Space};

/// A point of the unit cube and how good it is; larger is better.
#[derive(Clone, Debug)]
struct Seen {
    point: Vec<f64>,
    score: f64,
}

/// A search over one method's settings. The same scores lead the same way: nothing is drawn by chance.
#[derive(Clone, Debug)]
pub struct Search {
    space: Space,
    /// How many points it is going to ask for.
    trials: usize,
    asked: usize,
    waiting: Vec<Vec<f64>>,
    seen: Vec<Seen>,
}

/// The share of the points that are spread over the whole space.
const SPREAD: f64 = 0.6;

impl Search {
    pub fn new(space: Space, trials: usize) -> Self {
        Self { space, trials, asked: 0, waiting: Vec::new(), seen: Vec::new() }
    }

    /// Up to `count` settings to try next; none when it is over. Their scores are awaited before more is asked.
    pub fn next(&mut self, count: usize) -> Vec<Settings> {
        let spread = ((SPREAD * self.trials as f64).ceil() as usize).max(1);
        let dimensions = self.space.dimensions();
        let until = if self.asked < spread { spread } else { self.trials };
        let count = count.min(until.saturating_sub(self.asked));
        self.waiting = (0..count)
            .map(|k| {
                let number = self.asked + k;
                match number {
                    // What the run file says is the middle of most ranges.
                    0 => vec![0.5; dimensions],
                    _ if number < spread => halton(number, dimensions),
                    _ => self.near(number - spread, self.trials - spread),
                }
            })
            .collect();
        self.asked += count;
        self.waiting.iter().map(|point| self.space.at(point)).collect()
    }

    /// The scores of what was asked last, in order.
    pub fn record(&mut self, scores: &[f64]) {
        let seen = self.waiting.drain(..).zip(scores).map(|(point, score)| Seen { point, score: *score });
        self.seen.extend(seen);
    }

    /// A point near one of the best three: nearer and nearer.
    fn near(&self, step: usize, steps: usize) -> Vec<f64> {
        let mut best: Vec<&Seen> = self.seen.iter().filter(|seen| seen.score.is_finite()).collect();
        best.sort_by(|a, b| b.score.total_cmp(&a.score));
        let dimensions = self.space.dimensions();
        let Some(centre) = best.get(step % best.len().clamp(1, 3)) else {
            return halton(step + 1, dimensions);
        };
        let width = 0.3 * (1.0 - step as f64 / steps.max(1) as f64) + 0.05;
        let offsets = halton(step + 1, dimensions);
        centre.point.iter().zip(offsets).map(|(c, o)| (c + width * (2.0 * o - 1.0)).clamp(0.0, 1.0)).collect()
    }
}

/// A point of the Halton sequence: spread evenly, without chance.
fn halton(number: usize, dimensions: usize) -> Vec<f64> {
    const PRIMES: [usize; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let one = |base: usize| {
        // The first points of large bases lie on a line: they are passed over.
        let (mut rest, mut share, mut value) = (number + 20, 1.0, 0.0);
        while rest > 0 {
            share /= base as f64;
            value += share * (rest % base) as f64;
            rest /= base;
        }
        value
    };
    PRIMES.iter().cycle().take(dimensions).map(|base| one(*base)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prdo_algorithm::Method;
    use prdo_runfile::Document;

    #[test]
    fn a_search_finds_a_hidden_optimum_and_asks_as_often_as_it_may() {
        let text = "rounds = 100\n[method]\nname = \"ed\"\nstep_size = 0.5\n[batch]\nsize = 50\n[clip]\ngradient = 1.0\n";
        let document = Document::parse("test", text).unwrap();
        let space = Space::new(&document, Method::Ed, 1000, &[]);
        // The best step is 2, the best clip 0.3; nothing else matters.
        let score = |s: &Settings| -(s.step_size / 2.0).ln().powi(2) - (s.clip.unwrap() / 0.3).ln().powi(2);
        let mut search = Search::new(space.clone(), 60);
        let (mut best, mut asked) = (f64::NEG_INFINITY, 0);
        loop {
            let settings = search.next(4);
            if settings.is_empty() {
                break;
            }
            asked += settings.len();
            let scores: Vec<f64> = settings.iter().map(score).collect();
            best = scores.iter().copied().fold(best, f64::max);
            search.record(&scores);
        }
        assert_eq!(asked, 60);
        assert!(best > -0.15, "{best}");
        // All trials diverging is no reason to fail.
        let mut search = Search::new(space, 10);
        while !search.next(3).is_empty() {
            search.record(&[f64::NEG_INFINITY; 3]);
        }
    }
}
