"""Runs: the command's bits, settings, data, results."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np
import pandas
import prdo
import pytest
from conftest import PRIVATE

RUN_FILE = """
name = "both"
rounds = 30
seed = 3
[graph]
kind = "ring"
nodes = 5
[data]
source = "{source}"
[method]
name = "prdo"
step_size = 0.4
gamma = 0.3
[batch]
size = 40
[clip]
gradient = 1.0
difference = 0.2
[privacy]
epsilon = 3
delta = 1e-5
[metrics]
every = 7
moments = true
"""

SAME = ["run.toml", "metrics.csv", "moments.csv", "model.safetensors"]


def digits_run(tmp_path, source="digits"):
    path = tmp_path / "run.toml"
    path.write_text(RUN_FILE.format(source=source))
    return path


@pytest.mark.parametrize("source", ["digits", "logistic"])
def test_a_run_file_gives_the_commands_bits(command, tmp_path, source):
    path = digits_run(tmp_path, source)
    command("run", path, "--out", tmp_path / "command", "--json")
    run = prdo.Run(path)
    result = run.train(tmp_path / "python", progress=False)
    result.save(tmp_path / "saved")
    for name in SAME:
        expected = (tmp_path / "command" / name).read_bytes()
        assert (tmp_path / "python" / name).read_bytes() == expected, name
        assert (tmp_path / "saved" / name).read_bytes() == expected, name
    said, ours = (json.loads((tmp_path / which / "summary.json").read_text()) for which in ("command", "python"))
    assert {**said, "seconds": 0} == {**ours, "seconds": 0} == {**result.summary, "seconds": 0}
    assert (tmp_path / "python" / "report.html").is_file()
    assert "<svg" in result.report() and "<svg" in result._repr_html_()
    # Once more, from the settings that were written, on one thread.
    again = prdo.Run(tmp_path / "python" / "run.toml").train(progress=False, threads=1)
    assert (again.average == result.average).all() and (again.models == result.models).all()


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path):
    path = digits_run(tmp_path)

    def run():
        return prdo.Run(path, set={"rounds": 400})

    def stop(row):
        raise RuntimeError("enough")

    whole = run().train(tmp_path / "whole", progress=False)
    with pytest.raises(RuntimeError, match="enough"):
        run().train(tmp_path / "parts", progress=False, callback=stop)
    with pytest.raises(prdo.InputError, match="resume=True"):
        run().train(tmp_path / "parts", progress=False)
    result = run().train(tmp_path / "parts", progress=False, resume=True)
    assert (result.models == whole.models).all() and (result.history["loss"] == whole.history["loss"]).all()
    for name in SAME:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    with pytest.raises(prdo.InputError, match="resume"):
        run().train(progress=False, resume=True)


def test_keyword_arguments_are_the_run_file(tmp_path):
    from_file = prdo.Run(digits_run(tmp_path), set={"metrics.moments": False})
    from_arguments = prdo.Run(
        name="both",
        rounds=30,
        seed=3,
        graph={"kind": "ring", "nodes": 5},
        data="digits",
        method={"name": "prdo", "step_size": 0.4, "gamma": 0.3},
        batch={"size": np.int64(40)},
        clip={"gradient": 1, "difference": np.float64(0.2)},
        privacy={"epsilon": 3, "delta": 1e-5},
        metrics={"every": 7},
    )
    assert from_file.run_file == from_arguments.run_file
    assert from_file.epsilon <= 3 and from_file.facts["parameters"] == 650
    assert "<table>" in from_file._repr_html_() and "prdo" in repr(from_file)


def test_in_memory_records_are_a_files(command, tmp_path, blobs):
    x, y = blobs
    node = np.arange(len(y)) % 4
    np.savez(tmp_path / "data.npz", x=x, y=y, node=node)
    settings = {key: value for key, value in PRIVATE.items() if key != "graph"}
    from_file = prdo.Run(data={"source": "file", "path": tmp_path / "data.npz"}, graph="ring", **settings)
    from_memory = prdo.Run(data=(x, y, node), graph="ring", **settings)
    frame = pandas.DataFrame(x, columns=["a", "b", "c"]).assign(label=y, node=[f"hospital {i}" for i in node])
    from_table = prdo.Run(data=frame, graph="ring", **settings)
    results = [run.train(progress=False) for run in (from_file, from_memory, from_table)]
    assert from_memory.facts["nodes"] == 4 and from_memory.facts["test_records"] == 80
    for result in results[1:]:
        assert (result.models == results[0].models).all()
    assert 'source = "memory"' in results[1].run_file


def test_results_are_arrays_and_frames(blobs):
    x, y = blobs
    result = prdo.Run(data=(x[:300], y[:300]), test=(x[300:], y[300:]), **PRIVATE).train(progress=False)
    assert list(result.metrics["round"]) == [0, 5, 10, 15, 20]
    assert list(result.metrics.columns) == list(result.history)
    assert result.metrics["round"].dtype == np.int64
    assert result.models.shape == (4, 8) and np.allclose(result.models.mean(axis=0), result.average)
    assert result.test_accuracy > 0.9 and len(result.node_accuracy) == 4
    assert result.epsilon <= 4 and result.delta == 1e-5
    assert result.summary["loss"] == result.history["loss"][-1]
    assert "ε" in repr(result)


def test_labels_may_be_names_and_tensors_are_taken(blobs):
    class Tensor:
        """What torch's tensors look like."""

        def __init__(self, values):
            self.values = values

        def detach(self):
            return self

        def cpu(self):
            return self

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    x, y = blobs
    names = np.array(["no", "yes"])[y]
    by_name = prdo.Run(data=(x.tolist(), names), test=(x, names), **PRIVATE).train(progress=False)
    by_number = prdo.Run(data=(Tensor(x), Tensor(y)), test=(x, y), **PRIVATE).train(progress=False)
    assert (by_name.average == by_number.average).all()
    assert by_name.summary["class_names"] == ["no", "yes"]


def test_images_stay_bytes():
    random = np.random.default_rng(1)
    x = random.integers(0, 256, (64, 1, 8, 8), dtype=np.uint8)
    y = (x[:, 0, :, :4].mean(axis=(1, 2)) > x[:, 0, :, 4:].mean(axis=(1, 2))).astype(int)
    run = prdo.Run(
        data=(x, y),
        graph={"kind": "ring", "nodes": 4},
        model={"kind": "network", "layers": ["conv 4 3x3", "tanh", "dense 2"]},
        method={"name": "ed", "step_size": 0.1},
        rounds=3,
        set={"data.mean": [0.5], "data.deviation": [0.25]},
    )
    assert run.train(progress=False).models.shape[0] == 4


def test_comparisons_and_graphs(command):
    runs = {name: prdo.Run(data="digits", **{**PRIVATE, "method": {"name": name, "step_size": 0.5}}) for name in ("ed", "dsgd")}
    table = prdo.compare(runs, progress=False)
    assert list(table.index) == ["ed", "dsgd"] and (table["epsilon"] <= 4).all()
    ring = prdo.graph("ring", nodes=32)
    said = command("graph", "ring", "--nodes", 32, "--json")
    assert (ring.eigenvalue, ring.spectral_gap, ring.edges) == (said["lambda"], said["spectral_gap"], said["edges"])
    assert np.allclose(ring.matrix.sum(axis=0), 1) and (ring.matrix == ring.matrix.T).all()
    assert np.isclose(np.linalg.eigvalsh(ring.matrix)[-2], ring.eigenvalue)
    assert "<svg" in ring._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        ({"method": {"name": "prdo", "step_size": 0.5, "gamma": 1.5}}, "method.gamma", "above 0 and at most 1"),
        ({"method": {"name": "prod", "step_size": 0.5}}, "method.name", 'did you mean "prdo"'),
        ({"rounds": 0}, "rounds", "from 1 to"),
        ({"rounds": "many"}, "rounds", "a whole number"),
        ({"roundz": 3}, "roundz", 'did you mean "rounds"'),
        ({"set": {"method.gama": 0.1}}, "method.gama", 'did you mean "method.gamma"'),
        ({"privacy": {"epsilon": float("nan")}}, "privacy.epsilon", "above 0"),
        ({"graph": {"kind": "ring", "nodes": object()}}, "graph.nodes", "a number, text"),
        ({"batch": {"size": 10**6}}, "batch.size", "the smallest node"),
        ({"data": (np.zeros((4, 2)), np.zeros(3))}, "data: y.shape", "one label per record"),
        ({"data": (np.zeros(4), np.zeros(4))}, "data: X.shape", "(records, features)"),
        ({"data": (np.full((9, 2), np.nan), np.zeros(9))}, "data", "finite"),
        ({"data": (np.array([["a", "b"]]), [1])}, "data: X.dtype", "numbers"),
        ({"data": (np.full((4, 2), 1j), np.zeros(4))}, "data: X.dtype", "numbers"),
        ({"data": (np.array([["1", None]], dtype=object), [1])}, "data", "finite"),
        ({"data": 5}, "data", "(X, y)"),
        ({"data": pandas.DataFrame({"a": [1.0]})}, "label", "a column of data"),
        ({"data": pandas.DataFrame({"a": ["x"], "y": [1]})}, "data['a']", "encode it"),
        ({"data": (np.zeros((4, 2)), np.zeros(4), [0.5] * 4)}, "data: node.dtype", "whole numbers"),
        ({"model": 3}, "model", "prdo.PythonModel"),
        ({"data": "memory"}, "data.source", "records that a program holds"),
        ({"model": "own"}, "model.kind", "the model of a program"),
        ({"test": ([[1.0]], [1])}, "data", "records in memory"),
    ],
)
def test_bad_input_names_the_argument_and_what_is_allowed(arguments, field, words):
    with pytest.raises(prdo.InputError) as raised:
        prdo.Run(**{"data": "digits", **PRIVATE, **arguments})
    assert raised.value.field == field
    assert words in str(raised.value)
    assert "--set" not in str(raised.value) and "the arguments" not in str(raised.value)


def test_errors_of_a_run_file_show_its_line(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("rounds = 10\n[method]\nname = \"prdo\"\ngamma = 7\n")
    with pytest.raises(prdo.InputError, match=r"bad.toml:4:9") as raised:
        prdo.Run(path)
    assert (raised.value.field, raised.value.value) == ("method.gamma", "7")
    with pytest.raises(prdo.InputError, match="cannot read"):
        prdo.Run(tmp_path / "none.toml")


def test_folders_are_not_overwritten(tmp_path):
    run = prdo.Run(data="digits", **PRIVATE)
    result = run.train(tmp_path / "run", progress=False)
    before = (tmp_path / "run" / "metrics.csv").read_bytes()
    with pytest.raises(prdo.InputError, match="overwrite=True"):
        run.train(tmp_path / "run", progress=False)
    with pytest.raises(prdo.InputError, match="overwrite=True"):
        result.save(tmp_path / "run")
    assert (tmp_path / "run" / "metrics.csv").read_bytes() == before
    result.save(tmp_path / "run", overwrite=True)


def test_a_run_that_diverges_is_a_failure_of_the_work():
    run = prdo.Run(data={"source": "quadratic"}, graph={"kind": "ring", "nodes": 4}, rounds=2000, method={"name": "dsgd", "step_size": 1e6})
    with pytest.raises(prdo.RunError, match="step size"):
        run.train(progress=False)


def test_statements_are_kept(tmp_path):
    settings = {**PRIVATE, "privacy": {"epsilon": 4, "delta": 1e-5, "statement": tmp_path / "released.toml"}}
    first = prdo.Run(data="digits", **settings)
    first.train(progress=False)
    second = prdo.Run(data="digits", seed=2, **settings)
    assert second.facts["noise_multiplier"] > first.facts["noise_multiplier"]


def test_rows_are_told_and_what_a_callback_raises_ends_the_run():
    rows = []
    run = prdo.Run(data="digits", **PRIVATE)
    run.train(progress=True, callback=rows.append)
    assert [row["round"] for row in rows] == [0, 5, 10, 15, 20]

    def stop(row):
        if row["round"] == 10:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        run.train(progress=False, callback=stop)


def long_run():
    return prdo.Run(data={"source": "logistic", "records": 2000}, graph={"kind": "ring", "nodes": 8}, rounds=10**7, method={"name": "ed", "step_size": 0.01})


def test_control_c_stops_a_run():
    run = long_run()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run.train(progress=False)
    assert time.monotonic() - started < 10


def test_other_threads_run_meanwhile():
    ticks = []
    run = prdo.Run(data={"source": "logistic", "records": 2000}, graph={"kind": "ring", "nodes": 8}, rounds=300, method={"name": "ed", "step_size": 0.01}, metrics={"every": 300})
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.monotonic()
    run.train(progress=False)
    elapsed = time.monotonic() - started
    stop.set()
    thread.join()
    assert sum(started <= at <= started + elapsed for at in ticks) >= min(20, elapsed / 0.05)


def test_noise_in_pairs_says_against_whom_epsilon_is():
    run = prdo.Run(
        rounds=3,
        graph={"kind": "ring", "nodes": 4},
        data="digits",
        method={"name": "ed", "step_size": 0.1},
        batch={"size": 40},
        clip={"gradient": 1},
        privacy={"epsilon": 3, "delta": 1e-5, "noise": "pairs"},
    )
    assert run.facts["colluders"] == 1 and [size for size, _ in run.facts["epsilon_by_colluders"]] == [0, 1, 2, 3]
    assert "against outsiders and any one member together" in repr(run)
    result = run.train(progress=False)
    assert "against outsiders and any one member together" in repr(result)
    for shown in (run._repr_html_(), result._repr_html_()):
        assert "all others, or all keys lost" in shown and "pseudo-random" in shown
