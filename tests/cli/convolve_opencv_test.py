"""`espalier convolve` against OpenCV's filter2D on photographs: equal to the last bit for whole coefficients, and for
others but where a sum is so near a half that rounding it may go either way. `espalier histogram` against NumPy.

usage: convolve_opencv_test.py <espalier> <folder of scikit-learn's photographs> <executor or cuda>

The last names what runs the GPU variants of this build. Without a GPU a build with CUDA can run none of them.

OpenCV sums in single precision, which is exact while every partial sum is below 2^24; for larger coefficients it is
asked for sums in double precision, which are saturated here.
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cv2
import numpy as np

PROGRAM, PHOTOGRAPHS, GPU = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
NO_DEVICE = 3  # exit code
BORDERS = {"zero": cv2.BORDER_CONSTANT, "replicate": cv2.BORDER_REPLICATE, "mirror": cv2.BORDER_REFLECT_101}
STORED = cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION
random = np.random.default_rng(5)

LAPLACE = np.full((5, 5), -1)
LAPLACE[2, 2] = 24
KERNELS = {
    "laplace": LAPLACE,
    "identity": np.pad([[1]], 2),
    "corner": np.pad([[1]], ((0, 4), (0, 4))),  # one pixel up and left at most: shows a flipped kernel
    "slope": np.arange(25).reshape(5, 5) - 12,
    "small": random.integers(-5, 6, (5, 5)),
    "bytes": random.integers(-128, 128, (5, 5)),
    "words": random.integers(-32768, 32768, (5, 5)),
    "white": np.full((5, 5), 32767),
    "black": np.full((5, 5), -32768),
    "sharpen": np.pad([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], 1),
}
SIZED = {  # of 3 and 7 a side: the second and the last two are products of a column and a row
    "cross": np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
    "sobel": np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]),
    "corner of 3": np.pad([[1]], ((0, 2), (0, 2))),
    "seven": random.integers(-20, 21, (7, 7)),
    "seven words": random.integers(-32768, 32768, (7, 7)),
    "corner of 7": np.pad([[1]], ((0, 6), (0, 6))),
    "slope of 7": np.outer([1, 6, 15, 20, 15, 6, 1], [-3, -2, -1, 0, 1, 2, 3]),
}
KERNELS |= SIZED
BINOMIAL = np.array([1, 4, 6, 4, 1])
FRACTIONAL = {
    "gauss": np.outer(BINOMIAL, BINOMIAL) / 256,
    "binomial of 7": np.outer([1, 6, 15, 20, 15, 6, 1], [1, 6, 15, 20, 15, 6, 1]) / 4096,
    "thirds": np.arange(-24, 25).reshape(7, 7) / 300,
    "tenths": np.pad([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6], [0.7, -0.8, 0.7]], ((0, 2), (1, 1))),  # of no symmetry
}


def photographs():
    """Files of photographs and micrographs, grey and coloured, JPEG and PNG, that come with packages."""
    yield from (PHOTOGRAPHS / name for name in ("china.jpg", "flower.jpg"))
    folders = {"matplotlib": "mpl-data/sample_data", "skimage": "data"}
    names = {"matplotlib": ("grace_hopper.jpg",),
             "skimage": ("astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "clock_motion.png",
                         "coffee.png", "coins.png", "grass.png", "moon.png", "page.png", "rocket.jpg")}
    for package, inside in folders.items():
        if (found := importlib.util.find_spec(package)) is None:
            continue
        folder = pathlib.Path(found.origin).parent / inside
        if package == "matplotlib" and not folder.is_dir():
            import matplotlib
            folder = pathlib.Path(matplotlib.get_data_path()) / "sample_data"
        yield from (folder / name for name in names[package] if (folder / name).is_file())


def opencv(image, kernel, border):
    """filter2D of the colours; transparency is copied, as `espalier convolve --alpha independent` does."""
    colours = image[..., :3] if image.ndim == 3 else image
    if 255 * np.abs(kernel).sum() < 1 << 24:
        filtered = cv2.filter2D(colours, -1, kernel.astype(np.float32), borderType=BORDERS[border])
    else:
        sums = cv2.filter2D(colours, cv2.CV_64F, kernel.astype(np.float64), borderType=BORDERS[border])
        filtered = np.clip(sums, 0, 255).astype(np.uint8)
    return filtered if image.ndim == 2 or image.shape[2] == 3 else np.dstack([filtered, image[..., 3]])


class AgainstOpenCV(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def convolve(self, source, kernel, border, *options, alpha="independent"):
        """What the program writes, and the variant that did it."""
        result = self.folder / "result.png"
        result.unlink(missing_ok=True)
        finished = subprocess.run(
            [PROGRAM, "convolve", "--json", "--alpha", alpha, "--kernel", str(kernel), "--border", border, *options,
             source, result],
            capture_output=True, text=True)
        if finished.returncode != 0:
            raise AssertionError(finished.stderr)
        return cv2.imread(str(result), STORED), json.loads(finished.stdout)["variant"]

    def lacking_instructions(self, source, options):
        """What a variant says that this processor lacks; empty if it runs."""
        tried = subprocess.run([PROGRAM, "convolve", *options, source, self.folder / "tried.png"],
                               capture_output=True, text=True)
        said = tried.stderr.partition("needs a processor with")
        return (said[1] + said[2]).strip() if tried.returncode else ""

    def kernel_file(self, name):
        path = self.folder / f"{name}.txt"
        np.savetxt(path, KERNELS[name], fmt="%d", header=name)
        return path

    def save(self, image):
        path = self.folder / "image.png"
        self.assertTrue(cv2.imwrite(str(path), image))
        return path

    @staticmethod
    def scikit_learns():
        for name in ("china.jpg", "flower.jpg"):
            image = cv2.imread(str(PHOTOGRAPHS / name), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
            assert image is not None and image.shape == (427, 640, 3)
            yield name, image

    def assert_equal(self, source, image, kernels, borders=BORDERS, *options):
        chosen = set()
        for name in kernels:
            for border in borders:
                with self.subTest(image=image.shape, kernel=name, border=border, options=options):
                    ours, variant = self.convolve(source, self.kernel_file(name), border, *options)
                    np.testing.assert_array_equal(ours, opencv(image, KERNELS[name], border))
                    chosen.add(variant)
        return chosen

    def test_photographs_as_they_are(self):
        for name, image in self.scikit_learns():
            self.assert_equal(PHOTOGRAPHS / name, image, KERNELS)

    def test_sobel_with_an_offset(self):
        """OpenCV adds its delta before it rounds, which is the same for whole sums."""
        for name, image in self.scikit_learns():
            for kernel in ("sobel", "slope of 7", "laplace"):
                ours, _ = self.convolve(PHOTOGRAPHS / name, self.kernel_file(kernel), "mirror", "--offset", "128")
                theirs = cv2.filter2D(image, -1, KERNELS[kernel].astype(np.float32), delta=128,
                                      borderType=BORDERS["mirror"])
                np.testing.assert_array_equal(ours, theirs)

    def test_blurs_weighed_by_alpha(self):
        """As images of colours that are multiplied by alpha are filtered, and divided by the filtered alpha."""
        _, image = next(self.scikit_learns())
        alpha = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
        alpha[:200] = 255
        alpha[300:, :300] = 0
        source = self.save(np.dstack([image, alpha]))
        for name in ("gauss", "binomial of 7"):
            kernel = FRACTIONAL[name]
            file = self.folder / "kernel.txt"
            np.savetxt(file, kernel, fmt="%.17g")
            ours, _ = self.convolve(source, file, "mirror", alpha="weighted")

            def filtered(plane):
                return cv2.filter2D(plane.astype(np.float64), cv2.CV_64F, kernel, borderType=BORDERS["mirror"])

            weights = filtered(alpha)
            with np.errstate(invalid="ignore"):
                colours = filtered(image * alpha[..., None].astype(np.float64)) / weights[..., None]
            visible = weights > 1e-9
            self.assertGreater(np.count_nonzero(~visible), 1000)
            self.assertLessEqual(np.abs(ours[..., :3][visible] - colours[visible]).max(), 0.51)
            np.testing.assert_array_equal(ours[..., 3], alpha)

    def test_the_named_kernel(self):
        name, image = next(self.scikit_learns())
        ours, _ = self.convolve(PHOTOGRAPHS / name, "laplace", "mirror")
        np.testing.assert_array_equal(ours, opencv(image, LAPLACE, "mirror"))
        self.assertGreater(np.count_nonzero(ours), ours.size // 10, "nearly nothing is left to compare")

    def test_twelve_photographs(self):
        borders = list(BORDERS)
        found = 0
        for found, path in enumerate(photographs(), 1):
            image = cv2.imread(str(path), STORED)
            # Every border and every filter on each, not each with each.
            for i, kernel in enumerate(("sharpen", "laplace", "slope", "cross", "seven", "slope of 7")):
                self.assert_equal(path, image, (kernel,), (borders[(found + i) % 3],))
            near_half = {name: self.nearly_equal(path, image, name, borders[(found + i) % 3])
                         for i, name in enumerate(FRACTIONAL)}
            print(f"{path.name} ({' x '.join(map(str, image.shape))}): equal; fractional sums so near a half that they "
                  "round apart: " + ", ".join(f"{count} ({name})" for name, count in near_half.items()))
        if found < 12:
            self.skipTest(f"{found} photographs agree; install python3-skimage and python3-matplotlib for twelve")

    def nearly_equal(self, path, image, name, border):
        """How many values round the other way; all the others are equal."""
        file = self.folder / f"{name}.txt"
        np.savetxt(file, FRACTIONAL[name], fmt="%.17g")
        ours, _ = self.convolve(path, file, border)
        coefficients = FRACTIONAL[name].astype(np.float32).astype(np.float64)
        theirs = cv2.filter2D(image, -1, coefficients.astype(np.float32), borderType=BORDERS[border])
        different = ours != theirs
        with self.subTest(image=path.name, kernel=name, border=border):
            sums = cv2.filter2D(image, cv2.CV_64F, coefficients, borderType=BORDERS[border])[different]
            self.assertLess(np.abs(sums % 1 - 0.5).max(initial=0), 1e-4, "not near a half")
            self.assertLessEqual(np.abs(ours.astype(int) - theirs)[different].max(initial=0), 1)
        return int(different.sum())

    def test_histograms(self):
        for path in photographs():
            with self.subTest(image=path.name):
                pixels = self.folder / "pixels.raw"
                pixels.write_bytes(cv2.imread(str(path), STORED).tobytes())
                for file in (path, pixels):
                    finished = subprocess.run([PROGRAM, "histogram", "--json", "--quiet", file], capture_output=True,
                                              check=True)
                    expected = np.bincount(np.fromfile(file, np.uint8), minlength=256)
                    np.testing.assert_array_equal(json.loads(finished.stdout)["counts"], expected)
                finished = subprocess.run([PROGRAM, "histogram", "--pixels", "--json", "--quiet", path],
                                          capture_output=True, check=True)
                channels = {channel["channel"]: channel["counts"] for channel in json.loads(finished.stdout)["channels"]}
                image = cv2.imread(str(path), STORED)
                for i, name in enumerate(("grey",) if image.ndim == 2 else ("blue", "green", "red")):
                    plane = image if image.ndim == 2 else image[..., i]
                    np.testing.assert_array_equal(channels[name], np.bincount(plane.ravel(), minlength=256))

    def test_grey_and_transparent_photographs(self):
        for _, image in self.scikit_learns():
            grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
            self.assert_equal(self.save(grey), grey, ("laplace", "slope", "words"))
            transparent = np.dstack([image, grey])
            self.assert_equal(self.save(transparent), transparent, ("laplace", "slope", "words"))

    def test_cuts_of_every_size(self):
        # Smaller than the filter, than a vector, and around both; mirrored more than once.
        _, image = next(self.scikit_learns())
        for height, width in ((3, 3), (5, 4), (31, 33), (64, 17), (3, 257)):
            cut = np.ascontiguousarray(image[100:100 + height, 200:200 + width])
            self.assert_equal(self.save(cut), cut, ("laplace", "slope", "bytes"))

    def test_every_variant(self):
        listed = subprocess.run([PROGRAM, "list", "--family", "convolution_2d", "--json"], capture_output=True,
                                check=True)
        _, image = next(self.scikit_learns())
        cut = np.ascontiguousarray(image[60:137, 90:191])
        source = self.save(cut)
        variants = json.loads(listed.stdout)[0]["variants"]
        self.assertGreaterEqual(len(variants), 15)
        probe = subprocess.run([PROGRAM, "convolve", source, self.folder / "probe.png", "--device", GPU],
                               capture_output=True)
        has_gpu = GPU == "executor" or probe.returncode != NO_DEVICE
        ran = set()
        for variant in variants:
            if variant["unavailable"]:
                continue  # code for other processors
            on_cpu = variant["device"] == "cpu"
            if not on_cpu and not has_gpu:
                continue
            if GPU == "executor" and (variant["gpu_only"] or variant["min_sm"]):
                continue  # what the host executor cannot run
            options = ("--device", "cpu" if on_cpu else GPU, "--variant", variant["name"])
            with self.subTest(variant=variant["name"]):
                if on_cpu and (lacking := self.lacking_instructions(source, options)):
                    self.skipTest(lacking)
                ran |= self.assert_equal(source, cut, ("laplace", "small"), ("mirror", "zero"), *options)
        self.assertEqual("global" in ran, has_gpu)
        self.assertIn("cpu_openmp_rows", ran)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
