"""The peers in PyTorch and Opacus. Each function here takes a problem and returns one to be timed, which returns the
sum over the batch as a list of tensors in prdo's order."""

import logging
import warnings

import numpy as np
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

import problem

CHUNK = 10


class Problem:
    """Both points, the batch, and whether the difference query adds its noise (a check leaves it out)."""

    def __init__(self, records, noise, dtype=torch.float32):
        as_tensors = lambda arrays: [torch.from_numpy(array).to(dtype) for array in arrays]
        self.current, self.previous = as_tensors(problem.current()), as_tensors(problem.previous())
        images, labels = problem.batch(records)
        self.images, self.labels = torch.from_numpy(images).to(dtype), torch.from_numpy(labels)
        self.noise = noise

    def chunks(self, size):
        return list(zip(self.images.split(size), self.labels.split(size)))

    def noised(self, sums):
        """The sums with the Gaussian noise of the difference query, in place."""
        if self.noise:
            for tensor in sums:
                tensor.add_(torch.randn_like(tensor), alpha=problem.NOISE_MULTIPLIER * problem.SENSITIVITY)
        return sums


def network(point):
    """vgg-small with these parameters."""
    layers = []
    for (out, into), pooled in zip(problem.CONVOLUTIONS, problem.POOLED):
        layers += [nn.Conv2d(into, out, 3, padding=1), nn.Tanh()] + [nn.MaxPool2d(2)] * pooled
    (out, into), (classes, _) = problem.DENSE
    module = nn.Sequential(*layers, nn.Flatten(), nn.Linear(into, out), nn.Tanh(), nn.Linear(out, classes))
    module = module.to(point[0].dtype)
    with torch.no_grad():
        for parameter, values in zip(module.parameters(), point):
            parameter.copy_(values)
    return module


def squares(gradients):
    """The square of each record's norm, for gradients with the records first."""
    return sum(tensor.flatten(1).square().sum(1) for tensor in gradients)


def clip_factors(square, bound):
    """min(1, bound/norm) of each record."""
    return (bound / square.sqrt().clamp(min=1e-30)).clamp(max=1.0)


def weighted_sum(factors, gradients):
    return [(factors @ tensor.flatten(1)).view(tensor.shape[1:]) for tensor in gradients]


def add(sums, terms):
    """Adds terms to sums, in place after the first time."""
    if sums is None:
        return terms
    for total, term in zip(sums, terms):
        total.add_(term)
    return sums


def difference_terms(now, before):
    """γ·clip(g) + (1 − γ)·clip(g − h) summed over the records of two lists of gradients. Overwrites `before`."""
    gradient = problem.GAMMA * clip_factors(squares(now), problem.CLIP_GRADIENT)
    differences = [torch.sub(g, h, out=h) for g, h in zip(now, before)]
    difference = (1 - problem.GAMMA) * clip_factors(squares(differences), problem.CLIP_DIFFERENCE)
    terms = weighted_sum(gradient, now)
    return add(terms, weighted_sum(difference, differences))


# --- no privacy: the sum of the gradients, for scale ---


def no_privacy(given):
    module = network(given.current).to(memory_format=torch.channels_last)
    images = given.images.to(memory_format=torch.channels_last)

    def run():
        module.zero_grad(set_to_none=True)
        F.cross_entropy(module(images), given.labels, reduction="sum").backward()
        return [parameter.grad for parameter in module.parameters()]

    return run


# --- Opacus ---


def quiet():
    """Opacus warns of its random generator and of hooks that PyTorch calls in another order; neither matters here."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)


def opacus_hooks(given):
    quiet()
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    module = GradSampleModule(network(given.current), loss_reduction="sum")
    inner = torch.optim.SGD(module.parameters(), lr=0.0)
    optimizer = DPOptimizer(
        inner,
        noise_multiplier=0.0,
        max_grad_norm=problem.CLIP_GRADIENT,
        expected_batch_size=None,
        loss_reduction="sum",
    )

    def run():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(module(given.images), given.labels, reduction="sum").backward()
        optimizer.clip_and_accumulate()
        return [parameter.summed_grad for parameter in optimizer.params]

    return run


def opacus_ghost(given):
    quiet()
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    module = GradSampleModuleFastGradientClipping(
        network(given.current), max_grad_norm=problem.CLIP_GRADIENT, use_ghost_clipping=True, loss_reduction="sum"
    )
    inner = torch.optim.SGD(module.parameters(), lr=0.0)
    optimizer = DPOptimizerFastGradientClipping(
        inner,
        noise_multiplier=0.0,
        max_grad_norm=problem.CLIP_GRADIENT,
        expected_batch_size=None,
        loss_reduction="sum",
    )
    criterion = DPLossFastGradientClipping(module, optimizer, nn.CrossEntropyLoss(reduction="sum"), "sum")

    def run():
        optimizer.zero_grad(set_to_none=True)
        criterion(module(given.images), given.labels).backward()
        return [parameter.grad for parameter in module.parameters()]

    return run


def opacus_difference(given):
    """Per-record gradients from one module a point; Opacus has no difference query, so the rest is by hand."""
    quiet()
    from opacus import GradSampleModule

    modules = [
        GradSampleModule(network(point), loss_reduction="sum") for point in (given.current, given.previous)
    ]

    def per_record(module):
        module.zero_grad(set_to_none=True)
        F.cross_entropy(module(given.images), given.labels, reduction="sum").backward()
        return [parameter.grad_sample for parameter in module.parameters()]

    def run():
        now, before = map(per_record, modules)
        return given.noised(difference_terms(now, before))

    return run


# --- vmap(grad), streamed ---


def per_record_by_vmap(given):
    """(parameters, images, labels) → gradients with the records first."""
    module = network(given.current)
    names = [name for name, _ in module.named_parameters()]

    def loss(values, image, label):
        logits = functional_call(module, dict(zip(names, values)), (image.unsqueeze(0),))
        return F.cross_entropy(logits, label.unsqueeze(0))

    return vmap(grad(loss), in_dims=(None, 0, 0))


def vmap_plain(given):
    gradients, chunks = per_record_by_vmap(given), given.chunks(CHUNK)

    def run():
        sums = None
        for images, labels in chunks:
            records = gradients(given.current, images, labels)
            sums = add(sums, weighted_sum(clip_factors(squares(records), problem.CLIP_GRADIENT), records))
        return sums

    return torch.no_grad()(run)


def vmap_difference(given):
    gradients, chunks = per_record_by_vmap(given), given.chunks(CHUNK)

    def run():
        sums = None
        for images, labels in chunks:
            now, before = (gradients(point, images, labels) for point in (given.current, given.previous))
            sums = add(sums, difference_terms(now, before))
        return given.noised(sums)

    return torch.no_grad()(run)


# --- by hand: im2col and one product a record for convolutions, outer products never formed for dense layers ---


def by_hand_pass(point, images, labels):
    """(convolutions, dense): for each layer its input and the gradient at its output, a record each. The input of a
    convolution is unfolded: [records, in·9, pixels]."""
    inputs, outputs, x = [], [], images
    last = len(problem.CONVOLUTIONS) + len(problem.DENSE) - 1
    for k in range(last + 1):
        weight, bias = point[2 * k], point[2 * k + 1]
        inputs.append(x.detach())
        if weight.dim() == 4:
            z = F.conv2d(x, weight, bias, padding=1)
        else:
            z = F.linear(x, weight, bias)
        # The first output is where autograd starts: it forms gradients of outputs, of no weight and not of the images.
        if not z.requires_grad:
            z.requires_grad_()
        outputs.append(z)
        x = z if k == last else z.tanh()
        if weight.dim() == 4 and problem.POOLED[k]:
            x = F.max_pool2d(x, 2)
        if k == len(problem.CONVOLUTIONS) - 1:
            x = x.flatten(1)
    gradients = torch.autograd.grad(F.cross_entropy(x, labels, reduction="sum"), outputs)
    layers = list(zip(inputs, gradients))
    return layers[: len(problem.CONVOLUTIONS)], layers[len(problem.CONVOLUTIONS) :]


def convolution_gradients(layers):
    """Of weight and bias of each convolution, the records first."""
    gradients = []
    for x, dz in layers:
        dz = dz.flatten(2)
        gradients += [torch.bmm(dz, F.unfold(x, 3, padding=1).transpose(1, 2)), dz.sum(2)]
    return gradients


def dot(a, b):
    return (a * b).sum(1)


def by_hand_plain(given):
    chunks = given.chunks(CHUNK)

    def run():
        sums = None
        for images, labels in chunks:
            convolutions, dense = by_hand_pass(given.current, images, labels)
            records = convolution_gradients(convolutions)
            square = squares(records) + sum(dot(dz, dz) * (1 + dot(x, x)) for x, dz in dense)
            factor = clip_factors(square, problem.CLIP_GRADIENT)
            terms = weighted_sum(factor, records)
            for x, dz in dense:
                terms += [(factor[:, None] * dz).T @ x, factor @ dz]
            sums = add(sums, terms)
        return [total.view(shape) for total, shape in zip(sums, problem.shapes())]

    return run


def by_hand_difference(given):
    chunks = given.chunks(CHUNK)

    def run():
        sums = None
        for images, labels in chunks:
            passes = [by_hand_pass(point, images, labels) for point in (given.current, given.previous)]
            sums = add(sums, by_hand_difference_terms(*passes))
        return given.noised([total.view(shape) for total, shape in zip(sums, problem.shapes())])

    return run


def by_hand_difference_terms(now, before):
    """As `difference_terms`. A dense layer's difference is dz⊗x − dz'⊗x' = Δz⊗x + dz'⊗Δx, whose norm and weighted
    sum need no outer product; and nothing cancels, as it would in ‖g‖² + ‖h‖² − 2⟨g, h⟩."""
    (convolutions, dense), (old_convolutions, old_dense) = now, before
    records, differences = convolution_gradients(convolutions), convolution_gradients(old_convolutions)
    differences = [torch.sub(g, h, out=h) for g, h in zip(records, differences)]
    pairs = [(x, dz, x - old_x, dz - old_dz, old_dz) for (x, dz), (old_x, old_dz) in zip(dense, old_dense)]

    square = squares(records) + sum(dot(dz, dz) * (1 + dot(x, x)) for x, dz in dense)
    gradient = problem.GAMMA * clip_factors(square, problem.CLIP_GRADIENT)
    square = squares(differences)
    for x, _, dx, ddz, old_dz in pairs:
        square = square + dot(ddz, ddz) * (1 + dot(x, x)) + dot(old_dz, old_dz) * dot(dx, dx)
        square = square + 2 * dot(ddz, old_dz) * dot(x, dx)
    difference = (1 - problem.GAMMA) * clip_factors(square, problem.CLIP_DIFFERENCE)

    terms = add(weighted_sum(gradient, records), weighted_sum(difference, differences))
    for x, dz, dx, ddz, old_dz in pairs:
        with_x = gradient[:, None] * dz + difference[:, None] * ddz
        terms += [with_x.T @ x + (difference[:, None] * old_dz).T @ dx, with_x.sum(0)]
    return terms


def reference(given, kind):
    """In the problem's own precision, by vmap: what the others are held against."""
    run = {"none": no_privacy, "plain": vmap_plain, "difference": vmap_difference}[kind](given)
    return [np.asarray(tensor.detach()) for tensor in run()]
