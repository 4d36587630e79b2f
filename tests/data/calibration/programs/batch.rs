// SPDX-License-Identifier: GPL-3.0-or-later
//! Reads lines of JSON and of text, counts words, and sorts: batch FOLDER.
use std::collections::HashMap;
use std::fs;

#[inline(never)]
fn count_words(text: &str) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    for line in text.lines() {
        for word in line.split(' ').skip(1) {
            *counts.entry(word.to_string()).or_insert(0) += 1;
        }
    }
    counts
}

#[inline(never)]
fn sort_words(counts: &HashMap<String, u32>) -> Vec<(&String, u32)> {
    let mut words: Vec<_> = counts.iter().map(|(word, count)| (word, *count)).collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    words
}

#[inline(never)]
fn sum_prices(rows: &str) -> f64 {
    rows.lines().filter_map(|row| row.split("\"price\": ").nth(1)?.split(',').next()?.parse::<f64>().ok()).sum()
}

#[inline(never)]
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut last = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (last + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            last = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let text = fs::read_to_string(format!("{folder}/text")).unwrap();
    let rows = fs::read_to_string(format!("{folder}/rows.json")).unwrap();
    let counts = count_words(&text);
    let words = sort_words(&counts);
    let lines: Vec<&str> = text.lines().take(700).collect();
    let mut near = 0;
    for pair in lines.windows(2).cycle().take(120000) {
        near += usize::from(distance(&pair[0].as_bytes()[..40], &pair[1].as_bytes()[..40]) < 25);
    }
    println!("{} {:?} {} {}", words.len(), words.first(), sum_prices(&rows), near);
}
