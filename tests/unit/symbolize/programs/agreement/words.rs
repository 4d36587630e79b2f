// SPDX-License-Identifier: GPL-3.0-or-later
use std::collections::HashMap;

trait Weight {
    fn weight(&self) -> usize;
}

impl Weight for String {
    fn weight(&self) -> usize {
        self.chars().filter(|c| c.is_alphanumeric()).count() * 3
    }
}

fn heaviest<W: Weight>(items: &[W]) -> usize {
    items.iter().map(|item| item.weight()).max().unwrap_or(0)
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in &words {
        *counts.entry(word.as_str()).or_default() += word.weight();
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1));
    println!("{sorted:?} {}", heaviest(&words));
}
