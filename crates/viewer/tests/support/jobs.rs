//! What sessions ask of the simulated server: scripts of steps for a worker.

use super::Random;

/// One thing that a thread does next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Compute for so many ns.
    Cpu(i64),
    /// Block for so many ns: cause, system call, descriptor.
    Block(&'static str, i64, &'static str, i32),
    /// Take the monitor.
    Lock,
    /// Give it back.
    Unlock,
    /// Take a connection from the pool.
    PoolGet,
    /// Give it back.
    PoolPut,
    /// A span begins: kind and name.
    Begin(&'static str, &'static str),
    /// The innermost span ends.
    End,
    /// An application event.
    Mark(&'static str, i64),
}

const PAGES: [(&str, &str, &str, i64); 6] = [
    (
        "GET /category",
        "CategoryServlet",
        "SELECT id, name, price FROM items WHERE category = ? ORDER BY ends LIMIT ?",
        1_900_000,
    ),
    (
        "GET /search",
        "SearchServlet",
        "SELECT id, name FROM items WHERE lower(name) LIKE ? LIMIT ?",
        4_200_000,
    ),
    (
        "GET /item",
        "ItemServlet",
        "SELECT * FROM items WHERE id = ?",
        700_000,
    ),
    (
        "GET /bids",
        "BidsServlet",
        "SELECT bidder, amount, at FROM bids WHERE item = ? ORDER BY at DESC",
        1_400_000,
    ),
    (
        "GET /user",
        "UserServlet",
        "SELECT name, rating FROM users WHERE id = ?",
        600_000,
    ),
    ("GET /static/site.css", "DefaultServlet", "", 0),
];

/// A handshake; a resumed one skips the asymmetric cryptography.
pub fn handshake(random: &mut Random, resumed: bool, fd: i32) -> Vec<Step> {
    use Step::*;
    let kind = if resumed { "tls_resumed" } else { "tls_full" };
    let (first, second) = if resumed {
        (900_000, 1_300_000)
    } else {
        (4_200_000, 6_300_000)
    };
    vec![
        Begin(kind, kind),
        Cpu(random.around(first)),
        Block("socket", random.around(300_000), "epoll_wait", fd),
        Cpu(random.around(second)),
        End,
    ]
}

/// A request.
pub fn request(random: &mut Random, fd: i32) -> Vec<Step> {
    use Step::*;
    let (name, servlet, sql, sql_ns) = PAGES[random.below(PAGES.len())];
    let mut steps = vec![
        Begin("request", name),
        Cpu(random.around(520_000)),
        Begin("service", servlet),
        Cpu(random.around(980_000)),
    ];
    if sql.is_empty() {
        steps.push(Block("file", random.around(90_000), "pread64", 41));
        steps.push(Cpu(random.around(120_000)));
    } else {
        steps.extend([PoolGet, Cpu(random.around(30_000))]);
        for _ in 0..1 + random.below(2) {
            // A few statements miss every index: these are the requests that people complain of.
            let slow = if random.chance(0.003) { 18 } else { 1 };
            steps.extend([
                Begin("sql", sql),
                Cpu(random.around(60_000)),
                Block(
                    "socket",
                    random.exponential(sql_ns as f64) * slow,
                    "read",
                    52,
                ),
                Cpu(random.around(140_000)),
                End,
            ]);
        }
        steps.push(PoolPut);
        if random.chance(0.3) {
            let held = if random.chance(0.02) {
                11_000_000
            } else {
                260_000
            };
            steps.extend([
                Lock,
                Mark("cache.entries", 100 + random.below(900) as i64),
                Cpu(random.around(held)),
                Unlock,
            ]);
        }
        steps.push(Cpu(random.around(1_300_000)));
    }
    steps.extend([
        End,
        Cpu(random.around(110_000)),
        Block("socket", random.around(25_000), "write", fd),
        Cpu(20_000),
        End,
    ]);
    steps
}
