#include "programs/environment/image_python.h"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;

/// An image whose Python is this machine's, laid out as its makers do: PREFIX/bin and PREFIX/lib.
class TakePythonTest : public testing::Test {
 protected:
  TakePythonTest() {
    fs::create_directories(Layer() / "usr/local/bin");
    fs::copy_file(kSystemPython, Layer() / "usr/local/bin/python3.11");
    const fs::path from = "/usr/lib/python3.11";
    const fs::path to = Layer() / "usr/local/lib/python3.11";
    fs::create_directories(to.parent_path());
    // Leaves out what only takes time.
    std::string script =
        "mkdir -p \"$1\" && cd \"$0\" && tar cf - --exclude='config-*' --exclude=__pycache__";
    for (const char* name :
         {"site-packages", "dist-packages", "ensurepip", "idlelib", "lib2to3", "distutils", "unittest",
          "tkinter", "pydoc_data", "xml", "asyncio", "multiprocessing", "email"})
      script += std::string(" --exclude=./") + name;
    Output({"/bin/sh", "-c", script + " . | tar xf - -C \"$1\"", from, to});
    WriteText(to / "site-packages/of_the_image.py", "");
    // A library that only the image has, as libpython is in images.
    fs::create_directories(Layer() / "usr/lib/x86_64-linux-gnu");
    for (const char* library : {"libz.so.1", "libexpat.so.1", "libffi.so.8"})
      for (const char* folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"})
        if (fs::exists(fs::path(folder) / library))
          fs::copy_file(fs::path(folder) / library, Layer() / "usr/lib/x86_64-linux-gnu" / library,
                        fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] fs::path Layer() const { return folder_.path() / "layer"; }
  [[nodiscard]] Layout Environments() const { return {folder_.path() / "environments"}; }
  [[nodiscard]] fs::path Taken() const { return Environments().Pythons() / "image-3.11-0123456789ab"; }
  Status Take(const std::vector<std::string>& versions, const ImagePythonLimits& limits = {}) {
    return TakePythonFromImage(
        Environments(),
        {.name = "example:1", .digest = "sha256:0123456789abcdef", .layers = {Layer()}, .search_path = {}},
        versions,
        {.info = [this](std::string_view line) { said_.emplace_back(line); }, .error = {}, .download = {}},
        limits);
  }

  TemporaryFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(TakePythonTest, RunsHereWithWhatItBrought) {
  const auto taken = Take({"3.7", "3.11"});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(said_, std::vector<std::string>{"Copying Python 3.11 of example:1 (/usr/local/bin/python3.11)."});
  const fs::path program = Taken() / "bin/python3.11";
  EXPECT_EQ(Output({program, "-I", "-c", "import sys; print(sys.prefix)"}), Taken());
  EXPECT_EQ(Output({program, "-I", "-c",
                    "import ctypes, zlib; print([line.split()[-1] for line in open('/proc/self/maps') if "
                    "'libz' in line][0])"}),
            Taken() / "lib/libz.so.1");
  EXPECT_FALSE(fs::exists(Taken() / "lib/python3.11/site-packages")) << "packages of the image";
  EXPECT_FALSE(fs::exists(Taken() / "lib/libc.so.6")) << "the machine's";
  EXPECT_TRUE(fs::exists(Taken() / "lib/python3.11/__pycache__/os.cpython-311.pyc"));
  const auto before = fs::last_write_time(program);
  EXPECT_TRUE(Take({"3.11"}));
  EXPECT_EQ(fs::last_write_time(program), before) << "once";
}

TEST_F(TakePythonTest, SaysWhatTheImageHas) {
  EXPECT_EQ(Take({"3.7"}).error(),
            FailedPrecondition("The image example:1 has no Python 3.7. It has Python 3.11."));
  fs::remove(Layer() / "usr/local/bin/python3.11");
  EXPECT_EQ(Take({"3.7", "3.11"}).error(),
            FailedPrecondition("The image example:1 has no Python 3.11 or 3.7. It has none."));
}

TEST_F(TakePythonTest, RefusesWhatIsBeyondTheLimits) {
  const auto refusal = [this](const ImagePythonLimits& limits) {
    const Status taken = Take({"3.11"}, limits);
    EXPECT_FALSE(fs::exists(Taken()));
    return taken ? FailedPrecondition("taken") : taken.error();
  };
  EXPECT_EQ(refusal({.files = 100}), FailedPrecondition("The Python of the image has more than 100 files"));
  EXPECT_EQ(refusal({.bytes = 8 << 20}), FailedPrecondition("The Python of the image has more than 8 MiB"));
  EXPECT_EQ(refusal({.libraries = 2}),
            FailedPrecondition("What the Python of the image needs has more than 2 libraries"));
  EXPECT_TRUE(refusal({.depth = 0}).message.ends_with(" of the image has more than 0 folders above it"));
  const fs::path large = Layer() / "usr/local/lib/python3.11/aaa.py";
  WriteText(large, "");
  fs::resize_file(large, kReadFileMax + 1);
  EXPECT_EQ(refusal({}),
            FailedPrecondition("/usr/local/lib/python3.11/aaa.py of the image has more than 64 MiB"));
}

/// Reports which programs were to be run, and as which user; runs none.
class RefusingIsolation final : public ToolIsolation {
 public:
  [[nodiscard]] std::optional<Owner> owner() const override { return std::nullopt; }
  [[nodiscard]] int Run(const IsolatedTool& tool) const override {
    std::fprintf(stderr, "isolated: %s\n", fs::path(tool.argv.front()).filename().c_str());
    return 1 << 8;
  }
};

TEST_F(TakePythonTest, IsRunIsolated) {
  const RefusingIsolation isolation;
  const Status taken = TakePythonFromImage(
      Environments(),
      {.name = "example:1", .digest = "sha256:0123456789abcdef", .layers = {Layer()}, .search_path = {}},
      {"3.11"}, {.info = [](std::string_view) {}, .error = {}, .download = {}, .isolation = &isolation});
  EXPECT_EQ(taken.error(), FailedPrecondition("The Python 3.11 of example:1 does not run on this machine: "
                                              "isolated: python3.11"));
}

void Replace(const fs::path& file, const std::string& text, const std::string& with) {
  std::string bytes = ReadText(file);
  for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1))
    bytes.replace(at, text.size(), with);
  WriteText(file, bytes);
}

TEST_F(TakePythonTest, SaysThatItIsForMusl) {
  Replace(Layer() / "usr/local/bin/python3.11", "/lib64/ld-linux-x86-64.so.2",
          std::string("/lib/ld-musl-x86_64.so.1").append(3, '\0'));
  EXPECT_EQ(
      Take({"3.11"}).error(),
      FailedPrecondition("The Python 3.11 of example:1 is for musl (Alpine). Use an image of Debian, such as "
                         "python:3.11-slim."));
}

TEST_F(TakePythonTest, SaysWhichGlibcItNeeds) {
  Replace(Layer() / "usr/local/bin/python3.11", "GLIBC_2.34", "GLIBC_9.34");
  EXPECT_EQ(Take({"3.11"}).error(),
            FailedPrecondition("The Python 3.11 of example:1 needs glibc 9.34, and this machine has " +
                               std::string(::gnu_get_libc_version()) +
                               ". Use an image of an older Debian release."));
}

TEST_F(TakePythonTest, SaysThatItDoesNotRunAndLeavesNothing) {
  fs::remove_all(Layer() / "usr/local/lib/python3.11/importlib");
  const auto taken = Take({"3.11"});
  ASSERT_FALSE(taken);
  EXPECT_TRUE(
      taken.error().message.starts_with("The Python 3.11 of example:1 does not run on this machine: "))
      << taken.error().message;
  EXPECT_FALSE(fs::exists(Taken()));
}

}  // namespace
}  // namespace trainyard::environment
