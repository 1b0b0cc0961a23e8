//! `prdo --version`: which prdo this is, and how it was built.

use prdo_kernels::Level;

/// Several lines: version, source, compiler, target, features, instructions in use.
pub fn long() -> &'static str {
    static TEXT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| {
        facts().into_iter().fold(env!("CARGO_PKG_VERSION").to_string(), |text, (name, value)| {
            format!("{text}\n{name}: {value}")
        })
    })
}

pub fn facts() -> [(&'static str, String); 5] {
    let profile = if cfg!(debug_assertions) { "with checks (debug)" } else { "release" };
    [
        ("source", env!("PRDO_SOURCE").to_string()),
        ("compiler", env!("PRDO_COMPILER").to_string()),
        ("target", format!("{}, {profile}", env!("PRDO_TARGET"))),
        ("features", features()),
        ("instructions", format!("{} (of this machine)", Level::best().name())),
    ]
}

fn features() -> String {
    let all = [
        ("peers", cfg!(feature = "peers")),
        ("download", cfg!(feature = "download")),
        ("parquet", cfg!(feature = "parquet")),
    ];
    let on: Vec<&str> = all.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
    if on.is_empty() { "none".into() } else { on.join(", ") }
}
