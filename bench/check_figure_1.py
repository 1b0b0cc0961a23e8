"""Holds the results of `prdo reproduce figure-1 --json` against what the experiment must show."""
import json
import sys

results = json.load(open(sys.argv[1]))
full, mini = results["full_batch"], results["minibatch"]
baselines = [v for k, v in mini["late_grad_norm"].items() if k != "prdo"]
checks = [
    ("PRDO and ED agree to 1e-10 at every round", full["prdo_vs_ed_max_relative"] <= 1e-10),
    ("ED ends below 1e-8", full["final_grad_norm"]["ed"] < 1e-8),
    ("D-GD stays above 1e-3", full["final_grad_norm"]["dsgd"] > 1e-3),
    ("five paired streams", mini["streams"] == 5),
    ("PRDO is at most 0.8 of the best baseline", mini["late_grad_norm"]["prdo"] <= 0.8 * min(baselines)),
]
for what, holds in checks:
    print(("holds  " if holds else "FAILS  ") + what)
print(f"{results['seconds']:.1f} s; PRDO over best baseline {mini['late_grad_norm']['prdo'] / min(baselines):.3f}")
sys.exit(0 if all(holds for _, holds in checks) else 1)
