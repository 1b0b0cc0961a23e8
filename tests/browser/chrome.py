"""Drives Chromium through its debugging pipe: JSON messages that end in a NUL, on file descriptors 3 and 4. Python's
standard library is all that is needed."""

import base64
import json
import os
import subprocess
import tempfile
import threading
import time

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-extensions --disable-default-apps --no-proxy-server --hide-scrollbars
--mute-audio --remote-debugging-pipe""".split()


class Chrome:
    """One browser; pages are its tabs."""

    def __init__(self, binary="chromium"):
        self.profile = tempfile.TemporaryDirectory(prefix="prdo-chromium-", ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def connect():
            # The two may already be 3 or 4: copies elsewhere first.
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        command = [binary, *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(
            command, preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_child)
        os.close(from_child)
        self.number = 0
        self.answers = {}
        self.pages = {}
        self.arrived = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        rest = b""
        while True:
            try:
                piece = os.read(self.inp, 1 << 20)
            except OSError:
                return
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\0")
            for text in whole:
                message = json.loads(text)
                with self.arrived:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    elif message.get("sessionId") in self.pages:
                        self.pages[message["sessionId"]].take(message["method"], message["params"])
                    self.arrived.notify_all()

    def send(self, method, params=None, session=None, timeout=120):
        with self.arrived:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        with self.arrived:
            while number not in self.answers:
                if not self.arrived.wait(end - time.monotonic()):
                    raise TimeoutError(f"no answer to {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, width=1200, height=900, dark=False):
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, target, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.size(width, height)
        page.dark(dark)
        return page

    def close(self):
        try:
            self.send("Browser.close", timeout=5)
            self.process.wait(5)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
        self.process.wait()
        self.profile.cleanup()


class Page:
    """A tab, with all that it asked for and all that went wrong in it."""

    def __init__(self, chrome, target, session):
        self.chrome, self.target, self.session = chrome, target, session
        self.requests, self.errors, self.network_errors = [], [], []

    def take(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert", "warning"):
            self.errors.append(str([a.get("value", a.get("description")) for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            place = self.network_errors if entry["source"] == "network" else self.errors
            place.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")

    def send(self, method, params=None):
        return self.chrome.send(method, params, self.session)

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def dark(self, dark):
        value = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})

    def goto(self, url):
        self.send("Page.navigate", {"url": url})
        # The old document may still be there for a moment.
        self.wait(f"location.href.startsWith({json.dumps(url.split('?')[0])}) && document.readyState === 'complete'")

    def reload(self):
        self.send("Page.reload")

    def value(self, script):
        answer = self.send("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def text(self, identifier):
        return self.value(f"document.getElementById({json.dumps(identifier)}).textContent")

    def wait(self, script, timeout=60):
        end = time.monotonic() + timeout
        while True:
            try:
                if self.value(f"!!({script})"):
                    return
            except RuntimeError:
                pass  # While the document changes.
            if time.monotonic() > end:
                shown = self.value("document.body ? document.body.innerText.slice(0, 1500) : ''")
                raise AssertionError(f"not within {timeout} s: {script}\nthe page shows: {shown}")
            time.sleep(0.05)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key})

    def move(self, x, y):
        self.send("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})

    def picture(self, path, whole=False):
        params = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", params)["data"]))

    def close(self):
        self.chrome.send("Target.closeTarget", {"targetId": self.target})
        del self.chrome.pages[self.session]
