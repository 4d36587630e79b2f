// SPDX-License-Identifier: GPL-3.0-or-later
//! The work of the four benchmarks that the suites of all languages have.
use std::collections::HashMap;

#[inline(never)]
pub fn work_fib(n: u32) -> u32 {
    if n < 2 { n } else { work_fib(n - 1) + work_fib(n - 2) }
}

#[inline(never)]
pub fn work_sort(values: &mut [u32]) {
    for gap in [701, 301, 132, 57, 23, 10, 4, 1] {
        for i in gap..values.len() {
            let (value, mut j) = (values[i], i);
            while j >= gap && values[j - gap] > value {
                values[j] = values[j - gap];
                j -= gap;
            }
            values[j] = value;
        }
    }
}

#[inline(never)]
pub fn work_parse(text: &str) -> f64 {
    text.split(' ').filter_map(|word| word.parse::<f64>().ok()).sum()
}

#[inline(never)]
pub fn work_map(keys: &[u32]) -> usize {
    let mut sums = HashMap::new();
    for key in keys {
        *sums.entry(key % 509).or_insert(0u64) += u64::from(*key);
    }
    sums.len()
}

pub fn some_numbers(count: usize) -> Vec<u32> {
    let mut state = 1u32;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state >> 8
        })
        .collect()
}
