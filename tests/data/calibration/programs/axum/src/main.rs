// SPDX-License-Identifier: GPL-3.0-or-later
//! A service of axum: axum_service PORT.
use axum::{routing::get, Json, Router};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Clone, Serialize, Deserialize)]
struct Order {
    id: u32,
    name: String,
    tags: Vec<String>,
    price: f64,
}

static ORDERS: LazyLock<Vec<Order>> = LazyLock::new(|| {
    (0..60)
        .map(|i| Order {
            id: i,
            name: format!("order {} of customer {}", i * 7919 % 503, i % 9),
            tags: vec![format!("tag{}", i % 5), format!("tag{}", i % 7)],
            price: f64::from(i) * 1.25,
        })
        .collect()
});
static TEXT: LazyLock<String> = LazyLock::new(|| serde_json::to_string(&*ORDERS).unwrap());
static PATTERN: LazyLock<regex::Regex> = LazyLock::new(|| regex::Regex::new(r"order (\d+)7 of customer (\d)").unwrap());

async fn list() -> Json<Vec<Order>> {
    Json(ORDERS.clone())
}

async fn parse() -> String {
    let orders: Vec<Order> = serde_json::from_str(&TEXT).unwrap();
    let mut sums: HashMap<String, f64> = HashMap::new();
    for order in orders {
        for tag in order.tags {
            *sums.entry(tag).or_default() += order.price;
        }
    }
    format!("{}", sums.len())
}

async fn matching() -> String {
    PATTERN.captures_iter(&TEXT).count().to_string()
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let app = Router::new().route("/list", get(list)).route("/parse", get(parse)).route("/matching", get(matching));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
