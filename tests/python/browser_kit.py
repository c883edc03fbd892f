"""A headless Chromium over its own protocol: JSON through two pipes, each
message ended by a NUL, so that the standard library is enough."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome",
         "chromium-headless-shell")
SECONDS = 120  # a loaded machine


def find_browser():
    """The browser's path, or None."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self, path):
        self.profile = tempfile.TemporaryDirectory(prefix="trnemu-browser")
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()
        # The browser reads its descriptor 3 and writes 4: out of their way.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10)
                for fd in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)

        def connect():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions",
             "--disable-breakpad", "--disable-component-update",
             f"--user-data-dir={self.profile.name}",
             "--remote-debugging-pipe"],
            preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        self.buffer = b""
        self.last_id = 0
        self.events = []

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        for _ in range(3):  # helpers of the browser may still be writing
            try:
                self.profile.cleanup()
                return
            except OSError:
                time.sleep(0.2)

    def message(self):
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.read_end], [], [], max(0, left))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, session=None, **params):
        self.last_id += 1
        sent = {"id": self.last_id, "method": method, "params": params}
        if session:
            sent["sessionId"] = session
        os.write(self.write_end, json.dumps(sent).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("id") == self.last_id:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got.get("result", {})
            self.events.append(got)

    def open(self, url, width=1280, height=900, dark=False):
        return Page(self, url, width, height, dark)


class Page:
    """A tab. `problems()`: what the console, the log and exceptions said."""

    def __init__(self, browser, url, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")
        self.target = target["targetId"]
        self.session = browser.call("Target.attachToTarget",
                                    targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])
        self.go(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=False)

    def go(self, url):
        """Until the page has loaded and its scripts have run."""
        loaded = len(self.of("Page.loadEventFired"))
        self.call("Page.navigate", url=url)
        while len(self.of("Page.loadEventFired")) == loaded:
            self.browser.events.append(self.browser.message())

    def evaluate(self, expression):
        got = self.call("Runtime.evaluate", expression=expression,
                        returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def wait_for(self, condition):
        deadline = time.monotonic() + SECONDS
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {condition}")
            time.sleep(0.01)
        return True

    def frame(self):
        """Lets what was asked for be drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame("
                      "() => requestAnimationFrame(() => done(1))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.frame()

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      text=key if len(key) == 1 and kind == "keyDown" else "")
        self.frame()

    def screenshot(self, path, whole=False):
        got = self.call("Page.captureScreenshot", format="png",
                        captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(got["data"]))

    def of(self, method):
        return [e["params"] for e in self.browser.events
                if e.get("sessionId") == self.session and
                e.get("method") == method]

    def problems(self):
        said = [e["exceptionDetails"]
                for e in self.of("Runtime.exceptionThrown")]
        said += [e for e in self.of("Runtime.consoleAPICalled")]
        said += [e["entry"] for e in self.of("Log.entryAdded")]
        return said

    def requests(self):
        """The addresses it asked for."""
        return [e["request"]["url"]
                for e in self.of("Network.requestWillBeSent")]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
