// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that cost what the program says: `lines ROUNDS`. Rounds differ in length, so that no sampling keeps step.
use std::collections::BTreeMap;
use std::hint::black_box;

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
const UNIT: u64 = 2500;

fn cpu_ns() -> u64 {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.seconds as u64 * 1_000_000_000 + now.nanoseconds as u64
}

struct Laps {
    last: u64,
    lines: BTreeMap<u32, u64>,
}

impl Laps {
    #[inline(never)]
    fn lap(&mut self, line: u32) {
        let now = cpu_ns();
        if line > 0 {
            *self.lines.entry(line).or_insert(0) += now - self.last;
        }
        self.last = cpu_ns();
    }
}

#[inline(always)]
fn mix(value: u64) -> u64 {
    black_box(value.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407))
}

#[inline(never)]
fn called(value: u64, scale: u64) -> u64 {
    (0..12 * scale * UNIT).fold(value, |sum, _| mix(sum))
}

#[inline(never)]
fn work(mut value: u64, laps: &mut Laps) -> u64 {
    let scale = 4 + (value >> 60);
    laps.lap(0);
    value = (0..4 * scale * UNIT).fold(value, |sum, _| mix(sum));
    laps.lap(line!() - 1);
    value ^= (0..16 * scale * UNIT).map(mix).fold(value, |sum, next| sum ^ next);
    laps.lap(line!() - 1);
    value ^= called(value, scale);
    laps.lap(line!() - 1);
    let twist = |value| (0..8 * scale * UNIT).fold(value, |sum, _| mix(sum));
    value = twist(value);
    laps.lap(line!() - 2);
    value
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(1, |text| text.parse().unwrap());
    let mut laps = Laps { last: 0, lines: BTreeMap::new() };
    let start = cpu_ns();
    let value = (0..rounds).fold(1, |value, _| work(value, &mut laps));
    println!("total {}", cpu_ns() - start);
    for (line, time) in &laps.lines {
        println!("lines.rs:{} {}", line, time);
    }
    std::process::exit((value == 42) as i32);
}
