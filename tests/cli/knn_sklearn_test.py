"""`espalier knn` against scikit-learn's k-NN on scikit-learn's own tables.

usage: knn_sklearn_test.py <espalier> <folder of scikit-learn's data sets>

Both see the same rows; the random split is made here a second time, from its documentation. Distances are
computed here in double precision, as the command computes them. Where the k-th neighbour is as near as the
next one, scikit-learn takes any of them and espalier the first in the table: there, and only there, the two
may differ, and then espalier must follow its own rule.
"""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import OneHotEncoder, StandardScaler

try:
    import matplotlib
    SAMPLES = pathlib.Path(matplotlib.get_data_path()) / "sample_data"
except ImportError:
    SAMPLES = None

PROGRAM, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
DOUBLE = 1e-7  # relative error of a distance that scikit-learn expands into squares and a product, generously
SEEDS = (2, 3)  # with which no prediction hangs on a tie, not even for iris with its one decimal
METRICS = ("euclidean", "manhattan", "chebyshev", "cosine")


def read(name):
    """Attributes and class numbers of one of scikit-learn's tables."""
    path = DATA / name
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        rows = list(csv.reader(file))
    if name != "digits.csv.gz":
        rows = rows[1:]
    values = np.array(rows, dtype=float)
    return values[:, :-1], values[:, -1].astype(int)


def random_split(count, fraction, seed):
    """The documented split: Fisher-Yates driven by SplitMix64."""
    mask = (1 << 64) - 1
    state = seed

    def next_number():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = next_number() % (i + 1)
        order[i], order[j] = order[j], order[i]
    cut = int(np.floor(fraction * count + 0.5))
    return np.array(sorted(order[cut:])), np.array(sorted(order[:cut]))


def nearest(distances, k):
    """The documented rule: by distance, then by row. A stable sort does that."""
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


def same_within_ties(theirs, ours, distances, k, relative=DOUBLE):
    """Whether two neighbour sets of one query differ only where distances tie."""
    last = np.sort(distances)[k - 1]
    different = set(theirs) ^ set(ours)
    return all(abs(distances[i] - last) <= relative * last + 2e-15 for i in different)


class Run:
    """One run of the program on a test table, with its predictions and neighbours as arrays."""

    def __init__(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder) / "predictions.csv"
            finished = subprocess.run(
                [PROGRAM, "knn", "--json", "--neighbours", "-o", str(output), *map(str, arguments)],
                capture_output=True, text=True)
            if finished.returncode != 0:
                raise AssertionError(finished.stderr)
            self.summary = json.loads(finished.stdout)
            with open(output) as file:
                table = list(csv.reader(file))
        self.header, rows = table[0], table[1:]
        self.rows = np.array([int(row[0]) - 1 for row in rows])
        self.predicted = [row[1] for row in rows]
        first = self.header.index("neighbour_1")
        self.neighbours = np.array([[int(cell) - 1 for cell in row[first::2]] for row in rows])
        self.distances = np.array([[float(cell) for cell in row[first + 1::2]] for row in rows])


class AgainstScikitLearn(unittest.TestCase):
    TABLES = ("digits.csv.gz", "iris.csv", "wine_data.csv", "breast_cancer.csv")

    def compare(self, name, train, test, k, metric, weights, *arguments):
        values, classes = read(name)
        run = Run("--data", DATA / name, "--k", k, "--metric", metric, "--weights", weights, *arguments)
        np.testing.assert_array_equal(run.rows, test)
        self.assertEqual(run.summary["train_rows"], len(train))

        model = KNeighborsClassifier(k, metric=metric, weights=weights, algorithm="brute")
        model.fit(values[train], classes[train])
        theirs = model.predict(values[test])
        their_sets = model.kneighbors(return_distance=False, X=values[test])
        distances = pairwise_distances(values[test], values[train], metric)
        np.testing.assert_allclose(np.take_along_axis(distances, np.searchsorted(train, run.neighbours), 1),
                                   run.distances, rtol=1e-7, atol=1e-12)

        ours = np.array([int(p) if p.isdigit() else self.class_names(name).index(p) for p in run.predicted])
        ties = 0
        for i in range(len(test)):
            our_set = np.searchsorted(train, run.neighbours[i])
            self.assertTrue(same_within_ties(their_sets[i], our_set, distances[i], k),
                            f"{name} row {test[i]}: neighbours {their_sets[i]} and {our_set}")
            if ours[i] == theirs[i]:
                continue
            self.assertNotEqual(set(their_sets[i]), set(our_set), f"{name} row {test[i]}: the same neighbours, "
                                f"but {ours[i]} instead of {theirs[i]}")
            ties += 1
        if weights == "uniform":
            votes = classes[run.neighbours]
            expected = [np.bincount(row).argmax() for row in votes]  # the smallest class of a tie
            np.testing.assert_array_equal(ours, expected)
        correct = int(np.sum(ours == classes[test]))
        self.assertEqual(run.summary["correct"], correct)
        self.assertEqual(run.summary["accuracy"], correct / len(test))
        if ties == 0:
            self.assertEqual(run.summary["accuracy"], model.score(values[test], classes[test]))
        self.assertLessEqual(ties, 1 + len(test) // 20, "ties explain a few differences only")
        return run, ties

    @staticmethod
    def class_names(name):
        with open(DATA / name) as file:
            return next(csv.reader(file))[2:]

    def test_head_and_tail(self):
        for name in self.TABLES:
            count = len(read(name)[1])
            held_out = count * 3 // 10
            for k in (1, 5, 20):
                with self.subTest(table=name, k=k):
                    self.compare(name, np.arange(count - held_out), np.arange(count - held_out, count), k,
                                 "euclidean", "uniform", "--test-rows", held_out)

    def test_the_documented_random_split(self):
        for name in self.TABLES:
            for seed in SEEDS:
                train, test = random_split(len(read(name)[1]), 0.3, seed)
                with self.subTest(table=name, seed=seed):
                    _, ties = self.compare(name, train, test, 5, "euclidean", "uniform", "--seed", seed)
                    self.assertEqual(ties, 0)

    def test_metrics_and_weights(self):
        for name in self.TABLES:
            train, test = random_split(len(read(name)[1]), 0.25, 7)
            for metric in METRICS:
                for weights in ("uniform", "distance"):
                    with self.subTest(table=name, metric=metric, weights=weights):
                        self.compare(name, train, test, 4, metric, weights, "--seed", 7, "--split", 0.25)

    def test_equally_near_rows_are_taken_in_their_order(self):
        # Digits are whole numbers: distances tie often, and exactly.
        values, _ = read("digits.csv.gz")
        train, test = random_split(len(values), 0.3, 1)
        squares = ((values[test][:, None, :] - values[train][None, :, :]) ** 2).sum(axis=2)
        for k in (1, 7, 30):
            run = Run("--data", DATA / "digits.csv.gz", "--k", k)
            np.testing.assert_array_equal(np.searchsorted(train, run.neighbours), nearest(squares, k))

    def test_a_tied_vote_goes_to_the_first_class(self):
        # Two neighbours with one vote each; scikit-learn's mode takes the smallest class too.
        values, classes = read("digits.csv.gz")
        train, test = random_split(len(values), 0.3, 1)
        run = Run("--data", DATA / "digits.csv.gz", "--k", 2)
        pairs = classes[run.neighbours]
        self.assertGreater(np.sum(pairs[:, 0] != pairs[:, 1]), 5)
        np.testing.assert_array_equal(np.array(run.predicted, dtype=int), pairs.min(axis=1))

    def test_every_device_and_chunk_gives_the_same(self):
        arguments = ("--data", DATA / "digits.csv.gz", "--k", 3, "--test-rows", 60)
        whole = Run(*arguments, "--device", "cpu")
        for extra in (("--device", "cpu", "--memory", "2MB"), ("--device", "auto")):
            other = Run(*arguments, *extra)
            self.assertEqual(other.predicted, whole.predicted)
            np.testing.assert_array_equal(other.neighbours, whole.neighbours)


class Regression(unittest.TestCase):
    def test_diabetes(self):
        with gzip.open(DATA / "diabetes_data_raw.csv.gz", "rt") as file:
            attributes = [line.split() for line in file]
        with gzip.open(DATA / "diabetes_target.csv.gz", "rt") as file:
            targets = [float(line) for line in file]
        values = np.array(attributes, dtype=float)
        train, test = random_split(len(values), 0.3, 1)
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "diabetes.csv"
            table.write_text("".join(" ".join(row) + f" {target}\n" for row, target in zip(attributes, targets)))
            for weights in ("uniform", "distance"):
                for k in (1, 10):
                    with self.subTest(weights=weights, k=k):
                        run = Run("--data", table, "--delimiter", " ", "--regression", "--k", k, "--weights", weights)
                        model = KNeighborsRegressor(k, weights=weights, algorithm="brute")
                        model.fit(values[train], np.array(targets)[train])
                        np.testing.assert_allclose(np.array(run.predicted, dtype=float), model.predict(values[test]),
                                                   rtol=1e-12)
                        self.assertAlmostEqual(run.summary["r_squared"],
                                               model.score(values[test], np.array(targets)[test]), places=12)


class WhatFloatsCannotHold(unittest.TestCase):
    """Tables of magnitudes that single precision rounds: the answers are those of double precision."""

    def setUp(self):
        random = np.random.default_rng(16)
        self.train, self.test = np.arange(900), np.arange(900, 1200)
        self.classes = random.integers(0, 3, size=1200)
        self.seconds = random.integers(1_500_000_000, 1_700_000_000, size=(1200, 1)).astype(float)
        self.metres = np.column_stack([random.uniform(455e3, 465e3, 1200), random.uniform(5.40e6, 5.41e6, 1200)])
        directions = np.array([1, 2, 3]) * (1 + random.uniform(-1e-4, 1e-4, size=(1200, 3)))
        self.parallel = directions * random.uniform(1, 1000, size=(1200, 1))

    def run_on(self, values, labels, k, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "table.csv"
            table.write_text("".join(",".join(map(repr, map(float, row))) + f",{label}\n"
                                     for row, label in zip(values, labels)))
            return Run("--data", table, "--test-rows", len(self.test), "--k", k, *arguments)

    def test_classes(self):
        for name, values in (("seconds", self.seconds), ("metres", self.metres), ("parallel", self.parallel)):
            metric = "cosine" if name == "parallel" else "euclidean"
            for k in (1, 5):
                with self.subTest(table=name, k=k):
                    run = self.run_on(values, self.classes, k, "--metric", metric)
                    # Trees subtract coordinates; brute force would expand the square and lose what is asked for.
                    model = KNeighborsClassifier(k, metric=metric, algorithm="brute" if metric == "cosine" else "kd_tree")
                    model.fit(values[self.train], self.classes[self.train])
                    theirs = model.predict(values[self.test])
                    their_distances, their_sets = model.kneighbors(values[self.test])
                    distances = pairwise_distances(values[self.test], values[self.train],
                                                   "cosine" if metric == "cosine" else "cityblock")
                    if name == "metres":
                        distances = np.hypot(*(values[self.test, None] - values[None, self.train]).transpose(2, 0, 1))
                    np.testing.assert_allclose(run.distances, their_distances, rtol=1e-12, atol=1e-15)
                    ties = 0
                    for i in range(len(self.test)):
                        self.assertTrue(same_within_ties(their_sets[i], run.neighbours[i], distances[i], k))
                        if int(run.predicted[i]) != theirs[i]:
                            self.assertNotEqual(set(their_sets[i]), set(run.neighbours[i]))
                            ties += 1
                    self.assertLessEqual(ties, 3)

    def test_labels(self):
        targets = 1_700_000_001 + 2 * np.arange(1200)
        run = self.run_on(self.metres, targets, 1, "--regression")
        model = KNeighborsRegressor(1).fit(self.metres[self.train], targets[self.train])
        theirs = model.predict(self.metres[self.test])
        np.testing.assert_array_equal(np.array(run.predicted, dtype=float), theirs)
        error = np.sqrt(np.mean((theirs - targets[self.test]) ** 2))
        self.assertAlmostEqual(run.summary["root_mean_square_error"], error, places=6)


def real_tables():
    """Names, attributes, targets and whether these are classes, of tables that people measured or recorded."""
    for name in ("iris.csv", "wine_data.csv", "breast_cancer.csv", "digits.csv.gz"):
        yield (name.split(".")[0], *read(name), True)
    diabetes = (np.loadtxt(DATA / "diabetes_data_raw.csv.gz"), np.loadtxt(DATA / "diabetes_target.csv.gz"))
    yield ("diabetes", *diabetes, False)
    body = np.loadtxt(DATA / "linnerud_physiological.csv", skiprows=1)
    yield ("linnerud", np.loadtxt(DATA / "linnerud_exercise.csv", skiprows=1), body[:, 0], False)
    if SAMPLES is None or not SAMPLES.is_dir():
        return
    microsoft = np.loadtxt(SAMPLES / "msft.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3, 5, 6))
    yield ("msft", microsoft[:, :4], microsoft[:, 4], False)
    stocks = np.genfromtxt(SAMPLES / "Stocks.csv", delimiter=",", skip_header=2, usecols=range(1, 11))
    stocks = stocks[~np.isnan(stocks).any(axis=1)]
    yield ("stocks", stocks[:, :8], stocks[:, 8], False)
    degrees = np.loadtxt(SAMPLES / "percent_bachelors_degrees_women_usa.csv", delimiter=",", skiprows=1)
    yield ("degrees", degrees[:, :-1], degrees[:, -1], False)


def exact_cosine(queries, points):
    """Half the squared distances at unit length, beyond double precision: 1 - the product loses what is below 1e-16."""
    unit = lambda rows: rows.astype(np.longdouble) / np.sqrt((rows.astype(np.longdouble) ** 2).sum(axis=1))[:, None]
    points = unit(points)
    return np.array([((points - query) ** 2).sum(axis=1) / 2 for query in unit(queries)])


class RealTables(unittest.TestCase):
    """Every prediction is scikit-learn's in double precision, unless the k-th and the next neighbour are equally far.

    Trees subtract coordinates, so that their distances are as exact as they can be; only cosine needs brute force, and
    takes for equally far what differs by less than 2e-15.
    """
    EQUAL = 1e-12  # relative: what rounding does to two distances that are the same number
    DISTANCES = {"euclidean": lambda x, y: cdist(x, y), "manhattan": lambda x, y: cdist(x, y, "cityblock"),
                 "cosine": exact_cosine}

    def compare(self, name, values, targets, is_class, table, scale, metric, k):
        train, test = random_split(len(values), 0.2, 1)
        run = Run("--data", table, "--split", 0.2, "--k", k, "--metric", metric, "--scale", scale,
                  *(() if is_class else ("--regression",)))
        np.testing.assert_array_equal(run.rows, test)
        self.assertEqual(run.summary["scale"], scale)
        if scale == "standard":
            values = StandardScaler().fit(values[train]).transform(values)
        model = (KNeighborsClassifier if is_class else KNeighborsRegressor)(
            k, metric=metric, algorithm="brute" if metric == "cosine" else "kd_tree")
        model.fit(values[train], targets[train])
        theirs, their_sets = model.predict(values[test]), model.kneighbors(values[test], return_distance=False)
        distances = self.DISTANCES[metric](values[test], values[train])
        our_sets = np.searchsorted(train, run.neighbours)
        np.testing.assert_allclose(np.take_along_axis(distances, our_sets, 1), run.distances, rtol=1e-6, atol=1e-20)
        ours = np.array(run.predicted, dtype=targets.dtype)
        own = targets[run.neighbours]  # what the neighbours that are listed say
        if is_class:
            np.testing.assert_array_equal(ours, [np.bincount(row).argmax() for row in own])
        else:
            np.testing.assert_allclose(ours, own.mean(axis=1), rtol=1e-12)
        ties = []
        for i, row in enumerate(test):
            same = np.isclose(ours[i], theirs[i], rtol=1e-12, atol=0)
            if set(their_sets[i]) == set(our_sets[i]):
                self.assertTrue(same, f"row {row}: {ours[i]}, {theirs[i]}")
                continue
            self.assertTrue(same_within_ties(their_sets[i], our_sets[i], distances[i], k, self.EQUAL),
                            f"row {row}: neighbours {their_sets[i]} and {our_sets[i]}")
            if not same:
                rows = sorted(train[list(set(their_sets[i]) ^ set(our_sets[i]))] + 1)
                ties.append(f"row {row + 1}: {ours[i]} instead of {theirs[i]}, as rows {', '.join(map(str, rows))} are "
                            f"at distances {', '.join(f'{distances[i][train == r - 1][0]:.12g}' for r in rows)}")
        return ties

    def test_predictions(self):
        tables = 0
        for name, values, targets, is_class in real_tables():
            tables += 1
            runs, ties = 0, []
            with tempfile.TemporaryDirectory() as folder:
                table = pathlib.Path(folder) / "table.csv"
                table.write_text("".join(",".join(map(repr, map(float, row))) + f",{target}\n"
                                         for row, target in zip(values, targets)))
                for as_class in {is_class, False}:
                    wanted = targets if as_class or not is_class else targets.astype(float)
                    for scale in ("none", "standard"):
                        for metric in self.DISTANCES:
                            for k in (1, 5, 15) if as_class == is_class else (5,):
                                with self.subTest(table=name, classes=as_class, scale=scale, metric=metric, k=k):
                                    found = self.compare(name, values, wanted, as_class, table, scale, metric, k)
                                    ties += [f"{metric}, k = {k}, scale {scale}: {tie}" for tie in found]
                                    runs += 1
            print(f"{name}: {len(values)} rows of {values.shape[1]}, {runs} runs, "
                  f"{len(ties)} predictions differ, all at ties", *ties[:5], sep="\n  ")
        if tables < 8:
            self.skipTest(f"{tables} tables of scikit-learn agree; install python3-matplotlib for three more")


class UnknownCategories(unittest.TestCase):
    """`--unknown ignore` finds the neighbours that a one-hot encoding with handle_unknown="ignore" finds."""

    def test_neighbours(self):
        random = np.random.default_rng(4)
        numbers = random.normal(size=(300, 2))
        colours = random.choice(["red", "green", "blue"], size=(300, 1))
        unknown = random.random((60, 1)) < 0.3
        asked = np.where(unknown, "mauve", colours[240:])
        classes = random.integers(0, 3, 300)
        # Two columns of an encoding differ where the categories do.
        encoder = OneHotEncoder(handle_unknown="ignore").fit(colours[:240])
        encode = lambda cells: encoder.transform(cells).toarray() / np.sqrt(2)
        train, test = np.hstack([numbers[:240], encode(colours[:240])]), np.hstack([numbers[240:], encode(asked)])
        distances = cdist(test, train)
        with tempfile.TemporaryDirectory() as folder:
            for name, first, cells in (("train.csv", 0, colours[:240]), ("test.csv", 240, asked)):
                lines = [f"{x!r},{y!r},{cell[0]},{label}" for (x, y), cell, label in
                         zip(numbers[first:].tolist(), cells, classes[first:])]
                (pathlib.Path(folder) / name).write_text("\n".join(["x,y,colour,class", *lines]) + "\n")
            for k in (1, 5):
                run = Run("--train", f"{folder}/train.csv", "--test", f"{folder}/test.csv", "--k", k,
                          "--unknown", "ignore")
                self.assertEqual(run.summary["unknown_cells"], unknown.sum())
                np.testing.assert_array_equal(run.neighbours, nearest(distances, k))
                model = KNeighborsClassifier(k).fit(train, classes[:240])
                np.testing.assert_array_equal(np.array(run.predicted, dtype=int), model.predict(test))
                # An unknown category is as far from each as two different ones; the encoding says half as far, squared.
                squares = np.take_along_axis(distances, run.neighbours, 1) ** 2 + 0.5 * unknown
                np.testing.assert_allclose(run.distances, np.sqrt(squares), rtol=1e-12)


class MissingAndNominal(unittest.TestCase):
    """Distances that scikit-learn has no metric for, as its documentation or ours defines them."""

    def setUp(self):
        random = np.random.default_rng(3)
        self.numbers = random.integers(0, 8, size=(160, 3)).astype(float)
        self.numbers[:, 1:][random.random((160, 2)) < 0.15] = np.nan  # every two rows share column a
        self.colours = random.choice(["red", "green", "blue", ""], size=160, p=[0.4, 0.3, 0.2, 0.1])
        self.classes = random.choice(["no", "yes"], size=160)
        self.train, self.test = np.arange(120), np.arange(120, 160)

    def run_on(self, folder, with_colour, k):
        table = pathlib.Path(folder) / "table.csv"
        missing = ("", "?", "NA", "nan")
        with open(table, "w") as file:
            file.write("a,b,c," + ("colour," if with_colour else "") + "class\n")
            for i, row in enumerate(self.numbers):
                cells = [missing[(i + j) % 4] if np.isnan(v) else str(int(v)) for j, v in enumerate(row)]
                file.write(",".join(cells + ([self.colours[i]] if with_colour else []) + [self.classes[i]]) + "\n")
        return Run("--data", table, "--k", k, "--test-rows", len(self.test))

    def distances(self, with_colour):
        squares = (self.numbers[self.test][:, None, :] - self.numbers[self.train][None, :, :]) ** 2
        if with_colour:
            known = (self.colours[self.test][:, None] != "") & (self.colours[self.train][None, :] != "")
            unequal = (self.colours[self.test][:, None] != self.colours[self.train][None, :]).astype(float)
            squares = np.concatenate([squares, np.where(known, unequal, np.nan)[:, :, None]], axis=2)
        present = (~np.isnan(squares)).sum(axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(squares.shape[2] / present * np.nansum(squares, axis=2))

    def compare(self, with_colour):
        distances = self.distances(with_colour)
        self.assertFalse(np.isnan(distances).any())
        for k in (1, 5):
            with tempfile.TemporaryDirectory() as folder:
                run = self.run_on(folder, with_colour, k)
            self.assertEqual(run.summary["metric"], "mixed_euclidean" if with_colour else "euclidean")
            for i in range(len(self.test)):
                self.assertTrue(same_within_ties(nearest(distances, k)[i], run.neighbours[i], distances[i], k))
            votes = np.sort(self.classes[run.neighbours], axis=1)
            model = [max(sorted(set(row)), key=lambda c: np.sum(row == c)) for row in votes]
            self.assertEqual(run.predicted, model)

    def test_missing_cells(self):
        from sklearn.metrics.pairwise import nan_euclidean_distances
        np.testing.assert_allclose(self.distances(False),
                                   nan_euclidean_distances(self.numbers[self.test], self.numbers[self.train]))
        self.compare(with_colour=False)

    def test_a_nominal_column(self):
        self.compare(with_colour=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
