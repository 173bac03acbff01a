#include "programs/environment/catalogue.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/check.h"
#include "programs/environment/runtimes_files.h"
#include "programs/environment/tools_files.h"

namespace trainyard::environment {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDefinitionBytesMax = std::size_t{1} << 20;

bool Before(const RuntimeVersion& a, const RuntimeVersion& b) {
  const auto left = ParseMajorMinor(a.version);
  const auto right = ParseMajorMinor(b.version);
  if (left && right) return *left < *right;
  if (left || right) return left.has_value();
  return a.version < b.version;
}

std::string FileName(std::string_view version) { return std::string(version) + ".json"; }

template <class EmbeddedFile>
RuntimeVersion ParseEmbedded(const EmbeddedFile& file) {
  Result<RuntimeVersion> runtime = ParseRuntimeVersion(file.bytes);
  TY_CHECK(runtime && FileName(runtime->version) == file.name);
  return *std::move(runtime);
}

fs::path OperatorFile(const fs::path& environments_dir, std::string_view version) {
  return environments_dir / "runtimes.d" / FileName(version);
}

Result<RuntimeVersion> ReadOperatorFile(const fs::path& path) {
  TY_TRY(const std::string text, ReadFile(path, kDefinitionBytesMax));
  Result<RuntimeVersion> runtime = ParseRuntimeVersion(text);
  if (!runtime) return std::unexpected(InvalidArgument({}, path.string() + ": " + runtime.error().message));
  if (runtime->version != path.stem().string())
    return std::unexpected(InvalidArgument({}, path.string() + ": it defines version '" + runtime->version +
                                                   "', so its name must be " + FileName(runtime->version)));
  return runtime;
}

Error NoSuch(std::string_view what, std::string_view name) {
  return NotFound("there is no " + std::string(what) + " '" + std::string(name) + "'");
}

/// The operator's file if there is one, else the built-in one.
template <class EmbeddedFiles>
Result<RuntimeVersion> LoadOne(const fs::path& environments_dir, std::string_view name,
                               const EmbeddedFiles& embedded, std::string_view what) {
  if (name.find('/') == std::string_view::npos) {
    Result<RuntimeVersion> runtime = ReadOperatorFile(OperatorFile(environments_dir, name));
    if (runtime || runtime.error().code != Code::kNotFound) return runtime;
  }
  for (const auto& file : embedded)
    if (file.name == FileName(name)) return ParseEmbedded(file);
  return std::unexpected(NoSuch(what, name));
}

}  // namespace

Catalogue::Catalogue(std::vector<RuntimeVersion> versions) : versions_(std::move(versions)) {
  std::ranges::sort(versions_, Before);
}

Result<Catalogue> Catalogue::Load(const fs::path& environments_dir) {
  std::vector<RuntimeVersion> versions;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(environments_dir / "runtimes.d", error)) {
    if (entry.path().extension() != ".json") continue;
    TY_TRY(RuntimeVersion runtime, ReadOperatorFile(entry.path()));
    if (runtime.kind != RuntimeVersion::Kind::kTool) versions.push_back(std::move(runtime));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return std::unexpected(ErrnoError(error.value(), "open " + (environments_dir / "runtimes.d").string()));
  for (const runtimes::EmbeddedFile& file : runtimes::Files()) {
    const auto same = [&](const RuntimeVersion& other) { return FileName(other.version) == file.name; };
    if (std::ranges::none_of(versions, same)) versions.push_back(ParseEmbedded(file));
  }
  return Catalogue(std::move(versions));
}

const RuntimeVersion* Catalogue::Find(std::string_view version) const {
  const auto found = std::ranges::find(versions_, version, &RuntimeVersion::version);
  return found == versions_.end() ? nullptr : &*found;
}

Result<RuntimeVersion> LoadRuntimeVersion(const fs::path& environments_dir, std::string_view version) {
  TY_TRY(RuntimeVersion runtime, LoadOne(environments_dir, version, runtimes::Files(), "runtime version"));
  if (runtime.kind == RuntimeVersion::Kind::kTool) return std::unexpected(NoSuch("runtime version", version));
  return runtime;
}

Result<RuntimeVersion> LoadTool(const fs::path& environments_dir, std::string_view name) {
  TY_TRY(RuntimeVersion tool, LoadOne(environments_dir, name, tools::Files(), "tool"));
  if (tool.kind != RuntimeVersion::Kind::kTool) return std::unexpected(NoSuch("tool", name));
  return tool;
}

}  // namespace trainyard::environment
