//! The numbers that methods are run with, as sections of a run file.

use prdo::algorithm::Method;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// Exchanges per round, and after the last one.
    pub exchanges: u32,
    pub final_mixings: u32,
    pub step_size: f64,
    /// γ, of a method that reads it.
    pub gamma: f64,
    /// β, of a method that reads it.
    pub beta: f64,
    /// b, and b₀ of a method that has one.
    pub batch: u32,
    pub clip_gradient: f64,
    /// C_Δ, of a method with differences.
    pub clip_difference: f64,
    /// Loss and gradient norm are for the eye only: of so many records per node.
    pub measured_records: u32,
}

impl Numbers {
    /// The sections on method, batch and clipping, with the keys that this method reads.
    pub fn method(&self, method: Method) -> String {
        let card = method.card();
        let reads = |name: &str| card.parameters.iter().any(|p| p.name() == name);
        let mut text = format!("[method]\nname = \"{method}\"\nstep_size = {:?}\n", self.step_size);
        if reads("gamma") {
            text += &format!("gamma = {:?}\n", self.gamma);
        }
        if reads("beta") {
            text += &format!("beta = {:?}\n", self.beta);
        }
        if self.exchanges > 1 {
            text += &format!("exchanges = {}\n", self.exchanges);
        }
        if self.final_mixings > 0 {
            text += &format!("final_mixings = {}\n", self.final_mixings);
        }
        text += &format!("\n[batch]\nsize = {}\n", self.batch);
        if card.first_batch {
            text += &format!("first = {}\n", self.batch);
        }
        text += &format!("\n[clip]\ngradient = {:?}\n", self.clip_gradient);
        if card.differences {
            text += &format!("difference = {:?}\n", self.clip_difference);
        }
        text
    }
}
