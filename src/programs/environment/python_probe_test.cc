#include "programs/environment/python_probe.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

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
            "#!/bin/sh\necho 3.97\n");  // a wrapper, such as pyenv's for a version that it does not have
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

TEST(PythonFolders, AreThoseOfCondaPyenvAndUvToo) {
  const TemporaryFolder folder;
  const std::string home = ::getenv("HOME");
  const char* pyenv = ::getenv("PYENV_ROOT");
  const std::string pyenv_root = pyenv == nullptr ? "" : pyenv;
  std::vector<fs::path> bins;
  for (const char* place :
       {"environments/pythons/a", ".local/share/uv/python/cpython-3.11", ".pyenv/versions/3.11.1", "active",
        "active/envs/b", "miniconda3", "miniconda3/envs/c", "anaconda3/envs/d"}) {
    bins.push_back(folder.path() / place / "bin");
    fs::create_directories(bins.back());
  }
  ::setenv("HOME", folder.path().c_str(), 1);
  ::setenv("CONDA_PREFIX", (folder.path() / "active").c_str(), 1);
  ::unsetenv("PYENV_ROOT");
  const std::vector<fs::path> folders = PythonFolders(folder.path() / "environments");
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("CONDA_PREFIX");
  if (pyenv != nullptr) ::setenv("PYENV_ROOT", pyenv_root.c_str(), 1);
  for (const fs::path& bin : bins) EXPECT_NE(std::ranges::find(folders, bin), folders.end()) << bin;
}

TEST(PythonInventory, AnswersTheSameUntilSomethingIsInstalled) {
  const TemporaryFolder folder;
  PythonInventory inventory(folder.path());
  const std::vector<Python> first = inventory.Look().pythons;
  EXPECT_EQ(first, ProbePythons(folder.path()).pythons);
  EXPECT_FALSE(first.front().package_folders.empty());
  fs::create_directories(folder.path() / "pythons/a/bin");
  fs::create_symlink(kSystemPython, folder.path() / "pythons/a/bin/python3.11");
  EXPECT_EQ(inventory.Look().pythons, first) << "the system's counts";
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
