//! Which instructions this processor has.

/// A set of instructions that was found on this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(pub(crate) Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    pub const PORTABLE: Level = Level(Set::Portable);

    /// All that this processor has, slowest first.
    pub fn available() -> Vec<Level> {
        let mut levels = vec![Level::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            let medium = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("popcnt");
            if medium {
                levels.push(Level(Set::Avx2));
            }
            let wide = medium
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw");
            if wide {
                levels.push(Level(Set::Avx512));
            }
        }
        levels
    }

    pub fn best() -> Level {
        Level::available().pop().unwrap_or(Level::PORTABLE)
    }

    pub fn named(name: &str) -> Option<Level> {
        Level::available().into_iter().find(|level| level.name() == name)
    }

    /// `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }
}

/// Defines `$name(level, …)`, which runs `$body::<S>(…)` compiled for the level's instructions.
macro_rules! leveled {
    ($(#[$doc:meta])* $name:ident = $body:ident ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)?) => {
        $(#[$doc])*
        pub fn $name(level: $crate::Level, $($arg: $ty),*) $(-> $ret)? {
            match level.0 {
                #[cfg(target_arch = "x86_64")]
                $crate::level::Set::Avx512 => {
                    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,popcnt")]
                    fn wide($($arg: $ty),*) $(-> $ret)? { $body::<$crate::simd::Avx512>($($arg),*) }
                    // SAFETY: a level exists only if the processor has its instructions.
                    unsafe { wide($($arg),*) }
                }
                #[cfg(target_arch = "x86_64")]
                $crate::level::Set::Avx2 => {
                    #[target_feature(enable = "avx2,fma,popcnt")]
                    fn medium($($arg: $ty),*) $(-> $ret)? { $body::<$crate::simd::Avx2>($($arg),*) }
                    // SAFETY: a level exists only if the processor has its instructions.
                    unsafe { medium($($arg),*) }
                }
                $crate::level::Set::Portable => $body::<$crate::simd::Portable>($($arg),*),
            }
        }
    };
}
pub(crate) use leveled;
