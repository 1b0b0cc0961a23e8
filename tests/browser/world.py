"""Runs and nodes for the browser's tests: what a person would type, in a folder of its own."""

import csv
import os
import random
import re
import signal
import socket
import subprocess
import time

SETTINGS = {
    "name": '"clinics"', "rounds": 40, "graph.kind": '"ring"', "graph.nodes": 8, "data.source": '"logistic"',
    "data.records": 200, "data.dimension": 20, "data.heterogeneity": 0.3, "data.test": 500, "method.name": '"prdo"',
    "method.step_size": 0.5, "method.gamma": 0.2, "batch.size": 20, "clip.gradient": 1.0, "clip.difference": 0.05,
    "privacy.epsilon": 2.0, "privacy.delta": 1e-5, "metrics.every": 10,
}
# Without privacy.
OPEN = {"clip.gradient": None, "clip.difference": None, "privacy.epsilon": None, "privacy.delta": None}
# Long enough to be killed.
LONG = {"rounds": 5_000_000, "metrics.every": 500, "privacy.epsilon": None, "method.step_size": 0.1, "privacy.noise_multiplier": 10.0, "privacy.accountant": '"rdp"'}
# Every step makes it a little worse, until numbers end: after 141,000 rounds (a second in release), so that a
# page is open by then.
DIVERGING = OPEN | {
    "name": '"diverging"', "rounds": 5_000_000, "data.source": '"quadratic"', "data.records": 50, "data.dimension": 10,
    "data.test": None, "model.kind": '"quadratic"', "method.name": '"dsgd"', "method.gamma": None, "method.step_size": 0.2005,
    "batch.size": None, "metrics.every": 100,
}


def run_file(changes):
    settings = {key: value for key, value in (SETTINGS | changes).items() if value is not None}
    lines, section = [], ""
    for key in sorted(settings, key=lambda key: ("." in key, key)):
        head, _, name = key.rpartition(".")
        if head != section:
            section = head
            lines.append(f"\n[{section}]")
        lines.append(f"{name} = {settings[key]}")
    return "\n".join(lines) + "\n"


class World:
    """A folder, and the processes that were started in it."""

    def __init__(self, prdo, folder):
        self.prdo, self.folder, self.children = prdo, folder, []
        self.environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, label, *arguments):
        """Starts prdo; what it prints goes to LABEL.out and LABEL.err."""
        with open(self.path(f"{label}.out"), "w") as out, open(self.path(f"{label}.err"), "w") as err:
            child = subprocess.Popen([self.prdo, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=err, env=self.environment)
        child.label = label
        self.children.append(child)
        return child

    def done(self, *arguments):
        child = subprocess.run([self.prdo, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, env=self.environment, timeout=180)
        assert child.returncode == 0, child.stderr
        return child.stdout

    def told(self, label):
        with open(self.path(f"{label}.err"), encoding="utf-8") as file:
            return file.read()

    def url(self, label, timeout=60):
        """The address that a process printed."""
        end = time.monotonic() + timeout
        while True:
            found = re.search(r"^watch: (http://127\.0\.0\.1:\d+/[0-9a-f]{32}/)$", self.told(label), re.M)
            if found:
                return found[1]
            assert time.monotonic() < end, f"{label} prints no address: {self.told(label)}"
            time.sleep(0.02)

    def watch(self, folder):
        """`prdo watch` of a folder; its address."""
        label = f"watch-{len(self.children)}"
        self.start(label, "watch", folder)
        return self.url(label)

    def rows(self, folder):
        with open(self.path(folder, "metrics.csv"), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
            child.wait()


NAMES = ["north", "east", "south", "west"]


def agree(world, rounds):
    """Members with keys, records and a signed agreement."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in NAMES]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    draw, members, header = random.Random(7), "", "height,width,label"
    table = header + ",node\n"
    test = header + "\n"
    for number, (name, port) in enumerate(zip(NAMES, ports)):
        own = header + "\n"
        for k in range(60):
            kind = (k + number) % 2
            record = f"{draw.gauss(kind - 0.5, 0.5):.4f},{draw.gauss(0.5 - kind, 0.5):.4f},{'ab'[kind]}"
            own += record + "\n"
            table += f"{record},{number}\n"
            test += f"{draw.gauss(kind - 0.5, 0.5):.4f},{draw.gauss(0.5 - kind, 0.5):.4f},{'ab'[kind]}\n"
        world.write(f"{name}.csv", own)
        world.done("node", "key", f"{name}.key")
        key = world.done("node", "key", f"{name}.key", "--show").strip()
        members += f'[[member]]\nname = "{name}"\nkey = "{key}"\naddresses = ["127.0.0.1:{port}"]\nrecords = 60\n\n'
    world.write("all.csv", table)
    world.write("test.csv", test)
    world.write("members.toml", members)
    world.write("agreed.toml", run_file({
        "name": '"region"', "rounds": rounds, "graph.nodes": None, "data.source": '"file"', "data.path": '"all.csv"',
        "data.records": None, "data.dimension": None, "data.heterogeneity": None, "data.test": 0,
        "model.kind": '"softmax"', "batch.size": 6, "metrics.every": None, "privacy.epsilon": 4.0, "privacy.delta": 1e-3}))
    world.done("node", "init", "agreed.toml", "--members", "members.toml", "--out", "all.agreement")
    for name in NAMES:
        world.done("node", "sign", "all.agreement", "--key", f"{name}.key")


def join(world, name, *more):
    """Starts a member."""
    return world.start(name, "node", "run", "all.agreement", "--key", f"{name}.key", "--data", f"{name}.csv",
                       "--home", name, "--linger", "20", "--give-up", "60", *more)
