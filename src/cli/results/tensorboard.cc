#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/process/child_process.h"
#include "base/process/variables.h"
#include "base/result.h"
#include "base/wire/resource_name.h"
#include "cli/client_settings.h"
#include "cli/interrupt.h"
#include "cli/results/event_mirror.h"
#include "cli/results/results_commands.h"
#include "cli/scratch_directory.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPythonMax{10};

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> OnPath(const SettingSources& sources, const char* name) {
  std::string path = sources.variable("PATH").value_or("");
  while (!path.empty()) {
    const std::string folder = path.substr(0, path.find(':'));
    path.erase(0, std::min(folder.size() + 1, path.size()));
    if (!folder.empty() && IsProgram(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return std::nullopt;
}

/// Looks in the built runtime versions. It takes the last by name, so that the answer is always the same.
std::optional<fs::path> InRuntimes(const fs::path& data_dir) {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path runtimes = data_dir / "environments" / "runtimes";
  for (fs::directory_iterator entry(runtimes, error), end; !error && entry != end; entry.increment(error))
    if (IsProgram(entry->path() / "bin" / "tensorboard"))
      found.push_back(entry->path() / "bin" / "tensorboard");
  if (found.empty()) return std::nullopt;
  return *std::ranges::max_element(found);
}

/// Whether this Python has the package: without importing it, which takes seconds.
bool HasTensorBoard(const fs::path& python) {
  constexpr const char* kLook =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('tensorboard') is None)";
  SpawnOptions options{.argv = {python.string(), "-c", kLook}, .environment = OwnVariables()};
  Result<ChildProcess> asked = ChildProcess::Spawn(std::move(options));
  if (!asked) return false;
  const auto ended = asked->WaitFor(kPythonMax);
  return ended && ended->signal == 0 && ended->code == 0;
}

/// The words that a command line of TensorBoard begins with: `tensorboard` of PATH, else of the newest built
/// runtime version by name, else `python3 -m tensorboard.main` where that Python has it. kNotFound: there is
/// none; the message says how to install one. Asks python3, some 50 ms.
Result<std::vector<std::string>> FindTensorBoard(const SettingSources& sources, const fs::path& data_dir) {
  std::optional<fs::path> program = OnPath(sources, "tensorboard");
  if (!program) program = InRuntimes(data_dir);
  if (program) return std::vector<std::string>{program->string()};
  const std::optional<fs::path> python = OnPath(sources, "python3");
  if (python && HasTensorBoard(*python))
    return std::vector<std::string>{python->string(), "-m", "tensorboard.main"};
  return std::unexpected(
      NotFound("There is no TensorBoard on PATH, in a built runtime version or in python3. Install one: "
               "pip install tensorboard, or trainyard runtimes install 2.15"));
}

constexpr std::chrono::seconds kUpdateEach{5};
constexpr std::chrono::seconds kOwnEndMax{2};
constexpr std::chrono::seconds kEndMax{10};
constexpr int kSignalStatus = 128;  // as shells have it

/// The folder of the bucket on this machine: below the data directory, or where the server's --bucket-dir
/// says. Nothing: not as files that we may read, or the data directory is another server's.
std::optional<fs::path> BucketFolder(const CommandSession& session, const fs::path& data_dir,
                                     const std::string& bucket) {
  fs::path folder = data_dir / "buckets" / bucket;
  if (const auto note = ReadServerNote(session.sources, data_dir)) {
    if (note->url != session.server.value && note->tls_url != session.server.value) return std::nullopt;
    if (const auto found = note->bucket_dirs.find(bucket); found != note->bucket_dirs.end())
      folder = found->second;
  }
  if (::access(folder.c_str(), R_OK | X_OK) != 0) return std::nullopt;
  return folder;
}

std::vector<std::string> CommandLine(std::vector<std::string> program, const fs::path& folder,
                                     const CommandSession& session) {
  program.insert(program.end(), {"--logdir", folder.string()});
  if (const auto& more = session.arguments.passthrough)
    program.insert(program.end(), more->begin(), more->end());
  return program;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

ExitStatus Become(std::vector<std::string> argv) {
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(words.front(), words.data());
  return std::unexpected(FailedPrecondition("Cannot start " + argv.front() + ": " + std::strerror(errno)));
}

Result<int> StatusOf(const Result<trainyard::ExitStatus>& ended) {
  if (!ended) return std::unexpected(ended.error());
  return ended->signal != 0 ? kSignalStatus + ended->signal : ended->code;
}

/// After Ctrl-C, which a terminal sends to TensorBoard, too; who sent it to us alone meant both.
ExitStatus End(ChildProcess& tensorboard) {
  Result<trainyard::ExitStatus> ended = tensorboard.WaitFor(kOwnEndMax);
  if (!ended && tensorboard.Kill(SIGTERM)) ended = tensorboard.WaitFor(kEndMax);
  return StatusOf(ended);
}

/// Until TensorBoard ends. A server that is away for a while is asked again.
ExitStatus KeepUp(EventMirror& mirror, ChildProcess& tensorboard, const InterruptWatch& watch) {
  for (;;) {
    if (watch.WaitForInput(tensorboard.pidfd(), kUpdateEach)) return End(tensorboard);
    const Result<trainyard::ExitStatus> ended = tensorboard.WaitFor(std::chrono::milliseconds(0));
    if (ended || ended.error().code != Code::kDeadlineExceeded) return StatusOf(ended);
    if (const Status updated = mirror.Update(); !updated && updated.error().code != Code::kUnavailable)
      return std::unexpected(updated.error());
  }
}

/// TensorBoard itself reads gs:// only with a library that it does not bring along, or with certificates that
/// are compiled into it: it gets files.
ExitStatus ServeCopies(const CommandSession& session, std::vector<std::string> program,
                       wire::ObjectUri folder) {
  TY_TRY(const ScratchDirectory scratch, ScratchDirectory::Make());
  const std::string name = folder.ToString();
  EventMirror mirror(session, std::move(folder), scratch.path());
  TY_RETURN_IF_ERROR(mirror.Update());
  const InterruptWatch watch;
  SpawnOptions options{.argv = CommandLine(std::move(program), scratch.path(), session),
                       .environment = OwnVariables(),
                       .descriptors = {{STDIN_FILENO, STDIN_FILENO},
                                       {STDOUT_FILENO, STDOUT_FILENO},
                                       {STDERR_FILENO, STDERR_FILENO}},
                       .dies_with_parent = true};
  session.console.Status("Starting " + options.argv.front() + " on copies of the event files of " + name +
                         "\n");
  TY_TRY(ChildProcess tensorboard, ChildProcess::Spawn(std::move(options)));
  return KeepUp(mirror, tensorboard, watch);
}

}  // namespace

ExitStatus StartTensorBoard(const CommandSession& session) {
  const JobReference name = ParseJobReference(session, session.arguments.positionals.front());
  TY_TRY(const Json job, CallJson(session.client, {.path = name.Path()}));
  TY_TRY(const std::string folder, JobFolder(job));
  TY_TRY(wire::ObjectUri uri, wire::ObjectUri::Parse(folder));
  const fs::path data_dir = DefaultDataDir(session.sources);
  TY_TRY(std::vector<std::string> program, FindTensorBoard(session.sources, data_dir));
  const std::optional<fs::path> bucket = BucketFolder(session, data_dir, uri.bucket);
  if (!bucket) return ServeCopies(session, std::move(program), std::move(uri));
  const fs::path files = *bucket / uri.object;
  session.console.Status("Starting " + Joined(program) + " on " + files.string() + "\n");
  return Become(CommandLine(std::move(program), files, session));
}

}  // namespace trainyard::cli
