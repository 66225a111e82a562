use super::*;

fn chart(series: Series) -> Chart {
    Chart {
        title: "t".into(),
        ..Chart::default()
    }
    .with(series)
}

#[test]
fn the_highest_of_many_points_survives_where_it_was() {
    let mut points: Vec<(f64, f64)> = (0..50_000).map(|n| (f64::from(n), 1.0)).collect();
    points[25_001].1 = 100.0;
    let all: Vec<Point> = points.iter().map(|p| Point::from(*p)).collect();
    let kept = thinned(all.clone());
    assert!(kept.len() <= MAX_POINTS + 2, "{}", kept.len());
    assert!(kept.contains(&all[25_001]));
    assert_eq!((kept[0], kept[kept.len() - 1]), (all[0], all[49_999]));
    assert!(kept.is_sorted_by(|a, b| a.x < b.x));
    // 100 is the highest tick, at the top.
    assert!(chart(Series::area("p95", points)).svg().contains(" 32.0L"));
}

#[test]
fn few_points_are_all_kept() {
    let points: Vec<Point> = (0..800).map(|n| (f64::from(n), 1.0).into()).collect();
    assert_eq!(thinned(points.clone()), points);
    assert_eq!(thinned(Vec::new()), Vec::new());
}

#[test]
fn without_a_point_there_is_no_drawing() {
    assert_eq!(Chart::default().svg(), "");
    assert_eq!(chart(Series::line("x", [(0.0, f64::NAN)])).drawing(), None);
    let zero = chart(Series::line("x", [(0.0, 0.0)]));
    let svg = zero.svg();
    assert!(svg.contains("<svg") && !svg.contains("NaN") && !svg.contains("inf"));
    let log = Chart { log: true, ..zero };
    assert_eq!(log.svg(), "", "0 has no place among powers of ten");
}

#[test]
fn what_is_not_finite_is_left_out() {
    let values = [
        5.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        0.0,
        -1.0,
    ];
    let points = (1..).map(f64::from).zip(values);
    for (log, dots) in [(true, 1), (false, 3)] {
        let series = Series::dots("x", points.clone());
        let svg = Chart {
            log,
            ..chart(series)
        }
        .svg();
        // One more is the legend's.
        assert_eq!(svg.matches("<circle").count(), dots + 1, "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
    let at_nowhere = chart(Series::line("x", [(f64::NAN, 1.0), (f64::INFINITY, 1.0)]));
    assert_eq!(at_nowhere.svg(), "");
}

#[test]
fn every_text_is_escaped() {
    let bad = "<&\"'>";
    let svg = Chart {
        title: bad.into(),
        unit: bad.into(),
        x_label: bad.into(),
        x_unit: bad.into(),
        x_ticks: vec![(1.0, bad.into())],
        marks: vec![Mark {
            x: 1.0,
            label: bad.into(),
            colour: 0,
        }],
        ..chart(Series::dots(bad, [(1.0, 2.0)]))
    }
    .svg();
    assert!(!svg.contains(bad), "{svg}");
    // Title and its reading, unit, label, tick, mark, legend; name and unit in the tooltip.
    assert_eq!(svg.matches("&lt;&amp;&quot;&#39;&gt;").count(), 9, "{svg}");
}

#[test]
fn a_doubtful_point_is_hollow_and_says_why() {
    let doubtful = Point {
        x: 40.0,
        y: 88.13,
        doubt: Some("the generator's limit"),
    };
    let chart = Chart {
        x_unit: " sessions/s".into(),
        ..chart(Series::line("1 CPU", [doubtful, (50.0, 80.0).into()]).dotted())
    };
    let svg = chart.svg();
    assert_eq!(svg.matches("class=\"hollow s0\"").count(), 1);
    let tip = "<title>1 CPU: 88.1 at 40 sessions/s (the generator&#39;s limit)</title>";
    assert!(svg.contains(tip), "{svg}");
}

#[test]
fn a_reference_is_dashed_and_without_dots() {
    let svg = chart(Series::reference("objective", [(0.0, 1.0), (1.0, 1.0)])).svg();
    assert!(svg.contains("line s9 dashed") && !svg.contains("<circle"));
}

#[test]
fn the_axis_starts_at_zero_unless_told_otherwise() {
    let zero = chart(Series::line("x", [(10.0, 1.0), (20.0, 2.0)]));
    let smallest = Chart {
        from_smallest: true,
        ..zero.clone()
    };
    assert!(zero.svg().contains("x=\"58.0\" y=\"236\">0</text>"));
    assert!(smallest.svg().contains("x=\"58.0\" y=\"236\">10</text>"));
}

#[test]
fn given_ticks_replace_numbers() {
    let chart = Chart {
        x_ticks: vec![(0.0, "0%".into()), (1.0, "90%".into()), (7.0, "far".into())],
        ..chart(Series::line("x", [(0.0, 1.0), (2.0, 2.0)]))
    };
    let svg = chart.svg();
    assert!(svg.contains(">90%</text>") && !svg.contains("far"), "{svg}");
}

#[test]
fn a_mark_beyond_the_points_is_left_out() {
    let mark = |x: f64| Mark {
        x,
        label: format!("at {x}"),
        colour: 1,
    };
    let chart = Chart {
        marks: vec![mark(3.0), mark(9.0), mark(11.0), mark(f64::NAN)],
        ..chart(Series::line("x", [(0.0, 1.0), (10.0, 2.0)]))
    };
    let svg = chart.svg();
    assert_eq!(svg.matches("class=\"mark s1\"").count(), 2);
    assert!(svg.contains("class=\"label f1\" ") && svg.contains("class=\"label f1 end\" "));
}

#[test]
fn a_long_legend_goes_on_in_another_row() {
    let named = |n: usize| Series::line(format!("a rather long name of series {n}"), [(0.0, 1.0)]);
    let height = |n: usize| {
        let chart = (0..n).map(named).fold(Chart::default(), Chart::with);
        chart.drawing().map(|d| d.height).unwrap_or_default()
    };
    assert_eq!(height(2), height(1));
    assert_eq!(height(9), height(1) + 2.0 * ROW);
}
