# %% [markdown]
# # The paper's first figure
#
# Five decentralized methods on a ring of 32 nodes whose records differ from node to node (heterogeneous logistic
# regression, 2000 records of 20 features per node, step size 1, no privacy). `prdo reproduce figure-1` makes the figure with
# five streams per method; here each method runs once.

# %%
import prdo

METHODS = {"prdo": "PRDO", "ed": "Exact Diffusion", "edm": "EDM", "mt": "Momentum Tracking", "dsgd": "D-SGD"}


def train(method, **settings):
    parameters = {"prdo": {"gamma": 0.1}, "edm": {"beta": 0.9}, "mt": {"beta": 0.9}}.get(method, {})
    return prdo.Run(
        data={"source": "logistic", "records": 2000, "dimension": 20, "heterogeneity": 0.2, "test": 0},
        graph={"kind": "ring", "nodes": 32},
        model={"kind": "logistic", "regularization": 0.001},
        method={"name": method, "step_size": 1.0, **parameters},
        rounds=600,
        metrics={"every": 5},
        **settings,
    ).train(progress=False)


prdo.graph("ring", nodes=32)

# %% [markdown]
# ## Full gradients
#
# PRDO, Exact Diffusion and EDM go down to rounding; Momentum Tracking is on its way; D-SGD stays where the differences
# between nodes leave it.

# %%
full = {method: train(method) for method in METHODS}
prdo.plot(
    {METHODS[m]: (r.history["round"], r.history["grad_norm"]) for m, r in full.items()},
    title="Full gradients", y="gradient norm at the average", log_y=True,
)

# %%
last = {method: result.history["grad_norm"][-1] for method, result in full.items()}
assert all(last[method] < 1e-8 for method in ("prdo", "ed", "edm")) and last["mt"] < last["dsgd"], last
# With full gradients PRDO is Exact Diffusion: the recursion's differences add up to the gradient itself.
difference = abs(full["prdo"].average - full["ed"].average).max()
assert difference < 1e-10
last, difference

# %% [markdown]
# ## Minibatches
#
# Batches of 16 records; PRDO's first round uses all. Its recursion over differences of the same records' gradients takes
# the sampling noise down.

# %%
stochastic = {
    method: train(method, batch={"size": 16, "first": 2000} if method == "prdo" else {"size": 16}) for method in METHODS
}
prdo.plot(
    {METHODS[m]: (r.history["round"], r.history["grad_norm"]) for m, r in stochastic.items()},
    title="Minibatches of 16", y="gradient norm at the average", log_y=True,
)

# %%
late = {
    method: result.history["grad_norm"][result.history["round"] >= 500].mean() for method, result in stochastic.items()
}
assert late["prdo"] == min(late.values()), late
late
