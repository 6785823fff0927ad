"""Tables as people have them, for k-NN beside its peers: where the rows lie decides what a search costs.

Each function gives queries and points of one distribution, rows of single precision, from a NumPy generator.
"""

try:
    import numpy
except ImportError:
    numpy = None  # whoever draws asks for it first


def uniform(generator, queries, points, dims):
    """Uniform from -1 to 1: what nobody has."""
    return [generator.uniform(-1, 1, (count, dims)) for count in (queries, points)]


def _around(generator, queries, points, centres, spread):
    """Rows around centres drawn at random."""
    return [centres[generator.integers(0, len(centres), count)] + spread(count) for count in (queries, points)]


def clusters(generator, queries, points, dims):
    """64 clusters: centres uniform from 0 to 10, rows uniform within 1 of theirs."""
    centres = generator.uniform(0, 10, (64, dims))
    return _around(generator, queries, points, centres, lambda count: generator.uniform(0, 1, (count, dims)))


def far_clusters(generator, queries, points, dims):
    """32 tight clusters far from each other and from zero: deviations of 1, centres 1,000 apart."""
    centres = 10_000 + 1000 * generator.standard_normal((32, dims))
    return _around(generator, queries, points, centres, lambda count: generator.standard_normal((count, dims)))


def directions(generator, queries, points, dims):
    """Unit vectors around 256 directions, as embeddings of texts lie."""
    centres = generator.standard_normal((256, dims))
    rows = _around(generator, queries, points, centres, lambda count: 0.7 * generator.standard_normal((count, dims)))
    return [row / numpy.linalg.norm(row, axis=1, keepdims=True) for row in rows]


def images(generator, queries, points, dims):
    """Grey levels 0 to 255 of ten kinds of pictures, four fifths of them zero."""
    kinds = generator.uniform(0, 1, (10, dims)) < 0.25
    rows = []
    for count in (queries, points):
        ink = kinds[generator.integers(0, 10, count)] & (generator.uniform(0, 1, (count, dims)) < 0.8)
        rows.append(numpy.where(ink, generator.integers(1, 256, (count, dims)), 0))
    return rows


def duplicates(generator, queries, points, dims):
    """Each point as often as 40 times."""
    distinct = generator.uniform(-1, 1, (max(points // 40, 1), dims))
    return [generator.uniform(-1, 1, (queries, dims)), distinct[generator.integers(0, len(distinct), points)]]


def outlier(generator, queries, points, dims):
    """Uniform but for one cell of 1e15."""
    rows = uniform(generator, queries, points, dims)
    rows[1][points // 3, dims // 2] = 1e15
    return rows


def places(generator, queries, points, dims):
    """Latitude and longitude (and, beyond, heights) around 1,000 towns, in degrees."""
    towns = generator.uniform(-1, 1, (1000, dims)) * numpy.resize([60, 180], dims)
    return _around(generator, queries, points, towns, lambda count: 0.05 * generator.standard_normal((count, dims)))


def times(generator, queries, points, dims):
    """A time stamp in seconds, beside numbers of everyday size."""
    rows = [10 * generator.standard_normal((count, dims)) for count in (queries, points)]
    for row in rows:
        row[:, 0] = 1.7e9 + generator.uniform(0, 3e7, len(row))
    return rows


KINDS = {kind.__name__: kind for kind in
         (uniform, clusters, far_clusters, directions, images, duplicates, outlier, places, times)}


def drawn(kind, seed, queries, points, dims):
    """Queries and points of a kind, contiguous single precision."""
    rows = KINDS[kind](numpy.random.default_rng(seed), queries, points, dims)
    return [numpy.ascontiguousarray(row, numpy.float32) for row in rows]
