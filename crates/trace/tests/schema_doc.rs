//! docs/internals/trace.md lists every table and column as the code defines them.

use std::path::Path;

use loadline_trace::tables;

const BEGIN: &str =
    "<!-- tables: begin (written by `LOADLINE_WRITE_DOCS=1 cargo test -p loadline-trace`) -->\n";
const END: &str = "<!-- tables: end -->\n";

fn generated() -> String {
    let mut text = String::new();
    for table in tables::all() {
        text += &format!(
            "### {}\n\n{}\n\n| column | type | meaning |\n| --- | --- | --- |\n",
            table.name, table.doc
        );
        for c in table.columns {
            let null = if c.nullable { ", null" } else { "" };
            text += &format!(
                "| `{}` | {}{null} | {} |\n",
                c.name,
                c.sql_type.to_lowercase(),
                c.doc
            );
        }
        text += "\n";
        if table.name == "counters" {
            text += "| scope | name | meaning |\n| --- | --- | --- |\n";
            for c in tables::COUNTERS {
                text += &format!("| {} | `{}` | {} |\n", c.scopes, c.name, c.doc);
            }
            text += "\n";
        }
    }
    text
}

#[test]
fn the_schema_page_says_what_the_code_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/trace.md");
    let page = std::fs::read_to_string(&path).expect("docs/internals/trace.md exists");
    let (head, rest) = page
        .split_once(BEGIN)
        .expect("the page has the begin marker");
    let (written, tail) = rest.split_once(END).expect("the page has the end marker");
    if std::env::var_os("LOADLINE_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{BEGIN}{}{END}{tail}", generated()))
            .expect("it can be written");
        return;
    }
    assert_eq!(
        written,
        generated(),
        "run: LOADLINE_WRITE_DOCS=1 cargo test --release -p loadline-trace"
    );
}
