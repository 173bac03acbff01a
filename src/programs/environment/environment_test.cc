#include "programs/environment/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/async/file.h"
#include "programs/environment/package_files_for_test.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Real builds with this machine's Python, without a network: pip may use no index. The runtime is built
/// once.
class EnvironmentBuild : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ::setenv("PIP_NO_INDEX", "1", 1);
    folder_ = new TemporaryFolder;
    const fs::path wheel = MakeWheel(folder_->path(), "shade", "1.0");
    WriteText(Environments() / "runtimes.d/0.1.json", R"({"version": "0.1", "pythons": ["3.11"]})");
    WriteText(Environments() / "runtimes.d/0.2.json",
              R"({"version": "0.2", "pythons": ["3.11"], "packages": [")" + wheel.string() +
                  R"("], "provides": {"sun-light": "3.0", "tensorflow": "2.99.1"}})");
  }
  static void TearDownTestSuite() {
    delete folder_;
    ::unsetenv("PIP_NO_INDEX");
  }

  static fs::path Environments() { return folder_->path() / "environments"; }
  static const fs::path& Folder() { return folder_->path(); }

  /// Packages are files whose path is the URI's part after gs://.
  PreparationHooks Hooks() {
    PreparationHooks hooks;
    hooks.info = [this](std::string_view line) { info_.emplace_back(line); };
    hooks.error = [this](std::string_view line) { error_.emplace_back(line); };
    hooks.download = [](const std::string& uri, const std::string& path) -> Status {
      std::error_code error;
      fs::copy_file(uri.substr(4), path, error);
      if (error) return std::unexpected(NotFound("no such object: " + uri));
      return {};
    };
    return hooks;
  }

  static EnvironmentRequest Request(const std::string& runtime, const std::vector<fs::path>& files) {
    EnvironmentRequest request{Environments(), runtime, {}};
    // Not a checksum of the content, but unique: tests write each file once.
    for (const fs::path& file : files) request.packages.push_back({"gs://" + file.string(), file.string()});
    return request;
  }

  std::string Log() const {
    std::string text;
    for (const std::string& line : info_) text += line + "\n";
    for (const std::string& line : error_) text += "E " + line + "\n";
    return text;
  }

  std::vector<std::string> info_, error_;
  static TemporaryFolder* folder_;
};
TemporaryFolder* EnvironmentBuild::folder_ = nullptr;

std::map<std::string, std::optional<std::string>> Variables(const Environment& environment) {
  std::map<std::string, std::optional<std::string>> variables;
  for (const auto& [name, value] : environment.variables) variables[name] = value;
  variables["PATH"] = environment.variables.at("PATH") + ":/usr/bin:/bin";
  return variables;
}

TEST_F(EnvironmentBuild, BuildsARuntimeOnceAndFindsItThen) {
  const EnvironmentRequest request = Request("0.1", {});
  fs::remove_all(Environments() / "runtimes");
  EXPECT_EQ(FindEnvironment(request), std::nullopt);
  const auto built = PrepareEnvironment(request, Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  EXPECT_THAT(info_,
              Contains("Building runtime version 0.1 (Python 3.11). This happens once on this machine."));
  EXPECT_EQ(
      Output({built->python, "-c", "import sys, setuptools; print(sys.version_info[:2])"}, Variables(*built)),
      "(3, 11)");
  info_.clear();
  const auto found = FindEnvironment(request);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->python, built->python);
  EXPECT_EQ(found->variables, built->variables);
  ASSERT_TRUE(PrepareEnvironment(request, Hooks()));
  EXPECT_THAT(info_, IsEmpty());
}

TEST_F(EnvironmentBuild, InstallsASourcePackageWithoutNetwork) {
  const EnvironmentRequest request = Request("0.1", {MakeSdist(Folder(), "1.0", "hello")});
  const auto built = PrepareEnvironment(request, Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  EXPECT_THAT(info_, Contains("Downloading the package: " + request.packages[0].uri));
  EXPECT_THAT(info_, Contains("Installing the package: " + request.packages[0].uri));
  EXPECT_THAT(
      info_, Contains(AllOf(StartsWith("Running command: pip3 install --upgrade --force-reinstall --no-deps"),
                            HasSubstr("trainer-1.0.tar.gz"))));
  const auto variables = Variables(*built);
  EXPECT_EQ(Output({built->python, "-m", "trainer.task", "a", "b"}, variables), "hello a b");
  EXPECT_EQ(Output({"/bin/sh", "-c", "python3 -m trainer.task c && trainer-says d"}, variables),
            "hello c\nhello d");
  EXPECT_EQ(
      Output({built->python, "-c", "import importlib.metadata as m; print(m.version('trainer'))"}, variables),
      "1.0");
  EXPECT_EQ(FindEnvironment(request)->variables, built->variables);
}

TEST_F(EnvironmentBuild, TheJobsPackageWinsOverTheRuntimes) {
  const auto plain = PrepareEnvironment(Request("0.2", {}), Hooks());
  ASSERT_TRUE(plain) << plain.error().message << "\n" << Log();
  EXPECT_EQ(Output({plain->python, "-c", "import shade; print(shade.version)"}), "1.0");
  const std::string needs = "install_requires=['shade', 'Sun_Light>=2']";
  const auto kept = PrepareEnvironment(Request("0.2", {MakeSdist(Folder(), "1.1", "x", "", needs)}), Hooks());
  ASSERT_TRUE(kept) << kept.error().message << "\n" << Log();
  EXPECT_EQ(Output({kept->python, "-c", "import shade; print(shade.version)"}), "1.0");

  const auto built = PrepareEnvironment(
      Request("0.2", {MakeWheel(Folder(), "shade", "2.0"), MakeSdist(Folder(), "1.2", "y", "", needs)}),
      Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  const auto variables = Variables(*built);
  EXPECT_EQ(Output({built->python, "-c", "import shade; print(shade.version)"}, variables), "2.0");
  EXPECT_EQ(
      Output({built->python, "-c", "import importlib.metadata as m; print(m.version('shade'))"}, variables),
      "2.0");
  EXPECT_THAT(Output({"/bin/sh", "-c", "shade-version"}, variables), StartsWith("2.0 "));
  EXPECT_EQ(Output({plain->python, "-c", "import shade; print(shade.version)"}), "1.0");  // untouched
}

TEST_F(EnvironmentBuild, OtherNamesOfTensorFlowAreTheRuntimes) {
  const std::string needs =
      "install_requires=['tensorflow-gpu>=2.1', 'TensorFlow_CPU', 'tf-nightly', 'Sun_Light']";
  const auto built =
      PrepareEnvironment(Request("0.2", {MakeSdist(Folder(), "1.4", "x", "", needs)}), Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  for (const char* requirement : {"tensorflow-gpu>=2.1", "TensorFlow_CPU", "tf-nightly"})
    EXPECT_THAT(info_, Contains("The requirement " + std::string(requirement) +
                                " is met by the runtime version's TensorFlow 2.99.1."));

  const auto other = PrepareEnvironment(
      Request("0.2", {MakeSdist(Folder(), "1.5", "x", "", "install_requires=['tensorflow-gpu==1.15']")}),
      Hooks());
  ASSERT_FALSE(other) << "as tensorflow==1.15, it is left to pip";
  EXPECT_EQ(other.error(),
            FailedPrecondition("pip: No matching distribution found for tensorflow-gpu==1.15"));
}

TEST_F(EnvironmentBuild, TheRuntimesCommandsSeeTheJobsPackages) {
  const auto built = PrepareEnvironment(Request("0.2", {MakeSdist(Folder(), "1.3", "z")}), Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  EXPECT_EQ(Output({"/bin/sh", "-c", "shade-version"}, Variables(*built)),
            "1.0 " + built->variables.at("VIRTUAL_ENV"));
}

TEST_F(EnvironmentBuild, ABrokenPackageFailsWithPipsReason) {
  const fs::path file = Folder() / "broken-1.0.tar.gz";
  WriteText(file, "this is not a package");
  const EnvironmentRequest request = Request("0.1", {file});
  const auto built = PrepareEnvironment(request, Hooks());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error(), FailedPrecondition("pip: tarfile.ReadError: not a gzip file")) << Log();
  EXPECT_THAT(error_, Not(IsEmpty()));
  EXPECT_EQ(FindEnvironment(request), std::nullopt);
  for (const auto& entry : fs::directory_iterator(Environments() / "layers"))
    EXPECT_TRUE(!entry.is_directory() || fs::exists(entry.path() / "trainyard-complete")) << entry.path();
}

TEST_F(EnvironmentBuild, ASetupThatFailsSaysItsLastError) {
  const auto built =
      PrepareEnvironment(Request("0.1", {MakeSdist(Folder(), "2.0", "x", "import not_there")}), Hooks());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error(),
            FailedPrecondition(
                "pip: the package cannot be built: ModuleNotFoundError: No module named 'not_there'"))
      << Log();
}

TEST_F(EnvironmentBuild, ARequirementThatDoesNotExistIsNamed) {
  const auto built = PrepareEnvironment(
      Request("0.1", {MakeSdist(Folder(), "2.1", "x", "", "install_requires=['nosuchpkg']")}), Hooks());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error(), FailedPrecondition("pip: No matching distribution found for nosuchpkg")) << Log();
  EXPECT_THAT(info_, Contains("Running command: pip3 install 'nosuchpkg'"));
}

TEST_F(EnvironmentBuild, RequirementsThatContradictEachOtherAreNamed) {
  const auto built = PrepareEnvironment(
      Request("0.1", {MakeSdist(Folder(), "2.2", "x", "", "install_requires=['pip>1', 'pip==1.0']")}),
      Hooks());
  ASSERT_FALSE(built) << "pip>1 is satisfied, and nothing but pip==1.0 would be asked for";
  EXPECT_EQ(built.error(), FailedPrecondition("pip: requirements contradict each other: pip==1.0; pip>1"))
      << Log();
}

TEST_F(EnvironmentBuild, AnIndexThatCannotBeReachedIsSaid) {
  ::unsetenv("PIP_NO_INDEX");
  ::setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple", 1);
  ::setenv("PIP_RETRIES", "1", 1);
  const auto built = PrepareEnvironment(
      Request("0.1", {MakeSdist(Folder(), "2.2", "x", "", "install_requires=['six']")}), Hooks());
  ::unsetenv("PIP_INDEX_URL");
  ::unsetenv("PIP_RETRIES");
  ::setenv("PIP_NO_INDEX", "1", 1);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error(), Unavailable("pip: Could not reach the package index (Connection refused)"))
      << Log();
}

TEST_F(EnvironmentBuild, APackageThatIsNotThereIsNotFound) {
  const auto built = PrepareEnvironment(Request("0.1", {"/nonexistent/a-1.0.tar.gz"}), Hooks());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error(), NotFound("no such object: gs:///nonexistent/a-1.0.tar.gz"));
}

TEST_F(EnvironmentBuild, RefusesWhatItCannotBuild) {
  EXPECT_EQ(PrepareEnvironment(Request("7.7", {}), Hooks()).error(),
            NotFound("there is no runtime version '7.7'"));
  WriteText(Environments() / "runtimes.d/0.3.json", R"({"version": "0.3", "pythons": ["3.99"]})");
  EXPECT_EQ(PrepareEnvironment(Request("0.3", {}), Hooks()).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(FindEnvironment(Request("7.7", {})), std::nullopt);
}

TEST_F(EnvironmentBuild, ARuntimeWhoseInterpreterWentAwayIsBuiltAgain) {
  ASSERT_TRUE(PrepareEnvironment(Request("0.1", {}), Hooks()));
  const fs::path interpreter = FindEnvironment(Request("0.1", {}))->python;
  fs::remove(interpreter);
  fs::create_symlink("/nonexistent/python", interpreter);
  EXPECT_EQ(FindEnvironment(Request("0.1", {})), std::nullopt);
  EXPECT_TRUE(PrepareEnvironment(Request("0.1", {}), Hooks()));
  EXPECT_TRUE(FindEnvironment(Request("0.1", {})));
}

/// Prepares in a child process, which writes its log to a file. Returns its pid.
pid_t PrepareElsewhere(const EnvironmentRequest& request, PreparationHooks hooks, const fs::path& log) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  std::ofstream stream(log);
  hooks.info = [&](std::string_view line) { stream << line << std::endl; };
  hooks.error = hooks.info;
  const auto built = PrepareEnvironment(request, hooks);
  if (!built) stream << built.error().message << std::endl;
  ::_exit(built ? 0 : 1);
}

int ExitStatus(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(EnvironmentBuild, TwoProcessesBuildOnce) {
  fs::remove_all(Environments() / "runtimes");
  const EnvironmentRequest request = Request("0.1", {MakeSdist(Folder(), "3.0", "x")});
  const fs::path first_log = Folder() / "first", second_log = Folder() / "second";
  const pid_t first = PrepareElsewhere(request, Hooks(), first_log);
  const pid_t second = PrepareElsewhere(request, Hooks(), second_log);
  EXPECT_EQ(ExitStatus(first), 0) << ReadText(first_log);
  EXPECT_EQ(ExitStatus(second), 0) << ReadText(second_log);
  const std::string both = ReadText(first_log) + ReadText(second_log);
  const auto count = [&](std::string_view part) {
    std::size_t number = 0;
    for (std::size_t at = both.find(part); at != std::string::npos; at = both.find(part, at + 1)) ++number;
    return number;
  };
  EXPECT_EQ(count("Building runtime version"), 1U) << both;
  EXPECT_EQ(count("Installing the package"), 1U) << both;
  EXPECT_EQ(count("Waiting for another process, which is building runtime version 0.1."), 1U) << both;
}

TEST_F(EnvironmentBuild, KilledInTheMiddleItStartsAgain) {
  const fs::path started = Folder() / "started";
  // The first build hangs inside pip; later ones see the file and continue.
  const std::string setup = "import os, time\nif not os.path.exists('" + started.string() +
                            "'):\n    open('" + started.string() + "', 'w').close()\n    time.sleep(1000)\n";
  const EnvironmentRequest request = Request("0.1", {MakeSdist(Folder(), "3.1", "again", setup)});
  const pid_t child = PrepareElsewhere(request, Hooks(), Folder() / "killed");
  while (!fs::exists(started) && ::waitpid(child, nullptr, WNOHANG) == 0) std::this_thread::yield();
  ::kill(child, SIGKILL);
  ExitStatus(child);
  EXPECT_EQ(FindEnvironment(request), std::nullopt);
  const auto built = PrepareEnvironment(request, Hooks());
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  EXPECT_EQ(Output({built->python, "-m", "trainer.task"}, Variables(*built)), "again");
}

TEST_F(EnvironmentBuild, StopsWhenAsked) {
  std::stop_source stop;
  PreparationHooks hooks = Hooks();
  hooks.stop = stop.get_token();
  hooks.info = [&](std::string_view line) {
    if (line.starts_with("Running command: pip3")) stop.request_stop();
  };
  const EnvironmentRequest request =
      Request("0.1", {MakeSdist(Folder(), "3.2", "x", "import time\ntime.sleep(1000)")});
  const auto built = PrepareEnvironment(request, hooks);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().code, Code::kCancelled);
}

TEST_F(EnvironmentBuild, AFullDiskIsSaidInOneSentence) {
  const fs::path disk = Folder() / "disk";
  fs::create_directories(disk);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=4m") != 0)
      ::_exit(77);
    WriteText(disk / "runtimes.d/0.1.json", R"({"version": "0.1", "pythons": ["3.11"]})");
    const auto built = PrepareEnvironment({disk, "0.1", {}}, Hooks());
    const bool right = !built && built.error().code == Code::kResourceExhausted;
    if (!right && !built) std::fprintf(stderr, "%s\n%s", built.error().message.c_str(), Log().c_str());
    if (!right || !built.error().message.ends_with("No space left on device")) ::_exit(1);
    ::_exit(fs::exists(disk / "runtimes") && fs::space(disk).available > (2U << 20) ? 0
                                                                                    : 2);  // and cleaned up
  }
  const int status = ExitStatus(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(status, 0);
}

/// The only test that needs the package index; pip's configuration may name another one.
TEST_F(EnvironmentBuild, InstallsARequirementFromTheRealIndex) {
  ::unsetenv("PIP_NO_INDEX");
  const auto built = PrepareEnvironment(
      Request("0.1", {MakeSdist(Folder(), "4.0", "x", "", "install_requires=['six==1.16.0']")}), Hooks());
  ::setenv("PIP_NO_INDEX", "1", 1);
  if (!built && built.error().code == Code::kUnavailable)
    GTEST_SKIP() << "no network: " << built.error().message;
  ASSERT_TRUE(built) << built.error().message << "\n" << Log();
  EXPECT_EQ(Output({built->python, "-c", "import six; print(six.__version__)"}, Variables(*built)), "1.16.0");
  EXPECT_THAT(info_, Contains(AllOf(StartsWith("Installed in "), HasSubstr(" s: 1 package"))));
  EXPECT_THAT(info_, Not(Contains(StartsWith("Collecting"))));
  EXPECT_THAT(*ReadFile(built->variables.at("VIRTUAL_ENV") + ".log"), HasSubstr("\nCollecting six==1.16.0"));
}

}  // namespace
}  // namespace trainyard::environment
