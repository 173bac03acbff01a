#include "environment/catalogue.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "async/file.h"
#include "base/check.h"
#include "environment/runtimes_files.h"

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

RuntimeVersion ParseEmbedded(const runtimes::EmbeddedFile& file) {
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
    versions.push_back(std::move(runtime));
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
  if (version.find('/') == std::string_view::npos) {
    Result<RuntimeVersion> runtime = ReadOperatorFile(OperatorFile(environments_dir, version));
    if (runtime || runtime.error().code != Code::kNotFound) return runtime;
  }
  const auto embedded =
      std::ranges::find(runtimes::Files(), FileName(version), &runtimes::EmbeddedFile::name);
  if (embedded == runtimes::Files().end())
    return std::unexpected(NotFound("there is no runtime version '" + std::string(version) + "'"));
  return ParseEmbedded(*embedded);
}

}  // namespace trainyard::environment
