#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "cli/results/job_folder.h"
#include "cli/results/results_commands.h"
#include "wire/resource_name.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

bool IsProgram(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::optional<fs::path> OnPath(const SettingSources& sources) {
  std::string path = sources.variable("PATH").value_or("");
  while (!path.empty()) {
    const std::string folder = path.substr(0, path.find(':'));
    path.erase(0, std::min(folder.size() + 1, path.size()));
    if (!folder.empty() && IsProgram(fs::path(folder) / "tensorboard"))
      return fs::path(folder) / "tensorboard";
  }
  return std::nullopt;
}

/// Of the built runtime versions; the last by name, so that it is the same one each time.
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

/// Where this machine has the bucket: below the data directory, or where the server's --bucket-dir says.
fs::path BucketFolder(const SettingSources& sources, const fs::path& data_dir, const std::string& bucket) {
  if (const auto note = ReadServerNote(sources, data_dir))
    if (const auto found = note->bucket_dirs.find(bucket); found != note->bucket_dirs.end())
      return found->second;
  return data_dir / "buckets" / bucket;
}

}  // namespace

ExitStatus StartTensorBoard(const CommandSession& session) {
  const JobReference name = ParseJobReference(session, session.arguments.positionals.front());
  ApiRequest request{.method = ApiRequest::Method::kGet, .path = name.Path()};
  TY_TRY(const Json job, CallJson(session.client, std::move(request)));
  TY_TRY(const std::string folder, JobFolder(job));
  TY_TRY(const wire::ObjectUri uri, wire::ObjectUri::Parse(folder));
  const fs::path data_dir = DefaultDataDir(session.sources);
  const fs::path bucket = BucketFolder(session.sources, data_dir, uri.bucket);
  const fs::path files = bucket / uri.object;
  std::error_code error;
  if (!fs::is_directory(bucket, error))
    return std::unexpected(NotFound("The files of " + folder + " are not below " + data_dir.string() +
                                    ". Name the server's data directory with --data."));
  std::optional<fs::path> program = OnPath(session.sources);
  if (!program) program = InRuntimes(data_dir);
  if (!program)
    return std::unexpected(
        NotFound("There is no TensorBoard on PATH or in a built runtime version. Install one: "
                 "trainyard runtimes install 2.15"));
  std::vector<std::string> argv = {program->string(), "--logdir", files.string()};
  if (session.arguments.passthrough)
    argv.insert(argv.end(), session.arguments.passthrough->begin(), session.arguments.passthrough->end());
  session.console.Status("Starting " + program->string() + " on " + files.string() + "\n");
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  ::execv(program->c_str(), words.data());
  return std::unexpected(
      FailedPrecondition("Cannot start " + program->string() + ": " + std::strerror(errno)));
}

}  // namespace trainyard::cli
