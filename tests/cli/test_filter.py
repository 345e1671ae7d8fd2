# SPDX-License-Identifier: MIT
"""What the image commands compute: filters, spectra, convolutions."""
import cmath
import math
import unittest

from support import Case, Image, png, pnm, read_png, read_pnm

TYPES = ("lowpass", "highpass", "bandpass", "bandstop")
SHAPES = ("ideal", "gaussian", "butterworth")


def wave(width, height, kx, ky, amplitude=100, mean=128, channels=1, maxval=255):
    """A sinusoid of kx periods across and ky down."""
    return Image.make(width, height, channels, maxval, lambda x, y, c: round(
        mean + amplitude * math.cos(2 * math.pi * (kx * x / width + ky * y / height))))


def total(*waves):
    """The sum of sinusoids without their means, and a mean of 128."""
    first = waves[0]
    return Image(first.width, first.height, 1, 255,
                 [128 + sum(s) - 128 * len(waves) for s in zip(*(w.sample for w in waves))])


class Filters(Case):
    def filter(self, image, *options):
        source = self.write("in.png", png(image))
        self.succeed("image", "filter", source, self.path("out.png"), *options)
        out = read_png(self.path("out.png"))
        self.assertEqual((out.width, out.height, out.channels, out.maxval),
                         (image.width, image.height, image.channels, image.maxval))
        return out

    def assert_near(self, a, b, bound):
        self.assertLessEqual(max(abs(x - y) for x, y in zip(a.sample, b.sample)), bound)

    def test_constant_image_passes_lowpass_and_bandstop_unchanged(self):
        for width, height in ((1, 1), (1, 11), (11, 1), (16, 16), (37, 23)):
            for maxval, value in ((255, 201), (255, 255), (65535, 54321), (65535, 65535)):
                image = Image.make(width, height, 1, maxval, lambda x, y, c: value)
                for shape in SHAPES:
                    for pad in ("reflect", "none"):
                        with self.subTest((width, height, value, shape, pad)):
                            for options in (["lowpass", "--cutoff", "0.1"],
                                            ["bandstop", "--cutoff", "0.1",
                                             "--cutoff-high", "0.2"]):
                                out = self.filter(image, "--shape", shape, "--pad", pad,
                                                  "--type", *options)
                                self.assert_same(out, image)

    def test_constant_image_is_black_after_highpass_and_bandpass(self):
        for maxval in (255, 65535):
            image = Image.make(37, 23, 3, maxval, lambda x, y, c: maxval - 5 * c)
            for shape in SHAPES:
                for options in (["highpass", "--cutoff", "0.1"],
                                ["bandpass", "--cutoff", "0.1", "--cutoff-high", "0.3"]):
                    with self.subTest((maxval, shape, options)):
                        out = self.filter(image, "--shape", shape, "--type", *options)
                        self.assertEqual(set(out.sample), {0})

    def test_ideal_filters_take_what_is_beyond_the_cutoff(self):
        for width, height in ((40, 40), (60, 36), (45, 35)):
            low = wave(width, height, 2, 1, 40)
            high = wave(width, height, 12, 5, 40)
            both = total(low, high)
            cutoff = ["--shape", "ideal", "--pad", "none", "--cutoff", "0.15"]
            with self.subTest((width, height)):
                out = self.filter(both, "--type", "lowpass", *cutoff)
                self.assert_near(out, low, 1)
                out = self.filter(both, "--type", "highpass", *cutoff)
                want = [abs(s - 128) for s in high.sample]
                scale = 255 / max(want)
                want = Image(width, height, 1, 255, [round(scale * s) for s in want])
                self.assert_near(out, want, 8)

    def test_bands(self):
        waves = [wave(64, 48, k, 0, 30) for k in (3, 12, 25)]
        band = ["--shape", "ideal", "--pad", "none", "--cutoff", "0.1", "--cutoff-high",
                "0.3"]
        out = self.filter(total(*waves), "--type", "bandstop", *band)
        self.assert_near(out, total(waves[0], waves[2]), 2)
        out = self.filter(total(*waves), "--type", "bandpass", *band)
        want = [abs(s - 128) * 255 / 30 for s in waves[1].sample]
        self.assert_near(out, Image(64, 48, 1, 255, want), 20)

    def test_gains_are_those_of_the_manual(self):
        f = 8 / 64
        for shape, options, gain in (
                ("gaussian", [], lambda c: math.exp(-f * f / (2 * c * c))),
                ("butterworth", ["--order", "3"], lambda c: 1 / (1 + (f / c)**6)),
                ("butterworth", [], lambda c: 1 / (1 + (f / c)**4))):
            for cutoff in (0.0625, 0.125, 0.3):
                with self.subTest((shape, cutoff)):
                    image = wave(64, 40, 8, 0, 20000, 30000, maxval=65535)
                    out = self.filter(image, "--type", "lowpass", "--shape", shape, "--pad",
                                      "none", "--cutoff", str(cutoff), *options)
                    want = wave(64, 40, 8, 0, 20000 * gain(cutoff), 30000, maxval=65535)
                    self.assert_near(out, want, 2)

    def test_pixels_are_a_radius_in_the_spectrum_along_the_width(self):
        for width, height in ((64, 64), (64, 32), (40, 70)):
            radius = width // 8
            for kx in (radius, radius + 1):
                with self.subTest((width, height, kx)):
                    image = wave(width, height, kx, 0, 60)
                    out = self.filter(image, "--type", "lowpass", "--shape", "ideal",
                                      "--pad", "none", "--cutoff", f"{radius}px")
                    flat = Image.make(width, height, 1, 255, lambda x, y, c: 128)
                    self.assert_near(out, image if kx == radius else flat, 1)
        image = wave(64, 64, 3, 4, 60)  # 5 pixels from the middle
        out = self.filter(image, "--type", "lowpass", "--shape", "ideal", "--pad", "none",
                          "--cutoff", "5px")
        self.assert_near(out, image, 1)
        source = self.write("in.png", png(image))
        self.refuse(1, "image", "filter", source, self.path("no.png"), "--type", "lowpass",
                    "--cutoff", "33px", says=["33px", "32px"])

    def test_band_the_wrong_way_round_is_refused(self):
        source = self.write("in.png", png(wave(16, 16, 1, 1)))
        self.refuse(1, "image", "filter", source, self.path("no.png"), "--type", "bandpass",
                    "--cutoff", "4px", "--cutoff-high", "0.1", says="above")

    def test_reflection_does_not_wrap_around(self):
        # Left half black, right half white: only the middle may change, not the borders.
        image = Image.make(65, 33, 1, 255, lambda x, y, c: 0 if x < 33 else 255)
        options = ["--type", "lowpass", "--shape", "gaussian", "--cutoff", "0.1"]
        out = self.filter(image, *options)
        self.assertEqual((out.at(0, 5), out.at(64, 5)), (0, 255))
        wrapped = self.filter(image, *options, "--pad", "none")
        self.assertGreater(wrapped.at(0, 5), 60)
        dark = self.filter(image, *options, "--pad", "zero")
        self.assertLess(dark.at(64, 16), 200)
        self.assertLess(dark.at(50, 0), 200)

    def test_channels_are_filtered_alone_and_alpha_stays(self):
        grey = [wave(24, 18, k, 1, 50) for k in (1, 4, 9)]
        alpha = [(7 * i) % 256 for i in range(24 * 18)]
        image = Image(24, 18, 4, 255,
                      [s for p in zip(*(w.sample for w in grey), alpha) for s in p])
        options = ["--type", "lowpass", "--cutoff", "0.2", "--shape", "butterworth"]
        out = self.filter(image, *options)
        self.assertEqual(out.sample[3::4], alpha)
        for c in range(3):
            self.assertEqual(out.sample[c::4], self.filter(grey[c], *options).sample)

    def test_magnitudes_share_one_scale(self):
        image = Image.make(32, 32, 3, 255, lambda x, y, c: 128 + (60, 30, 0)[c] * (-1)**x)
        out = self.filter(image, "--type", "highpass", "--shape", "ideal", "--cutoff", "0.2",
                          "--pad", "none")
        self.assertEqual(set(out.sample[0::3]), {255})
        self.assertTrue(set(out.sample[1::3]) <= {127, 128})
        self.assertEqual(set(out.sample[2::3]), {0})

    def test_every_type_shape_and_size_runs(self):
        for width, height in ((1, 1), (1, 2), (3, 1), (17, 13), (19, 64)):
            image = Image.make(width, height, 3, 255, lambda x, y, c: (x * y + 9 * c) % 256)
            for kind in TYPES:
                high = ["--cutoff-high", "0.4"] if kind.startswith("band") else []
                for shape in SHAPES:
                    for cutoff in ("0", "0.05", "0.3"):
                        self.filter(image, "--type", kind, "--shape", shape, "--cutoff",
                                    cutoff, *high)


class Spectra(Case):
    def spectrum(self, image, form=png):
        source = self.write("in", form(image))
        self.succeed("image", "spectrum", source, self.path("out.png"))
        return read_png(self.path("out.png"))

    def test_constant_image_has_one_white_pixel_in_the_middle(self):
        for width, height in ((1, 1), (1, 4), (5, 1), (8, 8), (7, 9), (10, 7), (13, 16)):
            with self.subTest((width, height)):
                out = self.spectrum(Image.make(width, height, 1, 255, lambda x, y, c: 77))
                want = [0] * (width * height)
                want[(height // 2) * width + width // 2] = 255
                self.assertEqual(out.sample, want)

    def test_black_image_is_black(self):
        self.assertEqual(set(self.spectrum(Image(3, 2, 1, 255, [0] * 6)).sample), {0})

    def test_spectrum_is_that_of_the_definition(self):
        for width, height in ((8, 6), (7, 5), (9, 4), (1, 7), (6, 1)):
            for maxval in (255, 65535):
                image = Image.make(width, height, 1, maxval,
                                   lambda x, y, c: (x * x * 31 + y * 57 + x * y) % maxval)
                out = self.spectrum(image)
                want = []
                for v in range(height):
                    for u in range(width):
                        ky, kx = v - height // 2, u - width // 2
                        f = sum(image.at(x, y) * cmath.exp(-2j * math.pi * (
                            kx * x / width + ky * y / height))
                                for y in range(height) for x in range(width))
                        want.append(math.log1p(abs(f)))
                want = [w * maxval / max(want) for w in want]
                with self.subTest((width, height, maxval)):
                    self.assertLessEqual(
                        max(abs(a - b) for a, b in zip(out.sample, want)),
                        1 if maxval == 255 else 40)

    def test_colour_counts_as_luma(self):
        image = wave(12, 10, 3, 2, 50, channels=3)
        grey = wave(12, 10, 3, 2, 50)
        out = self.spectrum(image)
        self.assertEqual(out.channels, 1)
        worst = max(abs(a - b) for a, b in zip(out.sample, self.spectrum(grey).sample))
        self.assertLessEqual(worst, 1)


def reflected(i, n):
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def convolved(image, kernel, pad):
    """By the definition; kernel is rows of numbers."""
    height, width = len(kernel), len(kernel[0])

    def value(x, y):
        v = 0
        for j in range(height):
            for i in range(width):
                xs, ys = x - (i - width // 2), y - (j - height // 2)
                if pad == "reflect":
                    v += kernel[j][i] * image.at(reflected(xs, image.width),
                                                 reflected(ys, image.height))
                elif pad == "none":
                    v += kernel[j][i] * image.at(xs % image.width, ys % image.height)
                elif 0 <= xs < image.width and 0 <= ys < image.height:
                    v += kernel[j][i] * image.at(xs, ys)
        return v
    return [value(x, y) for y in range(image.height) for x in range(image.width)]


class Convolutions(Case):
    def convolve(self, image, kernel, *options):
        source = self.write("in.pgm", pnm(image))
        self.succeed("image", "convolve", source, kernel, self.path("out.pgm"), *options)
        return read_pnm(self.path("out.pgm"))

    def image(self, width, height):
        return Image.make(width, height, 1, 65535,
                          lambda x, y, c: (x * 7919 + y * 30011 + x * y * 977) % 65536)

    def test_image_kernels_are_those_of_the_definition(self):
        for width, height in ((1, 1), (9, 1), (8, 7), (5, 11)):
            image = self.image(width, height)
            for kw, kh in ((1, 1), (2, 1), (3, 3), (4, 5), (13, 2)):
                weights = Image.make(kw, kh, 1, 255, lambda x, y, c: 1 + 5 * x + 3 * y * y)
                name = self.write("kernel.png", png(weights))
                whole = sum(weights.sample)
                rows = [[weights.at(x, y) / whole for x in range(kw)] for y in range(kh)]
                for pad in ("reflect", "zero", "none"):
                    with self.subTest((width, height, kw, kh, pad)):
                        out = self.convolve(image, name, "--pad", pad)
                        want = convolved(image, rows, pad)
                        self.assertLessEqual(
                            max(abs(a - b) for a, b in zip(out.sample, want)), 0.6)

    def test_named_kernels_are_those_of_the_manual(self):
        image = Image.make(12, 9, 1, 65535, lambda x, y, c: 20000 + (x * 797 + y * 331) % 999)

        def gaussian(sigma):
            reach = math.ceil(4 * sigma)
            line = [math.exp(-i * i / (2 * sigma * sigma)) for i in range(-reach, reach + 1)]
            return [[a * b / sum(line)**2 for a in line] for b in line]
        for name, rows in (
                ("gaussian:1.5", gaussian(1.5)), ("gaussian:0.5", gaussian(0.5)),
                ("box:3", [[1 / 9] * 3] * 3), ("box:1", [[1]]),
                ("disk:1", [[0, .2, 0], [.2, .2, .2], [0, .2, 0]]), ("disk:0", [[1]]),
                ("motion:3:0", [[1 / 3] * 3]), ("motion:3:90", [[1 / 3]] * 3),
                ("sharpen", [[0, -1, 0], [-1, 5, -1], [0, -1, 0]])):
            with self.subTest(name):
                out = self.convolve(image, name)
                want = convolved(image, rows, "reflect")
                self.assertLessEqual(max(abs(a - b) for a, b in zip(out.sample, want)), 0.7)

    def test_derivatives_are_shown_as_magnitude(self):
        image = self.image(9, 8)
        for name, rows in (
                ("laplacian", [[0, 1, 0], [1, -4, 1], [0, 1, 0]]),
                ("sobel-x", [[1, 0, -1], [2, 0, -2], [1, 0, -1]]),
                ("sobel-y", [[1, 2, 1], [0, 0, 0], [-1, -2, -1]])):
            with self.subTest(name):
                out = self.convolve(image, name)
                want = [abs(v) for v in convolved(image, rows, "reflect")]
                want = [v * 65535 / max(want) for v in want]
                self.assertLessEqual(max(abs(a - b) for a, b in zip(out.sample, want)), 2)

    def test_blur_keeps_a_constant_image(self):
        image = Image.make(20, 11, 1, 255, lambda x, y, c: 199)
        for kernel in ("gaussian:8", "box:9", "disk:3.5", "motion:15:30", "sharpen"):
            with self.subTest(kernel):
                self.assert_same(self.convolve(image, kernel), image)


if __name__ == "__main__":
    unittest.main()
