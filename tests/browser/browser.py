"""A headless Chromium, spoken to by the DevTools protocol over its pipe: JSON texts that end in a
zero byte (--remote-debugging-pipe). Only what the tests of the report need."""
import base64
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
ANSWER_S = 30


def find_chromium():
    """Path of a Chromium that starts, or None: Ubuntu's package is a stub that asks for a snap."""
    for name in NAMES:
        path = shutil.which(name)
        if not path:
            continue
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if version.returncode == 0 and re.search(r"\d+\.\d+\.\d+", version.stdout):
            return path
    return None


class Browser:
    """Use it in a with statement."""

    def __init__(self, path):
        self.path = path
        self.last_id = 0
        self.buffer = b""
        self.session = None

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="sonde-browser-")
        there_read, self.to = os.pipe()
        self.back, there_write = os.pipe()

        def as_3_and_4():  # the numbers that Chromium reads from and writes to
            read, write = os.dup(there_read), os.dup(there_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [self.path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=as_3_and_4, close_fds=False, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_read)
        os.close(there_write)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def read_message(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], max(0, until - time.monotonic()))
            chunk = os.read(self.back, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self.buffer += chunk
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + ANSWER_S
        while True:
            answer = self.read_message(until)
            if answer.get("id") != self.last_id:
                continue  # an event
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def open(self, path, width, dark=False, scripts=True, media="screen"):
        """Loads the file anew and waits until charts, if any, are drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        until = time.monotonic() + ANSWER_S
        drawn = ("document.readyState === 'complete' && location.protocol === 'file:' && "
                 "[...document.querySelectorAll('#all_charts:not([hidden]) .part:not([hidden]) .chart')]"
                 ".every(one => one.querySelector('svg'))")
        while not self.evaluate(drawn):
            if time.monotonic() > until:
                raise RuntimeError(f"{path} is not drawn after {ANSWER_S} s")
            time.sleep(0.05)
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", "?"))
        return answer["result"].get("value")

    def screenshot(self, path, height=None, top=None):
        """The page from its head, or the element that a selector names, to its end, or so many px of it."""
        width, full = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        y = self.evaluate(f"document.querySelector('{top}').getBoundingClientRect().top + scrollY") if top else 0
        clip = {"x": 0, "y": y, "width": width, "height": min(full - y, height or full), "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
