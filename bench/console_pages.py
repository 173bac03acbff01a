"""What a benchmark asks of a page in a real browser."""

import shutil
import statistics

PROGRAM = "chromium-headless-shell"

# Frames and long tasks from now on. Source: W3C "Long Tasks API".
WATCH = """() => {
    window.frames_ms = []; window.long_ms = [];
    new PerformanceObserver(list => { for (const one of list.getEntries()) long_ms.push(one.duration); }).observe({type: 'longtask'});
    let before = performance.now();
    const frame = now => { frames_ms.push(now - before); before = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
}"""
SEEN = "() => ({frames: frames_ms.slice(3).sort((a, b) => a - b), long: long_ms})"
# Since the navigation: the first frame in which `selector` is there.
FIRST = """selector => new Promise(done => {
    const look = () => document.querySelector(selector) ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
    look();
})"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
SENT = "() => performance.getEntries().filter(one => one.transferSize !== undefined).map(one => one.transferSize)"


class Browser:
    def __init__(self):
        from playwright.sync_api import sync_playwright
        program = shutil.which(PROGRAM)
        assert program, f"no {PROGRAM} on PATH: apt-get install chromium-headless-shell"
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=program, args=["--enable-precise-memory-info"])

    def close(self):
        self.browser.close()
        self.playwright.stop()

    def page(self):
        """Of a browser that has seen nothing yet."""
        page = self.browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(180_000)
        return page

    def first(self, url, selector, rounds=5):
        """Medians in ms of cold loads: first contentful paint, the first frame with `selector`; requests and bytes of one load."""
        painted, there, sent = [], [], []
        for _ in range(rounds):
            page = self.page()
            page.goto(url, wait_until="commit")
            there.append(page.evaluate(FIRST, selector))
            painted.append(painted_at(page))
            sent = page.evaluate(SENT)
            page.context.close()
        return statistics.median(painted), statistics.median(there), len(sent), sum(sent)


def painted_at(page):
    """First contentful paint in ms; the browser reports it some time after it painted."""
    return page.wait_for_function(PAINTED).json_value()


def heap(page):
    """Bytes after a collection."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    session.detach()
    return metrics["JSHeapUsedSize"]


def frames(page):
    """"p50 16.7 ms, p99 16.8 ms, none over 50 ms" of what was watched."""
    seen = page.evaluate(SEEN)
    all_ms = seen["frames"]
    over = f"{len(seen['long'])} over 50 ms (longest {max(seen['long']):.0f})" if seen["long"] else "none over 50 ms"
    return f"frames p50 {all_ms[len(all_ms) // 2]:.1f} ms, p99 {all_ms[int(len(all_ms) * 0.99)]:.1f} ms; tasks: {over}"
