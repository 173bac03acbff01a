#include "environment/python_probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "environment/package_files_for_test.h"
#include "environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;

TEST(ProbePythons, FindsTheSystemsFirst) {
  const TemporaryFolder folder;
  const AvailablePythons found = ProbePythons(folder.path());
  ASSERT_NE(found.Find("3.11"), nullptr);
  EXPECT_EQ(found.Find("3.11")->path, kSystemPython);
  EXPECT_EQ(found.Find("3.99"), nullptr);
}

TEST(ProbePythons, BelievesWhatAnInterpreterSaysNotItsName) {
  const TemporaryFolder folder;
  const fs::path bin = folder.path() / "pythons/cpython-3.98/bin";
  WriteText(bin / "python3.97",
            "#!/bin/sh\necho 3.97\n");  // a wrapper, as pyenv's that knows no such version
  fs::permissions(bin / "python3.97", fs::perms::owner_all);
  fs::create_symlink(kSystemPython, bin / "python3.98");
  fs::create_symlink("/bin/false", bin / "python3.96");
  fs::create_symlink("/nonexistent", bin / "python3.95");
  const AvailablePythons found = ProbePythons(folder.path());
  for (const char* version : {"3.95", "3.96", "3.97", "3.98"})
    EXPECT_EQ(found.Find(version), nullptr) << version;
}

TEST(ProbePythons, LooksBelowTheEnvironmentsFolderAndUvs) {
  const TemporaryFolder folder;
  ::setenv("UV_PYTHON_INSTALL_DIR", (folder.path() / "uv").c_str(), 1);
  fs::create_directories(folder.path() / "uv/cpython-3.11/bin");
  fs::create_symlink(kSystemPython, folder.path() / "uv/cpython-3.11/bin/python3.11");
  const AvailablePythons found = ProbePythons(folder.path());
  ::unsetenv("UV_PYTHON_INSTALL_DIR");
  EXPECT_EQ(found.Find("3.11")->path, kSystemPython);  // the system's wins
}

TEST(DownloadPython, NeedsNothingForOneThatIsThere) {
  const TemporaryFolder folder;
  const auto none = [](std::string_view line) { ADD_FAILURE() << line; };
  EXPECT_TRUE(DownloadPython(folder.path(), "3.11", {.info = none, .error = none, .download = {}}));
}

TEST(DownloadPython, PassesUvsReasonOn) {
  const TemporaryFolder folder;
  const auto none = [](std::string_view) {};
  WriteText(folder.path() / "tools/uv/bin/uv",
            "#!/bin/sh\necho 'error: No download found for request: '$4 >&2\nexit 2\n");
  fs::permissions(folder.path() / "tools/uv/bin/uv", fs::perms::owner_all);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/usr/bin:/bin", 1);
  const auto done = DownloadPython(folder.path(), "3.99", {.info = none, .error = none, .download = {}});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), FailedPrecondition("uv: No download found for request: 3.99"));
}

}  // namespace
}  // namespace trainyard::environment
