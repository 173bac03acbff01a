#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "cluster/role.h"
#include "jobs/image_reference.h"
#include "validation/rules.h"
#include "wire/resource_name.h"

namespace trainyard::jobs::rules {
namespace {

using cluster::Role;
using cluster::Roles;
using ml::v1::TrainingInput;

constexpr int kPackagesMax = 100;
/// Arguments are part of TF_CONFIG, too, and Linux limits a variable to 128 KiB.
constexpr std::size_t kArgumentBytesMax = 64 * 1024;

bool HasImage(const TrainingInput& input) { return !input.master_config().image_uri().empty(); }

using Version = std::pair<int, int>;

/// "1.15" -> {1, 15}.
std::optional<Version> ParseVersion(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc{} || minor.ptr != end || version.first < 0 || version.second < 0)
    return std::nullopt;
  return version;
}

/// Source: API description, TrainingInput.pythonVersion.
bool IsDocumentedPair(const Version& runtime, std::string_view python) {
  if (python.empty()) return true;
  if (python == "3.7") return runtime >= Version{1, 15};
  if (python == "3.5") return Version{1, 4} <= runtime && runtime <= Version{1, 14};
  if (python == "2.7") return runtime <= Version{1, 15};
  return false;
}

bool IsOffered(const ValidationContext& context, const std::string& version, const std::string& python) {
  if (context.runtimes.empty()) {
    const auto parsed = ParseVersion(version);
    return parsed && IsDocumentedPair(*parsed, python);
  }
  const auto found = std::ranges::find(context.runtimes, version, &ValidationContext::Runtime::version);
  return found != context.runtimes.end() &&
         (python.empty() ||
          std::ranges::find(found->python_versions, python) != found->python_versions.end());
}

bool HasNul(const std::string& text) { return text.find('\0') != std::string::npos; }

/// What `python -m` accepts: names joined by dots.
bool IsModuleName(const std::string& name) {
  bool start = true;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7f || c == '/' || c == '\\') return false;
    if (start && (c == '.' || c == '-')) return false;
    start = c == '.';
  }
  return !start;
}

Status CheckUri(std::string_view field, const std::string& uri, bool object_needed) {
  const auto parsed = wire::ObjectUri::Parse(uri);
  if (!parsed) {
    return Invalid(field,
                   "The provided GCS path '" + uri + "' is not valid: " + parsed.error().message + ".");
  }
  if (object_needed && (parsed->object.empty() || parsed->object.ends_with('/'))) {
    return Invalid(field, "The provided GCS path '" + uri +
                              "' does not name an object: it should be gs://bucket/object.");
  }
  return {};
}

}  // namespace

Status Image(const Job& job, const ValidationContext&) {
  for (const Role& role : Roles(job.training_input())) {
    if (role.config.image_uri().empty()) continue;
    const Status good = CheckImageReference(role.config.image_uri());
    if (!good) return Invalid(std::string(role.field) + "_config.image_uri", good.error().message);
  }
  return {};
}

Status RuntimeOrImage(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!HasImage(input) || input.runtime_version().empty()) return {};
  return Invalid("runtime_version", "Only one of master_config.image_uri and runtime_version should be set.");
}

Status ContainerFields(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  for (const Role& role : Roles(input)) {
    if (role.config.container_command().empty() && role.config.container_args().empty()) continue;
    const std::string prefix = std::string(role.field) + "_config.";
    const bool has_image = HasImage(input) || !role.config.image_uri().empty();
    for (const auto& [field, values] :
         {std::pair{prefix + "container_command", &role.config.container_command()},
          std::pair{prefix + "container_args", &role.config.container_args()}}) {
      if (values->empty()) continue;
      if (!has_image) return Invalid(field, "It cannot be set if custom container image is not provided.");
      if (!input.args().empty())
        return Invalid(field,
                       "This field and args are mutually exclusive, both cannot be set at the same time.");
      if (std::ranges::any_of(*values, HasNul))
        return Invalid(field, "An argument cannot contain a NUL character.");
    }
  }
  return {};
}

Status Arguments(const Job& job, const ValidationContext&) {
  std::size_t bytes = 0;
  for (const std::string& argument : job.training_input().args()) {
    if (HasNul(argument)) return Invalid("args", "An argument cannot contain a NUL character.");
    bytes += argument.size() + 1;
  }
  if (bytes > kArgumentBytesMax) {
    return Invalid("args", "The arguments are too long: " + std::to_string(bytes) + " bytes, at most " +
                               std::to_string(kArgumentBytesMax) + ".");
  }
  return {};
}

Status Packages(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (input.package_uris().empty() && !HasImage(input)) {
    return Invalid("package_uris", "This field is required for jobs without master_config.image_uri.");
  }
  if (input.package_uris_size() > kPackagesMax) {
    return Invalid("package_uris",
                   "The maximum number of package URIs is " + std::to_string(kPackagesMax) + ".");
  }
  for (const std::string& uri : input.package_uris()) TY_RETURN_IF_ERROR(CheckUri("package_uris", uri, true));
  if (!input.package_uris().empty() && input.python_module().empty()) {
    return Invalid("python_module", "This field is required when package_uris is set.");
  }
  return {};
}

Status Module(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (input.python_module().empty()) {
    if (HasImage(input)) return {};
    return Invalid("python_module", "This field is required for jobs without master_config.image_uri.");
  }
  if (!IsModuleName(input.python_module())) {
    return Invalid("python_module", "'" + input.python_module() + "' is not the name of a Python module.");
  }
  return {};
}

Status RuntimeVersion(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  if (input.runtime_version().empty()) return {};  // python_version is checked when the default one is chosen
  if (IsOffered(context, input.runtime_version(), input.python_version())) return {};
  // The original's words, with its two spaces.
  return Invalid(
      "runtime_version",
      "The specified runtime version '" + input.runtime_version() + "' with the Python version '" +
          input.python_version() +
          "' is not supported or is deprecated.  Please specify a different runtime version. See "
          "https://cloud.google.com/ml-engine/docs/runtime-version-list for a list of supported versions");
}

Status JobDir(const Job& job, const ValidationContext&) {
  const std::string& job_dir = job.training_input().job_dir();
  if (job_dir.empty()) return {};
  return CheckUri("job_dir", job_dir, false);
}

}  // namespace trainyard::jobs::rules
