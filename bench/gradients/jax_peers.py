"""The peers in JAX, compiled. Images are [record, y, x, channel], the layout XLA's CPU convolutions are made for."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import problem


class Problem:
    """Both points, the batch, and whether the difference query adds its noise (a check leaves it out)."""

    def __init__(self, records, noise):
        as_arrays = lambda arrays: [jnp.asarray(inner(array)) for array in arrays]
        self.current, self.previous = as_arrays(problem.current()), as_arrays(problem.previous())
        images, labels = problem.batch(records)
        self.images, self.labels = jnp.asarray(images.transpose(0, 2, 3, 1)), jnp.asarray(labels)
        self.noise = noise


def inner(array):
    """prdo's tensor as used here: convolutions [y, x, in, out]; the rows of the first dense layer still count
    channel, y, x, and `loss` brings its input into that order."""
    return array.transpose(2, 3, 1, 0) if array.ndim == 4 else array


def outer(array):
    """The inverse of `inner`."""
    return array.transpose(3, 2, 0, 1) if array.ndim == 4 else array


def loss(point, image, label):
    """Of one record."""
    x = image[None]
    for k, pooled in enumerate(problem.POOLED):
        weight, bias = point[2 * k], point[2 * k + 1]
        x = jnp.tanh(lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias)
        if pooled:
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = x[0].transpose(2, 0, 1).ravel()
    w1, b1, w2, b2 = point[2 * len(problem.POOLED) :]
    logits = w2 @ jnp.tanh(w1 @ x + b1) + b2
    return jax.nn.logsumexp(logits) - logits[label]


per_record = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))


def weighted_sum(gradients, bound):
    """Σ clip(g) over the records."""
    square = sum(jnp.sum(jnp.square(g), axis=range(1, g.ndim)) for g in gradients)
    factor = jnp.minimum(1.0, bound / jnp.maximum(jnp.sqrt(square), 1e-30))
    return [jnp.tensordot(factor, g, 1) for g in gradients]


def vmap_plain(given):
    @jax.jit
    def step(point, images, labels):
        return weighted_sum(per_record(point, images, labels), problem.CLIP_GRADIENT)

    return lambda: jax.block_until_ready(step(given.current, given.images, given.labels))


def vmap_difference(given):
    deviation = problem.NOISE_MULTIPLIER * problem.SENSITIVITY

    @jax.jit
    def step(point, old_point, images, labels, key):
        now, before = (per_record(p, images, labels) for p in (point, old_point))
        gradient = weighted_sum(now, problem.CLIP_GRADIENT)
        difference = weighted_sum([g - h for g, h in zip(now, before)], problem.CLIP_DIFFERENCE)
        total = [problem.GAMMA * g + (1 - problem.GAMMA) * d for g, d in zip(gradient, difference)]
        if not given.noise:
            return total
        keys = jax.random.split(key, len(total))
        return [t + deviation * jax.random.normal(k, t.shape) for t, k in zip(total, keys)]

    rounds = iter(range(2**31))

    def run():
        key = jax.random.key(next(rounds))
        return jax.block_until_ready(step(given.current, given.previous, given.images, given.labels, key))

    return run


def privacy_plain(given):
    from jax_privacy import clipping

    clipped = clipping.clipped_grad(
        loss, l2_clip_norm=problem.CLIP_GRADIENT, batch_argnums=(1, 2), keep_batch_dim=False
    )
    step = jax.jit(clipped)
    return lambda: jax.block_until_ready(step(given.current, given.images, given.labels))


def in_prdos_order(sums):
    return [outer(np.asarray(array)) for array in sums]
