// SPDX-License-Identifier: GPL-3.0-or-later

use pprof::protos::Message;
use std::io::Write;
use std::time::{Duration, Instant};

#[inline(never)]
fn burn(until: Instant) -> u64 {
    let mut sum = 0u64;
    while Instant::now() < until {
        for i in 0..100_000u64 {
            sum = std::hint::black_box(sum.wrapping_add(i * i));
        }
    }
    sum
}

fn main() {
    let guard = pprof::ProfilerGuardBuilder::default().frequency(100).build().unwrap();
    std::hint::black_box(burn(Instant::now() + Duration::from_secs(2)));
    let profile = guard.report().build().unwrap().pprof().unwrap();
    std::io::stdout().write_all(&profile.encode_to_vec()).unwrap();
}
