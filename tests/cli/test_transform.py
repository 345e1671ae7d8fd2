# SPDX-License-Identifier: MIT
"""kallima transform: NumPy's files and NumPy's numbers."""
import cmath
import itertools
import math
import os
import random
import re
import struct
import unittest

from support import Case, npy

try:
    import numpy
except ImportError:
    numpy = None

CODES = {"f4": "f", "f8": "d", "c8": "f", "c16": "d"}


def read_npy(path):
    """Type, shape and numbers of a file of version 1.0 in C order."""
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\0", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    head = data[10:10 + length].decode()
    assert (10 + length) % 64 == 0 and head.endswith("\n")
    kind = re.search(r"'descr': '<(\w+)'", head)[1]
    assert "'fortran_order': False" in head
    shape = tuple(int(n) for n in re.search(r"'shape': \((.*?)\)", head)[1].split(",") if n)
    body = data[10 + length:]
    code = CODES[kind]
    values = struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body)
    if kind[0] == "c":
        values = [complex(*pair) for pair in zip(values[::2], values[1::2])]
    assert len(values) == math.prod(shape)
    return kind, shape, list(values)


def definition(values, shape, axis, sign):
    """The transform of one axis of an array in C order, by its definition."""
    n = shape[axis]
    step = math.prod(shape[axis + 1:])
    out = list(values)
    for start in range(len(values)):
        if start // step % n:
            continue
        for k in range(n):
            out[start + k * step] = sum(
                values[start + j * step] * cmath.exp(sign * 2j * math.pi * (j * k % n) / n)
                for j in range(n))
    return out


class Files(Case):
    """Without NumPy: little arrays, against the definition."""

    def transform(self, data, *options):
        source = self.write("in.npy", data)
        self.succeed("transform", source, self.path("out.npy"), *options)
        return read_npy(self.folder / "out.npy")

    def assert_near(self, got, want, eps):
        size = math.sqrt(sum(abs(w)**2 for w in want))
        error = math.sqrt(sum(abs(g - w)**2 for g, w in zip(got, want)))
        self.assertEqual(len(got), len(want))
        self.assertLessEqual(error, 8 * eps * size)

    def test_every_element_type_order_and_version(self):
        random.seed(2)
        shape, count = (3, 4), 12
        for name, code in (("f2", "e"), ("f4", "f"), ("f8", "d"), ("c8", "f"), ("c16", "d"),
                           ("i1", "b"), ("i2", "h"), ("i4", "i"), ("i8", "q"), ("u1", "B"),
                           ("u2", "H"), ("u4", "I"), ("u8", "Q"), ("b1", "B")):
            numbers = [random.randrange(0, 2 if name == "b1" else 100)
                       for _ in range(2 * count if name[0] == "c" else count)]
            values = ([complex(*p) for p in zip(numbers[::2], numbers[1::2])]
                      if name[0] == "c" else numbers)
            want = definition(definition(values, shape, 0, -1), shape, 1, -1)
            single = name in ("f4", "c8")
            for order, version in itertools.product("<>", (1, 2, 3)):
                with self.subTest((name, order, version)):
                    data = struct.pack(f"{order}{len(numbers)}{code}", *numbers)
                    mark = "|" if name[1:] == "1" else order
                    kind, size, got = self.transform(npy(mark + name, shape, data,
                                                         version=version))
                    self.assertEqual((kind, size), ("c8" if single else "c16", shape))
                    self.assert_near(got, want, 2**-24 if single else 2**-53)

    def test_fortran_order(self):
        values = [complex(i, -i * i) for i in range(24)]
        shape = (2, 3, 4)
        turned = [values[(i * 3 + j) * 4 + k] for k in range(4) for j in range(3)
                  for i in range(2)]
        data = b"".join(struct.pack("<2d", v.real, v.imag) for v in turned)
        want = definition(definition(values, shape, 0, -1), shape, 2, -1)
        kind, size, got = self.transform(npy("<c16", shape, data, fortran=True), "--axes",
                                         "0,2")
        self.assertEqual((kind, size), ("c16", shape))
        self.assert_near(got, want, 2**-53)

    def test_header_of_other_writers(self):
        # Another order of keys, double quotes, no padding: the data is not aligned.
        head = b'{ "shape":(2,),"fortran_order" : False, "descr": "<f8",}'
        data = (b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head +
                struct.pack("<2d", 3, 5))
        kind, size, got = self.transform(data)
        self.assertEqual((kind, size), ("c16", (2, )))
        self.assert_near(got, [8, -2], 2**-53)

    def test_real_transforms_and_lengths(self):
        for n in (1, 2, 5, 8, 9):
            values = [float((i * 7 + 3) % 11) for i in range(n)]
            data = npy("<f8", (n, ), struct.pack(f"<{n}d", *values))
            kind, size, got = self.transform(data, "--real")
            self.assertEqual((kind, size), ("c16", (n // 2 + 1, )))
            self.assert_near(got, definition(values, (n, ), 0, -1)[:n // 2 + 1], 2**-53)
            os.replace(self.path("out.npy"), self.path("half.npy"))
            more = ["--length", n] if n % 2 else []
            self.succeed("transform", self.path("half.npy"), self.path("back.npy"), "--real",
                         "--inverse", *more)
            kind, size, got = read_npy(self.folder / "back.npy")
            self.assertEqual((kind, size), ("f8", (n, )))
            self.assert_near(got, values, 2**-53)

    def test_norms(self):
        values = [1, 2j, -3, 4, 0.5]
        data = npy("<c16", (5, ), b"".join(struct.pack("<2d", complex(v).real,
                                                      complex(v).imag) for v in values))
        for norm, forward, inverse in (("backward", 1, 5), ("ortho", 5**0.5, 5**0.5),
                                       ("forward", 5, 1)):
            for sign, scale, more in ((-1, forward, []), (1, inverse, ["--inverse"])):
                got = self.transform(data, "--norm", norm, *more)[2]
                want = [w / scale for w in definition(values, (5, ), 0, sign)]
                self.assert_near(got, want, 2**-53)

    def test_bad_files(self):
        good = npy("<f8", (3, 4), bytes(96))
        out = self.path("out.npy")

        def refuse(data, says, *options):
            with self.subTest(says):
                name = self.write("in.npy", data)
                self.refuse(1, "transform", name, out, *options, says=["in.npy", says])
        for length in range(len(good)):
            refuse(good[:length], "empty" if length == 0 else "npy" if length < 6 else
                   "truncated")
        refuse(b"hello, world", "not an .npy")
        refuse(good[:6] + b"\x09" + good[7:], "version")
        refuse(npy("<f8", (2**31, 2**31, 2**10), b""), "large")
        refuse(npy("<f8", (2**40, ), bytes(8)), "truncated")
        refuse(npy("<f8", (2**70, ), bytes(8)), "shape")
        refuse(npy("<f8", (-1, ), bytes(8)), "shape")
        refuse(npy("<f8", (0, 3), b""), "no elements")
        refuse(npy("<f8", (), bytes(8)), "no axes")
        refuse(npy("<f16", (1, ), bytes(16)), "f16")
        refuse(npy("|O", (1, ), bytes(16)), "|O")
        refuse(npy("<U3", (1, ), bytes(16)), "U3")
        refuse(npy([("a", "<f8")], (1, ), bytes(16)), "structured")
        refuse(good.replace(b"'descr'", b"'depth'"), "'descr'")
        refuse(good.replace(b"False", b"Maybe"), "'fortran_order'")
        refuse(good.replace(b"(3, 4)", b"(3; 4)"), "'shape'")
        refuse(npy("<f8", (1, ) * 9, bytes(8)), "at most 8")
        refuse(npy("<f8", (1, ) * 65, bytes(8)), "64")
        refuse(good, "axis 2", "--axes", "2")
        refuse(good, "axis -3", "--axes", "0,-3")
        refuse(good, "twice", "--axes", "1,-1")
        refuse(good, "integers", "--axes", "0,,1")
        refuse(good, "integers", "--axes", "a")
        refuse(good, "length", "--real", "--inverse", "--length", "9")
        refuse(npy("<c8", (4, ), bytes(32)), "complex", "--real")
        refuse(npy("<c8", (1, ), bytes(8)), "length", "--real", "--inverse")

    def test_bad_outputs(self):
        source = self.write("in.npy", npy("<f8", (3, 4), bytes(96)))
        self.refuse(1, "transform", source, "/dev/full", says=["/dev/full", "No space left"])
        self.refuse(1, "transform", source, self.path("none/out.npy"), says="No such file")
        self.refuse(1, "transform", source, self.folder, says="directory")
        self.refuse(1, "transform", source, self.path("out.npy"), limit=100,
                    says=["out.npy", "too large"])

    def test_pipes(self):
        source = self.write("in.npy", npy("<f8", (2, ), struct.pack("<2d", 3, 5)))
        done = self.run_program("transform", source, "/dev/stdout")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(struct.unpack("<4d", done.stdout[-32:])[:3], (8, 0, -2))


@unittest.skipIf(numpy is None, "NumPy is not installed")
class Numpy(Case):
    SHAPES = [(1, ), (7, ), (64, ), (97, ), (1000, ), (5, 8), (16, 9), (1, 6), (6, 1),
              (4, 6, 5), (3, 1, 4), (2, 3, 4, 5), (2, 2, 3, 2, 3, 2)]

    def compare(self, values, name, options, **arguments):
        source, target = self.path("in.npy"), self.path("out.npy")
        numpy.save(source, values)
        self.succeed("transform", source, target, *options)
        got = numpy.load(target)
        want = getattr(numpy.fft, name)(values.astype(
            {"e": "f8"}.get(values.dtype.char, values.dtype)), **arguments)
        single = values.dtype.char in "fF"
        self.assertEqual(got.shape, want.shape)
        kind = {(False, False): "d", (False, True): "D", (True, False): "f",
                (True, True): "F"}[single, numpy.iscomplexobj(want)]
        self.assertEqual(got.dtype.char, kind)
        scale = numpy.linalg.norm(want.ravel()) or 1
        error = numpy.linalg.norm((got - want).ravel()) / scale
        bound = 4 * (2**-24 if single else 2**-53) * math.sqrt(1 + math.log2(values.size))
        self.assertLessEqual(error, bound)

    def values(self, shape, char, order):
        random_numbers = numpy.random.default_rng(3)
        values = random_numbers.standard_normal(shape)
        if char in "FD":
            values = values + 1j * random_numbers.standard_normal(shape)
        elif char not in "efd":
            values = 100 * values
        return numpy.array(values, dtype=char, order=order)

    def test_all_axes(self):
        for shape in self.SHAPES:
            for char, order in (("f", "C"), ("d", "F"), ("F", "F"), ("D", "C"), ("e", "C"),
                                ("h", "C")):
                values = self.values(shape, char, order)
                with self.subTest((shape, char)):
                    self.compare(values, "fftn", [])
                    self.compare(values, "ifftn", ["--inverse"])
                    if char not in "FD":
                        self.compare(values, "rfftn", ["--real"])
                    if shape[-1] > 1:
                        self.compare(values, "irfftn", ["--real", "--inverse"])

    def test_chosen_axes(self):
        for shape in ((5, 8), (4, 6, 5), (3, 1, 4), (2, 3, 4, 5), (2, 3, 2, 3, 2)):
            rank = len(shape)
            for count in range(1, rank + 1):
                for axes in itertools.permutations(range(rank), count):
                    if count > 2 and list(axes) != sorted(axes):
                        continue
                    order = "CF"[sum(axes) % 2]
                    text = ["--axes=" + ",".join(str(a if a % 2 else a - rank) for a in axes)]
                    with self.subTest((shape, axes, order)):
                        values = self.values(shape, "D", order)
                        self.compare(values, "fftn", text, axes=axes)
                        values = self.values(shape, "f", order)
                        self.compare(values, "rfftn", text + ["--real"], axes=axes)
                        if shape[axes[-1]] > 1:
                            values = self.values(shape, "F", order)
                            self.compare(values, "irfftn", text + ["--real", "--inverse"],
                                         axes=axes)

    def test_norms_and_odd_lengths(self):
        values = self.values((6, 5), "D", "C")
        for norm in ("backward", "ortho", "forward"):
            self.compare(values, "fftn", ["--norm", norm], norm=norm)
            self.compare(values, "ifftn", ["--norm", norm, "--inverse"], norm=norm)
            self.compare(values, "irfftn", ["--norm", norm, "--inverse", "--real",
                                            "--length", "9"], norm=norm, s=(6, 9),
                         axes=(0, 1))
            self.compare(values.real.copy(), "rfftn", ["--norm", norm, "--real"], norm=norm)

    def test_large_arrays(self):
        for shape, char in (((1 << 16, ), "D"), ((300, 400), "F"), ((65537, ), "f"),
                            ((30011, ), "d"), ((100, 50, 7), "f")):
            with self.subTest((shape, char)):
                self.compare(self.values(shape, char, "C"), "fftn", [])


if __name__ == "__main__":
    unittest.main()
