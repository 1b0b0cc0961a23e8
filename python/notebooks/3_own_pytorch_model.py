# %% [markdown]
# # Your own PyTorch model
#
# `torch.func` gives per-record gradients of a module; the gate clips, adds and noises them as those of any model. The module
# here is the paper's CNN for CIFAR-10 (550,570 parameters), on a part of the bundled digits blown up to 3 × 32 × 32, so that
# it runs in a minute on a small machine. `examples/torch_model.py` has the same on CIFAR-10.

# %%
import sys

import numpy as np
import prdo
import torch

sys.path.insert(0, "../examples")
from torch_model import vgg_small

torch.manual_seed(0)
module = vgg_small()
sum(parameter.numel() for parameter in module.parameters())

# %% [markdown]
# `torch_model` wraps the module. What it does is short: flatten the parameters, and
# `vmap(grad_and_value(loss_of_one_record), in_dims=(None, 0, 0))`. Before training it is tried on a few records: gradients
# of a batch must be those of the records one by one.

# %%
model = prdo.torch_model(module, transform=lambda images: (images - 0.5) / 0.25)
model

# %%
from sklearn.datasets import load_digits

images, labels = load_digits(return_X_y=True)
images = np.kron(images.reshape(-1, 1, 8, 8)[:600] * 14, np.ones((1, 3, 4, 4)))
# A little noise: max pooling of flat areas has ties, which rounding then decides, differently in different company.
images = (images + np.random.default_rng(0).integers(0, 30, images.shape)).astype(np.uint8)
labels = labels[:600]
images.shape, prdo.check_model(model, images, labels)

# %%
run = prdo.Run(
    data=(images, labels),
    model=model,
    graph={"kind": "ring", "nodes": 4},
    rounds=6,
    method={"name": "prdo", "step_size": 0.5, "gamma": 0.5},
    batch={"size": 24},
    clip={"gradient": 1.0, "difference": 0.5},
    privacy={"epsilon": 8, "delta": 1e-4},
    metrics={"every": 3, "records": 16},
)
run

# %%
result = run.train(progress=False)
result

# %% [markdown]
# ## What is refused
#
# A batch normalisation makes every record's gradient depend on the others: clipping then bounds nothing.

# %%
try:
    prdo.torch_model(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10), torch.nn.BatchNorm1d(10)))
except prdo.InputError as error:
    print(error)

# %%
# The same by hand: a loss that is a mean over the batch.
mean_of_batch = prdo.PythonModel(
    model.dimension,
    lambda x, X, y: (lambda losses, gradients: (losses, gradients / len(X)))(*model.per_record(x, X, y)),
    start=model.start,
)
try:
    prdo.check_model(mean_of_batch, images, labels)
except prdo.InputError as error:
    print(error)
