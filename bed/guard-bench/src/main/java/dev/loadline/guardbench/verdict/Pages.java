package dev.loadline.guardbench.verdict;

/** What the verdict server answers. */
final class Pages {
    static final String HOME = "<!DOCTYPE html><html><body id=\"home\">here</body></html>\n";

    /** A browser that opens this fetches {@code n} times, each on a connection of its own, then asks for /done. */
    static final String RUN = """
        <!DOCTYPE html><html><body id="run"><script>
        const n = Number(new URLSearchParams(location.search).get("n"));
        let next = 0;
        async function worker() {
          while (next < n) {
            const i = next++;
            // Without credentials a browser uses another set of sessions.
            await fetch("/item?" + i, {cache: "no-store", credentials: i % 10 ? "same-origin" : "omit"}).catch(() => {});
          }
        }
        Promise.all([worker(), worker(), worker(), worker()]).then(() => fetch("/done"));
        </script></body></html>
        """;

    private Pages() {
    }
}
