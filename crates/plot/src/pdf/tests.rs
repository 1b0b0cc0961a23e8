use std::io::Read;

use super::*;
use crate::{Chart, Figure, Format, Scale, Series};

fn figure() -> Figure {
    let points = |f: f64| (1..40).map(|k| (f64::from(k), f / f64::from(k))).collect::<Vec<_>>();
    let chart = |title: &str| {
        Chart::new(title, "round", "‖∇f(x̄)‖")
            .y_scale(Scale::Log)
            .series(
                Series::new("PrDo", points(1.0)).band(points(1.0).iter().map(|p| (p.1 / 2.0, p.1)).collect()),
            )
            .series(Series::new("Exact Diffusion", points(2.0)))
    };
    Figure::new("ε = 2, δ = 10⁻⁵").panel(chart("Gradient")).panel(chart("(Loss) \\ test"))
}

/// Every object by its number, found through the table of offsets as a reader would.
fn objects(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let start = text.rsplit("startxref\n").next().unwrap();
    let table: usize = start.lines().next().unwrap().parse().unwrap();
    assert!(bytes[table..].starts_with(b"xref\n0 "));
    let lines = String::from_utf8_lossy(&bytes[table..]).into_owned();
    let mut lines = lines.lines().skip(1);
    let count: usize = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(lines.next(), Some("0000000000 65535 f "));
    let mut found = Vec::new();
    for number in 1..count {
        let line = lines.next().unwrap();
        assert_eq!((line.len(), &line[10..]), (19, " 00000 n "));
        let offset: usize = line[..10].parse().unwrap();
        let head = format!("{number} 0 obj\n");
        assert!(bytes[offset..].starts_with(head.as_bytes()), "object {number} is elsewhere");
        let body = &bytes[offset + head.len()..];
        let end = body.windows(7).position(|w| w == b"endobj\n").unwrap();
        found.push(body[..end].to_vec());
    }
    assert!(lines.next().unwrap().starts_with("trailer"));
    let trailer = lines.next().unwrap();
    assert!(trailer.contains(&format!("/Size {count} ")) && trailer.contains("/Root 1 0 R"));
    found
}

/// The unpacked bytes of a stream, whose stated length is right.
fn unpacked(object: &[u8]) -> Option<Vec<u8>> {
    let at = object.windows(8).position(|w| w == b">>\nstrea")? + 10;
    let head = String::from_utf8_lossy(&object[..at]).into_owned();
    let length: usize = head.split("/Length ").nth(1)?.split(' ').next()?.parse().ok()?;
    let body = &object[at..at + length];
    assert_eq!(&object[at + length..], b"\nendstream\n");
    let mut out = Vec::new();
    flate2::read::ZlibDecoder::new(body).read_to_end(&mut out).unwrap();
    Some(out)
}

#[test]
fn a_reader_finds_every_object_and_one_page() {
    let bytes = figure().to_pdf().unwrap();
    assert!(bytes.starts_with(b"%PDF-1.7\n") && bytes.ends_with(b"%%EOF\n"));
    let all = objects(&bytes);
    let texts: Vec<String> = all.iter().map(|o| String::from_utf8_lossy(o).into_owned()).collect();
    assert_eq!(texts.iter().filter(|t| t.contains("/Type /Page ")).count(), 1);
    assert!(texts[1].contains("/Count 1"));
    // What one object points to is there.
    for (number, text) in texts.iter().enumerate().filter(|(_, t)| !t.contains("stream")) {
        for part in text.split(" 0 R").filter(|part| part.len() < text.len()) {
            if let Some(Ok(target)) = part.rsplit([' ', '[']).next().map(str::parse::<usize>) {
                assert!(target <= all.len(), "object {} points to {target}", number + 1);
            }
        }
        assert_eq!(text.matches("<<").count(), text.matches(">>").count());
    }
    assert!(texts.iter().any(|t| t.contains("/Title <FEFF03B5")));
}

#[test]
fn its_text_can_be_searched() {
    let all = objects(&figure().to_pdf().unwrap());
    let streams: Vec<Vec<u8>> = all.iter().filter_map(|o| unpacked(o)).collect();
    let maps: Vec<String> = streams
        .iter()
        .map(|s| String::from_utf8_lossy(s).into_owned())
        .filter(|s| s.contains("beginbfchar"))
        .collect();
    assert_eq!(maps.len(), 2, "a map for each weight");
    let page = String::from_utf8_lossy(&streams[0]).into_owned();
    assert!(page.contains("/FB 1 Tf") && page.contains("/FR 1 Tf") && page.contains(" Tm"));
    // The legend's "PrDo", letter by letter: glyphs on the page, characters by the map.
    let letters = |map: &str, line: &str| -> String {
        line.split(['<', '>'])
            .filter(|part| part.len() == 4)
            .filter_map(|glyph| {
                let at = map.find(&format!("<{glyph}> <"))? + 8;
                let digits = map.get(at..)?.split('>').next()?;
                let units = digits.as_bytes().chunks(4).map(|four| std::str::from_utf8(four).unwrap());
                let units: Vec<u16> = units.map(|four| u16::from_str_radix(four, 16).unwrap()).collect();
                String::from_utf16(&units).ok()
            })
            .collect()
    };
    let said = |word: &str| maps.iter().any(|map| page.lines().any(|line| letters(map, line) == word));
    assert!(said("PrDo") && said("Exact Diffusion") && said("round") && said("‖∇f(x̄)‖"));
    assert!(page.lines().any(|line| line.ends_with(" d") && line.contains("[7 3]")), "dashes stay dashes");
    assert_eq!(page.matches("q\n").count(), page.matches("Q\n").count());
}

#[test]
fn the_same_figure_gives_the_same_bytes_and_empty_ones_work() {
    assert_eq!(figure().to_pdf().unwrap(), figure().render(Format::Pdf).unwrap());
    let empty = Figure::new("").to_pdf().unwrap();
    assert!(!objects(&empty).is_empty());
    let odd = Chart::new("a", "b", "c").series(Series::new("d", vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)]));
    let page = Figure::of(odd).to_pdf().unwrap();
    assert!(objects(&page).iter().filter_map(|o| unpacked(o)).all(|s| !s.windows(3).any(|w| w == b"NaN")));
}

#[test]
fn numbers_have_no_exponents() {
    assert_eq!(decimal(1e-7), "0");
    assert_eq!(decimal(-0.00001), "0");
    assert_eq!(decimal(f32::NAN), "0");
    assert_eq!(decimal(1e30), "1000000");
    assert_eq!(decimal(0.25), "0.25");
}
