//! Classes of requests: by route, the rare ones gathered; what each costs.

use serde::Serialize;
use std::collections::BTreeMap;

use loadline_stats::law::Fitted;

use super::fitted;
use crate::observe::{Pool, Request, Stretch};

/// Routes with fewer requests are gathered.
const RARE: usize = 30;
/// Most classes; what is rarer than the last of them is gathered.
const MOST: usize = 20;
/// Requests of a class that ask several pools, above which it is said that they are taken for one.
const SEVERAL: f64 = 0.01;
/// Waits that come to less than this share of a class's time are left out.
const MATTERS: f64 = 0.01;

/// A part of a request's CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// `container`, `service`, `held` or `sql`.
    pub name: &'static str,
    /// Seconds.
    pub law: Fitted,
}

/// How often something happens in a request: (times, share of the requests).
pub type Counts = Vec<(u32, f64)>;

/// A class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// Its name in the model.
    pub name: String,
    /// Routes that belong to it.
    pub routes: Vec<String>,
    /// Requests seen.
    pub count: usize,
    /// Requests seen in each recording.
    pub by_recording: Vec<usize>,
    /// CPU by part; a part that costs nothing is left out.
    pub parts: Vec<Part>,
    /// Pooled connections taken.
    pub acquisitions: Counts,
    /// The pool that most of them are of, by its place in the list.
    pub pool: Option<usize>,
    /// Whether some requests take connections of several.
    pub several_pools: bool,
    /// Statements, on average.
    pub statements: f64,
    /// Calls of other services, on average.
    pub calls: f64,
    /// Waiting for the database, a request.
    pub sql_wait: Option<Fitted>,
    /// Waiting for the answers of other services, a request.
    pub service_wait: Option<Fitted>,
    /// Waiting for anything that is not modelled, a request.
    pub other_wait: Option<Fitted>,
}

impl Class {
    /// CPU of a request, on average.
    pub fn cpu(&self) -> f64 {
        self.parts.iter().map(|p| p.law.mean).sum()
    }
}

/// Method and path without query; parts of the path that have digits lose them.
pub fn route(name: &str) -> String {
    let (method, path) = name.split_once(' ').unwrap_or(("GET", name));
    let path = path.split(['?', ';', '#']).next().unwrap_or_default();
    let mut out = format!("{method} ");
    let mut digits = false;
    for c in path.chars() {
        if c.is_ascii_digit() {
            if !digits {
                out += "{n}";
            }
            digits = true;
        } else {
            digits = false;
            out.push(c);
        }
    }
    out
}

/// A name that the model's language takes: `GET /images/photo-{n}.png` is `images_photo_png`.
pub(super) fn name_of(route: &str) -> String {
    let (method, path) = route.split_once(' ').unwrap_or(("GET", route));
    let path = path.replace("{n}", "");
    let mut words: Vec<String> = path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if words.is_empty() {
        words.push("root".into());
    }
    if method != "GET" {
        words.insert(0, method.to_ascii_lowercase());
    }
    let name = words.join("_");
    // `end` is where sessions end, and a name begins with a letter.
    if name == "end" || name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("page_{name}")
    } else {
        name
    }
}

/// Fits all classes, the most frequent first, the gathered rare ones last.
pub(super) fn fit(requests: &[Request], pools: &[Pool], stretches: &[Stretch]) -> Vec<Class> {
    let mut by_route: BTreeMap<String, Vec<&Request>> = BTreeMap::new();
    for r in requests {
        by_route.entry(route(&r.name)).or_default().push(r);
    }
    let mut routes: Vec<(String, Vec<&Request>)> = by_route.into_iter().collect();
    routes.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    let mut classes: Vec<Class> = Vec::new();
    let mut rare: (Vec<String>, Vec<&Request>) = Default::default();
    for (i, (route, of)) in routes.into_iter().enumerate() {
        if of.len() < RARE || i >= MOST {
            rare.0.push(route);
            rare.1.extend(of);
            continue;
        }
        let mut name = name_of(&route);
        while classes.iter().any(|c| c.name == name) || name == "rare" {
            name.push_str("_2");
        }
        classes.push(class(name, vec![route], &of, pools, stretches));
    }
    if !rare.1.is_empty() {
        rare.1.sort_by(|a, b| a.begin.total_cmp(&b.begin));
        classes.push(class("rare".into(), rare.0, &rare.1, pools, stretches));
    }
    classes
}

/// A time of a request, in seconds.
type Time = fn(&Request) -> f64;

fn class(
    name: String,
    routes: Vec<String>,
    of: &[&Request],
    pools: &[Pool],
    stretches: &[Stretch],
) -> Class {
    let values = |f: Time| of.iter().map(|r| f(r)).collect::<Vec<f64>>();
    let parts: [(&'static str, Time); 4] = [
        ("container", |r| r.container),
        ("service", |r| r.service),
        ("held", |r| r.held),
        ("sql", |r| r.sql),
    ];
    let whole: f64 = of.iter().map(|r| r.end - r.begin).sum();
    let wait = |f: Time| {
        let values = values(f);
        let matters = values.iter().sum::<f64>() > MATTERS * whole;
        matters.then(|| fitted(&values)).flatten()
    };
    let n = of.len() as f64;
    let mut acquisitions: BTreeMap<u32, usize> = BTreeMap::new();
    of.iter()
        .for_each(|r| *acquisitions.entry(r.acquisitions).or_default() += 1);
    let asks = |pool: &Pool| {
        of.iter()
            .filter(|r| r.pool.as_ref() == Some(&pool.name))
            .count()
    };
    let several = of.iter().filter(|r| r.pools > 1).count();
    Class {
        name,
        routes,
        count: of.len(),
        by_recording: stretches
            .iter()
            .map(|s| of.iter().filter(|r| s.has(r.begin)).count())
            .collect(),
        parts: parts
            .into_iter()
            .filter_map(|(name, f)| {
                Some(Part {
                    name,
                    law: fitted(&values(f))?,
                })
            })
            .filter(|p| p.law.mean > 0.0)
            .collect(),
        acquisitions: acquisitions
            .into_iter()
            .map(|(k, c)| (k, c as f64 / n))
            .collect(),
        pool: (0..pools.len())
            .filter(|&i| asks(&pools[i]) > 0)
            .max_by_key(|&i| asks(&pools[i])),
        several_pools: several as f64 > SEVERAL * n,
        statements: of.iter().map(|r| f64::from(r.statements)).sum::<f64>() / n,
        calls: of.iter().map(|r| f64::from(r.calls)).sum::<f64>() / n,
        sql_wait: wait(|r| r.sql_wait),
        service_wait: wait(|r| r.service_wait),
        other_wait: wait(|r| r.other_wait),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_what_a_page_is_not_which_one() {
        assert_eq!(route("GET /item?id=7"), "GET /item");
        assert_eq!(
            route("GET /images/photo-27.png"),
            "GET /images/photo-{n}.png"
        );
        assert_eq!(route("POST /users/12/bids"), "POST /users/{n}/bids");
        assert_eq!(route("/"), "GET /");
        for (route, name) in [
            ("GET /images/photo-{n}.png", "images_photo_png"),
            ("POST /users/{n}/bids", "post_users_bids"),
            ("GET /", "root"),
            ("GET /end", "page_end"),
        ] {
            assert_eq!(name_of(route), name);
        }
    }

    fn request(name: &str, begin: f64, sql: f64) -> Request {
        Request {
            name: name.into(),
            begin,
            end: begin + 0.01,
            container: 1e-4,
            sql,
            ..Request::default()
        }
    }

    #[test]
    fn rare_routes_are_one_class_and_nothing_is_lost() {
        let mut all: Vec<Request> = (0..100)
            .map(|i| request("GET /a", f64::from(i), 2e-3))
            .collect();
        all.extend((0..5).map(|i| request(&format!("GET /{}", ['x', 'y'][i % 2]), 1.0, 0.0)));
        let classes = fit(&all, &[], &[]);
        assert_eq!(classes.len(), 2);
        assert_eq!((classes[1].name.as_str(), classes[1].count), ("rare", 5));
        assert_eq!(classes[1].routes, ["GET /x", "GET /y"]);
        assert!((classes[0].cpu() - 2.1e-3).abs() < 1e-12);
        assert_eq!(classes[0].pool, None);
        // A part that costs nothing is left out.
        assert_eq!(classes[1].parts.len(), 1);
    }

    #[test]
    fn a_class_has_the_pool_that_most_of_its_requests_ask() {
        let pool = |name: &str| Pool {
            name: name.into(),
            asked: 0,
            most_used: 1,
            limit: None,
        };
        let asks = |i: usize, pool: &str| Request {
            pool: Some(pool.into()),
            pools: 1 + u32::from(i == 0),
            ..request("GET /a", i as f64, 0.0)
        };
        let all: Vec<Request> = (0..50)
            .map(|i| asks(i, if i % 3 == 0 { "orders" } else { "users" }))
            .collect();
        let class = &fit(&all, &[pool("orders"), pool("users")], &[])[0];
        assert_eq!((class.pool, class.several_pools), (Some(1), true));
    }
}
