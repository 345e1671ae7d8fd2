# SPDX-License-Identifier: MIT
"""Image files: every type in and out, odd sizes, and every bad file."""
import os
import pathlib
import random
import signal
import struct
import subprocess
import time
import unittest

from support import PROGRAM, Case, Image, chunk, png, pnm, read_png, read_pnm

# The identity: it reads, transforms, transforms back, and writes.
SAME = "box:1"
SIZES = [(1, 1), (1, 9), (9, 1), (2, 2), (7, 5), (13, 17), (31, 64), (37, 40)]


def pattern(width, height, channels, maxval):
    return Image.make(width, height, channels, maxval,
                      lambda x, y, c: (x * 7919 + y * 104729 + c * 1299709 +
                                       x * y * 31) % (maxval + 1))


class RoundTrips(Case):
    def convert(self, source, target):
        self.succeed("image", "convolve", source, SAME, target)

    def test_png_keeps_every_sample(self):
        for width, height in SIZES:
            for channels in (1, 2, 3, 4):
                for maxval in (255, 65535):
                    with self.subTest((width, height, channels, maxval)):
                        image = pattern(width, height, channels, maxval)
                        source = self.write("in.png", png(image))
                        self.convert(source, self.path("out.png"))
                        out = read_png(self.path("out.png"))
                        self.assert_same(out, image)

    def test_pnm_keeps_every_sample_and_the_scale(self):
        for width, height in SIZES:
            for channels, extension in ((1, "pgm"), (3, "ppm"), (3, "pnm"), (1, "pnm")):
                for maxval in (15, 255, 1000, 65535):
                    with self.subTest((width, height, channels, maxval)):
                        image = pattern(width, height, channels, maxval)
                        source = self.write("in.pnm", pnm(image))
                        target = self.path("out." + extension)
                        self.convert(source, target)
                        self.assert_same(read_pnm(target), image)

    def test_plain_and_bilevel_pnm_are_read(self):
        source = self.write("in", b"P2\n# remark\n3 1\n9\n0 4 9\n")
        self.convert(source, self.path("out.pgm"))
        self.assertEqual(read_pnm(self.path("out.pgm")).sample, [0, 4, 9])
        source = self.write("in", b"P4\n3 1\n\xa0")
        self.convert(source, self.path("out.pgm"))
        self.assertEqual(read_pnm(self.path("out.pgm")).sample, [0, 255, 0])

    def test_pam_keeps_alpha(self):
        for channels in (2, 4):
            image = pattern(7, 5, channels, 255)
            source = self.write("in.png", png(image))
            self.convert(source, self.path("out.pam"))
            self.convert(self.path("out.pam"), self.path("back.png"))
            self.assert_same(read_png(self.path("back.png")), image)

    def test_small_depths_and_palettes_are_expanded(self):
        head = struct.pack(">IIBBBBB", 3, 1, 2, 3, 0, 0, 0)
        import zlib
        data = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                chunk(b"PLTE", bytes([1, 2, 3, 40, 50, 60, 200, 100, 0])) +
                chunk(b"IDAT", zlib.compress(b"\0\x18")) + chunk(b"IEND", b""))
        self.convert(self.write("in.png", data), self.path("out.png"))
        self.assertEqual(read_png(self.path("out.png")).sample,
                         [1, 2, 3, 40, 50, 60, 200, 100, 0])

    def test_jpeg_comes_close(self):
        for channels in (1, 3):
            for width, height in ((1, 1), (1, 9), (9, 1), (40, 31)):
                image = Image.make(width, height, channels, 255,
                                   lambda x, y, c: 50 + 3 * x + 2 * y + 10 * c)
                source = self.write("in.png", png(image))
                self.convert(source, self.path("out.jpg"))
                self.convert(self.path("out.jpg"), self.path("back.png"))
                back = read_png(self.path("back.png"))
                self.assertEqual((back.width, back.height, back.channels),
                                 (width, height, channels))
                worst = max(abs(a - b) for a, b in zip(back.sample, image.sample))
                self.assertLessEqual(worst, 6)

    def test_photographs_are_turned_upright(self):
        # A dark corner at the top left of the upright image, wherever the camera saw it.
        corners = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (0, 1),
                   7: (1, 1), 8: (1, 0)}
        for orientation, (right, bottom) in corners.items():
            for order, mark in (("<", b"II*\0"), (">", b"MM\0*")):
                image = Image.make(40, 24, 1, 255, lambda x, y, c: 20 if
                                   (x >= 32) == bool(right) and (x < 8) != bool(right) and
                                   (y >= 16) == bool(bottom) and (y < 8) != bool(bottom)
                                   else 200)
                self.convert(self.write("in.png", png(image)), self.path("in.jpg"))
                data = (self.folder / "in.jpg").read_bytes()
                tiff = mark + struct.pack(order + "IH2HIHHI", 8, 1, 0x112, 3, 1, orientation,
                                          0, 0)
                exif = b"Exif\0\0" + tiff
                data = (data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif +
                        data[2:])
                with self.subTest((orientation, order)):
                    self.convert(self.write("turned.jpg", data), self.path("out.png"))
                    out = read_png(self.path("out.png"))
                    size = (24, 40) if orientation >= 5 else (40, 24)
                    self.assertEqual((out.width, out.height), size)
                    self.assertLess(out.at(3, 3), 60)
                    self.assertGreater(min(out.at(out.width - 4, 3), out.at(3, out.height - 4),
                                           out.at(out.width - 4, out.height - 4)), 150)

    def test_other_types_scale_or_drop_what_they_cannot_hold(self):
        image = Image.make(4, 3, 4, 65535, lambda x, y, c: 257 * (x * 20 + c * 50 + y))
        source = self.write("in.png", png(image))
        self.convert(source, self.path("out.ppm"))
        out = read_pnm(self.path("out.ppm"))
        self.assertEqual((out.channels, out.maxval), (3, 65535))
        self.assertEqual(out.at(2, 1, 2), image.at(2, 1, 2))
        self.convert(source, self.path("out.jpeg"))
        grey = self.write("grey.pgm", pnm(pattern(4, 3, 1, 255)))
        self.convert(grey, self.path("grey.ppm"))
        self.assertEqual(read_pnm(self.path("grey.ppm")).channels, 3)
        self.refuse(1, "image", "convolve", source, SAME, self.path("out.pgm"),
                    says=["out.pgm", "colour"])

    def test_scale_of_other_depths_becomes_8_or_16_bits(self):
        source = self.write("in.pgm", pnm(Image(3, 1, 1, 1000, [0, 500, 1000])))
        self.convert(source, self.path("out.png"))
        self.assertEqual(read_png(self.path("out.png")).sample, [0, 32768, 65535])

    def test_output_may_replace_the_input(self):
        image = pattern(7, 5, 1, 255)
        name = self.write("in.png", png(image))
        os.chmod(name, 0o640)
        self.convert(name, name)
        self.assert_same(read_png(name), image)
        self.assertEqual(os.stat(name).st_mode & 0o777, 0o640)
        self.assertEqual(len(list(self.folder.iterdir())), 1)

    def test_symbolic_link_stays_one(self):
        source = self.write("in.png", png(pattern(3, 3, 1, 255)))
        target = self.write("real.png", b"old")
        os.symlink(target, self.path("link.png"))
        self.convert(source, self.path("link.png"))
        self.assertTrue(os.path.islink(self.path("link.png")))
        self.assertEqual(read_png(target).width, 3)


class BadInputs(Case):
    def refuse_input(self, name, data, says=()):
        self.write(name, data)
        self.refuse(1, "image", "convolve", self.path(name), SAME, self.path("out.png"),
                    says=[name, *([says] if isinstance(says, str) else says)])

    def test_missing_directory_and_empty_file(self):
        out = self.path("out.png")
        self.refuse(1, "image", "spectrum", self.path("none.png"), out, says="none.png")
        self.refuse(1, "image", "spectrum", self.folder, out, says="directory")
        self.refuse_input("empty.png", b"", "empty")

    def test_unknown_magic(self):
        self.refuse_input("text.png", b"hello, world\n", "not a PNG")
        self.refuse_input("short.png", b"\x89P", "not a PNG")
        self.refuse_input("p8.pgm", b"P8 1 1 255 0", "not a PNG")

    def test_every_truncation_of_a_png(self):
        data = png(pattern(7, 5, 3, 255))
        for length in range(8, len(data) - 12):
            with self.subTest(length):
                self.refuse_input("in.png", data[:length], "PNG")

    def test_damaged_png(self):
        data = bytearray(png(pattern(7, 5, 3, 255)))
        data[50] ^= 255
        self.refuse_input("in.png", bytes(data), "PNG")

    def test_every_truncation_of_pnm(self):
        for channels, maxval in ((1, 255), (3, 65535)):
            data = pnm(pattern(4, 3, channels, maxval))
            for length in range(2, len(data)):
                with self.subTest((channels, length)):
                    self.refuse_input("in.pnm", data[:length])

    def test_truncated_jpeg(self):
        source = self.write("in.png", png(pattern(40, 40, 3, 255)))
        self.succeed("image", "convolve", source, SAME, self.path("in.jpg"))
        data = (self.folder / "in.jpg").read_bytes()
        for length in (3, 4, 20, 100, 300, len(data) // 2, len(data) - 40):
            with self.subTest(length):
                self.refuse_input("cut.jpg", data[:length], "JPEG")

    def test_absurd_sizes(self):
        one = pattern(1, 1, 1, 255)
        for width, height in ((2**31 - 1, 1), (2**31 - 1, 2**31 - 1), (1, 2**31 - 1),
                              (100000, 100000), (16384, 16384), (2**32 - 1, 1)):
            with self.subTest((width, height)):
                self.refuse_input("in.png", png(one, width, height))
                self.refuse_input("in.pgm", b"P5\n%d %d\n255\n\0" % (width, height))

    def test_zero_sizes(self):
        self.refuse_input("in.pgm", b"P5\n0 5\n255\n")
        self.refuse_input("in.pgm", b"P5\n5 0\n255\n")
        self.refuse_input("in.pam", b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\n"
                          b"ENDHDR\n12345", "channels")
        data = png(pattern(1, 1, 1, 255))
        head = struct.pack(">IIBBBBB", 0, 1, 8, 0, 0, 0, 0)
        self.refuse_input("in.png", data[:8] + chunk(b"IHDR", head) + data[33:])

    def test_unsupported_depths(self):
        one = pattern(1, 1, 1, 255)
        self.refuse_input("in.png", png(one, depth=7))
        self.refuse_input("in.pgm", b"P5\n1 1\n70000\n\0\0\0")
        self.refuse_input("in.pgm", b"P5\n1 1\n0\n\0")

    def test_bad_kernels(self):
        source = self.write("in.png", png(pattern(3, 3, 1, 255)))
        black = self.write("black.png", png(Image(2, 2, 1, 255, [0] * 4)))
        for kernel, says in (("gaussian", "gaussian"), ("gaussian:", ""), ("box:4", "box:4"),
                             ("gaussian:-1", ""), ("gaussian:1e9", ""), ("box:3:3", ""),
                             ("motion:5", ""), ("nonsense", "nonsense"), (black, "black"),
                             ("gaussian:nan", ""), ("disk:inf", "")):
            with self.subTest(kernel):
                self.refuse(1, "image", "convolve", source, kernel, self.path("out.png"),
                            says=says)


class BadOutputs(Case):
    def setUp(self):
        super().setUp()
        self.source = self.write("in.png", png(pattern(60, 60, 3, 65535)))

    def refuse_output(self, target, says=(), **more):
        self.refuse(1, "image", "convolve", self.source, SAME, target, says=says, **more)

    def test_unknown_type(self):
        self.refuse_output(self.path("out"), ["out", "type"])
        self.refuse_output(self.path("out.gif"), ["out.gif", "type"])

    def test_missing_directory(self):
        self.refuse_output(self.path("none/out.png"), ["none/out.png", "No such file"])

    def test_directory(self):
        (self.folder / "dir.png").mkdir()
        self.refuse_output(self.path("dir.png"), ["dir.png", "directory"])

    @unittest.skipIf(os.geteuid() == 0, "nothing is forbidden to root")
    def test_forbidden(self):
        (self.folder / "fixed").mkdir()
        os.chmod(self.folder / "fixed", 0o555)
        self.refuse_output(self.path("fixed/out.png"), "Permission denied")
        self.write("old.png", b"old")
        os.chmod(self.path("old.png"), 0o444)
        self.refuse_output(self.path("old.png"), "Permission denied")

    def test_full_device(self):
        for extension in ("png", "jpg", "ppm", "pam"):
            with self.subTest(extension):
                name = self.path("full." + extension)
                os.symlink("/dev/full", name)
                self.refuse_output(name, ["full." + extension, "No space left"])

    def test_full_disk_keeps_the_old_file(self):
        for extension in ("png", "jpg", "ppm"):
            with self.subTest(extension):
                name = self.write("old." + extension, b"old")
                self.refuse_output(name, ["old." + extension, "too large"], limit=4096)
                self.assertEqual(pathlib.Path(name).read_bytes(), b"old")

    def test_interrupt_leaves_nothing(self):
        random.seed(1)
        noise = self.write("noise.ppm", b"P6 1500 1500 255\n" + random.randbytes(6750000))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(10):  # the program may be done before the signal is sent
                status = self.interrupt(noise, number)
                if status != 0:
                    break
                os.remove(self.path("out.png"))
            self.assertEqual(status, -number)
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                             ["in.png", "noise.ppm"])

    def interrupt(self, source, number):
        """Send a signal as soon as there is a temporary file; return the exit status."""
        with subprocess.Popen([PROGRAM, "image", "convolve", source, SAME,
                               self.path("out.png")], stderr=subprocess.PIPE) as child:
            while not list(self.folder.glob(".kallima-*")) and child.poll() is None:
                time.sleep(0.002)
            child.send_signal(number)
            child.communicate(timeout=60)
            return child.returncode


if __name__ == "__main__":
    unittest.main()
