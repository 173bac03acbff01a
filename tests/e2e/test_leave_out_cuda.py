"""leave_out_cuda.py: libraries that are linked against CUDA are loaded without it, and find no device."""

import ctypes
import shutil
import subprocess
import sys

import pytest

from trainyard_server import ROOT

PROGRAM = ROOT / "src/programs/environment/leave_out_cuda.py"
CUDART = """
int cudaGetDeviceCount(int* count) { *count = 1; return 0; }
"""
VERSIONS = "libcudart.so.13 { global: cudaGetDeviceCount; local: *; };"
NCCL = "int ncclGetVersion(int* version) { *version = 1; return 0; }"
FRAMEWORK = """
#include <string.h>
int cudaGetDeviceCount(int*);
int ncclGetVersion(int*);
__attribute__((section(".nv_fatbin"))) const char code[1 << 20] = {1};
int count(int* number) { return strlen("x") == 1 ? cudaGetDeviceCount(number) : -1; }
int nccl(int* number) { return ncclGetVersion(number) + code[0] - code[0]; }
"""


@pytest.fixture
def build(tmp_path):
    compiler = shutil.which("clang-19") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("this machine has no C compiler")

    found = str(compiler)

    def build(text, *options):
        subprocess.run([found, "-x", "c", "-", "-x", "none", "-shared", "-fPIC", *options], input=text, text=True, check=True)
    return build


def test_functions_of_libraries_that_are_left_out_say_that_there_is_no_device(build, tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    (tmp_path / "versions").write_text(VERSIONS)
    build(CUDART, "-Wl,-soname,libcudart.so.13", f"-Wl,--version-script={tmp_path}/versions", "-o", str(tmp_path / "libcudart.so.13"))
    build(NCCL, "-Wl,-soname,libnccl.so.2", "-o", str(tmp_path / "libnccl.so.2"))
    build(FRAMEWORK, "-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags", "-o", str(folder / "libframework.so"),
          "-Wl,--no-as-needed", str(tmp_path / "libcudart.so.13"), str(tmp_path / "libnccl.so.2"))
    with pytest.raises(OSError):
        ctypes.CDLL(str(folder / "libframework.so"))
    used = (folder / "libframework.so").stat().st_blocks
    subprocess.run([sys.executable, "-I", PROGRAM, folder], check=True)
    framework = ctypes.CDLL(str(folder / "libframework.so"))
    number = ctypes.c_int(-1)
    assert (framework.count(ctypes.byref(number)), number.value) == (100, -1)
    assert framework.nccl(ctypes.byref(number)) == 100
    assert (folder / "libframework.so").stat().st_blocks <= used - 1024, "the code for GPUs takes no room"


def test_a_folder_without_such_libraries_is_left_alone(build, tmp_path):
    folder = tmp_path / "lib"
    folder.mkdir()
    build("int one() { return 1; }", "-o", str(folder / "libone.so"))
    before = (folder / "libone.so").read_bytes()
    subprocess.run([sys.executable, "-I", PROGRAM, folder], check=True)
    assert [path.name for path in folder.iterdir()] == ["libone.so"]
    assert (folder / "libone.so").read_bytes() == before
