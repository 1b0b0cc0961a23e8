//! What a terminal shows of a node at work.

use crate::progress::{Figures, Progress, Spent};
use prdo::store::Status;
use prdo_member::watcher::Screen;

pub struct Terminal(Progress);

impl Terminal {
    pub fn new(rounds: u32, done: u32) -> Self {
        Self(Progress::new(u64::from(rounds), "rounds").from(u64::from(done)))
    }
}

impl Screen for Terminal {
    fn line(&mut self, text: &str) {
        self.0.line(text);
    }

    fn show(&mut self, status: &Status) {
        self.0.show(u64::from(status.round.unwrap_or(0)), || figures(status));
    }

    fn finish(&mut self) {
        self.0.finish();
    }
}

fn figures(status: &Status) -> Figures {
    let neighbours: Vec<_> = status.neighbours.iter().map(|n| format!("{} {}", n.name, n.state)).collect();
    let accuracy = status.test_accuracy.map_or(String::new(), |a| format!("accuracy {:.1} %  ", 100.0 * a));
    let note = format!("{accuracy}{}", neighbours.join(", "));
    let number = |value: Option<f64>| value.unwrap_or(0.0);
    let (epsilon, budget, delta) =
        (number(status.epsilon_spent), number(status.budget), number(status.delta));
    Figures {
        text: format!("ε {epsilon:.3} of {budget}  {note}"),
        spent: (budget > 0.0).then_some(Spent { epsilon, budget, delta }),
        note,
        ..Figures::default()
    }
}
