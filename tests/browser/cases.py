"""The dashboard in a real browser: every function is a case. A console error or an exception in a page fails its case,
and so does a request that leaves this machine."""

import os
import signal
import time
import urllib.error
import urllib.request

from world import DIVERGING, LONG, OPEN, agree, join, run_file


def number(text):
    """The first number in a text."""
    kept = "".join(c if c in "0123456789.e-−" else " " for c in text.replace("\u2009", "").replace("\u202f", ""))
    return float(kept.split()[0].replace("−", "-"))


def rounds(page):
    """The round that the page shows."""
    return int(page.text("round").split(" of ")[0].replace("\u2009", "").replace("\u202f", "").replace(" ", ""))


def state(page, word, timeout=60):
    page.wait(f"document.getElementById('pill').textContent === {word!r}", timeout)


def visible(page, identifier):
    return page.value(f"!document.getElementById({identifier!r}).hidden")


def points(page):
    """Points of the first curve, from the path that is drawn."""
    return page.value("(document.querySelector('.chart-stage path.chart-line') || {getAttribute: () => ''}).getAttribute('d').split('L').length")


def no_overflow(page):
    wide = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"the page is {wide} px too wide"


def figures_are_those_of_the_files(world, page, pictures):
    """A run in a folder that was empty when it was first looked at; then figures, hovering, a phone and the dark."""
    os.mkdir(world.path("later"))
    page.goto(world.watch("later"))
    state(page, "no data yet")
    assert "as soon as one begins" in page.text("notes") and not visible(page, "cards")
    page.picture(pictures("empty"))
    world.write("run.toml", run_file({"rounds": 400}))
    world.done("run", "run.toml", "--out", "later")
    state(page, "finished")
    rows = world.rows("later")
    assert rounds(page) == 400 and len(rows) == 41
    last = rows[-1]
    assert abs(number(page.text("metric")) - 100 * float(last["test_accuracy"])) < 0.006
    assert page.text("epsilon").startswith(f"ε {float(last['epsilon_spent']):.4g} of "), page.text("epsilon")
    assert "not private against anyone who knows the seed" in page.text("notes")
    assert points(page) == 41
    for key, column in (("End", last), ("Home", rows[0])):
        page.value("document.querySelectorAll('.chart-stage svg[tabindex]')[1].focus()")
        page.key(key)
        shown = page.value("document.querySelectorAll('.chart-tip')[1].querySelector('b').textContent")
        assert abs(number(shown) / float(column["loss"]) - 1) < 1e-3, (shown, column)
    page.key("Escape")
    page.value("document.activeElement.blur()")
    canvas = page.value("(() => { const e = document.querySelector('canvas').getBoundingClientRect(); return [e.left + scrollX, e.top + scrollY, e.width]; })()")
    page.value(f"scrollTo(0, {canvas[1]} - 100)")
    page.move(canvas[0] + canvas[2] / 2, 100 + 38)
    page.wait("!document.querySelector('.tip').hidden && /^node 0: /.test(document.querySelector('.tip').textContent)")
    page.move(5, 5)
    page.value("scrollTo(0, 0)")
    page.picture(pictures("finished"), whole=True)
    page.dark(True)
    page.wait("getComputedStyle(document.body).backgroundColor === 'rgb(20, 24, 29)'")
    page.picture(pictures("finished-dark"), whole=True)
    page.dark(False)
    page.size(360, 800)
    time.sleep(0.3)
    no_overflow(page)
    page.picture(pictures("finished-phone"), whole=True)


def it_is_live_and_survives_reload_kill_and_resuming(world, page, pictures):
    world.write("run.toml", run_file(LONG))
    child = world.start("run", "run", "run.toml", "--out", "out", "--watch", "--checkpoint-every", "1")
    page.goto(world.url("run"))
    state(page, "running")
    page.wait("document.querySelectorAll('#nodes td').length > 0")
    first, drawn = rounds(page), points(page)
    page.wait(f"Number(document.getElementById('round').textContent.split(' of ')[0].replace(/\\D/g, '')) > {first}")
    page.wait(f"document.querySelector('.chart-stage path.chart-line').getAttribute('d').split('L').length > {drawn}")
    assert "rounds/s" in page.text("rate") and "gradients/s" in page.text("rate-more") and " left" in page.text("left")
    page.value("document.querySelectorAll('.chart-head button')[1].click()")
    page.wait("document.querySelectorAll('.chart-head button')[1].getAttribute('aria-pressed') === 'true'")
    time.sleep(1.3)
    assert page.value("document.querySelectorAll('.chart-head button')[1].getAttribute('aria-pressed')") == "true"
    before = rounds(page)
    page.reload()
    page.wait("document.readyState === 'complete' && document.querySelector('.chart-stage path.chart-line')")
    state(page, "running")
    assert rounds(page) >= before
    page.picture(pictures("running"))
    child.send_signal(signal.SIGKILL)
    child.wait()
    state(page, "not reached")
    assert "prdo watch" in page.text("notes") and page.value("!!document.querySelector('.chart-stage path.chart-line')")
    page.picture(pictures("unreachable"))
    page.goto(world.watch("out"))
    state(page, "stopped")
    assert "without a word" in page.text("notes") and "--resume" in page.text("notes")
    kept = rounds(page)
    assert kept >= before > 0 and points(page) > 1
    page.picture(pictures("stopped"))
    typed = page.text("notes").split("Resume with: prdo ")[1].split("--resume")[0] + "--resume"
    again = world.start("again", *typed.split())
    state(page, "running")
    page.wait(f"Number(document.getElementById('round').textContent.split(' of ')[0].replace(/\\D/g, '')) > {kept}")
    again.send_signal(signal.SIGINT)
    again.wait(20)
    state(page, "stopped")
    assert "with a checkpoint" in page.text("notes")
    assert "resumed after round" in page.text("log")


def nobody_without_the_token(world, page, pictures):
    world.write("run.toml", run_file(LONG))
    world.start("run", "run", "run.toml", "--out", "out", "--watch")
    url = world.url("run")
    host = url.split("/", 3)[2]
    other = url[:-2] + ("1/" if url[-2] == "0" else "0/")
    for wrong in (f"http://{host}/", f"http://{host}/state.json", other, other + "state.json", url[:-1]):
        try:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(wrong, timeout=5)
            raise AssertionError(f"{wrong} opens")
        except urllib.error.HTTPError as refusal:
            assert refusal.code == 403 and refusal.read() == b"", wrong
    page.send("Page.navigate", {"url": other})
    time.sleep(0.5)
    assert page.value("document.body.innerText.includes('clinics')") is False
    page.network_errors.clear()


def a_run_that_fails(world, page, pictures):
    world.write("run.toml", run_file(DIVERGING))
    child = world.start("run", "run", "run.toml", "--out", "out", "--watch", "--threads", "1")
    page.goto(world.url("run"))
    state(page, "failed", 180)
    assert "not finite" in page.text("notes") and points(page) > 1
    assert "not private" in page.text("epsilon") and page.text("metric") == "not finite"
    page.picture(pictures("failed"))
    assert child.wait(20) == 1 and "not finite" in world.told("run")
    page.goto(world.watch("out"))
    state(page, "failed")


def values_near_the_end_of_numbers(world, page, pictures):
    """A run that diverges passes through the largest numbers there are: axes end, and the page goes on answering."""
    world.write("run.toml", run_file({}))
    world.done("run", "run.toml", "--out", "out")
    page.goto(world.watch("out"))
    state(page, "finished")
    for values in ("[1e-320, 1e-100, 1, 1e300, 1.7e308]", "[1.7976931348623157e308]", "[5e-324]", "[-1.7e308, 1.7e308]"):
        for log in ("true", "false"):
            ticks = page.value(
                f"""(() => {{
                  const box = document.createElement("div"), values = {values};
                  document.body.append(box);
                  prdoChart(box, {{ axes: [{{ key: "round", label: "rounds" }}], panels: [{{ key: "loss", title: "Loss", log: {log} }}],
                    series: [{{ name: "run", style: 0, columns: {{ round: values.map((_, k) => k), loss: values }} }}] }});
                  const drawn = [...box.querySelectorAll("svg *")].flatMap((e) => [...e.attributes].map((a) => a.value));
                  return [box.querySelectorAll(".chart-grid").length, drawn.filter((v) => /NaN|Infinity/.test(v)).length];
                }})()""")
            assert 1 <= ticks[0] < 60 and ticks[1] == 0, (values, log, ticks)


def one_node(world, page, pictures):
    world.write("run.toml", run_file(OPEN | {"graph.kind": '"complete"', "graph.nodes": 1, "name": '"alone"', "method.name": '"ed"', "method.gamma": None}))
    world.done("run", "run.toml", "--out", "out")
    page.goto(world.watch("out"))
    state(page, "finished")
    assert "nobody to disagree with" in page.text("nodes") and "1 node, 0 links" in page.text("network")
    page.picture(pictures("one-node"), whole=True)


def a_thousand_nodes(world, page, pictures):
    small = {"data.records": 40, "data.dimension": 10, "batch.size": 8, "graph.nodes": 1000, "privacy.delta": 1e-3}
    for kind, more in (("ring", {}), ("random", {"graph.kind": '"random-regular"', "graph.degree": 4})):
        world.write("run.toml", run_file(LONG | small | more | {"name": f'"thousand-{kind}"', "metrics.every": 20}))
        # One thread: the browser draws beside it.
        child = world.start(kind, "run", "run.toml", "--out", kind, "--watch", "--threads", "1")
        page.goto(world.url(kind))
        state(page, "running")
        page.wait("document.querySelectorAll('#nodes .bars i').length > 0")
        page.wait("document.querySelector('.chart-stage path.chart-line')")
        page.picture(pictures(f"thousand-{kind}"), whole=True)
        child.send_signal(signal.SIGKILL)
        child.wait()
        page.goto("about:blank")


def damaged_folders(world, page, pictures):
    world.write("run.toml", run_file({"rounds": 100}))
    world.done("run", "run.toml", "--out", "out")
    os.remove(world.path("out", "summary.json"))
    for name, text in (("metrics.csv", "round,loss\n0,1\n1,zebra\n"), ("live.json", '{"state": "runn'), ("run.toml", "rounds = ")):
        world.write(f"out/{name}", text)
    page.goto(world.watch("out"))
    page.wait("document.getElementById('notes').textContent.includes('metrics.csv is damaged after its row 1')")
    notes = page.text("notes")
    assert "live.json is damaged" in notes and "run.toml cannot be read" in notes
    assert page.text("epsilon") == "ε not known", page.text("epsilon")
    page.picture(pictures("damaged"))


def members_of_an_agreement(world, page, pictures):
    agree(world, 4000)
    first = join(world, "north", "--watch", "--test", "test.csv")
    page.goto(world.url("north"))
    state(page, "running")
    page.wait("document.getElementById('nodes').textContent.includes('not reached')")
    page.picture(pictures("node-waiting"))
    others = [join(world, name) for name in ("east", "south", "west")]
    page.wait("!document.getElementById('nodes').textContent.includes('not reached') && document.getElementById('nodes').textContent.includes('east')")
    page.wait("Number(document.getElementById('round').textContent.split(' of ')[0].replace(/\\D/g, '')) > 20")
    page.wait("Math.max(...[...document.querySelectorAll('.chart-stage path.chart-line')].map((e) => e.getAttribute('d').split('L').length)) > 3")
    assert "all runs of these records" in page.text("budget")
    page.picture(pictures("node"), whole=True)
    everything = page.value("document.documentElement.outerHTML")
    assert "unprotected" not in everything and ".ledger" not in everything
    others[0].send_signal(signal.SIGKILL)
    others[0].wait()
    page.wait("document.getElementById('nodes').textContent.includes('not reached')")
    first.send_signal(signal.SIGKILL)
    first.wait()
    page.goto(world.watch("north"))
    state(page, "stopped")
    assert "ended unexpectedly" in page.text("notes")
    page.wait("Math.max(...[...document.querySelectorAll('.chart-stage path.chart-line')].map((e) => e.getAttribute('d').split('L').length)) > 3")


def comparisons_and_reports(world, page, pictures):
    world.write("compare.toml", run_file({"method.name": '["prdo", "ed"]', "seed": "[1, 2]"}))
    world.done("compare", "compare.toml", "--out", "both")
    page.goto(world.watch("both"))
    page.wait("document.getElementById('notes').textContent.includes('Open the report')")
    assert "its report has them all" in page.text("notes")
    link = page.value("document.querySelector('#notes a').href")
    page.goto(link)
    page.wait("document.querySelector('.chart-stage path.chart-line') || document.querySelector('figure svg')")
    page.picture(pictures("comparison-report"))
    world.write("run.toml", run_file({"rounds": 200}))
    world.done("run", "run.toml", "--out", "out")
    page.goto("file://" + world.path("out", "report.html"))
    page.wait("document.querySelector('h1')")
    if page.value("!!document.querySelector('.chart-stage svg')"):
        edge = page.value("(() => { const s = document.querySelector('.chart-stage svg'); s.scrollIntoView({block: 'center'}); const e = s.getBoundingClientRect(); return [e.left + e.width / 2, e.top + e.height / 2]; })()")
        page.move(*edge)
        page.wait("!document.querySelector('.chart-tip').hidden")
        pressed = "document.querySelector('.chart-head button').getAttribute('aria-pressed')"
        was = page.value(pressed)
        page.value("document.querySelector('.chart-head button').click()")
        assert page.value(pressed) != was
    page.picture(pictures("report"))


CASES = [
    figures_are_those_of_the_files, it_is_live_and_survives_reload_kill_and_resuming, nobody_without_the_token,
    a_run_that_fails, values_near_the_end_of_numbers, one_node, a_thousand_nodes, damaged_folders,
    members_of_an_agreement, comparisons_and_reports,
]
