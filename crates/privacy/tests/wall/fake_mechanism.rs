// expect: E0277
//! Nobody else can declare a kind of protection.
use prdo_privacy::{Answer, Data, History, Gate, GateError, Model, OpenRules, Protection, Query};

#[derive(Clone, Copy, Debug)]
struct TrustMe;

impl Protection for TrustMe {
    type Rules = OpenRules;
    const NAME: &'static str = "noised, honestly";
    const TAG: u8 = b'N';
    fn epsilon_spent(_: &OpenRules) -> Option<f64> {
        Some(0.1)
    }
    fn clips(_: &OpenRules) -> bool {
        true
    }
    fn charged(_: &OpenRules) -> History {
        loop {}
    }
    fn restore_charges(_: &mut OpenRules, _: &History) {}
    fn answer<D: Data, M: Model<Data = D>>(
        _: &mut Gate<D, Self>,
        _: &M,
        _: u32,
        _: &Query<'_, Self>,
    ) -> Result<Answer<Self>, GateError> {
        loop {}
    }
}

fn main() {}
