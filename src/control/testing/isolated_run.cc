#include "control/testing/isolated_run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "control/testing/shrink.h"
#include "control/testing/simulation.h"

namespace trainyard::control {
namespace {

constexpr rlim_t kProcessorSeconds = 60;
constexpr std::size_t kErrorsShown = 6'000;
constexpr const char* kErrors = "errors";
constexpr char kStory = 'S';
constexpr char kViolation = 'V';

/// A line of the child's report: its kind, then the text without line breaks.
void Report(int out, char kind, std::string line) {
  for (char& letter : line) {
    if (letter == '\n') letter = ' ';
  }
  line = kind + line + '\n';
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = ::write(out, line.data() + at, line.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void RunChild(const Schedule& schedule, const std::filesystem::path& scratch, bool disk_lies,
                           int out) {
  LimitProcessorTime();
  RedirectErrors(scratch / kErrors);
  {
    SimulationGround ground(scratch);
    Simulation simulation(
        ground, schedule,
        {.listener = [out](const std::string& line) { Report(out, kStory, line); }, .disk_lies = disk_lies});
    for (const std::string& violation : simulation.Run()) Report(out, kViolation, violation);
  }
  ::_exit(0);
}

std::string ReadAll(int in) {
  std::string all;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t got = ::read(in, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::string LastOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  return all.substr(all.size() - std::min(all.size(), kErrorsShown));
}

IsolatedRun Parse(const std::string& report) {
  IsolatedRun run;
  for (std::size_t at = 0; at < report.size();) {
    const std::size_t end = std::min(report.find('\n', at), report.size());
    std::string text = report.substr(at + 1, end - at - 1);
    (report[at] == kViolation ? run.violations : run.story).push_back(std::move(text));
    at = end + 1;
  }
  return run;
}

/// The promise that a violation is about: its sentence without what differs from job to job.
std::string PromiseOf(const std::string& violation) {
  std::string promise;
  for (const char letter : violation) {
    if (letter < '0' || letter > '9') promise += letter;
  }
  return promise.substr(0, promise.find(';'));
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "simulation.XXXXXX").string();
  const char* const made = ::mkdtemp(pattern.data());
  TY_CHECK(made != nullptr);
  path_ = made;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void LimitProcessorTime() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kProcessorSeconds;
  ::setrlimit(RLIMIT_CPU, &limit);
}

void RedirectErrors(const std::filesystem::path& file) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  TY_CHECK(opened >= 0);
  ::dup2(opened, STDERR_FILENO);
  ::close(opened);
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "the program hangs: it has used " + std::to_string(kProcessorSeconds) + " s of processor time";
  if (WIFSIGNALED(status))
    return "the program ended with signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  return "the program ended with status " + std::to_string(WEXITSTATUS(status));
}

IsolatedRun RunIsolated(const Schedule& schedule, const std::filesystem::path& scratch, bool disk_lies) {
  std::array<int, 2> ends{};
  TY_CHECK(::pipe(ends.data()) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  TY_CHECK(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    RunChild(schedule, scratch, disk_lies, ends[1]);
  }
  ::close(ends[1]);
  IsolatedRun run = Parse(ReadAll(ends[0]));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    run.violations.push_back(DescribeEnd(status));
    run.errors = LastOf(scratch / kErrors);
  }
  return run;
}

ShrunkFailure ShrinkFailure(const Schedule& failing, const IsolatedRun& failure,
                            const std::filesystem::path& scratch, bool disk_lies) {
  TY_CHECK(!failure.violations.empty());
  ShrunkFailure shrunk{.run = failure};
  const std::string promise = PromiseOf(failure.violations.front());
  shrunk.schedule = Shrink(failing, [&](const Schedule& candidate) {
    ++shrunk.tries;
    IsolatedRun run = RunIsolated(candidate, scratch, disk_lies);
    const bool fails = !run.violations.empty() && PromiseOf(run.violations.front()) == promise;
    if (fails) shrunk.run = std::move(run);
    return fails;
  });
  return shrunk;
}

}  // namespace trainyard::control
