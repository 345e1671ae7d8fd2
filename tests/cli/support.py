# SPDX-License-Identifier: MIT
"""What the suites of the program share: running it, and small files made by hand.

KALLIMA in the environment is the program. Only the standard library is used, so that the
files do not come from the libraries that the program reads them with.
"""
import os
import pathlib
import resource
import signal
import struct
import subprocess
import tempfile
import unittest
import zlib

PROGRAM = os.environ["KALLIMA"]


class Image:
    """Rows of samples, interleaved, 0 .. maxval."""

    def __init__(self, width, height, channels, maxval, sample):
        self.width, self.height, self.channels = width, height, channels
        self.maxval, self.sample = maxval, list(sample)
        assert len(self.sample) == width * height * channels

    @classmethod
    def make(cls, width, height, channels, maxval, value):
        """value(x, y, c) -> sample"""
        return cls(width, height, channels, maxval,
                   [value(x, y, c) for y in range(height) for x in range(width)
                    for c in range(channels)])

    def at(self, x, y, c=0):
        return self.sample[(y * self.width + x) * self.channels + c]

    def pack(self, sample):
        form = ">%dH" if self.maxval > 255 else ">%dB"
        return struct.pack(form % len(sample), *sample)

    def rows(self):
        pitch = self.width * self.channels
        return [self.pack(self.sample[y * pitch:(y + 1) * pitch])
                for y in range(self.height)]


def chunk(name, data):
    return (struct.pack(">I", len(data)) + name + data +
            struct.pack(">I", zlib.crc32(name + data)))


def png(image, width=None, height=None, depth=None):
    """The bytes of a PNG; width, height and depth may lie."""
    header = struct.pack(">IIBBBBB", width or image.width, height or image.height,
                         depth or (16 if image.maxval > 255 else 8),
                         {1: 0, 2: 4, 3: 2, 4: 6}[image.channels], 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in image.rows()))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) +
            chunk(b"IEND", b""))


def unfilter(kind, row, before, step):
    """Undo one of PNG's five filters."""
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        up = before[i]
        corner = before[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = up
        elif kind == 3:
            guess = (left + up) // 2
        elif kind == 4:
            p = left + up - corner
            guess = min((abs(p - left), 0, left), (abs(p - up), 1, up),
                        (abs(p - corner), 2, corner))[2]
        else:
            guess = 0
        row[i] = (row[i] + guess) & 255
    return row


def read_png(path):
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, pixels, header = 8, b"", None
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == \
            zlib.crc32(name + body)
        if name == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif name == b"IDAT":
            pixels += body
        at += 12 + length
    width, height, depth, colour, _, _, interlace = header
    assert interlace == 0 and depth in (8, 16)
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[colour]
    step = channels * depth // 8
    pixels = zlib.decompress(pixels)
    before, sample = bytearray(width * step), []
    for y in range(height):
        start = y * (width * step + 1)
        row = unfilter(pixels[start], bytearray(pixels[start + 1:start + 1 + width * step]),
                       before, step)
        sample += struct.unpack((">%dH" if depth == 16 else ">%dB") % (width * channels), row)
        before = row
    return Image(width, height, channels, (1 << depth) - 1, sample)


def pnm(image):
    """The bytes of a raw PGM or PPM."""
    head = "P%d\n%d %d\n%d\n" % (5 if image.channels == 1 else 6, image.width, image.height,
                                 image.maxval)
    return head.encode() + b"".join(image.rows())


def read_pnm(path):
    data = pathlib.Path(path).read_bytes()
    magic, width, height, maxval = data.split(None, 4)[:4]
    channels = {b"P5": 1, b"P6": 3}[magic]
    width, height, maxval = int(width), int(height), int(maxval)
    size = 2 if maxval > 255 else 1
    count = width * height * channels
    body = data[len(data) - count * size:]
    return Image(width, height, channels, maxval,
                 struct.unpack((">%dH" if size == 2 else ">%dB") % count, body))


def npy(descr, shape, data, fortran=False, version=1):
    """The bytes of an .npy file."""
    head = repr({"descr": descr, "fortran_order": fortran, "shape": tuple(shape)})
    prefix = b"\x93NUMPY" + bytes([version, 0])
    form = "<H" if version == 1 else "<I"
    used = len(prefix) + struct.calcsize(form) + len(head) + 1
    head += " " * (-used % 64) + "\n"
    return prefix + struct.pack(form, len(head)) + head.encode() + data


class Case(unittest.TestCase):
    """A test in a folder of its own, in which the program leaves nothing but its output."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kallima-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return self.path(name)

    def run_program(self, *arguments, limit=None, **more):
        def prepare():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True,
                              timeout=120, preexec_fn=prepare, check=False, **more)

    def succeed(self, *arguments, **more):
        done = self.run_program(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, b""), arguments)
        return done.stdout.decode()

    def assert_same(self, got, want):
        """Two images are equal; without unittest's slow way of showing how they differ."""
        for field in ("width", "height", "channels", "maxval"):
            self.assertEqual(getattr(got, field), getattr(want, field), field)
        wrong = [i for i, (a, b) in enumerate(zip(got.sample, want.sample)) if a != b]
        self.assertEqual(len(wrong), 0, [(i, got.sample[i], want.sample[i])
                                         for i in wrong[:5]])

    def refuse(self, status, *arguments, says=(), **more):
        """The program ends with `status`, one sentence, and no new file."""
        before = sorted(p.name for p in self.folder.iterdir())
        done = self.run_program(*arguments, **more)
        sentence = done.stderr.decode()
        self.assertEqual(done.returncode, status, (arguments, sentence))
        self.assertEqual(done.stdout, b"", arguments)
        self.assertRegex(sentence, r"\Akallima: [^\n]*[^\n.]\n\Z")
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, sentence)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before, arguments)
        return sentence
