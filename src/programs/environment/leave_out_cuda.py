"""Makes libraries that are linked against CUDA usable without it: DIRECTORY.

The index has PyTorch for x86_64 with CUDA only: its libraries need those of NVIDIA's packages, several gigabytes,
to be loaded at all. This gives them one small library instead, under the names of all of NVIDIA's that are not
there. Each of its functions returns 100, which CUDA calls "no device": what a program gets on a machine without
a GPU. The machine code for GPUs is left out, too.
"""

import mmap
import pathlib
import struct
import sys

NVIDIA = ("libcu", "libnv", "libnccl")
NVIDIA_FUNCTIONS = ("cu", "__cuda", "nv", "nccl")  # without a version, as the functions of some of these libraries are
STAND_IN = "libwithout_cuda.so"
NO_DEVICE = {62: b"\xb8\x64\x00\x00\x00\xc3",  # x86_64: mov eax, 100; ret
             183: b"\x80\x0c\x80\x52\xc0\x03\x5f\xd6"}  # aarch64: mov w0, #100; ret
GPU_CODE = ".nv_fatbin"
LOAD, DYNAMIC, STACK = 1, 2, 0x6474E551
HASH, STRTAB, SYMTAB, STRSZ, SYMENT, SONAME = 4, 5, 6, 10, 11, 14
GNU_HASH, VERSYM, VERDEF, VERDEFNUM, VERNEED = 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE
WEAK = 2


class Library:
    """What a shared library defines and needs. Source: System V ABI, chapters 4 and 5; LSB, symbol versioning."""

    def __init__(self, path: pathlib.Path) -> None:
        with open(path, "rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.machine = self._read("<H", 18)[0]
        start, count = self._read("<Q", 32)[0], self._read("<H", 56)[0]
        headers = [self._read("<IIQQQQQQ", start + 56 * i) for i in range(count)]
        self._loads = [(header[3], header[2], header[5]) for header in headers if header[0] == LOAD]
        dynamic = next(header for header in headers if header[0] == DYNAMIC)
        entries = [self._read("<qQ", dynamic[2] + at) for at in range(0, dynamic[5], 16)]
        self._tags = dict(entries)
        self._names = self._offset(self._tags[STRTAB])
        self.needed = [self._text(self._names + value) for tag, value in entries if tag == 1]
        self.defined: set[str] = set()
        self.wanted: dict[str, tuple[str, str] | None] = {}  # symbol -> (file, version)
        self._read_symbols(self._read_versions())

    def _read(self, form: str, at: int) -> tuple:
        return struct.unpack_from(form, self._bytes, at)

    def _text(self, at: int) -> str:
        return self._bytes[at:self._bytes.find(b"\0", at)].decode()

    def _offset(self, address: int) -> int:
        return next(at + address - begin for begin, at, size in self._loads if begin <= address < begin + size)

    def _read_versions(self) -> dict[int, tuple[str, str]]:
        versions = {}
        at = self._offset(self._tags[VERNEED]) if VERNEED in self._tags else 0
        while at:
            _, count, file, first, following = self._read("<HHIII", at)
            one = at + first
            for _ in range(count):
                _, _, index, name, step = self._read("<IHHII", one)
                versions[index] = (self._text(self._names + file), self._text(self._names + name))
                one += step
            at = at + following if following else 0
        return versions

    def _symbol_count(self) -> int:
        if HASH in self._tags:
            return self._read("<I", self._offset(self._tags[HASH]) + 4)[0]
        at = self._offset(self._tags[GNU_HASH])
        buckets, first, blooms, _ = self._read("<IIII", at)
        last = max(self._read(f"<{buckets}I", at + 16 + 8 * blooms))
        if last < first:
            return first
        chain = at + 16 + 8 * blooms + 4 * buckets
        while not self._read("<I", chain + 4 * (last - first))[0] & 1:
            last += 1
        return last + 1

    def _read_symbols(self, versions: dict[int, tuple[str, str]]) -> None:
        symbols = self._offset(self._tags[SYMTAB])
        marks = self._offset(self._tags[VERSYM]) if VERSYM in self._tags else None
        for i in range(1, self._symbol_count()):
            name, info, _, section, _, _ = self._read("<IBBHQQ", symbols + 24 * i)
            binding = info >> 4
            if not name or not binding:
                continue
            text = self._text(self._names + name)
            if section:
                self.defined.add(text)
            elif binding != WEAK:
                mark = self._read("<H", marks + 2 * i)[0] & 0x7FFF if marks is not None else 0
                self.wanted[text] = versions.get(mark)

    def gpu_code(self) -> tuple[int, int] | None:
        """Where the machine code for GPUs lies in the file: begin, size."""
        start, count, names = self._read("<Q", 40)[0], self._read("<H", 60)[0], self._read("<H", 62)[0]
        if not start or not count:
            return None
        sections = [self._read("<IIQQQQ", start + 64 * i) for i in range(count)]
        return next((section[4:6] for section in sections if self._text(sections[names][4] + section[0]) == GPU_CODE), None)


def hash_of(name: str) -> int:
    """Of DT_HASH and of versions."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def align(at: int, to: int) -> int:
    return (at + to - 1) // to * to


class Strings:
    def __init__(self) -> None:
        self.bytes = bytearray(1)

    def add(self, text: str) -> int:
        self.bytes += text.encode() + b"\0"
        return len(self.bytes) - len(text.encode()) - 1


def write_stand_in(path: pathlib.Path, machine: int, functions: dict[str, str]) -> None:
    """A library with these functions (name -> version, or "")."""
    strings = Strings()
    own = strings.add(path.name)
    names = sorted(functions)
    offsets = [strings.add(name) for name in names]
    versions = sorted(set(functions.values()) - {""})
    indexes = {version: i for i, version in enumerate(versions, 2)}
    marks = struct.pack(f"<{len(names) + 1}H", 0, *(indexes.get(functions[name], 1) for name in names))
    definitions = b""
    for i, (at, name) in enumerate([(own, path.name), *((strings.add(version), version) for version in versions)]):
        step = 28 if i < len(versions) else 0
        definitions += struct.pack("<HHHHIIIII", 1, 1 if i == 0 else 0, i + 1, 1, hash_of(name), 20, step, at, 0)
    buckets, chain = [0] * (len(names) // 2 + 1), [0] * (len(names) + 1)
    for i, name in enumerate(names, 1):
        at = hash_of(name) % len(buckets)
        chain[i], buckets[at] = buckets[at], i

    code = NO_DEVICE[machine]
    symtab = 64 + 56 * 4
    hashes = symtab + 24 * (len(names) + 1)
    strtab = hashes + 4 * (2 + len(buckets) + len(chain))
    versym = align(strtab + len(strings.bytes), 8)
    verdef = align(versym + len(marks), 8)
    text = align(verdef + len(definitions), 16)
    end = text + len(code)
    dynamic = align(end, 0x10000)  # the largest page of both processors
    tags = [(SONAME, own), (HASH, hashes), (STRTAB, strtab), (SYMTAB, symtab), (STRSZ, len(strings.bytes)), (SYMENT, 24),
            (VERSYM, versym), (VERDEF, verdef), (VERDEFNUM, len(versions) + 1), (0, 0)]
    entries = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    headers = [(LOAD, 5, 0, 0, 0, end, end, 0x10000), (LOAD, 6, dynamic, dynamic, dynamic, len(entries), len(entries), 0x10000),
               (DYNAMIC, 6, dynamic, dynamic, dynamic, len(entries), len(entries), 8), (STACK, 6, 0, 0, 0, 0, 0, 16)]
    symbols = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 1, text, len(code)) for at in offsets)
    parts = [(0, struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, machine, 1, 0, 64, 0, 0, 64, 56, len(headers), 0, 0, 0)),
             (64, b"".join(struct.pack("<IIQQQQQQ", *header) for header in headers)), (symtab, symbols),
             (hashes, struct.pack(f"<{2 + len(buckets) + len(chain)}I", len(buckets), len(chain), *buckets, *chain)),
             (strtab, bytes(strings.bytes)), (versym, marks), (verdef, definitions), (text, code), (dynamic, entries)]
    with open(path, "wb") as file:
        for at, part in parts:
            file.seek(at)
            file.write(part)
    path.chmod(0o755)


def leave_out_code(path: pathlib.Path, begin: int, size: int) -> None:
    """Writes the file anew with a hole: it may be a link into the cache of downloads."""
    new = path.with_name(path.name + ".new")
    with open(path, "rb") as old, open(new, "wb") as file:
        at, total = 0, path.stat().st_size
        for end in (begin, total):
            old.seek(at)
            file.seek(at)
            while at < end:
                piece = old.read(min(1 << 24, end - at))
                file.write(piece)
                at += len(piece)
            at = begin + size
    new.chmod(path.stat().st_mode & 0o777)
    new.replace(path)


def main(folder: pathlib.Path) -> None:
    libraries = {path.name: Library(path) for path in sorted(folder.glob("*.so*")) if path.is_file()}
    missing = {name for library in libraries.values() for name in library.needed if name.startswith(NVIDIA) and name not in libraries}
    defined = {symbol for library in libraries.values() for symbol in library.defined}
    functions = {}
    for library in libraries.values():
        for symbol, version in library.wanted.items():
            if symbol not in defined and (version[0] in missing if version else symbol.startswith(NVIDIA_FUNCTIONS)):
                functions[symbol] = version[1] if version else functions.get(symbol, "")
    if not missing:
        return
    write_stand_in(folder / STAND_IN, next(iter(libraries.values())).machine, functions)
    for name in missing:
        (folder / name).symlink_to(STAND_IN)
    for name, library in libraries.items():
        if code := library.gpu_code():
            leave_out_code(folder / name, *code)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
