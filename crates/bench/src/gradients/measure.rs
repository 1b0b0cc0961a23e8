//! The measurements, in turns.

use super::super::error::Error;
use super::gemm::Products;
use super::subject::Subject;
use prdo::error::RunError;
use prdo::privacy::GateError;
use prdo_kernels::{Level, peak};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::hint::black_box;
use std::time::Instant;

pub struct Setting {
    pub model: String,
    pub batch: usize,
    pub level: Level,
    pub threads: usize,
    /// For all of it together, about.
    pub seconds: f64,
}

/// What was found. Pairs are on one thread and on all.
pub struct Measured {
    pub parameters: usize,
    /// Of one gradient.
    pub flops: u64,
    /// GFLOP/s, best seen.
    pub peak: [f64; 2],
    pub plain: [Series; 2],
    pub difference: [Series; 2],
    /// The difference query with noise, on all threads.
    pub private: Series,
    /// Seconds to charge, draw and add the noise of one round.
    pub noise: [f64; 2],
    /// Seconds to draw and add nine shares besides, as one of ten nodes with noise in pairs does.
    pub shares: [f64; 2],
    /// Megabytes that the process had at most beyond what it had before the records were made.
    pub memory: Option<f64>,
    /// Megabytes of records.
    pub data: f64,
    pub levels: Vec<OfLevel>,
    /// Records in a round of [`Measured::levels`].
    pub level_batch: usize,
    /// Plain matrix products: seconds per record, and how many operations.
    pub products: (Series, u64),
}

/// One set of instructions, on one thread.
pub struct OfLevel {
    pub level: Level,
    pub peak: f64,
    pub plain: Series,
    pub difference: Series,
}

/// Seconds of the same work, again and again.
#[derive(Default)]
pub struct Series(Vec<f64>);

impl Series {
    fn push(&mut self, seconds: f64) {
        // A clock may not see the shortest of times.
        self.0.push(seconds.max(1e-9));
    }

    pub fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Shares of the time: rounds, noise, instruction sets, plain products.
const SHARES: [f64; 4] = [0.6, 0.15, 0.2, 0.05];
/// Everything is measured at least this often.
const LEAST: usize = 3;
/// Records of a round by instruction set: the slowest takes long enough with a few.
const LEVEL_BATCH: usize = 16;
/// Steps of a first look at the peak, a millisecond or a few: how many fit into a given time.
const FIRST_STEPS: usize = 1 << 18;
const FLOPS_PER_STEP: usize = 768;

/// Measures everything; `tick` is told how many percent of the time are over.
pub fn measure(setting: &Setting, tick: &mut dyn FnMut(u64)) -> Result<Measured, Error> {
    let before = memory("VmRSS:");
    let subject = Subject::new(&setting.model, setting.batch)?;
    let pools = [pool(1)?, pool(setting.threads)?];
    let mut clock = Clock { tick, total: setting.seconds, done: 0.0 };

    let (peak, plain, difference) = rounds(setting, &subject, &pools, &mut clock)?;
    // Before anything is measured that a run does not do.
    let memory = memory("VmHWM:").zip(before).map(|(most, before)| (most - before).max(0.0));
    let (private, noise, shares) = noise(setting, &subject, &pools, &mut clock)?;
    let level_batch = setting.batch.min(LEVEL_BATCH);
    let available = Level::available();
    let mut levels = Vec::new();
    for level in &available {
        let seconds = SHARES[2] * setting.seconds / available.len() as f64;
        levels.push(one_level(*level, level_batch, &subject, &pools[0], seconds, &mut clock)?);
    }
    let mut products = Products::new(&subject.spec);
    let mut times = Series::default();
    clock.repeat(SHARES[3] * setting.seconds, || {
        times.push(products.time());
        Ok(())
    })?;
    Ok(Measured {
        parameters: subject.spec.parameters(),
        flops: subject.spec.flops(),
        peak,
        plain,
        difference,
        private,
        noise,
        shares,
        memory,
        data: subject.bytes() as f64 / 1e6,
        levels,
        level_batch,
        products: (times, products.flops()),
    })
}

/// The peak, clipped gradients and the difference query; each on one thread and on all.
type Speeds = ([f64; 2], [Series; 2], [Series; 2]);

fn rounds(
    setting: &Setting,
    subject: &Subject,
    pools: &[ThreadPool; 2],
    clock: &mut Clock<'_>,
) -> Result<Speeds, Error> {
    let mut gate = subject.open(setting.level, setting.batch)?;
    let (mut peak, mut plain, mut difference) = Speeds::default();
    clock.repeat(SHARES[0] * setting.seconds, || {
        for (which, pool) in pools.iter().enumerate() {
            let one = pool.install(|| gate.plain())?;
            plain[which].push(one);
            peak[which] = peak[which].max(peak_of(pool, Level::best(), one));
            let two = pool.install(|| gate.difference())?;
            difference[which].push(two);
            peak[which] = peak[which].max(peak_of(pool, Level::best(), two));
        }
        Ok(())
    })?;
    // Other work on the machine may keep the threads from running at once: all of them do no less than one.
    peak[1] = peak[1].max(peak[0]);
    Ok((peak, plain, difference))
}

/// The difference query with noise, the seconds of the noise and those of shares: of a round without records with noise, beyond one
/// without, and with shares beyond that. What is left over is the charge, the draws and the additions.
fn noise(
    setting: &Setting,
    subject: &Subject,
    pools: &[ThreadPool; 2],
    clock: &mut Clock<'_>,
) -> Result<(Series, [f64; 2], [f64; 2]), Error> {
    let mut gate = subject.private(setting.level, setting.batch)?;
    let mut silent = subject.open(setting.level, 0)?;
    let mut noised = subject.private(setting.level, 0)?;
    let mut paired = subject.paired(setting.level)?;
    let mut private = Series::default();
    let (mut without, mut with, mut shared) = <([Series; 2], [Series; 2], [Series; 2])>::default();
    clock.repeat(SHARES[1] * setting.seconds, || {
        private.push(pools[1].install(|| gate.difference())?);
        for _ in 0..LEAST {
            for (which, pool) in pools.iter().enumerate() {
                without[which].push(pool.install(|| silent.difference())?);
                with[which].push(pool.install(|| noised.difference())?);
                shared[which].push(pool.install(|| paired.difference())?);
            }
        }
        Ok(())
    })?;
    let beyond =
        |more: &[Series; 2], less: &[Series; 2]| [0, 1].map(|k| (more[k].best() - less[k].best()).max(1e-9));
    Ok((private, beyond(&with, &without), beyond(&shared, &with)))
}

fn one_level(
    level: Level,
    records: usize,
    subject: &Subject,
    pool: &ThreadPool,
    seconds: f64,
    clock: &mut Clock<'_>,
) -> Result<OfLevel, Error> {
    let mut gate = subject.open(level, records)?;
    let mut found = OfLevel { level, peak: 0.0, plain: Series::default(), difference: Series::default() };
    clock.repeat(seconds, || {
        let one = pool.install(|| gate.plain())?;
        found.plain.push(one);
        found.peak = found.peak.max(peak_of(pool, level, one));
        found.difference.push(pool.install(|| gate.difference())?);
        Ok(())
    })?;
    Ok(found)
}

/// GFLOP/s of multiply-adds alone, on every thread of a pool, over about as many seconds as the round took that it is
/// compared with: of a busy machine a short look finds an idle instant, which no round can.
fn peak_of(pool: &ThreadPool, level: Level, seconds: f64) -> f64 {
    let look = |steps: usize| {
        let started = Instant::now();
        black_box(pool.broadcast(|_| peak::multiply_adds(level, steps, black_box(0.0))));
        started.elapsed().as_secs_f64().max(1e-9)
    };
    let steps = (seconds / look(FIRST_STEPS) * FIRST_STEPS as f64).max(1.0) as usize;
    (steps * FLOPS_PER_STEP * pool.current_num_threads()) as f64 / look(steps) / 1e9
}

fn pool(threads: usize) -> Result<ThreadPool, Error> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, error })
}

/// A line of this process's status in megabytes, where the system keeps one.
fn memory(line: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|l| l.strip_prefix(line))?.trim().strip_suffix("kB")?;
    Some(kilobytes.trim().parse::<f64>().ok()? * 1024.0 / 1e6)
}

/// Repeats work for given times and shows how far all of it is.
struct Clock<'a> {
    tick: &'a mut dyn FnMut(u64),
    total: f64,
    done: f64,
}

impl Clock<'_> {
    /// Calls `cycle` for about `seconds`, and at least [`LEAST`] times.
    fn repeat(
        &mut self,
        seconds: f64,
        mut cycle: impl FnMut() -> Result<(), GateError>,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let mut count = 0;
        while count < LEAST || started.elapsed().as_secs_f64() < seconds {
            cycle().map_err(RunError::from)?;
            count += 1;
            let part = started.elapsed().as_secs_f64().min(seconds);
            let percent = 100.0 * (self.done + part) / self.total;
            (self.tick)((percent as u64).min(100));
        }
        self.done += seconds;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_and_median_of_a_series() {
        let mut series = Series::default();
        [3.0, 1.0, 2.0].into_iter().for_each(|s| series.push(s));
        assert_eq!((series.best(), series.median(), series.len()), (1.0, 2.0, 3));
    }

    #[test]
    fn memory_is_read_where_there_is_a_status() {
        if std::path::Path::new("/proc/self/status").exists() {
            let (now, most) = (memory("VmRSS:"), memory("VmHWM:"));
            assert!(now.is_some_and(|m| m > 0.1) && most >= now);
        }
        assert_eq!(memory("NoSuchLine:"), None);
    }
}
