"""What one could take instead of hardmax on a processor: the same layer, by others."""

# The peers are not part of the development environment.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportCallIssue=false
from importlib.util import find_spec

import faiss
import numpy as np
import torch
from numba import njit, prange
from scipy.spatial import ConvexHull


def loop(tokens, layers):
    """The layer as a triple loop over one cloud, as one would first write it."""
    for _ in range(layers):
        moved = []
        for z in tokens:
            scores = [float(z @ other) for other in tokens]
            best = max(scores)
            chosen = [tokens[j] for j, score in enumerate(scores) if score == best]
            moved.append((z + 0.5 * np.mean(chosen, axis=0)) / 1.5)
        tokens = np.array(moved)
    return tokens


def vectorised(batch, layers):
    """The layer for a stack of clouds in torch: scores, their maximum, the mean of those who reach
    it."""
    for _ in range(layers):
        scores = batch @ batch.transpose(1, 2)
        chosen = (scores == scores.amax(dim=2, keepdim=True)).to(batch.dtype)
        batch = (batch + 0.5 * (chosen @ batch) / chosen.sum(dim=2, keepdim=True)) / 1.5
    return batch


def vectorised_in_parts(batch, layers):
    """The same a few clouds at a time, so that scores stay near the cores."""
    return torch.cat([vectorised(part, layers) for part in batch.split(64)])


@njit(parallel=True, cache=True)
def plain_kernel(batch, layers):
    """The triple loop, compiled, the clouds in parallel."""
    clouds, n, d = batch.shape
    batch = batch.copy()
    for cloud in prange(clouds):
        tokens = batch[cloud]
        for _ in range(layers):
            moved = np.empty((n, d))
            for i in range(n):
                best, count, total = -np.inf, 0, np.zeros(d)
                for j in range(n):
                    score = 0.0
                    for axis in range(d):
                        score += tokens[i, axis] * tokens[j, axis]
                    if score > best:
                        best, count = score, 0
                        total[:] = 0.0
                    if score == best:
                        count += 1
                        total += tokens[j]
                moved[i] = (tokens[i] + 0.5 * total / count) / 1.5
            tokens[:] = moved
    return batch


def hull_and_angles(points):
    """One layer in the plane as a good user of numpy writes it: a convex hull, and a search by
    angle."""
    hull = ConvexHull(points).vertices  # counter-clockwise
    corners = points[hull]
    edges = np.roll(corners, -1, axis=0) - corners
    normals = np.arctan2(-edges[:, 0], edges[:, 1])
    order = np.argsort(normals)
    # Between the normals of two edges, the corner that they share is the furthest: the start of the
    # second.
    after = np.searchsorted(normals[order], np.arctan2(points[:, 1], points[:, 0]))
    winners = hull[order[after % len(order)]]
    return winners, (points + 0.5 * points[winners]) / 1.5


def hull_and_product(points):
    """Everybody's best inner product as a good user of scipy finds it: only corners of the convex
    hull can be furthest."""
    corners = ConvexHull(points).vertices
    return corners[(points @ points[corners].T).argmax(axis=1)]


def flat_pass(points):
    """Everybody's best inner product by FAISS, brute force."""
    index = faiss.IndexFlatIP(points.shape[1])
    index.add(points)
    return lambda: index.search(points, 1)[1].ravel()


def blocked(points):
    """The same in torch: products in blocks, and their maxima."""
    tensor = torch.from_numpy(points)
    return lambda: torch.cat(
        [(block @ tensor.T).max(dim=1).indices for block in tensor.split(1024)]
    ).numpy()


def keops(points):
    """The same by KeOps, or None where it is not installed."""
    if find_spec("pykeops") is None:
        print("KeOps is left out: pip install -c constraints.txt pykeops")
        return None
    from pykeops.numpy import LazyTensor

    rows, columns = LazyTensor(points[:, None, :]), LazyTensor(points[None, :, :])
    return lambda: (rows * columns).sum(-1).argmax(dim=1).ravel()
