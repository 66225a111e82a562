//! A picture of the page, taken by a browser that runs without a screen.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cdp::Browser;

const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Time for the picture, from starting the browser to its end.
const LIMIT: Duration = Duration::from_secs(45);

/// The page sets it on its root element: `yes` once all that it shows is drawn, or what went wrong.
const READY: &str = "document.documentElement.dataset.ready";

/// Opens `url` in a headless browser, waits until the page says that it is drawn, and writes what
/// it shows to `png`.
pub fn screenshot(url: &str, png: &Path, width: u32, height: u32) -> Result<()> {
    let browsers = std::env::var_os("PATH").unwrap_or_default();
    let Some(program) = find(std::env::split_paths(&browsers)) else {
        bail!(
            "a picture of the viewer needs a browser: install chromium (apt-get install chromium) or google-chrome, or open {url} in yours"
        );
    };
    let profile = tempfile::Builder::new()
        .prefix("loadline-browser-")
        .tempdir()?;
    let mut browser = Browser::start(&program, profile.path(), LIMIT)?;
    let picture = picture(&mut browser, url, width, height)
        .with_context(|| format!("taking a picture with {}", program.display()))?;
    std::fs::write(png, picture).with_context(|| png.display().to_string())
}

fn find(mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.find_map(|folder| {
        BROWSERS
            .iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    })
}

fn picture(browser: &mut Browser, url: &str, width: u32, height: u32) -> Result<Vec<u8>> {
    let target = browser.call(None, "Target.createTarget", json!({"url": "about:blank"}))?;
    let attached = browser.call(
        None,
        "Target.attachToTarget",
        json!({"targetId": target["targetId"], "flatten": true}),
    )?;
    let session = attached["sessionId"]
        .as_str()
        .context("the browser named no session")?;
    let page = Some(session);
    let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    browser.call(page, "Emulation.setDeviceMetricsOverride", size)?;
    let went = browser.call(page, "Page.navigate", json!({"url": url}))?;
    if let Some(error) = went["errorText"].as_str() {
        bail!("{url} cannot be opened: {error}");
    }
    loop {
        let answer = browser.call(page, "Runtime.evaluate", json!({"expression": READY}))?;
        match answer["result"]["value"].as_str() {
            Some("yes") => break,
            Some(trouble) => bail!("the page cannot show the trace: {trouble}"),
            None => {}
        }
        if browser.is_late() {
            bail!("the page was not drawn within {} s", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let shot = browser.call(page, "Page.captureScreenshot", json!({"format": "png"}))?;
    decode_base64(shot["data"].as_str().unwrap_or_default())
        .context("the browser's picture is not base64")
}

/// Decodes base64 (RFC 4648, section 4).
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | value as u32, count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_as_in_rfc_4648() {
        for (text, expected) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decode_base64(text).as_deref(), Some(expected.as_bytes()));
        }
        assert_eq!(decode_base64("Z!"), None);
    }

    #[test]
    fn the_first_folder_with_a_browser_wins() -> Result<()> {
        let dir = tempfile::tempdir()?;
        let (empty, full) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::create_dir(&empty)?;
        std::fs::create_dir(&full)?;
        std::fs::write(full.join("google-chrome"), "")?;
        assert_eq!(
            find([empty.clone(), full.clone()].into_iter()),
            Some(full.join("google-chrome"))
        );
        assert_eq!(find([empty].into_iter()), None);
        Ok(())
    }
}
