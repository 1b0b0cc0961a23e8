//! `prdo bench gradients` as typed: what it says, not how fast it is.

use crate::common::{Desk, refused};
use serde_json::Value as Json;

#[track_caller]
fn positive(answer: &Json, place: &str) -> f64 {
    let value = answer.pointer(place).unwrap_or_else(|| panic!("{place} is missing in {answer}"));
    let number = value.as_f64().unwrap_or_else(|| panic!("{place} = {value} is not a number"));
    assert!(number.is_finite() && number > 0.0, "{place} = {number}");
    number
}

#[test]
fn gradients_are_measured_as_promised() {
    let desk = Desk::new();
    let answer =
        desk.prdo("bench gradients --json --model lenet --batch 20 --threads 2 --seconds 0.2").json();
    assert_eq!((answer["threads"].as_u64(), answer["batch"].as_u64()), (Some(2), Some(20)));
    assert_eq!((answer["model"].as_str(), answer["parameters"].as_u64()), (Some("lenet"), Some(61_706)));
    let (peak, flops) = (positive(&answer, "/fma_peak_gflops"), positive(&answer, "/flops"));
    assert!(peak >= positive(&answer, "/fma_peak_gflops_one_thread"));
    for (kind, gradients) in [("plain", 1.0), ("difference", 2.0)] {
        let figure = |name: &str| positive(&answer, &format!("/{kind}/{name}"));
        let rate = figure("records_per_second");
        assert!(figure("median") <= rate && figure("one_thread/median") > 0.0);
        assert!((figure("gflops") / (rate * gradients * flops / 1e9) - 1.0).abs() < 1e-9);
        assert!((figure("fraction_of_peak") / (figure("gflops") / peak) - 1.0).abs() < 1e-9);
        assert!((figure("scaling") / (rate / figure("one_thread/records_per_second")) - 1.0).abs() < 1e-9);
    }
    positive(&answer, "/difference_with_noise/records_per_second");
    for figure in
        ["/noise/seconds", "/data_mb", "/plain_gemm/records_per_second", "/portable_over_plain_gemm"]
    {
        positive(&answer, figure);
    }
    assert!(positive(&answer, "/noise/share") < 1.0 && positive(&answer, "/noise/share_one_thread") < 1.0);
    if std::path::Path::new("/proc/self/status").exists() {
        positive(&answer, "/peak_rss_mb");
    } else {
        assert!(answer["peak_rss_mb"].is_null());
    }
    assert_eq!(answer["levels"][0]["level"], "portable");
    for number in 0..answer["levels"].as_array().unwrap().len() {
        for figure in ["fma_peak_gflops", "plain/records_per_second", "difference/records_per_second"] {
            positive(&answer, &format!("/levels/{number}/{figure}"));
        }
    }
}

#[test]
fn the_text_has_the_figures_and_the_engine_can_be_told_its_instructions() {
    let desk = Desk::new();
    let told =
        desk.prdo("bench gradients --model lenet --batch 1 --threads 1 --level portable --seconds 0.05");
    let text = told.done().stdout;
    for words in ["lenet: 61706 parameters", "; portable", "of the peak", "with noise", "plain products"] {
        assert!(text.contains(words), "{words:?} is missing in\n{text}");
    }
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let desk = Desk::new();
    let bench = |rest: &str| format!("bench gradients {rest}");
    for value in ["0", "-1", "2.5", "100001", "many"] {
        refused(&desk, &bench(&format!("--batch={value}")), &["--batch", value, "from 1 to 100000"]);
    }
    for value in ["0", "1025", "nan"] {
        refused(&desk, &bench(&format!("--threads={value}")), &["--threads", value, "from 1 to 1024"]);
    }
    for value in ["0", "-3", "inf", "3601"] {
        refused(&desk, &bench(&format!("--seconds={value}")), &["--seconds", value, "from 0.01 to 3600"]);
    }
    refused(&desk, &bench("--model resnet"), &["resnet", "vgg-small, lenet"]);
    refused(&desk, &bench("--level mmx"), &["mmx", "this processor has portable"]);
}
