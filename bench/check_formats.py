"""Holds a run's Parquet and TensorBoard files against its metrics.csv: `check_formats.py FOLDER`, the folder of a run
made with `--tensorboard` and given to `prdo export parquet`. Needs pandas, pyarrow and tensorboard."""
import pathlib
import sys

import numpy as np
import pandas as pd
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

folder = pathlib.Path(sys.argv[1])
metrics = pd.read_csv(folder / "metrics.csv")
parquet = pd.read_parquet(folder / "metrics.parquet")
pd.testing.assert_frame_equal(parquet.astype(float), metrics.astype(float))
events = EventAccumulator(str(folder / "tensorboard"))
events.Reload()
tags = events.Tags()["scalars"]
assert len(tags) == metrics.notna().any().sum() - 1, tags
for tag in tags:
    rows = events.Scalars(tag)
    column = metrics.set_index("round")[tag.split("/")[1]].dropna()
    assert [row.step for row in rows] == list(column.index), tag
    assert np.allclose([row.value for row in rows], column, rtol=1e-6), tag
print(f"{len(metrics)} rows are the same in CSV, Parquet and {len(tags)} TensorBoard scalars")
