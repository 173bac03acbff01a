#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text/suggestion.h"
#include "base/wire/resource_name.h"
#include "rules/cluster/role.h"
#include "rules/cluster/role_packages.h"
#include "rules/jobs/images.h"
#include "rules/validation/rules.h"

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

bool HasPython(const ValidationContext::Runtime& runtime, const std::string& python) {
  return std::ranges::find(runtime.python_versions, python) != runtime.python_versions.end();
}

bool IsOffered(const ValidationContext& context, const std::string& version, const std::string& python) {
  if (context.runtimes.empty()) {
    const auto parsed = ParseVersion(version);
    return parsed && IsDocumentedPair(*parsed, python);
  }
  const auto found = std::ranges::find(context.runtimes, version, &ValidationContext::Runtime::version);
  return found != context.runtimes.end() && (python.empty() || HasPython(*found, python));
}

/// Whether b is the next number after a: 1.9 and 1.10, 1.15 and 2.1, but not 2.11 and 2.15.
bool IsNext(const std::string& a, const std::string& b) {
  const auto left = ParseVersion(a);
  const auto right = ParseVersion(b);
  if (!left || !right) return false;
  return left->first != right->first || left->second + 1 == right->second;
}

/// "1.15 to 2.11, 2.15": the runtime versions for which `is_meant` returns true.
template <class Predicate>
std::string Ranges(const std::vector<ValidationContext::Runtime>& runtimes, Predicate is_meant) {
  std::string text;
  for (auto first = runtimes.begin(); first != runtimes.end(); ++first) {
    if (first->is_variant || !is_meant(*first)) continue;
    auto last = first;
    for (auto next = std::next(last); next != runtimes.end(); last = next++)
      if (!is_meant(*next) || !IsNext(last->version, next->version)) break;
    text += (text.empty() ? "" : ", ") + first->version + (first == last ? "" : " to " + last->version);
    first = last;
  }
  return text;
}

/// The version that a misspelt one looks like; empty: none. A number is none: 2.1 is not what 2.12 means.
std::string NearestVersion(const std::vector<ValidationContext::Runtime>& runtimes,
                           const std::string& version) {
  if (ParseVersion(version)) return {};
  std::vector<std::string_view> names;
  for (const ValidationContext::Runtime& runtime : runtimes) {
    if (version.starts_with(runtime.version + ".")) return runtime.version;  // 2.1.0 is 2.1, not 2.10
    if (!runtime.is_variant) names.push_back(runtime.version);
  }
  return std::string(text::Suggest(version, names));
}

/// The runtime versions that are available instead.
std::string RuntimeHint(const ValidationContext& context, const std::string& version,
                        const std::string& python) {
  const auto& runtimes = context.runtimes;
  if (runtimes.empty()) return {};
  const auto found = std::ranges::find(runtimes, version, &ValidationContext::Runtime::version);
  if (found == runtimes.end()) {
    const std::string meant = NearestVersion(runtimes, version);
    return (meant.empty() ? "" : "Did you mean '" + meant + "'? ") +
           "There are: " + Ranges(runtimes, [](const auto&) { return true; }) + ".";
  }
  const std::string with =
      Ranges(runtimes, [&](const ValidationContext::Runtime& runtime) { return HasPython(runtime, python); });
  std::string own;
  for (const std::string& one : found->python_versions) own += (own.empty() ? "" : " or ") + one;
  const bool several = with.find(' ') != std::string::npos;
  return (with.empty() ? "No runtime version comes with Python " + python
                       : "Python " + python + " comes with runtime version" + (several ? "s " : " ") + with) +
         "; runtime version " + version + " comes with Python " + own + ".";
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

Status CheckArguments(std::string_view field,
                      const google::protobuf::RepeatedPtrField<std::string>& arguments) {
  std::size_t bytes = 0;
  for (const std::string& argument : arguments) {
    if (HasNul(argument)) return Invalid(field, "An argument cannot contain a NUL character.");
    bytes += argument.size() + 1;
  }
  if (bytes > kArgumentBytesMax) {
    return Invalid(field, "The arguments are too long: " + std::to_string(bytes) + " bytes, at most " +
                              std::to_string(kArgumentBytesMax) + ".");
  }
  return {};
}

Violations CheckPackages(const std::string& field,
                         const google::protobuf::RepeatedPtrField<std::string>& uris) {
  Violations found;
  if (uris.size() > kPackagesMax) {
    Add(Invalid(field, "The maximum number of package URIs is " + std::to_string(kPackagesMax) + "."), found);
    return found;
  }
  for (const std::string& uri : uris) Add(CheckUri(field, uri, true), found);
  return found;
}

bool SaysWhatRuns(const ml::v1::ReplicaConfig& config) {
  return !config.container_command().empty() || !config.container_args().empty();
}

/// Packages and module of a role take the place of the job's, and are run by the role's Python: they are of
/// no use to a container that is told what to run.
Status CheckHasNoCommand(const std::string& field, const ml::v1::ReplicaConfig& config) {
  if (!SaysWhatRuns(config)) return {};
  return Invalid(field,
                 "It cannot be set together with container_command or container_args, which say what "
                 "this role runs.");
}

Violations CheckRolePackages(const TrainingInput& input, const Role& role) {
  if (role.config.package_uris().empty()) return {};
  const std::string config = std::string(role.field) + "_config.";
  Violations found = CheckPackages(config + "package_uris", role.config.package_uris());
  if (found.empty()) Add(CheckHasNoCommand(config + "package_uris", role.config), found);
  if (cluster::ModuleOf(input, role.config).empty())
    Add(Invalid(config + "python_module", "This field is required when " + config + "package_uris is set."),
        found);
  return found;
}

Status CheckModule(std::string_view field, const std::string& module) {
  if (IsModuleName(module)) return {};
  return Invalid(field, "'" + module + "' is not the name of a Python module.");
}

}  // namespace

Violations Image(const Job& job, const ValidationContext&) {
  Violations found;
  for (const Role& role : Roles(job.training_input())) {
    if (role.config.image_uri().empty()) continue;
    const Status good = CheckImageReference(role.config.image_uri());
    if (!good) Add(Invalid(std::string(role.field) + "_config.image_uri", good.error().message), found);
  }
  return found;
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
      if (!input.args().empty() || !role.config.args().empty())
        return Invalid(field,
                       "This field and args are mutually exclusive, both cannot be set at the same time.");
      if (std::ranges::any_of(*values, HasNul))
        return Invalid(field, "An argument cannot contain a NUL character.");
    }
  }
  return {};
}

Status Arguments(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  TY_RETURN_IF_ERROR(CheckArguments("args", input.args()));
  for (const Role& role : Roles(input))
    TY_RETURN_IF_ERROR(CheckArguments(std::string(role.field) + "_config.args", role.config.args()));
  return {};
}

Violations Packages(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  Violations found;
  if (input.package_uris().empty() && !HasImage(input))
    Add(Invalid("package_uris", "This field is required for jobs without master_config.image_uri."), found);
  std::ranges::move(CheckPackages("package_uris", input.package_uris()), std::back_inserter(found));
  if (!input.package_uris().empty() && input.python_module().empty())
    Add(Invalid("python_module", "This field is required when package_uris is set."), found);
  for (const Role& role : Roles(input))
    std::ranges::move(CheckRolePackages(input, role), std::back_inserter(found));
  return found;
}

Status Module(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!input.python_module().empty()) {
    TY_RETURN_IF_ERROR(CheckModule("python_module", input.python_module()));
  } else if (!HasImage(input)) {
    return Invalid("python_module", "This field is required for jobs without master_config.image_uri.");
  }
  for (const Role& role : Roles(input)) {
    if (role.config.python_module().empty()) continue;
    const std::string field = std::string(role.field) + "_config.python_module";
    if (input.python_module().empty() && role.config.package_uris().empty())
      return Invalid(field,
                     "It replaces the job's python_module for this role: set that field, too, or give the "
                     "role its own package_uris.");
    TY_RETURN_IF_ERROR(CheckHasNoCommand(field, role.config));
    TY_RETURN_IF_ERROR(CheckModule(field, role.config.python_module()));
  }
  return {};
}

Status RuntimeVersion(const Job& job, const ValidationContext& context) {
  const TrainingInput& input = job.training_input();
  std::string version = input.runtime_version();
  if (version.empty() && !HasImage(input) && !input.python_version().empty()) {
    // A Python alone means the newest version that comes with it.
    if (std::ranges::any_of(context.runtimes, [&](const auto& runtime) {
          return ParseVersion(runtime.version) && HasPython(runtime, input.python_version());
        }))
      return {};
    version = context.runtime_default;
  }
  if (version.empty() || IsOffered(context, version, input.python_version())) return {};
  const std::string hint = RuntimeHint(context, version, input.python_version());
  // Google's message, with its two spaces, but without its link, which is dead.
  return Invalid("runtime_version", "The specified runtime version '" + version +
                                        "' with the Python version '" + input.python_version() +
                                        "' is not supported or is deprecated.  Please specify a different "
                                        "runtime version." +
                                        (hint.empty() ? "" : " ") + hint);
}

Status JobDir(const Job& job, const ValidationContext&) {
  const std::string& job_dir = job.training_input().job_dir();
  if (!job_dir.empty()) return CheckUri("job_dir", job_dir, false);
  if (!job.training_input().job_dir_as_variable()) return {};
  return Invalid("job_dir", "This field is required with job_dir_as_variable.");
}

Status ProgramVariables(const Job& job, const ValidationContext&) {
  const TrainingInput& input = job.training_input();
  if (!TrainingInput::ProgramVariables_IsValid(input.program_variables())) {
    return Invalid("program_variables", "There is no value " + std::to_string(input.program_variables()) +
                                            ": use AI_PLATFORM or VERTEX_AI.");
  }
  if (input.output_uri_prefix().empty()) return {};
  TY_RETURN_IF_ERROR(CheckUri("output_uri_prefix", input.output_uri_prefix(), false));
  if (input.program_variables() != TrainingInput::VERTEX_AI)
    return Invalid("output_uri_prefix",
                   "It needs program_variables VERTEX_AI, which pass it to the program.");
  return {};
}

}  // namespace trainyard::jobs::rules
