// SPDX-License-Identifier: GPL-3.0-or-later
//! A service of the standard library alone, a thread a connection: service PORT.
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

#[derive(Clone)]
struct Order {
    id: u32,
    name: String,
    price: f64,
}

struct Shop {
    orders: Vec<Order>,
    json: String,
}

#[inline(never)]
fn as_json(orders: &[Order]) -> String {
    let mut out = String::from("[");
    for order in orders {
        write!(out, "{{\"id\":{},\"name\":\"{}\",\"price\":{:.2}}},", order.id, order.name, order.price).unwrap();
    }
    out.push(']');
    out
}

#[inline(never)]
fn count_words(orders: &[Order]) -> String {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for order in orders {
        for word in order.name.split_whitespace() {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts.len().to_string()
}

#[inline(never)]
fn sort_orders(orders: &[Order]) -> String {
    let mut copy: Vec<Order> = orders.to_vec();
    copy.sort_by(|a, b| a.name.cmp(&b.name).then(b.price.total_cmp(&a.price)));
    copy[0].name.clone()
}

/// Numbers of a JSON text by their keys.
#[inline(never)]
fn parse_numbers(text: &str) -> String {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for part in text.split(',') {
        if let Some((key, value)) = part.split_once(':') {
            if let Ok(number) = value.trim_end_matches('}').parse::<f64>() {
                *sums.entry(key).or_default() += number;
            }
        }
    }
    format!("{:?}", sums.values().next())
}

fn serve(stream: TcpStream, shop: &Shop) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream.try_clone()?);
    let mut output = stream;
    let mut line = String::new();
    let mut path = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.starts_with("GET ") {
            path = line.split(' ').nth(1).unwrap_or("/").to_string();
        }
        if line.trim_end().is_empty() {
            let body = match path.as_str() {
                "/json" => as_json(&shop.orders),
                "/words" => count_words(&shop.orders),
                "/sorted" => sort_orders(&shop.orders),
                _ => parse_numbers(&shop.json),
            };
            write!(output, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.len(), body)?;
        }
    }
}

fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let orders: Vec<Order> = (0..150)
        .map(|i| Order { id: i, name: format!("order {} of customer {}", i * 7919 % 503, i % 9), price: f64::from(i) * 1.25 })
        .collect();
    let json = as_json(&orders);
    let shop = Arc::new(Shop { orders, json });
    for stream in TcpListener::bind(("127.0.0.1", port))?.incoming() {
        let shop = Arc::clone(&shop);
        let stream = stream?;
        std::thread::spawn(move || serve(stream, &shop));
    }
    Ok(())
}
