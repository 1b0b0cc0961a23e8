//! What is kept of a run's second half while it trains.

use prdo::prelude::*;
use prdo::simulator::{Observer, Training, train};
use std::ops::ControlFlow;

/// Means over the second half of the rounds.
pub struct Late {
    from: u32,
    rounds: f64,
    /// The models of the round before.
    before: Vec<Vec<f64>>,
    pub rows: Vec<Row>,
    /// x̄.
    pub average: Vec<f64>,
    /// ‖x̄‖².
    pub square: f64,
    /// ‖x − x₋‖, of all nodes.
    pub movement: f64,
}

/// Trains a prepared run to its end.
pub fn watch(mut prepared: Prepared) -> Result<Late, RunError> {
    let schedule = prepared.schedule;
    let mut late = Late {
        from: schedule.rounds / 2,
        rounds: 0.0,
        before: Vec::new(),
        rows: Vec::new(),
        average: vec![0.0; prepared.facts.parameters],
        square: 0.0,
        movement: 0.0,
    };
    train(&mut *prepared.training, &schedule, &mut late)?;
    let rounds = late.rounds;
    late.average.iter_mut().for_each(|x| *x /= rounds);
    late.square /= rounds;
    late.movement /= rounds;
    Ok(late)
}

impl Observer for Late {
    fn row(&mut self, row: &Row) -> ControlFlow<()> {
        self.rows.push(*row);
        ControlFlow::Continue(())
    }

    fn round(&mut self, training: &dyn Training) -> ControlFlow<()> {
        let models: Vec<Vec<f64>> = training.models().into_iter().map(<[f64]>::to_vec).collect();
        if training.round() > self.from {
            let average = training.average();
            self.square += average.iter().map(|x| x * x).sum::<f64>();
            self.average.iter_mut().zip(&average).for_each(|(sum, x)| *sum += x);
            let moved: f64 = models.iter().zip(&self.before).map(|(now, before)| distance(now, before)).sum();
            self.movement += moved / models.len() as f64;
            self.rounds += 1.0;
        }
        self.before = models;
        ControlFlow::Continue(())
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
