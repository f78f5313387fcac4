"""Weights of flexes against functions that they must reproduce, and against a search of the nearest point."""

from itertools import product

import numpy as np
from contact_viewer.mjmodel.flexes import _on_shell, closest_weights


def test_a_shell_reproduces_what_is_linear_along_any_one_axis_inside() -> None:
    """The faces across an axis determine such a function, whatever it does along the others."""
    last = np.array([4, 3, 5])
    nodes = np.array(list(product(*(range(end + 1) for end in last))))[np.newaxis]
    weights = np.random.default_rng(1).normal(size=nodes.shape[:2])
    shell, shell_weights = _on_shell(nodes, weights, last)
    inside = ((shell > 0) & (shell < last)).all(axis=-1)
    assert inside.any()
    assert not shell_weights[inside].any()
    for powers in ((0, 0, 0), (1, 2, 3), (3, 1, 2), (2, 4, 1), (1, 1, 1), (0, 3, 3)):
        before, after = (
            (weight * np.prod(np.power(node, powers), axis=-1)).sum()
            for node, weight in ((nodes, weights), (shell, shell_weights))
        )
        np.testing.assert_allclose(after, before, rtol=1e-9)


def test_the_nearest_point_of_a_triangle_is_nearer_than_all_others() -> None:
    rng = np.random.default_rng(2)
    corners, points = rng.normal(size=(40, 3, 3)), 1.5 * rng.normal(size=(40, 3))
    allowed = np.ones((40, 3), bool)
    allowed[30:, 1] = False
    weights = closest_weights(corners, points, allowed)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights >= 0).all()
    assert not weights[~allowed].any()
    found = np.linalg.norm(np.einsum("kn,kni->ki", weights, corners) - points, axis=1)
    shares = np.array([(i, j, 20 - i - j) for i in range(21) for j in range(21 - i)]) / 20
    tried = np.linalg.norm(np.einsum("gn,kni->kgi", shares, corners) - points[:, np.newaxis], axis=2)
    tried[30:, shares[:, 1] > 0] = np.inf
    assert (found <= tried.min(axis=1) + 1e-12).all()
    assert (found > tried.min(axis=1) - 0.1).all()
