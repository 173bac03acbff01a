#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include "programs/environment/catalogue.h"

namespace trainyard::environment {

namespace {

constexpr std::string_view kField = "runtime_version";

/// The server's validation of runtime versions has already given jobs a better message.
Error NotSupported(std::string_view version, std::string_view python) {
  return InvalidArgument(kField, "The specified runtime version '" + std::string(version) +
                                     "' with the Python version '" + std::string(python) +
                                     "' is not supported or is deprecated.  Please specify a different "
                                     "runtime version.");
}

bool Higher(const std::string& a, const std::string& b) { return ParseMajorMinor(a) > ParseMajorMinor(b); }

using SystemModule = std::pair<const std::string, std::string>;

/// The first module that the system's Python lacks; null if it has all of them.
const SystemModule* LackingModule(const RuntimeVersion& runtime, const Python& python) {
  for (const SystemModule& module : runtime.system_modules)
    if (std::ranges::find(python.modules, module.first) == python.modules.end()) return &module;
  return nullptr;
}

/// The runtime's highest Python that is installed, if any; only `wanted` if that is not empty.
std::optional<std::string> ChoosePython(const RuntimeVersion& runtime, std::string_view wanted,
                                        const AvailablePythons& available) {
  std::vector<std::string> pythons = runtime.pythons;
  std::ranges::sort(pythons, Higher);
  for (const std::string& python : pythons) {
    const Python* found = available.Find(python);
    if ((wanted.empty() || python == wanted) && ParseMajorMinor(python) >= kPythonMin && found != nullptr &&
        LackingModule(runtime, *found) == nullptr)
      return python;
  }
  return std::nullopt;
}

std::string JoinOr(std::vector<std::string> words) {
  std::ranges::sort(words, [](const std::string& a, const std::string& b) { return Higher(b, a); });
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " or ") + word;
  return joined;
}

/// The Pythons with which environments can be built.
std::vector<std::string> UsablePythons(const std::vector<std::string>& pythons) {
  std::vector<std::string> usable = pythons;
  std::erase_if(usable, [](const std::string& python) { return ParseMajorMinor(python) < kPythonMin; });
  return usable;
}

std::string Missing(const RuntimeVersion& runtime, std::string_view wanted,
                    const AvailablePythons& available) {
  for (const std::string& version : runtime.pythons) {
    const Python* python = available.Find(version);
    if (python == nullptr || (!wanted.empty() && wanted != version)) continue;
    const SystemModule* module = LackingModule(runtime, *python);
    if (module == nullptr) continue;
    return "the module " + module->first + " of the system's Python " + version + " (Debian: apt install " +
           module->second + "), which this machine does not have";
  }
  const std::vector<std::string> pythons =
      wanted.empty() ? runtime.pythons : std::vector<std::string>{std::string(wanted)};
  const std::vector<std::string> usable = UsablePythons(pythons);
  if (usable.empty()) return "Python " + JoinOr(pythons) + ", for which current tools install no packages";
  return "Python " + JoinOr(usable) + ", which this machine does not have";
}

/// CommandFor, unless that command does not install the wanted Python.
std::string CommandForPython(const RuntimeVersion& runtime, std::string_view wanted) {
  const bool brings = wanted.empty() || ParseMajorMinor(wanted) >= kPythonMin;
  return brings ? CommandFor(runtime) : std::string();
}

/// Advice for an operator who allows no other version.
std::string InstallOrAllow(const RuntimeVersion& runtime, const std::string& command) {
  const std::string allow = "allow another version with --runtime-fallback nearest";
  if (!command.empty()) return "install it (" + command + "), or " + allow;
  return (runtime.system_modules.empty() ? "" : "install it, or ") + allow;
}

/// The next higher version that can be built, otherwise the next lower one. Only versions that are numbers
/// have neighbours.
std::optional<Resolution> Nearest(const std::vector<RuntimeVersion>& sorted, std::string_view asked,
                                  const AvailablePythons& available) {
  const auto number = ParseMajorMinor(asked);
  std::optional<Resolution> below;
  for (const RuntimeVersion& runtime : sorted) {
    const auto candidate = ParseMajorMinor(runtime.version);
    const auto python = ChoosePython(runtime, {}, available);
    if (!candidate || !python) continue;
    if (number && candidate > number) return Resolution{runtime.version, *python, {}};
    below = Resolution{runtime.version, *python, {}};
  }
  return below;
}

/// The version with the highest number after this name: pytorch-2.15 for pytorch. Null: there is none.
const RuntimeVersion* NewestOf(const std::vector<RuntimeVersion>& versions, const std::string& name) {
  const auto number = [&](const RuntimeVersion& one) {
    const bool is_of_name = one.version.starts_with(name + "-");
    return is_of_name ? ParseMajorMinor(one.version.substr(name.size() + 1)) : std::nullopt;
  };
  const RuntimeVersion* newest = nullptr;
  for (const RuntimeVersion& one : versions) {
    if (number(one) && (newest == nullptr || number(one) > number(*newest))) newest = &one;
  }
  return newest;
}

/// The name of the same version for another Python: "2.15-py310".
std::string NameFor(const RuntimeVersion& runtime, std::string_view python) {
  std::string name = runtime.version + "-py";
  std::ranges::copy_if(python, std::back_inserter(name), [](char c) { return c != '.'; });
  return name;
}

std::string Describe(const RuntimeVersion& runtime, const std::string& python) {
  const std::string tensorflow = PinnedVersion(runtime, "tensorflow");
  return "runtime version " + runtime.version + " (Python " + python +
         (tensorflow.empty() ? "" : ", TensorFlow " + tensorflow) + ")";
}

}  // namespace

Result<Resolution> Catalogue::Resolve(std::string_view version, std::string_view python,
                                      FallbackPolicy policy, const AvailablePythons& available) const {
  const std::string_view asked = version.empty() ? kDefaultRuntimeVersion : version;
  const RuntimeVersion* runtime = Find(asked);
  if (version.empty() && !python.empty()) {
    // If only a Python is named: the newest version that comes with it, if it can be built.
    const auto has_python = [&](const RuntimeVersion& one) {
      return ParseMajorMinor(one.version) && std::ranges::find(one.pythons, python) != one.pythons.end();
    };
    if (runtime == nullptr || !has_python(*runtime)) {
      const auto newest = std::ranges::find_if(versions_ | std::views::reverse, has_python);
      runtime = newest == versions_.rend() ? nullptr : &*newest;
    }
  }
  if (runtime == nullptr) return std::unexpected(NotSupported(version, python));
  if (const RuntimeVersion* other = Find(NameFor(*runtime, python)); other != nullptr && !python.empty())
    runtime = other;
  if (!python.empty() && std::ranges::find(runtime->pythons, python) == runtime->pythons.end())
    return std::unexpected(NotSupported(version, python));

  if (auto exact = ChoosePython(*runtime, python, available)) return Resolution{runtime->version, *exact, {}};

  const std::string missing = Missing(*runtime, python, available);
  const std::string command = CommandForPython(*runtime, python);
  if (policy == FallbackPolicy::kNone)
    return std::unexpected(FailedPrecondition("runtime version " + runtime->version + " needs " + missing +
                                                  "; " + InstallOrAllow(*runtime, command),
                                              kField));
  std::optional<Resolution> nearest;
  if (const auto other = ChoosePython(*runtime, {}, available)) {
    nearest = {runtime->version, *other, {}};
  } else if (ParseMajorMinor(runtime->version)) {
    nearest = Nearest(versions_, runtime->version, available);
  } else {
    for (const RuntimeVersion* one : {NewestOf(versions_, runtime->version), Find(runtime->gpu_variant)}) {
      const auto with = one == nullptr ? std::nullopt : ChoosePython(*one, python, available);
      if (!nearest && with) nearest = {one->version, *with, {}};
    }
  }
  if (!nearest)
    return std::unexpected(FailedPrecondition("runtime version " + runtime->version + " needs " + missing +
                                                  ", and this machine has the Python for no other version" +
                                                  (command.empty() ? "" : ": " + command),
                                              kField));
  nearest->note = "runtime version " + runtime->version + " asks for " + missing + "; running with " +
                  Describe(*Find(nearest->version), nearest->python) + " instead" +
                  (command.empty() ? "" : ". To install it here: " + command);
  return *std::move(nearest);
}

std::vector<std::string> Catalogue::PythonsOf(const RuntimeVersion& runtime) const {
  std::vector<std::string> pythons = runtime.pythons;
  for (const RuntimeVersion& other : versions_) {
    for (const std::string& python : other.pythons) {
      if (other.version == NameFor(runtime, python)) pythons.push_back(python);
    }
  }
  return pythons;
}

bool Catalogue::RunsOnGpus(std::string_view version) const {
  const RuntimeVersion* runtime = Find(version);
  if (runtime == nullptr || runtime->kind == RuntimeVersion::Kind::kOperator || !runtime->gpu_variant.empty())
    return true;
  return std::ranges::find(versions_, version, &RuntimeVersion::gpu_variant) != versions_.end();
}

Resolution Catalogue::ForGpus(Resolution resolution, const AvailablePythons& available) const {
  const RuntimeVersion* runtime = Find(resolution.version);
  const RuntimeVersion* variant = runtime == nullptr ? nullptr : Find(runtime->gpu_variant);
  if (variant == nullptr) return resolution;
  auto python = ChoosePython(*variant, resolution.python, available);
  if (!python) return resolution;
  return {variant->version, *std::move(python), std::move(resolution.note)};
}

std::string CommandFor(const RuntimeVersion& runtime) {
  std::vector<std::string> usable = UsablePythons(runtime.pythons);
  if (usable.empty() || !runtime.system_modules.empty()) return {};
  std::ranges::sort(usable, Higher);
  return "trainyard runtimes install " + runtime.version + " --from-image python:" + usable.front() + "-slim";
}

std::string MissingFor(const RuntimeVersion& runtime, const AvailablePythons& available) {
  return ChoosePython(runtime, {}, available) ? std::string() : Missing(runtime, {}, available);
}

}  // namespace trainyard::environment
