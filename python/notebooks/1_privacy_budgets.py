# %% [markdown]
# # Privacy budgets
#
# How much noise does a training need so that no single record can be told from its absence? This notebook asks the
# accountant, before any record is touched.
#
# A *plan* is a number of rounds, a sampling rate (the probability with which each record is in a round's batch) and a noise
# multiplier (the noise's standard deviation over the most that one record can contribute). Its cost is ε at a δ.

# %%
import prdo

plan = dict(rate="100/4500", rounds=9500, delta=1e-5)
noise = prdo.privacy.noise(epsilon=4, **plan)
noise

# %% [markdown]
# The same plan the other way round: what does that noise cost? The exact ε is proven to lie between `lower` and `epsilon`;
# `epsilon` is the one to quote.

# %%
cost = prdo.privacy.epsilon(noise=float(noise), **plan)
assert cost.lower <= cost.epsilon <= 4
cost

# %% [markdown]
# Rényi accountants give upper bounds too, but looser ones: the same budget then needs more noise.

# %%
by_accountant = {name: float(prdo.privacy.noise(epsilon=4, accountant=name, **plan)) for name in ("prv", "rdp", "rdp-paper")}
assert by_accountant["prv"] < by_accountant["rdp"] <= by_accountant["rdp-paper"]
by_accountant

# %% [markdown]
# ## One setting at a time
#
# ε grows with the number of rounds, and falls with noise:

# %%
prdo.privacy.curve("rounds", rate="100/4500", noise=1.0, rounds=9500, delta=1e-5, points=15)

# %%
curve = prdo.privacy.curve("noise", rate="100/4500", noise=1.0, rounds=9500, delta=1e-5, points=9)
curve.frame()

# %% [markdown]
# ## How many rounds does a budget buy?

# %%
rounds = prdo.privacy.rounds(rate=0.02, noise=1.0, epsilon=2, delta=1e-6)
assert float(prdo.privacy.epsilon(0.02, 1.0, rounds.rounds + 1, 1e-6)) > 2
rounds

# %% [markdown]
# ## A budget in a run
#
# In a run the budget is a setting; the noise follows from it, from the batch and from the smallest node's records. Nothing
# is trained yet here.

# %%
run = prdo.Run(
    data="digits",
    graph={"kind": "ring", "nodes": 8},
    rounds=200,
    method={"name": "prdo", "step_size": 1.0, "gamma": 0.2},
    batch={"size": 60},
    clip={"gradient": 1.0, "difference": 0.2},
    privacy={"epsilon": 4, "delta": 1e-5},
    metrics={"every": 20},
)
run

# %%
result = run.train(progress=False)
assert result.epsilon <= 4
result

# %% [markdown]
# What is out of range is refused, with the argument's name and what is allowed:

# %%
try:
    prdo.privacy.epsilon(rate="5/4", noise=1.0, rounds=100, delta=1e-5)
except prdo.InputError as error:
    print(error)
