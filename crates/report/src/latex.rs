//! Text and numbers for LaTeX.

/// Text made safe: LaTeX's own characters escaped, our symbols as mathematics.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            'ε' => out.push_str("$\\varepsilon$"),
            'δ' => out.push_str("$\\delta$"),
            'γ' => out.push_str("$\\gamma$"),
            'λ' => out.push_str("$\\lambda$"),
            '∞' => out.push_str("$\\infty$"),
            '±' => out.push_str("$\\pm$"),
            '×' => out.push_str("$\\times$"),
            '−' => out.push_str("$-$"),
            '‖' => out.push_str("$\\|$"),
            '∇' => out.push_str("$\\nabla$"),
            '…' => out.push_str("\\ldots{}"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A number such as `1.2e-7 ± 3e-9` or `91.2 ± 0.3 %` as mathematics, in bold if it is the best.
pub(crate) fn number(shown: &str, best: bool) -> String {
    if shown.is_empty() {
        return "--".to_string();
    }
    let words: Vec<String> = shown.split(' ').map(word).collect();
    let inside = words.join(" ");
    if best { format!("$\\mathbf{{{inside}}}$") } else { format!("${inside}$") }
}

fn word(word: &str) -> String {
    match word {
        "±" => return "\\pm".to_string(),
        "%" => return "\\,\\%".to_string(),
        "∞" => return "\\infty".to_string(),
        _ => {}
    }
    match word.split_once('e') {
        Some(("1", power)) if power.parse::<i32>().is_ok() => format!("10^{{{power}}}"),
        Some((factor, power)) if power.parse::<i32>().is_ok() => format!("{factor} \\cdot 10^{{{power}}}"),
        _ => text(word).replace('$', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_taken_for_a_command() {
        assert_eq!(
            text("a_b & 50 % of {x} \\ ~^ #1 $"),
            "a\\_b \\& 50 \\% of \\{x\\} \\textbackslash{} \\textasciitilde{}\\textasciicircum{} \\#1 \\$"
        );
        assert_eq!(text("PRDO, ε = 2"), "PRDO, $\\varepsilon$ = 2");
    }

    #[test]
    fn numbers_are_mathematics() {
        assert_eq!(number("91.2 ± 0.3 %", true), "$\\mathbf{91.2 \\pm 0.3 \\,\\%}$");
        assert_eq!(number("1.20e-7 ± 3e-9", false), "$1.20 \\cdot 10^{-7} \\pm 3 \\cdot 10^{-9}$");
        assert_eq!(number("∞", false), "$\\infty$");
        assert_eq!(number("", false), "--");
    }
}
