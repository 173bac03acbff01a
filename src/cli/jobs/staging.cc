#include "cli/jobs/staging.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "cli/gcloud/flag_values.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kScheme = "gs://";

/// "gs://b/o" -> (b, o)
std::pair<std::string, std::string> SplitUri(std::string_view uri) {
  uri.remove_prefix(kScheme.size());
  std::size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return {std::string(uri), ""};
  return {std::string(uri.substr(0, slash)), std::string(uri.substr(slash + 1))};
}

std::string_view WithoutTrailingSlashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

bool IsObject(const std::string& package) {
  if (!package.starts_with(kScheme)) return false;
  auto [bucket, object] = SplitUri(package);
  return !object.empty() && CheckBucketName(bucket).has_value();
}

}  // namespace

std::optional<StagingLocation> FindStaging(const std::optional<std::string>& staging_bucket,
                                           const std::optional<std::string>& job_dir,
                                           std::string_view job_id) {
  if (staging_bucket)
    return StagingLocation{
        std::string(WithoutTrailingSlashes(std::string_view(*staging_bucket).substr(kScheme.size()))),
        std::string(job_id)};
  if (!job_dir) return std::nullopt;
  auto [bucket, object] = SplitUri(*job_dir);
  std::string_view folder = WithoutTrailingSlashes(object);
  return StagingLocation{bucket, folder.empty() ? "packages" : std::string(folder) + "/packages"};
}

PackageList SortPackages(const std::vector<std::string>& packages) {
  PackageList list;
  for (const std::string& package : packages)
    (IsObject(package) ? list.remote : list.local).push_back(package);
  return list;
}

Status CheckFileNames(const std::vector<std::string>& paths) {
  std::map<std::string, int> counts;
  for (const std::string& path : paths) ++counts[BaseName(path)];
  std::string doubled;
  for (const auto& [name, count] : counts)
    if (count > 1) doubled += (doubled.empty() ? "" : ", ") + name;
  if (doubled.empty()) return {};
  return std::unexpected(
      InvalidArgument("", "Cannot upload multiple packages with the same filename: [" + doubled + "]"));
}

std::string BaseName(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string StagedName(const StagingLocation& staging, std::string_view checksum, std::string_view path) {
  return staging.prefix + "/" + std::string(checksum) + "/" + BaseName(path);
}

std::string NormalJobDir(std::string_view job_dir) {
  auto [bucket, object] = SplitUri(job_dir);
  return std::string(kScheme) + bucket + "/" + object;
}

std::string_view MediaType(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kTypes{
      {{".tar.gz", "application/x-tar"},
       {".tgz", "application/x-tar"},
       {".tar.bz2", "application/x-tar"},
       {".tar.xz", "application/x-tar"},
       {".tar", "application/x-tar"},
       {".zip", "application/zip"},
       {".txt", "text/plain"},
       {".py", "text/x-python"},
       {".json", "application/json"},
       {".csv", "text/csv"},
       {".html", "text/html"},
       {".png", "image/png"}}};
  for (auto [ending, type] : kTypes)
    if (path.ends_with(ending)) return type;
  return "application/octet-stream";
}

std::string GeneratedSetupPy(std::string_view package_name) {
  std::string name(package_name);
  return "from setuptools import setup, find_packages\n\nif __name__ == '__main__':\n    setup(\n        "
         "name='" +
         name + "',\n        packages=find_packages(include=['" + name + "'])\n    )\n";
}

Result<std::optional<std::string>> KmsKeyName(const KmsFlags& flags) {
  if (!flags.key) return std::nullopt;
  if (flags.key->starts_with("projects/") && std::ranges::count(*flags.key, '/') == 7) return flags.key;
  if (!flags.keyring || !flags.location)
    return std::unexpected(
        InvalidArgument("", "Invalid value for [--kms-key]: Encryption key not fully specified."));
  return "projects/" + flags.project + "/locations/" + *flags.location + "/keyRings/" + *flags.keyring +
         "/cryptoKeys/" + *flags.key;
}

}  // namespace trainyard::cli
