// expect: E0277
//! Nobody else can declare a kind of protection.
use prdo_privacy::{Clip, History, OpenRules, Protection};

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
    fn open_clip(_: &OpenRules) -> Option<Clip> {
        None
    }
    fn charged(_: &OpenRules) -> Option<History> {
        None
    }
}

fn main() {}
