// SPDX-License-Identifier: GPL-3.0-or-later
#[cfg(feature = "harness")]
use codspeed_criterion_compat::{criterion_group, criterion_main, BenchmarkId, Criterion};
#[cfg(not(feature = "harness"))]
use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use std::hint::black_box;
use std::time::Duration;
use suite::*;

fn all(c: &mut Criterion) {
    c.bench_function("fib", |b| b.iter(|| work_fib(black_box(15))));
    let numbers = some_numbers(2000);
    c.bench_function("sort", |b| {
        b.iter(|| {
            let mut values = numbers.clone();
            work_sort(&mut values);
            values
        })
    });
    let text = "12.5 3 4711.25 ".repeat(200);
    c.bench_function("parse", |b| b.iter(|| work_parse(black_box(&text))));
    let mut group = c.benchmark_group("map");
    for size in [200, 2000] {
        group.bench_with_input(BenchmarkId::from_parameter(size), &numbers[..size], |b, keys| b.iter(|| work_map(keys)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_millis(1500));
    targets = all
}
criterion_main!(benches);
